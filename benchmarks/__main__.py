"""`python -m benchmarks`."""

from __future__ import annotations

import sys

from benchmarks import main

sys.exit(main())
