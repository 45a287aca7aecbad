"""Settings of a fit: what a classifier is told before it sees any row."""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any

import numpy as np

from seqclass._utils.arrays import another_stream
from seqclass._utils.text import short_repr
from seqclass._utils.validation import (
    check_choice,
    check_flag,
    check_integer,
    check_part,
    check_real,
    exponential_forgetting,
)
from seqclass.bn import ObservationModel
from seqclass.costs import Costs
from seqclass.pomdp import Policy, Solver

#: Parts that a classifier is put together from: what may stand there, and what it has to do.
_PARTS = {
    "observation_model": ("a model such as seqclass.bn.NaiveBayes()", ("fit", "likelihood")),
    "solver": ("a solver such as seqclass.pomdp.Lookahead()", ("solve",)),
    "selector": ("a selector such as seqclass.selection.FCBF()", ("fit", "get_support")),
    "discretizer": ("a transformer such as seqclass.discretize.Discretizer()", ("fit", "transform")),
}


@dataclass(repr=False, eq=False)
class Parameters:
    """The parameters of `SequentialClassifier`, which describes them."""

    observation_model: ObservationModel | None = None
    solver: Solver | None = None
    _: KW_ONLY
    discretizer: Any = None
    selector: Any = None
    order: Any = "conditional"
    feature_costs: Any = 0.01
    target_cost: float | None = None
    max_features: int | None = None
    max_cost: float | None = None
    handle_unknown: str = "error"
    random_state: Any = 0
    prefit: bool = False
    calibrate: bool = False
    max_candidates: int | None = 200
    known: Any = ()
    rules: Any = None
    half_life: float | None = None
    missing: str = "ignored"


@dataclass(repr=False, eq=False)
class Settings(Parameters):
    """The parameters of a classifier as a record, which a fit goes by."""

    @classmethod
    def from_estimator(cls, estimator: Any) -> Settings:
        """Those of an estimator that has them all."""
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    def replace(self, **changes: Any) -> Settings:
        """A copy with some settings changed."""
        return replace(self, **changes)

    def check(self) -> None:
        """Raise where one is of the wrong kind; the message names it."""
        check_choice(self.handle_unknown, "handle_unknown", ("error", "missing"))
        check_choice(self.missing, "missing", ("ignored", "informative"))
        if self.prefit and self.missing != "ignored":
            raise ValueError(
                'missing="informative": a model that is given has the outcomes that it has; make missing answers '
                "outcomes of its own, or leave missing out."
            )
        if self.half_life is not None:
            exponential_forgetting(1, self.half_life)
            if self.prefit:
                raise ValueError("half_life: with prefit=True the model learns nothing; leave it out.")
        for name in ("calibrate", "prefit"):
            check_flag(getattr(self, name), name)
        if self.max_features is not None:
            check_integer(self.max_features, "max_features", 0)
        if self.max_candidates is not None:
            check_integer(self.max_candidates, "max_candidates", 1)
        another_stream(self.random_state)  # which says whether it is one
        if self.max_cost is not None:
            check_real(self.max_cost, "max_cost", 0)
        if self.target_cost is not None:
            check_real(self.target_cost, "target_cost", 0, np.finfo(float).max)
        if isinstance(self.solver, Policy) or (inspect.isroutine(self.solver) and not hasattr(self.solver, "solve")):
            raise TypeError(
                f"solver must be a solver, got {short_repr(self.solver)}; a function of beliefs that returns what to "
                "ask, or -1 to decide, is one as seqclass.pomdp.FunctionSolver(function)."
            )
        for name, (what, methods) in _PARTS.items():
            part = getattr(self, name)
            if part is not None and not (name == "discretizer" and isinstance(part, str)):
                check_part(part, name, what, methods)
        model = self.observation_model
        if self.calibrate and getattr(type(model), "_temper", None) is ObservationModel._temper:
            raise TypeError(
                f"calibrate: {type(model).__name__} has no _temper, which flattens what it learnt; leave calibrate out."
            )
        if isinstance(self.solver, Solver):
            self.solver._check_settings()

    @property
    def costs(self) -> Costs:
        """What features and decisions cost."""
        return Costs.from_value(self.feature_costs)

    @property
    def seed(self) -> int:
        """``random_state`` as a number; 0 where it is a generator."""
        return int(self.random_state) if isinstance(self.random_state, (int, np.integer)) else 0
