"""The classes that a model file may hold."""

from __future__ import annotations

from seqclass._coding import OutcomeCoder
from seqclass._frames import FrameEncoder
from seqclass._staging import ModelProblem
from seqclass.bn import NaiveBayes
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Prices
from seqclass.discretize import Discretizer
from seqclass.persistence import register
from seqclass.pomdp import (
    AcquireAll,
    AlphaSet,
    AlphaVectors,
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
    RandomisedPolicy,
    RepricedPolicy,
    SolveInfo,
    SolveStep,
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
    DecideNow,
    DeepLookaheadPolicy,
    Discretizer,
    ExactValueIteration,
    FirstK,
    FixedLengthPolicy,
    FrameEncoder,
    GridValueIteration,
    GridValues,
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
    RandomisedPolicy,
    RepricedPolicy,
    SequentialClassifier,
    SimplexGrid,
    SolveInfo,
    SolveStep,
    StoppingValue,
    TableProblem,
):
    register(_cls)
