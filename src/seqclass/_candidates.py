"""What `AdaptiveClassifier` chooses among, the simplest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes, ObservationModel
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
    calibrated: bool
    trees: bool
    densities: bool
    strategies: tuple[str, ...]
    n_bags: int


EFFORTS = {
    "quick": Effort(3, 3000, False, False, False, ("uniform",), 1),
    "normal": Effort(5, 10_000, True, True, True, ("uniform", "quantile"), 1),
    "thorough": Effort(10, 50_000, True, True, True, ("uniform", "quantile"), 5),
}


def candidates(effort: Effort, random_state: Any) -> dict[str, dict[str, Any]]:
    """Settings of `SequentialClassifier` by name of the candidate."""
    bayes = {"observation_model": NaiveBayes(), "discretizer": Discretizer()}
    found = {
        NOTHING: bayes | {"solver": DecideNow()},
        "naive Bayes, one order": bayes | {"calibrate": effort.calibrated},
    }
    if effort.trees:
        params = ifc2f(random_state=random_state).get_params(deep=False)
        found["tree, one order"] = {name: params[name] for name in _PARTS}
    if effort.densities:
        model = ContextBayes(None, random_state=random_state)
        found["densities"] = _any_order(model, Discretizer(_FINE, strategy="quantile"), random_state)
    for strategy in effort.strategies:
        found[f"mixture, {_CUT[strategy]}"] = _mixture(strategy, effort.n_bags, random_state)
    if effort.densities:
        model = ClassMixture(density="auto", n_bags=effort.n_bags, random_state=random_state)
        found["mixture of densities"] = _any_order(model, Discretizer(_FINE, strategy="quantile"), random_state)
    return {name: _filled(settings) for name, settings in found.items()}


#: Bins that densities are fitted over.
_FINE = 16
_CUT = {"uniform": "equal widths", "quantile": "equal counts"}


def standard(effort: Effort, random_state: Any) -> dict[str, Any]:
    """What is fitted where nothing is compared."""
    return _filled(_mixture("quantile", effort.n_bags, random_state))


def _mixture(strategy: str, n_bags: int, random_state: Any) -> dict[str, Any]:
    model = ClassMixture(n_bags=n_bags, random_state=random_state)
    return _any_order(model, Discretizer(5, strategy=strategy), random_state)


def _any_order(model: ObservationModel, discretizer: Discretizer, random_state: Any) -> dict[str, Any]:
    return {
        "observation_model": model,
        "discretizer": discretizer,
        "selector": InformationFilter(n_features=200),
        "order": "adaptive",
        "solver": Adaptive([ClassInformation()], max_rounds=0, n_cases=1000, random_state=random_state),
    }


def _filled(settings: dict[str, Any]) -> dict[str, Any]:
    empty = {"observation_model": None, "solver": None, "discretizer": None, "selector": None, "order": "conditional"}
    return empty | {"calibrate": False} | settings
