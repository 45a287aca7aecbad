"""What a cell keeps of the instances it was scored on: what was decided, on what way, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._arrays import FloatArray, IntArray, chunks, smallest_int
from seqclass._frames import is_frame
from seqclass._messages import sentence
from seqclass._record import AcquisitionRecord
from seqclass._validation import check_integer
from seqclass.datasets import Dataset
from seqclass.experiment._evenly import evenly
from seqclass.experiment._packing import pack, pack_json, unpacking
from seqclass.experiment._purchases import Decided
from seqclass.experiment._reaching import Reached
from seqclass.experiment.explored import Explored
from seqclass.explanation import Explanation

#: Names of the parts of a run's file.
INSTANCES, EXPLANATIONS = "instances", "explanations"
#: Of instances, what their decisions cost; larger tables are not kept.
COSTS, _MOST_COSTS = "decision_costs", 10_000


@dataclass(frozen=True)
class Keep:
    """How much a cell keeps.

    Attributes
    ----------
    instances : int
        Most instances to keep, taken evenly from those scored; 0 keeps none.
    explanations : int
        Most instances to explain, likewise.
    """

    instances: int = 10_000
    explanations: int = 20

    def __post_init__(self) -> None:
        check_integer(self.instances, "keep_instances", 0)
        check_integer(self.explanations, "keep_explanations", 0)


@dataclass(frozen=True, eq=False)
class Scored:
    """What a fitted method decided on the rows it was scored on.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Rows of the data set.
    decided : Decided
        The decisions; probabilities of all classes.
    reached : Reached or None
        The sequential classifier and what reached it; None for another method.
    record : AcquisitionRecord or None
        What a sequential classifier acquired.
    """

    rows: IntArray
    decided: Decided
    reached: Reached | None = None
    record: AcquisitionRecord | None = None


def keep_parts(keep: Keep, data: Dataset, scored: Scored) -> tuple[dict[str, bytes], list[str]]:
    """Make the parts that a cell keeps.

    Parameters
    ----------
    keep : Keep
        How much.
    data : Dataset
        The data set.
    scored : Scored
        The cell's decisions.

    Returns
    -------
    parts : dict of str to bytes
    troubles : list of str
        A sentence for each part that could not be made.
    """
    makers: dict[str, tuple[int, Callable[[Dataset, Scored, IntArray], bytes]]] = {
        INSTANCES: (keep.instances, _instances),
        # explanations are of the policy by itself
        EXPLANATIONS: (keep.explanations if scored.reached and scored.reached.is_plain else 0, _explanations),
    }
    parts, troubles = {}, []
    by_row = np.argsort(scored.rows, kind="stable")
    for name, (most, make) in makers.items():
        if most:
            try:
                parts[name] = make(data, scored, by_row[evenly(len(by_row), most)])
            except Exception as error:  # whatever a user's own part raises: the figures are there already
                troubles.append(f"no {name} are kept, {type(error).__name__}: {sentence(error)}")
    return parts, troubles


def _instances(data: Dataset, scored: Scored, chosen: IntArray) -> bytes:
    decided, rows = scored.decided, scored.rows[chosen]
    decision, labels = _coded(decided.decision[chosen], [*data.class_names, *data.decisions])
    arrays: dict[str, npt.NDArray[Any]] = {
        "row": _small(rows),
        "truth": _small(data.y[rows]),
        "decision": decision,
        "n_features": _small(decided.n_features[chosen]),
        "cost": decided.cost[chosen],
    }
    about: dict[str, Any] = {"classes": list(data.class_names), "decisions": labels}
    if data.decision_costs is not None and data.decision_costs.size <= _MOST_COSTS:
        about[COSTS] = data.decision_costs.tolist()
    if decided.proba is not None:
        arrays["proba"] = decided.proba[chosen].astype(np.float32)
    if scored.reached is not None and scored.record is not None:
        arrays |= _ways(scored.reached, scored.record, chosen)
        names = scored.reached.names
        about["columns"] = {str(j): names[j] for j in np.unique(arrays["asked"]).tolist()}
        about["of_data"] = scored.reached.of_data
    return pack(arrays, about)


def _ways(reached: Reached, record: AcquisitionRecord, chosen: IntArray) -> dict[str, npt.NDArray[Any]]:
    """What was asked and shown, and the beliefs: of each history once, its steps one after the other."""
    order, outcome = record.order[chosen], record.outcome[chosen]
    both = np.concatenate([order, outcome], axis=1)
    if reached.known:  # which tells apart what the answers alone do not
        both = np.column_stack([both, np.asarray(record.history)[chosen]])
    both = both.astype(smallest_int(int(both.max(initial=0))))
    _, first, history = np.unique(both, axis=0, return_index=True, return_inverse=True)
    order, outcome = order[first], outcome[first]
    asked = order >= 0
    return {
        "history": _small(history.reshape(-1)),
        "n_asked": _small(asked.sum(axis=1)),
        "asked": _small(order[asked]),
        "outcome": _small(outcome[asked]),
        "beliefs": _beliefs(reached, chosen[first], asked),
        "known": np.asarray(reached.classifier.classes_),
    }


def _beliefs(reached: Reached, rows: IntArray, asked: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Beliefs before anything and after each answer of some rows, one row's after the other's, (n_all, n_known)."""
    n_known = len(reached.classifier.classes_)
    parts = [np.empty((0, n_known), dtype=np.float32)]
    # there is a belief at the start and one after each step
    there = np.concatenate([np.ones((len(asked), 1), dtype=bool), asked], axis=1)
    for part in chunks(len(rows), 16.0 * there.shape[1] * n_known):
        beliefs: Any = reached.acquire(take(reached.X, rows[part]), record_beliefs=True).beliefs
        parts.append(beliefs[there[part, : beliefs.shape[1]]].astype(np.float32))
    return np.concatenate(parts)


