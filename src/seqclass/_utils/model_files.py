"""Models in one file: a zip of JSON and arrays, which never runs code when it is read.

A model file is an uncompressed zip archive of ``manifest.json`` (the tree of the model), one ``.npy`` entry per array,
and a digest of them all. It holds plain data and instances of classes passed to :func:`register`, nothing else.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import importlib
import inspect
import json
import math
import os
import re
import sys
import zipfile
from collections.abc import Callable, Collection
from difflib import get_close_matches
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass import __version__
from seqclass._utils.archive import Archive, check_size, write_archive
from seqclass._utils.files import check_regular, replace_file
from seqclass._utils.text import brief

_CHECKS: dict[type, Callable[[Any], None]] = {}
_LAST: dict[type, Callable[[Any], None]] = {}


def check_when_read(kind: type, check: Callable[[Any], None], last: bool = False) -> None:
    """Have instances of a class checked when they come from a file, as a ``_check_stored`` of the class would."""
    (_LAST if last else _CHECKS)[kind] = check


def _check(instance: Any) -> None:
    """Have each of its classes check what was read, bases first; a ``_check_stored`` raises where it is wrong."""
    bases = type(instance).__mro__[::-1]
    checks = [vars(base).get("_check_stored", _CHECKS.get(base)) for base in bases]
    for check in [*checks, *map(_LAST.get, bases)]:
        if check is not None:
            check(instance)


def _is_record(cls: Any) -> bool:
    """Whether it is a dataclass that is no estimator, of which the fields are settings only."""
    return dataclasses.is_dataclass(cls) and not hasattr(cls, "_get_param_names")


def _hook(cls: type, name: str) -> Any:
    """Method ``name`` of a class, if its own package wrote it: not object, scikit-learn or dataclasses."""
    base = next((base for base in cls.__mro__ if name in vars(base)), object)
    ours = base.__module__.split(".")[0] == cls.__module__.split(".")[0]
    return vars(base)[name] if ours and not _is_record(cls) else None


@functools.cache
def _fields(cls: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)] if _is_record(cls) else []


def state_of(instance: Any) -> Any:
    """What is stored of an instance of a registered class."""
    cls: Any = type(instance)
    get = _hook(cls, "__getstate__")
    if get is not None:
        return get(instance)
    fields: list[str] = _fields(cls)
    state = {name: getattr(instance, name) for name in fields} | getattr(instance, "__dict__", {})
    cached = [name for name in state if isinstance(getattr(cls, name, None), functools.cached_property)]
    return {name: value for name, value in state.items() if name not in ("_sklearn_version", *cached)}


def restore(cls: Any, state: dict[str, Any]) -> Any:
    """An instance of a registered class that holds ``state``, with what must hold of it."""
    if not all(type(name) is str for name in state):
        raise ValueError(f"an attribute of a {cls.__name__} has no name")
    instance = cls.__new__(cls)
    put = _hook(cls, "__setstate__")
    if put is not None:
        put(instance, state)
    else:
        _fill(instance, cls, state)
    if hasattr(cls, "_get_param_names"):
        _add_defaults(instance, cls, [name for name in cls._get_param_names() if name not in vars(instance)])
    _check(instance)
    return instance


def _fill(instance: Any, cls: Any, state: dict[str, Any]) -> None:
    fields = _fields(cls)
    for name, value in state.items():
        if not name.isidentifier() or name.startswith("__"):
            raise ValueError(f"{name!r} is no attribute of a model")
        if name in fields:  # which may be frozen, or slots
            object.__setattr__(instance, name, value)
        else:  # not setattr, with which a property of that name would run
            instance.__dict__[name] = value
    _add_defaults(instance, cls, [name for name in fields if name not in state])


def _add_defaults(instance: Any, cls: Any, absent: list[str]) -> None:
    """Give an instance the defaults of fields and settings that the seqclass which wrote it did not have yet."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    made = {field.name: field.default_factory for field in fields}
    taken = inspect.signature(cls).parameters if absent else {}
    for name in absent:
        value = taken[name].default if name in taken else inspect.Parameter.empty
        if value is inspect.Parameter.empty:
            raise ValueError(f"a {cls.__name__} lacks {name}")
        factory = made.get(name, dataclasses.MISSING)
        object.__setattr__(instance, name, value if factory is dataclasses.MISSING else factory())


