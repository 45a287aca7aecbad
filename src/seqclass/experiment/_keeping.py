"""What a cell keeps of the instances it was scored on: what was decided, on what way, and why."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.archive import read_npy
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks, smallest_int
from seqclass._utils.frames import is_frame, take_rows
from seqclass._utils.tables import to_json_value
from seqclass._utils.text import sentence
from seqclass._utils.validation import check_integer
from seqclass.agent.explanation import Explanation
from seqclass.agent.record import BELIEFS, STEPS, AcquisitionRecord, axes_of, row_fields
from seqclass.costs import Prices, charge_acquired
from seqclass.datasets import Dataset
from seqclass.experiment.explored import Explored, evenly

#: Steps whose output column j needs input column j and no other, where there are as many out as in.
_BY_COLUMN = (
    *(Binarizer, MaxAbsScaler, MinMaxScaler, OrdinalEncoder, PowerTransformer, QuantileTransformer, RobustScaler),
    *(SimpleImputer, StandardScaler),
)


@dataclass(frozen=True)
class Decided:
    """Decisions on ``n`` instances, and what they took."""

    decision: npt.NDArray[Any]
    proba: FloatArray | None
    n_features: IntArray
    paid: FloatArray


def purchases(estimator: Any, X: Any, prices: Prices, known: Sequence[int] = ()) -> tuple[IntArray, FloatArray]:
    """Features that a classifier without a stopping rule needs of each instance, and what they cost."""
    missing, wanted = _missing_cells(X), np.ones(X.shape[1], dtype=bool)
    wanted[list(known)] = False
    asked = sp.csr_array(_column_needs(estimator, X.shape[1], lambda: X).multiply(wanted))
    alike = asked.shape[0] == 1
    if missing is None:
        n_features, cost = _charge(asked, prices)
        times = X.shape[0] if alike else 1
        return np.repeat(n_features, times), np.repeat(cost, times)
    parts = [
        _charge((asked if alike else asked[rows]).multiply(~missing[rows]), prices)
        for rows in chunks(X.shape[0], 24.0 * X.shape[1])
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _charge(asked: Any, prices: Prices) -> tuple[IntArray, FloatArray]:
    asked = sp.csr_array(asked)
    asked.eliminate_zeros()  # what is known or missing is not bought
    return charge_acquired(asked, prices)


def _column_needs(estimator: Any, n_features: int, rows: Callable[[], Any]) -> Any:
    """Sparse matrix of what a classifier asks for: a row an instance where a single tree decides, else one for all."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
        widths = [int(getattr(step, "n_features_in_", -1)) for step in [*steps, estimator[-1]]]
        if widths[0] != n_features or -1 in widths:
            return sp.csr_array(np.ones((1, n_features)))
        before = (lambda: estimator[:-1].transform(rows())) if steps else rows
        asked = _column_needs(estimator[-1], widths[-1], before)
        for step, width in zip(reversed(steps), reversed(widths[:-1])):
            asked = _before_step(step, width, asked)
        return asked
    if hasattr(estimator, "tree_"):  # which asks for what lies on the way to the leaf
        return _paths(estimator, rows())
    return sp.csr_array(columns_to_decide(estimator, n_features)[None].astype(np.float64))


def _before_step(step: Any, width: int, asked: Any) -> Any:
    """What a step of a pipeline needs, by what is asked for of what it gives."""
    if hasattr(step, "get_support"):
        columns = step.get_support(indices=True)[asked.indices]
        return sp.csr_array((asked.data, columns, asked.indptr), shape=(asked.shape[0], width))
    if isinstance(step, _BY_COLUMN) and asked.shape[1] == width:
        return asked
    anything = np.diff(asked.indptr)[:, None] > 0
    return sp.csr_array(np.repeat(anything, width, axis=1).astype(np.float64))


def _missing_cells(X: Any) -> BoolArray | None:
    """Which cells are missing; None if none is."""
    if sp.issparse(X):
        return None
    missing = X.isna().to_numpy() if is_frame(X) else np.isnan(X) if X.dtype.kind == "f" else None
    return missing if missing is not None and missing.any() else None


