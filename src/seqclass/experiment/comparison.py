"""Comparisons of methods: paired differences, wins and losses, ranks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import Readable, count_text, summary_text
from seqclass._utils.text import join_names
from seqclass._utils.validation import check_choice, check_integer
from seqclass.experiment._columns import BY_OWN_MODEL, HIGHER_IS_BETTER, own_model_text
from seqclass.experiment._paper import FORMS, axis_text, figure_text, p_text, write_rows
from seqclass.experiment._summary import group_numbers
from seqclass.experiment.records import BY_CASE, case_scores
from seqclass.stats import critical_difference, friedman_test
from seqclass.stats.friedman import CriticalDifference, FriedmanTest
from seqclass.stats.intervals import interval_ends
from seqclass.stats.paired import paired_t_test
from seqclass.stats.wins import WinTieLoss, win_tie_loss


def pair_scores(table: Any, metric: str) -> tuple[Any, Any]:
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


#: The verdict on an interval that has zero inside.
CHANCE = "not beyond chance"
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
        paired = _pair_differences(d, data, shared)
        paired["paired_by"] = np.where(paired["n"] > 1, "fold", "")
        frame = pd.DataFrame({"data": names, "method": pair[0], "against": pair[1], **paired})
        _by_case(frame, pair, cases)
        frames.append(frame)
        if len(names) > 1:
            over = scores[pair[0]].to_numpy() - scores[pair[1]].to_numpy()
            whole = _pair_differences(over, np.zeros(len(names), dtype=np.intp), np.zeros(1))
            labels = {"data": ALL, "method": pair[0], "against": pair[1], "paired_by": "data set"}
            frames.append(pd.DataFrame(labels | whole))
    table = pd.concat(frames, ignore_index=True)
    # the data sets together first, then each by itself
    table = table.iloc[np.argsort((table["data"] != ALL).to_numpy(), kind="stable")].reset_index(drop=True)
    table["verdict"] = _verdicts(table, higher)
    return table[list(COLUMNS)]


def _pair_differences(d: FloatArray, group: IntArray, shared: FloatArray) -> dict[str, Any]:
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
    varies = (n > 1) & ((spread > 0) | (mean == 0))  # one difference again and again says nothing of chance
    lower, upper = np.where(varies, lower, np.nan), np.where(varies, upper, np.nan)
    statistic = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    p_value = np.where(varies, 2 * stats.t.sf(statistic, np.maximum(n - 1, 1)), np.nan)
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
    verdicts = np.where(lower > 0, above, np.where(upper < 0, below, CHANCE))
    same = (lower == 0) & (upper == 0)
    without = np.where(table["n"] > 1, "folds alike", "one fold")
    return np.where(np.isnan(lower), without, np.where(same, "the same", verdicts))


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
        ``difference`` is the score of ``method`` minus that of ``against``, with its 95% interval ``lower`` to
        ``upper`` and ``p_value``, from ``n`` pairs. ``paired_by`` says how they are paired: by fold, with the
        correction of Nadeau and Bengio for shared training rows; by case if there is a single fold, for realised cost
        and accuracy; by data set over all. ``verdict`` puts the interval into words: ``"better"``, ``"worse"``, ``"not
        beyond chance"``, ``"the same"``, or why there is no interval: ``"one fold"``, or ``"folds alike"`` if all
        differ by the same. Intervals are not corrected for their number: of twenty pairs without a difference, about
        one will seem to have one.

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

    def _summary(self) -> str:
        at = {"price": self.prices, "budget": [budget for budget in self.budgets if budget == budget]}
        parts = [summary_text(name if len(own) == 1 else f"{name}s", tuple(own)) for name, own in at.items() if own]
        parts += [f"left out {join_names(self.left_out, 4)}"] if self.left_out else []
        sets = count_text(len(self.scores), "data sets")
        return ", ".join([f"{self.metric} of {join_names(self.scores.columns, 4)} on {sets}", *parts])

    def __str__(self) -> str:
        # of one data set a win says nothing that the difference does not
        with_wins = len(self.scores) > 1 or self.differences is None
        lines = [f"wins/ties/losses by {self.metric}", self.wins.to_frame().to_string()] if with_wins else []
        lines += [] if self.friedman is None else [str(self.friedman)]
        lines += [] if self.nemenyi is None else [f"average ranks: {self.nemenyi}"]
        lines += [f"left out, without a score: {', '.join(self.left_out)}"] if self.left_out else []
        several = max(len(self.prices), len(self.budgets)) > 1  # which is to be known before a figure is read
        lines = [self.pooled, *lines] if several else lines
        return "\n".join([*lines, *self._difference_lines(), *([] if several else [self.pooled])])

    @property
    def pooled(self) -> str:
        """What scores and differences are means over, and how much each part counts."""
        each = " and ".join(f"{name}= (--{name} on the command line)" for name in self._over())
        return self._pool() + (f" At one of them methods may differ otherwise: {each} compares at one." if each else "")

    def _over(self) -> dict[str, tuple[float, ...]]:
        several = {"price": self.prices, "budget": self.budgets}
        return {name: values for name, values in several.items() if len(values) > 1}

    def _pool(self) -> str:
        text = "Each fold of each seed counts the same" + (", and each data set once." if len(self.scores) > 1 else ".")
        each = [f"the {name}s {', '.join(map(axis_text, values))}" for name, values in self._over().items()]
        return text + (f" All of this is of means over {' and '.join(each)}, which count the same." if each else "")

    def table(self, to: str = "markdown", *, data: str | None = None, decimals: int = 3) -> str:
        r"""Write the paired differences, with their intervals, for a paper.

        Parameters
        ----------
        to : {"markdown", "latex", "html"}
            Form of the table; LaTeX needs the package booktabs.
        data : str, optional
            Only this data set, or ``"all data sets"`` for those together.
        decimals : int
            Digits after the point.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If ``to`` is none of these, or there are no differences, or none on ``data``.

        Examples
        --------
        >>> import os, tempfile
        >>> from seqclass.experiment import Experiment
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     methods = ["etana", "sklearn:GaussianNB"]
        ...     results = Experiment(["iris"], methods, cv=3).run(os.path.join(folder, "iris.run"))
        ...     print(results.compare("accuracy").table().rpartition("\n\n")[0])
        | data set | methods | difference | p | pairs | verdict |
        | --- | --- | --: | --: | --: | --: |
        | iris | etana minus sklearn:GaussianNB | -0.020 [-0.099, 0.059] | 0.388 | 3 folds | not beyond chance |
        """
        check_choice(to, "to", FORMS)
        check_integer(decimals, "decimals", 0)
        if self.differences is None:
            raise ValueError("there are no differences to write; Results.compare works them out.")
        shown = self.differences
        if data is not None:
            shown = shown[shown["data"] == check_choice(data, "data", tuple(dict.fromkeys(shown["data"])))]
        body = []
        for row in shown.to_dict("records"):
            apart = figure_text(to, *(row[name] for name in ("difference", "lower", "upper")), decimals=decimals)
            p_value = "" if row["p_value"] != row["p_value"] else p_text(to, row["p_value"])
            pairs = f"{row['n']} {row['paired_by']}s" if row["paired_by"] else ""
            methods = f"{row['method']} minus {row['against']}"
            body.append(([row["data"], methods], [apart, p_value, pairs, row["verdict"]]))
        note = f"{self.metric.replace('_', ' ')}: paired differences, in brackets 95% t intervals, not corrected for "
        note += f"their number. {self._pool()}"
        return write_rows(["data set", "methods", "difference", "p", "pairs", "verdict"], body, note, to)

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
            named = f"{row['method']} minus {row['against']} on {row['data']}"
            lines.append(f"{named}: {row['difference']:+.4f}{ends}{pairs}: {row['verdict']}")
        return lines


def compare_methods(path: Path, table: Any, metric: str, alpha: float) -> Comparison:
    """Compare the methods in a table of cells; see `Results.compare`."""
    if metric in BY_OWN_MODEL:
        raise ValueError(
            f"metric: {metric} is {own_model_text(table)}, so methods cannot be ranked by it; compare realised_cost, "
            "which is of the same rows for all, or bound policies of one problem by certify(problem, policy, "
            "scope='all orders')."
        )
    named, able = list(dict.fromkeys(table["method"])), set(table.loc[table[metric].notna(), "method"])
    methods = [name for name in named if name in able]
    if len(methods) < 2:
        raise ValueError(f"two methods or more must have a score of {metric}; of {named} have one: {methods}.")
    cells = table[table["method"].isin(methods)]
    scores, units = pair_scores(cells, metric)
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
