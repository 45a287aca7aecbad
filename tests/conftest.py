"""What all tests share: deterministic property tests, and the real data sets where they are at hand."""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from covering import thin
from hypothesis import HealthCheck, settings

#: What only some of the files hold.
OPTIONAL = (
    *("class_names", "feature_names", "train_idx", "valid_idx", "test_idx"),
    *("cost", "discount_cost", "group"),
)
REPOSITORY = Path(__file__).resolve().parents[1]

# A failure must come back on every machine, and a slow machine must not be one.
# `--hypothesis-profile full` looks longer.
_SETTINGS: Any = {"derandomize": True, "deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("seqclass", max_examples=15, **_SETTINGS)
settings.register_profile("full", max_examples=250, **_SETTINGS)
settings.load_profile("seqclass")
# What is drawn must not depend on which modules happen to be imported: hypothesis would read the constants of ours, all
# of them anew in each process of a fresh checkout, and go through them for each kind of draw. Versions that do not
# have nothing to replace.
with suppress(ImportError, AttributeError):
    providers: Any = importlib.import_module("hypothesis.internal.conjecture.providers")
    providers._get_local_constants = providers.Constants


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """All that is collected stays: to look through it for garbage again and again is a fifth of the time it takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # what tests leave in circles is little, and they make much that is none
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before what is slow is left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    thin(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n` a file stays in one process, which fits once what its tests share; so does all of export, or report."""
    if config.getoption("dist") != "load":
        return None  # some other way was asked for
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            return file.rpartition("/")[0] if "/export/" in file or "/report/" in file else file

    return ByFile(config, log)


@pytest.fixture(scope="module")
def loose_mixtures() -> Iterator[None]:
    """Mixtures of `seqclass.adaptive` stop early, where it matters how ways are compared, not how close each fits."""
    from seqclass import adaptive_classifier
    from seqclass.bn import ClassMixture

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(adaptive_classifier, "ClassMixture", partial(ClassMixture, tol=1e-3))
        yield


@pytest.fixture(scope="session", autouse=True)
def short_lines() -> Iterator[None]:
    """The linear model that is told beside what is held out is tried with few features; not where it is tested."""
    from seqclass.fitting import _baselines

    with pytest.MonkeyPatch.context() as patched:
        few = replace(_baselines.TUNING, sizes=(0, 1, 3), price_powers=(0.0, 1.0), n_parts=2)
        patched.setattr(_baselines, "TUNING", few)
        yield


@pytest.fixture
def whole_lines(short_lines: None) -> Iterator[None]:
    """The linear model is tried as users have it."""
    from seqclass.fitting import _baselines

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_baselines, "TUNING", _baselines.BaselineTuning())
        yield


@pytest.fixture(scope="session")
def without_folds() -> SimpleNamespace:
    """Fits without a fold each, and what a classifier does with the rows that were left out."""
    from seqclass.fitting._cross_fit import calibrate_folds, cross_fit, with_shares
    from seqclass.fitting._fit import asking_without, fit_without, replan

    def asking(clf: Any, X: Any, y: Any, fold: Any) -> Any:
        """Only asked for the next question."""
        first = asking_without(clf.settings(), X, y, fold, 0, None)
        settings = with_shares(clf.settings(), first)
        others = (asking_without(settings, X, y, fold, n, None) for n in range(1, fold.max() + 1))
        return SimpleNamespace(given=(X, y, fold), fits=[first, *others])

    def planned(folds: Any, clf: Any, calibrate: bool) -> Any:
        """The same, solved; each is calibrated by what the other folds ask for."""
        settings = clf.settings().replace(calibrate=calibrate)
        folds.found = calibrate_folds("", folds.fits, *folds.given, None)[0] if calibrate else [None] * len(folds.fits)
        return [replan(fit, settings, *folds.given, n, folds.found[n]) for n, fit in enumerate(folds.fits)]

    def acting(clf: Any, X: Any, y: Any, fold: Any) -> Any:
        fits = [fit_without(clf.settings(), X, y, fold, n) for n in range(fold.max() + 1)]
        return cross_fit(fits, X, y, fold)

    return SimpleNamespace(asking=asking, planned=planned, acting=acting)


