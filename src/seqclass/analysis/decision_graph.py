"""The first steps of a policy as a decision graph, in the text form that Graphviz reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.tables import count_text
from seqclass._utils.text import digits_text, money, shorten, wrap
from seqclass._utils.validation import check_integer, check_real
from seqclass.agent._case import Questions
from seqclass.agent.agent import agent_of, outcome_labels
from seqclass.classifier import SequentialClassifier
from seqclass.pomdp import Policy
from seqclass.pomdp.action_values import cost_to_go
from seqclass.pomdp.observations import AllObservations
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.walk import Level, Simulation, next_of, walk_to_end

__all__ = ["Names", "decision_graph"]


#: A probability this much below a limit still meets it, so that rounding changes no graph.
_SLACK = 1 - 1e-9


@dataclass(frozen=True)
class StageHistories:
    """Histories of one stage, ``n`` rows.

    Attributes
    ----------
    parent : ndarray of int of shape (n,)
        Row of the stage before that each one goes on from.
    outcome : ndarray of int of shape (n,)
        What that one's feature showed, -1 where missing; at the first stage the number of the lot.
    mass : ndarray of shape (n,)
        Probability of the history.
    belief : ndarray of shape (n, n_classes)
        P(class | history).
    feature, decision : ndarray of int of shape (n,)
        Feature that is asked for next, -1 to decide; the cheapest decision.
    price : ndarray of shape (n,)
        Price of the next feature.
    panel : ndarray of bool of shape (n, n_questions)
        What is ordered together there; of none where nothing is, or visits cost nothing.
    visit : ndarray of shape (n,)
        Cost of that visit.
    read : ndarray of bool of shape (n,)
        Where the next feature was ordered before.
    cost : ndarray of shape (n,)
        Expected cost from there on; NaN where it was not asked for.
    """

    parent: IntArray
    outcome: IntArray
    mass: FloatArray
    belief: FloatArray
    feature: IntArray
    decision: IntArray
    price: FloatArray
    panel: BoolArray
    visit: FloatArray
    read: BoolArray
    cost: FloatArray


def histories_of(
    policy: Policy, max_depth: int, min_probability: float, missing: float, charge_missing: bool, costs: bool = False
) -> list[StageHistories]:
    """Follow a policy for at most ``max_depth`` features, histories below ``min_probability`` no further."""
    stages: list[StageHistories] = []
    paid: list[FloatArray] = []
    belief, mass = policy.initial_belief()
    visits, shape = policy.problem.visits, (-1, policy.problem.n_questions)
    listed = np.array([not policy.problem.structure.is_sampled(question) for question in range(shape[1])], dtype=bool)

    def ask(level: Level) -> IntArray:
        read, spent = level.belief.account.waits, level.belief.spent  # before anything is ordered
        question = next_of(policy, level)
        panel = np.zeros((len(question), shape[1]), dtype=bool)
        if visits is not None and level.belief.account.ordered is not None:
            panel = level.belief.account.ordered & ~read[:, None]
            # what asks one question at a time orders each by itself
            alone = (question != DECIDE) & ~read & ~panel.any(axis=1)
            panel[alone, question[alone]] = True
        parent, outcome = (level.parent, level.outcome) if stages else (np.zeros_like(level.parent), level.parent)
        price = np.full(len(question), np.nan)
        following = np.where(question == DECIDE, policy.next_question(level.belief), question)
        known = following != DECIDE
        prices = np.broadcast_to(level.belief.prices, (len(question), policy.problem.n_questions))
        price[known] = prices[known, following[known]]
        if visits is not None and level.belief.account.ordered is not None:
            ordered = level.belief.account.ordered[known, following[known]]
            price[known] -= np.where(ordered, 0.0, visits.single_costs[following[known]])
        visit = np.zeros(len(question)) if visits is None else visits.panel_costs(panel)
        decision, feature = policy.problem.decide(level.belief.probabilities), question.copy()
        feature[question != DECIDE] = policy.problem.features[question[question != DECIDE]]
        go_on = (question != DECIDE) & (level.weight >= min_probability * _SLACK) & (level.stage < max_depth)
        go_on[go_on] = listed[question[go_on]]
        cost, ends = np.full(len(question), np.nan), np.flatnonzero(~go_on)
        if costs and ends.size:  # beyond what is drawn; more paths where there are fewer ends
            simulation = Simulation("auto", max(100, 100_000 // ends.size), random_state=0)
            cost[ends] = cost_to_go(policy, level.belief[ends], simulation)[0] + (level.belief.spent - spent)[ends]
        paid.append(spent)
        asks = (feature, decision, price, panel, visit, read, cost)
        stages.append(StageHistories(parent, outcome, level.weight, level.belief.probabilities, *asks))
        return np.where(go_on, question, DECIDE)

    walk_to_end(belief, mass, ask, AllObservations(missing, charge_missing))
    for k in range(len(stages) - 1, 0, -1) if costs else ():
        stage, before = stages[k], stages[k - 1].cost
        whole, total = (
            np.bincount(stage.parent, stage.mass * part, len(before)) for part in (paid[k] + stage.cost, 1.0)
        )
        went = total > 0
        before[went] = whole[went] / total[went] - paid[k - 1][went]
    return stages


@dataclass
class Node:
    """A node of a decision graph.

    Attributes
    ----------
    kind : {"lots", "ask", "more", "rare", "decide"}
        What happens there.
    number : tuple of int
        Stage and feature of a question, then all features that are ordered together there; or the decision.
    reach : float
        Probability of getting there.
    joint : ndarray of shape (n_classes,)
        P(getting there, class).
    prices : tuple of float
        Lowest and highest price of the feature.
    edges : dict of int to (int, float)
        Node that each outcome leads to, and the probability of going there, from the start.
    visit : float
        Cost of the visit that begins there; NaN where none does.
    cost : float
        Expected cost from there on, times `reach`; NaN where it was not asked for.
    """

    kind: str
    number: tuple[int, ...]
    reach: float
    joint: FloatArray
    prices: tuple[float, float]
    edges: dict[int, tuple[int, float]] = field(default_factory=dict)
    visit: float = np.nan
    cost: float = 0.0


def fold(stages: list[StageHistories], min_probability: float, features: IntArray, merge: bool = True) -> list[Node]:
    """Merge histories of a stage that go on alike, and all that end alike; the last node is the first of the graph.

    Without ``merge`` it is a tree, and only answers to one question after which all ends alike share an end.
    """
    followed = _rows_to_draw(stages, min_probability)
    nodes = _MergedNodes(stages[0].belief.shape[1])
    below: dict[int, dict[int, tuple[int, float]]] = {}
    last = len(stages) - 1
    for k in range(last, -1, -1):
        stage = stages[k]
        here: dict[int, dict[int, tuple[int, float]]] = {}
        alive = np.arange(len(stage.mass)) if k == 0 else np.flatnonzero(followed[k - 1][stage.parent])
        for row in alive.tolist():
            kind = _kind(stage, k, row, bool(followed[k][row]), min_probability)
            if kind[0] in ("ask", "more"):
                kind = (*kind, *features[stage.panel[row]].tolist())
            apart = None if merge else (k, int(stage.parent[row]))
            node = nodes.add(kind, below.get(row, {}), apart)
            if stage.panel[row].any():
                nodes.found[node].visit = float(stage.visit[row])
            price, cost = float(stage.price[row]), float(stage.cost[row])
            nodes.weigh(node, float(stage.mass[row]), stage.belief[row], price, cost)
            here.setdefault(int(stage.parent[row]), {})[int(stage.outcome[row])] = (node, float(stage.mass[row]))
        below = here
    if len(below[0]) > 1:
        root = nodes.add(("lots",), below[0])
        mass, cost = stages[0].mass, float(stages[0].mass @ stages[0].cost)
        nodes.weigh(root, 1.0, (mass[:, None] * stages[0].belief).sum(axis=0), np.nan, cost)
    return nodes.found


def _rows_to_draw(stages: list[StageHistories], min_probability: float) -> list[BoolArray]:
    """Rows of each stage whose answers are drawn: those with one that is not just rare."""
    result: list[BoolArray] = []
    for k, stage in enumerate(stages):
        on = np.zeros(len(stage.mass), dtype=bool)
        if k + 1 < len(stages):
            after = stages[k + 1]
            on[after.parent[(after.feature == DECIDE) | (after.mass >= min_probability * _SLACK)]] = True
            on &= (stage.feature != DECIDE) & (stage.mass >= min_probability * _SLACK)
        result.append(on if k == 0 else on & result[-1][stage.parent])
    return result


def _kind(stage: StageHistories, k: int, row: int, followed: bool, min_probability: float) -> tuple[str | int, ...]:
    feature = int(stage.feature[row])
    if feature == DECIDE:
        return ("decide", int(stage.decision[row]))
    if followed:
        return ("ask", k, feature)
    return ("more", k, feature) if stage.mass[row] >= min_probability * _SLACK else ("rare",)


class _MergedNodes:
    """Nodes by what happens from there on."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.found: list[Node] = []
        self._places: dict[Hashable, int] = {}

    def add(self, kind: tuple[str | int, ...], branches: dict[int, tuple[int, float]], apart: Hashable = None) -> int:
        """Return the place of the node of that kind and those successors, and add the mass of its branches."""
        key = (kind, apart, tuple((outcome, child) for outcome, (child, _) in branches.items()))
        place = self._places.setdefault(key, len(self.found))
        if place == len(self.found):
            number = tuple(int(part) for part in kind[1:])
            self.found.append(Node(str(kind[0]), number, 0.0, np.zeros(self.n_classes), (np.inf, -np.inf)))
        edges = self.found[place].edges
        for outcome, (child, mass) in branches.items():
            edges[outcome] = (child, edges.get(outcome, (child, 0.0))[1] + mass)
        return place

    def weigh(self, place: int, mass: float, belief: FloatArray, price: float, cost: float) -> None:
        """Add one history to a node."""
        node = self.found[place]
        node.reach += mass
        node.cost += mass * cost
        node.joint = node.joint + mass * belief
        low, high = node.prices
        node.prices = (min(low, price), max(high, price))


