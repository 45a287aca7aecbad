"""A policy's first steps as a decision graph, in the text form that Graphviz reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqclass._outcome_labels import outcome_labels
from seqclass._validation import check_integer, check_real
from seqclass.analysis._dot import Labels, percent, write
from seqclass.analysis._histories import Histories, Node, explore, fold
from seqclass.classifier import SequentialClassifier
from seqclass.pomdp import Policy

Names = Sequence[Any] | Mapping[int, Any] | None
#: Factor by which ways are made rarer until the graph is small enough.
_RAISE = 1.25


def decision_graph(
    policy: Policy | SequentialClassifier,
    *,
    max_depth: int = 4,
    min_probability: float = 0.01,
    max_nodes: int = 40,
    missing: float = 0.0,
    names: Names = None,
    decisions: Names = None,
    classes: Names = None,
    outcomes: Mapping[int, Sequence[Any]] | None = None,
) -> str:
    r"""Draw a policy as a graph: boxes ask for a feature, edges are its outcomes, ellipses decide.

    Histories of the same stage are one node where the policy goes on alike from there, as far as the graph is drawn:
    same feature, and for each outcome the same node. All histories that end in the same decision are one node.
    Outcomes of a node that lead to the same node are one edge; its width is the share of all instances that go there.
    A node says which share gets there, what its feature costs where prices differ, and the mean belief.

    Three limits keep the graph readable. Where they cut, dashed nodes stand for what is left out, and a line under the
    graph says how many instances that concerns.

    Parameters
    ----------
    policy : Policy or SequentialClassifier
        A policy, or a fitted classifier, whose names, bins and labels are then used.
    max_depth : int
        Most features on a way through the graph; where the policy would ask for more, a dashed box says so.
    min_probability : float
        Histories less probable than this are not followed: those that would go on end in a dashed ellipse.
    max_nodes : int
        Most nodes: ``min_probability`` is raised until there are no more, at most to 1, where the first question and
        what ends after it are left.
    missing : float
        Share of the answers that are missing, at random; 0 draws none. Edges of missing answers are dashed. The
        probabilities of all others shrink accordingly.
    names : sequence or mapping of int to str, optional
        Name of each feature: by its number in the problem, with a classifier by its column in the training data. By
        default those of the classifier, or ``"feature 3"`` and so on.
    decisions : sequence or mapping of int to str, optional
        Label of each decision; by default those of the classifier, or numbers.
    classes : sequence or mapping of int to str, optional
        Label of each class; by default those of the classifier, or ``"class 0"`` and so on.
    outcomes : mapping of int to sequence of str, optional
        Labels of the outcomes of some features, keys as of ``names``; by default bins and categories of the classifier,
        or numbers.

    Returns
    -------
    str
        A ``digraph`` in the dot language, for ``dot -Tsvg`` or any viewer of it; to be written as UTF-8.

    Raises
    ------
    TypeError
        If ``policy`` is neither a policy nor a sequential classifier.
    ValueError
        If ``max_depth`` is not between 0 and 100, ``min_probability`` not between 1e-4 and 1, ``max_nodes`` below 1,
        ``missing`` not between 0 and 1 or a list of names too short.

    Notes
    -----
    For programs, each node has ``kind`` (``ask``, ``decide``, ``more``, ``rare`` or ``lots``), ``reach`` (probability
    of getting there), ``posterior`` (mean belief) and, where it applies, ``stage``, ``feature`` (numbered as
    ``names``), ``prices`` (lowest and highest) or ``decision``; each edge has ``outcomes`` (numbers, -1 for missing,
    apart by blanks) and ``probability`` (given its node).

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

    Of a fitted classifier, in its own words:

    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.5, 5.0], [1.5, 5.0]], 20, axis=0)
    >>> text = decision_graph(SequentialClassifier().fit(X, np.repeat(["a", "b"], 20)))
    >>> print("\n".join(line.split(", ")[0] for line in text.splitlines() if "->" in line))
      n0 -> n1 [label=" < 1.167: 52% "
      n0 -> n2 [label=" >= 1.167: 48% "
    """
    check_integer(max_depth, "max_depth", 0, 100)
    check_real(min_probability, "min_probability", 1e-4, 1.0)
    check_integer(max_nodes, "max_nodes", 1)
    if check_real(missing, "missing", 0.0, 1.0) == 1:
        raise ValueError("missing must be below 1: where no answer is ever given there is nothing to draw.")
    names_of = _Names(policy)
    stages = explore(names_of.policy, max_depth, min_probability, float(missing), names_of.charge_missing)
    nodes, least = _fold(stages, min_probability, max_nodes)
    note = _note(nodes, max_depth, least, f" (for at most {max_nodes} nodes)" if least > min_probability else "")
    nodes = [replace(node, number=names_of.numbered(node)) for node in nodes]
    return write(nodes, names_of.labels(nodes, names, decisions, classes, outcomes), note)


def _fold(stages: list[Histories], least: float, max_nodes: int) -> tuple[list[Node], float]:
    """Fold the histories into at most so many nodes; return them with the probability that was needed for it."""
    nodes = fold(stages, least)
    while len(nodes) > max_nodes and least < 1:
        least = min(_RAISE * least, 1.0)
        nodes = fold(stages, least)
    return nodes, least


def _note(nodes: list[Node], max_depth: int, least: float, why: str) -> str:
    """Say what was cut."""
    cut = sum(node.reach for node in nodes if node.kind in ("more", "rare"))
    if cut <= 0:
        return ""
    drawn = f"at most {max_depth} features, and ways that at least {100 * least:.3g}% of instances go{why}"
    return f"Dashed nodes: {percent(cut)} of instances are asked for more.\nDrawn are {drawn}."


class _Names:
    """What a policy or a classifier calls its parts."""

    def __init__(self, owner: Policy | SequentialClassifier) -> None:
        self.classifier, self.charge_missing = None, False
        if isinstance(owner, SequentialClassifier):
            check_is_fitted(owner, "policy_")
            self.classifier, self.policy, self.charge_missing = owner, owner.policy_, owner.charge_missing
        elif isinstance(owner, Policy):
            self.policy = owner
        else:
            raise TypeError(f"policy must be a Policy or a fitted SequentialClassifier, got {type(owner).__name__}.")

    def numbered(self, node: Node) -> tuple[int, ...]:
        """Stage and feature of a node; of a classifier's features the column."""
        if self.classifier is None or node.kind not in ("ask", "more"):
            return node.number
        stage, feature = node.number
        return stage, int(self.classifier.support_[feature])

    def labels(
        self, nodes: list[Node], names: Names, decisions: Names, classes: Names, outcomes: Mapping[int, Any] | None
    ) -> Labels:
        """Name all that occurs in the nodes: as given, or else as the classifier does."""
        clf, problem = self.classifier, self.policy.problem
        asked = {node.number[1] for node in nodes if node.kind in ("ask", "more")}
        taken = {node.number[0] for node in nodes if node.kind == "decide"}
        bins = {} if outcomes is None else dict(outcomes)
        if clf is not None:
            bins = {column: outcome_labels(clf, column) for column in asked} | bins
        for node in nodes:
            if node.kind == "ask" and node.number[1] in bins:
                _check_length(bins[node.number[1]], f"outcomes[{node.number[1]}]", max(node.edges))
        every = np.concatenate([problem.prices, problem.full_prices])
        return Labels(
            _named(names, "names", asked, "feature {}".format if clf is None else clf.feature_name),
            _named(decisions, "decisions", taken, str if clf is None else lambda j: clf.decisions_.tolist()[j]),
            _named(
                classes,
                "classes",
                range(problem.n_classes),
                int if clf is None else lambda j: clf.classes_.tolist()[j],
            ),
            bins,
            bool(every.size and np.ptp(every) > 0),
        )


def _named(given: Names, what: str, numbers: Collection[int], default: Callable[[int], Any]) -> dict[int, Any]:
    if given is None or isinstance(given, Mapping):
        return {number: default(number) for number in numbers} | dict(given or {})
    _check_length(given, what, max(numbers, default=-1))
    return {number: given[number] for number in numbers}


def _check_length(given: Any, what: str, number: int) -> None:
    if not isinstance(given, Mapping) and len(given) <= number:
        raise ValueError(f"{what} must have an entry for each number up to {number}, it has {len(given)}.")
