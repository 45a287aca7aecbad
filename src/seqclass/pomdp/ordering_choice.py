"""What was tried to find an adaptive order, and what was chosen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OrderingCandidate:
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

    Examples
    --------
    >>> OrderingCandidate("ExpectedSaving()", 0.21, 0.002, 0.01, 0.0005, 3.2, 5000, 1.5).above
    0.01
    """

    name: str
    cost: float
    std_error: float
    above: float
    above_std_error: float
    n_questions: float
    n_cases: int
    seconds: float


@dataclass(frozen=True)
class OrderingChoice:
    """What `Adaptive` tried, and what it chose.

    Attributes
    ----------
    chosen : str
        Name of the candidate that became the policy.
    candidates : tuple of OrderingCandidate
        All that were tried, from the simplest on.
    skipped : tuple of str
        What was not tried, since a limit of time or work was reached.
    scope : str
        What the costs are about.
    observed : tuple of OrderingCandidate
        Where a classifier was fitted: what was found on cases of the model, and a fixed order that was made on the
        training rows, with what both cost on these rows; the order is chosen where it costs less by more than a
        standard error.

    Examples
    --------
    >>> choice = OrderingChoice("a", (OrderingCandidate("a", 0.2, 0.001, 0.0, 0.0, 3.0, 5000, 1.0),), ("b",))
    >>> print(choice)
    cost on cases of the model itself, which says nothing about how right the model is:
    a: 0.2000 (standard error 0.0010), 3.0 questions, chosen
    not tried for want of time or work: b
    """

    chosen: str
    candidates: tuple[OrderingCandidate, ...]
    skipped: tuple[str, ...] = ()
    scope: str = "cases of the model itself, which says nothing about how right the model is"
    observed: tuple[OrderingCandidate, ...] = ()

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
            shown = f"{candidate.name}: {candidate.cost:.4f} (standard error {candidate.std_error:.4f}), "
            shown += f"{candidate.n_questions:.1f} questions, "
            if candidate.name == self.chosen:
                lines.append(f"{shown}chosen")
            elif candidate.name == best:
                lines.append(f"{shown}the best of these")
            else:
                difference = f"{candidate.above:+.4f} (standard error {candidate.above_std_error:.4f})"
                lines.append(f"{shown}{difference} to {'the one chosen' if known else best}")
        return lines
