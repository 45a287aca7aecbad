"""Making a discounted solver answer an undiscounted question: costs of stage ``k`` times ``discount**-k``."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray
from seqclass._validation import check_real

#: Beyond this the costs of the first stage drown in the rounding of the last one's.
_LARGEST = 1e9


def check_discount(discount: float, n_stages: int) -> float:
    """Return the discount if it is in (0, 1] and can be undone over ``n_stages``.

    Raises
    ------
    ValueError
        If not.

    Examples
    --------
    >>> check_discount(0.999, 1000)
    0.999
    """
    value = check_real(discount, "discount", 0.0, 1.0)
    if value == 0 or -n_stages * np.log(value) > np.log(_LARGEST):
        raise ValueError(
            f"discount must be closer to 1, got {discount:g}: costs are multiplied by discount**-stage, which exceeds "
            f"{_LARGEST:g} over {n_stages} stages."
        )
    return value


def scale(discount: float, n_stages: int) -> FloatArray:
    """Factor of the costs of each stage ``0..n_stages``, (n_stages + 1,).

    Examples
    --------
    >>> scale(0.5, 2)
    array([1., 2., 4.])
    """
    return np.asarray(np.power(discount, -np.arange(n_stages + 1.0)))