Names = Sequence[Any] | Mapping[int, Any] | None


def decision_graph(
    policy: Policy | SequentialClassifier,
    *,
    max_depth: int = 4,
    min_probability: float = 0.01,
    max_nodes: int = 40,
    missing: float = 0.0,
    merge: bool = True,
    costs: bool = False,
    names: Names = None,
    decisions: Names = None,
    classes: Names = None,
    outcomes: Mapping[int, Sequence[Any]] | None = None,
) -> str:
    r"""Draw a policy as a graph: boxes ask for a feature, edges are its outcomes, ellipses decide.

    Histories of the same stage share a node if the policy continues in the same way from there, as far as the graph is
    drawn: with the same feature, and for each outcome to the same node. All histories that end in the same decision
    share a node. Outcomes that lead from one node to the same other node share an edge, whose width is the share of all
    instances that take it. A node shows the share of instances that get there, the price of its feature if prices
    differ, and the mean belief. If visits cost something, the node in which a visit begins shows what is ordered
    together and what the visit costs; its answers are then read one after the other, in whatever order they come.

    Three limits keep the graph readable. Where they cut it, dashed nodes stand for what is left out, and a line under
    the graph says how many instances that concerns. The answers of a bundle with too many joint answers to list are
    left out as well.

    Parameters
    ----------
    policy : Policy or SequentialClassifier
        A policy, or a fitted classifier; the names, bins and labels of a classifier are used in the graph.
    max_depth : int
        Most features on a path through the graph; where the policy would ask for more, a dashed box says so.
    min_probability : float
        Histories less probable than this are not followed further; if the policy would go on, they end in a dashed
        ellipse.
    max_nodes : int
        Most nodes. ``min_probability`` is raised until there are no more than this, at most to 1, which leaves the
        first question and what ends after it.
    missing : float
        Share of answers that are missing at random; with 0 no missing answers are drawn. Edges of missing answers are
        dashed, and the probabilities of all other answers are reduced accordingly.
    merge : bool
        Whether histories share nodes. False draws a tree of the beliefs that are met, in which only those answers to a
        question that end alike share an end.
    costs : bool
        Whether nodes say what is expected to be paid and lost from there on; beyond what is drawn it is simulated where
        there are too many histories to enumerate.
    names : sequence or mapping of int to str, optional
        Name of each feature, by its number in the problem or, with a classifier, by its column in the training data. By
        default the names of the classifier or the problem, else ``"feature 3"`` and so on.
    decisions : sequence or mapping of int to str, optional
        Label of each decision; by default those of the classifier or the problem, else ``"class 0"`` and so on.
    classes : sequence or mapping of int to str, optional
        Label of each class; by default those of the classifier or the problem, else ``"class 0"`` and so on.
    outcomes : mapping of int to sequence of str, optional
        Labels of the outcomes of some features, with the same keys as ``names``; by default the bins and categories of
        the classifier, the names of the problem, or numbers.

    Returns
    -------
    str
        A ``digraph`` in the dot language, for ``dot -Tsvg`` or any viewer; write it to a file as UTF-8.

    Raises
    ------
    TypeError
        If ``policy`` is neither a policy nor a sequential classifier.
    ValueError
        If ``max_depth`` is not between 0 and 100, ``min_probability`` not between 1e-4 and 1, ``max_nodes`` below 1,
        ``missing`` not between 0 and 1 or a list of names too short.

    Notes
    -----
    For use by programs, each node has ``kind`` (``ask``, ``decide``, ``more``, ``rare`` or ``lots``), ``reach``
    (probability of getting there), ``posterior`` (mean belief) and, where it applies, ``stage``, ``feature`` (numbered
    as ``names``), ``prices`` (lowest and highest) or ``decision``, where a visit begins ``panel`` (features that are
    ordered together) and ``visit`` (its cost), and with ``costs`` also ``cost``. Each edge has ``outcomes`` (numbers
    separated by blanks, -1 for missing) and ``probability`` (given its node).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = GridValueIteration().solve(problem)
    >>> text = decision_graph(policy, names=["pulse"], decisions=["well", "ill"], classes=["well", "ill"])
    >>> print("\n".join(line.split(", ")[0] for line in text.splitlines() if "label=" in line))
      n0 [label="ask pulse\nreached 100%\nwell 50%"
      n1 [label="decide well\nreached 55%\nwell 82%"
      n2 [label="decide ill\nreached 45%\nill 89%"
      n0 -> n1 [label=" 0: 55% "
      n0 -> n2 [label=" 1: 45% "

    For a fitted classifier, in its own words:

    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.5, 5.0], [1.5, 5.0]], 20, axis=0)
    >>> text = decision_graph(SequentialClassifier().fit(X, np.repeat(["a", "b"], 20)))
    >>> print("\n".join(line.split(", ")[0] for line in text.splitlines() if "->" in line))
      n0 -> n1 [label=" < 1.167: 52% "
      n0 -> n2 [label=" >= 1.167: 48% "
    """
    limits, texts = (max_depth, min_probability, max_nodes), (names, decisions, classes, outcomes)
    return write(*graph_of(policy, limits, missing, texts, merge=merge, costs=costs))


