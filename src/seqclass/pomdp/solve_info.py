"""What a solver reports: how good its policy is, what was reached on the way, and which orders it tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqclass._utils.model_files import register
from seqclass._utils.stored import require
from seqclass._utils.tables import Readable, rows_of

__all__ = ["OrderingCandidate", "OrderingChoice", "SolveInfo", "SolveStep"]


@register
@dataclass(frozen=True, repr=False)
class OrderingCandidate(Readable):
    """An ordering rule with stopping along it, on simulated cases.

    Attributes
    ----------
    name : str
        The rule.
    cost : float
        Mean of prices paid and the expected cost of the decision, which the model itself expects.
    std_error : float
        Its standard error; 0 where it was tried on all cases that there are.
    above : float
        By how much the cost is above that of the one that was chosen, on the same cases.
    above_std_error : float
        Standard error of that difference.
    n_questions : float
        Mean number of questions asked.
    n_cases : int
        Cases that it was tried on: fewer than others where it was clearly dearer.
    seconds : float
        Time to fit and try it.
    n_paths : int
        Cases that its values were fitted to, in a race few of them; 0 where nothing was fitted.
    dropped : str
        Why it was left after ``n_cases`` cases: ``"clearly behind"`` another one by three standard errors, or ``"not
        ahead"`` of all by one, which what looks further than one question has to be; else empty.
    may_save : float
        What dropping it may lose: by how much it may cost less than the best of the others, at two standard errors.

    Examples
    --------
    >>> OrderingCandidate("ExpectedSaving()", 0.21, 0.002, 0.01, 0.0005, 3.2, 5000, 1.5).above
    0.01
    """

    _costs = ("std_error", "above", "above_std_error", "may_save")

    name: str
    cost: float
    std_error: float
    above: float
    above_std_error: float
    n_questions: float
    n_cases: int
    seconds: float
    n_paths: int = 0
    dropped: str = ""
    may_save: float = 0.0


@register
@dataclass(frozen=True, repr=False)
class OrderingChoice(Readable):
    """What `Adaptive` tried, and what it chose.

    Attributes
    ----------
    chosen : str
        Name of the candidate that became the policy.
    candidates : tuple of OrderingCandidate
        All that were tried, from the simplest on; none where there was one rule and no certificate was asked for.
    skipped : tuple of str
        What was not tried, since a limit of time or work was reached.
    scope : str
        What the costs are about.
    observed : tuple of OrderingCandidate
        Where a classifier was fitted: what was found on cases of the model, and a fixed order that was made on the
        training rows, with what both cost on these rows. The order is chosen where it costs less by more than a
        standard error.

    Examples
    --------
    >>> choice = OrderingChoice("a", (OrderingCandidate("a", 0.2, 0.001, 0.0, 0.0, 3.0, 5000, 1.0),), ("b",))
    >>> print(choice)
    cost on cases of the model itself, which says nothing about how right the model is:
    a: 0.2000 (standard error 0.0010), 3.0 questions, chosen
    not tried for want of time or work: b
    """

    _in_summary = ("chosen", "candidates", "observed", "skipped")
    _costs = OrderingCandidate._costs

    chosen: str
    candidates: tuple[OrderingCandidate, ...]
    skipped: tuple[str, ...] = ()
    scope: str = "cases of the model itself, which says nothing about how right the model is"
    observed: tuple[OrderingCandidate, ...] = ()

    def _table(self) -> Any:
        parts = {"simulated": self.candidates, "training rows": self.observed}
        rows = [{"on": on} | row for on, part in parts.items() for row in rows_of(part)]
        return [row | {"chosen": row["name"] == self.chosen} for row in rows]

    def __str__(self) -> str:
        if not self.candidates and not self.observed:
            return self.chosen
        lines = [*self._block(self.candidates, self.scope), *self._block(self.observed, "the training rows")]
        if self.skipped:
            lines.append(f"not tried for want of time or work: {', '.join(self.skipped)}")
        return "\n".join(lines)

    def _block(self, candidates: tuple[OrderingCandidate, ...], scope: str) -> list[str]:
        if not candidates:
            return []
        best = next((c.name for c in candidates if c.above == 0 == c.above_std_error), self.chosen)
        known = any(candidate.name == self.chosen for candidate in candidates)
        lines = [f"{'' if known else f'{self.chosen}; '}cost on {scope}:"]
        for candidate in candidates:
            line = f"{candidate.name}: {candidate.cost:.4f} (standard error {candidate.std_error:.4f}), "
            line += f"{candidate.n_questions:.1f} questions, "
            if candidate.name == self.chosen:
                lines.append(f"{line}chosen")
            elif candidate.name == best:
                lines.append(f"{line}the best of these")
            else:
                line += f"{candidate.above:+.4f} (standard error {candidate.above_std_error:.4f}) to "
                lines.append(line + ("the one chosen" if known else best))
                if candidate.dropped:
                    left = f"; {candidate.dropped} after {candidate.n_cases:,} cases"
                    lines[-1] += f"{left}, which may lose {candidate.may_save:.4f}"
        return lines


#: A certified gap above this is wide.
WIDE_GAP = 0.02
#: What to do about a wide gap, by what it is about.
_NARROWER = {
    "order": "the policy or the bound may be poor; try Perseus(target_gap=0.02), ExactValueIteration for few features, "
    "or more certificate_paths.",
    "all orders": "the policy or the bound may be poor; try Adaptive() with more search_nodes, ExactFreeOrder with "
    "more max_nodes, Lookahead(2), or fewer questions.",
    "all panels": "the policy or the bound may be poor, and where there may be many visits the bound is: try Panels "
    "with more max_nodes, n_paths or n_branches, or fewer questions.",
}
_ADVICE = {
    "truncated": "the horizon was cut before more features ceased to matter: raise max_stages.",
    "limit": "a limit of the solver was hit before it was done: raise it (max_seconds, max_work, max_nodes, "
    "max_vectors, or max_iterations), and see what the gap says meanwhile.",
}


@register
@dataclass(frozen=True, repr=False)
class SolveStep(Readable):
    """How good a solver's policy was at a moment on the way.

    Attributes
    ----------
    seconds : float
        Wall-clock time since the start, certificates included.
    n_beliefs : int
        Most beliefs of a stage.
    upper, lower, gap : float
        Certified interval, as of `SolveInfo`.

    Examples
    --------
    >>> SolveStep(0.5, 1000, 0.2, 0.19, 0.05).gap
    0.05
    """

    _costs = ("upper", "lower")

    seconds: float
    n_beliefs: int
    upper: float
    lower: float
    gap: float


@register
@dataclass(frozen=True, repr=False)
class SolveInfo(Readable):
    """What a solver reports about the policy it returns.

    Attributes
    ----------
    status : str
        ``"converged"``: the horizon holds all that matters, no limit was hit, and where a certificate was asked its
        gap is at most 2% (`WIDE_GAP`, or what the solver was told to reach); ``"wide gap"``: the same with a gap above
        that; ``"truncated"``: the horizon was cut before its two bounds agreed; ``"limit"``: a limit of the solver's
        settings was hit.
    upper, lower : float
        Ends of the certified interval: the executed policy costs at most `upper`, no policy costs less than `lower`
        (both at `confidence`, per instance, in units of misclassification cost). NaN where no certificate was asked.
    gap : float
        ``(upper - lower) / upper``, 0 where `upper` is 0; less where the distance of the ends was estimated by itself,
        path by path, as `ProjectedValueIteration` does. Like the bounds it is about cases that lack no answer: where
        one is missing, exact plans of problems in any order go on as well as can be, other policies as they may.
    seconds : float
        Wall-clock time of solving, the certificate's left out.
    n_stages : int
        Horizon that was solved: the policy never asks for more features than this.
    size : int
        Number of alpha vectors or grid values kept.
    confidence : float
        1.0 where the bounds are exact, else the confidence of the interval.
    certify_seconds : float
        Wall-clock time of certificates, of all that were made on the way.
    trace : tuple of SolveStep
        What was reached on the way, of solvers that improve until a wanted gap or time.
    scope : str
        Which policies `lower` is about: ``"order"``, those that ask in this order; ``"all orders"``, whatever they ask
        next; ``"all panels"``, whatever they order together.
    ordering : OrderingChoice or None
        What was tried and chosen, of a solver that chooses an adaptive order.

    Examples
    --------
    >>> info = SolveInfo("wide gap", upper=0.2, lower=0.19, gap=0.05)
    >>> info.status, info.advice.partition(":")[0]
    ('wide gap', 'the certified gap is above 2%')
    """

    _in_summary = ("status", "upper", "lower", "gap", "confidence", "scope", "n_stages", "size", "seconds")
    _costs = ("upper", "lower")

    status: str
    upper: float = float("nan")
    lower: float = float("nan")
    gap: float = float("nan")
    seconds: float = 0.0
    n_stages: int = 0
    size: int = 0
    confidence: float = float("nan")
    certify_seconds: float = 0.0
    trace: tuple[SolveStep, ...] = ()
    scope: str = "order"
    ordering: OrderingChoice | None = None

    @property
    def advice(self) -> str:
        """What the status means and what may be done about it; empty where it is ``"converged"``."""
        if self.status == "wide gap":
            return f"the certified gap is above {WIDE_GAP:.0%}: {_NARROWER[self.scope]}"
        return _ADVICE.get(self.status, "")

    def _check_stored(self) -> None:
        require(type(self.status) is str, "status is no text")
        for name in ("upper", "lower", "gap", "confidence", "seconds", "certify_seconds", "n_stages", "size"):
            value = getattr(self, name)
            require(isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**62), f"{name} is no number")
        require(isinstance(self.ordering, (OrderingChoice, type(None))), "nothing was chosen")
