"""Semi-randomised feature selection over workers and over time: parallel, interrupted, resumed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from seqclass.persistence import save
from seqclass.selection import SemiRFS
from seqclass.selection.semi_rfs import describe_setting

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(60, 14, n_informative=5, random_state=3)  # type: ignore[no-any-return]


def make(**changes: Any) -> SemiRFS:
    settings = {"cv": 3, "max_iter": 8, "patience": None, "random_state": 0, "cool_down": True, "warm_start": True}
    return SemiRFS(DecisionTreeClassifier(max_depth=2, max_features=1), **(settings | changes))


@pytest.fixture(scope="module")
def undisturbed(data: Any) -> Callable[..., SemiRFS]:
    """A search alone and without a break; each of its forms is fitted once, and nobody may change it."""
    return functools.cache(lambda **form: make(**form).fit(*data))


def assert_same(one: SemiRFS, other: SemiRFS) -> None:
    assert np.array_equal(one.support_, other.support_)
    assert one.stop_reason_ == other.stop_reason_
    for a, b in ((one.history_, other.history_), (one.evaluations_, other.evaluations_)):
        for name in a.dtype.names:
            assert name == "time" or np.array_equal(a[name], b[name]), name


@pytest.mark.slow
@pytest.mark.covering(0)
@pytest.mark.parametrize(
    "form", [{}, {"adaptive": False, "group_size": 1, "cool_down": False}, {"max_evaluations": 30}]
)
def test_the_result_does_not_depend_on_the_workers(data: Any, undisturbed: Any, form: dict[str, Any]) -> None:
    alone = undisturbed(**form)
    with joblib.parallel_config(backend="threading"):
        for n_jobs in (2, 16):
            assert_same(make(n_jobs=n_jobs, **form).fit(*data), alone)


def test_a_wrong_number_of_processes_is_refused(data: Any) -> None:
    with pytest.raises(TypeError, match="n_jobs must be a number of processes"):
        make(n_jobs="two").fit(*data)


@pytest.mark.slow
def test_worker_processes(data: Any, undisturbed: Any) -> None:
    alone = undisturbed(max_iter=4)
    assert_same(make(max_iter=4, n_jobs=2).fit(*data), alone)
    with joblib.parallel_config(n_jobs=2):
        assert_same(make(max_iter=4).fit(*data), alone)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask and its web server, whatever they have to say
def test_a_dask_cluster(data: Any, undisturbed: Any) -> None:
    distributed = pytest.importorskip("distributed")
    alone = undisturbed(max_iter=4)
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with (
        distributed.LocalCluster(**settings) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert joblib.effective_n_jobs() == 2
        assert_same(make(max_iter=4).fit(*data), alone)


class Counted(DecisionTreeClassifier):  # type: ignore[misc]
    """Counts its fits."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:
        Counted.fits += 1
        return super().fit(X, y, sample_weight, check_input)


