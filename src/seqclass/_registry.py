"""The classes that a model file may hold."""

from __future__ import annotations

from seqclass._coding import OutcomeCoder
from seqclass._frames import FrameEncoder
from seqclass._model_problem import ModelProblem, ProjectedProblem
from seqclass.bn import InformationFilter, NaiveBayes, StageContexts, TreeNetwork
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Prices
from seqclass.discretize import Discretizer
from seqclass.persistence import register
from seqclass.pomdp import (
    AcquireAll,
    AlphaSet,
    AlphaVectors,
    BoundedLookaheadPolicy,
    Bundle,
    CorrectedValues,
    DecideNow,
    ExactValueIteration,
    FirstK,
    GridValueIteration,
    GridValues,
    InterpolatedValues,
    LinearThresholdPolicy,
    LinearThresholdSPSA,
    Lookahead,
    LookaheadPolicy,
    Perseus,
    PomdpPyPlanner,
    PomdpPyPolicy,
    PosteriorThreshold,
    ProjectedValueIteration,
    ProjectedValues,
    RandomisedPolicy,
    RepricedPolicy,
    SharedVectors,
    SolveInfo,
    SolveStep,
    StoppingValue,
    TableProblem,
)
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.solvers.exact._lines import LineSet
from seqclass.pomdp.solvers.rules.fixed import FixedLengthPolicy, PosteriorThresholdPolicy
from seqclass.pomdp.solvers.rules.lookahead import DeepLookaheadPolicy

for _cls in (
    AcquireAll,
    AlphaSet,
    AlphaVectors,
    Bundle,
    InterpolatedValues,
    CorrectedValues,
    DecideNow,
    DeepLookaheadPolicy,
    Discretizer,
    ExactValueIteration,
    FirstK,
    FixedLengthPolicy,
    FrameEncoder,
    GridValueIteration,
    GridValues,
    InformationFilter,
    LineSet,
    LinearThresholdPolicy,
    LinearThresholdSPSA,
    Lookahead,
    LookaheadPolicy,
    ModelProblem,
    NaiveBayes,
    OutcomeCoder,
    Perseus,
    PomdpPyPlanner,
    PomdpPyPolicy,
    PosteriorThreshold,
    PosteriorThresholdPolicy,
    Prices,
    ProjectedProblem,
    BoundedLookaheadPolicy,
    RandomisedPolicy,
    RepricedPolicy,
    SequentialClassifier,
    SharedVectors,
    SimplexGrid,
    SolveInfo,
    SolveStep,
    StageContexts,
    ProjectedValueIteration,
    ProjectedValues,
    StoppingValue,
    TableProblem,
    TreeNetwork,
):
    register(_cls)
