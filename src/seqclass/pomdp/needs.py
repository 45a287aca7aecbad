"""What solvers and bounds need of a problem: asked for once, at the door."""

from __future__ import annotations

from seqclass._utils.validation import check_kind
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.tables import Tables

_FREE = "Adaptive or Lookahead"


def check_problem(problem: AcquisitionProblem) -> None:
    """Refuse what is no problem."""
    check_kind(problem, AcquisitionProblem, "problem", "an AcquisitionProblem, such as clf.problem_")


def require_fixed_order(problem: AcquisitionProblem, who: str, instead: str = _FREE) -> None:
    """Refuse a problem in which any question may come next."""
    if problem.any_order:
        raise ValueError(f"{who} needs a fixed order of questions, and here any may come next; use {instead}.")


def require_tables(problem: AcquisitionProblem, who: str, instead: str) -> Tables:
    """Tables of a problem in a fixed order, or an error that says what to use instead."""
    require_fixed_order(problem, who)
    tables = problem.structure.tables
    if tables is None:
        raise ValueError(
            f"{who} needs a problem with tables (a finite number of contexts), and this one has none; use {instead}."
        )
    return tables


def require_no_visits(problem: AcquisitionProblem, who: str, instead: str = "certify or evaluate") -> None:
    """Refuse a problem in which several questions may be ordered together."""
    if problem.visits is not None:
        raise ValueError(
            f"{who} follows one question at a time, and here several may be ordered in one visit; use {instead}, or "
            "a problem whose visits cost nothing."
        )


def require_one_start(problem: AcquisitionProblem, who: str) -> None:
    """Refuse a problem whose cases begin with something known."""
    if problem.structure.starts is not None:
        raise ValueError(
            f"{who} begins every case alike, and something is known here of each before the first question (known); "
            "fit without known."
        )
