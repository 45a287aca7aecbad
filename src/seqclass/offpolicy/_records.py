"""Records to learn from: what was seen of each person, in what order, and what they turned out to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.frames import frame_columns, text_columns
from seqclass._utils.text import ParameterError, join_names
from seqclass._utils.validation import check_finite
from seqclass.agent.agent import agent_of, features_to_ask, to_numbers
from seqclass.bn.ordering import check_order
from seqclass.evaluation.certified import LabelledCases

#: Rank of a cell that was never recorded.
NEVER = 2**30


@dataclass(frozen=True, eq=False)
class Records:
    """Rows as a classifier sees them; K columns of ``X``, of which m are features of its model."""

    values: FloatArray  # (n, K), NaN where not recorded
    codes: IntArray  # (n, m) outcomes, -1 where not recorded
    label: IntArray  # (n,) position in classes_
    seen: BoolArray  # (n, K)
    rank: IntArray  # (n, K) when the recorder came to each column
    stepwise: bool  # whether ranks are each row's own purchases, one after the other until the recorder stopped
    categories: dict[int, int]  # of columns that hold numbers of categories, how many
    asked: IntArray  # features of the model that the policy may ask for
    support: IntArray  # column of each feature of the model

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.label)


def _columns_in(clf: BaseSequentialClassifier, table: Any) -> list[int] | None:
    """Where a table with names has the columns of the fit, if it has them all."""
    names = getattr(clf, "feature_names_in_", None)
    columns = frame_columns(table) or []
    place = {name: j for j, name in enumerate(columns)}
    if names is None or not place.keys() >= {*names.tolist()} or len(place) < len(columns):
        return None
    return [place[name] for name in names.tolist()]


def chances_in_order(clf: BaseSequentialClassifier, X: Any, chance: Any) -> Any:
    """Probabilities of the columns of the fit, by names, or as ``X`` has them."""
    if (own := _columns_in(clf, chance)) is not None:
        return np.asarray(chance)[:, own]
    if (own := _columns_in(clf, X)) is not None and text_columns(chance):
        raise ParameterError("recording", "must have each column of the fit once, by its name, or no names.")
    chance = check_finite(chance, "recording")
    return chance if own is None or np.shape(chance) != X.shape else np.asarray(chance)[:, own]


def _order_of_fit(clf: BaseSequentialClassifier, X: Any, order: Any) -> Any:
    """Columns in an order, told by their numbers in ``X``, by those of the fit."""
    if order is None or (own := _columns_in(clf, X)) is None or own == [*range(X.shape[1])]:
        return order
    if np.ndim(order) == 1:  # those that the fit has not are passed over
        others = {*range(X.shape[1])} - {*own}
        return [own.index(one) if one in own else one for one in order if one not in others]
    order = np.asarray(order)
    number = np.full(X.shape[1] + 1, len(own))
    number[own], number[-1] = np.arange(len(own)), -1
    inside = (order >= -1) & (order < X.shape[1]) & (order.dtype.kind in "iu")
    return np.where(inside, number[np.where(inside, order, 0)], order)


def read_records(clf: BaseSequentialClassifier, X: Any, y: npt.ArrayLike, order: Any, allow_seen: bool) -> Records:
    """Check records, and that the classifier was not fitted to them."""
    if sp.issparse(X):
        raise TypeError("X must be dense: what a sparse matrix does not store is zero, not missing.")
    given, cases = X, LabelledCases.from_labels(clf, X, y, None, "error", None)
    if not len(cases.codes):
        raise ValueError("X has no row; bring records.")
    cases.check_fresh(clf, allow_seen)
    X = to_numbers(agent_of(clf), cases.X)
    codes = np.asarray(clf.coder_.transform(X))
    values = np.array(X, dtype=np.float64)
    seen = ~np.isnan(values)
    seen[:, clf.support_] &= codes[:, clf.support_] >= 0
    values[~seen] = np.nan
    codes = np.where(seen, codes, -1)[:, clf.support_]
    rank, stepwise = _ranks(clf, seen, _order_of_fit(clf, given, order))
    asked = np.unique(features_to_ask(agent_of(clf)))
    never = clf.support_[asked][~seen[:, clf.support_[asked]].any(axis=0)]
    if never.size:
        names = join_names(clf.feature_name(j) for j in never.tolist())
        raise ValueError(
            f"the policy may ask for {names}, which no row of X has: these records say nothing about such a policy. "
            "Fit one to features that were recorded."
        )
    categories = dict(clf.coder_.categories)
    return Records(values, codes, cases.codes, seen, rank, stepwise, categories, asked, clf.support_)


def _ranks(clf: BaseSequentialClassifier, seen: BoolArray, order: Any) -> tuple[IntArray, bool]:
    """When the recorder came to each cell: columns in one order for all, or each row's own purchases."""
    n, n_columns = seen.shape
    names = getattr(clf, "feature_names_in_", None)
    if order is None:  # what is recorded of most is taken to come first
        columns = np.argsort(-seen.mean(axis=0), kind="stable")
    elif np.ndim(order) == 2:
        return _ranks_of_order(np.asarray(order), seen), True
    else:
        given = check_order(list(order), n_columns, names, what="order")
        others = np.setdiff1d(np.arange(n_columns), given)
        first = seen[:, others].all(axis=0)  # of columns that are not named those that everybody has come first
        columns = np.concatenate([others[first], given, others[~first]])
    rank = np.empty(n_columns, dtype=np.intp)
    rank[columns] = np.arange(n_columns)
    return np.broadcast_to(rank, (n, n_columns)), False


