"""The grid of an experiment, and running it."""

from __future__ import annotations

import platform
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, clone
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped, unused-ignore]

from seqclass._utils.frames import is_frame
from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import check_choice, check_costs, check_integer, check_jobs, check_real, columns_of
from seqclass.agent.record import AcquisitionRecord
from seqclass.costs import Costs
from seqclass.datasets import Dataset, load
from seqclass.experiment._keeping import (
    Decided,
    Keep,
    Reached,
    Scored,
    find_sequential,
    keep_parts,
    mask_unknown_categories,
    purchases,
    spread,
)
from seqclass.experiment._keys import canonical, code_version, fingerprint, key_of
from seqclass.experiment._scores import scores
from seqclass.experiment._store import open_store
from seqclass.experiment._summary import failures
from seqclass.experiment.methods import build, check_methods, plan_for
from seqclass.experiment.protocols import Protocol, as_protocol
from seqclass.experiment.results import Results
from seqclass.fitting._steps import PREPROCESSING
from seqclass.pomdp import evaluate

_PROCESS = Path("/proc/self")


class PeakMemory:
    """Growth of a process's resident memory over what it held before."""

    def __init__(self) -> None:
        #: Megabytes; NaN where the system does not tell.
        self.mb = float("nan")


@contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measure the peak of resident memory during a block, above what was resident before."""
    peak = PeakMemory()
    try:
        (_PROCESS / "clear_refs").write_text("5")
        before = _kilobytes("VmRSS")
    except OSError:
        yield peak
        return
    yield peak
    peak.mb = max(0, _kilobytes("VmHWM") - before) * 1024 / 1e6


def _kilobytes(entry: str) -> int:
    lines = (_PROCESS / "status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(entry)).split()[1])


_STEPS = (*PREPROCESSING, "solve", "certify")
#: Warnings, threads of BLAS and memory belong to a process: cells in threads of one take turns.
_ONE_AT_A_TIME = threading.Lock()


class SizedDataset:
    """A data set whose size tells dask to send it to each worker once, not with every cell."""

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def __sizeof__(self) -> int:
        X = self.data.X
        parts = [X.data, X.indices, X.indptr] if hasattr(X, "indptr") else [X]
        return 64 + sum(int(part.memory_usage().sum()) if is_frame(part) else part.nbytes for part in parts)


@dataclass(frozen=True, eq=False)
class Cell:
    """What one cell is to do.

    Attributes
    ----------
    key : str
        Hash of ``settings``.
    settings : dict
        Canonical settings.
    labels : dict
        What the table says of the cell: data, method, price, hard budget or None, seed and fold.
    estimator : estimator
        The unfitted method, its price and seed set.
    costs : dict
        ``feature_costs`` and the data set's other costs.
    protocol : Protocol
        How rows are cut.
    keep : Keep
        How much to keep of the instances.
    known : tuple of str
        Columns of the data set that are known at the start.
    budget : int or None
        Hard budget.
    """

    key: str
    settings: dict[str, Any]
    labels: dict[str, Any]
    estimator: Any
    costs: dict[str, Any]
    protocol: Protocol
    keep: Keep = field(default_factory=Keep)
    known: tuple[str, ...] = ()
    budget: int | None = None


@lru_cache(maxsize=1)
def _threads(n_modules: int) -> Any:
    """Libraries that run threads; to look for them takes as long as a small fit, and only an import brings another."""
    return ThreadpoolController()


def run_cell(cell: Cell, held: SizedDataset) -> tuple[str, dict[str, Any], dict[str, bytes]]:
    """Fit on the training rows of a cell, score on the others; an error becomes part of the answer."""
    # one thread, so that neither results nor seconds hang on how many cells run at a time
    with _ONE_AT_A_TIME, _threads(len(sys.modules)).limit(limits=1):
        figures, scored = _measure(cell, held.data)
        parts: dict[str, bytes] = {}
        if scored is not None:  # neither seconds nor memory of the cell have this in them
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parts, troubles = keep_parts(cell.keep, held.data, scored)
            texts = [figures["warnings"], *(_message(UserWarning, trouble) for trouble in troubles)]
            figures["warnings"] = "\n".join(filter(None, texts))
    return cell.key, figures | _versions(), parts


def _measure(cell: Cell, data: Dataset) -> tuple[dict[str, Any], Scored | None]:
    """Figures of a cell with its error, warnings, seconds and memory, and what it decided."""
    figures: dict[str, Any] = {"error": ""}
    scored = None
    with warnings.catch_warnings(record=True) as caught, peak_memory() as peak:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)  # for developers, as Python itself has it
        started = time.perf_counter()
        try:
            scored = _fit_and_score(cell, data, figures)
        except Exception as error:
            figures["error"] = _message(type(error), error)
        figures["seconds_total"] = time.perf_counter() - started
    texts = dict.fromkeys(_message(w.category, w.message) for w in caught)
    return figures | {"warnings": "\n".join(texts), "peak_mb": peak.mb}, scored


def _message(category: type, text: Any) -> str:
    """Name and words of an error or a warning, on one line that is not too long."""
    line = f"{category.__name__}: {' '.join(str(text).split())}"
    return line if len(line) <= 500 else f"{line[:500]}..."


def _versions() -> dict[str, str]:
    return {
        "version_seqclass": code_version(),
        "version_numpy": np.__version__,
        "version_sklearn": sklearn.__version__,
        "version_python": platform.python_version(),
    }


def _fit_and_score(cell: Cell, data: Dataset, figures: dict[str, Any]) -> Scored:
    train, rows = cell.protocol.split(data, cell.labels["fold"], cell.labels["seed"])
    shared = np.intersect1d(train, rows)
    if shared.size:
        raise ValueError(f"{cell.protocol!r} puts row {shared[0]} both into the training rows and into those scored.")
    figures |= {"n_train": len(train), "n_test": len(rows), "n_columns": data.X.shape[1]}
    X = data.X
    X_train, X_test = (X.iloc[train], X.iloc[rows]) if is_frame(X) else (X[train], X[rows])
    started = time.perf_counter()
    fitted = clone(cell.estimator, safe=False).fit(X_train, data.y[train])
    figures["seconds_fit"] = time.perf_counter() - started
    inside = find_sequential(fitted, mask_unknown_categories(X_train, X_test) if is_frame(X) else X_test, data)
    if inside is not None:
        inside = inside.with_known(cell.known, data.names(), cell.budget)
        _note_sequential(inside, cell.labels["seed"], figures)
    started = time.perf_counter()
    decided, record = (_decide_with_all(cell, fitted, X_test, data), None) if inside is None else _acquire(inside)
    figures["seconds_classify"] = time.perf_counter() - started
    if decided.proba is not None:
        decided = replace(decided, proba=spread(decided.proba, np.asarray(fitted.classes_), data.n_classes))
    figures |= scores(data, data.y[rows], decided)
    return Scored(rows, decided, inside, record)


def _note_sequential(inside: Reached, seed: int, figures: dict[str, Any]) -> None:
    """Note what a sequential classifier says of itself."""
    clf = inside.classifier
    info = clf.policy_.info
    figures["status"] = info.status
    if inside.is_plain:  # what it expects and certifies is of its policy, from nothing to its own stop
        # n_paths: where it cannot be enumerated
        expected = evaluate(clf, n_paths=10_000, random_state=seed)
        figures |= {"expected_cost": expected.cost, "expected_n_features": expected.n_features}
        figures |= {"lower": info.lower, "upper": info.upper, "gap": info.gap, "scope": info.scope}
    figures |= {f"seconds_{step}": clf.timings_[step] for step in _STEPS}
    figures["seconds_preprocess"] = sum(clf.timings_[step] for step in PREPROCESSING)
    figures["seconds_learn"] = clf.timings_["structure"] + clf.timings_["parameters"]


def _acquire(inside: Reached) -> tuple[Decided, AcquisitionRecord]:
    record = inside.acquire(inside.X)
    return Decided(record.decision, record.posterior, record.n_features, record.paid), record


def _decide_with_all(cell: Cell, fitted: Any, X: Any, data: Dataset) -> Decided:
    """Decide by a classifier without a stopping rule, which acquires all that it needs."""
    decision = np.asarray(fitted.predict(X))
    proba = None
    if hasattr(fitted, "predict_proba"):
        proba = np.asarray(fitted.predict_proba(X), dtype=np.float64)
        proba /= proba.sum(axis=1, keepdims=True)  # which of single precision is not quite 1
    names = [str(name) for name in X.columns] if is_frame(X) else None
    prices = Costs(**cell.costs).prices(X.shape[1], names)
    own = data.names() if cell.known else []
    n_features, cost = purchases(fitted, X, prices, [own.index(name) for name in cell.known])
    if cell.budget is not None and n_features.max(initial=0) > cell.budget:
        raise ValueError(
            f"the method acquires {n_features.max()} features, more than the hard budget of {cell.budget}, and cannot "
            "be cut short; put a selector of so many features before it."
        )
    return Decided(decision, proba, n_features, cost)


#: A function and its arguments, as `joblib.delayed` gives them.
Job = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

_DIED = "BrokenProcessPool: its process was killed, for want of memory perhaps, or crashed"


def work(jobs: Mapping[str, Callable[[], Job]], n_jobs: int | None) -> Iterator[tuple[str, Any, str]]:
    """Do jobs as far as they can be done."""
    left = dict(jobs)
    while left:
        names = list(left)
        # one job a batch: what is done is told at once
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        try:
            for number, result in parallel(delayed(_with_number)(i, left[name]()) for i, name in enumerate(names)):
                del left[names[number]]
                yield names[number], result, ""
        except BrokenProcessPool:
            # it is among those that were handed out, which are the first
            for name in list(left)[: 2 * effective_n_jobs(n_jobs) + 1]:
                yield name, *_run_alone(left.pop(name)())


def _run_alone(job: Job) -> tuple[Any, str]:
    """Result of a job that has worker processes for itself, which it may take down."""
    try:
        return Parallel(n_jobs=2)([job])[0], ""
    except BrokenProcessPool:
        return None, _DIED


def _with_number(number: int, job: Job) -> tuple[int, Any]:
    function, arguments, settings = job
    return number, function(*arguments, **settings)


@contextmanager
def quiet_workers() -> Iterator[None]:
    """Leave out joblib's warning that a worker whose memory has grown was replaced, which is as it should be."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        yield