def _paths(tree: Any, X: Any) -> Any:
    """Sparse matrix with a one for every feature that a tree asks for of an instance."""
    feature = tree.tree_.feature
    inner = np.flatnonzero(feature >= 0)
    asks = sp.csr_array((np.ones(inner.size), (inner, feature[inner])), shape=(feature.size, X.shape[1]))
    asked = sp.csr_array(tree.decision_path(X)).astype(np.float64) @ asks
    asked.data[:] = 1.0
    return asked


def columns_to_decide(estimator: Any, n_features: int) -> BoolArray:
    """Columns that a fitted classifier needs to decide."""
    everything = np.ones(n_features, dtype=bool)
    if hasattr(estimator, "coef_") and not sp.issparse(estimator.coef_):
        weights = np.atleast_2d(estimator.coef_)
        return (weights != 0).any(axis=0) if weights.shape[1] == n_features else everything
    trees = [estimator] if hasattr(estimator, "tree_") else list(np.ravel(getattr(estimator, "estimators_", [])))
    shared = not hasattr(estimator, "estimators_features_")  # each is given all columns
    if not trees or not shared or not all(hasattr(tree, "tree_") for tree in trees):
        return everything
    asked = np.concatenate([tree.tree_.feature for tree in trees])
    return np.isin(np.arange(n_features), asked)


@dataclass(frozen=True, eq=False)
class Reached:
    """A sequential classifier, and the rows as they reach it."""

    classifier: BaseSequentialClassifier
    X: Any
    names: list[str]
    of_data: bool
    known: tuple[int, ...] = ()
    budget: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether nothing is known at the start and the policy says when to stop."""
        return self.budget is None and not self.known

    def acquire(self, X: Any, *, record_beliefs: bool = False) -> AcquisitionRecord:
        """Acquire and decide, of rows as they reach it."""
        if self.is_plain:
            return self.classifier.acquire(X, record_beliefs=record_beliefs)
        return self.classifier.acquire(X, record_beliefs=record_beliefs, known=self.known, budget=self.budget)

    def with_known(self, known: Sequence[str], data: Sequence[str], budget: int | None) -> Reached:
        """A copy that knows some columns of the data set at the start, by their names, and has a hard budget."""
        other = [] if not known else [name for name in self.names if name not in set(data)]
        if other:
            raise ValueError(
                f"known: a step before the classifier makes columns such as {other[0]!r}, of which nobody can tell "
                "whether they are known; use a selector or a scaler, or none."
            )
        # what a selector before the classifier left out changes nothing
        return replace(self, known=tuple(j for j, name in enumerate(self.names) if name in known), budget=budget)


def find_sequential(fitted: Any, X: Any, data: Dataset) -> Reached | None:
    """Find the sequential classifier inside a fitted method: behind searches and pipelines, one within the other."""
    names, before = [str(name) for name in X.columns] if is_frame(X) else data.names(), list[Pipeline]()
    while isinstance(fitted := getattr(fitted, "best_estimator_", fitted), Pipeline):
        before += [fitted[:-1]] if len(fitted) > 1 else []
        fitted = fitted[-1]
    if not isinstance(fitted, BaseSequentialClassifier):
        return None
    for steps in before:
        X, names = steps.transform(X), _names_after(steps, names)
    if before and (hasattr(fitted, "feature_names_in_") or len(names) != fitted.n_features_in_):
        names = [fitted.feature_name(j) for j in range(fitted.n_features_in_)]
    return Reached(fitted, X, names, not before)


def _names_after(steps: Pipeline, names: list[str]) -> list[str]:
    """Names of the columns that come out of some steps; none where they do not say them."""
    try:
        return [str(name) for name in steps.get_feature_names_out(names)]
    except (AttributeError, TypeError, ValueError):  # not every transformer has any
        return []


def mask_unknown_categories(train: Any, test: Any) -> Any:
    """Test rows in which a category that no training row has is missing."""
    test = test.copy()
    for name in train.columns:
        if train[name].dtype.kind not in "biuf":
            test[name] = test[name].where(test[name].isin(train[name].dropna().unique()))
    return test


Arrays = dict[str, npt.NDArray[Any]]
#: Of an archive, the entry that holds plain data beside the arrays.
_ABOUT = "about"


class DamagedPart(ValueError):
    """What a run kept of a cell, and cannot be read."""


def pack(arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> bytes:
    """Bytes of a compressed npz; the same content gives the same bytes."""
    text = np.frombuffer(json.dumps(about, allow_nan=False).encode(), dtype=np.uint8)
    if objects := [name for name, array in arrays.items() if array.dtype.hasobject]:  # which numpy would pickle
        raise ValueError(f"Object arrays, such as {objects[0]}, are not kept.")
    buffer = io.BytesIO()
    content: dict[str, Any] = {**arrays, _ABOUT: text}
    np.savez_compressed(buffer, **content)
    return buffer.getvalue()


def unpack(content: bytes) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and plain data that `pack` packed."""
    with as_damaged_part(), zipfile.ZipFile(io.BytesIO(content)) as archive:
        arrays = {info.filename.removesuffix(".npy"): read_npy(archive, info) for info in archive.infolist()}
        about: dict[str, Any] = json.loads(arrays.pop(_ABOUT).tobytes())
        return arrays, about


