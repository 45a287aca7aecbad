"""The classifier that compares several ways to learn on held-out rows and takes the one that costs least."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import takewhile
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.frames import plain
from seqclass._utils.progress import tell_share, telling
from seqclass._utils.validation import check_choice, check_integer, check_jobs, check_settings, plain_labels
from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes, TreeNetwork
from seqclass.bn.context_bayes import MOST_TESTED, changes_what_others_tell
from seqclass.bn.contexts import MOST_OUTCOMES
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Costs
from seqclass.deciding._coding import category_counts, check_training
from seqclass.deciding.decider import Classifier
from seqclass.deciding.problem import is_free
from seqclass.discretize import Discretizer
from seqclass.fitting._cross_fit import at_budgets, begun, by_others, completed, gathered, recalibrated, yardsticks
from seqclass.fitting._fit import Folds, fit_rows, money
from seqclass.fitting._folds import assign_folds, check_folds, recent_rows, some_rows
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import aged, rows_of, weighted
from seqclass.fitting.choice import Choice, choose
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import Adaptive, ClassInformation, FirstK, HiddenInformation, OrderingRule, Panels
from seqclass.pomdp.rules import Rules
from seqclass.recipes import ifc2f

__all__ = ["AdaptiveClassifier", "adaptive"]


#: Name of the candidate that buys nothing.
NOTHING = "deciding at once"
#: The candidate that is left only for what is better beyond chance: rich, and the same for numbers and categories.
INCUMBENT = "mixture of densities"
#: Below so many rows its number of components is averaged over: of few rows the choice is noise.
_FEW_ROWS = 300
#: Columns that are kept, and of a mixture for which kinds of members would drown in the noise of many.
_MANY, _FEW = 200, 20
#: Columns from which on quick effort tries a few, too.
_WIDE = 100
#: Columns up to which the best of all orders is searched for: of more it is what the training rows suggest by chance.
_SEARCHED = 32
_NARROW = f"{INCUMBENT}, {_FEW} columns"
_PARTS = ("observation_model", "solver", "discretizer", "selector", "order")


@dataclass(frozen=True)
class Effort:
    """How much is tried, and on how many rows at most."""

    n_folds: int
    most_rows: int
    others: bool
    strategies: tuple[str, ...]
    n_bags: int
    exact_expectation: bool
    search_nodes: int
    certificate_paths: int

    def on(self, n_columns: int) -> Effort:
        """The same for data of so many columns."""
        return self if n_columns <= _SEARCHED else replace(self, search_nodes=0)


EFFORTS = {
    "quick": Effort(3, 3000, False, ("mdlp",), 1, False, 200, 3000),
    "normal": Effort(5, 10_000, True, ("uniform", "quantile", "mdlp"), 1, False, 1000, 10_000),
    "thorough": Effort(10, 50_000, True, ("uniform", "quantile", "mdlp"), 5, True, 5000, 10_000),
}


def candidates(
    effort: Effort, random_state: Any, n_rows: int, n_columns: int, numbers: bool = True, contexts: bool = False
) -> dict[str, dict[str, Any]]:
    """Settings of `SequentialClassifier` by name of the candidate, for data of so many rows and columns."""
    effort = effort.on(n_columns)
    bayes: dict[str, Any] = {"observation_model": NaiveBayes(), "discretizer": Discretizer()}
    # any order, as to find one takes time
    nothing = bayes | {"solver": FirstK(0), "order": "adaptive"}
    found = {NOTHING: nothing, "naive Bayes, one order": bayes | _CALIBRATED}
    if effort.others:
        params = ifc2f(random_state=random_state).get_params(deep=False)
        found["tree, one order"] = {name: params[name] for name in _PARTS}
        found["densities"] = _of_densities(ContextBayes(None, random_state=random_state), effort) | _CALIBRATED
    if n_rows >= _FEW_ROWS:  # of fewer, its pairs are noise
        found[_TREE] = _tree(random_state) | _CALIBRATED
    mixtures = {
        f"mixture, {_CUT[strategy]}": _mixture(strategy, effort, random_state)
        for strategy in effort.strategies
        if numbers
    }
    mixtures[INCUMBENT] = _mixture_of_densities(effort, random_state, n_rows)
    if n_columns > _FEW if effort.others else n_columns >= _WIDE and n_rows >= _FEW_ROWS:
        mixtures[_NARROW] = _mixture_of_densities(effort, random_state, n_rows, _FEW)
    if contexts:
        mixtures |= _contexts(effort, random_state)
    for name, settings in mixtures.items():
        found |= {name: settings, f"{name}, calibrated": settings | _CALIBRATED}
    return {name: _filled(settings) for name, settings in found.items()}


def at_budget(
    effort: Effort, random_state: Any, numbers: bool, contexts: bool, budget: int
) -> dict[str, dict[str, Any]]:
    """Settings by name of what is tried where so many questions are asked of everybody: bins, models and rules."""
    found = {
        f"mixture, {_CUT[strategy]}": _mixture(strategy, effort, random_state)
        for strategy in ("quantile", "mdlp")
        if numbers
    }
    # what columns repeat counts once
    cuts = Discretizer(_BINS["mdlp"], strategy="mdlp")
    found["tree"] = _any_order(TreeNetwork(random_state=random_state), cuts, effort)
    # no number of components is sought: averages of many kinds in many samples decide better, and as quickly
    model = ClassMixture(_KINDS, n_bags=_BAGS, density="auto", random_state=random_state)
    found[INCUMBENT] = _of_densities(model, effort)
    found["densities"] = _of_densities(ContextBayes(None, random_state=random_state), effort)
    if contexts:
        found |= _contexts(effort, random_state)
    # when to stop is given: there is nothing to plan
    first = {name: FirstK(budget, rule=way["solver"].rules[0], certificate_paths=0) for name, way in found.items()}
    return {name: _filled(way | {"solver": first[name]}) for name, way in found.items()}


def worth_contexts(settings: Settings, X: Any, y: npt.NDArray[Any]) -> bool:
    """Whether a column or a few together, of not too many, change what the others tell; a quick look at some rows."""
    if np.shape(X)[1] > _MANY:
        return False
    rows = some_rows(y, MOST_TESTED, 0)
    X, y = (X, y) if len(rows) == len(y) else (rows_of(plain(X), rows), y[rows])
    # warns of nothing, which the fit to all rows does
    with telling("contexts"):
        decider = fit_rows(settings.but(**_LOOK), X, y, certify=False).decider
    label, codes = decider.prices.bundles, np.searchsorted(decider.classes, y)
    bundles = [] if label is None else [np.flatnonzero(label == one) for one in np.unique(label[label >= 0])]
    X, sizes = decider.outcomes(X), decider.model.n_outcomes_
    return changes_what_others_tell(X, codes, np.ones(len(codes)), sizes, [one for one in bundles if len(one) > 1])


#: A quick look at columns that plans nothing.
_LOOK = {"discretizer": Discretizer(4), "order": "adaptive", "solver": FirstK(0, certificate_paths=0)}
_CALIBRATED = {"calibrate": True}
#: Cases that policies are fitted to, and on which it is reckoned what they cost.
_PATHS, _CASES = 1000, 300
#: Bins that densities are fitted over.
_FINE = 16
_CUT = {"uniform": "equal widths", "quantile": "equal counts", "mdlp": "cuts by labels"}
_BINS = {"uniform": 5, "quantile": 5, "mdlp": 8}
#: It sees sharply where a number tells anything by that of another; of more columns it is slow where classes are many,
#: and so are its tables of pairs where a column has more categories.
_TREE, _IN_TREE, _PAIRED = f"tree, {_CUT['mdlp']}, one order", 32, 50
#: Components of a class and bags of the mixture of densities at hard budgets.
_KINDS, _BAGS = 40, 5


def standard(effort: Effort, random_state: Any, n_rows: int, n_columns: int) -> dict[str, Any]:
    """What is fitted where nothing is compared, to data of so many rows and columns."""
    return _filled(_mixture_of_densities(effort.on(n_columns), random_state, n_rows))


def _tree(random_state: Any) -> dict[str, Any]:
    return {
        "observation_model": TreeNetwork(random_state=random_state),
        "discretizer": Discretizer(_BINS["mdlp"], strategy="mdlp"),
        "selector": InformationFilter(n_features=_IN_TREE),
    }


def _mixture(strategy: str, effort: Effort, random_state: Any) -> dict[str, Any]:
    model = ClassMixture(n_bags=effort.n_bags, random_state=random_state)
    return _any_order(model, Discretizer(_BINS[strategy], strategy=strategy), effort)


def _mixture_of_densities(effort: Effort, random_state: Any, n_rows: int, n_columns: int = _MANY) -> dict[str, Any]:
    components: Any = "average" if n_rows < _FEW_ROWS else "auto"
    model = ClassMixture(components, density="auto", n_bags=effort.n_bags, random_state=random_state)
    return _of_densities(model, effort, n_columns)


def _contexts(effort: Effort, random_state: Any) -> dict[str, dict[str, Any]]:
    """Equal widths cut columns of two humps between them; equal counts leave columns of few values as they are."""
    bins = {"uniform": MOST_OUTCOMES, "quantile": _FINE}
    model, rule = ContextBayes(random_state=random_state), HiddenInformation()
    return {
        f"contexts, {_CUT[strategy]}": _any_order(model, Discretizer(n, strategy=strategy), effort, rule=rule)
        for strategy, n in bins.items()
    }


def _of_densities(model: ClassMixture | ContextBayes, effort: Effort, n_columns: int = _MANY) -> dict[str, Any]:
    return _any_order(model, Discretizer(_FINE, strategy="quantile"), effort, n_columns)


def _any_order(
    model: ClassMixture | ContextBayes | TreeNetwork,
    discretizer: Discretizer,
    effort: Effort,
    n_columns: int = _MANY,
    rule: OrderingRule | None = None,
) -> dict[str, Any]:
    solver = Adaptive(
        [ClassInformation() if rule is None else rule],
        n_paths=_PATHS,
        exact_expectation=effort.exact_expectation,
        n_cases=_CASES,
        max_rounds=0,
        search_nodes=effort.search_nodes,
        certificate_paths=effort.certificate_paths,
        random_state=model.random_state,
    )
    return {
        "observation_model": model,
        "discretizer": discretizer,
        "selector": InformationFilter(n_features=n_columns),
        "order": "adaptive",
        "solver": solver,
    }


def _filled(settings: dict[str, Any]) -> dict[str, Any]:
    empty = {"observation_model": None, "solver": None, "discretizer": None, "selector": None, "order": "conditional"}
    return empty | {"calibrate": False} | settings


#: Settings of its own, and what is averaged over budgets.
_OWN, _AVERAGED = ("effort", "budget", "n_jobs"), ("decision_costs", "errors", "counts")


#: What may do better, by effort.
_MORE = {"quick": ('effort="normal"',), "normal": ('effort="thorough"',), "thorough": ()}


class _Chosen:
    """A setting that the choice made, and nobody before it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, classifier: Any, owner: Any = None) -> Any:
        if classifier is None:
            return self
        check_is_fitted(classifier, "choice_")
        return classifier._chosen[self.name]


