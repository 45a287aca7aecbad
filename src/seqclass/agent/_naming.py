"""Names of the questions, outcomes and classes of a fitted classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import IntArray
from seqclass._utils.frames import FrameEncoder
from seqclass._utils.model_files import register
from seqclass._utils.text import join_names, short_repr
from seqclass.agent._coding import OutcomeCoder
from seqclass.costs import Prices
from seqclass.pomdp.names import Naming


@register
@dataclass(frozen=True, kw_only=True)
class ColumnNaming(Naming):
    """Names of the columns that features of a model are, and of what these show; values are raw ones.

    Parameters
    ----------
    names : sequence of str or None
        Names of the columns, where they have any.
    encoder, coder, support, prices
        See `Agent`.
    """

    names: npt.NDArray[Any] | None
    encoder: FrameEncoder | None
    coder: OutcomeCoder
    support: IntArray
    prices: Prices

    def feature(self, feature: int) -> str:
        """Name of the column of a feature; ``"x3"`` for column 3 where there are no names."""
        column = self._column(feature)
        return f"x{column}" if self.names is None else str(self.names[column])

    def shows(self, feature: int, n_outcomes: int) -> list[str]:
        """Categories or bins of a column."""
        labels = outcome_labels_of(self.encoder, self.coder, self._column(feature))
        return (
            labels if len(labels) == n_outcomes else [*labels, *map(str, range(len(labels), n_outcomes))][:n_outcomes]
        )

    def code(self, feature: int, value: Any, n_outcomes: int) -> int:
        """The outcome that a raw value or a category belongs to."""
        column = self._column(feature)
        categories = categories_of(self.encoder, column)
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

    def missing(self, feature: int) -> int:
        """-1, or the outcome that missing values are where that is informative."""
        return int(self.coder.missing_code[self._column(feature)])

    def bundle(self, features: Sequence[int]) -> str:
        """Name of the bundle that shows these features."""
        assert self.prices.bundles is not None  # where a question shows several
        return str(self.prices.bundle_names[self.prices.bundles[self._column(features[0])]])

    def _column(self, feature: int) -> int:
        return int(self.support[feature])


def categories_of(encoder: FrameEncoder | None, column: int) -> list[str] | None:
    """Categories of a column, or None for a number."""
    if encoder is None or (name := encoder.columns_[column]) not in encoder.categories_:
        return None
    return [str(category) for category in encoder.categories_[name].tolist()]


def other_spellings(encoder: FrameEncoder | None, column: int) -> dict[str, int]:
    """Numbers of the categories of a column by what else stands for them, such as 1 for True."""
    known = categories_of(encoder, column)
    if encoder is None or known is None:
        return {}
    numbers = encoder.numbers_by_text(encoder.columns_[column])
    return {text: int(number) for text, number in numbers.items() if text not in known}


def outcome_labels_of(
    encoder: FrameEncoder | None, coder: OutcomeCoder, column: int, *, intervals: bool = False
) -> list[str]:
    """Describe what a column may show: its categories, or its bins."""
    known = categories_of(encoder, column)
    if known is None:
        return coder.labels(column, intervals=intervals)
    return known + ([] if coder.missing_code[column] < 0 else ["(missing)" if "missing" in known else "missing"])