def warn_of_versions(versions: Iterable[str], what: str) -> None:
    """Warn the caller of our caller if any of these versions is not this one."""
    others = set(versions) - {code_version()}
    if others:
        warnings.warn(
            f"{what} of this run were computed by seqclass {', '.join(sorted(others))} and are kept, this is "
            f"{code_version()}; write to another file to compute them anew.",
            stacklevel=3,
        )


#: Key, figures and kept parts of a cell that is done.
Done = tuple[str, dict[str, Any], dict[str, bytes]]


@dataclass(repr=False, eq=False)
class Experiment(BaseEstimator):  # type: ignore[misc]
    """Runs every method on every data set at every price, for every seed and fold.

    Parameters
    ----------
    data : list of str, path or Dataset
        Data sets, or what `seqclass.datasets.load` can load.
    methods : list of str or dict of str to method
        Methods by name. A method is a recipe or another callable that takes ``random_state`` and ``feature_costs`` (a
        `seqclass.Costs` if the data set has other costs too) and returns an estimator; or a `SequentialClassifier`, or
        any classifier or pipeline of scikit-learn, whose parameters of these names are set; or a text, see
        `parse_method`.
    prices : list of float, optional
        Price of every feature, in units of misclassification cost, by default 0.01; or a factor, see ``feature_costs``,
        by default 1.
    cv : int, Protocol or cross-validator
        How rows are split for training and scoring: a number of stratified folds, `SourceSplit` or `ShuffledSplit`, or
        a cross-validator of scikit-learn, such as ``RepeatedStratifiedKFold()``.
    seeds : list of int
        Each one shuffles the rows anew, and is the ``random_state`` of the methods.
    feature_costs : {"uniform", "dataset"}
        ``"uniform"``: a price is that of every feature. ``"dataset"``: a price is a factor by which the data set's own
        prices are multiplied, and its groups and discounts apply. The decision costs of a data set, if it has any,
        always apply.
    missing_cost : float, optional
        Price, before the factor, of features for which the source of the data set gives none.
    visits : dict, optional
        What visits cost: ``visit_cost``, ``delay_cost`` (with the delays of the data set) and ``max_panel``, as in
        `seqclass.Costs`; with ``feature_costs="dataset"`` in the units of the data set, and instead of what it says. A
        classifier without a stopping rule orders everything that it needs in as few visits as ``max_panel`` allows; for
        a single decision tree, that is what lies on the path to the leaf.
    budgets : list of int, optional
        Hard budgets (AFABench [1]_), a further axis of the grid: each instance is asked this many questions, as long as
        any are left, and is then decided. Sequential classifiers plan for them (``max_features``) but do not stop by
        themselves, so prices only say how features compare, and are 0 by default. Any other method fails if it acquires
        more. By default there are no hard budgets: methods stop by themselves, depending on prices (soft budgets).
    known : list of str
        Columns that are known before the first question (a warm start); they cost nothing and are not counted. By
        default there are none (a cold start).

    References
    ----------
    .. [1] V. Schütz, H. Wu, R. Rezvan, L. Aronsson and M. Haghir Chehreghani, "AFABench: a generic framework for
       benchmarking active feature acquisition", 2025.

    See Also
    --------
    seqclass.experiment.Results : What a run returns.

    Notes
    -----
    A classifier without a stopping rule pays for all columns that it was given, except those that it evidently does not
    need: columns whose weights are zero, that a selector drops, or that no tree asks for. A single decision tree pays
    for what lies on the path to the leaf, instance by instance, behind other steps of a pipeline too. A missing cell is
    neither acquired nor paid for. Such a classifier decides by its ``predict``, even if decision costs are not 0 and 1.

    For a sequential classifier and a data frame, a category in the rows to score that no training row has is missing.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import seqclass
    >>> experiment = Experiment(
    ...     data=["iris"],
    ...     methods={"ETANA": seqclass.etana, "tree": DecisionTreeClassifier(max_depth=3)},
    ...     prices=[0.01],
    ...     cv=3,
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = experiment.run(os.path.join(folder, "iris.run"))
    ...     table = results.to_frame()
    >>> table[["method", "fold"]].values.tolist()
    [['ETANA', 0], ['ETANA', 1], ['ETANA', 2], ['tree', 0], ['tree', 1], ['tree', 2]]
    >>> bool((table["accuracy"] > 0.85).all())
    True
    """

    data: Iterable[Any]
    methods: Any = ("adaptive", "etana")
    _: KW_ONLY
    prices: Iterable[float] | None = None
    cv: Any = 5
    seeds: Iterable[int] = (0,)
    feature_costs: str = "uniform"
    missing_cost: float | None = None
    visits: Mapping[str, Any] | None = None
    budgets: Iterable[int] | None = None
    known: Iterable[str] = ()

    def __repr__(self) -> str:
        known = [list(part) if isinstance(part, (list, tuple, dict)) else [part] for part in (self.data, self.methods)]
        data, methods = (join_names((getattr(one, "name", one) for one in part), 4) for part in known)
        at = {"prices": self.prices, "budgets": self.budgets, "seeds": self.seeds, "cv": self.cv}
        more = ", ".join(f"{name} {short_repr(value)}" for name, value in at.items() if value is not None)
        return f"<Experiment: {methods} on {data}; {more}>"

    def run(
        self,
        path: str | Path,
        *,
        n_jobs: int | None = None,
        progress: bool | None = None,
        retry_failed: bool = False,
        keep_instances: int = 10_000,
        keep_explanations: int = 20,
    ) -> Results:
        """Compute the cells that a file does not have yet, and write each one to it as soon as it is done.

        A run that was stopped or killed continues when it is run again. A cell is identified by its settings, those of
        its method, and its data: if any of these change, it is computed anew and stored beside the old one. The code of
        a class is not part of this: after a change to an estimator of your own, use another file.

        Parameters
        ----------
        path : path
            File of the run, in SQLite format.
        n_jobs : int, optional
            Number of processes. None: 1, or what ``joblib.parallel_config`` says; this also allows a dask cluster, best
            with one thread per worker, as cells in threads of one process take turns.
        progress : bool, optional
            Whether to show progress and the time left; None: only on a terminal.
        retry_failed : bool
            Whether to compute again the cells that ended with an error.
        keep_instances : int
            Most instances that a cell keeps, evenly spaced among those it is scored on: their decisions, probabilities,
            features and costs and, for a sequential classifier, what it asked and believed at each step. 0 keeps none.
        keep_explanations : int
            Most instances that a cell of a sequential classifier explains, also evenly spaced. 0 explains none.

        Returns
        -------
        Results
            The cells of this experiment.

        Raises
        ------
        ValueError, TypeError
            If a setting is invalid, or a data set cannot be split as the protocol requires; nothing has been computed
            then. A cell that fails, or that with several processes crashes its own, becomes a row with its error.

        Warns
        -----
        UserWarning
            If cells failed, now or when they were computed: how many of which method, and the first error of each.

        Notes
        -----
        What is kept is not part of the identity of a cell: a finished cell stays as it is, even if more is to be kept
        now. Its seconds and memory do not include the keeping, which classifies the instances about twice more. For a
        fold of five at price 0.01, with ETANA or IFC2F, it took 0.02 to 0.03 s and 8 kB (``breast_cancer``, 114 rows),
        0.08 to 0.14 s of cells of 4 to 7 s and 170 kB (``digits``, 359 rows, ten classes, twelve features each) and
        0.01 to 0.04 s and 7 kB (MLL, 14 rows of 5848 genes); a classifier that is not sequential 0.001 s and 2 to 9 kB.
        Most of the space is for the steps: at worst, if each instance asks its own questions, 4 bytes per class and
        step, compressed.
        """
        check_jobs(n_jobs)
        cells, held = self._cells(Keep(keep_instances, keep_explanations))
        with open_store(Path(path), create=True) as store:
            store.plan((cell.key, cell.labels, cell.settings) for cell in cells)
            done = store.results(cell.key for cell in cells)
            warn_of_versions((result["version_seqclass"] for result in done.values()), "cells")
            if retry_failed:
                done = {key: result for key, result in done.items() if not result["error"]}
            missing = [cell for cell in cells if cell.key not in done]
            with quiet_workers():
                for key, result, parts in _compute(missing, held, n_jobs, progress, len(cells)):
                    store.put(key, result, parts)
        results = Results(path, [cell.key for cell in cells])
        if failure := failures(results.to_frame()):
            warnings.warn(f"{failure} retry_failed=True computes them again.", stacklevel=2)
        return results

    def _cells(self, keep: Keep) -> tuple[list[Cell], dict[str, SizedDataset]]:
        """All cells in order, and the data sets by name."""
        methods, protocol = check_methods(self.methods), as_protocol(self.cv)
        check_choice(self.feature_costs, "feature_costs", ("uniform", "dataset"))
        uniform = 0.01 if self.budgets is None else 0.0
        usual = [1.0 if self.feature_costs == "dataset" else uniform]
        axis = usual if self.prices is None else _check_axis(self.prices, "prices")
        prices = [float(check_costs(check_real(price, "prices", 0), "prices")) for price in axis]
        seeds = [check_integer(seed, "seeds", 0, 2**32 - 1) for seed in _check_axis(self.seeds, "seeds")]
        budgets = [None] if self.budgets is None else _check_axis(self.budgets, "budgets")
        budgets = [budget if budget is None else check_integer(budget, "budgets", 0) for budget in budgets]
        grid = [(price, budget) for price in prices for budget in budgets]
        held: dict[str, SizedDataset] = {}
        cells: list[Cell] = []
        for data in (data if isinstance(data, Dataset) else load(data) for data in _check_axis(self.data, "data")):
            if data.name in held:
                raise ValueError(f"data: two sets are called {data.name!r}; rename one by dataclasses.replace.")
            protocol.check(data)
            held[data.name] = SizedDataset(data)
            cells += (replace(c, keep=keep) for c in self._of_dataset(data, methods, grid, protocol, seeds))
        return cells, held

    def _of_dataset(
        self,
        data: Dataset,
        methods: Mapping[str, Any],
        grid: list[tuple[float, int | None]],
        protocol: Protocol,
        seeds: list[int],
    ) -> Iterator[Cell]:
        mark, known = fingerprint(data), self._columns_at_start(data)
        # names are not of the data, and which columns they name is
        where = {"known_columns": [data.names().index(name) for name in known]} if known else {}
        for name, method in methods.items():
            for price, budget in grid:
                costs = self._costs(data, price)
                for seed in seeds:
                    try:
                        estimator = build(method, costs, seed)
                    except TypeError as error:
                        raise TypeError(f"methods: {name!r}: {error}") from error
                    estimator = plan_for(estimator, data, known, budget)
                    shared = {"data": data.name, "method": name, "price": price, "budget": budget, "seed": seed}
                    plain = {"estimator": canonical(estimator), "costs": canonical(costs), "cv": canonical(protocol)}
                    for fold in range(protocol.n_folds):
                        labels = shared | {"fold": fold}
                        own = labels | plain | {"fingerprint": mark, "known": list(known)} | where
                        yield Cell(key_of(own), own, labels, estimator, costs, protocol, known=known, budget=budget)

    def _columns_at_start(self, data: Dataset) -> tuple[str, ...]:
        """Columns that are known, as a data set has them."""
        wanted = [self.known] if isinstance(self.known, str) else list(self.known)
        names = data.names() if wanted else []
        columns = columns_of(wanted, len(names), names, f"known of {data.name!r}")
        return tuple(names[column] for column in sorted(columns.tolist()))

    def _costs(self, data: Dataset, price: float) -> dict[str, Any]:
        """Costs of a data set at a price."""
        visits = {} if self.visits is None else dict(self.visits)
        if unknown := set(visits) - {"visit_cost", "delay_cost", "max_panel"}:
            raise ValueError(f"visits: {sorted(unknown)[0]!r} is not one of visit_cost, delay_cost and max_panel.")
        if "delay_cost" in visits and data.delays is None:
            raise ValueError(f"visits: {data.name!r} does not say how long answers take; delay_cost needs delays.")
        for name in ("visit_cost", "delay_cost"):
            check_real(visits.get(name, 0.0), f"visits: {name}", 0.0)
        if visits.get("max_panel") is not None:
            check_integer(visits["max_panel"], "visits: max_panel", 1)
        if self.feature_costs == "dataset":
            data = replace(data, **visits)
            if data.feature_costs is None:
                raise ValueError(f"{data.name!r} has no prices of its own; feature_costs='dataset' needs them.")
            return data.costs(price, self.missing_cost).non_default_params()
        if self.missing_cost is not None:
            raise ValueError("missing_cost is for feature_costs='dataset'; otherwise every feature has the price.")
        own = data.costs(0.0, 0.0).non_default_params()
        delays = {"delays": data.delays} if "delay_cost" in visits else {}
        decisions: dict[str, Any] = {name: own[name] for name in ("decision_costs", "decisions") if name in own}
        return {"feature_costs": price, **delays, **visits, **decisions}


