"""Plain methods on the same folds as a classifier: what it has to beat."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from seqclass._arrays import BoolArray, FloatArray, IntArray, smallest_int
from seqclass._charging import charged
from seqclass._coding import OutcomeCoder
from seqclass._inputs import category_counts
from seqclass.costs import Prices
from seqclass.held_out import HeldOut

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

#: Settings that are tried: multiples of the least C at which a feature comes in.
_FACTORS = (1.5, 3.0, 8.0, 25.0, 80.0)
#: Of more columns those take part that differ most between the classes.
_COLUMNS = 500
#: More training rows, or cells, than these are sampled.
_ROWS, _CELLS = 5000, 10**7
#: One in so many training rows chooses among the settings.
_INNER = 4
#: The intercept is penalised as well by liblinear, by so much less.
_INTERCEPT = 10.0


def deciding_at_once(costs: FloatArray, label: IntArray, fold: IntArray) -> HeldOut:
    """Held-out cost of the best decision under the class frequencies of each training part."""
    held = fold >= 0
    decided = np.zeros(len(label), dtype=np.intp)
    for number in range(int(fold.max()) + 1):
        prior = np.bincount(label[fold != number], minlength=len(costs))
        decided[fold == number] = int(np.argmin(prior @ costs))
    nothing = np.zeros(int(held.sum()))
    return scored("Deciding at once", costs, label, fold, decided[held], nothing, nothing.astype(np.int8))


def scored(
    name: str,
    costs: FloatArray,
    label: IntArray,
    fold: IntArray,
    decided: IntArray,
    prices: FloatArray,
    counts: IntArray,
) -> HeldOut:
    """Decisions of the rows that were held out, with what they cost."""
    truth = label[fold >= 0]
    errors = (decided != truth) & (decided < len(costs))
    decided = decided.astype(smallest_int(costs.shape[1]))
    counts = counts.astype(smallest_int(int(counts.max(initial=0))))
    return HeldOut(name, fold, prices, costs[truth, decided], decided, errors, counts, float(costs.max()))


def linear(clf: SequentialClassifier, X: Any, label: IntArray, fold: IntArray) -> HeldOut:
    """Held-out cost of a linear model on few features, as `HeldOut` describes it."""
    place = np.cumsum(fold >= 0) - 1
    n = int((fold >= 0).sum())
    decided, counts, prices = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp), np.zeros(n)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about convergence, and columns without values
        for number in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            data = _Data(clf, X, label, _some(train, X.shape[1], rng))
            done = data.run(data.chosen(), test)
            at = place[test]
            decided[at], counts[at], prices[at] = done
    return scored("Linear model", clf.decision_costs_, label, fold, decided, prices, counts)


def _some(rows: IntArray, n_columns: int, rng: np.random.Generator) -> IntArray:
    most = min(_ROWS, max(500, _CELLS // max(1, n_columns)))
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


class _Model(NamedTuple):
    """Weights of the columns, a row a class (of two classes one row), and the intercepts."""

    weights: FloatArray
    intercept: FloatArray
    frequency: FloatArray


class _Data:
    """Outcomes of all rows by the coder of one training part, as columns of a linear model."""

    def __init__(self, clf: SequentialClassifier, X: Any, label: IntArray, train: IntArray) -> None:
        self.clf, self.label, self.train = clf, label, train
        self.costs: FloatArray = clf.decision_costs_
        self.prices: Prices = clf._prices
        coder = OutcomeCoder(clf.discretizer, category_counts(clf.encoder_))
        coder.fit_transform(X[train], label[train])
        if isinstance(clf.discretizer, str):
            coder.n_outcomes_ = clf.coder_.n_outcomes_
        self.codes = coder.transform(X)
        many = {j: k for j, k in coder.categories.items() if k > 2}
        single = np.setdiff1d(np.arange(X.shape[1]), list(many))
        #: The feature of each column, and of which category it tells; -1 of a number
        self.owner = np.concatenate([single, *(np.full(k, j) for j, k in many.items())]).astype(np.intp)
        self.category = np.concatenate([np.full(single.size, -1), *(np.arange(k) for k in many.values())])
        order = np.random.default_rng(0).permutation(train)
        order = order[np.argsort(label[order], kind="stable")]
        inner = np.arange(len(order)) % _INNER != _INNER // 2
        self.fitting, self.judging = np.sort(order[inner]), np.sort(order[~inner])
        self._scale()
        self._screen()

    def _scale(self) -> None:
        from sklearn.preprocessing import StandardScaler

        everything = np.arange(self.owner.size)
        raw = self._raw(self.fitting, everything)
        scaler = StandardScaler(with_mean=not sp.issparse(raw)).fit(raw)
        self.mean = np.zeros(everything.size) if sp.issparse(raw) else np.nan_to_num(scaler.mean_)
        self.scale = np.nan_to_num(scaler.scale_, nan=1.0)

    def _screen(self) -> None:
        """Keep the columns whose means differ most between a class and the others."""
        if self.owner.size <= _COLUMNS:
            return
        own = (self.label[self.fitting, None] == np.arange(len(self.costs))).astype(np.float64)
        Z = self.columns(self.fitting, np.arange(self.owner.size))
        middle = np.asarray(Z.mean(axis=0)).ravel()
        apart = np.abs(np.asarray(Z.T @ own) - middle[:, None] * own.sum(axis=0)) / np.sqrt(own.sum(axis=0) + 1)
        kept = np.sort(np.argsort(-apart.max(axis=1), kind="stable")[:_COLUMNS])
        self.owner, self.category = self.owner[kept], self.category[kept]
        self.mean, self.scale = self.mean[kept], self.scale[kept]

    def _raw(self, rows: IntArray, columns: IntArray) -> Any:
        codes = self.codes[rows][:, self.owner[columns]]
        if sp.issparse(codes):  # a missing cell is as good as one that is not stored
            codes = sp.csr_array(codes, dtype=np.float64, copy=True)
            codes.data[codes.data < 0] = 0.0
            return codes
        found = np.where(codes < 0, np.nan, codes)
        told = self.category[columns]
        inner = told >= 0
        found[:, inner] = np.where(codes[:, inner] < 0, np.nan, codes[:, inner] == told[inner])
        return found

    def columns(self, rows: IntArray, columns: IntArray) -> Any:
        """Standardised columns; the mean where a cell is missing."""
        raw = self._raw(rows, columns)
        if sp.issparse(raw):
            data = raw.data / self.scale[columns][raw.indices]
            places = [part.astype(np.int32, copy=False) for part in (raw.indices, raw.indptr)]  # as liblinear has it
            return sp.csr_array((data, *places), shape=raw.shape)
        return np.nan_to_num((raw - self.mean[columns]) / self.scale[columns])

    def chosen(self) -> _Model:
        """The model of least realised cost on rows of the training part, refitted to all of it."""
        fitting, judging = self.fitting, self.judging
        tried = [_constant(self.label[fitting], len(self.costs), self.owner.size), *self._path(fitting, _FACTORS)]
        costs = [self._judged(model, judging) for model in tried]
        best = int(np.argmin(costs))
        # a refit that buys more than is allowed gives way to the next stronger penalty
        for place in range(best, 0, -1):
            (model,) = self._path(self.train, _FACTORS[place - 1 : place])
            if self._allowed(*self.run(model, judging)[1:]):
                return model
        return _constant(self.label[self.train], len(self.costs), self.owner.size)

    def _judged(self, model: _Model, rows: IntArray) -> float:
        decided, counts, prices = self.run(model, rows)
        wrong = self.costs[self.label[rows], decided]
        if not self._allowed(counts, prices):
            return float("inf")
        return float((wrong if self.clf.target_cost is not None else wrong + prices).mean())

    def _allowed(self, counts: IntArray, prices: FloatArray) -> bool:
        """Whether the limits of the classifier hold."""
        clf, small = self.clf, 1e-9
        within = clf.target_cost is None or prices.mean() <= clf.target_cost + small
        within &= clf.max_features is None or counts.max(initial=0) <= clf.max_features
        return bool(within and (clf.max_cost is None or prices.max(initial=0.0) <= clf.max_cost + small))

    def _path(self, rows: IntArray, factors: tuple[float, ...]) -> list[_Model]:
        Z, label = self.columns(rows, np.arange(self.owner.size)), self.label[rows]
        n_classes = len(self.costs)
        frequency = np.bincount(label, minlength=n_classes) / len(label)
        classes = [1] if n_classes == 2 else range(n_classes)
        by_class = [_lines(Z, label == c, factors) for c in classes]
        return [
            _Model(np.array([w[i] for w, _ in by_class]), np.array([b[i] for _, b in by_class]), frequency)
            for i in range(len(factors))
        ]

    def run(self, model: _Model, rows: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Decisions, features bought and prices paid."""
        used = np.flatnonzero((model.weights != 0).any(axis=0))
        score = np.asarray(self.columns(rows, used) @ model.weights[:, used].T) + model.intercept
        decided = np.argmin(_probabilities(score, model.frequency) @ self.costs, axis=1)
        counts, prices = charged(self._bought(rows, np.unique(self.owner[used])), self.prices)
        return decided, counts, prices

    def _bought(self, rows: IntArray, features: IntArray) -> Any:
        """Sparse matrix of ones where a feature is there to be bought."""
        there = np.ones((len(rows), features.size), dtype=bool)
        if not self.clf.charge_missing:
            codes = self.codes[rows][:, features]
            there = np.asarray((codes.toarray() if sp.issparse(codes) else codes) >= 0)
        row, at = np.nonzero(there)
        return sp.csr_array((np.ones(row.size), (row, features[at])), shape=(len(rows), self.prices.full.size))


