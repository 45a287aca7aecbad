"""Any question next: scoring all open questions of many rows, one step of look-ahead, and a question in a live case.

    python benchmarks/free.py [--json FILE] [--quick]

Scores are expected costs of deciding after each open question: one matrix product where likelihoods do not depend on
what was seen, messages computed once a row where features form a tree. The peer walks through questions and outcomes
with the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _common import Row, measure, parser, report

from seqclass.agent.problem import acquisition_problem
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.costs import Costs
from seqclass.pomdp import AcquisitionProblem, Lookahead, acquire
from seqclass.pomdp.problem import BeliefState

N_ROWS, N_QUESTIONS, N_OUTCOMES, N_CLASSES = 1000, 57, 6, 3


def problem_of(model: Any, n_questions: int, n_outcomes: int, price: float) -> tuple[AcquisitionProblem, Any]:
    """A problem in any order learned from made rows, each feature the noisy class and its neighbour, and new rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=3000)
    noise = rng.integers(n_outcomes, size=(3000, n_questions))
    X = np.where(rng.random(noise.shape) < 0.25, y[:, None] * n_outcomes // N_CLASSES, noise)
    X[:, 1:] = np.where(rng.random((3000, n_questions - 1)) < 0.3, X[:, :-1], X[:, 1:])
    fitted = model.fit(X[:2000], y[:2000])
    costs = 1 - np.eye(N_CLASSES)
    return acquisition_problem(
        fitted, np.arange(n_questions), Costs(price).prices(n_questions), costs, any_order=True
    ), X


def some_asked(problem: AcquisitionProblem, X: Any, n_rows: int) -> BeliefState:
    """Rows that were asked three questions each."""
    belief = problem.initial_belief(n_rows)
    for question in range(3):
        belief = belief.asking(question).update(np.resize(X[:, question], n_rows))
    return belief


def one_by_one(belief: BeliefState, questions: Any) -> Any:
    """Expected cost of deciding after each open question, question by question and outcome by outcome."""
    problem = belief.problem
    costs = np.empty((len(belief), len(questions)))
    for at, question in enumerate(questions.tolist()):
        here = belief.asking(question)
        outcomes = range(int(problem.n_outcomes[question]))
        costs[:, at] = sum(problem.stopping_cost(here.joint[:, v]) for v in outcomes)
    return costs


def scoring(model: Any, n_rows: int, n_questions: int, repeats: int) -> Row:
    problem, X = problem_of(model, n_questions, N_OUTCOMES, 0.01)
    asked, questions = some_asked(problem, X, n_rows), np.arange(3, n_questions)

    def fresh() -> BeliefState:
        return asked[np.arange(n_rows)]

    np.testing.assert_allclose(
        problem.structure.costs_after(questions, fresh()), one_by_one(fresh(), questions), atol=1e-12
    )
    return measure(
        f"scores of {n_rows} rows x {len(questions)} open questions x {N_OUTCOMES} outcomes, {type(model).__name__}",
        lambda: problem.structure.costs_after(questions, fresh()),
        peer="a loop over questions and outcomes",
        peer_call=lambda: one_by_one(fresh(), questions),
        repeats=repeats,
    )


def looking_ahead(model: Any, n_rows: int, n_questions: int, repeats: int) -> Row:
    problem, X = problem_of(model, n_questions, N_OUTCOMES, 0.01)
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    new = np.resize(X[2000:], (n_rows, n_questions))
    asked = (acquire(policy, new).leaf_question >= 0).sum(axis=1).mean()
    return measure(
        f"acquire, Lookahead(1), {n_rows} rows x {n_questions} questions, {asked:.1f} asked, {type(model).__name__}",
        lambda: acquire(policy, new),
        repeats=repeats,
    )


def live_question(n_questions: int, repeats: int) -> Row:
    problem, X = problem_of(NaiveBayes(), n_questions, N_OUTCOMES, 0.01)
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    belief = some_asked(problem, X, 1)
    return measure(
        f"one live question of {n_questions} open ones (x 100)",
        lambda: [policy.action(belief[np.arange(1)]) for _ in range(100)],
        repeats=repeats,
    )


def main() -> None:
    arguments = parser(__doc__).parse_args()
    n_rows, n_questions = (50, 8) if arguments.quick else (N_ROWS, N_QUESTIONS)
    models: list[Any] = [NaiveBayes(), TreeNetwork()]
    rows = [scoring(model, n_rows, n_questions, arguments.repeats) for model in models]
    rows += [looking_ahead(model, n_rows, n_questions, arguments.repeats) for model in models]
    rows.append(live_question(20 if arguments.quick else 500, arguments.repeats))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