@pytest.fixture(scope="session", autouse=True)
def short_certificates() -> Iterator[dict[str, int]]:
    """Solvers certify on few paths, where it does not matter how near its ends come; not where it is tested."""
    from seqclass.pomdp.solvers import base

    whole, search, most = base.certify, base.search_of_cases, {"paths": 300}

    def certify(*arguments: Any, n_paths: int, **settings: Any) -> Any:
        return whole(*arguments, n_paths=min(n_paths, most["paths"]), **settings)

    def search_of_cases(problem: Any, upper: float, lower: float, n_paths: int, rng: Any) -> Any:
        return search(problem, upper, lower, min(n_paths, most["paths"]), rng)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(base, "certify", certify)
        patched.setattr(base, "search_of_cases", search_of_cases)
        yield most


@pytest.fixture(scope="module")
def whole_certificates(short_certificates: dict[str, int]) -> Iterator[None]:
    """Solvers certify as users have it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(short_certificates, "paths", 10**9)
        yield


@pytest.fixture(autouse=True)
def whole_where_slow(request: pytest.FixtureRequest) -> None:
    """What the weekly job runs sees what users have, but for what a module has fitted before."""
    if request.node.get_closest_marker("slow"):
        request.getfixturevalue("whole_certificates")
        request.getfixturevalue("whole_lines")


@pytest.fixture(scope="module")
def few_ways(loose_mixtures: None) -> Iterator[None]:
    """`seqclass.adaptive` tries two ways, where it does not matter which it takes."""
    from seqclass import adaptive_classifier

    every = adaptive_classifier.candidates

    def few(*how: Any) -> dict[str, Any]:
        ways = every(*how)
        return {name: ways[name] for name in (adaptive_classifier.NOTHING, "mixture of densities")}

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(adaptive_classifier, "candidates", few)
        yield


@pytest.fixture
def steps() -> Callable[[Callable[[], Any]], int]:
    """Count the steps of Python's interpreter that a call takes: what seconds would tell, but the same everywhere."""

    def monitored(function: Callable[[], Any]) -> int:
        """From 3.12 on, where a trace leaves out the code that no trace saw before."""
        found, thread, monitoring = 0, threading.get_ident(), sys.monitoring  # type: ignore[attr-defined, unused-ignore]

        def note(code: Any, offset: int) -> None:
            nonlocal found
            found += threading.get_ident() == thread

        tool, event = monitoring.PROFILER_ID, monitoring.events.INSTRUCTION
        monitoring.use_tool_id(tool, "steps")
        monitoring.register_callback(tool, event, note)
        try:
            monitoring.set_events(tool, event)
            function()
        finally:
            monitoring.set_events(tool, 0)
            monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)
        return found

    def traced(function: Callable[[], Any]) -> int:
        found = 0

        def note(frame: Any, event: str, argument: Any) -> Any:
            nonlocal found
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            found += event == "opcode"
            return note

        before = sys.gettrace()
        sys.settrace(note)
        try:
            function()
        finally:
            sys.settrace(before)
        return found

    return monitored if sys.version_info >= (3, 12) else traced


@pytest.fixture(scope="session")
def draw_anew() -> Iterator[Callable[..., Any]]:
    """What draws a picture of a report; from then on, but where a test puts it back, none is drawn a second time."""
    from seqclass.report import _pictures

    draw, drawn = _pictures.draw, dict[bytes, Any]()

    def once(display: Any, key: str) -> Any:
        what = pickle.dumps((type(display), vars(display), key))
        if what not in drawn:
            drawn[what] = draw(display, key)
        return drawn[what]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pictures, "draw", once)
        yield draw


