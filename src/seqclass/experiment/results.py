"""Results of a run: the table, its summary, and comparisons of the methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from seqclass._utils.validation import check_choice, check_real
from seqclass.evaluation.decision_curves import DecisionCurve
from seqclass.evaluation.scores import ClassScores
from seqclass.experiment._columns import FIGURES, LABELS, by_default, check_columns, table_of
from seqclass.experiment._judged import Judged, judged
from seqclass.experiment._keeping import EXPLANATIONS, INSTANCES, read_explanations, unpack_json
from seqclass.experiment._store import chosen, of_first, opened, parts_of
from seqclass.experiment.comparison import Comparison as Comparison
from seqclass.experiment.comparison import compare_methods, summarise
from seqclass.experiment.explored import Explored
from seqclass.experiment.records import LabelledRecord, instance_table, pooled

#: What a summary shows unless it is asked for more.
METRICS = ("realised_cost", "accuracy", "n_features_mean", "cost_mean")


class Results:
    """Cells of a run that are done.

    Parameters
    ----------
    path : path
        File of the run.
    keys : list of str, optional
        Cells to look at, in order; by default all that are in the file.

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

    def __init__(self, path: str | Path, keys: Sequence[str] | None = None) -> None:
        self.path = Path(path)
        self.keys = None if keys is None else list(keys)

    def __repr__(self) -> str:
        return f"Results({str(self.path)!r}, {len(self.table())} cells, {self.n_missing} missing)"

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Open the file of a run, also of one that is still going on.

        Parameters
        ----------
        path : path
            The file.

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
        with opened(Path(path)):
            return cls(path)

    @property
    def n_missing(self) -> int:
        """Number of cells that were planned and are not done."""
        with opened(self.path) as store:
            return store.count_missing() if self.keys is None else len(self.keys) - len(store.results(self.keys))

    def table(self) -> Any:
        """All there is, a row a cell.

        Returns
        -------
        pandas.DataFrame
            Indexed by the key of the cell. ``data``, ``method``, ``price``, ``budget`` (the hard one, NaN for none),
            ``seed`` and ``fold`` name it. Costs are per instance, in units of misclassification cost: ``realised_cost``
            of the rows scored, prices and
            decisions together; ``sensitivity`` and ``specificity`` are of the second of two classes, of more the means
            over classes; ``cost_*`` the prices paid; ``expected_cost`` what the model expects of its policy,
            between the certified ``lower`` and ``upper``, which is about policies of its ``scope``: ``"order"``, those
            that ask in the same order, or ``"all orders"``. ``auroc`` is the mean of each class against the rest, NaN
            where the rows scored lack a class; ``log_loss`` is in nats; ``calibration_error`` is that of
            `calibration_error`. Seconds are wall-clock: ``seconds_preprocess`` is the sum of discretize, filter,
            structure, parameters and order, ``seconds_learn`` that of structure and parameters, ``seconds_fit`` the
            whole of ``fit``. ``peak_mb`` is the growth of resident memory (Linux; NaN elsewhere). NaN stands for what a
            method does not have. ``error`` is empty unless the cell failed.
        """
        with opened(self.path) as store:
            return table_of(store.results(self.keys))

    def settings(self, key: str) -> dict[str, Any]:
        """Everything that a cell was computed from, as plain data.

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
        with opened(self.path) as store:
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
        """Return the instances that cells kept, a row an instance and cell, for any further score, test or picture.

        Parameters
        ----------
        data, method, price, budget, seed, fold : value or sequence of values, optional
            Cells to look at; by default all.

        Returns
        -------
        pandas.DataFrame
            ``data``, ``method``, ``price``, ``budget``, ``seed`` and ``fold`` name the cell, ``row`` the row of the
            data set, the first one 0. ``truth`` and ``decision`` are labels of classes or further decisions;
            ``n_features`` and ``cost`` what was acquired and paid; ``proba_LABEL`` the probability of each class in
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
        """Return what a sequential method asked of the instances that were kept, and what it believed on the way.

        Parameters
        ----------
        data, method : str
            The data set and the method.
        price : float, optional
            The price; by default the first that the run has of these.
        budget : int, optional
            The hard budget; by default the first likewise.
        seed, fold : int or sequence of int, optional
            Seeds and folds to pool; by default all.

        Returns
        -------
        LabelledRecord
            What the pictures of `seqclass.plots` take: ``AcquisitionMapDisplay.from_record(kept.record, kept.truth,
            names=kept.names)``, ``FeatureCountDisplay.from_record(kept.record, kept.truth)``,
            ``StagewiseCalibrationDisplay.from_record(kept.record, kept.truth, classes=kept.classes)``.

        Raises
        ------
        ValueError
            If the run has no such cell, none of them kept its instances, or the method asks for no features one by one.
        """
        cells = self._cells(data=data, method=method, price=price, budget=budget, seed=seed, fold=fold)
        kept = parts_of(self.path, of_first(cells), INSTANCES)
        found = pooled([content for _, content in kept])
        if found is not None:
            return found
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
        """Return the net benefit of a method against threshold probability, from the instances that were kept.

        Parameters
        ----------
        data, method : str
            The data set and the method.
        price, budget, seed : number, optional
            By default the first that the run has of these; folds are pooled.
        positive : str, optional
            Class to be found; by default the last in sorted order.
        thresholds : array-like of shape (m,), optional
            By default 0.01 to 0.99.
        prevalence : float, optional
            As in `seqclass.metrics.decision_curve`.

        Returns
        -------
        DecisionCurve
            Intervals are corrected for training rows that folds share.

        Raises
        ------
        ValueError
            If the run has no such cell or class, none kept its instances, or the method gives no probabilities.
        """
        return self._judged(data, method, price, budget, seed).curve(method, positive, thresholds, prevalence)

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
            Intervals are those of rows: what fits share is not in them. What `decision_curve` refuses is refused.
        """
        return self._judged(data, method, price, budget, seed).scores()

    def _cells(self, **wanted: Any) -> Any:
        return chosen(self.table(), wanted)

    def _judged(self, data: str, method: str, price: float | None, budget: int | None, seed: int | None) -> Judged:
        cells = of_first(self._cells(data=data, method=method, price=price, budget=budget, seed=seed))
        return judged(self.path, cells[cells["seed"] == cells["seed"].iloc[0]])

    def explored(self, key: str) -> Explored | None:
        """Return the explained instances that a cell kept.

        Parameters
        ----------
        key : str
            Key of the cell, from the index of the table.

        Returns
        -------
        Explored or None
            Its rows are those of the data set, the first one 0. None of a cell that kept none: it failed, its method is
            not sequential, or it was run with ``keep_explanations=0`` or by an earlier version.

        Raises
        ------
        ValueError
            If there is no such cell.
        """
        with opened(self.path) as store:
            content = store.part(key, EXPLANATIONS)
            if content is None:
                store.settings(key)  # refuses a key that is none
        return None if content is None else read_explanations(unpack_json(content))

    def keys_with(self, kept: str) -> list[str]:
        """Return keys of the cells that kept something.

        Parameters
        ----------
        kept : {"instances", "explanations"}
            What.

        Returns
        -------
        list of str
            In the order of the table.
        """
        check_choice(kept, "kept", (INSTANCES, EXPLANATIONS))
        with opened(self.path) as store:
            found = set(store.keys_with(kept))
        return [key for key in self.table().index if key in found]

    def summary(
        self,
        by: Sequence[str] | None = None,
        metrics: Sequence[str] = METRICS,
        confidence: float = 0.95,
    ) -> Any:
        """Means with confidence intervals.

        With ``"data"`` in ``by`` the scores of folds and seeds count as what they are, scores that share training rows,
        and the interval is wider for it; see `seqclass.stats.mean_interval`. Without, each data set counts once.
        Intervals keep to the range of their figure: accuracy, macro-F1, AUROC and calibration error to 0..1, costs,
        counts, losses and seconds to 0 and above.

        Parameters
        ----------
        by : sequence of str, optional
            What to tell apart, of ``data``, ``method``, ``price``, ``budget``, ``seed`` and ``fold``; by default data,
            method, price, and the hard budget where there is any.
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
        table = self.table()
        by = by_default(table) if by is None else check_columns(by, LABELS, "by")
        check_real(confidence, "confidence", 0, 1)
        return summarise(table, by, check_columns(metrics, FIGURES, "metrics"), confidence)

    def compare(
        self,
        metric: str = "realised_cost",
        *,
        price: float | None = None,
        budget: int | None = None,
        alpha: float = 0.05,
    ) -> Comparison:
        """Compare the methods: paired differences, wins and losses over data sets, and whether they are chance.

        Methods are compared on the same folds: one on which any of them has no score counts for none. A data set with
        a price at which no fold is left is not counted, nor is a method that has no score at all.

        Parameters
        ----------
        metric : str
            Column of the table; of accuracy, macro-F1, sensitivity, specificity and AUROC more is better, of all others
            less.
        price : float, optional
            Compare at this price; by default by the mean over all prices, so that each data set counts once.
        budget : int, optional
            Compare at this hard budget; by default likewise.
        alpha : float
            Level of significance of Nemenyi's test.

        Returns
        -------
        Comparison
            Over the data sets for which every method has a score.

        Raises
        ------
        ValueError
            If fewer than two methods have a score, or no data set has one of each.
        """
        (metric,) = check_columns([metric], FIGURES, "metric")
        table = self.table()
        for name, value in (("price", price), ("budget", budget)):
            if value is not None:
                if value not in table[name].tolist():
                    raise ValueError(f"{name} {value!r} is none of {list(dict.fromkeys(table[name]))}.")
                table = table[table[name] == value]
        return compare_methods(self.path, table, metric, alpha)
