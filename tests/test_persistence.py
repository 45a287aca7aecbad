"""Model files: what goes in comes out, nothing else goes in, and no file can do harm."""

from __future__ import annotations

import dataclasses
import enum
import functools
import io
import json
import math
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import KBinsDiscretizer

from seqclass import SequentialClassifier, load
from seqclass.bn import NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.persistence import ModelFileError, register, save
from seqclass.pomdp import Lookahead

pytestmark = pytest.mark.quick


@register
class Estimator(BaseEstimator):
    """An estimator such as ours: parameters, and fitted attributes."""

    def __init__(self, part: Any = None, level: float = 1.0) -> None:
        self.part = part
        self.level = level


@register
@dataclasses.dataclass(frozen=True)
class Record:
    """A frozen record with a cached value, which is not data."""

    weights: Any
    name: str = "record"

    @functools.cached_property
    def view(self) -> memoryview:
        return memoryview(self.weights)


@register
@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    """A frozen record without a dict."""

    value: Any


@register
@dataclasses.dataclass(frozen=True, slots=True)
class Later:
    """A record to which fields were added."""

    first: int
    second: int = 2
    third: list[int] = dataclasses.field(default_factory=list)


@register
class Status(enum.Enum):
    """An enumeration."""

    CONVERGED = 1


@register
class Lean:
    """A class that says itself what is to be stored."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept
        self.scratch = lambda: None

    def __getstate__(self) -> dict[str, Any]:
        return {"kept": self.kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["kept"])  # type: ignore[misc]


class Stranger:
    """A class that nobody registered."""


def equal(a: Any, b: Any) -> bool:
    """Same types, same content, nan included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        same = (a.dtype, a.shape, a.flags.writeable) == (b.dtype, b.shape, b.flags.writeable)
        return same and (equal(a.tolist(), b.tolist()) if a.dtype == object else a.tobytes() == b.tobytes())
    if sp.issparse(a):
        return a.shape == b.shape and all(equal(getattr(a, p), getattr(b, p)) for p in ("data", "indices", "indptr"))
    if isinstance(a, (pd.Series, pd.DataFrame)):
        return a.equals(b) and all(map(pd.Index.equals, a.axes, b.axes))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return equal(list(a), list(b)) and all(equal(a[key], b[key]) for key in a if key in b)
    if isinstance(a, float):
        return repr(a) == repr(b)  # tells nan and the two zeros
    if isinstance(a, (Estimator, Record)):
        hidden = {"view"}
        return equal({k: v for k, v in vars(a).items() if k not in hidden}, vars(b))
    if isinstance(a, Lean):
        return equal(a.kept, b.kept)
    if isinstance(a, Slotted):
        return equal(a.value, b.value)
    return bool(a == b)


def test_equal_tells_apart() -> None:
    pairs = [(1, True), (0.0, -0.0), (math.nan, 1.0), ([1], (1,)), (np.zeros(2), np.zeros(2, np.float32))]
    assert not any(equal(a, b) or equal(b, a) for a, b in pairs)
    assert not equal(np.array([1, "a"], object), np.array([1, "b"], object))
    assert not equal(sp.csr_array(np.eye(2)), sp.csr_matrix(np.eye(2)))
    assert equal({"a": [math.nan]}, {"a": [math.nan]})
    assert not equal({"a": 1}, {"b": 1})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.seq"


def through(value: Any, path: Path) -> Any:
    save(value, path)
    return load(path)


