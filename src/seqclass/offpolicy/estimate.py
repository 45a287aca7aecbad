"""What records say about a policy: estimates with intervals, and how far the records support them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqclass._utils.tables import Readable, count_text
from seqclass._utils.text import money, percent, range_text

#: What each method is called in texts.
NAMES = {
    "doubly_robust": "doubly robust",
    "ipw": "inverse probability, self-normalised",
    "ipw_plain": "inverse probability, plain",
    "direct": "direct, by the model",
    "complete": "complete cases",
    "blocked": "missing taken as not available",
}
#: Columns of a table of estimates.
_SHOWN = ("estimate", "standard_error", "lower", "upper")


@dataclass(frozen=True, repr=False)
class MeanEstimate(Readable):
    """An estimated mean over people.

    Attributes
    ----------
    name : str
        ``"cost"``, ``"price"``, ``"decision_cost"``, ``"error"`` or ``"n_features"``.
    estimate : float
        The estimate; costs are in units of misclassification cost. It is not clipped: with few rows or large weights it
        may be an impossible value, such as an error rate below 0 or above 1, and still be right on average.
    standard_error : float
        Its standard error; NaN if it is unknown.
    lower, upper : float
        Ends of the interval, clipped to possible values; all possible values if a single row has all the weight.

    Examples
    --------
    >>> MeanEstimate("cost", 0.2, 0.01, 0.18, 0.22).estimate
    0.2
    """

    name: str
    estimate: float
    standard_error: float
    lower: float
    upper: float


@dataclass(frozen=True, repr=False)
class Estimate(Readable):
    """What a policy would have cost the people in records, as estimated by one method; made by `estimate_cost`.

    Attributes
    ----------
    method : str
        Name of the method.
    parts : tuple of MeanEstimate
        Mean cost, price, decision cost, error rate and number of features.
    level : float
        Coverage of the intervals.
    n_rows, n_counted : int
        Number of rows of the records, and of those that count in the estimate.
    replayed : float
        Share of rows in which everything that the policy asks for is recorded.
    unsupported : float
        Share of rows in which the policy asks for missing cells whose chance of all being recorded was below
        ``min_chance``. The records do not say what the policy would do with such people.
    effective_rows : float
        Kish's effective number of rows, (sum of weights)**2 / (sum of squared weights).
    largest_weight : float
        Largest weight of a row; the mean weight should be 1.
    lacking : float
        By how much the mean weight is below 1, beyond chance. It is the share of people for whom what the policy asks
        for is never recorded, unless the rule is not the one that made the records.

    Examples
    --------
    >>> found = Estimate("direct", (MeanEstimate("cost", 0.2, 0.01, 0.18, 0.22),), 0.95, 500, 500, 0.6, 0.0, 500.0, 1.0)
    >>> found.cost, found.interval
    (0.2, (0.18, 0.22))
    """

    _in_summary = ("method", "cost", "interval", "n_rows", "effective_rows", "warnings")
    _axis = "figure"

    method: str
    parts: tuple[MeanEstimate, ...]
    level: float
    n_rows: int
    n_counted: int
    replayed: float
    unsupported: float
    effective_rows: float
    largest_weight: float
    lacking: float = 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons, as far as weights show, why the interval may not hold: one sentence each; none if all seems well."""
        reasons = []
        if self.unsupported > 0.02:  # of so few rows nothing need be said
            reasons.append(
                f"At {percent(self.unsupported)} of the rows the policy asks for what was hardly ever recorded of such "
                "people: no method can tell what it costs there, but a model that is right."
            )
        if self.lacking > 0.02:
            reasons.append(
                f"The weights fall short of what they should sum up to by {percent(self.lacking)}: so many people never"
                " have recorded what the policy asks for, or the rule is not the one that made the records."
            )
        # with more rows, and less of all weight in one, intervals hold as often as they say
        if self.effective_rows < 30 or self.largest_weight > 0.1 * self.n_rows:
            reasons.append(
                f"All rests on {count_text(round(self.effective_rows), 'effective rows')}, one of which has "
                f"{percent(self.largest_weight / self.n_rows)} of all weight: the interval holds less often than it "
                "says. Bring more records, or judge a policy nearer to what was recorded."
            )
        return tuple(reasons)

    def __getitem__(self, name: str) -> MeanEstimate:
        return next(part for part in self.parts if part.name == name)

    @property
    def cost(self) -> float:
        """Mean of prices paid plus decision cost."""
        return self["cost"].estimate

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of `cost`."""
        return self["cost"].lower, self["cost"].upper

    @property
    def standard_error(self) -> float:
        """Standard error of `cost`."""
        return self["cost"].standard_error

    def _table(self) -> Any:
        import pandas as pd

        rows = [[getattr(part, name) for name in _SHOWN] for part in self.parts]
        return pd.DataFrame(rows, index=[part.name for part in self.parts], columns=list(_SHOWN))

    def __str__(self) -> str:
        low, high = self.interval
        others = ", ".join(f"{part.name.replace('_', ' ')} {part.estimate:.3g}" for part in self.parts[1:])
        interval = f"({100 * self.level:.3g}%: {money(low)} to {money(high)})"
        lines = [f"cost {money(self.cost)} {interval}, {NAMES[self.method]}: {others}"]
        lines.append(
            f"{_rows_text(self)}; effective rows {self.effective_rows:.0f}, largest weight {self.largest_weight:.3g}"
        )
        beyond = [one for one in self.parts if max(one.lower - one.estimate, one.estimate - one.upper) > 1e-9]
        parts = ", ".join(f"{part.name.replace('_', ' ')} {part.estimate:.3g}" for part in beyond)
        cut = [f"Beyond what can be, by chance: {parts}. Estimates that were cut would be biased."] * bool(parts)
        return "\n".join([*lines, *self.warnings, *cut, *_NOTES.get(self.method, ())])


def _rows_text(found: Estimate) -> str:
    return f"{count_text(found.n_rows, 'rows')}, of which {percent(found.replayed)} have all that the policy asks for"


_NOTES = {
    "direct": ("The interval leaves out that the model may be wrong.",),
    "complete": ("Biased where cells are missing for a reason.",),
    "blocked": ("Biased: it charges nothing for, and learns nothing from, what was not recorded.",),
}


@dataclass(frozen=True, repr=False)
class Estimates(Readable):
    """What a policy would have cost, as estimated by several methods; made by `compare`.

    Attributes
    ----------
    estimates : tuple of Estimate
        One estimate for each method.

    Examples
    --------
    >>> one = Estimate("direct", (MeanEstimate("cost", 0.2, 0.01, 0.18, 0.22),), 0.95, 500, 500, 0.6, 0.0, 500.0, 1.0)
    >>> Estimates((one,))["direct"].cost
    0.2
    """

    _axis = "method"
    _costs = ("standard_error", "lower", "upper")

    estimates: tuple[Estimate, ...]

    def _summary(self) -> str:
        parts = (f"{e.method} {money(e.cost)} ({range_text(e.interval, money)})" for e in self.estimates)
        return f"cost {', '.join(parts)}; {count_text(self.estimates[0].n_rows, 'rows')}"

    def __getitem__(self, method: str) -> Estimate:
        return next(estimate for estimate in self.estimates if estimate.method == method)

    def _table(self) -> Any:
        import pandas as pd

        rows = [
            [*(getattr(e["cost"], name) for name in _SHOWN), e.n_counted, e.effective_rows, e.largest_weight]
            for e in self.estimates
        ]
        columns = ["cost", *_SHOWN[1:], "n_counted", "effective_rows", "largest_weight"]
        return pd.DataFrame(rows, index=[e.method for e in self.estimates], columns=columns)

    def __str__(self) -> str:
        first = self.estimates[0]
        lines = [f"{'method':38} {'cost':>7}  {100 * first.level:.3g}% interval    rows  largest weight"]
        for e in self.estimates:
            low, high = e.interval
            lines.append(
                f"{NAMES[e.method]:38} {e.cost:7.4f}  {low:.4f} to {high:.4f}  {e.effective_rows:5.0f}  "
                f"{e.largest_weight:.3g}"
            )
        odd = [f"{NAMES[e.method]}: {text}" for e in self.estimates for text in e.warnings]
        return "\n".join([*lines, f"{_rows_text(first)}; unsupported {percent(first.unsupported)}", *odd])
