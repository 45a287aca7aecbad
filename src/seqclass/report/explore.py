"""Instances to step through: a classifier of a run is fitted once more, and explains rows that it was scored on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._frames import is_frame
from seqclass._messages import near
from seqclass._validation import check_integer
from seqclass.datasets import Dataset, load
from seqclass.experiment import Experiment, HoldOut, Protocol, Results, SourceSplit, StratifiedFolds
from seqclass.experiment._cell import Cell, _known, _sequential
from seqclass.explanation import Explanation

_PROTOCOLS = {f"{p.__module__}.{p.__qualname__}": p for p in (StratifiedFolds, HoldOut, SourceSplit)}


@dataclass(frozen=True)
class Explored:
    """Explained instances of one classifier.

    Attributes
    ----------
    explanations : sequence of Explanation of length n
        What `SequentialClassifier.explain` gives.
    rows : sequence of length n, optional
        What to call the instances; by default they are numbered from 1.
    truth : sequence of length n, optional
        Their classes, by the labels of the explanations.
    note : str
        Where they come from.

    Examples
    --------
    >>> from seqclass import etana
    >>> from seqclass.datasets import load
    >>> iris = load("iris")
    >>> clf = etana().fit(iris.X, iris.labels)
    >>> explored = Explored(clf.explain(iris.X[:3]), truth=iris.labels[:3].tolist())
    >>> len(explored.explanations)
    3
    """

    explanations: Sequence[Explanation]
    rows: Sequence[Any] | None = None
    truth: Sequence[Any] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        n = len(self.explanations)
        if not n:
            raise ValueError("explanations must hold at least one.")
        for one in self.explanations:
            if not isinstance(one, Explanation):
                raise TypeError(f"explanations must be what SequentialClassifier.explain gives, got {one!r}.")
        for name in ("rows", "truth"):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise ValueError(f"{name} must have {n} entries, one an instance, got {len(value)}.")


def explore(
    results: Results,
    data: Any,
    name: str,
    method: Any = None,
    *,
    price: float | None = None,
    n_instances: int = 20,
    missing_cost: float | None = None,
    cv: Any = None,
) -> Explored:
    """Fit a classifier of a run once more, and explain rows that it was scored on.

    A run keeps no classifiers and no instances, only what they scored. The settings, the data and the rows are those of
    the run's first cell of this data set, method and price, and are checked against it.

    Parameters
    ----------
    results : Results
        The run.
    data : str, path or Dataset
        The data set, or what `seqclass.datasets.load` makes one of.
    name : str
        Name of the method in the run.
    method : str, callable or estimator, optional
        What the run was given under this name; by default the name itself, such as ``"etana"``.
    price : float, optional
        Price of the run; by default its first.
    n_instances : int
        Most instances to explain, taken evenly from the rows scored.
    missing_cost : float, optional
        What the run had, with ``feature_costs="dataset"``.
    cv : int or Protocol, optional
        Protocol of the run, if it is one of your own.

    Returns
    -------
    Explored

    Raises
    ------
    ValueError
        If the run has no such cell, its settings or data are not those that are given, or the method is not sequential.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Experiment(["iris"], ["etana"], cv=3).run(os.path.join(folder, "iris.run"))
    ...     explored = explore(results, "iris", "etana", n_instances=4)
    >>> [explanation.decision for explanation in explored.explanations]
    ['setosa', 'setosa', 'versicolor', 'virginica']
    """
    check_integer(n_instances, "n_instances", 1)
    dataset = data if isinstance(data, Dataset) else load(data)
    key = _key(results, dataset, name, price)
    cell = _cell(results.settings(key), key, dataset, name if method is None else method, missing_cost, cv)
    train, scored = cell.protocol.split(dataset, cell.labels["fold"], cell.labels["seed"])
    rows = np.sort(scored)[
        np.unique(np.linspace(0, len(scored) - 1, min(n_instances, len(scored))).round().astype(int))
    ]
    X = dataset.X
    X_train, X_rows = (X.iloc[train], X.iloc[rows]) if is_frame(X) else (X[train], X[rows])
    fitted = clone(cell.estimator, safe=False).fit(X_train, dataset.y[train])
    clf, X_seen = _sequential(fitted, _known(X_train, X_rows) if is_frame(X) else X_rows)
    if clf is None:
        raise ValueError(f"{name!r} asks for no features one by one, so there is nothing to step through.")
    # behind other steps its columns may not be those of the data set
    names = dataset.feature_names if clf is fitted and not is_frame(X) else None
    labels = (*dataset.class_names, *dataset.decisions)
    note = f"Price {cell.labels['price']:g}, seed {cell.labels['seed']}, fold {cell.labels['fold']}: "
    note += f"{len(rows)} of the {len(scored)} rows scored, evenly taken; rows are numbered from 1."
    return Explored(
        [_labelled(e, labels) for e in clf.explain(X_seen, feature_names=names)],
        rows=[int(row) + 1 for row in rows],
        truth=[labels[c] for c in dataset.y[rows]],
        note=note,
    )


def _key(results: Results, data: Dataset, name: str, price: float | None) -> str:
    """Key of the first cell of a data set, method and price."""
    table = results.table()
    for column, value in (("data", data.name), ("method", name), ("price", price)):
        there = list(dict.fromkeys(table[column]))
        if value is not None and value not in there:
            shown = near(value, there, "it has") if isinstance(value, str) else f"it has {there}."
            raise ValueError(f"the run has no {column} {value!r}: {shown}")
        table = table if value is None else table[table[column] == value]
    if not len(table):
        raise ValueError(f"the run has no cell of {name!r} on {data.name!r} at this price.")
    return str(table.index[0])


def _cell(
    settings: Mapping[str, Any], key: str, data: Dataset, method: Any, missing_cost: float | None, cv: Any
) -> Cell:
    """Cell of a run, made anew from what it was given."""
    prices = dict(settings["costs"]["mapping"])["feature_costs"]
    experiment = Experiment(
        [data],
        {settings["method"]: method},
        prices=[settings["price"]],
        cv=_protocol(settings["cv"]) if cv is None else cv,
        seeds=[settings["seed"]],
        feature_costs="uniform" if isinstance(prices, float) else "dataset",
        missing_cost=missing_cost,
    )
    cells, _ = experiment._cells()
    [cell] = [cell for cell in cells if cell.labels["fold"] == settings["fold"]]
    if cell.key != key:
        names = {"fingerprint": "the data", "estimator": "the method", "costs": "the costs", "cv": "the protocol"}
        wrong = [what for part, what in names.items() if cell.settings[part] != settings[part]]
        raise ValueError(
            f"{' and '.join(wrong)} of {settings['method']!r} on {data.name!r} are not what the run had; "
            "pass what it was given, under the seqclass that it was computed with."
        )
    return cell


def _protocol(cv: Mapping[str, Any]) -> Protocol:
    name = cv.get("class")
    if name not in _PROTOCOLS:
        raise ValueError(f"the run was cut by a protocol of its own, {name}; pass it as cv.")
    return _PROTOCOLS[name](**dict(cv["params"]["mapping"]))


def _labelled(explanation: Explanation, labels: Sequence[str]) -> Explanation:
    """Explanation of a classifier that was fitted on codes, with the labels of classes and further decisions."""
    return replace(
        explanation,
        classes=tuple(labels[c] for c in explanation.classes),
        decision=labels[explanation.decision],
        decision_costs={labels[code]: cost for code, cost in explanation.decision_costs.items()},
    )
