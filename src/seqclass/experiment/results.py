"""Results of a run: the table, its summary, and comparisons of methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy.typing as npt

from seqclass._utils.tables import Readable
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass._utils.warned import warn_caller
from seqclass.costs import Costs
from seqclass.evaluation.decision_curves import DecisionCurve
from seqclass.evaluation.scores import ClassScores
from seqclass.experiment._columns import (
    BY_OWN_MODEL,
    FIGURES,
    HIGHER_IS_BETTER,
    LABELS,
    by_default,
    check_columns,
    own_model_text,
    table_of,
)
from seqclass.experiment._keeping import EXPLANATIONS, INSTANCES, read_explanations, unpack_json
from seqclass.experiment._paper import FORMS, write_table
from seqclass.experiment._store import filter_table, of_first, open_store, parts_of
from seqclass.experiment._summary import bounds_of, summarise, widen_over_rows
from seqclass.experiment.comparison import Comparison, compare_methods
from seqclass.experiment.explored import Explored
from seqclass.experiment.records import (
    BY_CASE,
    Judged,
    LabelledRecord,
    instance_table,
    pool_ways,
    read_judged,
)


def _as_list(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


#: What a summary shows unless it is asked for more.
METRICS = ("realised_cost", "accuracy", "n_features_mean", "paid_mean")


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
    >>> summary.columns[-4:].tolist()
    ['accuracy', 'accuracy_lower', 'accuracy_upper', 'accuracy_se']
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

        A warning tells of cells that are named alike and were computed from other data or settings, such as before and
        after a data file was corrected: figures are of all of them.

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
        results = cls(path, unit=unit)
        cells = results._table()
        again = cells[cells.duplicated(list(LABELS))]
        if len(again):
            what = "cell is named as another is" if len(again) == 1 else "cells are named as others are"
            warn_caller(
                f"{path}: {len(again)} {what}, by data, method, price, seed and fold, and computed from other data or "
                f"settings, first of {again['method'].iloc[0]!r} on {again['data'].iloc[0]!r}: figures are over both; "
                "use a new file after such a change."
            )
        return results

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
            ``n_features`` and ``paid`` are what was acquired and paid; ``proba_LABEL`` the probability of each class in
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
        judged = self._read_judged(data, method, price, budget, seed)
        return judged.curve(method, positive, thresholds=thresholds, prevalence=prevalence)

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
            The columns of ``by``, ``n_cells``, ``n_failed``, and for each metric its mean, ``_lower``, ``_upper`` and
            ``_se``, the standard error; failed cells are left out of the means.
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
        interval: bool | str = True,
        best: str | None = "bold",
        to: str = "markdown",
        price: float | None = None,
        budget: int | None = None,
        decimals: int = 3,
    ) -> str:
        """Write a table for a paper: means with 95% intervals or standard errors, and below it what means are over.

        Prices and hard budgets are told apart: where a run has several and neither rows nor columns name them, rows do.

        Parameters
        ----------
        metric : str
            Column of the frame.
        rows, columns : str or sequence of str
            What a row and a column stand for, out of ``dataset``, ``method``, ``price``, ``budget``, ``seed`` and
            ``fold``. Without ``dataset``, each data set counts once.
        interval : bool, "below" or "error"
            Whether intervals are written, beside the figures or, for a page of two columns, below them; or standard
            errors; see `summary`.
        best : {"bold", None}
            What is done to the best method at each data set, price and budget, and to those that are written alike.
            Methods are not ranked by what each one's own model says: expected figures, certified bounds and gaps.
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
            for names, what in ((_as_list(rows), "rows"), (_as_list(columns), "columns"))
        )
        (metric,) = check_columns([metric], FIGURES, "metric")
        check_choice(to, "to", FORMS)
        if interval not in ("below", "error") and not isinstance(interval, bool):
            raise ValueError(f"interval must be True, False, 'below' or 'error', got {interval!r}.")
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
        bold = "method" in by and best is not None and metric not in BY_OWN_MODEL
        note, higher = self._note(metric, cells, by, interval, bold), metric in HIGHER_IS_BETTER
        form: dict[str, Any] = {"form": to, "interval": interval, "best": bold, "decimals": decimals}
        form |= {"higher": higher, "note": note}
        heads = {"data": "data set", "price": self.price_name(cells)}
        return write_table(summary, metric, down, across, heads=heads, **form)

    def _note(self, metric: str, cells: Any, by: Sequence[str], interval: bool | str, best: bool) -> str:
        """What the figures of a table are."""
        parts = [] if "data" in by else [f"{cells['data'].nunique()} data sets, each of which counts once"]
        if "method" not in by:
            parts.append(f"{cells['method'].nunique()} methods")
        parts += [] if "fold" in by else ["the folds" if "seed" in by else "the folds of all seeds"]
        unit = f" in {self.unit}" if self.unit and self._unit(metric) == self.unit else ""
        text = f"{metric.replace('_', ' ')}{unit}"
        text += f": means over {' and '.join(parts)}" if parts else ""
        if interval:
            what = "behind \N{PLUS-MINUS SIGN} standard errors" if interval == "error" else "in brackets 95% intervals"
            text += f", {what}: {self._interval_text(metric, cells, by, interval)}"
        text += f".{' Bold: the best.' if best else ''}"
        return f"{text} Not to be ranked: {own_model_text(cells)}." if metric in BY_OWN_MODEL else text

    def _interval_text(self, metric: str, cells: Any, by: Sequence[str], interval: bool | str) -> str:
        """What the intervals of a table are over, and that they are not symmetric, as standard errors are."""
        by_rows = metric in BY_CASE and "data" in by and set(self.keys_with(INSTANCES)).issuperset(cells.index)
        over = "over rows" if "data" in by else "over data sets"
        if "data" in by and "fold" not in by:
            over = "over folds, corrected for the training rows that these share"
            over += ", or over rows where that is wider" if by_rows else ""
        if interval == "error":
            return over
        ends = "within 0 and 1" if bounds_of(metric)[1] == 1 else "at 0 or above"
        return f"{over}; Wilson's, which stay {ends} and are not symmetric"

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
            all others. Figures by each method's own model (``expected_cost``, ``lower``, ``gap`` and the like) are
            refused: nothing follows from them about another method.
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
            If ``metric`` is by each method's own model, fewer than two methods have a score, or no data set has one for
            each.
        """
        (metric,) = check_columns([metric], FIGURES, "metric")
        table = self.to_frame()
        for name, value in (("price", price), ("budget", budget)):
            if value is not None:
                if value not in table[name].tolist():
                    raise ValueError(f"{name} {value!r} is none of {list(dict.fromkeys(table[name]))}.")
                table = table[table[name] == value]
        return compare_methods(self.path, table, metric, alpha)
