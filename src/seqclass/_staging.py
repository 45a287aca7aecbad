"""Where observation models meet acquisition problems."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray, smallest_int
from seqclass.bn import ObservationModel, StageContexts, as_order, check_order, stage_contexts
from seqclass.costs import Prices
from seqclass.pomdp import AcquisitionProblem, TableProblem

#: Up to so many contexts a stage a problem has tables.
MAX_CONTEXTS = 256


class Answers:
    """State of a `ModelProblem`: a row an instance.

    Parameters
    ----------
    messages : object
        The model's own state.
    values : ndarray of int of shape (n, n_remembered)
        Outcomes of the features asked so far that what is to come depends on; -1 where missing.
    """

    __slots__ = ("messages", "values")

    def __init__(self, messages: Any, values: IntArray) -> None:
        self.messages = messages
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Answers:
        return Answers(self.messages[rows], self.values[rows])


class ModelProblem(AcquisitionProblem):
    """An acquisition problem whose likelihoods come from an observation model, messages kept in its state.

    It has tables where what its stages look at has few enough values; see `seqclass.bn.stage_contexts`. Likelihoods and
    so beliefs are the model's in any case, whatever is missing.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    prior : array-like of shape (n_classes,)
        P(class) before anything is acquired.
    features : ndarray of int of shape (n_stages,)
        Feature of each stage.
    prices : ndarray of shape (n_stages,)
        Price of each stage.
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    groups, full_prices : ndarray of shape (n_stages,), optional
        See `AcquisitionProblem`.
    max_contexts : int
        Most contexts of a stage for the problem to have tables.
    """

    def __init__(
        self,
        model: ObservationModel,
        prior: npt.ArrayLike,
        features: IntArray,
        prices: FloatArray,
        decision_costs: FloatArray,
        groups: IntArray | None = None,
        full_prices: FloatArray | None = None,
        *,
        max_contexts: int = MAX_CONTEXTS,
    ) -> None:
        outcomes = model.n_outcomes_[features]
        super().__init__(prior, prices, outcomes, decision_costs, features, groups, full_prices)
        self.model = model
        self.max_contexts = max_contexts

    @property
    def has_tables(self) -> bool:
        """Whether every stage has few enough contexts."""
        return self._contexts.exact

    def start(self, n: int) -> Any:
        """Return the state of ``n`` instances."""
        return Answers(self.model.start(n), self._nothing(n))

    def likelihood(self, stage: int, state: Any) -> FloatArray:
        """P(outcome | what was seen, class), (n, n_outcomes, n_classes)."""
        return self.model.stage_likelihood(int(self.features[stage]), state.messages)

    def advance(self, stage: int, state: Any, outcome: IntArray) -> Any:
        """Return the state after an outcome."""
        messages = self.model.advance(int(self.features[stage]), state.messages, outcome)
        return Answers(messages, self._remembered(stage, state.values, outcome))

    def state_in(self, stage: int, context: int = 0) -> Any:
        """State of one instance in a context, as if all features that the context does not tell had been missing."""
        if not self.has_tables:
            return super().state_in(stage)
        told = dict(zip(self._contexts.features(stage).tolist(), self._contexts.rows(stage)[context].tolist()))
        state = self.start(1)
        for earlier, feature in enumerate(self.features[:stage].tolist()):
            state = self.advance(earlier, state, np.full(1, told.get(feature, -1)))
        return state

    def n_contexts(self, stage: int) -> int:
        """Number of contexts at a stage; 1 without tables."""
        return self._contexts.n_contexts(stage) if self.has_tables else 1

    def contexts(self, stage: int, state: Any) -> IntArray | None:
        """Context number of each row; None without tables."""
        if not self.has_tables:
            return None
        if stage >= self.n_stages:
            return np.zeros(len(state), dtype=np.intp)
        columns = _positions(self._contexts.features(stage), self._contexts.memory[stage])
        return self._contexts.number(stage, state.values[:, columns])

    def successor_contexts(self, stage: int, context: IntArray | None) -> IntArray | None:
        """Context at the next stage for each outcome, (n, n_outcomes); None without tables."""
        if not self.has_tables or context is None:
            return None
        return np.asarray(self._contexts.transitions(stage)[context, :-1])

    def context_likelihood(self, stage: int, context: IntArray | None) -> FloatArray:
        """Likelihood of rows given by their context number, (n, n_outcomes, n_classes)."""
        if not self.has_tables:
            return super().context_likelihood(stage, context)
        return np.asarray(self._contexts.likelihood(stage)[context])

    def answers(self, stage: int, state: Any) -> IntArray:
        """Outcomes seen so far that the stage or later ones depend on, (n, m), -1 where missing."""
        return np.asarray(state.values)

    def successor_answers(self, stage: int, answers: IntArray) -> IntArray:
        """What `answers` gives at the next stage after each outcome, (n, n_outcomes, m)."""
        n_outcomes = int(self.n_outcomes[stage])
        outcome = np.broadcast_to(np.arange(n_outcomes), (len(answers), n_outcomes))
        return self._remembered(stage, np.repeat(answers[:, None], n_outcomes, axis=1), outcome)

    def projection(self, max_contexts: int) -> AcquisitionProblem:
        """Return the process of the strongest context features alone; see `seqclass.bn.stage_contexts`."""
        if max_contexts not in self._made:
            self._made[max_contexts] = stage_contexts(self.model, self.features, max_contexts=max_contexts)
        return ProjectedProblem(self, self._made[max_contexts])

    def replace(self, **changes: Any) -> AcquisitionProblem:
        """Return the same problem with some arrays replaced; tables are shared if the features stay as they are."""
        shared = {"_contexts": self._contexts, "_made": self._made}
        other = super().replace(**changes)
        if "features" in changes:
            for name in shared:
                del other.__dict__[name]
        return other

    @cached_property
    def _contexts(self) -> StageContexts:
        return stage_contexts(self.model, self.features, max_contexts=self.max_contexts)

    @cached_property
    def _made(self) -> dict[int, StageContexts]:
        return {}

    def _nothing(self, n: int) -> IntArray:
        return np.empty((n, 0), dtype=smallest_int(int(self.n_outcomes.max(initial=1)) - 1))

    def _remembered(self, stage: int, values: IntArray, outcome: IntArray) -> IntArray:
        longer = np.concatenate([values, np.asarray(outcome, dtype=values.dtype)[..., None]], axis=-1)
        memory = self._contexts.memory
        if stage + 1 >= len(memory):
            return longer[..., :0]
        known = np.append(memory[stage], self.features[stage])
        return np.asarray(longer[..., _positions(memory[stage + 1], known)])


class ProjectedProblem(ModelProblem):
    """A problem of its own that looks at the strongest context features only, and has tables.

    Parameters
    ----------
    problem : ModelProblem
        The problem it stands in for; prior, prices and costs are its own.
    contexts : StageContexts
        What the stages look at.
    """

    def __init__(self, problem: ModelProblem, contexts: StageContexts) -> None:
        self.__dict__.update({k: v for k, v in problem.__dict__.items() if k not in ("_contexts", "_made")})
        self.kept = contexts

    @property
    def has_tables(self) -> bool:
        """Always."""
        return True

    @property
    def _contexts(self) -> StageContexts:
        return self.kept

    def start(self, n: int) -> Any:
        """Return the state of ``n`` instances."""
        nothing = self._nothing(n)
        return Answers(nothing, nothing)

    def likelihood(self, stage: int, state: Any) -> FloatArray:
        """P(outcome | context, class), (n, n_outcomes, n_classes)."""
        return self.context_likelihood(stage, self.contexts(stage, state))

    def advance(self, stage: int, state: Any, outcome: IntArray) -> Any:
        """Return the state after an outcome."""
        return Answers(state.messages, self._remembered(stage, state.values, outcome))

    def projection(self, max_contexts: int) -> AcquisitionProblem:
        """Return itself."""
        return self

    def replace(self, **changes: Any) -> AcquisitionProblem:
        """Return the same process with some arrays replaced."""
        return AcquisitionProblem.replace(self, **changes)


def _positions(features: IntArray, among: IntArray) -> IntArray:
    """Position of each feature in a list that has all of them."""
    order = np.argsort(among)
    return np.asarray(order[np.searchsorted(among, features, sorter=order)])


def acquisition_problem(
    model: ObservationModel,
    order: IntArray,
    prices: Prices,
    decision_costs: FloatArray,
    prior: npt.ArrayLike | None = None,
) -> AcquisitionProblem:
    """Build the staged problem of a fitted model, as tables where the model has them.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    order : ndarray of int of shape (n_stages,)
        Feature of each stage.
    prices : Prices
        Price of every feature of the model.
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    prior : array-like of shape (n_classes,), optional
        By default the model's.

    Returns
    -------
    AcquisitionProblem

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> from seqclass.costs import resolve_prices
    >>> model = NaiveBayes().fit(np.array([[0], [1], [1]]), [0, 1, 1])
    >>> problem = acquisition_problem(model, np.array([0]), resolve_prices(0.1, 1), 1 - np.eye(2))
    >>> problem.n_stages, problem.has_tables
    (1, True)
    """
    stage_prices, full, groups = prices.along(order)
    prior = model.class_prior_ if prior is None else prior
    tables = model.tables(order)
    if tables is None:
        return ModelProblem(model, prior, order, stage_prices, decision_costs, groups, full)
    return TableProblem(
        prior,
        tables,
        stage_prices,
        decision_costs,
        n_outcomes=model.n_outcomes_[order],
        features=order,
        groups=groups,
        full_prices=full,
    )


def stage_order(
    order: Any,
    model: ObservationModel,
    support: IntArray,
    prices: Prices,
    codes: Any,
    y: npt.NDArray[Any],
    names: Sequence[Hashable] | None = None,
) -> IntArray:
    """Resolve the order of features.

    Parameters
    ----------
    order : str or array-like
        Name of a rule, or columns of the data as numbers or names.
    model : ObservationModel
        A fitted model of the selected features.
    support : ndarray of int of shape (n_selected,)
        Column of each selected feature.
    prices : Prices
        Price of every column.
    codes : ndarray or sparse array of int of shape (n, n_selected)
        Outcomes of the training data.
    y : ndarray of shape (n,)
        Labels.
    names : sequence, optional
        Names of the columns.

    Returns
    -------
    ndarray of int of shape (n_stages,)
        Positions among the selected features.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> from seqclass.costs import resolve_prices
    >>> codes, y = np.array([[0, 1], [1, 1], [1, 0]]), np.array([0, 1, 1])
    >>> model = NaiveBayes().fit(codes, y)
    >>> stage_order([5, 3], model, np.array([3, 5]), resolve_prices(0.1, 6), codes, y)
    array([1, 0])
    """
    if isinstance(order, str):
        return as_order(order, model, prices.full[support], X=codes, y=y)
    # columns and names refer to the data; the model knows the selected ones only
    columns = check_order(order, prices.full.size, names)
    position = np.full(prices.full.size, -1)
    position[support] = np.arange(support.size)
    if (position[columns] < 0).any():
        raise ValueError("order names a feature that the selector did not keep.")
    return np.asarray(position[columns])
