"""Observation models: what a feature may show, given the class and what was seen before."""

from __future__ import annotations

from seqclass.bn._structure import CLASS_NODE
from seqclass.bn.base import HiddenTables, ObservationModel
from seqclass.bn.context_bayes import ContextBayes
from seqclass.bn.contexts import StageContexts, stage_contexts
from seqclass.bn.discrete import DiscreteNetwork
from seqclass.bn.filter import InformationFilter
from seqclass.bn.item_parameters import ItemParameters
from seqclass.bn.items import ItemResponse
from seqclass.bn.mixture import ClassMixture
from seqclass.bn.naive_bayes import NaiveBayes
from seqclass.bn.network_tables import NetworkTables
from seqclass.bn.ordering import (
    as_order,
    blanket_order,
    check_order,
    conditional_order,
    error_order,
    information_order,
    markov_blanket,
    variance_order,
)
from seqclass.bn.skills import SkillProfile
from seqclass.bn.tree import TreeNetwork

__all__ = [
    "CLASS_NODE",
    "ClassMixture",
    "ContextBayes",
    "DiscreteNetwork",
    "HiddenTables",
    "InformationFilter",
    "ItemParameters",
    "ItemResponse",
    "NaiveBayes",
    "NetworkTables",
    "ObservationModel",
    "SkillProfile",
    "StageContexts",
    "TreeNetwork",
    "as_order",
    "blanket_order",
    "check_order",
    "conditional_order",
    "error_order",
    "information_order",
    "markov_blanket",
    "stage_contexts",
    "variance_order",
]
