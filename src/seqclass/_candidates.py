"""What `AdaptiveClassifier` chooses among."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation, DecideNow
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


def candidates(effort: Effort, random_state: Any, n_columns: int, numbers: bool = True) -> dict[str, dict[str, Any]]:
    """Settings of `SequentialClassifier` by name of the candidate, for data of so many columns.

    Where these hold no numbers there is one mixture, for nothing is to be cut.
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
    for name, settings in mixtures.items():
        found |= {name: settings, f"{name}, calibrated": settings | _CALIBRATED}
    return {name: _filled(settings) for name, settings in found.items()}


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


def _of_densities(model: ClassMixture | ContextBayes, effort: Effort, n_columns: int = _MANY) -> dict[str, Any]:
    return _any_order(model, Discretizer(_FINE, strategy="quantile"), effort, n_columns)


def _any_order(
    model: ClassMixture | ContextBayes, discretizer: Discretizer, effort: Effort, n_columns: int = _MANY
) -> dict[str, Any]:
    solver = Adaptive(
        [ClassInformation()],
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