def model() -> Estimator:
    """A tree with one of everything."""
    shared = np.arange(6.0).reshape(2, 3)
    frozen = np.array([1, 2], dtype=np.int8)
    frozen.flags.writeable = False
    estimator = Estimator(part=Record(shared, name="käse \ud800"), level=math.inf)
    estimator.classes_ = np.array(["no", "yes"], dtype=object)
    estimator.names_ = np.array(["a", "bc", ""])
    estimator.shared_ = shared
    estimator.frozen_ = frozen
    estimator.fortran_ = np.asfortranarray(shared)
    estimator.same_ = estimator.part
    estimator.sparse_ = sp.csr_array(np.eye(3, dtype=np.int8))
    estimator.status_ = Status.CONVERGED
    estimator.slotted_ = Slotted((np.float32(0.1), np.str_(""), np.bool_(True)))
    estimator.lean_ = Lean([1, None, -0.0])
    estimator.table_ = {"a": 1, 2: [math.nan], None: {}, np.int64(3): (), 0.5: "x"}
    return estimator


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -(2**70), 1.5, -0.0, math.nan, math.inf, -math.inf, "", "naïve \u0000 \ud800"),
        *([], (), {}, [1, (2, [3.0, {"a": None}])], {1: "a", "1": "b", True and 2.5: "c", None: "d"}),
        *(np.float32(0.1), np.int64(-3), np.bool_(False), np.str_(""), np.str_("ü"), np.complex64(1j)),
        *(np.datetime64("2020-01-01"), np.float64("nan"), np.bytes_(b"ab")),
        *(np.zeros((0, 3)), np.array(3), np.array(["a", "bcd"]), np.array([True, False]), np.array([b"x"])),
        *(np.arange(5, dtype=">i2"), np.arange(24).reshape(2, 3, 4)[:, ::2], np.broadcast_to(1.0, (3, 2))),
        *(
            np.array(["a", 1, None, 2.5, True], object),
            np.array([], object),
            np.array([["a"], ["b"]], object),
        ),
        *(kind(np.eye(3, 4, dtype=np.int8)) for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)),
        *(pd.Series({"a": 1.0, "b": math.nan}), pd.DataFrame([[0, 1]], ["a"], ["b", 3]), pd.Series([])),
        *(sp.csr_array((0, 5)), Status.CONVERGED, Slotted([1]), Record(None), Lean("a"), Estimator()),
        model(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_round_trip(value: Any, path: Path) -> None:
    assert equal(value, through(value, path))


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=4)
        | st.builds(Slotted, inner)
    ),
    max_leaves=20,
)
arrays = hnp.arrays(
    hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.floating_dtypes() | hnp.unicode_string_dtypes(),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
)


