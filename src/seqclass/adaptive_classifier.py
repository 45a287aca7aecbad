"""The classifier that compares several ways to learn on held-out rows and takes the one that costs least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import takewhile
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.frames import plain_data, take_rows
from seqclass._utils.progress import report_progress, tell_share
from seqclass._utils.text import digits_text
from seqclass._utils.validation import check_choice, check_integer, check_jobs, check_settings, plain_labels
from seqclass._utils.warned import HeldOutWarning, warn_caller
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.agent._coding import category_counts, check_training
from seqclass.agent.agent import Classifier, all_outcomes
from seqclass.agent.problem import is_free
from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes, TreeNetwork
from seqclass.bn.context_bayes import TUNING as CONTEXT_TUNING
from seqclass.bn.context_bayes import changes_what_others_tell
from seqclass.bn.contexts import TUNING as GROUP_TUNING
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Costs
from seqclass.discretize import Discretizer
from seqclass.fitting._cross_fit import (
    at_budgets,
    calibrate_folds,
    collect_folds,
    complete_held_out,
    first_losses,
    refit_calibrated,
    start_folds,
    with_shares,
    yardsticks,
)
from seqclass.fitting._fit import Found, fit_rows, resolve_costs, with_marks
from seqclass.fitting._folds import assign_folds, check_folds, recent_rows, sample_rows
from seqclass.fitting._planning import with_paths
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import check_row_weights, forgetting_weights
from seqclass.fitting.choice import Choice, choose, drop_reason
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import Adaptive, ClassInformation, FirstK, HiddenInformation, OrderingRule, Panels
from seqclass.pomdp.rules import Rules
from seqclass.recipes import ifc2f

__all__ = ["AdaptiveClassifier", "adaptive"]
__dir__ = __all__.copy  # tab completion

#: Name of the candidate that buys nothing.
NOTHING = "deciding at once"
#: The candidate that is left only for what is better beyond chance: rich, and the same for numbers and categories.
INCUMBENT = "mixture of densities"


@dataclass(frozen=True)
class MethodTuning:
    """What is tried of data of which size, and how finely."""

    #: of fewer pairs of a tree, shares of numbers of components and exponents of mixtures are noise
    min_rows: int = 300
    max_columns: int = 200  #: that are kept
    few_columns: int = 20  #: of a mixture for which kinds of members would drown in the noise of many
    wide_columns: int = 100  #: from which on quick effort tries a few, too
    max_searched_columns: int = 32  #: of more the best of all orders is what the training rows suggest by chance
    n_paths: int = 500  #: cases that policies are fitted to
    n_cases: int = 300  #: on which it is reckoned what they cost
    n_bins: int = 5  #: of equal widths or counts, over which outcomes are counted
    max_label_bins: int = 8  #: of those that labels cut
    n_fine_bins: int = 16  #: that densities are fitted over
    max_tree_columns: int = 32  #: of more a tree is slow where classes are many
    max_tree_categories: int = 50  #: of a column: of more so are its tables of pairs
    n_budget_components: int = 40  #: of a class in the mixture of densities at hard budgets
    n_budget_bags: int = 5  #: of that mixture
    least_chance: float = 0.02  #: of being chosen in the end below which a way is left after the first fold
    n_ahead: int = 6  #: fits a process that are under way at once


TUNING = MethodTuning()

_NARROW = f"{INCUMBENT}, {TUNING.few_columns} columns"
_PARTS = ("observation_model", "solver", "discretizer", "selector", "order")


@dataclass(frozen=True)
class SearchEffort:
    """How much is tried, and on how many rows at most."""

    n_folds: int
    most_rows: int
    fold_paths: int  #: cases that policies without a fold are fitted to
    others: bool
    strategies: tuple[str, ...]
    n_bags: int
    exact_expectation: bool
    search_nodes: int
    certificate_paths: int

    def for_columns(self, n_columns: int) -> SearchEffort:
        """Effort for data of so many columns."""
        return self if n_columns <= TUNING.max_searched_columns else replace(self, search_nodes=0)


EFFORTS = {
    "quick": SearchEffort(3, 3000, 250, False, ("mdlp",), 1, False, 200, 3000),
    "thorough": SearchEffort(10, 50_000, TUNING.n_paths, True, ("uniform", "quantile", "mdlp"), 5, True, 5000, 10_000),
}


def candidates(
    effort: SearchEffort, random_state: Any, n_rows: int, n_columns: int, numbers: bool = True, contexts: bool = False
) -> dict[str, dict[str, Any]]:
    """Settings of `SequentialClassifier` by name of the candidate, for data of so many rows and columns."""
    effort = effort.for_columns(n_columns)
    bayes: dict[str, Any] = {"observation_model": NaiveBayes(), "discretizer": Discretizer()}
    # any order, as to find one takes time
    nothing = bayes | {"solver": FirstK(0), "order": "adaptive"}
    ways = {NOTHING: nothing, "naive Bayes, one order": bayes | _CALIBRATED}
    if effort.others:
        params = ifc2f(random_state=random_state).get_params(deep=False)
        ways["tree, one order"] = {name: params[name] for name in _PARTS}
        ways["densities"] = _of_densities(ContextBayes(None, random_state=random_state), effort) | _CALIBRATED
    if n_rows >= TUNING.min_rows:  # of fewer, its pairs are noise
        ways[_TREE] = _tree(random_state) | _CALIBRATED
    mixtures = {
        f"mixture, {_CUT[strategy]}": _mixture(strategy, effort, random_state)
        for strategy in effort.strategies
        if numbers
    }
    mixtures[INCUMBENT] = _mixture_of_densities(effort, random_state, n_rows)
    least = TUNING.few_columns + 1 if effort.others else TUNING.wide_columns
    if n_columns >= least and (effort.others or n_rows >= TUNING.min_rows):
        mixtures[_NARROW] = _mixture_of_densities(effort, random_state, n_rows, TUNING.few_columns)
    if contexts:
        mixtures |= _contexts(effort, random_state)
    ways |= {name: settings | _CALIBRATED for name, settings in mixtures.items()}
    ways[INCUMBENT] = mixtures[INCUMBENT] | {"calibrate": n_rows >= TUNING.min_rows}
    return {name: _fill_defaults(settings) for name, settings in ways.items()}


def at_budget(
    effort: SearchEffort, random_state: Any, numbers: bool, contexts: bool, budget: int
) -> dict[str, dict[str, Any]]:
    """Settings by name of what is tried where so many questions are asked of everybody: bins, models and rules."""
    ways = {
        f"mixture, {_CUT[strategy]}": _mixture(strategy, effort, random_state)
        for strategy in ("quantile", "mdlp")
        if numbers
    }
    # what columns repeat counts once
    cuts = Discretizer(TUNING.max_label_bins, strategy="mdlp")
    ways["tree"] = _any_order(TreeNetwork(random_state=random_state), cuts, effort)
    # no number of components is sought: averages of many kinds in many samples decide better, and as quickly
    n, n_bags = TUNING.n_budget_components, TUNING.n_budget_bags
    model = ClassMixture(n, n_bags=n_bags, density="auto", random_state=random_state)
    ways[INCUMBENT] = _of_densities(model, effort)
    ways["densities"] = _of_densities(ContextBayes(None, random_state=random_state), effort)
    if contexts:
        ways |= _contexts(effort, random_state)
    # when to stop is given: there is nothing to plan
    first = {name: FirstK(budget, rule=way["solver"].rules[0], certificate_paths=0) for name, way in ways.items()}
    return {name: _fill_defaults(way | {"solver": first[name]}) for name, way in ways.items()}


def worth_contexts(settings: Settings, X: Any, y: npt.NDArray[Any]) -> bool:
    """Whether a column or a few together, of not too many, change what the others tell; a quick look at some rows."""
    if np.shape(X)[1] > TUNING.max_columns:
        return False
    rows = sample_rows(y, CONTEXT_TUNING.max_tested_rows, 0)
    X, y = (X, y) if len(rows) == len(y) else (take_rows(plain_data(X), rows), y[rows])
    # warns of nothing, which the fit to all rows does
    with report_progress("contexts"):
        agent = fit_rows(settings.replace(**_LOOK), X, y, certify=False).agent
    label, codes = agent.prices.bundles, np.searchsorted(agent.classes, y)
    bundles = [] if label is None else [np.flatnonzero(label == one) for one in np.unique(label[label >= 0])]
    X, sizes = all_outcomes(agent, X), agent.model.n_outcomes_
    return changes_what_others_tell(X, codes, np.ones(len(codes)), sizes, [one for one in bundles if len(one) > 1])


#: A quick look at columns that plans nothing.
_LOOK = {"discretizer": Discretizer(4), "order": "adaptive", "solver": FirstK(0, certificate_paths=0)}
_CALIBRATED = {"calibrate": True}
_CUT = {"uniform": "equal widths", "quantile": "equal counts", "mdlp": "cuts by labels"}
#: It sees sharply where a number tells anything by that of another.
_TREE = f"tree, {_CUT['mdlp']}, one order"


def standard(effort: SearchEffort, random_state: Any, n_rows: int, n_columns: int) -> dict[str, Any]:
    """What is fitted where nothing is compared: not calibrated, which takes rows held out."""
    return _fill_defaults(_mixture_of_densities(effort.for_columns(n_columns), random_state, n_rows))


def _tree(random_state: Any) -> dict[str, Any]:
    return {
        "observation_model": TreeNetwork(random_state=random_state),
        "discretizer": Discretizer(TUNING.max_label_bins, strategy="mdlp"),
        "selector": InformationFilter(n_features=TUNING.max_tree_columns),
    }


def _mixture(strategy: str, effort: SearchEffort, random_state: Any) -> dict[str, Any]:
    n_bins = TUNING.max_label_bins if strategy == "mdlp" else TUNING.n_bins
    model = ClassMixture(n_bags=effort.n_bags, random_state=random_state)
    return _any_order(model, Discretizer(n_bins, strategy=strategy), effort)


def _mixture_of_densities(
    effort: SearchEffort, random_state: Any, n_rows: int, n_columns: int = TUNING.max_columns
) -> dict[str, Any]:
    components: Any = "average" if n_rows >= TUNING.min_rows else dict.fromkeys((1, 2, 4, 8), 0.25)
    model = ClassMixture(components, density="auto", n_bags=effort.n_bags, random_state=random_state)
    return _of_densities(model, effort, n_columns)


def _contexts(effort: SearchEffort, random_state: Any) -> dict[str, dict[str, Any]]:
    """Equal widths cut columns of two humps between them; equal counts leave columns of few values as they are."""
    bins = {"uniform": GROUP_TUNING.max_outcomes, "quantile": TUNING.n_fine_bins}
    model, rule = ContextBayes(random_state=random_state), HiddenInformation()
    return {
        f"contexts, {_CUT[strategy]}": _any_order(model, Discretizer(n, strategy=strategy), effort, rule=rule)
        for strategy, n in bins.items()
    }


def _of_densities(
    model: ClassMixture | ContextBayes, effort: SearchEffort, n_columns: int = TUNING.max_columns
) -> dict[str, Any]:
    return _any_order(model, Discretizer(TUNING.n_fine_bins, strategy="quantile"), effort, n_columns)


def _any_order(
    model: ClassMixture | ContextBayes | TreeNetwork,
    discretizer: Discretizer,
    effort: SearchEffort,
    n_columns: int = TUNING.max_columns,
    rule: OrderingRule | None = None,
) -> dict[str, Any]:
    solver = Adaptive(
        [ClassInformation() if rule is None else rule],
        n_paths=TUNING.n_paths,
        exact_expectation=effort.exact_expectation,
        n_cases=TUNING.n_cases,
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


def _fill_defaults(settings: dict[str, Any]) -> dict[str, Any]:
    empty = {"observation_model": None, "solver": None, "discretizer": None, "selector": None, "order": "conditional"}
    return empty | {"calibrate": False} | settings


#: Settings of its own, and what is averaged over budgets.
_OWN, _AVERAGED = ("effort", "budget", "n_jobs"), ("decision_costs", "errors", "counts")


class _Chosen:
    """A setting that the choice made, and nobody before it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, classifier: Any, owner: Any = None) -> Any:
        if classifier is None:
            return self
        check_is_fitted(classifier, "choice_")
        return classifier._chosen[self.name]


