"""Names of the questions, outcomes and classes of a fitted classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.frames import FrameEncoder
from seqclass._utils.model_files import register
from seqclass._utils.text import join_names, short_repr
from seqclass.agent._coding import OutcomeCoder
from seqclass.agent.agent import Agent
from seqclass.costs import Prices
from seqclass.pomdp.names import Naming


@register
@dataclass(frozen=True)
class ColumnNaming(Naming):
    """Names of the columns that features of a model are, and of what these show; values are raw ones.

    Parameters
    ----------
    names : sequence of str or None
        Names of the columns, where they have any.
    encoder, coder, support, prices
        See `Agent`.
    """

    names: Any = None
    encoder: FrameEncoder | None = None
    coder: OutcomeCoder | None = None
    support: IntArray | None = None
    prices: Prices | None = None

    @classmethod
    def of(cls, agent: Agent) -> ColumnNaming:
        """Names of what was fitted."""
        return cls(
            classes=tuple(map(str, agent.classes.tolist())),
            decisions=tuple(map(str, agent.decisions.tolist())),
            names=agent.feature_names,
            encoder=agent.encoder,
            coder=agent.coder,
            support=agent.support,
            prices=agent.prices,
        )

    def feature(self, feature: int) -> str:
        """Name of the column of a feature; ``"x3"`` for column 3 where there are no names."""
        column = self._column(feature)
        return f"x{column}" if self.names is None else str(self.names[column])

    def shows(self, feature: int, n_outcomes: int) -> list[str]:
        """Categories or bins of a column."""
        assert self.coder is not None
        column, known = self._column(feature), self._categories(feature)
        if known is None:
            labels = self.coder.labels(column)
        else:
            labels = known + ([] if self.coder.missing_code[column] < 0 else ["missing"])
        return (
            labels if len(labels) == n_outcomes else [*labels, *map(str, range(len(labels), n_outcomes))][:n_outcomes]
        )

    def code(self, feature: int, value: Any, n_outcomes: int) -> int:
        """The outcome that a raw value or a category belongs to."""
        assert self.coder is not None
        column, categories = self._column(feature), self._categories(feature)
        if categories is not None:
            assert self.encoder is not None  # which has them
            number = self.encoder.code(self.encoder.columns_[column], value, "missing")
            if not number >= 0:  # it may be NaN
                known = join_names(categories)
                raise ValueError(f"{self.feature(feature)} must be one of {known}, got {short_repr(value)}.")
        elif isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value):
            number = float(value)
        else:
            raise ValueError(f"{self.feature(feature)} must be a finite number, got {short_repr(value)}.")
        return self.coder.code_value(column, number)

    def bundle(self, features: Sequence[int]) -> str:
        """Name of the bundle that shows these features."""
        assert self.prices is not None
        assert self.prices.bundles is not None  # where a question shows several
        return str(self.prices.bundle_names[self.prices.bundles[self._column(features[0])]])

    def _column(self, feature: int) -> int:
        assert self.support is not None
        return int(self.support[feature])

    def _categories(self, feature: int) -> list[str] | None:
        column = self._column(feature)
        if self.encoder is None or (name := self.encoder.columns_[column]) not in self.encoder.categories_:
            return None
        return [str(category) for category in self.encoder.categories_[name].tolist()]