@pytest.mark.slow
@given(value=st.lists(plain | arrays, max_size=3))
def test_round_trip_of_anything_plain(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert equal(value, through(value, tmp_path_factory.getbasetemp() / "any.seq"))


def test_shared_parts_stay_shared(path: Path) -> None:
    again = through(model(), path)
    assert again.shared_ is again.part.weights
    assert again.same_ is again.part
    twins = through([np.arange(3), np.arange(3)], path)
    assert twins[0] is not twins[1]


def test_cached_values_and_version_noise_are_left_out(path: Path) -> None:
    record = Record(np.arange(3.0))
    assert record.view.nbytes == 24
    again = through(record, path)
    assert set(vars(again)) == {"weights", "name"}
    assert again.view.nbytes == 24
    estimator = Estimator()
    estimator._sklearn_version = "1.0"
    assert set(vars(through(estimator, path))) == {"part", "level"}


def test_same_model_gives_same_bytes(tmp_path: Path) -> None:
    save(model(), tmp_path / "a")
    save(model(), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_reads_without_constructor(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(Estimator(level=2.0), path)
    monkeypatch.setattr(Estimator, "__init__", lambda self: pytest.fail("the constructor ran"))
    assert load(path).level == 2.0


def test_discretizer(path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    fitted = Discretizer(n_bins=3, strategy="quantile").fit(X)
    again = through(fitted, path)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert again.get_params() == fitted.get_params()
    assert clone(again).get_params() == fitted.get_params()


def test_naive_bayes(path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(40, 4)).astype(np.int8), np.array(["a", "b"])[rng.integers(0, 2, 40)]
    fitted = NaiveBayes().fit(X, y)
    again = through(fitted, path)
    np.testing.assert_array_equal(again.posterior(X), fitted.posterior(X))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    "value, message",
    [
        (
            Estimator(KBinsDiscretizer()),
            r"^part: sklearn\.preprocessing\.KBinsDiscretizer cannot be saved .*joblib",
        ),
        (Estimator([{"a": lambda: 1}]), r"^part\[0\]\['a'\]: function cannot be saved"),
        (Stranger(), r"^the model: \S*Stranger cannot be saved"),
        (
            Estimator(pd.Series([1.0], [pd.Timestamp("2020-01-01")])),
            r"^part: its labels\[0\]: pandas.* cannot be saved",
        ),
        (Estimator(Record(Stranger())), r"^part\.weights: \S*Stranger"),
        (Estimator(np.random.default_rng(0)), r"^part: numpy\.random\.Generator"),
        (
            Estimator(np.array([1, [2]], object)),
            r"^part: element 1 of an object array .* list is no plain scalar",
        ),
        (Estimator(np.zeros(2, [("a", int)])), r"^part: numpy.ndarray of dtype \[\('a'"),
        (Estimator(np.ma.masked_array([1.0])), r"^part: numpy\S*MaskedArray of dtype float64"),
        (Estimator({(1, 2): 3}), r"^part: the key \(1, 2\) cannot be saved, as tuple"),
        (Estimator(sp.coo_array(np.eye(2))), r"^part: scipy\.sparse\.coo_array"),
        (Estimator({1, 2}), r"^part: set cannot"),
        (Estimator(OrderedDict()), r"^part: collections\.OrderedDict"),
        (Estimator(np.float64), r"^part: type cannot"),
        (Estimator(slice(3)), r"^part: slice cannot"),
    ],
    ids=lambda value: None,
)
def test_refuses_by_name_before_writing(value: Any, message: str, path: Path) -> None:
    path.write_bytes(b"old")
    with pytest.raises(TypeError, match=message):
        save(value, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["model.seq"]


def test_refuses_a_subclass_that_did_not_register(path: Path) -> None:
    subclass = type("Estimator", (Estimator,), {})
    with pytest.raises(TypeError, match="Estimator cannot be saved"):
        save(subclass(), path)


def test_refuses_cycles_and_depth(path: Path) -> None:
    estimator = Estimator()
    estimator.part = [estimator]
    with pytest.raises(TypeError, match=r"^part\[0\] cannot be saved: it refers back"):
        save(estimator, path)

    def nested(depth: int) -> list[Any]:
        return [nested(depth - 1)] if depth else []

    assert equal(nested(60), through(nested(60), path))
    for depth in (61, 200):
        with pytest.raises(TypeError, match="nested more than 60 deep"):
            save(nested(depth), path)


def test_refuses_a_state_that_is_no_dict(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lean, "__getstate__", lambda self: (1, 2))
    with pytest.raises(TypeError, match="must give a dict"):
        save(Lean(1), path)


def test_register_refuses_a_second_class_of_one_name() -> None:
    with pytest.raises(ValueError, match="same name"):
        register(type("Estimator", (), {"__module__": "elsewhere"}))
    assert register(Estimator) is Estimator


@pytest.mark.parametrize("failing", ["zipfile.ZipFile.writestr", "os.replace", "os.fsync"])
def test_a_failed_write_leaves_the_old_file(failing: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save("old", path)

    def fail(*args: Any, **kwargs: Any) -> None:
        if failing == "zipfile.ZipFile.writestr":
            args[0].fp.write(b"half a file")
        raise OSError("disk full")

    monkeypatch.setattr(failing, fail)
    with pytest.raises(OSError, match="disk full"):
        save("new", path)
    assert os.listdir(path.parent) == ["model.seq"]
    assert load(path) == "old"


def test_a_killed_write_leaves_no_temporary_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save("new", path)
    assert os.listdir(path.parent) == []


def test_writes_where_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot write .*there is no folder"):
        save(1, tmp_path / "absent" / "model.seq")
    save(1, str(tmp_path / "text.seq"))
    assert load(str(tmp_path / "text.seq")) == 1
    with pytest.raises(ValueError, match="it is a folder, device or pipe"):
        save(1, tmp_path)
    assert os.listdir(tmp_path) == ["text.seq"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_before_anybody_writes_to_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match="is a pipe or a device: write what comes from it to a file first"):
        load(tmp_path / "model.seq")


@pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")
def test_keeps_links_and_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save(1, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    (tmp_path / "other").touch()
    assert (tmp_path / "real").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_missing_file(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(path)


def zipped(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive whose digest fits."""
    rest = {name: content for name, content in entries.items() if name != "sha256"}
    each = "".join(f"{name} {sha256(content).hexdigest()}\n" for name, content in rest.items())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in (rest | {"sha256": sha256(each.encode()).hexdigest().encode()}).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def forged(root: Any = None, objects: Any = (), entries: dict[str, bytes] | None = None, **changes: Any) -> bytes:
    """A model file by hand, in the right format but for ``changes``."""
    manifest = {"format": "seqclass-model", "format_version": 1, "seqclass_version": "9.9"}
    manifest |= {"root": root, "objects": objects} | changes
    return zipped({"manifest.json": json.dumps(manifest).encode()} | (entries or {}))


def refused(content: bytes, path: Path) -> str:
    """Message with which a file of this content is refused: one sentence that starts with its path."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} ")
    assert "\n" not in message
    return message


def test_the_forgery_is_good(path: Path) -> None:
    path.write_bytes(forged([1, {"type": "float", "value": "inf"}]))
    assert load(path) == [1, math.inf]


def test_foreign_files(path: Path) -> None:
    for content in (b"", b"a,b\n1,2\n", pickle.dumps([1]), os.urandom(0) + bytes(range(256)) * 10):
        assert "no seqclass model" in refused(content, path)
    assert "without manifest.json" in refused(zipped({"a.txt": b"hello"}), path)
    assert "another format" in refused(zipped({"manifest.json": b'{"name": "web app"}'}), path)
    assert "another format" in refused(zipped({"manifest.json": b"[]"}), path)
    assert "another format" in refused(forged(format_version="1"), path)
    assert "no seqclass model" in refused(zipped({"manifest.json": b"not json"}), path)


@pytest.mark.parametrize("version", [0, 2])
def test_files_of_another_version(version: int, path: Path) -> None:
    said = refused(forged(format_version=version, root={"type": "hologram"}), path)
    assert f"was written by seqclass 9.9 in format {version}, this is" in said


def test_files_without_a_digest(path: Path) -> None:
    path.write_bytes(forged([1]))
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(path.with_suffix(".bare"), "w") as bare:
        bare.writestr("manifest.json", archive.read("manifest.json"))
    with pytest.raises(ModelFileError, match="not those that were written together"):
        load(path.with_suffix(".bare"))


def test_parts_that_nobody_knows(path: Path) -> None:
    unknown = {"type": "instance", "class": "Hologram", "state": []}
    assert "holds a Hologram" in refused(forged(objects=[unknown]), path)
    assert "a class of yours, import its module and call seqclass.persistence.register" in refused(
        forged(objects=[unknown]), path
    )
    assert "holds a Hologram" in refused(forged({"type": "enum", "class": "Hologram", "value": "A"}), path)


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


def array(content: bytes, **changes: Any) -> bytes:
    """A model file of one array, by hand."""
    node = {"type": "array", "entry": "arrays/0.npy", "writeable": True} | changes
    return forged({"type": "ref", "index": 0}, [node], {"arrays/0.npy": content})


def test_the_forged_array_is_good(path: Path) -> None:
    path.write_bytes(array(npy("{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", b"\x01\x02")))
    assert load(path).tolist() == [1, 2]


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", b"1234567"),
        npy("{'descr': '|i1', 'fortran_order': False, 'shape': (1,)}", b"12"),
        npy("{'descr': '|i1', 'fortran_order': False, 'shape': (-1, -2)}", b"12"),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", pickle.dumps("12345678")),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"12345678"),
        npy("__import__('os').getpid()"),
        npy("{'descr': '|i1', 'shape': (1L,)}", b"1"),
        npy("{'descr': '|i1', 'fortran_order': False, 'shape': (1,)}", b"1", version=b"\x03\x00"),
    ],
    ids=["empty", "huge", "short", "long", "negative", "pickle", "object", "code", "python2", "version"],
)
def test_arrays_that_lie(entry: bytes, path: Path) -> None:
    refused(array(entry), path)


def test_arrays_that_are_not_there(path: Path) -> None:
    good = npy("{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", b"\x01\x02")
    refused(array(good, entry="arrays/1.npy"), path)
    refused(array(good, entry=["a"]), path)
    refused(array(good, entry="manifest.json"), path)
    refused(array(good, type="hologram", entry=None), path)


REF = {"type": "ref", "index": 0}
THREE = {"type": "array", "shape": [3], "items": [0, 1, 7], "writeable": True}


@pytest.mark.parametrize(
    "content",
    [
        forged({}),
        forged({"type": "hologram"}),
        forged({"type": None}),
        forged({"type": ["ref"]}),
        forged(REF),
        forged({"type": "ref", "index": "0"}),
        forged({"type": "float", "value": "1.5"}),
        forged({"type": "float"}),
        forged({"type": "tuple", "items": None}),
        forged({"type": "dict", "items": [[1]]}),
        forged({"type": "dict", "items": [[[], 1]]}),
        forged({"type": "scalar", "value": 3}),
        forged({"type": "enum", "class": "Status", "value": "LOST"}),
        forged({"type": "enum", "class": "Record", "value": "weights"}),
        forged({"type": "enum", "class": ["Status"], "value": 1}),
        forged(objects=None),
        forged(objects={"a": 1}),
        forged(objects=[[]]),
        forged(objects=[{"type": "array", "shape": [2], "items": [1], "writeable": True}]),
        forged(objects=[{"type": "array", "shape": [2], "items": 5, "writeable": True}]),
        forged(objects=[{"type": "instance", "class": "Estimator", "state": [["__class__", 1]]}]),
        forged(objects=[{"type": "instance", "class": "Estimator", "state": [["a b", 1]]}]),
        forged(objects=[{"type": "instance", "class": "Estimator", "state": [[3, 1]]}]),
        forged(objects=[{"type": "instance", "class": "Estimator", "state": 3}]),
        forged(objects=[{"type": "instance", "class": "Record", "state": []}]),
        forged(objects=[{"type": "instance", "class": "Slotted", "state": [["other", 1]]}]),
        forged(objects=[{"type": "instance", "class": "Status", "state": []}]),
        forged(objects=[{"type": "instance", "class": "Lean", "state": []}]),
        forged(objects=[{"type": "instance", "class": "Estimator", "state": [["part", REF]]}]),
        forged(objects=[THREE, {"type": "sparse", "class": "Estimator", "shape": [1, 1], "parts": [REF] * 3}]),
        forged(objects=[THREE, {"type": "sparse", "class": "csr_array", "shape": [1, 1], "parts": [REF] * 3}]),
        zipped({"manifest.json": b"[" * 100_000}),
        zipped({"manifest.json": b'{"format": "seqclass-model", "format_version": 1}'}),
        zipped({"manifest.json": b'{"format": "seqclass-model", "format_version": ' + b"1" * 5000 + b"}"}),
        zipped({"manifest.json": b'{"format": "seqclass-model", "format_version": 1, "root": NaN'}),
    ],
)
def test_trees_that_make_no_sense(content: bytes, path: Path) -> None:
    refused(content, path)


def test_nested_trees_end(path: Path) -> None:
    deep = '{"format": "seqclass-model", "format_version": 1, "objects": [], "root": '
    refused(zipped({"manifest.json": (deep + "[" * 50_000 + "]" * 50_000 + "}").encode()}), path)


def test_sparse_indices_beyond_the_matrix(path: Path) -> None:
    save(sp.csr_array(np.eye(3, dtype=np.int8)), path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    index = next(name for name in entries if b"<i4" in entries[name] and entries[name].endswith(b"\x02\0\0\0"))
    entries[index] = entries[index][:-4] + b"\x63\0\0\0"
    assert "is damaged" in refused(zipped(entries), path)


def test_bombs(path: Path) -> None:
    zeros = json.dumps({"format": "seqclass-model", "format_version": 1, "root": "0" * 10**6, "objects": []})
    content = zipped({"manifest.json": zeros.encode()}, zipfile.ZIP_DEFLATED)
    assert len(content) < 10_000
    assert "claim more than the file holds" in refused(content, path)


@pytest.mark.parametrize(("sign", "most"), [("[", 10**6), ("{", 10**6), (",", 5 * 10**6)])
def test_a_model_has_at_most_so_many_parts(sign: str, most: int, path: Path) -> None:
    """A million brackets, and five million brackets and commas; signs within text count as well, all alike."""
    other = {"[": "{", "{": "[", ",": "["}[sign]
    save(other, path)
    with zipfile.ZipFile(path) as archive:
        manifest = archive.read("manifest.json").decode()
    own = sum(manifest.count(each) for each in ("[{" if sign != "," else "[{,"))
    largest = other + sign * (most - own)
    save(largest, path)
    assert load(path) == largest
    words = f"the model has {most + 1:,} {'parts' if sign == ',' else 'lists'}, more than the {most:,} that can be read"
    with pytest.raises(ValueError, match=words):
        save(largest + sign, path)
    text = manifest.replace(f'"{other}"', f'"{largest}{sign}"')
    assert words in refused(zipped({"manifest.json": text.encode()}), path)


def test_no_code_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: Any, value: Any) -> None:
        pytest.fail("a property ran")

    monkeypatch.setattr(Estimator, "part", property(lambda self: 1, run), raising=False)
    state = [["part", 1], ["level", 2]]
    path.write_bytes(forged(REF, [{"type": "instance", "class": "Estimator", "state": state}]))
    assert vars(load(path)) == {"part": 1, "level": 2}


def small() -> Estimator:
    estimator = Estimator(Slotted(np.arange(4, dtype=np.int16)), level=math.nan)
    estimator.names_ = np.array(["a", "b"])
    estimator.sparse_ = sp.csr_array(np.eye(2, dtype=np.int8))
    return estimator


def survives(content: bytes, path: Path) -> bool:
    """Whether a damaged file is either refused or still gives the very same model."""
    path.write_bytes(content)
    try:
        return equal(small(), load(path))
    except ModelFileError:
        return True


def test_truncated_files(path: Path) -> None:
    save(small(), path)
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        refused(content[:length], path)
    refused(content[:-1], path)
    refused(content[1:], path)


@pytest.mark.slow
def test_flipped_bits(path: Path) -> None:
    save(small(), path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    directory = content.index(b"PK\x01\x02")
    # every byte of the directory, which has no checksum, and a sample of the rest
    places = [*rng.choice(directory, 75, replace=False), *range(directory, len(content))]
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        assert survives(bytes(damaged), path), place


def test_shuffled_pieces(path: Path) -> None:
    save(small(), path)
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(120):
        damaged = bytearray(content)
        a, b, n = (int(k) for k in rng.integers(0, len(content) - 64, 3))
        n = n % 63 + 1
        damaged[a : a + n] = content[b : b + n]
        assert survives(bytes(damaged), path), (a, b, n)


@pytest.mark.filterwarnings("ignore:column 'zip' has 3200 categories")
@pytest.mark.parametrize("settings", [{"solver": Lookahead(2)}, {"order": "adaptive"}], ids=["look-ahead", "planned"])
def test_look_ahead_after_thousands_of_outcomes(settings: dict[str, Any], path: Path) -> None:
    """Such a model was written, and refused when read: what may follow the second question was counted as well."""
    zips = np.repeat(np.arange(3200), 2)
    X = pd.DataFrame({"zip": np.char.add("z", zips.astype(str)), "b": np.tile([0, 1], 3200)})
    clf = SequentialClassifier(feature_costs=0.01, **settings).fit(X, zips % 3 > 0)
    save(clf, path)
    np.testing.assert_array_equal(load(path).predict_proba(X[-9:]), clf.predict_proba(X[-9:]))


def test_settings_that_are_missing(path: Path) -> None:
    """An older seqclass did not write what it did not know: that takes its default, and is refused without one."""
    path.write_bytes(forged(REF, [{"type": "instance", "class": "Estimator", "state": [["part", 1]]}]))
    assert vars(load(path)) == {"part": 1, "level": 1.0}
    path.write_bytes(forged(REF, [{"type": "instance", "class": "Later", "state": [["first", 1]]}]))
    assert load(path) == Later(1, 2, [])
    message = refused(forged(REF, [{"type": "instance", "class": "Later", "state": [["second", 1]]}]), path)
    assert "a Later lacks first" in message
