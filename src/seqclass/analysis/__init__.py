"""Belief analysis: what a policy meets, where it stops, what each feature gains, and how its cost depends on prices.

Most functions take a problem and a policy; a fitted classifier has them as ``problem_`` and ``policy_``. Results are
exact if histories are few, and simulated if they are many. `missing_sweep` needs a classifier and test data,
`describe_components` a classifier.
"""

from seqclass.analysis.beliefs import entropy_path, reachable_beliefs
from seqclass.analysis.comparison import regret
from seqclass.analysis.components import describe_components
from seqclass.analysis.decision_graph import decision_graph
from seqclass.analysis.features import class_profile, feature_values
from seqclass.analysis.information import value_of_information
from seqclass.analysis.missing import missing_sweep
from seqclass.analysis.regions import stopping_regions, thresholds
from seqclass.analysis.sensitivity import sensitivity, what_if

__all__ = [
    "class_profile",
    "decision_graph",
    "describe_components",
    "entropy_path",
    "feature_values",
    "missing_sweep",
    "reachable_beliefs",
    "regret",
    "sensitivity",
    "stopping_regions",
    "thresholds",
    "value_of_information",
    "what_if",
]
__dir__ = __all__.copy  # tab completion
