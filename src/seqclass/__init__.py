"""Sequential feature acquisition: classify with as few features as each instance needs."""

from __future__ import annotations

__version__ = "0.1.0"

from seqclass import _registry as _registry
from seqclass._record import AcquisitionRecord
from seqclass.adaptive_classifier import AdaptiveClassifier, adaptive
from seqclass.certified import CertifiedError, certify_error
from seqclass.classifier import SequentialClassifier
from seqclass.explanation import Explanation
from seqclass.held_out import HeldOut
from seqclass.persistence import load
from seqclass.recipes import etana, f_etana, ifc2f
from seqclass.session import Session

__all__ = [
    "AcquisitionRecord",
    "AdaptiveClassifier",
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