@contextmanager
def as_damaged_part() -> Iterator[None]:
    """Say of whatever goes wrong that what was kept is damaged."""
    try:
        yield
    except DamagedPart:
        raise
    except Exception as error:  # the ways in which zipfile, zlib, JSON and arrays that do not fit fail have no end
        what = f"{type(error).__name__}: {error}"
        raise DamagedPart(f"what the run kept of its instances is damaged: {what}.") from error


def pack_json(content: Any) -> bytes:
    """Bytes of compressed JSON."""
    return zlib.compress(json.dumps(content, allow_nan=False, separators=(",", ":")).encode())


def unpack_json(content: bytes) -> Any:
    """Plain data that `pack_json` packed."""
    with as_damaged_part():
        return json.loads(zlib.decompress(content))


#: Names of the parts of a run's file.
INSTANCES, EXPLANATIONS = "instances", "explanations"
#: Before the names of what is kept of a record; what is kept of every method, or numbers a record alone, is apart.
RECORD, _APART = "record.", frozenset({"decision", "posterior", "n_features", "paid", "history", "index"})
#: Of instances, what their decisions cost.
COSTS = "decision_costs"


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
    """What a fitted method decided on the rows it was scored on."""

    rows: IntArray
    decided: Decided
    reached: Reached | None = None
    record: AcquisitionRecord | None = None


def keep_parts(keep: Keep, data: Dataset, scored: Scored) -> tuple[dict[str, bytes], list[str]]:
    """Make the parts that a cell keeps."""
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
    decision, labels = _code_decisions(decided.decision[chosen], [*data.class_names, *data.decisions])
    arrays: dict[str, npt.NDArray[Any]] = {
        "row": _small(rows),
        "truth": _small(data.y[rows]),
        "decision": decision,
        "n_features": _small(decided.n_features[chosen]),
        "paid": decided.paid[chosen],
    }
    about: dict[str, Any] = {"classes": list(data.class_names), "decisions": labels}
    if data.decision_costs is not None and data.decision_costs.size <= 10_000:  # larger ones are not kept
        about[COSTS] = data.decision_costs.tolist()
    if decided.proba is not None:
        arrays["proba"] = decided.proba[chosen].astype(np.float32)
    if scored.reached is not None and scored.record is not None:
        arrays |= _ways(scored.reached, scored.record, chosen)
        names = scored.reached.names
        about["columns"] = {str(j): names[j] for j in np.unique(arrays[f"{RECORD}order"]).tolist()}
        about["of_data"] = scored.reached.of_data
    return pack(arrays, about)


