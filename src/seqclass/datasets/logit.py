"""Two classes whose odds follow from normal features by a known logit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_choice, check_integer

#: Columns that each of the three logits looks at.
_LOOKS_AT = {1: slice(0, 2), 2: slice(2, 6), 3: slice(6, 10)}
#: Column whose sign says which logit counts.
_SWITCH = 10
#: Logits below and above zero of the switch, by recipe and number; without a switch both are the same.
_RULES = {
    "sefa": {1: (1, 2), 2: (1, 3), 3: (2, 3)},
    "invase": {1: (1, 1), 2: (2, 2), 3: (3, 3), 4: (1, 2), 5: (1, 3), 6: (2, 3)},
}
#: Factor of the first logit, factor of the second and what is taken off it.
_STRENGTHS = {"sefa": (4.0, 1.2, 4.2), "invase": (1.0, 1.0, 4.0)}


@dataclass(frozen=True, repr=False)
class SwitchedLogit(Readable):
    """Independent normal features, and two classes whose odds follow from them by one of two known logits.

    Attributes
    ----------
    number : int
        Number of the set.
    recipe : {"sefa", "invase"}
        Whose set it is; see `make_syn`.
    n_features : int
        Features, at least 11.

    Raises
    ------
    ValueError
        If there is no such set, or there are too few features.

    Examples
    --------
    >>> import numpy as np
    >>> truth = SwitchedLogit(1, "sefa")
    >>> x = np.full((1, 11), np.nan)
    >>> x[0, [0, 1, 10]] = 0.5, 0.5, -1  # below zero of the last, the product of the first two counts, four times
    >>> truth.posterior(x).round(4)
    array([[0.7311, 0.2689]])
    """

    number: int
    recipe: str
    n_features: int = 11

    def __post_init__(self) -> None:
        check_choice(self.recipe, "recipe", tuple(_RULES))
        check_integer(self.number, "number", 1, len(_RULES[self.recipe]))
        check_integer(self.n_features, "n_features", _SWITCH + 1)

    @property
    def logits(self) -> tuple[int, int]:
        """Which of the three logits counts where the eleventh feature is below zero, and which where it is not."""
        return _RULES[self.recipe][self.number]

    @property
    def informative(self) -> list[int]:
        """Columns that decide about the class of some row, in order."""
        first, second = self.logits
        used = {j for which in (first, second) for j in range(_SWITCH)[_LOOKS_AT[which]]}
        return sorted(used if first == second else {*used, _SWITCH})

    def sample(self, n: int, random_state: Any = None) -> tuple[FloatArray, IntArray]:
        """Draw features and classes of ``n`` instances; see `HiddenStates.sample`."""
        rng = as_generator(random_state)
        X = rng.standard_normal((check_integer(n, "n", 0), self.n_features))
        return X, (rng.random(n) < self.posterior(X)[:, 1]).astype(np.int64)

    def posterior(self, X: npt.ArrayLike) -> FloatArray:
        """P(class | features), exact where the features that count are known.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features; NaN is allowed in those that do not count in a row.

        Returns
        -------
        ndarray of shape (n, 2)

        Raises
        ------
        ValueError
            If a feature that counts in a row is missing; the message names both.

        Examples
        --------
        >>> import numpy as np
        >>> SwitchedLogit(4, "invase").posterior(np.zeros((1, 11))).round(3)  # 1 / (1 + exp(-4)) for the second
        array([[0.018, 0.982]])
        """
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, got shape {values.shape}.")
        first, second = self.logits
        below = np.ones(len(values), dtype=np.bool_)
        if first != second:
            self._refuse_missing(values, slice(_SWITCH, _SWITCH + 1), below)
            below = values[:, _SWITCH] < 0
        logit = np.empty(len(values))
        for which, rows in ((first, below), (second, ~below)):
            self._refuse_missing(values, _LOOKS_AT[which], rows)
            logit[rows] = self._logit(which, values[rows, _LOOKS_AT[which]])
        return np.column_stack([expit(logit), expit(-logit)])

    def _logit(self, which: int, x: FloatArray) -> FloatArray:
        product, squares, less = _STRENGTHS[self.recipe]
        if which == 1:
            return np.asarray(product * x[:, 0] * x[:, 1])
        if which == 2:
            return np.asarray(squares * (x**2).sum(axis=1) - less)
        return np.asarray(-10 * np.sin(0.2 * x[:, 0]) + np.abs(x[:, 1]) + x[:, 2] + np.exp(-x[:, 3]) - 2.4)

    @staticmethod
    def _refuse_missing(values: FloatArray, columns: slice, rows: BoolArray) -> None:
        missing = np.isnan(values[:, columns]) & rows[:, None]
        if missing.any():
            i, j = np.argwhere(missing)[0]
            raise ValueError(
                f"row {i} lacks column {columns.start + j}, which decides about its class; there is no closed form "
                "without it."
            )
