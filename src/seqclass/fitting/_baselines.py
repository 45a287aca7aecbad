"""Plain methods on the same folds as a classifier: what it has to beat."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from operator import sub
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import config_context

from seqclass._utils.arrays import CHUNK_BYTES, FloatArray, IntArray, smallest_int
from seqclass.agent._coding import category_counts
from seqclass.costs import charge_acquired
from seqclass.fitting._fit import Fit
from seqclass.fitting.held_out import HeldOut


@dataclass(frozen=True)
class BaselineTuning:
    """How a linear model on few features is chosen, of many rows and columns too."""

    #: numbers of features that are tried
    sizes: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 80, 100)
    patience: int = 5  #: sizes tried in vain, after which no more are
    #: what the next feature tells is divided by its price to one of these powers
    price_powers: tuple[float, ...] = (0.0, 0.5, 1.0)
    max_features: int = 300  #: of more those take part that tell most by themselves; also so many are scaled at a time
    max_categories: int = 20  #: with a column each, the most frequent ones
    max_rows: int = 5000  #: more training rows than these are sampled
    max_labels: int = 20_000  #: rows times classes that choose the features
    n_parts: int = 4  #: of the training rows that choose the features, each for fits to the others
    #: penalty on squared weights of standardised columns: for stability, next to nothing of many rows
    ridge: float = 1.0


TUNING = BaselineTuning()


class FoldDecisions(NamedTuple):
    """What is done with rows of a fold, or of all."""

    prices: FloatArray
    decided: IntArray
    counts: IntArray


def deciding_at_once(costs: FloatArray, label: IntArray, fold: IntArray, weight: FloatArray | None) -> HeldOut:
    """Held-out cost of the best decision under the class frequencies of each training part."""
    counted = np.ones(len(label)) if weight is None else weight
    held = fold >= 0
    decided = np.zeros(len(label), dtype=np.intp)
    for number in range(int(fold.max()) + 1):
        prior = np.bincount(label[fold != number], counted[fold != number], len(costs))
        decided[fold == number] = int(np.argmin(prior @ costs))
    nothing = np.zeros(int(held.sum()))
    acted = FoldDecisions(nothing, decided[held], nothing.astype(np.int8))
    return score_decisions("Deciding at once", costs, label, fold, acted, weight)


def score_decisions(
    name: str, costs: FloatArray, label: IntArray, fold: IntArray, acted: FoldDecisions, weight: FloatArray | None
) -> HeldOut:
    """Decisions of the rows that were held out, with what they cost."""
    truth, (prices, decided, counts) = label[fold >= 0], acted
    errors = (decided != truth) & (decided < len(costs))
    decided = decided.astype(smallest_int(costs.shape[1]))
    counts = counts.astype(smallest_int(int(counts.max(initial=0))))
    weights = None if weight is None else weight[fold >= 0]
    wrong = costs[truth, decided]
    parts = (name, fold, prices, wrong, decided, errors, counts, float(costs.max()))
    return HeldOut(*parts, weights=weights, n_classes=len(costs))


def linear(fit: Fit, X: Any, label: IntArray, fold: IntArray, weight: FloatArray | None) -> HeldOut:
    """Held-out cost of a linear model on few features, as `HeldOut` describes it; ``X`` holds numbers."""
    held = fold[fold >= 0]
    decided, counts, prices = np.zeros(held.shape, np.intp), np.zeros(held.shape, np.intp), np.zeros(held.shape)
    rng = np.random.default_rng(0)
    X = X.tocsr() if sp.issparse(X) else X
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore")  # about convergence, and columns without values
        for number in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            most = min(TUNING.max_rows, max(500, CHUNK_BYTES // (8 * max(1, X.shape[1]))))
            train = train if len(train) <= most else np.sort(rng.choice(train, most, replace=False))
            part = _Part(fit, X, label, train)
            at = held == number
            decided[at], counts[at], prices[at] = part.decide_rows(part.choose_model(), test)
    costs, acted = fit.agent.problem.decision_costs, FoldDecisions(prices, decided, counts)
    return score_decisions("Linear model", costs, label, fold, acted, weight)


class _Moments(NamedTuple):
    """Sums over rows of the columns, of what the classes are, and of their products."""

    n: int
    columns: FloatArray
    classes: FloatArray
    squares: FloatArray
    products: FloatArray

    def less(self, other: _Moments) -> _Moments:
        return _Moments(*map(sub, self, other))


class _Model(NamedTuple):
    """What is bought, and the regression on its columns; the class frequencies where there is none."""

    questions: IntArray
    line: Any
    frequency: FloatArray


class _Part:
    """A training part: the columns of what can be bought, standardised, and its choice of features."""

    def __init__(self, fit: Fit, X: Any, label: IntArray, train: IntArray) -> None:
        self.settings, self.encoder, self.X, self.label, self.train = fit.settings, fit.agent.encoder, X, label, train
        self.costs: FloatArray = fit.agent.problem.decision_costs
        self.prices, self.coder = fit.agent.prices, fit.agent.coder
        self.given: IntArray = fit.agent.support[fit.agent.known]
        self.precomputed = isinstance(fit.settings.discretizer, str)
        classes = np.arange(int(len(self.costs) == 2), len(self.costs))
        self.indicators = (label[train, None] == classes).astype(np.float64)
        self.levels = self._levels()
        features = np.arange(X.shape[1])
        if features.size > TUNING.max_features:
            features = self._screen(features)
        self.owner, self.category = self._expand_columns(features)
        self.middle, self.scale = self._scales(self._raw(train, self.owner, self.category), self.category)
        self.Z = self.columns(train, np.arange(self.owner.size))
        self._ask()

    def _levels(self) -> dict[int, IntArray]:
        """Categories that have a column each, of the features with more than two."""
        counts = category_counts(self.encoder)
        if self.precomputed and not sp.issparse(self.X):
            highest = np.nan_to_num(self.X[self.train], nan=-1).max(axis=0)
            counts = {j: int(k) + 1 for j, k in enumerate(highest.tolist()) if k < TUNING.max_categories}
        levels: dict[int, IntArray] = {}
        for j, k in counts.items():
            if k > 2:
                cells = self.X[self.train, j]
                often = np.bincount(cells[cells >= 0].astype(np.intp), minlength=k)
                levels[j] = np.sort(np.argsort(-often, kind="stable")[: TUNING.max_categories])
        return levels

    def _expand_columns(self, features: IntArray) -> tuple[IntArray, IntArray]:
        """The feature of each column, and of which category it tells; -1 of a number."""
        levels = [self.levels.get(j, np.array([-1])) for j in features.tolist()]
        return np.repeat(features, [len(k) for k in levels]), np.concatenate([*levels, np.empty(0, dtype=np.intp)])

    def _raw(self, rows: IntArray, owner: IntArray, category: IntArray) -> FloatArray:
        features, position = np.unique(owner, return_inverse=True)
        cells = self.X[rows][:, features]
        cells = np.asarray(cells.toarray() if sp.issparse(cells) else cells, dtype=np.float64)
        values = (np.where(cells < 0, np.nan, cells) if self.precomputed else cells)[:, position]
        coded = category >= 0
        values[:, coded] = np.where(np.isnan(values[:, coded]), np.nan, values[:, coded] == category[coded])
        return values

    @staticmethod
    def _scales(raw: FloatArray, category: IntArray) -> tuple[FloatArray, FloatArray]:
        there = ~np.isnan(raw)
        n = np.maximum(there.sum(axis=0), 1)
        top = np.abs(np.where(there, raw, 0.0)).max(axis=0)
        top[top == 0] = 1.0  # squares of what is very large or small are out of range
        middle = (np.where(there, raw, 0.0) / top).sum(axis=0) / n
        spread = np.sqrt((np.where(there, raw / top - middle, 0.0) ** 2).sum(axis=0) / n)
        return middle * top, np.where((category >= 0) | (spread <= 1e-12), 1.0, spread * top)

    def columns(self, rows: IntArray, at: IntArray) -> FloatArray:
        """Standardised columns; the mean where a cell is missing."""
        raw = self._raw(rows, self.owner[at], self.category[at])
        return np.nan_to_num((raw - self.middle[at]) / self.scale[at])

    def _screen(self, features: IntArray) -> IntArray:
        """Features that tell most of the classes by themselves, or for their price."""
        indicators = self.indicators - self.indicators.mean(axis=0)
        indicators /= np.sqrt((indicators**2).mean(axis=0) + 1e-12)
        gain = np.concatenate(list(self._gains_by_feature(features, indicators)))
        rated = [gain] if not self._vary() else [gain, gain / _floor_prices(self.prices.discounted)]
        kept = [np.argsort(-rate, kind="stable")[: TUNING.max_features // len(rated)] for rate in rated]
        return np.unique(np.concatenate(kept))

    def _gains_by_feature(self, features: IntArray, indicators: FloatArray) -> Iterator[FloatArray]:
        if sp.issparse(self.X):  # without categories
            cells = self.X[self.train].astype(np.float64)
            cells.data[~(cells.data > 0) if self.precomputed else np.isnan(cells.data)] = 0.0
            mean = np.asarray(cells.mean(axis=0)).ravel()
            spread = np.asarray(cells.power(2).sum(axis=0)).ravel() - len(indicators) * mean**2
            yield ((cells.T @ indicators) ** 2).sum(axis=1) / np.maximum(spread, 1e-12 + 1e-9 * mean**2)
            return
        for start in range(0, features.size, TUNING.max_features):
            some = features[start : start + TUNING.max_features]
            owner, category = self._expand_columns(some)
            raw = self._raw(self.train, owner, category)
            middle, scale = self._scales(raw, category)
            Z = np.nan_to_num((raw - middle) / scale)
            explained = ((Z.T @ indicators) ** 2).sum(axis=1) / ((Z**2).sum(axis=0) + TUNING.ridge)
            alone = np.bincount(owner - some[0], explained, minlength=some.size).astype(np.float64)
            yield alone

    def _vary(self) -> bool:
        return bool(np.ptp(self.prices.full) > 0 or (self.prices.discounted < self.prices.full).any())

    def _ask(self) -> None:
        """What can be bought: a feature, or a bundle as its first one; its price by itself and in its group."""
        first = np.arange(self.prices.full.size)
        if self.prices.bundles is not None:
            _, start, number = np.unique(self.prices.bundles, return_index=True, return_inverse=True)
            first = np.where(self.prices.bundles >= 0, start[number], first)
        self.questions, self.asked_by = np.unique(first[self.owner], return_inverse=True)
        #: What is known at the start is no question, and counts for nothing.
        self.known = np.isin(self.questions, self.given)
        sizes = np.bincount(self.asked_by)
        columns = np.split(np.argsort(self.asked_by, kind="stable"), np.cumsum(sizes)[:-1])
        self.members = columns
        self.batches = [
            (alike, np.array([columns[q] for q in alike]))
            for size in np.unique(sizes)
            for alike in [np.flatnonzero(sizes == size)]
        ]
        self.share = np.ones(self.questions.size)
        if not self.settings.costs.charge_missing:
            there = ~np.isnan(self._raw(self.train, self.owner, self.category))
            self.share = np.array([there[:, at].any(axis=1).mean() for at in columns])

    def moments(self, rows: IntArray) -> _Moments:
        Z, indicators = self.Z[rows], self.indicators[rows]
        return _Moments(len(rows), Z.sum(axis=0), indicators.sum(axis=0), Z.T @ Z, Z.T @ indicators)

    def path(self, moments: _Moments, power: float, most: int) -> IntArray:
        """Questions one after the other, each the one that explains most of the classes for its price."""
        n, columns, classes, squares, products = moments
        shares = classes / n
        square = squares - np.outer(columns, columns) / n + TUNING.ridge * np.eye(len(columns))
        left = (products - np.outer(columns, shares)) / np.sqrt(shares * (1 - shares) + 1e-12)
        open_ = np.ones(self.questions.size, dtype=bool)
        questions: list[int] = []
        limits = _Limits(self)
        while len(questions) < most:
            price = limits.prices()
            can = open_ & limits.can_buy(price)
            gain = np.full(open_.size, -1.0)
            for alike, columns in self.batches:
                at = can[alike]
                members, rest = columns[at], left[columns[at]]
                solution = np.linalg.solve(square[members[:, :, None], members[:, None, :]], rest)
                gain[alike[at]] = (solution * rest).sum(axis=(1, 2))
            best = int(np.argmax(gain / _floor_prices(price) ** power))
            if not gain[best] > 1e-9 * n:
                break
            questions.append(best)
            open_[best] = False
            limits.buy(best, price)
            members = self.members[best]
            across = square[:, members] @ np.linalg.inv(square[np.ix_(members, members)])
            left = left - across @ left[members]
            square = square - across @ square[members]
        return np.array(questions, dtype=np.intp)

    def choose_model(self) -> _Model:
        """The model whose features, and how many, cost least on parts of the training rows, fitted to all of them."""
        order = np.random.default_rng(0).permutation(len(self.train))
        order = order[: max(500, TUNING.max_labels // len(self.costs))]
        order = order[np.argsort(self.label[self.train[order]], kind="stable")]
        parts = [np.sort(order[start :: TUNING.n_parts]) for start in range(min(TUNING.n_parts, len(order)))]
        of_parts = [self.moments(part) for part in parts]
        whole = _Moments(*(sum(of) for of in zip(*of_parts)))
        best = (np.inf, 0.0, 0)
        for power in TUNING.price_powers if self._vary() else TUNING.price_powers[:1]:
            paths = [self.path(whole.less(part), power, max(TUNING.sizes)) for part in of_parts]
            vain = 0
            for size in TUNING.sizes:
                if vain == TUNING.patience or size > max(map(len, paths)):
                    break
                cost = sum(
                    self._cost_on(path[:size], np.setdiff1d(order, part), part) for path, part in zip(paths, parts)
                )
                vain = 0 if cost < best[0] * (1 - 1e-9) else vain + 1
                best = min(best, (cost, power, size))
        everything = np.arange(len(self.train))
        return self.fit_model(self.path(self.moments(everything), *best[1:]), everything)

    def _cost_on(self, questions: IntArray, fitting: IntArray, judging: IntArray) -> float:
        rows = self.train[judging]
        decided, _, prices = self.decide_rows(self.fit_model(questions, fitting), rows, judging)
        wrong = self.costs[self.label[rows], decided]
        return float((wrong if self.settings.target_cost is not None else wrong + prices).sum())

    def fit_model(self, questions: IntArray, rows: IntArray) -> _Model:
        """Logistic regression on the columns that questions show."""
        from sklearn.linear_model import LogisticRegression

        label = self.label[self.train[rows]]
        frequency = np.bincount(label, minlength=len(self.costs)) / len(label)
        line = None
        if questions.size and frequency.max() < 1:
            solver = "newton-cholesky" if len(self.costs) == 2 else "lbfgs"
            line = LogisticRegression(C=1 / TUNING.ridge, solver=solver, tol=1e-3, max_iter=200)
            line.fit(self.Z[np.ix_(rows, self._features_of_questions(questions))], label)
        return _Model(questions, line, frequency)

    def _features_of_questions(self, questions: IntArray) -> IntArray:
        return np.flatnonzero(np.isin(self.asked_by, questions))

    def decide_rows(
        self, model: _Model, rows: IntArray, places: IntArray | None = None
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Decisions, features bought and prices paid; ``places`` are those of the rows in the training part."""
        chance = np.tile(model.frequency, (len(rows), 1))
        at = self._features_of_questions(model.questions)
        if model.line is not None:
            Z = self.columns(rows, at) if places is None else self.Z[np.ix_(places, at)]
            chance[:] = 0.0
            chance[:, model.line.classes_] = model.line.predict_proba(Z)
        codes = self.coder.transform(self.X[rows]) if self.prices.after else None
        return np.argmin(chance @ self.costs, axis=1), *charge_acquired(
            self._purchases(rows, np.setdiff1d(self.owner[at], self.given)), self.prices, codes
        )

    def _purchases(self, rows: IntArray, features: IntArray) -> Any:
        """Sparse matrix of ones where a feature is there to be bought."""
        there = np.ones((len(rows), features.size), dtype=bool)
        if not self.settings.costs.charge_missing:
            there = ~np.isnan(self._raw(rows, features, np.full(features.size, -1)))
        row, at = np.nonzero(there)
        return sp.csr_array((np.ones(row.size), (row, features[at])), shape=(len(rows), self.prices.full.size))


