"""`python -m benchmarks.conformance`."""

from __future__ import annotations

import sys

from benchmarks.conformance.run import main

sys.exit(main())
