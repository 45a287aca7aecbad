"""To other POMDP solvers and back: write the problem, read the policy they find, certify it.

python examples/exchange_files.py

Nothing else needs to be installed: where a real run would call pomdp-solve or SARSOP, this script writes the file that
pomdp-solve would answer with, from the toolkit's own vectors.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from seqclass.pomdp import Perseus, TableProblem, certify, in_any_order, read_policy, write_pomdp


def make_problem() -> TableProblem:
    """Three classes and five tests of three outcomes, a hundredth of a mistake each."""
    tables = np.random.default_rng(0).dirichlet(np.full(3, 0.7), size=(5, 3)).transpose(0, 2, 1)
    return TableProblem(np.full(3, 1 / 3), tables, prices=0.01)


def stand_in(values: Any, path: Path) -> None:
    """Write vectors as pomdp-solve does: action, then the rewards of all states (stages x classes, and the end)."""
    problem = values.problem
    shape = (problem.n_stages + 1, problem.n_classes)
    lines = []
    for stage, alphas in enumerate(values.sets):
        for alpha in alphas.vectors_in():
            reward = np.full(shape, -2.0)  # a plan that is bad wherever else it is followed
            reward[stage] = -alpha
            lines += ["0", " ".join(map(repr, [*reward.ravel().tolist(), 0.0])), ""]
    for decision, costs in enumerate(problem.decision_costs.T):
        reward = np.broadcast_to(-costs, shape)
        lines += [str(decision + 1), " ".join(map(repr, [*reward.ravel().tolist(), 0.0])), ""]
    path.write_text("\n".join(lines))


def main() -> None:
    problem = make_problem()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pomdp(problem, folder / "problem.pomdp", classes=["benign", "in situ", "invasive"])
        write_pomdp(problem, folder / "problem.pomdpx", discount=0.999)
        for file in sorted(folder.iterdir()):
            print(f"{file.name}: {file.stat().st_size / 1000:.1f} kB")
        print("  pomdp-solve -pomdp problem.pomdp -horizon 6    (one step more than there are features)")
        print("  pomdpsol --precision 1e-4 problem.pomdpx\n")

        # the same questions in any order: an action a question, what was asked in the state
        write_pomdp(in_any_order(problem), folder / "any_order.pomdp")
        states, actions = (folder / "any_order.pomdp").read_text().splitlines()[6:8]
        print(f"any_order.pomdp: {len(states.split()) - 1} states, {actions}\n")

        solved = Perseus().solve(problem)
        stand_in(solved.values, folder / "problem.alpha")
        policy = read_policy(folder / "problem.alpha", problem)

        claimed = policy.values.value(0, problem.prior[None])[0]
        certificate = certify(problem, policy)
        print(f"read back: {policy.info.size} vectors of going on, claimed cost {claimed:.5f}")
        print(f"certified: costs {certificate.upper:.5f}, no policy less than {certificate.lower:.5f}")

        try:
            read_policy(folder / "problem.alpha", TableProblem(problem.prior, problem.likelihoods, 0.05))
        except ValueError as error:
            print(f"\nof a problem with other prices: {error}".replace(name + "/", ""))


if __name__ == "__main__":
    main()
