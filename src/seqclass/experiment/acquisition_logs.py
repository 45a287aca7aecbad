"""For comparisons with the literature on feature acquisition: the splits of GDFS, and AFABench's episode logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.validation import check_integer, check_real, class_numbers
from seqclass.agent._case import Questions
from seqclass.agent.agent import agent_of, features_at_start, features_to_ask
from seqclass.agent.record import AcquisitionRecord
from seqclass.datasets import Dataset
from seqclass.evaluation.scores import step_prices, steps_of
from seqclass.experiment.protocols import HoldOut
from seqclass.pomdp.ties import budget_of


def action_table(clf: BaseSequentialClassifier, X: Any, *, known: Sequence[Any] = (), budget: int | None = None) -> Any:
    """Acquire for every row, and list each action: what was asked, at what price, with what belief.

    Parameters
    ----------
    clf : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    X : array-like or data frame of shape (n, n_features)
        Rows to classify.
    known : sequence of int or str
        Columns that are known at the start; see `SequentialClassifier.acquire`. They do not count as actions.
    budget : int, optional
        Exactly this many questions are asked about every row; see `SequentialClassifier.acquire`.

    Returns
    -------
    pandas.DataFrame
        One row for each question and one for the stop, by instance and step. ``row``: row of ``X``. ``step``: questions
        asked before. ``action``: name of the feature or bundle, None for the stop. ``outcome``: number of its outcome,
        missing if the value was missing and at the stop. ``price``: what was paid for the action, in units of
        misclassification cost. ``paid``: what was paid so far, that included. ``decision``: the decision of least
        expected cost before the action; at the stop the one taken. ``P(label)`` for each class: the belief before the
        action; at the stop the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0)
    >>> clf = SequentialClassifier().fit(X, np.repeat(["a", "b"], 20))
    >>> print(action_table(clf, [[0.1, 5.0]]).round(3).to_string(index=False))
     row  step action  outcome  price  paid decision  P(a)  P(b)
       0     0     x0        0   0.01  0.01        a 0.500 0.500
       0     1   None     <NA>   0.00  0.01        a 0.955 0.045
    """
    import pandas as pd

    record = clf.acquire(X, record_beliefs=True, known=known, budget=budget)
    rows, step = steps_of(record, record.order >= 0)
    stop = step == (record.order >= 0).sum(axis=1)[rows]
    asked = rows[~stop], step[~stop]
    beliefs: Any = record.beliefs
    belief = beliefs[rows, step]
    decision = clf.decisions_[(belief @ clf.problem_.decision_costs).argmin(axis=1)]
    decision[stop] = record.decision
    price = _spread(step_prices(record, agent_of(clf).prices, agent_of(clf).charge_missing)[asked], ~stop, 0.0)
    outcome = _spread(record.outcome[asked], ~stop, -1)
    table = pd.DataFrame(
        {
            "row": rows,
            "step": step,
            "action": pd.Series(_spread(_names(clf, record.order[asked]), ~stop, None), dtype=object),
            "outcome": pd.array(outcome, dtype="Int64"),
            "price": price,
            "paid": pd.Series(price).groupby(rows).cumsum(),
            "decision": decision,
        }
    )
    table.loc[outcome < 0, "outcome"] = pd.NA
    for label, probability in zip(clf.classes_, belief.T):
        table[f"P({label})"] = probability
    return table


def _names(clf: BaseSequentialClassifier, columns: IntArray) -> npt.NDArray[Any]:
    """What the questions are called, by the first column that each shows."""
    questions, n = Questions(agent_of(clf), clf.problem_), clf.problem_.n_questions
    called = {questions.features(question)[0].column: questions.name(question) for question in range(n)}
    distinct, number = np.unique(columns, return_inverse=True)
    return np.array([called[column] for column in distinct.tolist()], dtype=object)[number]


def _spread(values: npt.NDArray[Any], places: BoolArray, elsewhere: Any) -> npt.NDArray[Any]:
    spread = np.full(len(places), elsewhere, dtype=values.dtype)
    spread[places] = values
    return spread


#: Columns of AFABench's logs, in order.
AFABENCH_COLUMNS = (
    *("prev_selections_performed", "action_performed", "builtin_predicted_class", "external_predicted_class"),
    *("true_class", "accumulated_cost", "idx", "forced_stop", "eval_seed", "eval_hard_budget"),
)


@dataclass(frozen=True)
class ShuffledSplit(HoldOut):
    """The split of GDFS and AFABench: rows shuffled by `numpy.random.default_rng`, first test rows, then validation
    rows.

    Like theirs, it is not stratified. Seed 0 gives the rows of GDFS for a set whose rows are in the same order.

    Attributes
    ----------
    valid_size, test_size : float
        Shares of the rows, rounded down.
    score : {"test", "valid"}
        Which rows to score.

    References
    ----------
    .. [1] I. Covert et al., "Learning to maximize mutual information for dynamic feature selection", ICML 2023.

    Examples
    --------
    >>> from seqclass.datasets import load
    >>> train, test = ShuffledSplit().split(load("iris"), fold=0, seed=0)
    >>> len(train), len(test)
    (90, 30)
    """

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """Training rows, and rows to score."""
        n = len(data.y)
        rows = np.arange(n)
        np.random.default_rng(seed).shuffle(rows)
        n_test, n_valid = int(self.test_size * n), int(self.valid_size * n)
        test, valid, train = np.split(rows, [n_test, n_test + n_valid])
        return train, test if self.score == "test" else valid


def afabench_log(
    clf: BaseSequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    budget: float | None = None,
    *,
    seed: int = 0,
    known: Sequence[Any] = (),
    hard: bool = False,
    compact: bool = False,
) -> Any:
    """Acquire for every row, and list each step in the form of AFABench's logs.

    For each instance there is one row for every feature acquired and one for the stop. Any preprocessing was learnt by
    ``clf`` from its training rows.

    Parameters
    ----------
    clf : SequentialClassifier or AdaptiveClassifier
        Fitted, with ``max_features`` or ``max_cost`` where there is a hard budget.
    X : array-like or data frame of shape (n, n_features)
        Rows to classify.
    y : array-like of shape (n,)
        Labels of these rows.
    budget : float, optional
        The hard budget, for the log; by default ``clf.max_features``, else ``clf.max_cost``, else none.
    seed : int
        For the log: the seed of the evaluation. Nothing here is random.
    known : sequence of int or str
        Columns that are known at the start (AFABench's warm start); see `SequentialClassifier.acquire`. They do not
        count as selections.
    hard : bool
        Whether ``budget`` features are asked for in every row, as AFABench's hard budgets require, whether or not the
        classifier would stop earlier.
    compact : bool
        Whether to give the columns that AFABench has written since it stores logs as Parquet, as its documentation
        describes them, instead of those that it now calls legacy and still reads.

    Returns
    -------
    pandas.DataFrame
        AFABench's columns, one row per step. ``prev_selections_performed``: columns of ``X`` acquired before, a list.
        ``action_performed``: 1 + the column, or 0 for the stop. ``builtin_predicted_class``: the position in
        ``clf.decisions_`` of the decision of least expected cost before the action. ``external_predicted_class``:
        empty, there is no other classifier. ``true_class``: the position in ``clf.classes_``. ``accumulated_cost``:
        after the action, in features where ``clf.max_features`` is set or ``hard``, else in prices. ``idx``: the row of
        ``X``. ``forced_stop``: whether the budget ended it. ``eval_seed`` and ``eval_hard_budget`` (NaN for none) are
        the same in all rows. Its ``to_csv(file, index=False)`` is AFABench's file.

        With ``compact`` there are ``episode_id`` and ``step`` in place of ``idx`` and ``prev_selections_performed``,
        and after ``forced_stop`` the ``generation_index`` and the ``split_index``, both the row of ``X``. If ``X`` is
        part of a data set, replace the former by its rows in that set. ``to_parquet`` writes the file.

    Raises
    ------
    ValueError
        If ``budget`` is less than what is spent or, with ``hard``, not a number of features, or labels are not among
        ``clf.classes_``.

    Notes
    -----
    A stop counts as forced at the end of an order that the budget cut short, whether or not the classifier would have
    gone on, as it could not ask more within its budget. A feature that was asked for but missing has no row.

    Examples
    --------
    >>> import seqclass
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = seqclass.etana(0.001, max_features=1).fit(X[::2], y[::2])
    >>> log = afabench_log(clf, X[1:4:2], y[1:4:2])
    >>> log[["prev_selections_performed", "action_performed", "forced_stop"]].values.tolist()
    [[[], 4, False], [[3], 0, True], [[], 4, False], [[3], 0, True]]
    """
    import pandas as pd

    check_integer(seed, "seed", 0)
    truth = class_numbers(clf.classes_, y)
    most = check_integer(_limit(clf) if budget is None else budget, "budget", 0) if hard else None
    record = clf.acquire(X, record_beliefs=True, known=known, budget=most)
    if len(truth) != len(record):
        raise ValueError(f"y has {len(truth)} labels, X has {len(record)} rows.")
    spent = _spending(clf, record, hard or clf.max_features is not None)
    limit = _limit(clf) if budget is None else check_real(budget, "budget", 0)
    if limit is not None and spent.max(initial=0.0) > budget_of(limit):
        raise ValueError(f"budget {limit} is less than the {spent.max():g} spent; fit with max_features or max_cost.")
    asked = (record.order >= 0).sum(axis=1)
    bought = record.outcome >= 0
    idx, step = steps_of(record, bought)
    stop = step == asked[idx]
    actions = np.zeros(len(idx), dtype=np.intp)
    actions[~stop] = record.order[bought] + 1
    beliefs: Any = record.beliefs
    columns = {
        "prev_selections_performed": _columns_before(idx, actions),
        "action_performed": actions,
        "builtin_predicted_class": (beliefs[idx, step] @ clf.problem_.decision_costs).argmin(axis=1),
        "external_predicted_class": np.full(len(idx), None, dtype=object),
        "true_class": truth[idx],
        "accumulated_cost": spent[idx, np.where(stop, step, step + 1)],
        "idx": idx,
        "forced_stop": stop
        & _budget_ended(clf, record, asked, clf.support_[features_at_start(agent_of(clf), known)], most)[idx],
        "eval_seed": seed,
        "eval_hard_budget": np.full(len(idx), np.nan if limit is None else limit, dtype=np.float64),
    }
    log = pd.DataFrame(columns, columns=pd.Index(AFABENCH_COLUMNS))
    return _compact(log) if compact else log


def _compact(log: Any) -> Any:
    """The log by episodes and steps."""
    row = log["idx"]
    table = log.drop(columns=["idx", "prev_selections_performed"])
    for name in ("split_index", "generation_index"):
        table.insert(table.columns.get_loc("forced_stop") + 1, name, row)
    table.insert(0, "episode_id", row)
    table.insert(1, "step", log["prev_selections_performed"].map(len))
    return table


def _limit(clf: BaseSequentialClassifier) -> float | None:
    settings = clf.settings()
    return settings.max_cost if settings.max_features is None else settings.max_features


def _budget_ended(
    clf: BaseSequentialClassifier, record: AcquisitionRecord, asked: IntArray, known: IntArray, most: int | None
) -> BoolArray:
    """Whether the budget, and not the number of features or what was seen, ended the questions of each row."""
    problem = clf.problem_
    if most is not None:
        return np.asarray(asked == most)
    if problem.any_order and problem.limits.max_cost is not None:  # nothing that is left can be paid for
        left = budget_of(problem.limits.max_cost) - record.paid[:, None] < problem.prices
        place = np.full(clf.n_features_in_, -1)
        place[clf.support_[problem.features]] = np.arange(problem.n_questions)
        row, step = np.nonzero(record.order >= 0)
        dear = left.copy()
        dear[row, place[record.order[row, step]]] = True
        return np.asarray(dear.all(axis=1) & (asked < problem.n_questions))
    n_stages: Any = problem.n_stages
    if known.size and not problem.any_order:  # what is known was skipped, unless it was missing
        there = np.intersect1d(known, clf.support_[features_to_ask(agent_of(clf), whole=True)])
        n_stages = n_stages - there.size + np.isin(record.order, there).sum(axis=1)
    cut = clf.max_cost is not None or problem.n_stages == clf.max_features
    return np.asarray((asked == n_stages) & (cut and problem.n_stages < clf.support_.size))


def _spending(clf: BaseSequentialClassifier, record: AcquisitionRecord, in_features: bool) -> FloatArray:
    """Spent before anything was asked and after each answer, (n, longest + 1)."""
    acquired = record.outcome >= 0
    if in_features:
        prices = acquired.astype(np.float64)
    else:
        if agent_of(clf).charge_missing and (acquired != (record.order >= 0)).any():
            raise ValueError("AFABench's logs know no feature that is paid for and missing; set charge_missing=False.")
        prices = step_prices(record, agent_of(clf).prices)
    return np.concatenate([np.zeros((len(record), 1)), prices.cumsum(axis=1)], axis=1)


def _columns_before(idx: IntArray, actions: IntArray) -> list[list[int]]:
    """Columns acquired before each row of the log."""
    before: list[list[int]] = []
    for own in np.split(actions, np.flatnonzero(np.diff(idx)) + 1):
        columns = (own[:-1] - 1).tolist()
        before += [columns[:k] for k in range(len(own))]
    return before
