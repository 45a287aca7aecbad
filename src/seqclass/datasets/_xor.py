"""Two coins whose difference is the class, and a dear feature that tells next to nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._validation import check_real
from seqclass.datasets._conditional import Conditional
from seqclass.datasets._cube import drawn
from seqclass.datasets._dataset import Dataset
from seqclass.datasets._hidden import HiddenStates
from seqclass.datasets._world import World


def make_xor_noisy_shortcut(
    n_samples: int = 20000,
    *,
    shortcut_accuracy: float = 0.51,
    cost_ratio: float = 2.0,
    feature_cost: float = 0.01,
    random_state: Any = 0,
) -> Dataset:
    """Draw the exclusive or of two fair coins, with a shortcut that is dear and hardly better than a third coin.

    Neither coin says anything about the class, both together say all. The shortcut agrees with the class a little more
    often than not, so that whoever asks for what tells most by itself pays for it first, or stops with nothing.

    Parameters
    ----------
    n_samples : int
        Rows.
    shortcut_accuracy : float
        P(the shortcut shows the class), 0 to 1.
    cost_ratio : float
        Price of the shortcut over that of a coin.
    feature_cost : float
        Price of a coin, in units of misclassification cost.
    random_state : None, int or numpy generator
        Seed.

    Returns
    -------
    Dataset
        Columns ``x1``, ``x2`` and ``shortcut``, each 0 or 1. With ``truth``, ``world`` and ``optimum``.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    .. [1] "AFABench: a generic framework for benchmarking active feature acquisition", arXiv 2508.14734, and its code,
       github.com/Linusaronsson/AFA-Benchmark (``XORNoisyShortcutDataset``): 20,000 rows, accuracy 0.51, costs 1, 1, 2.

    Examples
    --------
    >>> data = make_xor_noisy_shortcut(1000)
    >>> bool((data.X[:, 0] != data.X[:, 1]).astype(int).tolist() == data.y.tolist())
    True
    >>> print(data.optimum)
    0.02 in any order, 0.02 in column order, 0.5 unasked, 0 all known
    """
    accuracy = check_real(shortcut_accuracy, "shortcut_accuracy", 0, 1)
    prices = check_real(feature_cost, "feature_cost", 0) * np.array([1, 1, check_real(cost_ratio, "cost_ratio", 0)])
    first, second = np.divmod(np.arange(4), 2)
    classes = (first + second) % 2
    shown = np.where(classes == 1, accuracy, 1 - accuracy)
    coins = [Conditional.from_table([0, 1], np.array([coin == 0, coin == 1], dtype=float)) for coin in (first, second)]
    shortcut = Conditional.from_table([0, 1], np.array([1 - shown, shown]))
    # P(x1 | class), P(x2 | x1, class), P(shortcut | class)
    other = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    noisy = np.array([[accuracy, 1 - accuracy], [1 - accuracy, accuracy]])
    world = World(np.array([0.5, 0.5]), (-1, 0, -1), (np.full((2, 2), 0.5), other, noisy))
    return drawn(
        "xor_noisy_shortcut",
        HiddenStates(np.full(4, 0.25), classes, (*coins, shortcut)),
        n_samples,
        random_state,
        feature_names=("x1", "x2", "shortcut"),
        feature_costs=prices,
        informative=np.arange(3),
        world=world,
        optimum=world.optimum(prices),
        description=f"The class is x1 xor x2; the shortcut shows it in {accuracy:.3g} of the cases.",
    )
