"""What `AdaptiveClassifier` chooses among; the first is what it falls back on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation, DecideNow
from seqclass.recipes import ifc2f

#: Name of the candidate that buys nothing.
NOTHING = "deciding at once"
_PARTS = ("observation_model", "solver", "discretizer", "selector", "order")


@dataclass(frozen=True)
class Effort:
    """How much is tried, and on how many rows at most."""

    n_folds: int
    most_rows: int
    others: bool
    strategies: tuple[str, ...]
    n_bags: int
    n_paths: int


EFFORTS = {
    "quick": Effort(3, 3000, False, (), 1, 300),
    "normal": Effort(5, 10_000, True, ("uniform", "quantile"), 1, 300),
    "thorough": Effort(10, 50_000, True, ("uniform", "quantile"), 5, 1000),
}


def candidates(effort: Effort, random_state: Any) -> dict[str, dict[str, Any]]:
    """Settings of `SequentialClassifier` by name of the candidate."""
    bayes = {"observation_model": NaiveBayes(), "discretizer": Discretizer()}
    found = {NOTHING: bayes | {"solver": DecideNow()}, "naive Bayes, one order": bayes | _CALIBRATED}
    if effort.others:
        params = ifc2f(random_state=random_state).get_params(deep=False)
        found["tree, one order"] = {name: params[name] for name in _PARTS}
        found["densities"] = _of_densities(ContextBayes(None, random_state=random_state), effort) | _CALIBRATED
    mixtures = {
        f"mixture, {_CUT[strategy]}": _mixture(strategy, effort, random_state) for strategy in effort.strategies
    }
    mixtures["mixture of densities"] = _mixture_of_densities(effort, random_state)
    for name, settings in mixtures.items():
        found |= {name: settings, f"{name}, calibrated": settings | _CALIBRATED}
    return {name: _filled(settings) for name, settings in found.items()}


_CALIBRATED = {"calibrate": True}
#: Cases that what a rule costs is reckoned on.
_CASES = 1000
#: Bins that densities are fitted over.
_FINE = 16
_CUT = {"uniform": "equal widths", "quantile": "equal counts"}


def standard(effort: Effort, random_state: Any) -> dict[str, Any]:
    """What is fitted where nothing is compared."""
    return _filled(_mixture_of_densities(effort, random_state))


def _mixture(strategy: str, effort: Effort, random_state: Any) -> dict[str, Any]:
    model = ClassMixture(n_bags=effort.n_bags, random_state=random_state)
    return _any_order(model, Discretizer(5, strategy=strategy), effort)


def _mixture_of_densities(effort: Effort, random_state: Any) -> dict[str, Any]:
    return _of_densities(ClassMixture(density="auto", n_bags=effort.n_bags, random_state=random_state), effort)


def _of_densities(model: ClassMixture | ContextBayes, effort: Effort) -> dict[str, Any]:
    return _any_order(model, Discretizer(_FINE, strategy="quantile"), effort)


def _any_order(model: ClassMixture | ContextBayes, discretizer: Discretizer, effort: Effort) -> dict[str, Any]:
    seed = model.random_state
    solver = Adaptive([ClassInformation()], max_rounds=0, n_paths=effort.n_paths, n_cases=_CASES, random_state=seed)
    return {
        "observation_model": model,
        "discretizer": discretizer,
        "selector": InformationFilter(n_features=200),
        "order": "adaptive",
        "solver": solver,
    }


def _filled(settings: dict[str, Any]) -> dict[str, Any]:
    empty = {"observation_model": None, "solver": None, "discretizer": None, "selector": None, "order": "conditional"}
    return empty | {"calibrate": False} | settings