def _compute(
    cells: list[Cell], held: Mapping[str, SizedDataset], n_jobs: int | None, progress: bool | None, total: int
) -> Iterator[Done]:
    """Results of cells as they come in, with a bar; one that takes its process down is found out, the rest goes on."""
    from tqdm import tqdm

    hidden = None if progress is None else not progress
    settings: dict[str, Any] = {"total": total, "initial": total - len(cells), "disable": hidden}
    jobs = {cell.key: partial(delayed(run_cell), cell, held[cell.labels["data"]]) for cell in cells}
    done_jobs = tqdm(work(jobs, n_jobs), "cells", leave=False, file=sys.stderr, **settings) if cells else ()
    for key, done, error in done_jobs:
        yield (key, {"error": error} | _versions(), {}) if error else done


def _check_axis(values: Any, name: str) -> list[Any]:
    """Settings of one axis of the grid: some, all different."""
    keyed = name == "data" and (isinstance(values, Mapping) or hasattr(values, "columns"))  # lists of their keys
    if keyed or isinstance(values, (str, Path)) or not isinstance(values, Iterable):
        values = [values]
    listed = list(values)
    if not listed:
        raise ValueError(f"{name} must hold at least one entry.")
    if name != "data" and len(set(listed)) < len(listed):
        raise ValueError(f"{name} must differ from each other, got {listed!r}.")
    return listed
