"""Model files whose parts were swapped or edited: one clear error, or a model that works."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from seqclass import Costs, Rules, SequentialClassifier, SkipLogic, SkipRule, etana, load
from seqclass.cli import main
from seqclass.costs import Prices, Visits
from seqclass.exams import estimate
from seqclass.fitting.choice import Candidate, Choice
from seqclass.persistence import ModelFileError
from seqclass.pomdp import ExactValueIteration, LinearThresholdSPSA, Lookahead

NAMES = ("categories", "classes", "exact", "lookahead", "lots", "sparse", "thresholds")
NUMBERS = [-1, 0, 1, 2, 7, 10**6, 10**12, 10**30, -(10**12), 0.5, -0.5, 1e308, 1e-320, True, None, "x", "", [], [1]]
OUTCOMES = {"refused", "works", "another", "unchanged"}
ODD = [{"type": "float", "value": v} for v in ("nan", "inf", "-inf")]


class Parts:
    """A model file in pieces."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.manifest = json.loads(archive.read("manifest.json"))
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            self.arrays = {name: np.load(io.BytesIO(archive.read(name))) for name in names}
            self.digest = archive.read("sha256")

    def write(self, path: Path, digest: bytes | None = None) -> None:
        """Write a file with the digest that fits, as anyone could make one, or with this."""
        entries = {"manifest.json": json.dumps(self.manifest, separators=(",", ":")).encode()}
        for name, array in self.arrays.items():
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            entries[name] = content.getvalue()
        each = "".join(f"{name} {sha256(content).hexdigest()}\n" for name, content in entries.items())
        entries["sha256"] = sha256(each.encode()).hexdigest().encode() if digest is None else digest
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in entries.items():
                archive.writestr(name, content)

    def content(self) -> str:
        """All of it, to compare."""
        arrays = {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in self.arrays.items()}
        return repr((json.dumps(self.manifest), arrays))

    def slots(self) -> list[tuple[Any, Any]]:
        """Every place of the tree that holds something: what it is in, and its key."""
        return list(walk(self.manifest["objects"])) + list(walk(self.manifest, ["root"]))


def walk(node: Any, keys: Any = None) -> Iterator[tuple[Any, Any]]:
    keys = keys if keys is not None else (node if isinstance(node, dict) else range(len(node)))
    for key in keys:
        yield node, key
        if isinstance(node[key], (list, dict)):
            yield from walk(node[key])


def edit_number(parts: Parts, rng: random.Random) -> None:
    slots = [(a, k) for a, k in parts.slots() if type(a[k]) in (int, float, bool, type(None)) and k != "index"]
    holder, key = rng.choice(slots)
    holder[key] = rng.choice([*NUMBERS, *ODD, rng.randrange(-3, 12)])


def edit_text(parts: Parts, rng: random.Random) -> None:
    slots = [(a, k) for a, k in parts.slots() if isinstance(a[k], str)]
    (holder, key), (other, another) = rng.choice(slots), rng.choice(slots)
    holder[key] = rng.choice([other[another], "x", "", 3, None])


def swap_nodes(parts: Parts, rng: random.Random) -> None:
    slots = [(a, k) for a, k in parts.slots() if isinstance(a[k], dict) and a is not parts.manifest["objects"]]
    (holder, key), (other, another) = rng.choice(slots), rng.choice(slots)
    holder[key], other[another] = other[another], holder[key]


def refer_elsewhere(parts: Parts, rng: random.Random) -> None:
    slots = [a for a, k in parts.slots() if k == "index" and isinstance(a, dict)]
    rng.choice(slots)["index"] = rng.randrange(-1, len(parts.manifest["objects"]) + 1)


def drop_item(parts: Parts, rng: random.Random) -> None:
    holder, key = rng.choice([(a, k) for a, k in parts.slots() if isinstance(a, list) and a])
    if rng.random() < 0.5:
        holder.append(holder[key])
    else:
        del holder[key]


def swap_arrays(parts: Parts, rng: random.Random) -> None:
    a, b = rng.choice(list(parts.arrays)), rng.choice(list(parts.arrays))
    parts.arrays[a], parts.arrays[b] = parts.arrays[b], parts.arrays[a]


def edit_values(parts: Parts, rng: random.Random) -> None:
    name = rng.choice([n for n, a in parts.arrays.items() if a.size])
    array = parts.arrays[name].copy()
    flat, places = array.reshape(-1), [rng.randrange(array.size) for _ in range(rng.choice([1, 1, 3, array.size]))]
    for place in places:
        if array.dtype.kind == "f":
            flat[place] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1.0, 2.0, 1e300, -1e300, 1e-320, 0.5])
        elif array.dtype.kind in "iu":
            info = np.iinfo(array.dtype)
            flat[place] = rng.choice([0, 1, 2, 3, 100, info.min, info.max, max(info.min, -1)])
        elif array.dtype.kind == "b":
            flat[place] = not flat[place]
        else:
            flat[place] = rng.choice(["x", "", flat[rng.randrange(array.size)]])
    parts.arrays[name] = array