FORMAT = "seqclass-model"
#: Goes up by one with every change of the form; a file of another version is refused.
FORMAT_VERSION = 1
#: Deeper nesting is refused, so that every file that was written can be read.
MAX_DEPTH = 60

_T = TypeVar("_T", bound=type)
_CLASSES: dict[str, Any] = {}
_SPARSE = {cls.__name__: cls for cls in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)}
_KINDS = "biufcmMUS"
_ADVICE = (
    "a model file holds plain data, arrays, seqclass's own parts where they hold no function, and classes of yours "
    "that are told of by seqclass.persistence.register(cls) where it is written and where it is read. Else keep the "
    "whole model with joblib.dump, which is pickle: load only files that you trust"
)


class ModelFileError(ValueError):
    """A file that cannot be read as a model; the message names the file and what is wrong with it.

    Examples
    --------
    >>> issubclass(ModelFileError, ValueError)
    True
    """


def register(cls: _T) -> _T:
    """Allow instances of a class to be written to and read from model files; usable as a decorator.

    A dataclass that is not an estimator is stored by its fields and attributes. Any other object is stored by what
    ``__getstate__`` returns, if its own package defines that, else by its attributes. Reading does not call the
    constructor. Files refer to a class by its bare name, so keep that name stable.

    Parameters
    ----------
    cls : type
        The class; subclasses are not included and have to be registered themselves.

    Returns
    -------
    type
        ``cls``, unchanged.

    Raises
    ------
    ValueError
        If another class of the same name is already registered.

    Examples
    --------
    >>> @register
    ... class Thermometer:
    ...     pass
    """
    other = _CLASSES.get(cls.__name__, cls)
    if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"{_name(cls)} cannot be registered: rename it, as {_name(other)} has the same name")
    _CLASSES[cls.__name__] = cls
    return cls


