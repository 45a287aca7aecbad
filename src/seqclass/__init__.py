"""Sequential feature acquisition: classify with as few features as each instance needs."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqclass._record import AcquisitionRecord
    from seqclass.adaptive_classifier import AdaptiveClassifier, adaptive
    from seqclass.calibrated import Calibration
    from seqclass.certified import CertifiedError, certify_error
    from seqclass.classifier import SequentialClassifier
    from seqclass.explanation import Explanation
    from seqclass.held_out import HeldOut
    from seqclass.persistence import load
    from seqclass.recipes import etana, f_etana, ifc2f
    from seqclass.session import Session

__version__ = "0.1.0"

__all__ = [
    "AcquisitionRecord",
    "AdaptiveClassifier",
    "Calibration",
    "CertifiedError",
    "Explanation",
    "HeldOut",
    "SequentialClassifier",
    "Session",
    "__version__",
    "adaptive",
    "certify_error",
    "etana",
    "f_etana",
    "ifc2f",
    "load",
]

#: Where the names above live: they are imported when they are first asked for, as the modules of the package are.
_HOMES = {
    "AcquisitionRecord": "_record",
    "AdaptiveClassifier": "adaptive_classifier",
    "Calibration": "calibrated",
    "CertifiedError": "certified",
    "Explanation": "explanation",
    "HeldOut": "held_out",
    "SequentialClassifier": "classifier",
    "Session": "session",
    "adaptive": "adaptive_classifier",
    "certify_error": "certified",
    "etana": "recipes",
    "f_etana": "recipes",
    "ifc2f": "recipes",
    "load": "persistence",
}


def _modules() -> list[str]:
    return [found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_")]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        return globals().setdefault(name, value)
    if not name.startswith("_") and name in _modules():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_modules()})