def _ways(reached: Reached, record: AcquisitionRecord, chosen: IntArray) -> dict[str, npt.NDArray[Any]]:
    """All that a record holds; steps and beliefs of each history once, one after the other."""
    there = {held: value[chosen] for held in row_fields(record) if (value := getattr(record, held.name)) is not None}
    by_step = {held.name: value for held, value in there.items() if axes_of(held) == (STEPS,)}
    by_row = {held.name: value for held, value in there.items() if not {STEPS, BELIEFS}.intersection(axes_of(held))}
    every = np.concatenate(list(by_step.values()), axis=1)
    if reached.known:  # which tells apart what the answers alone do not
        every = np.column_stack([every, np.asarray(record.history)[chosen]])
    every = every.astype(smallest_int(int(every.max(initial=0)))) if every.dtype.kind == "i" else every
    _, first, history = np.unique(every, axis=0, return_index=True, return_inverse=True)
    asked = by_step["order"][first] >= 0
    held = {name: values[first][asked] for name, values in by_step.items()}
    held |= {name: values for name, values in by_row.items() if name not in _APART}
    return {
        "history": _small(history.reshape(-1)),
        "n_asked": _small(asked.sum(axis=1)),
        "beliefs": _beliefs(reached, chosen[first], asked),
        "known": np.asarray(reached.classifier.classes_),
    } | {f"{RECORD}{name}": _small(values) if values.dtype.kind == "i" else values for name, values in held.items()}


def _beliefs(reached: Reached, rows: IntArray, asked: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Beliefs before anything and after each answer of some rows, one row's after the other's, (n_all, n_known)."""
    n_known = len(reached.classifier.classes_)
    parts = [np.empty((0, n_known), dtype=np.float32)]
    # there is a belief at the start and one after each step
    there = np.concatenate([np.ones((len(asked), 1), dtype=bool), asked], axis=1)
    for part in chunks(len(rows), 16.0 * there.shape[1] * n_known):
        beliefs: Any = reached.acquire(take_rows(reached.X, rows[part]), record_beliefs=True).beliefs
        parts.append(beliefs[there[part, : beliefs.shape[1]]].astype(np.float32))
    return np.concatenate(parts)


def _explanations(data: Dataset, scored: Scored, chosen: IntArray) -> bytes:
    assert scored.reached is not None
    X, names = take_rows(scored.reached.X, chosen), scored.reached.names
    explanations = scored.reached.classifier.explain(X, feature_names=names)
    labels = dict(enumerate((*data.class_names, *data.decisions)))
    rows = scored.rows[chosen]
    explored = Explored(
        [_with_labels(explanation, labels) for explanation in explanations],
        rows=rows.tolist(),
        truth=[labels[c] for c in data.y[rows].tolist()],
    )
    content = explored.to_dict()
    for explanation in content["explanations"]:
        for step in explanation["steps"]:
            del step["before"], step["missing"]  # told by the step before, and by the outcome
    return pack_json(to_json_value(content))


def read_explanations(content: Mapping[str, Any]) -> Explored:
    """Read what `keep_parts` packed as explanations; rows are numbered from 0, as in the data set."""
    with as_damaged_part():
        for explanation in content["explanations"]:
            before = explanation["prior"]
            for step in explanation["steps"]:
                step["before"], before = before, step["after"]
        return Explored.from_dict(content)


def _with_labels(explanation: Explanation, labels: Mapping[Any, str]) -> Explanation:
    """Explanation of a classifier that was fitted on codes, with the labels of classes and further decisions."""
    return replace(
        explanation,
        classes=tuple(labels[c] for c in explanation.classes),
        decision=labels.get(explanation.decision, str(explanation.decision)),
        decision_costs={labels.get(code, str(code)): cost for code, cost in explanation.decision_costs.items()},
    )


def _code_decisions(decision: npt.NDArray[Any], labels: list[str]) -> tuple[IntArray, list[str]]:
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


def spread(proba: FloatArray, known: npt.NDArray[Any], n_classes: int) -> FloatArray:
    """Probabilities of all classes: 0 for those that the training rows lack."""
    if len(known) == n_classes:
        return proba
    wide = np.zeros((*proba.shape[:-1], n_classes), dtype=proba.dtype)
    wide[..., known] = proba
    return wide
