"""Sets in which one question says which of the others is worth asking, such as the indicator problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import smallest_int
from seqclass._utils.validation import check_integer, check_real
from seqclass.datasets.conditional import Conditional
from seqclass.datasets.dataset import Dataset
from seqclass.datasets.generated import draw_set
from seqclass.datasets.hidden import HiddenStates
from seqclass.datasets.world import Optimum, World


def make_xor_noisy_shortcut(
    n_samples: int = 20000,
    *,
    shortcut_accuracy: float = 0.51,
    cost_ratio: float = 2.0,
    feature_cost: float = 0.01,
    random_state: Any = 0,
) -> Dataset:
    """Draw the exclusive or of two fair coins, with a shortcut that is expensive and hardly better than a third coin.

    Neither coin alone says anything about the class, but both together determine it. The shortcut agrees with the class
    a little more often than not, so a method that asks for what tells most by itself buys the shortcut first, or
    nothing.

    Parameters
    ----------
    n_samples : int
        Rows.
    shortcut_accuracy, cost_ratio : float
        P(the shortcut shows the class), 0 to 1; price of the shortcut over that of a coin.
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
    return draw_set(
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


def make_indicator(
    n_samples: int = 20000, n_bits: int = 10, *, feature_cost: float = 0.01, random_state: Any = 0
) -> Dataset:
    """Draw the indicator problem: binary features, and an index that says which one of them is the label.

    The index is drawn evenly and the binary features are fair coins, so that the index by itself says nothing about the
    class, and any one bit little. Asking for the index first and then for its bit gives the class in two questions.
    Choosing by information about the class alone takes a bit first, and 3 - 1/d questions on average for d bits ([1]_).

    Parameters
    ----------
    n_samples : int
        Rows.
    n_bits : int
        Number of binary features, 2 to 1000; the index has as many values.
    feature_cost, random_state
        As in `make_cube`.

    Returns
    -------
    Dataset
        The index is the first column; [1]_ counts it last. With ``truth``, ``world``, and ``optimum`` for any number of
        bits: twice the price, as long as that pays.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The index is not a quantity: a discretiser must keep its values apart, as ``Discretizer(n_bits)`` does.

    References
    ----------
    .. [1] A. Norcliffe, C. Lee, F. Imrie, M. van der Schaar, P. Lio, "Stochastic encodings for active feature
       acquisition", ICML 2025, arXiv 2508.01957.

    Examples
    --------
    >>> data = make_indicator(1000)
    >>> bool((data.X[range(1000), 1 + data.X[:, 0]] == data.y).all())
    True
    >>> print(data.optimum)
    0.02 in any order, 0.065 in column order, 0.5 unasked, 0 all known
    """
    # tables grow with the square of this number
    names = ("index", *(f"bit_{j}" for j in range(check_integer(n_bits, "n_bits", 2, 1000))))
    text = "The index says which of the bits is the label."
    return _pointer_set("indicator", names, 1.0, n_samples, feature_cost, text, random_state)


def make_sensors(
    n_samples: int = 20000,
    n_sensors: int = 8,
    *,
    accuracy: float = 0.97,
    feature_cost: float = 0.03,
    random_state: Any = 0,
) -> Dataset:
    """Draw a small diagnosis in which the complaint says which one of the sensors shows the class.

    Complaints and the two classes are drawn with equal probability. The sensor of the complaint shows the class with
    the given accuracy, and the others toss a coin. With eight sensors at a price of 0.03, the complaint and its sensor
    cost 0.06 and leave errors of 0.03, which is 0.09 in all; the order of the columns costs at least 0.195.

    Parameters
    ----------
    n_samples, n_sensors : int
        Number of rows; number of sensors, 2 to 1000, which is also that of the values of the complaint.
    accuracy : float
        P(the right sensor shows the class), 0.5 to 1.
    feature_cost : float
        Price of the complaint and of each sensor, in units of misclassification cost.
    random_state : None, int or numpy generator
        Seed.

    Returns
    -------
    Dataset
        The complaint is the first column. With ``truth``, ``world`` and ``optimum``.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The complaint is not a quantity: a discretiser must keep its values apart, as ``Discretizer(n_sensors)`` does.

    Examples
    --------
    >>> print(make_sensors(10).optimum)
    0.09 in any order, 0.195 in column order, 0.5 unasked, 0.03 all known
    """
    names = ("complaint", *(f"sensor_{j}" for j in range(check_integer(n_sensors, "n_sensors", 2, 1000))))
    check_real(accuracy, "accuracy", 0.5, 1)
    text = f"The complaint says which sensor shows the class, right in {accuracy:.3g} of the cases."
    return _pointer_set("sensors", names, accuracy, n_samples, feature_cost, text, random_state)


def _pointer_set(
    name: str,
    names: tuple[str, ...],
    accuracy: float,
    n_samples: int,
    feature_cost: float,
    description: str,
    random_state: Any,
) -> Dataset:
    n = len(names) - 1
    price = check_real(feature_cost, "feature_cost", 0)
    return draw_set(
        name,
        _truth(n, accuracy),
        n_samples,
        random_state,
        dtype=smallest_int(n),
        feature_names=names,
        feature_costs=np.full(n + 1, price),
        informative=np.arange(n + 1),
        world=_world(n, accuracy),
        optimum=_optimum(n, accuracy, price),
        description=description,
    )


def _truth(n: int, accuracy: float) -> HiddenStates:
    """Hidden states (class, what is pointed at), the class first."""
    classes, pointed = np.divmod(np.arange(2 * n), n)
    shown = np.where(classes == 1, accuracy, 1 - accuracy)
    pointer = Conditional.from_table(np.arange(n), np.eye(n)[:, pointed])
    ones = [np.where(pointed == j, shown, 0.5) for j in range(n)]
    bits = tuple(Conditional.from_table([0, 1], np.array([1 - one, one])) for one in ones)
    return HiddenStates(np.full(2 * n, 0.5 / n), classes, (pointer, *bits))


def _world(n: int, accuracy: float) -> World:
    """The true model as a tree: every bit depends on the class and on what is pointed at."""
    tables = np.full((n, n, 2, 2), 0.5)
    tables[np.arange(n), np.arange(n)] = [[accuracy, 1 - accuracy], [1 - accuracy, accuracy]]
    return World(np.array([0.5, 0.5]), (-1, *[0] * n), (np.full((n, 2), 1 / n), *tables))


def _optimum(n: int, accuracy: float, price: float) -> Optimum:
    """Least expected costs at equal prices, by which it pays to ask two questions, or none."""
    error = 1 - accuracy
    in_order = price + np.minimum(0.5, price * np.arange(1, n + 1) + error).mean()
    return Optimum(float(min(0.5, in_order)), float(min(0.5, 2 * price + error)), full=error, prior=0.5)
