"""Categories of data frames that come in chunks: what `FrameEncoder` would learn of all their rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass._frames import (
    FrameEncoder,
    check_names,
    column_keys,
    is_numeric,
    refuse_cells,
    refuse_dates,
    refuse_many,
    refuse_mixture,
    to_numeric,
)
from seqclass._messages import shown

#: More texts than this are not remembered, and are no categories.
_MOST = 100_000


@dataclass
class Levels:
    """What the cells of a column hold: numbers, or texts (of which some may be numbers) or categories."""

    n_numbers: int = 0
    n_texts: int = 0
    n_numeric_texts: int = 0
    categorical: bool = False
    keys: set[str] = field(default_factory=set)
    other: tuple[Any, Any] | None = None  # a text that is no number, and its row

    @classmethod
    def of(cls, column: Any) -> Levels:
        """Look at a column of a data frame."""
        import pandas as pd

        refuse_cells(column, f"column {shown(column.name)}")
        refuse_dates(column)
        present = column.dropna()
        if is_numeric(column):
            return cls(n_numbers=len(present))
        if isinstance(column.dtype, pd.CategoricalDtype):
            return cls(n_texts=len(present), categorical=True, keys=set(column_keys(present.drop_duplicates())))
        no_number = to_numeric(present).isna().to_numpy()
        at = int(no_number.argmax()) if no_number.any() else None
        other = None if at is None else (present.iloc[at], present.index[at])
        keys = set(column_keys(present.drop_duplicates()))
        return cls(0, len(present), len(present) - int(no_number.sum()), False, keys, other)

    def __add__(self, other: Levels) -> Levels:
        keys = self.keys if len(self.keys) > _MOST else self.keys | other.keys
        return Levels(
            self.n_numbers + other.n_numbers,
            self.n_texts + other.n_texts,
            self.n_numeric_texts + other.n_numeric_texts,
            self.categorical or other.categorical,
            keys,
            self.other or other.other,
        )

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers, as far as is known."""
        return not self.categorical and self.n_texts == self.n_numeric_texts

    def categories(self, name: Any) -> Any:
        """Categories of the column, sorted; None where it holds numbers.

        Raises
        ------
        ValueError
            If it mixes numbers with texts, or has too many texts.
        """
        if self.numeric:
            return None
        if self.n_numbers:
            raise ValueError(
                f"column {shown(name)} holds numbers in some chunks and texts in others: read it as one of these."
            )
        if not self.categorical and 2 * self.n_numeric_texts > self.n_texts and self.other is not None:
            refuse_mixture(name, *self.other)
        found = np.array(sorted(self.keys), dtype=str)
        refuse_many(name, len(found), self.n_texts)
        return found


def levels_of(X: Any) -> dict[Any, Levels]:
    """What each column of a data frame holds.

    Examples
    --------
    >>> import pandas as pd
    >>> levels_of(pd.DataFrame({"colour": ["red", None], "size": [1, 2]}))["colour"].keys
    {'red'}
    """
    check_names(X)
    return {name: Levels.of(X[name]) for name in X.columns}


def encoder_of(levels: dict[Any, Levels]) -> FrameEncoder:
    """Give the encoder of data frames whose columns hold this.

    Examples
    --------
    >>> import pandas as pd
    >>> one, other = (levels_of(pd.DataFrame({"colour": [name]})) for name in ("red", "blue"))
    >>> encoder_of({"colour": one["colour"] + other["colour"]}).categories_["colour"].tolist()
    ['blue', 'red']
    """
    encoder = FrameEncoder()
    encoder.columns_ = list(levels)
    found = {name: column.categories(name) for name, column in levels.items()}
    encoder.categories_ = {name: categories for name, categories in found.items() if categories is not None}
    return encoder


def numbers_of(X: Any, levels: dict[Any, Levels]) -> Any:
    """Give the numbers of a chunk whose columns hold this; columns of categories are missing."""
    import pandas as pd

    if all(is_numeric(X[name]) for name in X.columns):
        return X
    numbers = {name: to_numeric(X[name]) if column.numeric else np.nan for name, column in levels.items()}
    return pd.DataFrame(numbers, index=X.index, dtype=np.float64)
