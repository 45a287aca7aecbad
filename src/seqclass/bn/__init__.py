"""Observation models: what a feature may show, given the class and what was seen before."""

from __future__ import annotations

from seqclass.bn.base import ObservationModel
from seqclass.bn.context_bayes import ContextBayes
from seqclass.bn.discrete import DiscreteNetwork
from seqclass.bn.filter import InformationFilter
from seqclass.bn.mixture import ClassMixture, LatentStateModel
from seqclass.bn.naive_bayes import NaiveBayes
from seqclass.bn.network_tables import NetworkTables
from seqclass.bn.tree import TreeNetwork

__all__ = [
    "ClassMixture",
    "ContextBayes",
    "DiscreteNetwork",
    "InformationFilter",
    "LatentStateModel",
    "NaiveBayes",
    "NetworkTables",
    "ObservationModel",
    "TreeNetwork",
]
__dir__ = __all__.copy  # tab completion