@pytest.fixture(scope="module")
def undrawn(draw_anew: Callable[..., Any]) -> Iterator[None]:
    """Pictures of a report are empty, where it does not matter what they show: each takes half a second."""
    from seqclass.report import _pictures

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pictures, "draw", lambda display, key: ([], (100.0, 100.0)))
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets: ``SEQCLASS_DATA``, or one beside the checkout."""
    named = os.environ.get("SEQCLASS_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is no folder (set SEQCLASS_DATA to one)")
    return folder


@pytest.fixture(scope="session")
def load_data(data_dir: Path) -> Callable[[str], SimpleNamespace]:
    """Loader of one set by name: ``X`` (dense or CSR), ``y``, and the rest of its file."""

    def load(name: str) -> SimpleNamespace:
        path = data_dir / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"no real data: {path.name} is not among them")
        with np.load(path, allow_pickle=False) as file:
            parts: dict[str, Any] = {key: file[key] for key in file.files}
        if "indptr" in parts:
            csr = (parts.pop("data"), parts.pop("indices"), parts.pop("indptr"))
            parts["X"] = sp.csr_array(csr, shape=tuple(parts.pop("shape")))
        return SimpleNamespace(**(dict.fromkeys(OPTIONAL) | parts))

    return load


def _optimum(
    joint: Any, order: list[int], prices: list[float], costs: Any, seen: tuple[tuple[int, int], ...] = ()
) -> float:
    """Optimal cost by recursion over all histories; ``joint`` is P(outcomes, class)."""
    stage = len(seen)
    at: list[Any] = [slice(None)] * joint.ndim
    for feature, value in seen:
        at[feature] = value
    belief = joint[tuple(at)].reshape(-1, joint.shape[-1]).sum(axis=0)
    stop = float((belief @ costs).min())
    if stage == len(order):
        return stop
    values = range(joint.shape[order[stage]])
    go_on = prices[stage] * float(belief.sum())
    go_on += sum(_optimum(joint, order, prices, costs, (*seen, (order[stage], value))) for value in values)
    return min(stop, go_on)


@pytest.fixture(scope="session")
def make_tree() -> Callable[..., SimpleNamespace]:
    """``make_tree(seed, n_features=5, n_outcomes=3, n_classes=3, spread=1.0)``: a random tree network.

    It has a fitted ``model``, ``joint`` (P(outcomes, class) as an array), an ``order`` and ``optimum(prices, costs)``.
    """

    def make(
        seed: int, n_features: int = 5, n_outcomes: int = 3, n_classes: int = 3, spread: float = 1.0
    ) -> SimpleNamespace:
        from seqclass.bn import TreeNetwork

        rng = np.random.default_rng(seed)
        shape, parents, cpds = [n_outcomes] * n_features, [np.array([], dtype=int)], []
        joint = rng.dirichlet(np.full(n_classes, 3.0)) * np.ones([*shape, 1])
        prior = joint.reshape(-1, n_classes)[0]
        for feature in range(n_features):
            axes = {feature: n_outcomes, n_features: n_classes}
            if feature:
                parents.append(rng.integers(feature, size=1))
                axes[int(parents[-1][0])] = n_outcomes
            table = rng.dirichlet(np.full(n_outcomes, spread), size=list(axes.values())[2:] + [n_classes])
            cpds.append(np.moveaxis(table, -1, 0))
            aligned = cpds[-1] if feature == 0 else cpds[-1].swapaxes(0, 1)  # the parent comes before the child
            joint = joint * aligned.reshape([axes.get(axis, 1) for axis in range(n_features + 1)])
        model = TreeNetwork.from_cpds(np.arange(n_classes), prior, parents, cpds)
        order = rng.permutation(n_features)

        def optimum(prices: Any, costs: Any, order: Any = order) -> float:
            return _optimum(joint, [int(f) for f in order], [float(p) for p in prices], costs)

        return SimpleNamespace(model=model, joint=joint, prior=prior, order=order, optimum=optimum)

    return make


@pytest.fixture
def refuses(run: Callable[..., Any]) -> Callable[..., str]:
    """Check that a command is refused with one sentence and exit code 2; gives the sentence."""

    def check(*arguments: Any) -> str:
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        assert result.stderr.rstrip().endswith((".", "?"))
        return result.stderr

    return check