def _ranks_of_order(order: npt.NDArray[Any], seen: BoolArray) -> IntArray:
    """Ranks of the purchases of each row, whose columns are listed first one first, -1 beyond the last."""
    n, n_columns = seen.shape
    if order.shape[0] != n or order.dtype.kind not in "iu":
        raise ValueError(
            f"order must list the columns of X that each of the {n} rows has, as numbers in the order of purchase and "
            f"-1 beyond the last; got an array of {order.dtype} of shape {order.shape}."
        )
    rows, place = np.nonzero(order >= 0)
    column = order[rows, place]
    if (order < -1).any() or (order >= n_columns).any():
        raise ValueError(f"order must hold columns 0 to {n_columns - 1}, or -1; got {order.min()} to {order.max()}.")
    rank = np.full((n, n_columns), NEVER)
    rank[rows, column] = place
    listed_once = np.bincount(rows, minlength=n) == (rank < NEVER).sum(axis=1)
    ends = ((order[:, 1:] >= 0) <= (order[:, :-1] >= 0)).all(axis=1)
    wrong = ((rank < NEVER) != seen).any(axis=1) | ~listed_once | ~ends
    if wrong.any():
        raise ValueError(
            f"order must list exactly the columns that a row has, each once, -1 after the last; row {wrong.argmax()} "
            "of X has others."
        )
    return rank


#: Folds in which a rule is fitted that is not linear.
_N_FOLDS = 3
#: A rule: an array of probabilities, a function of (X, y) that gives one, or a classifier to fit.
Rule = npt.ArrayLike | Callable[[FloatArray, npt.NDArray[Any]], npt.ArrayLike] | Any


@dataclass(frozen=True, eq=False)
class Chances:
    """Probability that each cell was recorded given what the rule looked at, and scores of the rule's parameters."""

    records: Records
    chance: FloatArray  # (n, K); with stepwise records the probability to go on before each purchase
    scores: FloatArray | None  # (n, n_parameters), None where the rule was given
    kinds: tuple[Any, ...] = ()  # unfitted classifiers that the rule was fitted by

    @property
    def certain(self) -> BoolArray:
        """Columns that were recorded of everybody and had to be, (K,)."""
        return np.asarray((self.records.seen & (self.chance == 1)).all(axis=0))

    def inverse_probability(
        self, rows: IntArray, paths: IntArray, shows: BoolArray, cut: IntArray | None = None
    ) -> FloatArray:
        """Inverse probability that each beginning of some paths was recorded, 0 where it was not, (E, M, T).

        ``paths`` (E, M, T) are questions that show features (``shows``, (n_questions, n_asked)), -1 beyond the end, M
        paths for each of the people ``rows`` (E,). With ``cut`` (E,) only what the recorder came to until this rank.
        """
        records = self.records
        columns = records.support[records.asked]
        rank, seen = records.rank[rows][:, columns], records.seen[rows][:, columns]
        some, at = np.arange(len(rows))[:, None, None], np.where(paths >= 0, paths, len(shows))
        if records.stepwise:
            rank = np.where(seen, rank, NEVER)
            latest = [rank[:, members].max(axis=1, initial=-1) for members in shows]
            until = np.column_stack([*latest, np.full(len(rows), -1)])[some, at]
            return self._inverse_of_going_on(rows, np.maximum.accumulate(until, axis=2), cut)
        with np.errstate(divide="ignore"):
            inverse = np.where(seen, 1 / self.chance[rows][:, columns], 0.0)
        if cut is not None:
            inverse[rank > cut[:, None]] = 1.0
        factors = [inverse[:, members].prod(axis=1) for members in shows]
        return np.asarray(np.column_stack([*factors, np.ones(len(rows))])[some, at].cumprod(axis=2))

    def _inverse_of_going_on(self, rows: IntArray, last: IntArray, cut: IntArray | None) -> FloatArray:
        """Inverse probability, where purchases came one by one, to go on until all that is asked was seen."""
        until = last if cut is None else np.minimum(last, cut[:, None, None])
        going = self._going_on
        never = until >= going.shape[1] - 1
        return np.where(never, 0.0, going[rows[:, None, None], np.where(never, 0, until + 1)])

    @property
    def _going_on(self) -> FloatArray:
        """Inverse probability to go on until so many purchases, (n, most + 1), infinite beyond those of a row."""
        records = self.records
        count = records.seen.sum(axis=1)
        going = np.ones((records.n, int(count.max(initial=0)) + 1))
        row, column = np.nonzero(records.seen)
        going[row, records.rank[row, column] + 1] = 1 / self.chance[row, column]
        return np.asarray(going.cumprod(axis=1))