def graph_of(
    policy: Policy | SequentialClassifier,
    limits: tuple[int, float, int],
    missing: float = 0.0,
    texts: tuple[Names, Names, Names, Mapping[int, Sequence[Any]] | None] = (None, None, None, None),
    *,
    merge: bool,
    costs: bool,
) -> tuple[list[Node], NodeWords, str]:
    """The nodes of a graph, the first one last, what is written in them, and what was cut; see `decision_graph`."""
    max_depth, min_probability, max_nodes = limits
    check_integer(max_depth, "max_depth", 0, 100)
    check_real(min_probability, "min_probability", 1e-4, 1.0)
    check_integer(max_nodes, "max_nodes", 1)
    if check_real(missing, "missing", 0.0, 1.0) == 1:
        raise ValueError("missing must be below 1: where no answer is ever given there is nothing to draw.")
    names_of = _Names(policy)
    stages = histories_of(names_of.policy, max_depth, min_probability, float(missing), names_of.charge_missing, costs)
    features, least = names_of.policy.problem.features, min_probability
    nodes = fold(stages, least, features, merge)
    while len(nodes) > max_nodes and least < 1:
        least = min(1.25 * least, 1.0)  # ways are made rarer until the graph is small enough
        nodes = fold(stages, least, features, merge)
    note = _note(
        nodes, max_depth, least, f" (for at most {count_text(max_nodes, 'nodes')})" if least > min_probability else ""
    )
    nodes = [replace(node, number=names_of.node_numbers(node)) for node in nodes]
    return nodes, names_of.labels(nodes, *texts), note


