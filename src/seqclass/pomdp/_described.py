"""How problems and policies look at the prompt."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def _some(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _orders(problem: Any) -> str:
    return "in any order" if problem.free else "in one order"


class DescribedProblem:
    """A problem that tells its size: classes, decisions, questions and their prices."""

    def __repr__(self: Any) -> str:
        size = f"{self.n_classes} classes, {_some(self.n_decisions, 'decision')}, {_some(self.n_questions, 'question')}"
        low, high = (self.prices.min(), self.prices.max()) if self.n_questions else (0.0, 0.0)
        prices = f"at {low:.4g}" if low == high else f"at {low:.4g} to {high:.4g}"
        return f"<{type(self).__name__}: {size} {_orders(self)}{f' {prices}' if self.n_questions else ''}>"


class DescribedPolicy:
    """A policy that tells what it may ask, and what its solver says of it."""

    def __repr__(self: Any) -> str:
        asks = f"at most {self.n_stages:,} of {_some(self.problem.n_questions, 'question')} {_orders(self.problem)}"
        info = self.info
        bounds = "" if np.isnan(info.upper) else f", costs {info.lower:.4g} to {info.upper:.4g}, gap {info.gap:.1%}"
        return f"<{type(self).__name__}: {asks}; {info.status}{bounds}>"


class OneRow:
    """Figures of a dataclass that can be put below those of others."""

    def to_frame(self: Any) -> pd.DataFrame:
        """Return the figures as a data frame of one row, for `pandas.concat`.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame([asdict(self)])
        return frame
