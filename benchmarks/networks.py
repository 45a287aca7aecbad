"""Bayesian networks without data: expected cost of the plan beside those of myopic rules.

    python benchmarks/networks.py [--json FILE] [--quick] [--data DIR] [--seconds S] [--networks NAME ...]

Networks are those of the public repository of bnlearn that pgmpy comes with; alarm, hepar2 and win95pts are in
DIR/networks as well, by default $SEQCLASS_DATA. All nodes but the targets and their parents may be asked, of munin the
findings, which are the nodes without children; where a number stands behind the target, so many of them that tell most
by themselves, for plan and rules alike. The one-step rule asks what saves most for its price, as long as that is more
than the price. The myopic rule asks what GeNIe's diagnosis ranks first, by cross-entropy or by cross-entropy per price,
whichever does better, and stops at a threshold of the posterior that is chosen on the very cases that all are judged
on, drawn from the network: 10,000, and 2,000 where inference takes long. How much less than the myopic rule any policy
could cost is told by the certificate's lower bound, where its scope is all orders. Rows are seconds to plan, pgmpy's of
a single query (the target's posterior given five answers, median of 20) and ours; peak memory is that of the process so
far. Costs, certificate and the longest wait from an answer to the next question are in the name, and in the JSON by
themselves.
"""

from __future__ import annotations

import resource
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, parser, report
from _real import absent, add_data_option, data_folder

from seqclass import SequentialClassifier
from seqclass.bn import DiscreteNetwork, NetworkTables
from seqclass.fitting._fit import network_solver
from seqclass.pomdp import CrossEntropy, ExpectedSaving, acquire
from seqclass.pomdp.solvers.ordering.rules import make_ask
from seqclass.pomdp.solvers.ordering.values import RulePolicy, RuleValues

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about where pgmpy will have what
    import pgmpy
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

CASES = (
    ("alarm", ("LVFAILURE",)),
    ("hepar2", ("Cirrhosis",)),
    ("win95pts", ("PTROFFLINE",)),
    ("win95pts", ("PrtDriver", "PTROFFLINE", "TnrSpply")),
    ("child", ("Disease",)),
    ("insurance", ("Accident",)),
    ("hailfinder", ("R5Fcst",)),
    ("pathfinder", ("Fault",)),
    ("andes", ("NEED36",)),
    ("munin", ("R_LNLW_MED_PATHO",)),
)
#: Questions that are planned for, where all are too many: those that tell most by themselves.
MOST = {"andes": 40, "munin": 8}
#: Numbers in the tables of a network beyond which fewer cases are drawn.
LARGE = 50_000
#: Questions that the myopic rule asks at most, and thresholds that it may stop at.
LONGEST, THRESHOLDS = 15, 1 - np.geomspace(1e-4, 0.7, 100)


@dataclass(frozen=True)
class Planned(Row):
    """A row with what the plan is worth; costs are means over the cases."""

    cost: float
    myopic_cost: float
    myopic_rule: str
    threshold: float
    one_step_cost: float
    gap: float
    query_ms: float
    pgmpy_ms: float
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
    found = acquire(policy, X, record_beliefs=True, ask=make_ask(policy, budget=longest))
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


def one_step(problem: Any, X: Any) -> float:
    """Cost of asking what saves most, as if one had to decide then."""
    found = acquire(RulePolicy(RuleValues(problem, ExpectedSaving(), min(LONGEST, problem.n_questions))), X)
    return float((found.leaf_price + problem.stopping_cost(found.leaf_belief))[found.leaf].mean())


def as_pgmpy(network: NetworkTables) -> Any:
    """The same network in pgmpy."""
    names, theirs = network.names, DiscreteBayesianNetwork()
    theirs.add_nodes_from(names)
    theirs.add_edges_from((names[i], names[j]) for j, above in enumerate(network.parents) for i in above)
    for j, above in enumerate(network.parents):
        table = network.tables[j]
        states = {names[i]: network.states[i] for i in (j, *above)}
        known = [names[i] for i in above] or None
        shape = list(table.shape[1:]) or None
        theirs.add_cpds(TabularCPD(names[j], len(table), table.reshape(len(table), -1), known, shape, states))
    return theirs