def _note(nodes: list[Node], max_depth: int, least: float, why: str) -> str:
    """Say what was cut."""
    cut = sum(node.reach for node in nodes if node.kind in ("more", "rare"))
    if cut <= 0:
        return ""
    drawn = (
        f"at most {count_text(max_depth, 'features')}, and ways that at least {100 * least:.3g}% of instances go{why}"
    )
    return f"Dashed nodes: {percent(cut)} of instances are asked for more.\nDrawn are {drawn}."


class _Names:
    """What a policy or a classifier calls its parts."""

    def __init__(self, owner: Policy | SequentialClassifier) -> None:
        self.classifier, self.charge_missing = None, False
        if isinstance(owner, BaseSequentialClassifier):
            check_is_fitted(owner, "policy_")
            self.classifier, self.policy, self.charge_missing = owner, owner.policy_, agent_of(owner).charge_missing
        elif isinstance(owner, Policy):
            self.policy = owner
        else:
            raise TypeError(f"policy must be a Policy or a fitted SequentialClassifier, got {type(owner).__name__}.")

    def node_numbers(self, node: Node) -> tuple[int, ...]:
        """Stage and feature of a node; of a classifier's features the column."""
        if self.classifier is None or node.kind not in ("ask", "more"):
            return node.number
        stage, *features = node.number
        return stage, *self.classifier.support_[features].tolist()

    def labels(
        self, nodes: list[Node], names: Names, decisions: Names, classes: Names, outcomes: Mapping[int, Any] | None
    ) -> NodeWords:
        """Name all that occurs in the nodes: as given, or else as the classifier does."""
        clf, problem, bundles = self.classifier, self.policy.problem, self._bundles(nodes)
        asked = {feature for node in nodes if node.kind in ("ask", "more") for feature in node.number[1:]}
        taken = {node.number[0] for node in nodes if node.kind == "decide"}
        bins = {} if outcomes is None else dict(outcomes)
        labels: list[list[Any]] = [problem.names.decisions, problem.names.classes]
        labels = labels if clf is None else [clf.decisions_.tolist(), clf.classes_.tolist()]
        if clf is None:
            asks = {node.number[1] for node in nodes if node.kind == "ask"}
            bins = {j: problem.names.outcomes(self._questions[j]) for j in asks} | bins
        else:
            bundle_outcomes = {column: shown for column, (_, shown) in bundles.items()}
            bins = {column: outcome_labels(agent_of(clf), column) for column in asked} | bundle_outcomes | bins
        for node in nodes:
            if node.kind == "ask" and node.number[1] in bins:
                _check_length(bins[node.number[1]], f"outcomes[{node.number[1]}]", max(node.edges))
        every = np.concatenate([problem.prices, problem.full_prices])
        return NodeWords(
            _names_by_number(names, "names", asked, lambda j: bundles[j][0] if j in bundles else self._name(j)),
            _names_by_number(decisions, "decisions", taken, labels[0].__getitem__),
            _names_by_number(classes, "classes", range(problem.n_classes), labels[1].__getitem__),
            bins,
            bool(every.size and np.ptp(every) > 0),
            problem.visits is not None,
        )

    @cached_property
    def _questions(self) -> dict[int, int]:
        """Question of each feature of the problem; of a bundle's first one the bundle."""
        return {feature: question for question, feature in enumerate(self.policy.problem.features.tolist())}

    def _name(self, number: int) -> str:
        if self.classifier is None:
            return self.policy.problem.names.question(self._questions[number])
        return self.classifier.feature_name(number)

    def _bundles(self, nodes: list[Node]) -> dict[int, tuple[str, dict[int, str]]]:
        """Name of each bundle of a classifier by its first column, and what its answers are called that are drawn."""
        if self.classifier is None:
            return {}
        agent = agent_of(self.classifier)
        questions, bundles = Questions(agent, agent.problem), dict[int, tuple[str, dict[int, str]]]()
        for question in range(agent.problem.n_questions):
            if (bundle := agent.problem.structure.bundle(question)) is None:
                continue
            labels = [outcome_labels(agent, feature.column) for feature in questions.features(question)]
            column = int(agent.support[agent.problem.features[question]])
            drawn = [node for node in nodes if node.kind == "ask" and node.number[1] == column]
            outcomes = sorted({outcome for node in drawn for outcome in node.edges if outcome >= 0})
            shown = bundle.decode(np.array(outcomes, dtype=np.int64)).tolist()
            texts = ["; ".join(one[v] if v >= 0 else "missing" for one, v in zip(labels, row)) for row in shown]
            bundles[column] = questions.name(question), {o: f"({text})" for o, text in zip(outcomes, texts)}
        return bundles