#: So many fits a process are under way at once.
_AHEAD = 6


class _Work:
    """What is done by several processes, or by this one, and how much of it all is done."""

    def __init__(self, n_jobs: int | None, total: int) -> None:
        self.n_jobs, self.total, self.n_done = n_jobs, total, 0

    def together(self, families: list[list[str]], n_folds: int) -> Iterator[list[list[str]]]:
        """Families that are under way at once, of which all fits are kept: enough that no process waits."""
        processes = effective_n_jobs(self.n_jobs)
        most = 1 if processes == 1 else -(-_AHEAD * processes // n_folds)
        for first in range(0, len(families), most):
            yield families[first : first + most]

    def done(self, jobs: Iterable[Any]) -> list[Any]:
        """Results of jobs, in their order; of several that fail the first is raised, whichever was over first."""
        found: list[Any] = []
        failed: list[Exception] = []
        # what is under way comes to its end: joblib's processes do not bear to be left
        tried = (delayed(_tried)(*job) for job in takewhile(lambda _: not failed, jobs))
        for result in Parallel(n_jobs=self.n_jobs, return_as="generator", batch_size=1)(tried):
            if isinstance(result, Exception):
                failed.append(result)
            found.append(result)
            self.n_done += 1
            tell_share(self.n_done, self.total)
        if failed:
            raise failed[0]
        return found


def _tried(task: Callable[..., Any], arguments: Sequence[Any], settings: dict[str, Any]) -> Any:
    """What a job gives, or the error that it ends with."""
    try:
        return task(*arguments, **settings)
    except Exception as error:
        return error


def _families(ways: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Names of ways that differ in calibration alone, side by side: their models are the same."""
    found: list[list[str]] = []
    before: dict[str, Any] = {}
    for name, way in ways.items():
        if before and all(value is before[key] for key, value in way.items() if key != "calibrate"):
            found[-1].append(name)
        else:
            found.append([name])
        before = way
    return found


class _NeedsAllRows:
    """A method that there is not, which says what to do in its stead."""

    def __get__(self, classifier: Any, owner: Any = None) -> Any:
        why = "AdaptiveClassifier compares ways to learn on rows held out, and all have to be in memory: fit it to "
        if getattr(classifier, "half_life", None) is not None:  # a sample would thin the rows that it is counted in
            raise AttributeError(
                f"{why}the last rows in order of time; with half_life, those before ten half-lives hardly count."
            )
        raise AttributeError(
            f"{why}a sample, clf.fit(*chunks.sample(100_000)), and what it chooses to all, "
            "clf.chosen().fit_chunks(chunks)."
        )


@dataclass(repr=False, eq=False)
class AdaptiveClassifier(DecidingClassifier):
    """Classifies each instance with the few features that pay, and chooses from the training rows how to learn.

    Ways to learn, from simple to rich, are compared on the same folds of the training rows. The simplest decides at
    once and buys nothing. Naive Bayes and a tree network ask in one order for everybody. In class mixtures every answer
    decides what is asked next; these are tried both as they are and calibrated. Contexts (`ContextBayes`) are tried
    where a quick look at some rows suggests that a column, a bundle or a few columns together change what the others
    tell.

    The default is the uncalibrated mixture of densities. Another way, buying nothing included, is chosen only if it
    costs less on held-out rows by more than a standard error. With fewer than 300 rows, the mixture's number of
    components is averaged over rather than chosen. What is chosen is then fitted to all rows.

    The cost of the result is estimated on held-out rows as well: the rows of each fold are decided by the way that the
    other folds would choose. Where models are calibrated (see `SequentialClassifier`), the calibration of each fold
    comes from the other folds.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost: one for all, one each, or by feature name. Everything
        else about costs, such as decision costs, groups and bundles, goes into a `seqclass.Costs`.
    effort : {"quick", "normal", "thorough"}
        How much is tried. ``"quick"``: 3 folds of at most 3000 rows; numbers are modelled as densities or cut where the
        labels change, from 300 rows on also in a tree, and with 100 columns or more also with the few columns that tell
        most. ``"normal"``: 5 folds of at most 10,000 rows, and all candidates. ``"thorough"``: 10 folds of at most
        50,000 rows, all candidates, mixtures of five bootstrap samples each, and policies fitted by looking at all
        possible answers. If there are more rows than that, a random sample of them, stratified by class, is used to
        choose on; the held-out figures then come from classifiers fitted to fewer rows than the final one.
    target_cost, max_features, max_cost, handle_unknown, known, rules, missing
        See `SequentialClassifier`. With ``rules``, no way that asks in one order for everybody is tried.
    budget : int or sequence of int, optional
        Hard budgets: this many questions are asked of everybody, whatever they cost. The choice is then among ways to
        cut numbers, models and ordering rules, by the cost of wrong decisions on held-out rows, averaged over the
        budgets. `acquire` asks as many questions as the largest budget, and ``acquire(X, budget=k)`` asks k. By default
        prices say when to stop.
    half_life : float, optional
        Number of later rows after which a row counts half. Rows must be in order of time, the newest last; all
        candidates learn with weights that fall with age, see `SequentialClassifier`. The choice and `held_out_` are
        based on the rows of the last three half-lives plus the last few rows of each class, by the same weights. There
        is no ``partial_fit``, since bins are learnt too: fit again as rows come in; `seqclass.drift.follow` finds out
        when to.
    random_state : int, generator or None
        Seed of folds, models and solvers.
    n_jobs : int, optional
        Number of processes that fit the candidates on the folds; -1 for one per processor. The result does not depend
        on it. By default one, or what `joblib.parallel_config` says, with any back end but multiprocessing: dask's for
        a cluster.

    Attributes
    ----------
    choice_ : Choice or None
        What was tried and what it cost; None where nothing was held out.
    held_out_ : HeldOut
        What the classifier costs on rows that it has not seen, with the choice itself held out too.
    expected_cost_ : float
        Mean cost that the model itself expects.
    classes_, model_, problem_, policy_ and others
        See `SequentialClassifier`.

    See Also
    --------
    seqclass.adaptive : The same as a function.

    References
    ----------
    .. [1] S. Varma and R. Simon, "Bias in error estimation when using cross-validation for model selection", BMC
       Bioinformatics 7, 2006: why the choice has to be held out too.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass.adaptive_classifier import AdaptiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaptiveClassifier(effort="quick").fit(X, y)
    >>> clf.held_out_.cost < 0.1, len(clf.choice_.candidates)
    (True, 6)
    """

    feature_costs: Any = 0.01
    _: KW_ONLY
    effort: str = "normal"
    target_cost: float | None = None
    max_features: int | None = None
    max_cost: float | None = None
    handle_unknown: str = "error"
    budget: int | Sequence[int] | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    known: Any = ()
    rules: Any = None
    missing: str = "ignored"
    half_life: float | None = None
    #: Settings that files of earlier releases lack.
    _later = ("n_jobs", "known", "rules", "missing", "half_life")

    def fit(
        self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None, *, held_out: int | None = None
    ) -> AdaptiveClassifier:
        """Choose how to learn, then learn in that way from all rows.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Numbers, NaN where missing; a data frame may have categorical columns.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row in what the models learn, and as a held-out row; a row of weight 0 does not count at all.
        held_out : int, optional
            Number of folds to choose on; by default what ``effort`` says. With 0 nothing is compared, and the default
            mixture of densities is fitted.

        Returns
        -------
        AdaptiveClassifier

        Raises
        ------
        ValueError
            If data, prices, costs or settings are invalid; the message names the parameter or column.

        Warns
        -----
        UserWarning
            If nothing is worth buying, or rows fade so fast that they count as fewer than ten.
        """
        effort = EFFORTS[check_choice(self.effort, "effort", tuple(EFFORTS))]
        budgets = self._budgets()
        check_jobs(self.n_jobs)
        n_folds = effort.n_folds if held_out is None else check_folds(held_out)
        self.choice_: Choice | None = None
        began = perf_counter()
        sample_weight = aged(y, self.half_life, sample_weight)
        kept, labels, weight = weighted(X, y, sample_weight)
        columns = Classifier()
        _, seen, encoder = check_training(columns, kept, labels)
        recent = recent_rows(labels, self.half_life, n_folds)
        self._chosen = self._for_visits(standard(effort, self.random_state, len(recent), np.shape(kept)[1]))
        # what is wrong with limits, prices and costs is said before anything is tried
        self.settings().check()
        money(self.settings(), columns, np.unique(seen), warn=False)
        if ruled := Rules.of(self.rules) is not None:  # and so is what cannot be met
            quick: dict[str, Any] = _LOOK | {"observation_model": NaiveBayes(), "target_cost": None}
            with telling("rules"):
                fit_rows(self.settings().but(**quick), kept, labels, certify=False)
        if budgets:
            self._chosen = at_budget(effort, self.random_state, False, False, budgets[-1])[INCUMBENT]
        if not n_folds:
            self._take(fit_rows(self.settings(), X, y, sample_weight))
            return self
        labels = plain_labels(labels)
        rows = recent[some_rows(labels[recent], effort.most_rows, self.random_state)]
        some, labels = (kept, labels) if len(rows) == len(labels) else (rows_of(plain(kept), rows), labels[rows])
        some_weight = None if weight is None else weight[rows]
        fold = assign_folds(labels, n_folds, self.random_state)
        numbers = (n := np.shape(some)[1]) > len(category_counts(encoder))
        bundles = Costs(bundles=Costs.of(self.feature_costs).bundles)
        look = Settings(NaiveBayes(), feature_costs=bundles, handle_unknown=self.handle_unknown, missing=self.missing)
        contexts, found, at_once = worth_contexts(look, some, labels), None, None
        ways = self._ways(len(rows), n, numbers, contexts)
        skipped: tuple[str, ...] = ()
        if _TREE in ways and max(category_counts(encoder).values(), default=0) > _PAIRED:
            skipped = (f"{_TREE}, as a column has more than {_PAIRED} categories",)
            del ways[_TREE]
        elif self.max_cost is not None and self._visited:
            skipped = ("what asks in one order, as max_cost with costs of visits needs any order",)
        if budgets:
            means, last, seconds = self._tried_at(budgets, ways, some, labels, fold, some_weight)
            self.choice_, held = choose(means, seconds, INCUMBENT, on_decisions=True, last=last)
        else:
            tried, seconds, calibrated = self._tried(ways, some, labels, fold, some_weight)
            if NOTHING in ways and (ruled or list(self.known)):  # it is by what is known, or after what has to be asked
                at_once = replace(tried[list(ways).index(NOTHING)], name="Deciding at once")
            self.choice_, held = choose(tried, seconds, INCUMBENT, self.target_cost is not None)
            self.choice_ = replace(self.choice_, skipped=skipped)
            folds = calibrated.get(self.choice_.chosen)
            found = None if folds is None else folds.found()
        self._chosen, took = ways[self.choice_.chosen], perf_counter() - began
        fit = fit_rows(self.settings(), X, y, sample_weight, found=found)
        self._take(fit)
        more = () if budgets else _MORE[self.effort]
        by_frequency, line = yardsticks(fit, some, labels, fold, some_weight)
        self.held_out_ = completed(held, fit.decider, (at_once or by_frequency, line), (*more, "more rows"))
        self.timings_["held_out"] = took
        if not budgets:
            self._warn_of_vain(self.choice_.candidates[0].cost)
        return self

    def _warn_of_vain(self, at_once: float) -> None:
        """Warn where what was chosen buys nothing, or in vain."""
        assert self.choice_ is not None
        if self.choice_.chosen == NOTHING or not self.held_out_.n_features:
            warnings.warn(
                f"nothing is worth buying: on rows held out no way to learn costs less than deciding at once "
                f"({at_once:.3g}) beyond chance; see choice_.",
                UserWarning,
                stacklevel=3,
            )
        elif (told := self.held_out_.against_deciding()) and self.target_cost is None:
            warnings.warn(f"{told} It may be by chance; see choice_.", UserWarning, stacklevel=3)

    def _tried(
        self, ways: dict[str, dict[str, Any]], X: Any, y: npt.ArrayLike, fold: Any, weight: FloatArray | None
    ) -> tuple[list[HeldOut], list[float], dict[str, Folds]]:
        given, numbers, families = (plain(X), plain_labels(y), fold), range(int(fold.max()) + 1), _families(ways)
        tried, seconds, calibrated = dict[str, HeldOut](), dict[str, float](), dict[str, Folds]()
        steps = {name: f"candidate {n} of {len(ways)}, {name}" for n, name in enumerate(ways, 1)}
        settings = {name: self._with(way) for name, way in ways.items()}
        n_calibrated = sum(way["calibrate"] for way in ways.values())
        work = _Work(self.n_jobs, (len(families) + n_calibrated + 1) * len(numbers) + n_calibrated)
        for some in work.together(families, len(numbers)):
            fits = work.done(
                delayed(begun)(steps[names[0]], settings[names[0]], not ways[names[0]]["calibrate"], *given, n, weight)
                for names in some
                for n in numbers
            )
            again = []
            for names in some:
                own, fits = fits[: len(numbers)], fits[len(numbers) :]
                for name in names:
                    seconds[name] = sum(one.seconds for one in own) if name == names[0] else 0.0
                    if ways[name]["calibrate"]:
                        calibrated[name] = Folds(*given, [one.fit for one in own], weight)
                        again.append((name, own))
                    else:
                        acted = [one.acted for one in own]
                        tried[name] = gathered(name, own[0].fit.decider, given[1], fold, acted, weight)
            asked = work.done(delayed(by_others)(steps[name], calibrated[name]) for name, _ in again)
            planned = work.done(
                delayed(recalibrated)(steps[name], settings[name], own[n].fit, found[n], *given, n)
                for (name, own), (found, _) in zip(again, asked)
                for n in numbers
            )
            for (name, own), (_, took) in zip(again, asked):
                mine, planned = planned[: len(numbers)], planned[len(numbers) :]
                seconds[name] += took + sum(each for _, each in mine)
                acted = [acted for acted, _ in mine]
                tried[name] = gathered(name, own[0].fit.decider, given[1], fold, acted, weight)
        return [tried[name] for name in ways], [seconds[name] for name in ways], calibrated

    def _budgets(self) -> list[int]:
        """The budgets, the least first; none where prices say when to stop."""
        if self.budget is None:
            return []
        given = [self.budget] if np.ndim(self.budget) == 0 else list(self.budget)  # type: ignore[arg-type]
        if not given:
            raise ValueError("budget must name one number of questions at least, or be None.")
        for name in ("target_cost", "max_cost", "max_features", "rules"):
            if getattr(self, name) is not None:
                raise ValueError(f"budget says how many questions are asked; leave out {name}.")
        costs = Costs.of(self.feature_costs)
        if costs.visit_cost or costs.delay_cost:
            raise ValueError(
                "budget asks so many questions one at a time, each of which would take a visit: leave out visit_cost "
                "and delays, or fit without budget and give acquire(X, budget=k), which orders panels."
            )
        return sorted({check_integer(one, "budget", 1) for one in given})

    def _tried_at(
        self, budgets: list[int], ways: dict[str, dict[str, Any]], X: Any, y: Any, fold: Any, weight: FloatArray | None
    ) -> tuple[list[HeldOut], list[HeldOut], list[float]]:
        """What each way costs on average over the budgets, prices left out, and at the last; and seconds."""
        given, numbers = (plain(X), plain_labels(y), fold), range(int(fold.max()) + 1)
        means, last, seconds, work = [], [], [], _Work(self.n_jobs, (len(ways) + 1) * len(numbers))
        found = work.done(
            delayed(at_budgets)(f"candidate {at} of {len(ways)}, {name}", self._with(way), budgets, *given, n, weight)
            for at, (name, way) in enumerate(ways.items(), 1)
            for n in numbers
        )
        for name in ways:
            mine, found = found[: len(numbers)], found[len(numbers) :]
            by_budget = zip(*(one.acted for one in mine))
            helds = [gathered(name, mine[0].decider, given[1], fold, acted, weight) for acted in by_budget]
            mean = {key: np.mean([getattr(held, key) for held in helds], axis=0) for key in _AVERAGED}
            means.append(replace(helds[-1], prices=np.zeros_like(helds[-1].prices), **mean))
            last.append(helds[-1])
            seconds.append(sum(one.seconds for one in mine))
        return means, last, seconds

    def _ways(self, n_rows: int, n_columns: int, numbers: bool, contexts: bool) -> dict[str, dict[str, Any]]:
        """Settings by name of what is tried, by prices or at the budgets."""
        effort, budgets = EFFORTS[self.effort], self._budgets()
        if budgets:
            return at_budget(effort, self.random_state, numbers, contexts, budgets[-1])
        ways = candidates(effort, self.random_state, n_rows, n_columns, numbers, contexts)
        if Rules.of(self.rules) is not None or (self.max_cost is not None and self._visited):  # these need any order
            ways = {name: way for name, way in ways.items() if is_free(way["order"])}
        return {name: self._for_visits(way) for name, way in ways.items()}

    @property
    def _visited(self) -> bool:
        """Whether a visit costs something."""
        costs = Costs.of(self.feature_costs)
        return bool(costs.visit_cost or costs.delay_cost)

    def _for_visits(self, way: dict[str, Any]) -> dict[str, Any]:
        """A way that plans what to order together, where a visit costs something."""
        solver = way["solver"]
        if not isinstance(solver, Adaptive) or not self._visited:
            return way
        few, seed = min(1000, solver.certificate_paths), solver.random_state  # each takes longer
        settings: dict[str, Any] = {"certificate_paths": few, "random_state": seed}
        return way | {"solver": Panels(_PATHS // 5, solver=solver, **settings)}

    def _with(self, way: dict[str, Any]) -> Settings:
        return Settings.of(self._way(way))

    def _way(self, way: dict[str, Any]) -> SequentialClassifier:
        shared = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        if isinstance(self.known, Mapping) and not is_free(way.get("order")):
            shared["known"] = list(self.known)  # in a fixed order nothing is needless
        return SequentialClassifier(**shared, **way)

    def settings(self) -> Settings:
        """Settings of the way that was chosen."""
        return self._with(self._chosen)

    def chosen(self) -> SequentialClassifier:
        """Return the chosen way as a classifier of its own, to fit to other rows or to chunks without choosing again.

        Returns
        -------
        SequentialClassifier
            Not fitted.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from seqclass.adaptive_classifier import AdaptiveClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = AdaptiveClassifier(effort="quick").fit(X, y, held_out=0)
        >>> clf.chosen().observation_model
        ClassMixture(density='auto', n_components='average')
        """
        check_is_fitted(self, "choice_")
        return self._way(self._chosen)

    def runners_up(self, n: int = 1) -> list[SequentialClassifier]:
        """Return the ways to learn that came next best, to be fitted to the same rows.

        If another way was chosen, the default mixture of densities comes first; the others follow, the cheapest on
        held-out rows first. The way that costs least need not be the one that keeps to an error contract with the
        fewest features: `seqclass.certify_error` takes these, fitted, as ``others``.

        Parameters
        ----------
        n : int
            How many to return; deciding at once is never among them.

        Returns
        -------
        list of SequentialClassifier
            Not fitted; fewer than ``n`` if no more were tried.

        Raises
        ------
        ValueError
            If nothing was compared.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from seqclass.adaptive_classifier import AdaptiveClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = AdaptiveClassifier(effort="quick").fit(X, y)
        >>> len(clf.runners_up()), len(clf.runners_up(10))
        (1, 4)
        """
        check_is_fitted(self, "choice_")
        if self.choice_ is None:
            raise ValueError("nothing was compared, so that nothing came next; fit with held_out.")
        names = {NOTHING, self.choice_.chosen}
        others = [one for one in self.choice_.candidates if one.name not in names]
        others.sort(key=lambda one: (one.name != INCUMBENT, one.cost))
        width, numbers = self.n_features_in_, self.n_features_in_ > len(category_counts(self.encoder_))
        ways = self._ways(len(self.held_out_.fold), width, numbers, contexts=True)
        return [self._way(ways[one.name]) for one in others[: check_integer(n, "n", 1)]]

    fit_chunks = _NeedsAllRows()

    # what was chosen stands where `SequentialClassifier` has its settings
    observation_model = _Chosen()
    solver = _Chosen()
    discretizer = _Chosen()
    selector = _Chosen()
    calibrate = _Chosen()
    order = _Chosen()


def adaptive(
    feature_costs: Any = 0.01, *, effort: str = "normal", random_state: Any = 0, **settings: Any
) -> AdaptiveClassifier:
    """Return a classifier that chooses by held-out cost how to learn, from naive Bayes to class mixtures.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost; see `SequentialClassifier`.
    effort : {"quick", "normal", "thorough"}
        How much is tried; see `AdaptiveClassifier`.
    random_state : int, generator or None
        Seed of folds, models and solvers.
    **settings
        Further settings of `AdaptiveClassifier`, such as ``max_features``.

    Returns
    -------
    AdaptiveClassifier
        Not fitted yet.

    Raises
    ------
    TypeError
        If a setting is unknown.

    Examples
    --------
    >>> import seqclass
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = seqclass.adaptive(feature_costs=0.05, effort="quick").fit(X, y)
    >>> clf.choice_.chosen
    'mixture of densities'
    """
    check_settings(settings, adaptive, AdaptiveClassifier)
    return AdaptiveClassifier(feature_costs, effort=effort, random_state=random_state, **settings)
