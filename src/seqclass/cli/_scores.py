"""How scores of labelled rows look."""

from __future__ import annotations

import numpy as np

from seqclass.cli._format import count, table, wrap
from seqclass.evaluation.scores import ClassScores, GroupScores, Scores
from seqclass.fitting.held_out import Interval
from seqclass.stats.paired import LEAST_ROWS


def scores_text(scores: Scores, unit: str = "") -> str:
    """Lay out what was paid and decided, and the same class by class."""
    price, errors, places = scores.mean_price, scores.mean_decision_cost, _places(scores)
    low, high = scores.accuracy_interval
    cost = _figure(scores.realised_cost, scores.realised_cost_interval, places, before="95% interval ")
    counted = f", prices and costs in {unit}" if unit else ""
    shares = {"error": scores.error, "referred": scores.referred} if _refers(scores) else {}
    lines = [
        f"On {count(scores.n_rows, 'row')} with labels, per row{counted}:",
        f"  realised cost  {cost}: {price:.{places}f} for features and {errors:.{places}f} for decisions",
        f"  accuracy       {scores.accuracy:.4f} ({low:.4f} to {high:.4f})",
        *(f"  {name:<14} {share:.4f}" for name, share in shares.items()),
        f"  features       {scores.mean_features:.2f}",
        "",
    ]
    rows = [
        [row.label, f"{row.n_rows}", _figure(row.sensitivity, row.sensitivity_interval)]
        + [_figure(row.specificity, row.specificity_interval)]
        + [_figure(v, places=places) for v in (row.realised_cost, row.mean_price)]
        + [_figure(row.mean_features, places=2), *_referral_column(scores, row)]
        for row in scores.classes
    ]
    header = ["class", "rows", "sensitivity", "specificity", "cost", "price", "features", *_referral_column(scores)]
    relied_on = [
        [row.label, f"{row.n_decided}", _figure(row.predictive_value, row.predictive_value_interval)]
        for row in scores.classes
    ]
    decided = ["", table(["decided for", "rows", "right (predictive value)"], relied_on)]
    return "\n".join([*lines, table(header, rows), *decided, *_confusion(scores)])


def _refers(scores: Scores) -> bool:
    """Whether there are decisions beyond the classes, which are neither right nor wrong."""
    return len(scores.decisions) > len(scores.classes)


def _referral_column(scores: Scores, scores_of_part: ClassScores | GroupScores | None = None) -> list[str]:
    """Column of how many were referred, where that may be: its head, or a cell."""
    return [] if not _refers(scores) else ["referred" if scores_of_part is None else _figure(scores_of_part.referred)]


def _confusion(scores: Scores) -> list[str]:
    """How many of each class were decided for what, where sensitivities do not say it and there is room."""
    names = scores.decisions
    if len(names) == 2 or len(names) > 12:  # a larger table is left to --json
        return []
    rows = [[row.label, *map(str, counts)] for row, counts in zip(scores.classes, scores.confusion)]
    return ["", "Rows of each class (row) by what was decided (column):", table(["class", *names], rows)]


def details_text(scores: Scores, every: bool = False) -> str:
    """Lay out groups, the decision curve and calibration; of the curve ``every`` threshold, or round ones."""
    parts = [_groups(scores) if scores.groups else "", _curve(scores, every), _calibration(scores)]
    return "\n\n".join(filter(None, parts))


