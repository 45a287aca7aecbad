"""Sequential feature acquisition: classify with as few features as each instance needs."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqclass._utils.model_files import load
    from seqclass.adaptive_classifier import adaptive
    from seqclass.agent.explanation import Explanation
    from seqclass.classifier import SequentialClassifier
    from seqclass.costs import Costs
    from seqclass.evaluation.certified import certify_error
    from seqclass.evaluation.differential import certify_differential
    from seqclass.labels import Labels
    from seqclass.pomdp.rules import Rules
    from seqclass.pomdp.skips import SkipLogic, SkipRule
    from seqclass.recipes import etana, f_etana, ifc2f

__version__ = "1.0.0rc1"

__all__ = [
    "Costs",
    "Explanation",
    "Labels",
    "Rules",
    "SequentialClassifier",
    "SkipLogic",
    "SkipRule",
    "__version__",
    "adaptive",
    "certify_differential",
    "certify_error",
    "etana",
    "f_etana",
    "ifc2f",
    "load",
]

#: Where the names above live: they are imported when they are first asked for, as the modules of the package are.
_HOMES = {
    "adaptive": "adaptive_classifier",
    "certify_differential": "evaluation.differential",
    "certify_error": "evaluation.certified",
    "etana": "recipes",
    "f_etana": "recipes",
    "ifc2f": "recipes",
    "load": "_utils.model_files",
    "Costs": "costs",
    "Explanation": "agent.explanation",
    "Labels": "labels",
    "Rules": "pomdp.rules",
    "SequentialClassifier": "classifier",
    "SkipLogic": "pomdp.skips",
    "SkipRule": "pomdp.skips",
}


def _modules() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        return globals().setdefault(name, value)
    if not name.startswith("_") and name in _modules():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


#: Modules whose public names are all above, or none: users come to them by these.
_INSIDE = {"adaptive_classifier", "agent", "classifier", "cli", "costs", "evaluation", "fitting", "labels", "recipes"}


def __dir__() -> list[str]:
    return sorted({*__all__, *_modules()} - _INSIDE)