class _Work:
    """What is done by several processes, or by this one, and how much of it all is done."""

    def __init__(self, n_jobs: int | None, total: int) -> None:
        self.n_jobs, self.total, self.n_done = n_jobs, total, 0

    def together(self, names: list[str], n_folds: int) -> Iterator[list[str]]:
        """The first, and then those that are under way at once, of which all fits are kept: no process waits."""
        processes = effective_n_jobs(self.n_jobs)
        most = 1 if processes == 1 else -(-TUNING.n_ahead * processes // n_folds)
        yield names[:1]
        for first in range(1, len(names), most):
            yield names[first : first + most]

    def run(self, jobs: Iterable[Any]) -> list[Any]:
        """Results of jobs, in their order; of several that fail the first is raised, whichever was over first."""
        results: list[Any] = []
        failed: list[Exception] = []
        # what is under way comes to its end: joblib's processes do not bear to be left
        tried = (delayed(_result_or_error)(*job) for job in takewhile(lambda _: not failed, jobs))
        for result in Parallel(n_jobs=self.n_jobs, return_as="generator", batch_size=1)(tried):
            if isinstance(result, Exception):
                failed.append(result)
            results.append(result)
            self.n_done += 1
            tell_share(self.n_done, self.total)
        if failed:
            raise failed[0]
        return results


def _result_or_error(task: Callable[..., Any], arguments: Sequence[Any], settings: dict[str, Any]) -> Any:
    """What a job gives, or the error that it ends with."""
    try:
        return task(*arguments, **settings)
    except Exception as error:
        return error


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
            "clf.chosen_classifier().fit_chunks(chunks)."
        )