def _groups(scores: Scores) -> str:
    places = _places(scores)
    rows = [
        [one.group, f"{one.n_rows}", _figure(one.realised_cost, one.realised_cost_interval, places)]
        + [_figure(one.difference, one.difference_interval, places, sign="+"), _of_group(one)]
        + [_figure(one.error, one.error_interval)]
        + [_figure(one.mean_price, places=places), _figure(one.mean_features, places=2)]
        + _referral_column(scores, one)
        for one in scores.groups
    ]
    header = ["group", "rows", "cost", "less the others'", "", "error", "price", "features", *_referral_column(scores)]
    note = (
        "By group; in brackets 95% intervals, each by itself. More and less than the others are corrected for the "
        "number of groups: where all are alike, one of twenty such tables says so of any. Nothing is said of fewer "
        f"than {LEAST_ROWS} rows, of the group or of all others."
    )
    by_class = [
        [one.group, own.label, f"{own.n_rows}", _figure(own.sensitivity, own.sensitivity_interval)]
        + [_figure(own.specificity, own.specificity_interval)]
        + [_figure(own.realised_cost, places=places), _figure(own.mean_features, places=2)]
        for one in scores.groups
        for own in one.classes
    ]
    within = table(["group", "class", "rows", "sensitivity", "specificity", "cost", "features"], by_class, left=(0, 1))
    return f"{wrap(note)}\n{table(header, rows)}\n\n{within}"


def _curve(scores: Scores, every: bool) -> str:
    curve = scores.decision_curve
    if curve is None:
        return ""
    treat_all, treat_none = curve.treat_all(), curve.treat_none()
    rows, usual = [], (0.05, *(k / 10 for k in range(1, 10)))
    for i, p in enumerate(curve.thresholds.tolist()):
        if not every and not np.isclose(p, usual).any():
            continue
        named = "all" if treat_all.net_benefit[i] > 0 else "none"
        other = treat_all if named == "all" else treat_none
        gained, ends = float(curve.after_price[i] - other.after_price[i]), (np.nan, np.nan)
        if len(curve.truth) > 1:  # one row says nothing of chance
            test = curve.compare(other, p)
            gained, ends = test.difference, test.interval or ends
        figures = (curve.net_benefit[i], curve.after_price[i], treat_all.net_benefit[i])
        gain = [named, _figure(gained, ends, sign="+"), _verdict(ends, "better", "worse")]
        rows.append([f"{p:g}", *(f"{value:.4f}" for value in figures), *gain])
    header = ["threshold", "net benefit", "after prices", "treat all", "best of all, none", "gain over it", ""]
    note = (
        f"Decision curve for {curve.positive!r}: what is gained over treating none, in true positives a row, if cases "
        f"are treated whose probability reaches the threshold. Prices are divided by {curve.benefit:g}, the cost of a "
        "missed case. A gain whose 95% interval holds 0 may be chance."
    )
    return f"{wrap(note)}\n{table(header, rows)}"


def _calibration(scores: Scores) -> str:
    rows = []
    for group in scores.calibration:
        low, high = group.accuracy_interval
        verdict = "too sure" if group.confidence > high else "not sure enough" if group.confidence < low else "noise"
        figures = [f"{group.confidence:.4f}", _figure(group.accuracy, group.accuracy_interval), verdict]
        rows.append([group.questions, f"{group.n_rows}", *figures, f"{group.calibration_error:.4f}"])
    header = ["questions", "rows", "says", "likeliest is right", "", "calibration error"]
    note = "How sure of its likeliest class the model was when it stopped, by the number of questions asked:"
    return f"{note}\n{table(header, rows)}"


def _verdict(interval: Interval, above: str, below: str) -> str:
    """In a word, what an interval of a difference says."""
    low, high = interval
    if np.isnan(low):
        return "-"
    return above if low > 0 else below if high < 0 else "noise"


def _of_group(group: GroupScores) -> str:
    """Whether the difference of a group is real; nothing is said of few rows."""
    if np.isnan(group.difference):
        return "-"
    if np.isnan(group.p_value):
        return "too few rows"
    return _verdict(group.difference_interval, "more", "less") if group.differs else "noise"


def _places(scores: Scores) -> int:
    """Decimals of costs: those of money where they are large."""
    return 2 if scores.realised_cost >= 10 else 4


def _figure(
    value: float, interval: Interval = (np.nan, np.nan), places: int = 4, *, sign: str = "", before: str = ""
) -> str:
    """A figure with its interval, where it has one."""
    if np.isnan(value):
        return "-"
    text, low, high = (f"{number:{sign}.{places}f}" for number in (value, *interval))
    return text if np.isnan(interval[0]) else f"{text} ({before}{low} to {high})"
