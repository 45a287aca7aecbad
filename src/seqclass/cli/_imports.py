"""Has what scikit-learn imports, and few commands use, loaded when something of it is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any

#: They take half of the time in which scikit-learn is imported.
_LATE = ("pandas", "scipy.stats", "scipy.optimize", "scipy.spatial", "numpy.f2py")


class _LateFinder(MetaPathFinder):
    """Finds these modules as ever, and leaves it to the first look into them to run them."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in _LATE else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def late_imports() -> Iterator[None]:
    """Import them late; not for commands that begin threads, in which two may be the first to look."""
    finder = _LateFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