def check_chances(records: Records, rule: Any, y: npt.NDArray[Any]) -> Chances:
    """Probabilities that the user gives, as an array or by a function."""
    chance = check_finite(rule(records.values.copy(), y) if callable(rule) else rule, "recording", records.seen.shape)
    if chance.min() < 0 or chance.max() > 1:
        raise ValueError(
            f"recording must hold probabilities between 0 and 1; got {chance.min():g} to {chance.max():g}."
        )
    wrong = records.seen & (chance <= 0)
    if wrong.any():
        row, column = (int(at[0]) for at in np.nonzero(wrong))
        raise ValueError(
            f"recording says that column {column} could not be recorded in row {row}, and X has it: the rule is not "
            "the one that made these records."
        )
    return Chances(records, chance, None)


def fit_chances(
    records: Records, template: Any, train: IntArray | None = None, like: Chances | None = None, seed: Any = 0
) -> Chances:
    """Fit the rule to rows, by default all: a classifier of "recorded" for each column, or of "went on"."""
    n = records.n
    # those who are recorded alike are spread evenly
    spread = np.lexsort((as_generator(seed, "recorder's rule").random(n), records.seen.sum(axis=1)))
    fold = np.empty(n, dtype=np.intp)
    fold[spread] = np.arange(n) % _N_FOLDS
    kinds = [] if like is None else list(like.kinds)
    fitting = _Fitting(template, kinds, np.arange(n) if train is None else train, fold, train is None)
    return (_fit_steps if records.stepwise else _fit_cells)(records, fitting)


def _fit_cells(records: Records, fitting: _Fitting) -> Chances:
    """One classifier for each column that the policy may ask for, of what comes before it."""
    chance, scores = np.ones(records.seen.shape), []
    kinds: list[Any] = []
    inputs, owner = _inputs(records)
    for column in records.support[records.asked].tolist():
        recorded = records.seen[:, column]
        if recorded.all():
            continue
        before = records.rank[0] < records.rank[0, column]
        design = inputs[:, (owner < 0) | before[owner]]
        p, gradient, kind = fitting.fit_predict(len(kinds), design, recorded, np.arange(records.n))
        chance[:, column] = p
        scores.append(gradient)
        kinds.append(kind)
    return Chances(records, chance, np.hstack(scores) if scores else np.empty((records.n, 0)), tuple(kinds))


def _fit_steps(records: Records, fitting: _Fitting) -> Chances:
    """One classifier of "bought another one", of what had been seen at each step of each row."""
    inputs, owner = _inputs(records)
    count, n_columns = records.seen.sum(axis=1), records.seen.shape[1]
    row = np.repeat(np.arange(records.n), count + 1)
    step = np.arange(row.size) - np.repeat(np.cumsum(count + 1) - count - 1, count + 1)
    went_on = step < count[row]
    undecided = step < n_columns  # who has everything cannot go on
    row, step, went_on = row[undecided], step[undecided], went_on[undecided]
    known = records.rank[row] < step[:, None]
    design = inputs[row] * np.where(owner < 0, True, known[:, owner])
    design = np.column_stack([design, step])
    p, gradient, kind = fitting.fit_predict(0, design, went_on, row)
    chance = np.zeros((records.n, n_columns))
    chance[row[~went_on]] = p[~went_on, None]  # of cells that were not recorded: to go on at the stop
    at, column = np.nonzero(records.seen)
    place = np.cumsum(count + 1) - count - 1 - np.cumsum(count == n_columns) + (count == n_columns)
    chance[at, column] = p[place[at] + records.rank[at, column]]
    scores = np.zeros((records.n, gradient.shape[1]))
    np.add.at(scores, row, gradient)
    return Chances(records, chance, scores, (kind,))


