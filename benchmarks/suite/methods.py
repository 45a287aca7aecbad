"""The methods that the suite has figures of: ours, and peers that are tuned on the training rows."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from _common import left_out

import seqclass
from benchmarks.suite.cases import Cases
from benchmarks.suite.peers import PEERS, Tuned
from seqclass import SequentialClassifier
from seqclass.pomdp import Lookahead

OURS = "adaptive quick"


class Ours:
    """A classifier of this package, which takes the set as it is given."""

    as_given = True
    budget: int | None = None

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make

    def fit(self, X: Any, y: np.ndarray, prices: np.ndarray) -> Ours:
        limit = {} if self.budget is None else {"budget": self.budget}
        self.columns = list(X.columns) if isinstance(X, pd.DataFrame) else list(range(X.shape[1]))
        # one price for all is said as one number
        price = float(prices[0]) if np.ptp(prices) == 0 else prices
        self.model = self.make(price, **limit).fit(X, y)
        return self

    def acquire(self, cases: Cases) -> np.ndarray:
        record = self.model.acquire(
            provider=lambda rows, feature: cases.ask(self.columns.index(feature), rows), n=len(cases)
        )
        decided: np.ndarray = record.decision
        return decided


class AtOnce:
    """The commonest class, without a question: what all have to be below."""

    def fit(self, X: Any, y: np.ndarray, prices: np.ndarray) -> AtOnce:
        self.decision = int(np.bincount(y).argmax())
        return self

    def acquire(self, cases: Cases) -> np.ndarray:
        return np.full(len(cases), self.decision)


def quick(prices: Any, budget: int | None = None) -> Any:
    more = {} if budget is None else {"budget": budget}
    return seqclass.adaptive(prices, effort="quick", handle_unknown="missing", **more)


def etana(prices: Any) -> Any:
    return seqclass.etana(prices, handle_unknown="missing")


def ifc2f(prices: Any) -> Any:
    return seqclass.ifc2f(prices, handle_unknown="missing")


def any_order(prices: Any) -> Any:
    return SequentialClassifier(
        solver=Lookahead(certificate_paths=0), order="adaptive", feature_costs=prices, handle_unknown="missing"
    )


#: How each is made anew; ours first.
METHODS: dict[str, Callable[[], Any]] = {
    OURS: lambda: Ours(quick),
    "etana": lambda: Ours(etana),
    "ifc2f": lambda: Ours(ifc2f),
    "naive Bayes, any order": lambda: Ours(any_order),
    "deciding at once": AtOnce,
    **{name: (lambda peer=peer: Tuned(peer)) for name, peer in PEERS.items()},
}


def installed(names: Sequence[str]) -> list[str]:
    """Those of some methods that can be run here; of others it is said what they lack."""
    available = []
    for name in names:
        needs = PEERS[name].needs if name in PEERS else ()
        lacking = [module for module in needs if importlib.util.find_spec(module) is None]
        if lacking:
            left_out(name, f"{lacking[0]} is not installed")
        else:
            available.append(name)
    return available