@pytest.mark.slow
def test_idle_workers_score_what_may_come_next(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    call = joblib.Parallel.__call__

    def counted(self: Any, tasks: Any) -> Any:
        tasks = list(tasks)
        batches.append(sum(isinstance(arguments[0], Counted) for _, arguments, _ in tasks if arguments))
        return call(self, tasks)

    monkeypatch.setattr(joblib.Parallel, "__call__", counted)
    monkeypatch.setattr(Counted, "fits", 0)
    form = {"adaptive": False, "group_size": 1, "cool_down": False, "max_iter": 20, "c": math.inf}
    form["estimator"] = Counted(max_depth=2, max_features=1)
    alone = make().set_params(**form).fit(*data)
    assert Counted.fits == 3 * alone.n_evaluations_  # on each of three folds, and nothing that was not asked for
    batches.clear()
    with joblib.parallel_config(backend="threading"):
        many = make(n_jobs=12).set_params(**form).fit(*data)
    assert_same(many, alone)
    assert max(batches) == 12  # four subsets on three folds
    assert set(batches) <= {0, 3, 6, 9, 12}
    assert sum(batch > 0 for batch in batches) < alone.n_evaluations_


class Interrupting(GaussianNB):  # type: ignore[misc]
    """Is interrupted at one of its fits, as if by Ctrl-C."""

    countdown = math.inf

    def fit(self, X: Any, y: Any) -> Any:
        Interrupting.countdown -= 1
        if Interrupting.countdown < 0:
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.mark.covering(0)
@pytest.mark.parametrize("fits", [3, 10, 26])
def test_an_interrupt_keeps_the_best_and_the_search_can_go_on(data: Any, fits: int, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"cv": 3, "max_iter": 6, "cool_down": True, "random_state": 0}
    Interrupting.countdown = math.inf
    whole = SemiRFS(Interrupting(), **settings).fit(*data)
    Interrupting.countdown = fits
    with pytest.warns(UserWarning, match="interrupted after"):
        selector = SemiRFS(Interrupting(), **settings).fit(*data)
    assert selector.stop_reason_ == "interrupted"
    assert selector.n_evaluations_ == fits // 3
    assert selector.best_score_ == selector.evaluations_["score"].max()
    selector.save_state(tmp_path / "state")
    Interrupting.countdown = math.inf
    assert_same(SemiRFS(Interrupting(), **settings).resume(tmp_path / "state", *data), whole)


def test_an_interrupt_before_anything_is_known_is_an_interrupt(data: Any) -> None:
    Interrupting.countdown = 1
    with pytest.raises(KeyboardInterrupt):
        SemiRFS(Interrupting(), cv=3).fit(*data)


@pytest.mark.slow_cells("form0-limit0", "form1-limit1", "form1-limit3")
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    "limit", [{"max_iter": 5}, {"max_iter": 0}, {"max_evaluations": 1}, {"max_evaluations": 40}, {"max_time": 0.0}]
)
@pytest.mark.parametrize("form", [{}, {"adaptive": False, "cool_down": False, "warm_start": False}])
def test_a_resumed_search_equals_an_undisturbed_one(
    data: Any, limit: dict[str, Any], form: dict[str, Any], undisturbed: Any, tmp_path: Path
) -> None:
    whole = undisturbed(**form)
    make(**(form | limit)).fit(*data).save_state(tmp_path / "state")
    later = make(**form).resume(tmp_path / "state", *data)
    assert_same(later, whole)
    assert np.all(np.diff(later.evaluations_["time"]) >= 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_an_interrupted_iteration_counts_as_it_would_have(seed: int, tmp_path: Path) -> None:
    data = make_classification(80, 20, n_informative=5, random_state=3)
    # an improvement found in the part before the interruption must still reset the patience
    form: dict[str, Any] = {"max_iter": None, "patience": 3, "random_state": seed}
    whole = make(**form).fit(*data)
    for limit in range(1, whole.n_evaluations_, 3):
        make(**form, max_evaluations=limit).fit(*data).save_state(tmp_path / "state")
        assert_same(make(**form).resume(tmp_path / "state", *data), whole)


@pytest.mark.slow
def test_resuming_without_a_seed_or_fixed_folds(data: Any, tmp_path: Path) -> None:
    first = make(random_state=None, max_iter=3).fit(*data)
    first.save_state(tmp_path / "state")
    runs = [make(random_state=None).resume(tmp_path / "state", *data) for _ in range(2)]
    assert_same(*runs)
    assert np.array_equal(runs[0].history_["score"][:4], first.history_["score"])


def test_a_checkpoint_is_written_after_five_seconds(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, there = [0.0], []
    monkeypatch.setattr("seqclass.selection.semi_rfs.time", SimpleNamespace(monotonic=lambda: now[0]))

    def go_on(step: Any) -> None:
        there.append((tmp_path / "state").exists())
        now[0] += 2.6

    make(checkpoint=tmp_path / "state", callback=go_on, max_iter=2, cv=2).fit(*data)
    assert there == [False, False, True]  # by a clock on which each step takes more than half of them


@pytest.mark.slow
def test_a_checkpoint_is_written_on_the_way(
    data: Any, undisturbed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seqclass.selection.semi_rfs.CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "state"

    def crash(step: Any) -> None:
        if step.iteration == 6:
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        make(checkpoint=path, callback=crash).fit(*data)
    assert_same(make().resume(path, *data), undisturbed())
    before = path.read_bytes()
    done = make(checkpoint=path).fit(*data)
    assert path.read_bytes() != before
    assert_same(make().resume(path, *data), done)
    assert list(tmp_path.iterdir()) == [path]


def test_states_of_other_searches_are_refused(data: Any, tmp_path: Path) -> None:
    X, y = data
    path = tmp_path / "state"
    make(max_iter=2).fit(X, y).save_state(path)
    for other in ((X[:, :10], y), (X + 1.0, y), (X, 1 - y)):
        with pytest.raises(ValueError, match="other data"):
            make().resume(path, *other)
    changes = {"alpha": 2.0, "scoring": "roc_auc", "warm_start": False, "c": 3.0, "cv": 4, "n_initial": 3}
    changes["random_state"] = 1
    names = {"warm_start": "fine_stage"}
    for name, value in changes.items():
        with pytest.raises(ValueError, match=f"another {names.get(name, name)}"):
            make(**{name: value}).resume(path, X, y)
    with pytest.raises(ValueError, match="another estimator"):
        make().set_params(estimator=GaussianNB()).resume(path, X, y)
    save({"kind": "something else"}, path)
    with pytest.raises(ValueError, match="holds no state"):
        make().resume(path, X, y)
    path.write_bytes(b"half of a")
    with pytest.raises(ValueError, match="damaged"):
        make().resume(path, X, y)


def test_settings_are_told_apart_whole(data: Any, tmp_path: Path) -> None:
    # the repr of a long array has dots in its middle, and so has that of an estimator of many settings
    priors = [np.full(2000, 0.01), np.full(2000, 0.01)]
    priors[1][1000] = 0.5
    texts = [describe_setting(GaussianNB(priors=array)) for array in priors]
    assert texts[0] != texts[1]
    assert texts[0] == describe_setting(GaussianNB(priors=priors[0].copy()))
    deep = [make_pipeline(*[FunctionTransformer(kw_args={"a": i}) for i in range(40)], GaussianNB()) for _ in range(2)]
    deep[1].set_params(**{"functiontransformer-20__kw_args": {"a": 0}})
    assert describe_setting(deep[0]) != describe_setting(deep[1])
    assert describe_setting([(priors[0], priors[1])]) != describe_setting([(priors[0], priors[0])])


def test_a_state_needs_a_search(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        make().save_state(tmp_path / "state")
    assert list(tmp_path.iterdir()) == []
