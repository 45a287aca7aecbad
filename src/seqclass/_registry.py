"""The classes that a model file may hold."""

from __future__ import annotations

from seqclass._coding import OutcomeCoder
from seqclass._frames import FrameEncoder
from seqclass._staging import ModelProblem, ProjectedProblem
from seqclass.bn import InformationFilter, NaiveBayes, StageContexts, TreeNetwork
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Prices
from seqclass.discretize import Discretizer
from seqclass.persistence import register
from seqclass.pomdp import (
    AcquireAll,
    AlphaSet,
    AlphaVectors,
    BlendedValues,
    CorrectedValues,
    DecideNow,
    ExactValueIteration,
    FirstK,
    GridValueIteration,
    GridValues,
    LinearThresholdPolicy,
    LinearThresholdSPSA,
    Lookahead,
    LookaheadPolicy,
    Perseus,
    PomdpPyPlanner,
    PomdpPyPolicy,
    PosteriorThreshold,
    PrunedLookaheadPolicy,
    RandomisedPolicy,
    RepricedPolicy,
    SharedVectors,
    SolveInfo,
    SolveStep,
    Steered,
    SteeringValues,
    StoppingValue,
    TableProblem,
)
from seqclass.pomdp._lines import LineSet
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.baselines import DeepLookaheadPolicy, FixedLengthPolicy, PosteriorThresholdPolicy

for _cls in (
    AcquireAll,
    AlphaSet,
    AlphaVectors,
    BlendedValues,
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
    PrunedLookaheadPolicy,
    RandomisedPolicy,
    RepricedPolicy,
    SequentialClassifier,
    SharedVectors,
    SimplexGrid,
    SolveInfo,
    SolveStep,
    StageContexts,
    Steered,
    SteeringValues,
    StoppingValue,
    TableProblem,
    TreeNetwork,
):
    register(_cls)