def _constant(label: IntArray, n_classes: int, n_columns: int) -> _Model:
    """The model that buys nothing."""
    frequency = np.bincount(label, minlength=n_classes) / len(label)
    return _Model(np.zeros((0, n_columns)), np.zeros(0), frequency)


def _lines(Z: Any, own: BoolArray, factors: tuple[float, ...]) -> tuple[list[FloatArray], list[float]]:
    """Logistic regressions of one class against the others, for growing C; of a single label the constant."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import l1_min_c

    if own.all() or not own.any():
        return [np.zeros(Z.shape[1])] * len(factors), [np.inf if own.all() else -np.inf] * len(factors)
    line = LogisticRegression(solver="liblinear", intercept_scaling=_INTERCEPT, tol=1e-3, random_state=0)
    # "penalty" gives way to "l1_ratio" with scikit-learn 1.8
    line.set_params(**({"penalty": "l1"} if line.get_params().get("penalty") == "l2" else {"l1_ratio": 1.0}))
    try:
        least = l1_min_c(Z, own.astype(int), loss="log", intercept_scaling=_INTERCEPT)
    except ValueError:  # no column tells anything
        least = 1.0
    weights, intercepts = [], []
    for factor in factors:
        line.set_params(C=least * factor).fit(Z, own)
        weights.append(line.coef_[0].copy())
        intercepts.append(float(line.intercept_[0]))
    return weights, intercepts


def _probabilities(score: FloatArray, frequency: FloatArray) -> FloatArray:
    """P(class) from the scores of each class against the others; the frequencies where there is none."""
    if not score.shape[1]:
        return np.tile(frequency, (len(score), 1))
    own = expit(score)
    if len(frequency) == 2:
        return np.column_stack([1 - own[:, 0], own[:, 0]])
    total = own.sum(axis=1, keepdims=True)
    return np.where(total > 0, own / np.where(total > 0, total, 1), frequency)