class Stored:
    """Base of parts that a model file may hold: the package's own register where they are defined.

    Not those of private names or ``stored=False``, nor what is defined later under a module's name, as in examples.
    """

    def __init_subclass__(cls, stored: bool = True, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        ours = cls.__module__.startswith("seqclass.") and not cls.__name__.startswith("_")
        if stored and ours and getattr(sys.modules[cls.__module__].__spec__, "_initializing", False):
            register(cls)

    def __dask_tokenize__(self) -> Any:
        # of a dataclass dask would look at the fields alone, which are the settings, and take two models for one
        from dask.base import normalize_token

        return normalize_token((type(self), state_of(self)))


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, completely or not at all.

    A temporary file is written in the same folder and then replaces ``path`` in one step, so that a failure leaves the
    old file as it was. The same model gives the same bytes.

    Parameters
    ----------
    estimator : object
        Instance of a registered class. It may hold plain data, lists, tuples, dicts, numpy arrays, scipy CSR and CSC
        matrices, series and data frames of pandas, and instances of registered classes. An array or instance that
        occurs twice is stored once, and is shared again when read.
    path : path-like
        The file.

    Raises
    ------
    TypeError
        If it holds anything else, such as an estimator of another package; the message says where. Nothing is written
        then.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "numbers.seq")
    ...     save({"answer": 42, "weights": np.array([0.5, np.nan])}, path)
    ...     load(path)
    {'answer': 42, 'weights': array([0.5, nan])}
    """
    _register_ours()
    writer = _Writer()
    root = writer.encode(estimator, "", 0)
    manifest = {"format": FORMAT, "format_version": FORMAT_VERSION, "seqclass_version": __version__}
    manifest |= {"root": root, "objects": writer.objects}
    text = json.dumps(manifest, allow_nan=False, separators=(",", ":"))
    check_size(text.encode())
    with replace_file(path) as temporary, open(temporary, "wb") as file:
        write_archive(file, text, writer.arrays)


def content_digest(value: Any, without: Collection[str] = ()) -> bytes:
    """Digest of what `save` would write, but for some attributes."""
    _register_ours()
    writer = _Writer()
    root = writer.encode(value, "", 0)
    for entry in writer.objects:
        entry.pop("writeable", None)  # which a copy by pickle forgets
        if "state" in entry:
            entry["state"] = [pair for pair in entry["state"] if pair[0] not in without]
    digest = hashlib.sha256(json.dumps([root, writer.objects]).encode())
    for array in writer.arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote.

    No code from the file is run: only instances of registered classes are made, without calling their constructors, and
    only data is put into them.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    object
        The model.

    Raises
    ------
    ModelFileError
        If the file is damaged, incomplete, not a model file, of another version of the format, or a pipe or a device.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pair.seq")
    ...     save((1, "two"), path)
    ...     load(path)
    (1, 'two')
    """
    check_regular(path, ModelFileError)
    with open(path, "rb") as file:
        _register_ours("Agent")
        try:
            return _read(file)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)} {error}") from error
        except Exception as error:  # the ways in which zipfile, json and a damaged tree fail have no end
            kind = "" if isinstance(error, (ValueError, zipfile.BadZipFile)) else f"{type(error).__name__}: "
            why = brief(" ".join(f"{kind}{error}".split()), 300)
            if isinstance(error, (zipfile.BadZipFile, EOFError)):  # whose words are about archives
                why = "it is cut off or was changed: copy it again" if os.path.getsize(path) else "it is empty"
            raise ModelFileError(f"{os.fspath(path)} is damaged, or no seqclass model ({why})") from error


def parts(*methods: str) -> dict[str, type]:
    """Our own parts that users import and that have these methods, as ``"fast_osfs"`` for ``FastOSFS``."""
    _register_ours()
    rooms = {name: sys.modules.get(".".join(cls.__module__.split(".")[:2])) for name, cls in _CLASSES.items()}
    return {
        re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=OFS)(?=[A-Z])", "_", name).lower(): cls
        for name, cls in _CLASSES.items()
        if name in getattr(rooms[name], "__all__", ())
        and not inspect.isabstract(cls)
        and all(hasattr(cls, method) for method in methods)
    }


def suggest_parts(name: str, methods: Collection[str]) -> list[str]:
    """What to write for a part that is given by a name, such as ``seqclass.selection.SAOLA()`` for ``"saola"``."""
    known = parts(*methods)
    plain = {key.replace("_", ""): key for key in known}
    wanted = re.sub("[^a-z0-9]", "", name.lower())
    matching = [plain[wanted]] if wanted in plain else [key for key in known if wanted in key.split("_")]
    matching = matching or [plain[key] for key in get_close_matches(wanted, plain)]
    return [f"{'.'.join(known[key].__module__.split('.')[:2])}.{known[key].__name__}()" for key in matching]


def _register_ours(name: str = "") -> None:
    """Have the package's own classes known, whatever was imported so far; or only as many as it takes to know one."""
    for room in (
        "persistence._checks",  # which checks what other rooms make
        "classifier",
        "adaptive_classifier",
        "evaluation.contract",
        "pomdp.sweeps.ladder",
        "selection",
        "exams",
        "early",
    ):
        importlib.import_module(f"seqclass.{room}")
        if name in _CLASSES:
            return