def _names_by_number(
    given: Names, what: str, numbers: Collection[int], default: Callable[[int], Any]
) -> dict[int, Any]:
    if given is None or isinstance(given, Mapping):
        return {number: default(number) for number in numbers} | dict(given or {})
    _check_length(given, what, max(numbers, default=-1))
    return {number: given[number] for number in numbers}


def _check_length(given: Any, what: str, number: int) -> None:
    if not isinstance(given, Mapping) and len(given) <= number:
        raise ValueError(f"{what} must have an entry for each number up to {number}, it has {len(given)}.")


#: Colours of decisions, pale enough for black text: those of M. Okabe and K. Ito, mixed with white.
_FILLS = ("#99C6E0", "#EEBF99", "#99D8C7", "#EBC9DC", "#F5D999", "#BBE1F6", "#BFBFBF")
#: Of what is left out.
_GREY = 'color="#8C8C8C", fontcolor="#6E6E6E"'


@dataclass(frozen=True)
class LabelWidths:
    """What fits into a picture of a graph, in characters."""

    max_named: int = 6  #: features that are named, of more that are ordered together
    line: int = 26  #: of a node
    edge: int = 30  #: of the note beside an edge
    class_label: int = 18  #: of a class


WIDTHS = LabelWidths()

_INTERVAL = re.compile(r"\[(?P<low>[^,\[\]()]+), (?P<high>[^,\[\]()]+)\)|< (?P<below>[^,]+)|>= (?P<above>[^,]+)")
#: Characters that XML, and so SVG, cannot hold.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class NodeWords:
    """What things are called; what is not named is called by its number.

    Attributes
    ----------
    features, decisions, classes : mapping of int to str
        Names.
    outcomes : mapping of int to sequence, or mapping of int, of str
        Descriptions of the outcomes of features.
    priced : bool
        Whether prices are shown.
    visits : bool
        Whether visits cost something.
    """

    features: Mapping[int, Any]
    decisions: Mapping[int, Any]
    classes: Mapping[int, Any]
    outcomes: Mapping[int, Sequence[Any] | Mapping[int, Any]]
    priced: bool
    visits: bool = False

    def feature(self, number: int) -> str:
        """Name of a feature."""
        return str(self.features.get(number, f"feature {number}"))

    def belief(self, joint: Any) -> str:
        """Write P(class) of a node: of the likelier of two classes, of the two likeliest of more."""
        share = np.asarray(joint) / joint.sum()
        index = np.argsort(-share.round(12), kind="stable")[: 1 if len(share) == 2 else 2].tolist()
        return "\n".join(f"{self._class(i)} {percent(float(share[i]))}" for i in index)

    def _class(self, number: int) -> str:
        """Name of a class; a number alone would be taken for a share."""
        label = self.classes.get(number, number)
        return shorten(label if isinstance(label, str) else f"class {label}", WIDTHS.class_label)

    def answers(self, feature: int, outcomes: Sequence[int]) -> str:
        """Write the outcomes that lead from one node to another."""
        names = self.outcomes.get(feature)
        seen = [str(o) if names is None else " ".join(str(names[o]).split()) for o in outcomes if o >= 0]
        text = join_labels(seen) + ["missing"] * (-1 in outcomes)
        shown = [text[0]]
        while len(shown) < len(text) and len(", ".join([*shown, text[len(shown)]])) <= WIDTHS.edge:
            shown.append(text[len(shown)])
        more = len(text) - len(shown)
        return ", ".join(shorten(part, WIDTHS.edge) for part in shown) + (f"\nand {more} more" if more else "")