def _explanations(data: Dataset, scored: Scored, chosen: IntArray) -> bytes:
    assert scored.reached is not None
    found = scored.reached.classifier.explain(take(scored.reached.X, chosen), feature_names=scored.reached.names)
    labels = dict(enumerate((*data.class_names, *data.decisions)))
    rows = scored.rows[chosen]
    explored = Explored(
        [_labelled(explanation, labels) for explanation in found],
        rows=rows.tolist(),
        truth=[labels[c] for c in data.y[rows].tolist()],
    )
    content = explored.to_dict()
    for one in content["explanations"]:
        for step in one["steps"]:
            del step["before"], step["missing"]  # told by the step before, and by the outcome
    return pack_json(_finite(content))


def read_explanations(content: Mapping[str, Any]) -> Explored:
    """Read what `keep_parts` packed as explanations; rows are numbered from 0, as in the data set."""
    with unpacking():
        for one in content["explanations"]:
            before = one["prior"]
            for step in one["steps"]:
                step["before"], before = before, step["after"]
        return Explored.from_dict(content)


def _labelled(explanation: Explanation, labels: Mapping[Any, str]) -> Explanation:
    """Explanation of a classifier that was fitted on codes, with the labels of classes and further decisions."""
    return replace(
        explanation,
        classes=tuple(labels[c] for c in explanation.classes),
        decision=labels.get(explanation.decision, str(explanation.decision)),
        decision_costs={labels.get(code, str(code)): cost for code, cost in explanation.decision_costs.items()},
    )


def _finite(value: Any) -> Any:
    """Plain data in which what is not a number is None."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _coded(decision: npt.NDArray[Any], labels: list[str]) -> tuple[IntArray, list[str]]:
    """Codes of decisions and the labels of these: a method may have decisions that the data set does not know."""
    if decision.dtype.kind in "iu" and (not decision.size or 0 <= decision.min() <= decision.max() < len(labels)):
        return _small(decision), labels
    values = decision.tolist()
    known: dict[Any, int] = {code: code for code in range(len(labels))}
    for value in dict.fromkeys(values):
        known.setdefault(value, len(known))
    return _small(np.array([known[value] for value in values])), [*labels, *map(str, list(known)[len(labels) :])]


def _small(values: IntArray) -> IntArray:
    return np.asarray(values).astype(smallest_int(int(values.max(initial=0))))


def take(X: Any, rows: IntArray) -> Any:
    """Some rows of a matrix or a data frame.

    Examples
    --------
    >>> take(np.eye(3), np.array([2])).tolist()
    [[0.0, 0.0, 1.0]]
    """
    if is_frame(X):
        return X.iloc[rows]
    return X.tocsr()[rows] if sp.issparse(X) and X.format not in ("csr", "csc") else X[rows]


def spread(proba: FloatArray, known: npt.NDArray[Any], n_classes: int) -> FloatArray:
    """Probabilities of all classes: 0 for those that the training rows lack.

    Examples
    --------
    >>> spread(np.array([[0.2, 0.8]]), np.array([0, 2]), 3).tolist()
    [[0.2, 0.0, 0.8]]
    """
    if len(known) == n_classes:
        return proba
    wide = np.zeros((*proba.shape[:-1], n_classes), dtype=proba.dtype)
    wide[..., known] = proba
    return wide
