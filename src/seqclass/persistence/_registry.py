"""The classes that a model file may hold."""

from __future__ import annotations

from seqclass._shell import DecidingClassifier
from seqclass._utils.frames import FrameEncoder
from seqclass._utils.model_files import check_when_read, register
from seqclass._utils.validation import check_support
from seqclass.adaptive_classifier import AdaptiveClassifier
from seqclass.bn import (
    ClassMixture,
    ContextBayes,
    DiscreteNetwork,
    InformationFilter,
    NaiveBayes,
    NetworkTables,
    ObservationModel,
    StageContexts,
    TreeNetwork,
)
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Prices
from seqclass.deciding._coding import OutcomeCoder
from seqclass.deciding._seen_rows import SeenRows, check_seen
from seqclass.deciding.calibration import Calibration, check_calibration
from seqclass.deciding.decider import Classifier, Decider
from seqclass.deciding.problem import ModelProblem, ProjectedProblem
from seqclass.discretize import Discretizer
from seqclass.evaluation.contract import CertifiedError, GroupRisk, Rung
from seqclass.fitting._chunked import Kept
from seqclass.fitting.choice import Candidate, Choice
from seqclass.fitting.held_out import HeldOut
from seqclass.persistence._checks import (
    check_bundle,
    check_classifier,
    check_coder,
    check_contract,
    check_decider,
    check_discretizer,
    check_drawn,
    check_encoder,
    check_grid,
    check_held_out,
    check_line,
    check_model,
    check_network_tables,
    check_policy,
    check_prices,
    check_problem,
    check_repeats,
    check_rule_values,
    check_set,
    check_values,
    rehearse,
)
from seqclass.pomdp import (
    EC2,
    AcquireAll,
    AcquisitionProblem,
    Adaptive,
    AlphaSet,
    AlphaVectors,
    BoundedLookaheadPolicy,
    Bundle,
    ClassInformation,
    CorrectedValues,
    CrossEntropy,
    DecideNow,
    ExactFreeOrder,
    ExactValueIteration,
    ExpectedSaving,
    FirstK,
    FittedValueIteration,
    FittedValues,
    GivenOrder,
    GridValueIteration,
    GridValues,
    HiddenInformation,
    ImprovedRule,
    InterpolatedValues,
    LinearThresholdPolicy,
    LinearThresholdSPSA,
    Lookahead,
    LookaheadPolicy,
    LookaheadSaving,
    MixtureProblem,
    OrderingCandidate,
    OrderingChoice,
    Perseus,
    Policy,
    PomdpPyPlanner,
    PomdpPyPolicy,
    PosteriorThreshold,
    ProjectedValueIteration,
    ProjectedValues,
    RandomisedPolicy,
    RepricedPolicy,
    RulePolicy,
    RuleValues,
    SharedVectors,
    SolveInfo,
    SolveStep,
    StoppingValue,
    StopWhenSure,
    TableProblem,
)
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.bounds.repeats import LogOddsLine, RepeatValues
from seqclass.pomdp.bundles import DrawnBundle
from seqclass.pomdp.solvers.exact import LineSet
from seqclass.pomdp.solvers.exact_free_order import PlannedPolicy, RecursionPolicy
from seqclass.pomdp.solvers.fitted import BeliefFunctions
from seqclass.pomdp.solvers.simple import (
    DeepLookaheadPolicy,
    FixedLengthPolicy,
    OrderBoundPolicy,
    PosteriorThresholdPolicy,
)
from seqclass.pomdp.values import ValueFunction

for _cls in (
    Classifier,
    Decider,
    Kept,
    Adaptive,
    AdaptiveClassifier,
    Candidate,
    CertifiedError,
    Choice,
    ClassInformation,
    CrossEntropy,
    EC2,
    ExpectedSaving,
    GivenOrder,
    HiddenInformation,
    ImprovedRule,
    LookaheadSaving,
    MixtureProblem,
    OrderingCandidate,
    OrderingChoice,
    RulePolicy,
    RuleValues,
    Rung,
    Calibration,
    SeenRows,
    StopWhenSure,
    AcquireAll,
    AlphaSet,
    AlphaVectors,
    BoundedLookaheadPolicy,
    Bundle,
    DrawnBundle,
    ClassMixture,
    ContextBayes,
    CorrectedValues,
    DecideNow,
    DeepLookaheadPolicy,
    Discretizer,
    DiscreteNetwork,
    NetworkTables,
    ExactFreeOrder,
    ExactValueIteration,
    BeliefFunctions,
    FirstK,
    FittedValueIteration,
    FittedValues,
    FixedLengthPolicy,
    FrameEncoder,
    GridValueIteration,
    GridValues,
    GroupRisk,
    HeldOut,
    InformationFilter,
    InterpolatedValues,
    LineSet,
    LinearThresholdPolicy,
    LinearThresholdSPSA,
    Lookahead,
    LookaheadPolicy,
    ModelProblem,
    NaiveBayes,
    LogOddsLine,
    OrderBoundPolicy,
    OutcomeCoder,
    Perseus,
    PlannedPolicy,
    PomdpPyPlanner,
    PomdpPyPolicy,
    PosteriorThreshold,
    PosteriorThresholdPolicy,
    Prices,
    ProjectedProblem,
    ProjectedValueIteration,
    ProjectedValues,
    RandomisedPolicy,
    RecursionPolicy,
    RepeatValues,
    RepricedPolicy,
    SequentialClassifier,
    SharedVectors,
    SimplexGrid,
    SolveInfo,
    SolveStep,
    StageContexts,
    StoppingValue,
    TableProblem,
    TreeNetwork,
):
    register(_cls)

#: What they were called in files of 0.1.
for _former, _cls in (
    ("BlendedValues", InterpolatedValues),
    ("PrunedLookaheadPolicy", BoundedLookaheadPolicy),
    ("Steered", ProjectedValueIteration),
    ("SteeringValues", ProjectedValues),
):
    register(_cls, former=_former)

for _kind, _check in (
    (AcquisitionProblem, check_problem),
    (Bundle, check_bundle),
    (DrawnBundle, check_drawn),
    (ObservationModel, check_model),
    (NetworkTables, check_network_tables),
    (Discretizer, check_discretizer),
    (FrameEncoder, check_encoder),
    (OutcomeCoder, check_coder),
    (HeldOut, check_held_out),
    (Prices, check_prices),
    (SimplexGrid, check_grid),
    (LogOddsLine, check_line),
    (RepeatValues, check_repeats),
    (InformationFilter, check_support),
    (AlphaSet, check_set),
    (ValueFunction, check_values),
    (Policy, check_policy),
    (Policy, rehearse),
    (RuleValues, check_rule_values),
    (SeenRows, check_seen),
    (Calibration, check_calibration),
    (DecidingClassifier, check_classifier),
    (Decider, check_decider),
    (CertifiedError, check_contract),
):
    check_when_read(_kind, _check)
