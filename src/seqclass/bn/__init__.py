"""Observation models: what a feature may show, given the class and what was seen before."""

from __future__ import annotations

from seqclass.bn._base import ObservationModel
from seqclass.bn.naive_bayes import NaiveBayes
from seqclass.bn.ordering import (
    as_order,
    check_order,
    conditional_order,
    error_order,
    information_order,
    variance_order,
)

__all__ = [
    "NaiveBayes",
    "ObservationModel",
    "as_order",
    "check_order",
    "conditional_order",
    "error_order",
    "information_order",
    "variance_order",
]