def edit_shape(parts: Parts, rng: random.Random) -> None:
    name = rng.choice(list(parts.arrays))
    array = parts.arrays[name]
    changes: list[Callable[[], Any]] = [
        lambda: array.T,
        lambda: array.reshape(-1),
        lambda: array[:-1],
        lambda: np.concatenate([array, array]),
        lambda: array[..., None],
        lambda: array[:0],
        lambda: array.reshape(-1)[0],
        lambda: array.astype(rng.choice([np.float32, np.float64, np.int8, np.int64, np.bool_, np.complex128, str])),
        lambda: array[::-1],
        lambda: array[..., :-1],
        lambda: np.concatenate([array, array], axis=-1),
    ]
    try:
        with np.errstate(all="ignore"):
            parts.arrays[name] = np.ascontiguousarray(rng.choice(changes)())
    except (ValueError, IndexError):
        parts.arrays[name] = array[:0] if array.ndim else array


CHANGES = [
    *(edit_number, edit_text, swap_nodes, refer_elsewhere, drop_item),
    *(swap_arrays, edit_values, edit_values, edit_shape),
]


def rows(clf: SequentialClassifier) -> Any:
    """Rows that the classifier takes: usual ones, far ones, missing ones."""
    names = getattr(clf, "feature_names_in_", None)
    if names is None and clf.encoder_ is not None and clf.encoder_.categories_:  # of a file that has lost them
        names = clf.encoder_.columns_
    values = np.random.default_rng(0).normal(size=(12, clf.n_features_in_)) * 3
    values[1], values[2] = np.nan, 1e6
    if names is None:
        return values
    frame = pd.DataFrame(values, columns=names)
    categories = {} if clf.encoder_ is None else clf.encoder_.categories_
    for name, known in categories.items():
        frame[name] = np.resize([*known.tolist(), None], len(frame))
    return frame


def use(clf: SequentialClassifier, path: Path) -> None:
    """Do with a model what people do, and check that what comes out makes sense."""
    X = rows(clf)
    record = clf.acquire(X, record_beliefs=True)
    for belief in (record.posterior, record.beliefs.reshape(-1, len(clf.classes_))):
        assert (belief >= 0).all()
        np.testing.assert_allclose(belief.sum(axis=1), 1, atol=1e-6)
    assert set(record.decision.tolist()) <= set(clf.decisions_.tolist())
    assert np.isfinite(record.paid).all()
    assert (record.paid >= 0).all()
    assert (record.n_features <= clf.n_features_in_).all()
    assert [str(one) for one in clf.explain(X[:4])]
    for row in (0, 1, 3):
        session = clf.session(key="case")
        while (question := session.next_feature) is not None:
            value = X.iloc[row, question.column] if hasattr(X, "iloc") else X[row, question.column]
            session.unusual(question.name, 1.0 if isinstance(value, str) else value) if value == value else None
            session.observe(question.name, value) if value == value and value else session.unavailable(question.name)
        assert session.decision in clf.decisions_.tolist()
        again = clf.session(session.to_json())
        assert [(a.value, a.posterior) for a in again.history] == [(a.value, a.posterior) for a in session.history]
    clf.save(path)
    shown = CliRunner().invoke(main, ["show", str(path)])
    assert (shown.exit_code, "asked for:" in shown.stdout) == (0, True), shown.output


