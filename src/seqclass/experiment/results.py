"""Results of a run: the table, its summary, and comparisons of methods."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.costs import Costs
from seqclass.evaluation.decision_curves import DecisionCurve
from seqclass.evaluation.scores import ClassScores
from seqclass.experiment._columns import FIGURES, HIGHER_IS_BETTER, LABELS, by_default, check_columns, table_of
from seqclass.experiment._keeping import EXPLANATIONS, INSTANCES, read_explanations, unpack_json
from seqclass.experiment._paper import FORMS, axis_text, write_table
from seqclass.experiment._store import filter_table, of_first, open_store, parts_of
from seqclass.experiment._summary import group_numbers, summarise, widen_over_rows
from seqclass.experiment.explored import Explored
from seqclass.experiment.records import (
    BY_CASE,
    Judged,
    LabelledRecord,
    case_scores,
    instance_table,
    pool_ways,
    read_judged,
)
from seqclass.stats import critical_difference, friedman_test
from seqclass.stats.friedman import CriticalDifference, FriedmanTest
from seqclass.stats.intervals import interval_ends
from seqclass.stats.paired import paired_t_test
from seqclass.stats.wins import WinTieLoss, win_tie_loss


def paired_scores(table: Any, metric: str) -> tuple[Any, Any]:
    """Mean score of each method on each data set, over the folds on which every method has one."""
    table = table.assign(at=group_numbers(table, ["price", "budget"])[0])
    scored = table[table[metric].notna()]
    fold, _ = group_numbers(scored, ["data", "at", "seed", "fold"])
    pairs = np.unique(np.column_stack([fold, group_numbers(scored, ["method"])[0]]), axis=0)
    complete_folds = scored[np.bincount(pairs[:, 0])[fold] == table["method"].nunique()]
    means = complete_folds.groupby(["data", "at", "method"], sort=False)[metric].mean()
    scores = means.groupby(["data", "method"], sort=False).mean().unstack("method")
    there = complete_folds.groupby("data")["at"].nunique()
    complete = there == table.groupby("data")["at"].nunique().reindex(there.index)
    kept = [name for name in dict.fromkeys(table["data"]) if complete.get(name, False)]
    units = complete_folds.groupby(["data", "seed", "fold", "method"], sort=False)[metric].mean().unstack("method")
    return scores.reindex(index=kept, columns=list(dict.fromkeys(table["method"]))), units


#: What stands for all data sets together.
ALL = "all data sets"
COLUMNS = ("data", "method", "against", "difference", "lower", "upper", "p_value", "n", "paired_by", "verdict")

Cases = Callable[[str, str], FloatArray | None]


def differences(units: Any, ratio: Any, scores: Any, higher: bool, cases: Cases) -> Any:
    """Differences of every two methods, on each data set and over all."""
    import pandas as pd

    names = list(scores.index)
    units = units[units.index.get_level_values("data").isin(names)]
    data = pd.Index(names).get_indexer(units.index.get_level_values("data"))
    shared = ratio.reindex(names).fillna(0.0).to_numpy(dtype=np.float64)
    frames = []
    for pair in itertools.combinations(scores.columns, 2):
        d = (units[pair[0]] - units[pair[1]]).to_numpy(dtype=np.float64)
        paired = _paired_differences(d, data, shared)
        paired["paired_by"] = np.where(paired["n"] > 1, "fold", "")
        frame = pd.DataFrame({"data": names, "method": pair[0], "against": pair[1], **paired})
        _by_case(frame, pair, cases)
        frames.append(frame)
        if len(names) > 1:
            over = scores[pair[0]].to_numpy() - scores[pair[1]].to_numpy()
            whole = _paired_differences(over, np.zeros(len(names), dtype=np.intp), np.zeros(1))
            frames.append(
                pd.DataFrame({"data": ALL, "method": pair[0], "against": pair[1], **whole, "paired_by": "data set"})
            )
    table = pd.concat(frames, ignore_index=True)
    # the data sets together first, then each by itself
    table = table.iloc[np.argsort((table["data"] != ALL).to_numpy(), kind="stable")].reset_index(drop=True)
    table["verdict"] = _verdicts(table, higher)
    return table[list(COLUMNS)]


def _paired_differences(d: FloatArray, group: IntArray, shared: FloatArray) -> dict[str, Any]:
    """Mean differences of all groups at once, with the corrected t interval of `paired_t_test`."""
    n_groups = len(shared)
    n = np.bincount(group, minlength=n_groups)
    mean = np.bincount(group, d, n_groups) / n
    spread = np.bincount(group, (d - mean[group]) ** 2, n_groups) / np.maximum(n - 1, 1)
    largest = np.zeros(n_groups)
    np.maximum.at(largest, group, np.abs(d))
    spread[spread <= (1e-12 * largest) ** 2] = 0.0  # equal but for rounding
    error = np.sqrt((1 / n + shared) * spread)
    lower, upper = interval_ends(mean, error, n, 0.95, (-np.inf, np.inf))
    told = (n > 1) & ((spread > 0) | (mean == 0))  # one difference again and again says nothing of chance
    lower, upper = np.where(told, lower, np.nan), np.where(told, upper, np.nan)
    statistic = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    p_value = np.where(told, 2 * stats.t.sf(statistic, np.maximum(n - 1, 1)), np.nan)
    return {"difference": mean, "lower": lower, "upper": upper, "p_value": p_value, "n": n}


def _by_case(frame: Any, pair: tuple[str, str], cases: Cases) -> None:
    """Of a single fold, fill in the interval over its cases, where these were kept."""
    for i in np.flatnonzero((frame["n"] == 1).to_numpy()):
        first, second = (cases(frame["data"].iloc[i], method) for method in pair)
        if first is None or second is None or not 1 < len(first) == len(second):
            continue
        test = paired_t_test(first, second)
        assert test.interval is not None
        columns = ["difference", "lower", "upper", "p_value", "n", "paired_by"]
        frame.loc[i, columns] = [test.difference, *test.interval, test.p_value, test.n, "case"]


def _verdicts(table: Any, higher: bool) -> Any:
    """What each interval says of the first method."""
    above, below = ("better", "worse") if higher else ("worse", "better")
    lower, upper = table["lower"].to_numpy(dtype=float), table["upper"].to_numpy(dtype=float)
    said = np.where(lower > 0, above, np.where(upper < 0, below, "noise"))
    same = (lower == 0) & (upper == 0)
    without = np.where(table["n"] > 1, "folds alike", "one fold")
    return np.where(np.isnan(lower), without, np.where(same, "the same", said))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Readable):
    """A comparison of methods over data sets by one score.

    Attributes
    ----------
    metric : str
        The score.
    scores : pandas.DataFrame
        Mean scores, with one row per data set and one column per method.
    wins : WinTieLoss
        On how many data sets each method beats each other method.
    friedman : FriedmanTest or None
        Whether any methods differ; None with fewer than three methods or two data sets.
    nemenyi : CriticalDifference or None
        Which methods differ; None in the same cases.
    left_out : tuple of str
        Methods without any score, for example because all their cells failed.
    prices, budgets : tuple of float
        Prices and hard budgets (NaN for none) over which scores and differences are averaged; if there is only one,
        they are for that one.
    differences : pandas.DataFrame or None
        One row for each pair of methods on each data set, and over ``"all data sets"`` if there are several:
        ``difference`` is the score of ``method`` less that of ``against``, with its 95% interval ``lower`` to ``upper``
        and ``p_value``, from ``n`` pairs. ``paired_by`` says how they are paired: by fold, with the correction of
        Nadeau and Bengio for shared training rows; by case if there is a single fold, for realised cost and accuracy;
        by data set over all. ``verdict`` puts the interval into words: ``"better"``, ``"worse"``, ``"noise"``, ``"the
        same"``, or why there is no interval: ``"one fold"``, or ``"folds alike"`` if all differ by the same. Intervals
        are not corrected for their number: of twenty pairs without a difference, about one will seem to have one.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.8]})
    >>> from seqclass.stats.wins import win_tie_loss
    >>> print(Comparison("accuracy", scores, win_tie_loss(scores), None, None))
    wins/ties/losses by accuracy
           a      b
    a      -  1/1/0
    b  0/1/1      -
    Each fold of each seed counts the same, and each data set once.
    """

    _in_summary = ("metric", "scores", "friedman", "nemenyi", "left_out", "prices", "budgets")

    metric: str
    scores: Any
    wins: WinTieLoss
    friedman: FriedmanTest | None
    nemenyi: CriticalDifference | None
    left_out: tuple[str, ...] = ()
    differences: Any = None
    prices: tuple[float, ...] = ()
    budgets: tuple[float, ...] = ()

    def _table(self) -> Any:
        return self.scores if self.differences is None else self.differences

    def __str__(self) -> str:
        # of one data set a win says nothing that the difference does not
        told = len(self.scores) > 1 or self.differences is None
        lines = [f"wins/ties/losses by {self.metric}", self.wins.to_frame().to_string()] if told else []
        lines += [] if self.friedman is None else [str(self.friedman)]
        lines += [] if self.nemenyi is None else [f"average ranks: {self.nemenyi}"]
        lines += [f"left out, without a score: {', '.join(self.left_out)}"] if self.left_out else []
        return "\n".join([*lines, *self._difference_lines(), self.pooled])

    @property
    def pooled(self) -> str:
        """What scores and differences are means over, and how much each part counts."""
        several = {"price": self.prices, "budget": self.budgets}
        over = {name: values for name, values in several.items() if len(values) > 1}
        text = "Each fold of each seed counts the same" + (", and each data set once." if len(self.scores) > 1 else ".")
        if not over:
            return text
        each = [f"the {name}s {', '.join(map(axis_text, values))}" for name, values in over.items()]
        one = " and ".join(f"{name}= (--{name} on the command line)" for name in over)
        text += f" All of this is of means over {' and '.join(each)}, which count the same, and at which methods may"
        return f"{text} differ otherwise: {one} compares at one."

    def _difference_lines(self) -> list[str]:
        """Differences as lines; of very many those over all data sets."""
        table = self.differences
        if table is None:
            return []
        if len(table) > 30:  # no more are printed than those over all data sets
            table = table[table["data"] == ALL]
        lines = [f"differences of {self.metric}, paired, with 95% intervals"]
        for row in table.to_dict("records"):
            ends = "" if row["lower"] != row["lower"] else f" [{row['lower']:+.4f}, {row['upper']:+.4f}]"
            pairs = f" ({row['n']} {row['paired_by']}s)" if row["paired_by"] else ""
            named = f"{row['method']} less {row['against']} on {row['data']}"
            lines.append(f"{named}: {row['difference']:+.4f}{ends}{pairs}: {row['verdict']}")
        return lines


def compare_methods(path: Path, table: Any, metric: str, alpha: float) -> Comparison:
    """Compare the methods in a table of cells; see `Results.compare`."""
    named, able = list(dict.fromkeys(table["method"])), set(table.loc[table[metric].notna(), "method"])
    methods = [name for name in named if name in able]
    if len(methods) < 2:
        raise ValueError(f"two methods or more must have a score of {metric}; of {named} have one: {methods}.")
    cells = table[table["method"].isin(methods)]
    scores, units = paired_scores(cells, metric)
    scores = scores[methods]
    if not len(scores):
        raise ValueError(f"there is no data set for which every method has a score of {metric} on the same folds.")
    higher = metric in HIGHER_IS_BETTER
    several = len(methods) > 2 and len(scores) > 1
    sizes = cells[["n_test", "n_train"]].astype("float64")
    ratio = (sizes["n_test"] / sizes["n_train"]).groupby(cells["data"]).mean()

    @cache  # a method is in many pairs
    def cases(data: str, method: str) -> FloatArray | None:
        own = cells[(cells["data"] == data) & (cells["method"] == method)]
        return (case_scores(path, own, [metric]) or {}).get(metric) if metric in BY_CASE else None

    return Comparison(
        metric=metric,
        scores=scores,
        wins=win_tie_loss(scores, higher_is_better=higher),
        friedman=friedman_test(scores, higher_is_better=higher) if several else None,
        nemenyi=critical_difference(scores, alpha=alpha, higher_is_better=higher) if several else None,
        left_out=tuple(name for name in named if name not in able),
        differences=differences(units, ratio, scores, higher, cases),
        prices=tuple(cells["price"].unique().tolist()),
        budgets=tuple(cells["budget"].unique().tolist()),
    )


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


#: What a summary shows unless it is asked for more.
METRICS = ("realised_cost", "accuracy", "n_features_mean", "cost_mean")


class Results(Readable):
    """The finished cells of a run.

    Parameters
    ----------
    path : path
        File of the run.
    keys : list of str, optional
        Cells to look at, in this order; by default all in the file.
    unit : str
        What prices and costs are counted in, such as ``"EUR"``; by default they are in units of misclassification cost.

    Examples
    --------
    >>> import os, tempfile
    >>> from seqclass.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.run")
    ...     _ = Experiment(["iris"], ["etana"], prices=[0.01, 0.1], cv=3).run(path)
    ...     results = Results.load(path)
    ...     summary = results.summary(metrics=["accuracy"])
    >>> summary[["price", "n_cells", "n_failed"]].values.tolist()
    [[0.01, 3.0, 0.0], [0.1, 3.0, 0.0]]
    >>> summary.columns[-3:].tolist()
    ['accuracy', 'accuracy_lower', 'accuracy_upper']
    """

    _costs = ("lower", "upper")
    _units: ClassVar = {"log_loss": "nats", "peak_mb": "MB"}

    def __init__(self, path: str | Path, keys: Sequence[str] | None = None, unit: str = "") -> None:
        self.path = Path(path)
        self.keys = None if keys is None else list(keys)
        self.unit = Costs(unit=unit or None).unit_name()

    def _summary(self) -> str:
        errors = self.to_frame()["error"]
        counts = f"{len(errors)} cells, {self.n_missing} missing, {(errors != '').sum()} failed"
        return f"{short_repr(str(self.path))}, {counts}"

    def _table(self) -> Any:
        with open_store(self.path) as store:
            return table_of(store.results(self.keys))

    @classmethod
    def load(cls, path: str | Path, unit: str = "") -> Results:
        """Open the file of a run, which may still be going on.

        Parameters
        ----------
        path : path
            The file.
        unit : str
            What prices and costs are counted in, such as ``"EUR"``.

        Returns
        -------
        Results

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is not the file of a run.
        """
        with open_store(Path(path)):
            return cls(path, unit=unit)

    @property
    def n_missing(self) -> int:
        """Number of cells that were planned and are not finished."""
        with open_store(self.path) as store:
            return store.count_missing() if self.keys is None else len(self.keys) - len(store.results(self.keys))

    def to_frame(self) -> Any:
        """Return all figures, one row per cell.

        Returns
        -------
        pandas.DataFrame
            Indexed by the key of the cell. ``data``, ``method``, ``price``, ``budget`` (the hard one, NaN for none),
            ``seed`` and ``fold`` name it. Costs are per instance, in units of misclassification cost: ``realised_cost``
            is that of the rows scored, prices and decisions together; ``sensitivity`` and ``specificity`` are for the
            second of two classes, or means over classes if there are more; ``cost_*`` are prices paid;
            ``expected_cost`` is what the model expects of its policy, between the certified ``lower`` and ``upper``.
            The certificate is about the policies of its ``scope``: ``"order"``, those that ask in the same order, or
            ``"all orders"``. ``auroc`` is the mean of each class against the rest, NaN if the rows scored lack a class;
            ``log_loss`` is in nats; ``calibration_error`` is that of `calibration_error`. Seconds are wall-clock:
            ``seconds_preprocess`` is the sum of discretize, filter, structure, parameters and order, ``seconds_learn``
            that of structure and parameters, ``seconds_fit`` the whole of ``fit``. ``peak_mb`` is the growth of
            resident memory (Linux; NaN elsewhere). NaN stands for figures that a method does not have. ``error`` is
            empty unless the cell failed. ``attrs["units"]`` has the unit of each column that has one.
        """
        return self._with_units(self._table())

    def settings(self, key: str) -> dict[str, Any]:
        """Return everything that a cell was computed from, as plain data.

        Parameters
        ----------
        key : str
            Key of the cell, from the index of the table.

        Returns
        -------
        dict

        Raises
        ------
        ValueError
            If there is no such cell.
        """
        with open_store(self.path) as store:
            return store.settings(key)

    def instances(
        self,
        data: str | Sequence[str] | None = None,
        method: str | Sequence[str] | None = None,
        price: float | Sequence[float] | None = None,
        *,
        budget: int | Sequence[int] | None = None,
        seed: int | Sequence[int] | None = None,
        fold: int | Sequence[int] | None = None,
    ) -> Any:
        """Return the instances that cells kept, one row per instance and cell, for further scores, tests or pictures.

        Parameters
        ----------
        data, method, price, budget, seed, fold : value or sequence of values, optional
            Cells to look at; by default all.

        Returns
        -------
        pandas.DataFrame
            ``data``, ``method``, ``price``, ``budget``, ``seed`` and ``fold`` name the cell, ``row`` the row of the
            data set, the first one 0. ``truth`` and ``decision`` are labels of classes or further decisions;
            ``n_features`` and ``cost`` are what was acquired and paid; ``proba_LABEL`` the probability of each class in
            single precision, NaN where a method has none or the class is of another data set.

        Raises
        ------
        ValueError
            If the run has no such cell, or none of them kept its instances.

        Examples
        --------
        >>> import os, tempfile
        >>> from seqclass.experiment import Experiment
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     methods = ["etana", "sklearn:GaussianNB"]
        ...     frame = Experiment(["iris"], methods, cv=3).run(os.path.join(folder, "a.run")).instances()
        >>> frame["right"] = frame["truth"] == frame["decision"]
        >>> etana, bayes = (frame[frame["method"] == name].set_index("row")["right"] for name in methods)
        >>> int((etana & ~bayes).sum()), int((~etana & bayes).sum())  # what McNemar's test takes
        (0, 3)
        """
        cells = self._cells(data=data, method=method, price=price, budget=budget, seed=seed, fold=fold)
        return instance_table((labels, content) for labels, content in parts_of(self.path, cells, INSTANCES))

    def record(
        self,
        data: str,
        method: str,
        price: float | None = None,
        *,
        budget: int | Sequence[int] | None = None,
        seed: int | Sequence[int] | None = None,
        fold: int | Sequence[int] | None = None,
    ) -> LabelledRecord:
        """Return what a sequential method asked about the instances that were kept, and its beliefs at each step.

        Parameters
        ----------
        data, method : str
            The data set and the method.
        price : float, optional
            The price; by default the first in the run for this data set and method.
        budget : int, optional
            The hard budget; by default also the first.
        seed, fold : int or sequence of int, optional
            Seeds and folds to pool; by default all.

        Returns
        -------
        LabelledRecord
            Record for the pictures of `seqclass.plots`: ``AcquisitionMapDisplay.from_record(kept.record, kept.truth,
            names=kept.names)``, ``FeatureCountDisplay.from_record(kept.record, kept.truth)``,
            ``StagewiseCalibrationDisplay.from_record(kept.record, kept.truth, classes=kept.classes)``.

        Raises
        ------
        ValueError
            If the run has no such cell, none of them kept its instances, or the method does not ask for features one by
            one.
        """
        cells = self._cells(data=data, method=method, price=price, budget=budget, seed=seed, fold=fold)
        kept = parts_of(self.path, of_first(cells), INSTANCES)
        record = pool_ways([content for _, content in kept])
        if record is not None:
            return record
        raise ValueError(f"{method!r} asks for no features one by one; see instances() for what it decided.")

    def decision_curve(
        self,
        data: str,
        method: str,
        price: float | None = None,
        *,
        positive: str | None = None,
        thresholds: npt.ArrayLike | None = None,
        prevalence: float | None = None,
        budget: int | None = None,
        seed: int | None = None,
    ) -> DecisionCurve:
        """Return the decision curve of a method (net benefit by threshold probability), from the instances that were
        kept.

        Parameters
        ----------
        data, method : str
            The data set and the method.
        price, budget, seed : number, optional
            By default the first in the run for this data set and method; folds are pooled.
        positive : str, optional
            The class to be found; by default the last in sorted order.
        thresholds : array-like of shape (m,), optional
            Threshold probabilities; by default 0.01 to 0.99.
        prevalence : float, optional
            As in `seqclass.metrics.decision_curve`.

        Returns
        -------
        DecisionCurve
            Intervals are corrected for training rows that folds share.

        Raises
        ------
        ValueError
            If the run has no such cell or class, no cell kept its instances, or the method gives no probabilities.
        """
        return self._read_judged(data, method, price, budget, seed).curve(method, positive, thresholds, prevalence)

    def class_scores(
        self, data: str, method: str, price: float | None = None, *, budget: int | None = None, seed: int | None = None
    ) -> tuple[ClassScores, ...]:
        """Return sensitivity, specificity, cost, price and features class by class, from the instances kept.

        Parameters
        ----------
        data, method, price, budget, seed
            As in `decision_curve`.

        Returns
        -------
        tuple of ClassScores
            Intervals are over rows and do not allow for what fits share. It raises the same errors as `decision_curve`.
        """
        return self._read_judged(data, method, price, budget, seed).scores()

    def _cells(self, **wanted: Any) -> Any:
        return filter_table(self.to_frame(), wanted)

    def _read_judged(self, data: str, method: str, price: float | None, budget: int | None, seed: int | None) -> Judged:
        cells = of_first(self._cells(data=data, method=method, price=price, budget=budget, seed=seed))
        return read_judged(self.path, cells[cells["seed"] == cells["seed"].iloc[0]])

    def read_explored(self, key: str) -> Explored | None:
        """Return the explained instances that a cell kept.

        Parameters
        ----------
        key : str
            Key of the cell, from the index of the table.

        Returns
        -------
        Explored or None
            Its rows are those of the data set, counted from 0. None if the cell kept no explanations: it failed, its
            method is not sequential, or it was run with ``keep_explanations=0``.

        Raises
        ------
        ValueError
            If there is no such cell.
        """
        with open_store(self.path) as store:
            content = store.part(key, EXPLANATIONS)
            if content is None:
                store.settings(key)  # refuses a key that is none
        return None if content is None else read_explanations(unpack_json(content))

    def keys_with(self, kept: str) -> list[str]:
        """Return the keys of the cells that kept instances or explanations.

        Parameters
        ----------
        kept : {"instances", "explanations"}
            What they should have kept.

        Returns
        -------
        list of str
            In the order of the table.
        """
        check_choice(kept, "kept", (INSTANCES, EXPLANATIONS))
        with open_store(self.path) as store:
            having = set(store.keys_with(kept))
        return [key for key in self.to_frame().index if key in having]

    def summary(
        self, by: Sequence[str] | None = None, metrics: Sequence[str] = METRICS, confidence: float = 0.95
    ) -> Any:
        """Return means with confidence intervals.

        With ``"data"`` in ``by``, the intervals allow for the training rows that the scores of folds and seeds share,
        and are wider for it; see `seqclass.stats.mean_interval`. Where rows are kept, an interval of realised cost,
        accuracy, features or prices paid is at least as wide as that over the rows of one seed, which is all there is
        of a single fold. Without ``"data"``, each data set counts once. Intervals stay within the range of their
        figure: 0 to 1 for accuracy, macro-F1, AUROC and calibration error; 0 and above for costs, counts, losses and
        seconds.

        Parameters
        ----------
        by : sequence of str, optional
            What to group by, out of ``data``, ``method``, ``price``, ``budget``, ``seed`` and ``fold``; by default
            data, method, price, and the hard budget if there is any.
        metrics : sequence of str
            Columns of the table.
        confidence : float
            Coverage of the intervals.

        Returns
        -------
        pandas.DataFrame
            The columns of ``by``, ``n_cells``, ``n_failed``, and for each metric its mean, ``_lower`` and ``_upper``;
            failed cells are left out of the means.
        """
        table = self.to_frame()
        by = by_default(table) if by is None else check_columns(by, LABELS, "by")
        check_real(confidence, "confidence", 0, 1)
        metrics = check_columns(metrics, FIGURES, "metrics")
        summary = summarise(table, by, metrics, confidence)
        with open_store(self.path) as store:
            kept = set(store.keys_with(INSTANCES))
        widen_over_rows(self.path, table, by, summary, metrics, confidence, kept)
        return summary

    def table(
        self,
        metric: str = "realised_cost",
        rows: str | Sequence[str] = "dataset",
        columns: str | Sequence[str] = "method",
        *,
        interval: bool = True,
        best: str | None = "bold",
        to: str = "markdown",
        price: float | None = None,
        budget: int | None = None,
        decimals: int = 3,
    ) -> str:
        """Write a table for a paper: means with 95% intervals, and below it what they are means over.

        Prices and hard budgets are told apart: where a run has several and neither rows nor columns name them, rows do.

        Parameters
        ----------
        metric : str
            Column of the frame.
        rows, columns : str or sequence of str
            What a row and a column stand for, out of ``dataset``, ``method``, ``price``, ``budget``, ``seed`` and
            ``fold``. Without ``dataset``, each data set counts once.
        interval : bool
            Whether intervals are written; see `summary`.
        best : {"bold", None}
            What is done to the best method at each data set, price and budget, and to those that are written alike.
        to : {"markdown", "latex", "html"}
            Form of the table; LaTeX needs the package booktabs.
        price, budget : number, optional
            Only this price, and only this hard budget.
        decimals : int
            Digits after the point.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there is no such column, price or budget, or something is in rows and columns.

        Examples
        --------
        >>> import os, tempfile
        >>> from seqclass.experiment import Experiment
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     methods = ["etana", "sklearn:GaussianNB"]
        ...     results = Experiment(["iris"], methods, cv=3).run(os.path.join(folder, "iris.run"))
        ...     print(results.table("accuracy", interval=False))
        | data set | etana | sklearn:GaussianNB |
        | --- | --: | --: |
        | iris | 0.940 | **0.960** |
        <BLANKLINE>
        accuracy: means over the folds of all seeds. Bold: the best.
        """
        down, across = (
            check_columns(["data" if name == "dataset" else name for name in names], LABELS, what)
            for names, what in ((_listed(rows), "rows"), (_listed(columns), "columns"))
        )
        (metric,) = check_columns([metric], FIGURES, "metric")
        check_choice(to, "to", FORMS)
        if best not in ("bold", None):
            raise ValueError(f"best must be 'bold' or None, got {best!r}.")
        check_integer(decimals, "decimals", 0)
        cells = self._cells(price=price, budget=budget)
        for name in ("price", "budget"):  # which are not pooled unless that is said
            if name not in [*down, *across] and cells[name].nunique(dropna=False) > 1:
                down.append(name)
        by = [*down, *across]
        if len(set(by)) < len(by):
            raise ValueError(f"rows and columns must differ, got {down} and {across}.")
        summary = Results(self.path, cells.index.tolist()).summary(by, [metric])
        bold = "method" in by and best is not None
        form: dict[str, Any] = {"form": to, "interval": interval, "best": bold, "decimals": decimals}
        form |= {"higher": metric in HIGHER_IS_BETTER, "note": self._note(metric, cells, by, interval, bold)}
        heads = {"data": "data set", "price": self.price_name(cells)}
        return write_table(summary, metric, down, across, heads=heads, **form)

    def _note(self, metric: str, cells: Any, by: Sequence[str], interval: bool, best: bool) -> str:
        """What the figures of a table are."""
        parts = [] if "data" in by else [f"{cells['data'].nunique()} data sets, each of which counts once"]
        if "method" not in by:
            parts.append(f"{cells['method'].nunique()} methods")
        parts += [] if "fold" in by else ["the folds" if "seed" in by else "the folds of all seeds"]
        text = (
            f"{metric.replace('_', ' ')}{f' in {self.unit}' if self.unit and self._unit(metric) == self.unit else ''}"
        )
        text += f": means over {' and '.join(parts)}" if parts else ""
        return f"{text}{', in brackets their 95% intervals' if interval else ''}.{' Bold: the best.' if best else ''}"

    def price_name(self, cells: Any) -> str:
        """What the prices of some cells are: prices, or factors of those that the data sets have.

        Parameters
        ----------
        cells : pandas.DataFrame
            Rows of `to_frame`, at least one.

        Returns
        -------
        str
            ``"price"`` or ``"price factor"``.
        """
        costs = dict(self.settings(cells.index[0]).get("costs", {}).get("mapping", ()))
        return "price" if isinstance(costs.get("feature_costs", 0.0), (int, float)) else "price factor"

    def plot(self, ax: Any = None, **settings: Any) -> Any:
        """Draw what decisions cost against the price paid for them, for each data set and for all together.

        Parameters
        ----------
        ax : array of matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `seqclass.plots.CostPlaneDisplay.from_results`.

        Returns
        -------
        CostPlaneDisplay
        """
        from seqclass.plots import CostPlaneDisplay

        return CostPlaneDisplay.from_results(self, ax=ax, **settings)

    def compare(
        self,
        metric: str = "realised_cost",
        *,
        price: float | None = None,
        budget: int | None = None,
        alpha: float = 0.05,
    ) -> Comparison:
        """Compare the methods: paired differences, wins and losses over data sets, and whether these may be chance.

        Methods are compared on the same folds: a fold on which any method has no score is left out for all. A data set
        with no fold left at some price is left out too, and so is a method that has no score at all.

        Parameters
        ----------
        metric : str
            Column of the table. More is better for accuracy, macro-F1, sensitivity, specificity and AUROC, and less for
            all others.
        price : float, optional
            Compare at this price; by default by the mean over all prices, so that each data set counts once, which is
            also printed.
        budget : int, optional
            Compare at this hard budget; by default by the mean over all budgets.
        alpha : float
            Level of significance of Nemenyi's test.

        Returns
        -------
        Comparison
            Over the data sets for which every method has a score.

        Raises
        ------
        ValueError
            If fewer than two methods have a score, or no data set has a score for each.
        """
        (metric,) = check_columns([metric], FIGURES, "metric")
        table = self.to_frame()
        for name, value in (("price", price), ("budget", budget)):
            if value is not None:
                if value not in table[name].tolist():
                    raise ValueError(f"{name} {value!r} is none of {list(dict.fromkeys(table[name]))}.")
                table = table[table[name] == value]
        return compare_methods(self.path, table, metric, alpha)