def milliseconds(network: NetworkTables, targets: tuple[str, ...]) -> tuple[float, float]:
    """Median time of a single query, ours and pgmpy's: the target's posterior given five answers at random."""
    model = DiscreteNetwork(network, targets[0] if len(targets) == 1 else list(targets)).fit()
    rng, ours, theirs = np.random.default_rng(0), [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = VariableElimination(as_pgmpy(network))
    for row in model.sample(20, 0)[0]:
        seen = rng.choice(len(row), min(5, len(row)), replace=False)
        codes = np.full((1, len(row)), -1)
        codes[0, seen] = row[seen]
        told = {model.questions_[k]: model.outcomes_[k][row[k]] for k in seen.tolist()}
        began = time.perf_counter()
        model.posterior(codes)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            engine.query(list(targets), told, show_progress=False)
        theirs.append(time.perf_counter() - began)
    return 1e3 * float(np.median(ours)), 1e3 * float(np.median(theirs))


def asked(name: str, network: NetworkTables, targets: tuple[str, ...]) -> list[str]:
    """What may be asked."""
    above = {network.names[i] for target in targets for i in network.parents[network.names.index(target)]}
    found = [node for node in network.names if node not in above and node not in targets]
    if name == "munin":
        parents = {network.names[i] for some in network.parents for i in some}
        found = [node for node in found if node not in parents and "DUMMY" not in node]
    if name not in MOST:
        return found
    return (
        DiscreteNetwork(network, targets[0] if len(targets) == 1 else list(targets), found)
        .fit()
        .most_telling(MOST[name])
    )


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


def row(name: str, network: NetworkTables, targets: tuple[str, ...], drawn: bool, seconds: float) -> Planned:
    questions = asked(name, network, targets)
    price = np.random.default_rng(0).uniform(0.005, 0.05, len(questions)) if drawn else 0.01
    target = targets[0] if len(targets) == 1 else list(targets)
    began = time.perf_counter()
    solver = network_solver(0, seconds, DiscreteNetwork(network, target, questions).fit().table_size)
    clf = SequentialClassifier.from_network(network, target, questions=questions, feature_costs=price, solver=solver)
    took = time.perf_counter() - began
    problem, info, model = clf.problem_, clf.policy_.info, DiscreteNetwork(network, target, questions).fit()
    n = 200 if name == "toy" else 2000 if tables(model) > LARGE else 10_000
    X, _ = model.sample(n, random_state=1)
    found = acquire(clf.policy_, X)
    cost = (found.leaf_price + problem.stopping_cost(found.leaf_belief))[found.leaf].mean()
    n_asked = (found.leaf_question >= 0).sum(axis=1)[found.leaf].mean()
    (peer, threshold), rule = min(
        (myopic(problem, rule, X), repr(rule)) for rule in (CrossEntropy(), CrossEntropy(True))
    )
    once, (ours, theirs) = one_step(problem, X), milliseconds(network, targets)
    wait = seconds_a_question(clf, X)
    prices = "prices drawn" if drawn else "price .01"
    short = f" ({MOST[name]})" if name in MOST else ""
    title = (
        f"{name}, {', '.join(targets)}{short}, {prices}: cost {cost:.4f}, one step {once:.4f}, myopic {peer:.4f} "
        f"({1 - cost / min(peer, once):.1%} below the better, no policy more than "
        f"{1 - info.lower / min(peer, once):.1%}), {info.lower:.4f} to {info.upper:.4f} {info.scope} (gap "
        f"{info.gap:.0%}), {wait:.3f} s a question, a query {ours:.2f} ms, pgmpy {theirs:.2f} ms"
    )
    chosen = "" if info.ordering is None else info.ordering.chosen
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Planned(
        title, took, None, None, None, peak, float(cost), peer, rule, threshold, once, info.gap, ours, theirs,
        float(n_asked), info.lower, info.upper, info.scope, info.status, chosen, wait,
    )  # fmt: skip


def tables(model: DiscreteNetwork) -> float:
    """Numbers in the tables that inference goes through for a row."""
    return float(model.table_size)


def main() -> None:
    arguments = parser(__doc__)
    add_data_option(arguments)
    arguments.add_argument("--seconds", metavar="S", type=float, default=60.0, help="see seqclass plan --help")
    arguments.add_argument("--networks", metavar="NAME", nargs="+", help="these networks alone")
    given = arguments.parse_args()
    if given.quick:
        report([row("toy", toy(), ("n0",), drawn, 1.0) for drawn in (False, True)], given.json)
        return
    folder = data_folder(given)
    rows = []
    for name, targets in CASES:
        if given.networks and name not in given.networks:
            continue
        places = [(folder or Path()) / "networks", Path(pgmpy.__path__[0]) / "utils" / "example_models"]
        file = next((place / f"{name}.bif.gz" for place in places if (place / f"{name}.bif.gz").is_file()), None)
        if file is None:
            absent(f"{name}, {', '.join(targets)}", f"networks/{name}.bif.gz")
            continue
        network = DiscreteNetwork.from_file(file, list(targets)).network_
        for drawn in (False, True):
            rows.append(row(name, network, targets, drawn, given.seconds))
            print(rows[-1].name, flush=True)
    report(rows, given.json)


if __name__ == "__main__":
    main()