def try_mutant(start: Path, rng: random.Random, folder: Path) -> str:
    """Change a file, load it and use it; says what happened."""
    parts = Parts(start)
    changes = [rng.choice(CHANGES) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    try:
        for change in changes:
            change(parts, rng)
    except (IndexError, KeyError, TypeError, ValueError):  # nothing of this kind is left to change
        return "unchanged"
    path = folder / "mutant.seq"
    parts.write(path)
    try:
        clf = load(path)
    except ModelFileError as error:
        return "refused" if len(str(error)) < 600 + len(str(path)) and "\n" not in str(error) else str(error)
    if not isinstance(clf, SequentialClassifier):  # which every command refuses
        return "another"
    use(clf, folder / "again.seq")
    return "works"


def made(name: str) -> SequentialClassifier:
    """A fitted classifier; they differ in what stands in their files."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)).round(2), np.tile([0, 1], 30)
    X[:, :2] += y[:, None] * 2
    X[::7, 1] = np.nan
    if name == "categories":
        frame = pd.DataFrame({"a": X[:, 0], "b": np.where(y, "low", "high"), "c": X[:, 2]})
        frame.loc[::9, "b"] = "other"
        return etana(feature_costs=[0.1, 0.2, 0.05], random_state=0).fit(frame, np.where(y, "ill", "well"))
    if name == "classes":
        return etana(feature_costs=0.05, n_bins=3, random_state=0).fit(X, np.arange(60) % 3)
    if name == "sparse":
        return etana(feature_costs=0.05, n_bins=2, random_state=0).fit(sp.csr_array(np.where(X > 1, X, 0)), y)
    settings: dict[str, Any] = {
        "exact": {"solver": ExactValueIteration(max_vectors=50)},
        "lookahead": {"solver": Lookahead(2, certificate_paths=20)},
        "lots": {"target_cost": 0.08},
        "thresholds": {"solver": LinearThresholdSPSA(100, max_iterations=10)},
    }
    return etana(order="given", feature_costs=0.05, random_state=0, **settings[name]).fit(X, y)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of today, by their names."""
    folder = tmp_path_factory.mktemp("models")
    for name in NAMES:
        made(name).save(folder / f"{name}.seq")
    return {name: folder / f"{name}.seq" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_files_load(name: str, models: dict[str, Path], tmp_path: Path) -> None:
    use(load(models[name]), tmp_path / "again.seq")


@pytest.fixture(scope="module")
def digested(models: dict[str, Path]) -> Path:
    return models["categories"]


@settings(max_examples=settings.default.max_examples * 3 // 5)
@given(st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_changed_files_are_refused_or_work(
    tmp_path_factory: pytest.TempPathFactory, models: dict[str, Path], name: str, rng: Any
) -> None:
    """Also with a digest that fits, which anyone can write."""
    assert try_mutant(models[name], rng, tmp_path_factory.getbasetemp()) in OUTCOMES


@given(st.randoms(use_true_random=False))
def test_a_digest_tells_any_change(tmp_path_factory: pytest.TempPathFactory, digested: Path, rng: Any) -> None:
    parts, path = Parts(digested), tmp_path_factory.getbasetemp() / "changed.seq"
    before = parts.content()
    rng.choice(CHANGES)(parts, rng)
    parts.write(path, parts.digest)
    if parts.content() == before:  # a swap with itself, say
        load(path)
    else:
        with pytest.raises(ModelFileError):
            load(path)


@pytest.mark.parametrize("entry", ["sha256", "arrays/0.npy", "manifest.json"])
def test_an_entry_that_is_missing_or_new(tmp_path: Path, digested: Path, entry: str) -> None:
    with zipfile.ZipFile(digested) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    for changed in (
        {name: data for name, data in content.items() if name != entry},
        content | {"more": b"x"},
        content | {entry: content[entry] + b" "},
    ):
        with zipfile.ZipFile(tmp_path / "changed.seq", "w") as archive:
            for name, data in changed.items():
                archive.writestr(name, data)
        with pytest.raises(ModelFileError):
            load(tmp_path / "changed.seq")


@pytest.mark.parametrize("name", ["full", "discounted"])
def test_prices_beyond_reckoning_are_refused(tmp_path: Path, name: str) -> None:
    """Also of a feature that the classifier never asks for, but that someone may answer."""
    clf = etana(order="given", feature_costs=[0.1, 0.2]).fit(np.tile([[0, 0], [1, 1]], (9, 1)), np.tile([0, 1], 9))
    before = clf.agent_.prices
    prices = {"full": before.full.copy(), "discounted": before.discounted.copy(), "groups": None}
    prices[name][1] = 1e-320
    clf.agent_ = replace(clf.agent_, prices=Prices(**prices))
    clf.save(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match=f"{name} must be 0 or between 1e-100 and"):
        load(tmp_path / "model.seq")


@pytest.mark.parametrize(
    "part, change",
    [
        ("prices", {"groups": np.array([0, 2**62])}),
        ("model", {"alpha": np.inf}),
        ("model", {"temperature_": []}),
        ("model", {"alpha": 1e308}),
        ("model", {"counts_": np.full((2, 2, 2), 1e300)}),
    ],
)
def test_numbers_that_make_later_questions_fail_are_refused(tmp_path: Path, part: str, change: dict[str, Any]) -> None:
    clf = etana(order="given", feature_costs=0.1, n_bins=2).fit(np.tile([[0, 0], [1, 1]], (9, 1)), np.tile([0, 1], 9))
    for name, value in change.items():
        object.__setattr__(getattr(clf.agent_, part), name, value)
    clf.save(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match=r"groups are wrong|counts are too large|temperature_ is"):
        load(tmp_path / "model.seq")


@pytest.mark.parametrize(
    "part, name, value, told",
    [
        ("prices", "visits", 0.5, "visits are of another kind"),
        ("prices", "visits", Visits(0.1, np.zeros(3)), "delays is not the array"),
        ("prices", "visits", Visits(0.1, np.zeros(2), -1.0), "costs of visits"),
        ("prices", "visits", Visits(0.1, np.zeros(2), 0.0, 0), "max_panel is wrong"),
        ("info", "scope", "x", "info is none of a solver"),
        ("info", "upper", 10**30, "upper is no number"),
        ("prices", "after", np.zeros(2), "prices after answers are of another kind"),
        ("provenance", "versions", (("python", "3", "4"),), "versions of another form"),
        ("provenance", "n_rows", "", "a wrong number"),
    ],
)
def test_what_is_told_of_visits_bounds_and_the_fit_is_checked(
    tmp_path: Path, part: str, name: str, value: Any, told: str
) -> None:
    clf = etana(order="given", feature_costs=0.1, n_bins=2).fit(np.tile([[0, 0], [1, 1]], (9, 1)), np.tile([0, 1], 9))
    holder = {"prices": clf.agent_.prices, "info": clf.agent_.policy.info, "provenance": clf.provenance_}[part]
    object.__setattr__(holder, name, value)
    clf.save(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "model.seq")


def test_attributes_have_names(tmp_path: Path, digested: Path) -> None:
    parts = Parts(digested)
    [state] = [node["state"] for node in parts.manifest["objects"] if node.get("class") == "SequentialClassifier"]
    state.append([5, 1])
    parts.write(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match="has no name"):
        load(tmp_path / "model.seq")


@pytest.mark.slow
def test_ten_thousand_changed_files(tmp_path: Path, models: dict[str, Path], bounded: Callable[..., Any]) -> None:
    counts: Counter[str] = Counter()
    for seed in range(10_000):
        name = NAMES[seed % len(NAMES)]
        rng = random.Random(f"{name} {seed}")
        counts[bounded(lambda name=name, rng=rng: try_mutant(models[name], rng, tmp_path))] += 1
    assert set(counts) <= OUTCOMES
    assert counts["refused"] > 5000
    assert counts["works"] > 500


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("charge_missing", {"feature_costs": Costs(charge_missing=0.5)}),
        ("handle_unknown", {"handle_unknown": "guess"}),
        ("rules must be", {"rules": 11}),
    ],
)
def test_settings_that_a_fitted_classifier_goes_by_are_checked(
    tmp_path: Path, models: dict[str, Path], name: str, setting: dict[str, Any]
) -> None:
    clf = load(models["classes"]).set_params(**setting)
    clf.save(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match=name):
        load(tmp_path / "model.seq")


TRIED = Candidate("naive Bayes", 0.08, (0.06, 0.10), 0.0, 0.0, 0.03, 0.05, 3.0, 1.2)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        (Choice("naive Bayes", (replace(TRIED, above_std_error=None),)), "a candidate is not the array"),
        (Choice("naive Bayes", (replace(TRIED, cost_interval=(0.1,)),)), "a candidate is not the array"),
        (3, "choice_ is of another kind"),
    ],
)
def test_what_was_tried_is_checked(tmp_path: Path, models: dict[str, Path], choice: Any, told: str) -> None:
    clf: Any = load(models["classes"])
    clf.choice_ = choice
    clf.save(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "model.seq")


def test_states_of_a_score_are_checked(tmp_path: Path) -> None:
    plan = estimate({"b": [0.0, 1.0]}, target="ability", max_items=1)
    states = replace(plan.states, tables=np.concatenate([plan.states.tables] * 2))
    replace(plan, states=states).save(tmp_path / "plan.seq")
    with pytest.raises(ModelFileError, match="n_outcomes is not the array"):
        load(tmp_path / "plan.seq")


def test_skip_logic_of_other_columns_is_refused(tmp_path: Path) -> None:
    X, y = np.tile([[0, 0], [1, 1]], (9, 1)), np.tile([0, 1], 9)
    rules = Rules(skip=SkipLogic([SkipRule(1, after=0, answers=[1])]))
    clf = etana(order="adaptive", feature_costs=0.1, n_bins=2, rules=rules).fit(X, y)
    clf.agent_.problem.limits.rules.answers.features[0] = 2**62
    clf.save(tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match="skip logic is of other features"):
        load(tmp_path / "model.seq")
