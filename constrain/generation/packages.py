"""Optional packages, imported when they are first needed, with the pip extra in the error."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable

from constrain.errors import BackendUnavailableError
from constrain.generation.interfaces import Module
from constrain.generation.progress import Progress

__all__ = ["check_installed", "import_packages", "require"]

_EXTRAS = {"torch": "torch", "transformers": "transformers"}


def require(module: str, needed_for: str) -> Module:
    """Import `module` and return it.

    Args:
        module: Dotted name; its first part is the package that the message names.
        needed_for: Subject of the message: "reading a GGUF file".

    Raises:
        BackendUnavailableError: The package is not installed, or one that it needs is not.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(module, needed_for) from error


def check_installed(packages: Iterable[str], needed_for: str) -> None:
    """Refuse early, without the seconds that importing takes.

    Raises:
        BackendUnavailableError: One of them is not installed.
    """
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise _missing(package, needed_for)


def import_packages(packages: Iterable[str], needed_for: str, progress: Progress) -> None:
    """Import what takes seconds to import, as a step of its own.

    Args:
        packages: Names of packages.
        needed_for: As in `require`.
        progress: Told "import", unless all are imported already.

    Raises:
        BackendUnavailableError: As in `require`.
    """
    missing = [package for package in packages if package not in sys.modules]
    if not missing:
        return
    progress("import", 0, 1)
    for package in missing:
        require(package, needed_for)
    progress("import", 1, 1)


def _missing(module: str, needed_for: str) -> BackendUnavailableError:
    package = module.partition(".")[0]
    extra = _EXTRAS.get(package, "demo")
    return BackendUnavailableError(package, extra=extra, needed_for=needed_for)
