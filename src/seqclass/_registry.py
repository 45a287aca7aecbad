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
    AlphaSet,
    AlphaVectors,
    GridValueIteration,
    GridValues,
    LookaheadPolicy,
    Perseus,
    SolveInfo,
    StoppingValue,
    TableProblem,
)
from seqclass.pomdp._simplex import SimplexGrid

for _cls in (
    AlphaSet,
    AlphaVectors,
    Discretizer,
    FrameEncoder,
    GridValueIteration,
    GridValues,
    LookaheadPolicy,
    ModelProblem,
    NaiveBayes,
    OutcomeCoder,
    Perseus,
    Prices,
    SequentialClassifier,
    SimplexGrid,
    SolveInfo,
    StoppingValue,
    TableProblem,
):
    register(_cls)