def write(nodes: list[Node], labels: NodeWords, note: str) -> str:
    """Write a graph, its first node first."""
    order = sorted(range(len(nodes)), key=lambda i: (_rank(nodes[i]), -round(nodes[i].reach, 12), i))
    name = {place: f"n{i}" for i, place in enumerate(order)}
    font = 'fontname="Helvetica,Arial,sans-serif"'
    lines = ["digraph policy {", "  rankdir=LR; nodesep=0.2; ranksep=0.5;"]
    lines += [f"  graph [{font}, fontsize=11];", f"  node [{font}, fontsize=12];", f"  edge [{font}, fontsize=10];"]
    if note:
        lines.append(f"  label={quote(note, 'l')}; labelloc=b; labeljust=l;")
    lines += [f"  {name[place]} [{_node(nodes[place], labels)}];" for place in order]
    for rank in sorted({_rank(node) for node in nodes}):  # a column for each stage, the ends in the last one
        column = " ".join(f"{name[place]};" for place in order if _rank(nodes[place]) == rank)
        lines.append(f"  {{rank={'max' if rank[0] == 2 else 'same'}; {column}}}")
    for place in order:
        lines += [f"  {name[place]} -> {name[child]} [{text}];" for child, text in _edges(nodes, nodes[place], labels)]
    return "\n".join([*lines, "}", ""])