@dataclass(frozen=True, eq=False)
class _Fitting:
    """How probabilities are learnt: by what kind of classifier, to which people, and in what folds of them."""

    template: Any  # the kind, or None: the likelier one
    kinds: list[Any]  # kinds that were found likelier before, or none
    train: IntArray
    fold: IntArray
    crossed: bool  # whether probabilities of the people fitted to are wanted, too

    def fit_predict(
        self, number: int, design: FloatArray, target: BoolArray, person: IntArray
    ) -> tuple[Any, FloatArray, Any]:
        """P(target) of every row, each row's score of a linear classifier's parameters, and the kind of classifier."""
        train, fold = np.isin(person, self.train), self.fold[person]
        kind = self.kinds[number] if self.kinds else self.template
        if kind is None:
            kind = _likelier(design[train], target[train], fold[train], person[train])
        p, linear = _fit_predict(kind, design, target, train, np.ones(len(target), dtype=bool))
        if linear:
            return p, (target - p)[:, None] * np.column_stack([np.ones(len(p)), design]), kind
        for k in range(_N_FOLDS if self.crossed else 0):
            p[fold == k] = _fit_predict(kind, design, target, train & (fold != k), fold == k)[0]
        return np.maximum(p, 1 / len(p)), np.empty((len(p), 0)), kind


def _likelier(design: FloatArray, target: BoolArray, fold: IntArray, person: IntArray) -> Any:
    """Boosted trees where people held out are likelier by them beyond a standard error; else logistic regression."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    logistic = LogisticRegression(C=10.0, solver="newton-cholesky")
    boosted = HistGradientBoostingClassifier(
        max_iter=50, learning_rate=0.2, max_leaf_nodes=4, early_stopping=False, random_state=0
    )
    if min(target.sum(), (~target).sum()) < 50:  # too few rows of a kind to try another
        return logistic
    gain = np.zeros(len(target))
    for k in range(_N_FOLDS):
        held = fold == k
        one, other = (_fit_predict(kind, design, target, ~held, held)[0] for kind in (logistic, boosted))
        chance = np.stack([other, one])
        log_chance = np.log(np.clip(np.where(target[held], chance, 1 - chance), 1e-6, None))
        gain[held] = log_chance[0] - log_chance[1]
        if gain.sum() <= 0:
            return logistic
    by_person = np.bincount(person, gain)[np.unique(person)]
    return boosted if by_person.mean() > by_person.std() / np.sqrt(by_person.size) else logistic


def _fit_predict(
    kind: Any, design: FloatArray, target: BoolArray, train: BoolArray, wanted: BoolArray
) -> tuple[FloatArray, bool]:
    """P(target) of some rows from a classifier fitted to others, and whether it is linear."""
    from sklearn.base import clone

    size, number = int(train.sum()), int(target[train].sum())
    if number in (0, size):
        return np.full(int(wanted.sum()), 0.5 / (size + 1) if number == 0 else 1.0), False
    if not design.shape[1]:  # of the first column nothing is known before, where all are of one class
        return np.full(int(wanted.sum()), number / size), True
    model = clone(kind).fit(design[train], target[train])
    return model.predict_proba(design[wanted])[:, 1], hasattr(model, "coef_")


def _inputs(records: Records) -> tuple[FloatArray, IntArray]:
    """What a rule may look at: the class, and of each column whether it was seen and what it showed."""
    parts = [(records.label[:, None] == np.arange(1, records.label.max(initial=0) + 1)).astype(np.float64)]
    owner = [-1] * parts[0].shape[1]
    for j, value in enumerate(records.values.T):
        seen = records.seen[:, j]
        if j in records.categories:
            made = (value[:, None] == np.arange(1, records.categories[j])).astype(np.float64)
        else:
            mean, spread = (value[seen].mean(), value[seen].std()) if seen.any() else (0.0, 0.0)
            made = np.where(seen, (value - mean) / (spread if spread > 0 else 1.0), 0.0)[:, None]
        always_seen = seen.all() and not records.stepwise  # that it was seen, by then, says nothing
        parts += [made] if always_seen else [seen[:, None].astype(np.float64), made]
        owner += [j] * (made.shape[1] + (not always_seen))
    return np.hstack(parts), np.array(owner, dtype=np.intp)
