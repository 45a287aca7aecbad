"""What `AdaptiveClassifier` chooses among."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._fitting import rows_of
from seqclass._frames import plain
from seqclass._held_out import some_rows
from seqclass._telling import telling
from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes
from seqclass.bn._context_choice import MOST_TESTED, changes_what_others_tell
from seqclass.bn._contexts import MOST_OUTCOMES
from seqclass.classifier import SequentialClassifier
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation, DecideNow, FirstK, HiddenInformation, OrderingRule
from seqclass.recipes import ifc2f

#: Name of the candidate that buys nothing.
NOTHING = "deciding at once"
#: The candidate that is left only for what is better beyond chance: rich, and the same for numbers and categories.
STANDING = "mixture of densities"
#: Columns that are kept, and of a mixture for which kinds of members would drown in the noise of many.
_MANY, _FEW = 200, 20
#: Columns up to which the best of all orders is searched for: of more it is what the training rows suggest by chance.
_SEARCHED = 32
_NARROW = f"{STANDING}, {_FEW} columns"
_PARTS = ("observation_model", "solver", "discretizer", "selector", "order")


@dataclass(frozen=True)
class Effort:
    """How much is tried, and on how many rows at most."""

    n_folds: int
    most_rows: int
    others: bool
    strategies: tuple[str, ...]
    n_bags: int
    foresee: bool
    search_nodes: int

    def on(self, n_columns: int) -> Effort:
        """The same for data of so many columns."""
        return self if n_columns <= _SEARCHED else replace(self, search_nodes=0)


EFFORTS = {
    "quick": Effort(3, 3000, False, ("mdlp",), 1, False, 1000),
    "normal": Effort(5, 10_000, True, ("uniform", "quantile", "mdlp"), 1, False, 1000),
    "thorough": Effort(10, 50_000, True, ("uniform", "quantile", "mdlp"), 5, True, 5000),
}


def candidates(
    effort: Effort, random_state: Any, n_columns: int, numbers: bool = True, contexts: bool = False
) -> dict[str, dict[str, Any]]:
    """Settings of `SequentialClassifier` by name of the candidate, for data of so many columns.

    Where these hold no numbers there is one mixture, for nothing is to be cut. Contexts are tried if asked for.
    """
    effort = effort.on(n_columns)
    bayes = {"observation_model": NaiveBayes(), "discretizer": Discretizer()}
    found = {NOTHING: bayes | {"solver": DecideNow()}, "naive Bayes, one order": bayes | _CALIBRATED}
    if effort.others:
        params = ifc2f(random_state=random_state).get_params(deep=False)
        found["tree, one order"] = {name: params[name] for name in _PARTS}
        found["densities"] = _of_densities(ContextBayes(None, random_state=random_state), effort) | _CALIBRATED
    mixtures = {
        f"mixture, {_CUT[strategy]}": _mixture(strategy, effort, random_state)
        for strategy in effort.strategies
        if numbers
    }
    mixtures[STANDING] = _mixture_of_densities(effort, random_state)
    if effort.others and n_columns > _FEW:
        mixtures[_NARROW] = _mixture_of_densities(effort, random_state, _FEW)
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
        for strategy in ("uniform", "quantile", "mdlp")
        if numbers
    }
    found[STANDING] = _mixture_of_densities(effort, random_state)
    found["densities"] = _of_densities(ContextBayes(None, random_state=random_state), effort)
    if contexts:
        found |= _contexts(effort, random_state)
    # when to stop is given: there is nothing to plan
    first = {name: FirstK(budget, rule=way["solver"].rules[0], certificate_paths=0) for name, way in found.items()}
    return {name: _filled(way | {"solver": first[name]}) for name, way in found.items()}


def worth_contexts(X: Any, y: npt.NDArray[Any], **settings: Any) -> bool:
    """Whether a column or a bundle, of not too many, changes what the others tell; a quick look at some rows.

    Settings are those of `SequentialClassifier` that say what the columns are.
    """
    if np.shape(X)[1] > _MANY:
        return False
    look: dict[str, Any] = {"discretizer": Discretizer(4), "order": "adaptive"}
    look["solver"] = DecideNow(certificate_paths=0)
    rows = some_rows(y, MOST_TESTED, 0)
    X, y = (X, y) if len(rows) == len(y) else (rows_of(plain(X), rows), y[rows])
    clf = SequentialClassifier(NaiveBayes(), **look, **settings)
    clf._certify = False  # and warns of nothing, which the fit to all rows does
    with telling("contexts"):
        clf.fit(X, y)
    encoded = clf._encoded(X, np.arange(clf.support_.size))
    label = clf._prices.bundles
    bundles = [] if label is None else [np.flatnonzero(label == one) for one in np.unique(label[label >= 0])]
    codes = np.searchsorted(clf.classes_, y)
    X, sizes = encoded.codes[:, encoded.columns], clf.model_.n_outcomes_
    return changes_what_others_tell(X, codes, np.ones(len(codes)), sizes, [one for one in bundles if len(one) > 1])


_CALIBRATED = {"calibrate": True}
#: Cases that policies are fitted to, and on which it is reckoned what they cost.
_PATHS, _CASES = 1000, 300
#: Bins that densities are fitted over.
_FINE = 16
_CUT = {"uniform": "equal widths", "quantile": "equal counts", "mdlp": "cuts by labels"}
_BINS = {"uniform": 5, "quantile": 5, "mdlp": 8}


def standard(effort: Effort, random_state: Any, n_columns: int) -> dict[str, Any]:
    """What is fitted where nothing is compared, to data of so many columns."""
    return _filled(_mixture_of_densities(effort.on(n_columns), random_state))


def _mixture(strategy: str, effort: Effort, random_state: Any) -> dict[str, Any]:
    model = ClassMixture(n_bags=effort.n_bags, random_state=random_state)
    return _any_order(model, Discretizer(_BINS[strategy], strategy=strategy), effort)


def _mixture_of_densities(effort: Effort, random_state: Any, n_columns: int = _MANY) -> dict[str, Any]:
    model = ClassMixture(density="auto", n_bags=effort.n_bags, random_state=random_state)
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
    model: ClassMixture | ContextBayes,
    discretizer: Discretizer,
    effort: Effort,
    n_columns: int = _MANY,
    rule: OrderingRule | None = None,
) -> dict[str, Any]:
    solver = Adaptive(
        [ClassInformation() if rule is None else rule],
        n_paths=_PATHS,
        foresee=effort.foresee,
        n_cases=_CASES,
        max_rounds=0,
        search_nodes=effort.search_nodes,
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