@dataclass(repr=False, eq=False)
class AdaptiveClassifier(BaseSequentialClassifier):
    """Classifies each instance with the few features that pay, and chooses from the training rows how to learn.

    Ways to learn, from simple to rich, are compared on the same folds of the training rows. The simplest decides at
    once and buys nothing. Naive Bayes and a tree network ask in one order for everybody. In class mixtures every answer
    decides what is asked next. Contexts (`ContextBayes`) are tried where a quick look at some rows suggests that a
    column, a bundle or a few columns together change what the others tell. Models are calibrated (see
    `SequentialClassifier`) except the tree of thorough effort.

    The default is the mixture of densities, in which several numbers of components stand side by side, with shares by
    held-out likelihood. With fewer than 300 rows it has equal shares and is not calibrated: both would be noise.
    Another way, buying nothing included, is chosen only if it costs less on held-out rows by more than a standard
    error; what has a chance below 2% of that, as far as the first fold tells, is left there (with fewer than 300 rows
    only what is not calibrated), and `choice_` says so. What is chosen learns from all rows, calibrated by what all
    folds ask for.

    The cost of the result is estimated on held-out rows as well: the rows of each fold are decided by the way that the
    other folds would choose, calibrated by these; the shares of numbers of components are those of the first fold,
    and with quick effort policies of folds are fitted to half the cases.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost: one for all, one each, or by feature name. Everything
        else about costs, such as decision costs, groups and bundles, goes into a `seqclass.Costs`.
    effort : {"quick", "thorough"}
        How much is tried. ``"quick"``: 3 folds of at most 3000 rows; numbers are modelled as densities or cut where the
        labels change, from 300 rows on also in a tree, and with 100 columns or more also with the few columns that tell
        most. ``"thorough"``: 10 folds of at most 50,000 rows, all candidates, mixtures of five bootstrap samples each,
        and policies fitted by looking at all possible answers, in about eight times the seconds. If there are more rows
        than that, a random sample of them, stratified by class, is used to choose on; the held-out figures then come
        from classifiers fitted to fewer rows than the final one.
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
    (True, 4)
    """

    feature_costs: Any = 0.01
    _: KW_ONLY
    effort: str = "quick"
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
    _holds_out = True

    @all_or_nothing
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
            Number of folds to choose on; by default what ``effort`` says. With 0 nothing is compared, and the mixture
            of densities is fitted, not calibrated, which takes rows held out.

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
        effort, budgets = self._effort, self._budgets()
        check_jobs(self.n_jobs)
        n_folds = effort.n_folds if held_out is None else check_folds(held_out)
        self.choice_: Choice | None = None
        began = perf_counter()
        sample_weight = forgetting_weights(y, self.half_life, sample_weight)
        kept, labels, weight = check_row_weights(X := with_marks(self.feature_costs, X), y, sample_weight)
        columns = Classifier()
        _, seen, encoder = check_training(columns, kept, labels)
        recent = recent_rows(labels, self.half_life, n_folds)
        self._chosen = self._for_visits(standard(effort, self.random_state, len(recent), np.shape(kept)[1]))
        # what is wrong with limits, prices and costs is said before anything is tried
        self.settings().check()
        resolve_costs(self.settings(), columns, np.unique(seen), warn=False)
        ruled = Rules.from_value(self.rules) is not None
        if ruled or Costs.from_value(self.feature_costs).prices_after:  # and so is what cannot be met, or answered
            quick: dict[str, Any] = _LOOK | {"observation_model": NaiveBayes(), "target_cost": None}
            with report_progress("rules"):
                fit_rows(self.settings().replace(**quick), kept, labels, certify=False)
        if budgets:
            self._chosen = at_budget(effort, self.random_state, False, False, budgets[-1])[INCUMBENT]
        if not n_folds:
            self._take(fit_rows(self.settings(), X, y, sample_weight))
            return self
        labels = plain_labels(labels)
        rows = recent[sample_rows(labels[recent], effort.most_rows, self.random_state)]
        some, labels = (kept, labels) if len(rows) == len(labels) else (take_rows(plain_data(kept), rows), labels[rows])
        some_weight = None if weight is None else weight[rows]
        fold = assign_folds(labels, n_folds, self.random_state)
        numbers = (n := np.shape(some)[1]) > len(category_counts(encoder))
        bundles = Costs(bundles=Costs.from_value(self.feature_costs).bundles)
        look = Settings(NaiveBayes(), feature_costs=bundles, handle_unknown=self.handle_unknown, missing=self.missing)
        contexts, found, at_once = worth_contexts(look, some, labels), dict[str, Found](), None
        ways = self._ways(len(rows), n, numbers, contexts)
        skipped: tuple[str, ...] = ()
        if _TREE in ways and max(category_counts(encoder).values(), default=0) > TUNING.max_tree_categories:
            skipped = (f"{_TREE}, as a column has more than {TUNING.max_tree_categories} categories",)
            del ways[_TREE]
        elif self.max_cost is not None and self._has_visit_costs:
            skipped = ("what asks in one order, as max_cost with costs of visits needs any order",)
        if budgets:
            means, last, seconds = self._try_at_budgets(budgets, ways, some, labels, fold, some_weight)
            self.choice_, held = choose(means, seconds, INCUMBENT, on_decisions=True, last=last)
        else:
            tried, seconds, found, left = self._try_ways(ways, some, labels, fold, some_weight)
            if NOTHING in ways and (ruled or list(self.known)):  # it is by what is known, or after what has to be asked
                at_once = replace(next(one for one in tried if one.name == NOTHING), name="Deciding at once")
            self.choice_, held = choose(tried, seconds, INCUMBENT, self.target_cost is not None)
            self.choice_ = replace(self.choice_, skipped=(*skipped, *left))
        self._chosen, took = ways[self.choice_.chosen], perf_counter() - began
        fit = fit_rows(self.settings(), X, y, sample_weight, found=found.get(self.choice_.chosen))
        self._take(fit)
        by_frequency, line = yardsticks(fit, some, labels, fold, some_weight)
        self.held_out_ = complete_held_out(held, fit.agent, (at_once or by_frequency, line), ("more rows",))
        self.timings_["held_out"] = took
        if not budgets:
            self._warn_of_vain(self.choice_.candidates[0].cost)
        return self

    def _warn_of_vain(self, at_once: float) -> None:
        """Warn where what was chosen buys nothing, or in vain."""
        assert self.choice_ is not None
        if self.choice_.chosen == NOTHING or not self.held_out_.n_features:
            warn_caller(
                f"nothing is worth buying: on rows held out no way to learn costs less than deciding at once "
                f"({digits_text(at_once)}) beyond chance; see choice_ (--verbose on the command line)."
            )
        elif (warning := self.held_out_.against_deciding()) and self.target_cost is None:
            warn_caller(f"{warning} It may be by chance; see choice_.", HeldOutWarning)

    def _try_ways(
        self, ways: dict[str, dict[str, Any]], X: Any, y: npt.ArrayLike, fold: Any, weight: FloatArray | None
    ) -> tuple[list[HeldOut], list[float], dict[str, Found], tuple[str, ...]]:
        """What ways do on held-out rows, what these ask for, and why some are left after the first fold."""
        rows, n_folds = (plain_data(X), plain_labels(y), fold), int(fold.max()) + 1
        names = sorted(ways, key=lambda name: name != INCUMBENT)
        steps = {name: f"candidate {n} of {len(ways)}, {name}" for n, name in enumerate(names, 1)}
        settings = {name: with_paths(self._settings_of_way(way), self._effort.fold_paths) for name, way in ways.items()}
        tried, seconds, found, left = dict[str, HeldOut](), dict[str, float](), dict[str, Found](), list[str]()
        as_it_is: Any = {name: None if settings[name].calibrate else (False, None) for name in names}
        n_learn, some_weight = list(as_it_is.values()).count(None), None if weight is None else weight[fold == 0]
        work = _Work(self.n_jobs, (len(names) + n_learn) * n_folds + n_learn + 2)
        losses = partial(first_losses, on_decisions=self.target_cost is not None)
        standing: tuple[Found | None, FloatArray] | None = None  # what it found without the first fold, and lost on it
        for some in work.together(names, n_folds):
            # calibrated by what the standing one found, if it found something, another may turn out to be hopeless
            race = None if standing is None or standing[0] is None else (True, standing[0])
            how = {name: one or race for name, one in as_it_is.items()}
            own, jobs = {}, (delayed(start_folds)(steps[n], settings[n], how[n], *rows, 0, weight) for n in some)
            for name, fit in zip(some, work.run(jobs)):
                own[name], seconds[name] = [fit], fit.seconds
                if standing is None or name == NOTHING or fit.acted is None:
                    continue
                lost = losses(fit.fit, fit.acted, y, fold), standing[1]
                if why := drop_reason(*lost, n_folds, TUNING.least_chance, some_weight):
                    left.append(f"{name}, {why}")
                    work.total -= 2 * n_folds if settings[name].calibrate else n_folds - 1
                    del own[name]
            others = work.run(
                delayed(start_folds)(
                    steps[name], with_shares(settings[name], fits[0].fit), as_it_is[name], *rows, n, weight
                )
                for name, fits in own.items()
                for n in range(1, n_folds)
            )
            for at, fits in enumerate(own.values()):
                fits += others[at * (n_folds - 1) : (at + 1) * (n_folds - 1)]
            again = [name for name in own if settings[name].calibrate]
            jobs = (delayed(calibrate_folds)(steps[n], [one.fit for one in own[n]], *rows, weight) for n in again)
            asked = dict(zip(again, work.run(jobs)))
            found |= {name: by_fold[-1] for name, (by_fold, _) in asked.items()}
            planned = work.run(
                delayed(refit_calibrated)(steps[name], settings[name], own[name][n].fit, asked[name][0][n], *rows, n)
                for name in again
                for n in range(n_folds)
            )
            for name, fits in own.items():
                seconds[name], acted = sum(one.seconds for one in fits), [one.acted for one in fits]
                if name in asked:
                    at = again.index(name) * n_folds
                    acted = [one for one, _ in planned[at : at + n_folds]]
                    seconds[name] += asked[name][1] + sum(took for _, took in planned[at : at + n_folds])
                tried[name] = collect_folds(name, fits[0].fit.agent, rows[1], fold, acted, weight)
                if standing is None:
                    standing = asked[name][0][0] if name in asked else None, losses(fits[0].fit, acted[0], y, fold)
        kept = [name for name in ways if name in tried]
        return [tried[name] for name in kept], [seconds[name] for name in kept], found, tuple(left)

    def _budgets(self) -> list[int]:
        """The budgets, the least first; none where prices say when to stop."""
        if self.budget is None:
            return []
        budgets = [self.budget] if np.ndim(self.budget) == 0 else list(self.budget)  # type: ignore[arg-type]
        if not budgets:
            raise ValueError("budget must name one number of questions at least, or be None.")
        for name in ("target_cost", "max_cost", "max_features", "rules"):
            if getattr(self, name) is not None:
                raise ValueError(f"budget says how many questions are asked; leave out {name}.")
        costs = Costs.from_value(self.feature_costs)
        if costs.visit_cost or costs.delay_cost:
            raise ValueError(
                "budget asks so many questions one at a time, each of which would take a visit: leave out visit_cost "
                "and delays, or fit without budget and give acquire(X, budget=k), which orders panels."
            )
        return sorted({check_integer(one, "budget", 1) for one in budgets})

    def _try_at_budgets(
        self, budgets: list[int], ways: dict[str, dict[str, Any]], X: Any, y: Any, fold: Any, weight: FloatArray | None
    ) -> tuple[list[HeldOut], list[HeldOut], list[float]]:
        """What each way costs on average over the budgets, prices left out, and at the last; and seconds."""
        rows, numbers = (plain_data(X), plain_labels(y), fold), range(int(fold.max()) + 1)
        means, last, seconds, work = [], [], [], _Work(self.n_jobs, (len(ways) + 1) * len(numbers))
        results = work.run(
            delayed(at_budgets)(
                f"candidate {at} of {len(ways)}, {name}", self._settings_of_way(way), budgets, *rows, n, weight
            )
            for at, (name, way) in enumerate(ways.items(), 1)
            for n in numbers
        )
        for name in ways:
            mine, results = results[: len(numbers)], results[len(numbers) :]
            by_budget = zip(*(one.acted for one in mine))
            helds = [collect_folds(name, mine[0].agent, rows[1], fold, acted, weight) for acted in by_budget]
            mean = {key: np.mean([getattr(held, key) for held in helds], axis=0) for key in _AVERAGED}
            means.append(replace(helds[-1], prices=np.zeros_like(helds[-1].prices), **mean))
            last.append(helds[-1])
            seconds.append(sum(one.seconds for one in mine))
        return means, last, seconds

    def _ways(self, n_rows: int, n_columns: int, numbers: bool, contexts: bool) -> dict[str, dict[str, Any]]:
        """Settings by name of what is tried, by prices or at the budgets."""
        effort, budgets = self._effort, self._budgets()
        if budgets:
            return at_budget(effort, self.random_state, numbers, contexts, budgets[-1])
        ways = candidates(effort, self.random_state, n_rows, n_columns, numbers, contexts)
        if Rules.from_value(self.rules) is not None or (
            self.max_cost is not None and self._has_visit_costs
        ):  # these need any order
            ways = {name: way for name, way in ways.items() if is_free(way["order"])}
        return {name: self._for_visits(way) for name, way in ways.items()}

    @property
    def _effort(self) -> SearchEffort:
        return EFFORTS[check_choice(self.effort, "effort", tuple(EFFORTS))]

    @property
    def _has_visit_costs(self) -> bool:
        """Whether a visit costs something."""
        costs = Costs.from_value(self.feature_costs)
        return bool(costs.visit_cost or costs.delay_cost)

    def _for_visits(self, way: dict[str, Any]) -> dict[str, Any]:
        """A way that plans what to order together, where a visit costs something."""
        solver = way["solver"]
        if not isinstance(solver, Adaptive) or not self._has_visit_costs:
            return way
        few, seed = min(1000, solver.certificate_paths), solver.random_state  # each takes longer
        settings: dict[str, Any] = {"certificate_paths": few, "random_state": seed}
        return way | {"solver": Panels(TUNING.n_paths // 5, solver=solver, **settings)}

    def _settings_of_way(self, way: dict[str, Any]) -> Settings:
        return Settings.from_estimator(self._way(way))

    def _way(self, way: dict[str, Any]) -> SequentialClassifier:
        shared = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        if isinstance(self.known, Mapping) and not is_free(way.get("order")):
            shared["known"] = list(self.known)  # in a fixed order nothing is needless
        return SequentialClassifier(**shared, **way)

    def settings(self) -> Settings:
        """Settings of the way that was chosen."""
        return self._settings_of_way(self._for_visits(self._chosen))

    def chosen_classifier(self) -> SequentialClassifier:
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
        >>> clf.chosen_classifier().observation_model
        ClassMixture(density='auto', n_components={1: 0.25, 2: 0.25, 4: 0.25, 8: 0.25})
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
        (1, 2)
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
    feature_costs: Any = 0.01, *, effort: str = "quick", random_state: Any = 0, **settings: Any
) -> AdaptiveClassifier:
    """Return a classifier that chooses by held-out cost how to learn, from naive Bayes to class mixtures.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost; see `SequentialClassifier`.
    effort : {"quick", "thorough"}
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