def _rank(node: Node) -> tuple[int, int]:
    """Lots, then questions by stage, then the ends."""
    if node.kind == "lots":
        return (0, 0)
    return (1, node.number[0]) if node.kind in ("ask", "more") else (2, 0)


def node_text(node: Node, labels: NodeWords) -> str:
    """What happens at a node, in one line."""
    if node.kind == "decide":
        return f"decide {labels.decisions.get(node.number[0], node.number[0])}"
    if node.kind in ("lots", "rare"):
        return "draw a lot" if node.kind == "lots" else "rarer ways go on"
    text, (low, high) = f"{'read' if labels.visits else 'ask'} {labels.feature(node.number[1])}", node.prices
    if labels.priced:
        text += f" for {money(low)}" if low == high else f" for {money(low)} to {money(high)}"
    return text


def _node(node: Node, labels: NodeWords) -> str:
    data = [f'kind={node.kind}, reach="{node.reach:.12g}"']
    data.append(f'posterior="{" ".join(f"{p:.6g}" for p in (node.joint / node.joint.sum()).tolist())}"')
    style, more, before = 'shape=box, style="rounded"', "", ""
    if node.kind == "decide":
        decision = node.number[0]
        style = f'shape=ellipse, style="filled", margin="0.02", fillcolor="{_FILLS[decision % len(_FILLS)]}"'
        data.append(f"decision={decision}")
    elif node.kind == "lots":
        style = 'shape=box, style="rounded,filled", fillcolor="#EEEEEE"'
    elif node.kind == "rare":
        style = f'shape=ellipse, style="dashed", margin="0.02", {_GREY}'
    else:
        low, high = node.prices
        data.append(f'stage={node.number[0]}, feature={node.number[1]}, prices="{low:.12g} {high:.12g}"')
        if panel := node.number[2:]:
            data.append(f'panel="{" ".join(map(str, panel))}", visit="{node.visit:.12g}"')
            style = f'{style[:-1]},filled", fillcolor="#EEEEEE"'
            before = _panel([labels.feature(number) for number in panel], node.visit)
        if node.kind == "more":
            more, style = "\nand so on", 'shape=box, style="rounded,dashed"'
    body = f"{before}{wrap(node_text(node, labels), WIDTHS.line)}{more}"
    body += f"\nreached {percent(node.reach)}\n{labels.belief(node.joint)}"
    if not np.isnan(node.cost):
        body += f"\ncosts {digits_text(node.cost / node.reach)} from here"
        data.append(f'cost="{node.cost / node.reach:.12g}"')
    return f"label={quote(body)}, {style}, {', '.join(data)}"


