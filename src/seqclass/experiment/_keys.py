"""What a cell is known by: a hash of its settings and of its data, and of the code that computed it."""

from __future__ import annotations

import copyreg
import dataclasses
import enum
import functools
import hashlib
import json
import math
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass import __version__
from seqclass._utils.frames import is_frame
from seqclass.datasets import Dataset

#: What of a data set bears on results.
_FIELDS = (
    *("feature_costs", "discounted_costs", "groups", "decision_costs", "decisions"),
    *("delays", "visit_cost", "delay_cost", "max_panel"),
    *("train_index", "valid_index", "test_index", "class_names"),
)


@functools.cache
def code_version() -> str:
    """Version of the package, with a digest of its sources, by which code between two versions is told apart."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def key_of(settings: Mapping[str, Any]) -> str:
    """Hash of settings that `canonical` gave."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:32]


def fingerprint(data: Dataset) -> str:
    """Hash of features, labels, prices and splits of a data set."""
    digest = hashlib.sha256()
    for name, value in [("X", data.X), ("y", data.y), *((name, getattr(data, name)) for name in _FIELDS)]:
        digest.update(json.dumps([name, canonical(value)], sort_keys=True).encode())
    return digest.hexdigest()[:32]


def canonical(value: Any, depth: int = 0) -> Any:
    """Plain form of a setting, in which equal settings are equal and different ones differ."""
    if depth > 40:
        raise TypeError("a setting is nested more than 40 deep, or holds itself.")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, (bool, int, str)) and not isinstance(value, enum.Enum)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (list, tuple)):
        items = [canonical(item, depth + 1) for item in value]
        # longer lists, such as a group for each of many features, are kept as their hash
        return items if len(items) <= 100 else {"list": [len(items), key_of({"items": items})]}
    if isinstance(value, Mapping):
        return {"mapping": _sort_items([[canonical(k), canonical(v, depth + 1)] for k, v in value.items()])}
    if isinstance(value, (set, frozenset)):
        return {"set": _sort_items([canonical(item, depth + 1) for item in value])}
    if isinstance(value, np.ndarray):
        return _array(value, depth)
    return _object(value, depth)


def _object(value: Any, depth: int) -> Any:
    if isinstance(value, enum.Enum):
        return {"enum": f"{_name(type(value))}.{value.name}"}
    if isinstance(value, type):
        return {"type": _name(value)}
    if sp.issparse(value):
        csr = value.tocsr(copy=True)
        csr.sum_duplicates()
        parts = [_array(part, depth) for part in (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64))]
        return {"sparse": [list(csr.shape), *parts]}
    if is_frame(value):
        return {"frame": [[str(name), str(value[name].dtype), _column(value[name])] for name in value.columns]}
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        bits = value.bit_generator.state if isinstance(value, np.random.Generator) else value.get_state(legacy=False)
        return {"generator": canonical(bits, depth + 1)}
    if hasattr(value, "__code__"):
        return {"function": _function(value, depth)}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"class": _name(type(value)), "params": canonical(value.get_params(deep=False), depth + 1)}
    if dataclasses.is_dataclass(value):
        state = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"class": _name(type(value)), "params": canonical(state, depth + 1)}
    return _reduce(value, depth)


def _reduce(value: Any, depth: int) -> Any:
    """What an object would be pickled as, less what is cached on it under a name with two underscores."""
    try:
        reduce = copyreg.dispatch_table.get(type(value))
        reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
    except TypeError as error:
        raise TypeError(f"a setting holds {value!r}, whose own settings cannot be read: {error}.") from error
    if isinstance(reduced, str):
        return {"object": f"{type(value).__module__}.{reduced}"}
    make, arguments, *rest = reduced
    state = rest[0] if rest else None
    if isinstance(state, dict):
        state = {name: part for name, part in state.items() if not name.startswith("__")}
    items = [None if part is None else list(part) for part in rest[1:3]]
    return {"object": canonical([make, arguments, state, items], depth + 1)}


def _array(value: npt.NDArray[Any], depth: int) -> Any:
    if value.dtype.kind == "O":
        return {"array": [list(value.shape), canonical(value.ravel().tolist(), depth + 1)]}
    plain = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False).reshape(-1)
    digest = hashlib.sha256(plain.view(np.uint8).data if plain.size else b"").hexdigest()
    return {"array": [list(value.shape), plain.dtype.str, digest]}


def _column(column: Any) -> str:
    """Hash of a column of a data frame: its numbers, or its texts."""
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return str(_array(values, 0)["array"][-1])
    missing = column.isna().tolist()
    texts = ["" if gone else repr(value) for value, gone in zip(column.tolist(), missing)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _function(value: Any, depth: int) -> list[Any]:
    """Name of a function; of one without a name that others can import, also what it does."""
    name = _name(value)
    if "<" not in name and value.__module__ != "__main__":
        return [name]
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    what = [_code(value.__code__), cells, value.__defaults__, value.__kwdefaults__]
    return [name, key_of({"code": canonical(what, depth + 1)})]


def _code(code: types.CodeType) -> list[Any]:
    """What code does, with that of the functions and comprehensions in it."""
    inside = [_code(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), inside]


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__ if hasattr(value, '__qualname__') else value.__name__}"


def _sort_items(items: list[Any]) -> list[Any]:
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