def _name(cls: type) -> str:
    """Name of a class as its users import it: in the outermost of the packages around it that has it."""
    parts = cls.__module__.split(".")
    rooms = (".".join(parts[: n + 1]) for n in range(len(parts)))
    members = ((room, getattr(sys.modules.get(room), "__dict__", {})) for room in rooms)
    room = next((room for room, names in members if names.get(cls.__qualname__) is cls), cls.__module__)
    public = [part for part in room.split(".") if not part.startswith("_") and part != "builtins"]
    return ".".join([*public, cls.__qualname__])


class _Writer:
    """Turns objects into a JSON tree, and collects their arrays."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[npt.NDArray[Any]] = []
        self._seen: dict[int, tuple[Any, int | None]] = {}  # keeps objects alive, hence identities unique

    def encode(self, value: Any, where: str, depth: int) -> Any:
        """JSON form of ``value``, which sits at the attribute path ``where``."""
        cls = type(value)
        if depth > MAX_DEPTH:
            raise TypeError(f"{where} cannot be saved: it is nested more than {MAX_DEPTH} deep")
        if cls in (type(None), bool, int, str) or (cls is float and math.isfinite(value)):
            return value
        if cls is float:
            return {"type": "float", "value": repr(value)}
        if cls is list or cls is tuple:
            items = self._items(value, where, depth)
            return items if cls is list else {"type": "tuple", "items": items}
        if cls is dict:
            return {"type": "dict", "items": self._pairs(value, where, depth)}
        if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
            return {"type": "scalar", "value": self._reference(np.asarray(value), where, depth)}
        if isinstance(value, enum.Enum) and _CLASSES.get(cls.__name__) is cls:
            return {"type": "enum", "class": cls.__name__, "value": value.name}
        return self._reference(value, where, depth)

    def _items(self, values: Any, where: str, depth: int) -> list[Any]:
        return [self.encode(value, f"{where}[{i}]", depth + 1) for i, value in enumerate(values)]

    def _pairs(self, values: dict[Any, Any], where: str, depth: int) -> list[Any]:
        for key in values:
            self._require_scalar(key, f"{where or 'the model'}: the key {key!r}")
        parts = [self.encode(value, f"{where}[{key!r}]", depth + 1) for key, value in values.items()]
        return [[self.encode(key, where, 0), part] for key, part in zip(values, parts)]

    def _require_scalar(self, value: Any, what: str) -> None:
        if type(value) not in (type(None), bool, int, float, str) and not isinstance(value, np.generic):
            raise TypeError(f"{what} cannot be saved, as {_name(type(value))} is no plain scalar ({_ADVICE})")

    def _reference(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        """Reference to an entry of the table, which is made at the first meeting."""
        if id(value) not in self._seen:
            self._seen[id(value)] = (value, None)
            entry = self._entry(value, where, depth)
            self._seen[id(value)] = (value, len(self.objects))
            self.objects.append(entry)
        index = self._seen[id(value)][1]
        if index is None:
            raise TypeError(f"{where} cannot be saved: it refers back to what holds it")
        return {"type": "ref", "index": index}

    def _entry(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        cls, shown = type(value), where or "the model"
        if cls in (np.ndarray, np.memmap) and (value.dtype.kind in _KINDS or value.dtype == object):
            return self._array(np.asarray(value), where)
        if _SPARSE.get(cls.__name__) is cls:
            parts = [self._reference(part, where, 0) for part in (value.data, value.indices, value.indptr)]
            shape = [int(n) for n in value.shape]
            return {"type": "sparse", "class": cls.__name__, "shape": shape, "parts": parts}
        if _CLASSES.get(cls.__name__) is cls:
            state, prefix = state_of(value), f"{where}." if where else ""
            if type(state) is not dict or not all(type(name) is str for name in state):
                raise TypeError(f"{shown}: {_name(cls)}.__getstate__ must give a dict by attribute name")
            pairs = [[name, self.encode(part, prefix + name, depth + 1)] for name, part in state.items()]
            return {"type": "instance", "class": cls.__name__, "state": pairs}
        if hasattr(value, "iloc"):  # settings by name
            axes = [self._items(axis.tolist(), f"{shown}: its labels", depth) for axis in value.axes]
            return {"type": "pandas", "values": self._reference(value.to_numpy(), where, depth), "axes": axes}
        dtype = f" of dtype {value.dtype}" if isinstance(value, (np.ndarray, np.generic)) else ""
        raise TypeError(f"{shown}: {_name(cls)}{dtype} cannot be saved ({_ADVICE})")

    def _array(self, array: npt.NDArray[Any], where: str) -> dict[str, Any]:
        entry = {"type": "array", "writeable": bool(array.flags.writeable)}
        if array.dtype != object:
            self.arrays.append(array)
            return entry | {"entry": f"arrays/{len(self.arrays) - 1}.npy"}
        items = array.ravel().tolist()
        for i, item in enumerate(items):
            self._require_scalar(item, f"{where or 'the model'}: element {i} of an object array")
        return entry | {"shape": list(array.shape), "items": self._items(items, where, 0)}


def _read(file: IO[bytes]) -> Any:
    with Archive(file) as archive:
        manifest = archive.manifest
        ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
        version = manifest.get("format_version") if ours else None
        if type(version) is not int:
            raise ModelFileError("is no seqclass model file: its manifest is of another format")
        if version != FORMAT_VERSION:
            writer = f"was written by seqclass {manifest.get('seqclass_version')} in format {version}"
            raise ModelFileError(
                f"{writer}, this is {__version__} with format {FORMAT_VERSION}: read it with the former"
            )
        archive.check_digest()
        table: list[Any] = []
        for node in manifest["objects"]:
            table.append(_decode_entry(node, table, archive))
        return _decode(manifest["root"], table)


def _decode(node: Any, table: list[Any]) -> Any:
    """What a node of the tree stands for; anything unexpected raises."""
    if isinstance(node, list):
        return [_decode(item, table) for item in node]
    if not isinstance(node, dict):
        return node
    if node["type"] == "ref":
        return table[node["index"]]
    if node["type"] == "dict":
        return {_decode(key, table): _decode(value, table) for key, value in node["items"]}
    if node["type"] == "tuple":
        return tuple(_decode(node["items"], table))
    if node["type"] == "scalar":
        return _decode(node["value"], table)[()]
    if node["type"] == "enum":
        return _class(node["class"])[node["value"]]
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["value"]]


def _decode_entry(node: dict[str, Any], table: list[Any], archive: Archive) -> Any:
    """An entry of the table, which may refer to the earlier ones."""
    if node["type"] == "instance":
        return restore(_class(node["class"]), {name: _decode(part, table) for name, part in node["state"]})
    if node["type"] == "sparse":
        parts = tuple(_decode(node["parts"], table))
        matrix = _SPARSE[node["class"]](parts, shape=tuple(node["shape"]))
        matrix.check_format(full_check=True)  # scipy trusts the indices, and would read past the arrays
        return matrix
    if node["type"] == "pandas":
        import pandas as pd

        axes = [_decode(axis, table) for axis in node["axes"]]
        return (pd.Series if len(axes) == 1 else pd.DataFrame)(_decode(node["values"], table), *axes)
    if "entry" in node:
        array = archive.array(node["entry"])
    else:
        array = np.empty(len(node["items"]), dtype=object)
        array[:] = _decode(node["items"], table)
        array = array.reshape(node["shape"])
    array.flags.writeable = node["writeable"]
    return array


def _class(name: str) -> Any:
    if name not in _CLASSES:
        _register_ours(name)
    if name not in _CLASSES or inspect.isabstract(_CLASSES[name]):
        raise ModelFileError(
            f"holds a {name}, which seqclass {__version__} lacks: if it is a class of yours, import its module and "
            f"call seqclass.persistence.register({name}) before; else it needs a newer seqclass"
        )
    return _CLASSES[name]
