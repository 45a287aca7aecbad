"""Bayesian networks without data: expected cost of the plan beside that of the myopic rule at its best threshold.

    python benchmarks/networks.py [--json FILE] [--quick] [--data DIR] [--seconds S]

DIR/networks holds alarm, hepar2 and win95pts as BIF; by default $SEQCLASS_DATA. All nodes but the targets and their
parents may be asked. The myopic rule asks what GeNIe's diagnosis ranks first, by cross-entropy or by cross-entropy per
price, whichever does better, and stops at a threshold of the posterior that is chosen on the very cases that both are
judged on, 10,000 drawn from the network. How much less than the myopic rule any policy could cost is told by the
certificate's lower bound, where its scope is all orders. Rows are seconds to plan; costs, certificate and the longest
wait from an answer to the next question are in the name, and in the JSON by themselves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, parser, report
from _real import absent, add_data_option, data_folder

from seqclass import SequentialClassifier
from seqclass.bn import DiscreteNetwork, NetworkTables
from seqclass.fitting._fit import network_solver
from seqclass.pomdp import CrossEntropy, RulePolicy, RuleValues, acquire
from seqclass.pomdp.solvers.ordering.rules import asking

CASES = (
    ("alarm", ("LVFAILURE",)),
    ("hepar2", ("Cirrhosis",)),
    ("win95pts", ("PTROFFLINE",)),
    ("win95pts", ("PrtDriver", "PTROFFLINE", "TnrSpply")),
)
#: Questions that the myopic rule asks at most, and thresholds that it may stop at.
LONGEST, THRESHOLDS = 15, 1 - np.geomspace(1e-4, 0.7, 100)


@dataclass(frozen=True)
class Planned(Row):
    """A row with what the plan is worth; costs are means over the cases."""

    cost: float
    myopic_cost: float
    myopic_rule: str
    threshold: float
    n_questions: float
    lower: float
    upper: float
    scope: str
    status: str
    chosen: str
    ask_s: float


def toy() -> NetworkTables:
    """A fault, what depends on it, and what that depends on."""
    rng = np.random.default_rng(0)
    parents = [[], [0], [0, 1], [1], [2], [0, 4], [3, 5]]
    tables = [np.moveaxis(rng.dirichlet([1, 1], (2,) * len(above)), -1, 0) for above in parents]
    return NetworkTables([f"n{j}" for j in range(7)], [["no", "yes"]] * 7, parents, tables)


def myopic(problem: Any, rule: Any, X: Any) -> tuple[float, float]:
    """Cost of the rule at its best threshold, and the threshold."""
    longest = min(LONGEST, problem.n_questions)
    policy = RulePolicy(RuleValues(problem, rule, longest))
    found = acquire(policy, X, record_beliefs=True, ask=asking(policy, budget=longest))
    beliefs = found.leaf_beliefs[:, : longest + 1]
    paid = np.where(found.leaf_question >= 0, problem.prices[found.leaf_question], 0.0)[:, :longest].cumsum(axis=1)
    paid = np.hstack([np.zeros((len(paid), 1)), paid])
    costs = paid + problem.stopping_cost(beliefs.reshape(-1, problem.n_classes)).reshape(paid.shape)
    weight = np.bincount(found.leaf, minlength=len(costs)) / len(found.leaf)
    top, best = beliefs.max(axis=2), (np.inf, 0.0)
    for threshold in [0.0, *THRESHOLDS.tolist()]:
        sure = top >= threshold
        sure[:, -1] = True
        best = min(best, (float(weight @ costs[np.arange(len(costs)), sure.argmax(axis=1)]), threshold))
    return best


def seconds_a_question(clf: SequentialClassifier, X: Any) -> float:
    """Longest that a live case waits from an answer to its next question, over some cases."""
    longest = 0.0
    for row in X[:10]:
        began = time.perf_counter()
        session = clf.session()
        while question := session.next_feature:
            longest = max(longest, time.perf_counter() - began)
            column = clf.model_.questions_.index(question.name)
            answer = clf.model_.states(column)[row[column]]
            began = time.perf_counter()
            session.observe(question.name, answer)
        longest = max(longest, time.perf_counter() - began)
    return longest


def row(name: str, network: NetworkTables, targets: tuple[str, ...], drawn: bool, n: int, seconds: float) -> Planned:
    above = {network.names[i] for target in targets for i in network.parents[network.names.index(target)]}
    questions = [node for node in network.names if node not in above and node not in targets]
    price = np.random.default_rng(0).uniform(0.005, 0.05, len(questions)) if drawn else 0.01
    target = targets[0] if len(targets) == 1 else list(targets)
    began = time.perf_counter()
    clf = SequentialClassifier.from_network(
        network, target, questions=questions, feature_costs=price, solver=network_solver(0, seconds)
    )
    took = time.perf_counter() - began
    problem, info = clf.problem_, clf.policy_.info
    X, _ = DiscreteNetwork(network, target, questions).fit().sample(n, random_state=1)
    found = acquire(clf.policy_, X)
    cost = (found.leaf_price + problem.stopping_cost(found.leaf_belief))[found.leaf].mean()
    asked = (found.leaf_question >= 0).sum(axis=1)[found.leaf].mean()
    (peer, threshold), rule = min(
        (myopic(problem, rule, X), repr(rule)) for rule in (CrossEntropy(), CrossEntropy(True))
    )
    wait = seconds_a_question(clf, X)
    prices = "prices drawn" if drawn else "price .01"
    title = (
        f"{name}, {', '.join(targets)}, {prices}: cost {cost:.4f}, myopic {peer:.4f} ({1 - cost / peer:.1%} less, no "
        f"policy more than {1 - info.lower / peer:.1%}), {info.lower:.4f} to {info.upper:.4f} {info.scope}, "
        f"{wait:.3f} s a question"
    )
    chosen = "" if info.ordering is None else info.ordering.chosen
    return Planned(
        title, took, None, None, None, None, float(cost), peer, rule, threshold, float(asked), info.lower, info.upper,
        info.scope, info.status, chosen, wait,
    )  # fmt: skip


def main() -> None:
    arguments = parser(__doc__)
    add_data_option(arguments)
    arguments.add_argument("--seconds", metavar="S", type=float, default=60.0, help="see seqclass plan --help")
    given = arguments.parse_args()
    if given.quick:
        report([row("toy", toy(), ("n0",), drawn, 200, 1.0) for drawn in (False, True)], given.json)
        return
    folder = data_folder(given)
    rows = []
    for name, targets in CASES:
        file = (folder or Path()) / "networks" / f"{name}.bif.gz"
        if not file.is_file():
            absent(f"{name}, {', '.join(targets)}", f"networks/{file.name}")
            continue
        network = DiscreteNetwork.from_file(file, list(targets)).network_
        for drawn in (False, True):
            rows.append(row(name, network, targets, drawn, 10_000, given.seconds))
            print(rows[-1].name, flush=True)
    report(rows, given.json)


if __name__ == "__main__":
    main()