def _panel(names: list[str], visit: float) -> str:
    """What is ordered together, a line each, and what the visit costs."""
    few = [shorten(name, WIDTHS.line) for name in names[: WIDTHS.max_named]]
    few += [f"and {len(names) - WIDTHS.max_named} more"] if len(names) > WIDTHS.max_named else []
    head = "order together" if len(names) > 1 else "order"
    return "\n".join([f"{head} (visit {money(visit)})", *few, "", ""])


def targets_of(node: Node) -> dict[int, list[int]]:
    """Node at the end of each edge, and the outcomes that lead there."""
    targets: dict[int, list[int]] = {}
    for outcome in sorted(node.edges, key=lambda o: (o < 0, o)):
        targets.setdefault(node.edges[outcome][0], []).append(outcome)
    return targets


def edge_text(node: Node, outcomes: Sequence[int], labels: NodeWords) -> str:
    """What is seen on the way along an edge."""
    if node.kind == "lots":
        return f"{'lot' if len(outcomes) == 1 else 'lots'} {', '.join(map(str, outcomes))}"
    return labels.answers(node.number[1], outcomes)


def _edges(nodes: list[Node], node: Node, labels: NodeWords) -> list[tuple[int, str]]:
    """Node at the end of each edge, and its attributes; outcomes that lead to the same node are one edge."""
    total = sum(mass for _, mass in node.edges.values())
    result = []
    for child, seen in targets_of(node).items():
        mass = sum(node.edges[outcome][1] for outcome in seen)
        text = edge_text(node, seen, labels)
        label = quote(f" {text}: {percent(mass / total)} ")
        look = f'penwidth="{0.6 + 3.4 * mass:.2f}"' + (', style="dashed"' if seen == [-1] else "")
        look += f", {_GREY}" if nodes[child].kind == "rare" else ""
        data = f'outcomes="{" ".join(map(str, seen))}", probability="{mass / total:.12g}"'
        result.append((child, f"label={label}, {look}, {data}"))
    return result


def join_labels(labels: Sequence[str]) -> list[str]:
    """Join descriptions of bins where one begins at the edge at which the one before it ends."""
    joined: list[tuple[str, str | None, str | None]] = []  # text, lower and upper edge
    for text in labels:
        match = _INTERVAL.fullmatch(text)
        low, high = (match["low"] or match["above"], match["high"] or match["below"]) if match else (None, None)
        if joined and low is not None and joined[-1][2] == low:
            low = joined.pop()[1]
            text = f"[{low}, {high})" if low and high else f"< {high}" if high else f">= {low}" if low else "any"
        joined.append((text, low, high))
    return [text for text, _, _ in joined]


def percent(share: float) -> str:
    """Write a share in per cent, with a digit more near the ends; nothing is called certain that is not."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1 - 1e-12:
        return ">99.9%"
    return f"{100 * share:.1f}%" if share < 0.0995 or 0.95 <= share < 0.9995 else f"{100 * share:.0f}%"


def quote(text: str, line_end: str = "n") -> str:
    r"""Quote a label for the dot language: quotes, backslashes, line ends, and what looks like an entity."""
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;"), ("\r", ""), ("\n", f"\\{line_end}")):
        text = text.replace(plain, escaped)
    end = "\\l" if line_end == "l" else ""
    return f'"{_UNWRITABLE.sub("?", text)}{end}"'
