"""Prices that depend on what was answered before, as users give them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray
from seqclass._utils.model_files import register
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_real, columns_of


@register
@dataclass(frozen=True)
class PriceAfter:
    """What a question costs once others were answered.

    Attributes
    ----------
    question : int
        Number of its column.
    after : mapping
        Of each column that has to be answered, by number, the answers that count, or None for any.
    price : float
        The price then.
    coded : bool
        Whether answers are numbers of outcomes.
    """

    question: int
    after: Mapping[int, tuple[Any, ...] | None]
    price: float
    coded: bool = False

    def holds(self, answers: Any) -> BoolArray:
        """Whether this is the price, by outcomes of each column, (n,), -1 where there is none."""
        holds = np.array(True)
        for gate, accepted in self.after.items():
            holds = holds & (answers[gate] >= 0 if accepted is None else np.isin(answers[gate], accepted))
        return holds


def take_prices_after(after: Iterable[PriceAfter], place: Mapping[int, int]) -> tuple[PriceAfter, ...]:
    """The same by other numbers, of columns that have one."""
    return tuple(
        replace(one, question=place[one.question], after={place[gate]: answers for gate, answers in one.after.items()})
        for one in after
        if place.keys() >= {one.question, *one.after}
    )


def read_prices_after(
    given: Any, prices: Any, members: Mapping[Any, Sequence[Any]], names: Sequence[Hashable] | None
) -> tuple[PriceAfter, ...]:
    """Prices that depend on answers, one for each column, beside other `seqclass.costs.Prices`."""
    if given is None:
        return ()
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"prices_after must be a dict of prices by what they depend on, got {short_repr(given)}.")
    n, result = len(prices.full), list[PriceAfter]()
    for one in given.items() if isinstance(given, Mapping) else given:
        key, price = one if isinstance(one, (tuple, list)) and len(one) == 2 else (one, None)
        if not isinstance(key, (tuple, list)) or len(key) < 2:
            raise ValueError(
                'prices_after: a key must be a question and what was answered before it, such as ("blood", "sample") '
                f'or ("blood", ("history", "yes")), got {short_repr(key)}.'
            )
        question, what = key[0], f"prices_after[{short_repr(key)}]"
        pairs = [one if isinstance(one, (tuple, list)) and len(one) == 2 else (one, None) for one in key[1:]]
        gates = columns_of([gate for gate, _ in pairs], n, names, what).tolist()
        answers = [a if a is None else tuple(a) if isinstance(a, (tuple, list, set)) else (a,) for _, a in pairs]
        own = columns_of(members.get(question, [question]), n, names, what)
        if prices.bundles is not None and question not in members and (prices.bundles[own] >= 0).any():
            raise ValueError(f"{what}: {short_repr(question)} is of a bundle, which has one price; name the bundle.")
        if prices.groups is not None and (prices.groups[own] >= 0).any():
            raise ValueError(f"{what}: {short_repr(question)} is in one of groups, which say its price; take one out.")
        number = check_real(price, what, 0, np.finfo(float).max)
        result += [PriceAfter(int(column), dict(zip(gates, answers)), number) for column in own]
    if result and prices.visits is not None:
        raise ValueError("prices_after and costs of visits exclude each other: what is ordered at once has no order.")
    before: dict[int, set[int]] = {}
    for price in result:
        before.setdefault(price.question, set()).update(price.after)
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        circle = ", ".join(short_repr(j if names is None else names[j]) for j in error.args[1][::-1])
        message = f"prices depend on each other in a circle, {circle}: take one out, or make them groups"
        raise ValueError(f"prices_after: {message}.") from None
    return tuple(result)
