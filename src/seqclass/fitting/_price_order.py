"""Orders that are found, where prices depend on what was answered before: what makes others cheaper may come first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.prices_after import PriceAfter
from seqclass._utils.text import join_names
from seqclass._utils.warned import warn_caller
from seqclass.pomdp.ties import TIE


@dataclass(frozen=True)
class PriceOrderTuning:
    """How much is tried for an order in which prices depend on answers."""

    max_orders: int = 40  #: that are tried, each of which takes a tenth of a second or two
    max_rows: int = 300  #: on which they are held against each other
    n_paths: int = 100  #: drawn cases that stopping along each is fitted to


TUNING = PriceOrderTuning()
#: A question by the features that it shows.
Shown = tuple[int, ...]


def order_by_prices(
    order: IntArray,
    after: Sequence[PriceAfter],
    bundles: IntArray | None,
    cost: Callable[[IntArray], float] | None,
    called: Callable[[int], str],
) -> IntArray:
    """The order, or one of less cost in which questions come before or after those that their prices depend on.

    Without a cost, or where not all that are of use could be tried, a warning tells of prices that never apply.
    """
    best, of = _questions(order, bundles)
    pairs = dict.fromkeys(
        (of[one.question], tuple(dict.fromkeys(of[gate] for gate in one.after)))
        for one in after
        if of.keys() >= {one.question, *one.after}
    )
    if not pairs:
        return order
    tried, improved = {tuple(best): 0.0 if cost is None else cost(order)}, True
    while improved and cost is not None:
        improved = False
        for pair in pairs:
            for other in _other_orders(best, *pair):
                if tuple(other) in tried or len(tried) >= TUNING.max_orders:
                    continue
                tried[tuple(other)] = cost(_features(other))
                if tried[tuple(other)] < tried[tuple(best)] * (1 - TIE):
                    best, improved = other, True
    if cost is None or len(tried) >= TUNING.max_orders:
        _warn_of_void(best, list(pairs), called)
    return _features(best)


def _questions(order: IntArray, bundles: IntArray | None) -> tuple[list[Shown], dict[int, Shown]]:
    """Questions in the order in which the first feature of each comes, and the question of each feature."""
    label = {int(j): -1 - int(j) if bundles is None or bundles[j] < 0 else int(bundles[j]) for j in order}
    members = {one: tuple(j for j in label if label[j] == one) for one in label.values()}
    return list(members.values()), {j: members[one] for j, one in label.items()}


def _features(questions: Sequence[Shown]) -> IntArray:
    return np.array([j for shown in questions for j in shown], dtype=np.intp)


def _other_orders(order: list[Shown], question: Shown, gates: Sequence[Shown]) -> Iterator[list[Shown]]:
    """Orders in which a question comes right after what its price depends on, or before it; it moves, or these do."""
    rest = [one for one in order if one != question]
    ends = sorted(rest.index(gate) for gate in gates)
    for at in (ends[-1] + 1, ends[0]):
        yield [*rest[:at], question, *rest[at:]]
    together = [*(one for one in order if one in gates), question]
    others, place = [one for one in order if one not in together], order.index(question)
    before = sum(one not in together for one in order[:place])
    for at in dict.fromkeys((before, max(before - 1, 0), 0)):
        yield [*others[:at], *together, *others[at:]]


def _warn_of_void(
    order: list[Shown], pairs: Sequence[tuple[Shown, Sequence[Shown]]], called: Callable[[int], str]
) -> None:
    """Tell of prices that never apply in an order, as what they depend on comes later."""
    void = [question for question, gates in pairs if max(map(order.index, gates)) > order.index(question)]
    if void:
        names = join_names(dict.fromkeys(called(question[0]) for question in void))
        warn_caller(
            f"prices_after: prices of {names} never apply, as what they depend on comes later in the order that was "
            f"found, and not all others could be tried; give an order, or take order='adaptive'."
        )