class _Limits:
    """Prices of what is not bought yet, and whether the classifier's limits allow it."""

    def __init__(self, part: _Part) -> None:
        self.part, self.settings, self.own = part, part.settings, part.prices.take(part.questions)
        self.at_once = float((np.bincount(part.label[part.train], minlength=len(part.costs)) @ part.costs).min())
        self.at_once /= len(part.train)
        self.groups: list[int] = []
        self.count, self.most, self.mean = 0, 0.0, 0.0

    def prices(self) -> FloatArray:
        if self.own.groups is None:
            return self.own.full
        return np.where(np.isin(self.own.groups, self.groups), self.own.discounted, self.own.full)

    def can_buy(self, price: FloatArray) -> Any:
        settings, small = self.settings, 1e-9
        allowed = self.part.known | (settings.max_features is None or self.count < settings.max_features)
        if settings.max_cost is not None:
            allowed &= self.most + price <= settings.max_cost + small
        # without a budget nothing pays that costs more than deciding at once
        budget = self.at_once if settings.target_cost is None else settings.target_cost
        return allowed & (self.mean + price * self.part.share <= budget + small)

    def buy(self, question: int, price: FloatArray) -> None:
        if self.own.groups is not None and (group := int(self.own.groups[question])) >= 0:
            self.groups.append(group)
        self.count, self.most = self.count + int(not self.part.known[question]), self.most + float(price[question])
        self.mean += float(price[question] * self.part.share[question])


def _floor_prices(price: FloatArray) -> FloatArray:
    """What is free, or next to it, costs a hundredth of the cheapest other."""
    paid = price[price > 0]
    return np.maximum(price, 0.01 * paid.min() if paid.size else 1.0)
