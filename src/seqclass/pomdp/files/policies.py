"""Alpha-vector policies of other solvers, as policies here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_choice
from seqclass.pomdp.alpha import AlphaSet
from seqclass.pomdp.files._layout import Layout, check_discount, layout_of, scale
from seqclass.pomdp.needs import check_problem
from seqclass.pomdp.observations import SampledObservations
from seqclass.pomdp.policy import LookaheadPolicy, with_info
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.walk import walk_policy

__all__ = ["read_policy"]


class VectorFile(NamedTuple):
    """Alpha vectors as a file holds them."""

    action: IntArray
    vectors: FloatArray
    node: IntArray
    n_nodes: int


class _Malformed(ValueError):
    """What is wrong, without the file's name."""


def parse(path: str | os.PathLike[str], longest: int = 10**6) -> VectorFile:
    r"""Read the vectors of a policy file of either kind."""
    content = Path(path).read_bytes()
    try:
        if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            return _parse_xml(content, longest)
        return _parse_alpha(content)
    except _Malformed as error:
        raise ValueError(f"{os.fspath(path)} is no alpha-vector policy: {error}.") from error


def _parse_alpha(content: bytes) -> VectorFile:
    actions: list[int] = []
    vectors: list[FloatArray] = []
    pending: str | None = None
    for place, raw in enumerate(content.splitlines(), 1):
        line = raw.decode("latin-1").strip()
        if not line or line.startswith("#"):
            continue
        where = f"line {place}"
        if pending is None:
            actions.append(_integer(line, f"{where} (an action's number)"))
            pending = where
            continue
        vectors.append(_floats(line, where))
        if len(vectors[-1]) != len(vectors[0]):
            raise _Malformed(f"{where} has {len(vectors[-1])} entries, earlier vectors have {len(vectors[0])}")
        pending = None
    if pending is not None:
        raise _Malformed(f"it ends after the action of {pending}, where a vector should follow")
    if not vectors:
        raise _Malformed("it holds no vectors")
    return VectorFile(np.array(actions), np.array(vectors), np.zeros(len(actions), dtype=np.intp), 1)


class _NoDocumentType(ElementTree.TreeBuilder):
    """Refuses a document type: with it come entities without end."""

    def doctype(self, *_: object) -> None:
        raise _Malformed("it declares a document type, which policies do not and which is not read for safety")


def _parse_xml(content: bytes, longest: int) -> VectorFile:
    try:
        root = ElementTree.fromstring(content, ElementTree.XMLParser(target=_NoDocumentType()))
    except ElementTree.ParseError as error:
        raise _Malformed(f"its XML is broken ({error})") from error
    if root.tag != "Policy":
        raise _Malformed(f"its root element is {root.tag}, not Policy")
    if (kind := root.get("type", "value")) != "value":
        raise _Malformed(f"it is a policy of type {kind!r}; only 'value' (alpha vectors) can be read")
    blocks = root.findall("AlphaVector")
    known = {id(one) for block in blocks for one in block}
    for one in root.iter():
        if one.tag in _VECTORS and id(one) not in known:
            raise _Malformed(f"a {one.tag} is not inside Policy, AlphaVector")
    if not blocks:
        raise _Malformed("it has no AlphaVector element")
    # most entries of all vectors: so many, and so many more for each byte of the file
    left, n_nodes = 10**7 + 64 * len(content), 1
    action, node, vectors = list[int](), list[int](), list[FloatArray]()
    for block in blocks:
        length, n_nodes = _attribute(block, "vectorLength"), _attribute(block, "numObsValue", 1)
        for one in block:
            if one.tag in _VECTORS:
                left -= length
                action.append(_attribute(one, "action"))
                node.append(_attribute(one, "obsValue", 0))
                vectors.append(_vector(one, length, length <= longest and left >= 0, f"vector {len(vectors) + 1}"))
    if not vectors:
        raise _Malformed("it holds no vectors")
    if min(node) < 0 or max(node) >= n_nodes:
        raise _Malformed(f"a vector's obsValue is not in 0..{n_nodes - 1}")
    return VectorFile(np.array(action), np.array(vectors), np.array(node), n_nodes)


#: Elements that hold a vector: its entries, or pairs of a number and an entry.
_VECTORS = ("Vector", "SparseVector")


def _vector(element: ElementTree.Element, length: int, fits: bool, where: str) -> FloatArray:
    values = _floats(" ".join(element.itertext()), where)
    if element.tag == "SparseVector":
        if not fits:
            raise _Malformed(f"vectorLength={length} is more than the problem or the file accounts for")
        index, entries = values[::2], values[1::2]
        if len(index) != len(entries) or not ((index == index.round()) & (index >= 0) & (index < length)).all():
            raise _Malformed(f"{where} is not pairs of an index below {length} and a value")
        values = np.zeros(length)
        values[index.astype(np.intp)] = entries
    if len(values) != length:
        raise _Malformed(f"{where} has {len(values)} entries, not vectorLength={length}")
    return values


def _attribute(element: ElementTree.Element, name: str, default: int | None = None) -> int:
    text = element.get(name)
    if text is None and default is None:
        raise _Malformed(f"a {element.tag} has no {name}")
    return default if text is None else _integer(text, f"{name} of a {element.tag}")  # type: ignore[return-value]


def _integer(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Malformed(f"{what} should be a whole number, it is {text[:40]!r}") from None


def _floats(text: str, where: str) -> FloatArray:
    try:
        values = np.array(text.split(), dtype=np.float64)
    except ValueError:
        raise _Malformed(f"{where} should hold numbers only, it reads {text.strip()[:40]!r}") from None
    if not np.isfinite(values).all():
        raise _Malformed(f"{where} holds NaN or infinity")
    return values


#: Cases along which claims are checked.
_N_CHECKED = 200


class _Foreign(NamedTuple):
    """A file's vectors and what they are of."""

    path: str
    file: VectorFile
    layout: Layout
    flat: bool

    def vectors_at(self, node: int) -> tuple[IntArray, FloatArray]:
        """Actions and costs (scaled, by class) of the vectors that are valid at a node."""
        if not self.flat:
            rows = self.file.node == self.layout.values[node]
            return self.file.action[rows], -self.file.vectors[rows]
        width = self.layout.nodes.n_hidden
        return self.file.action, -self.file.vectors[:, node * width : (node + 1) * width]

    def error(self, what: str) -> ValueError:
        return ValueError(f"{self.path} does not fit the problem: {what}")


def read_policy(
    path: str | os.PathLike[str],
    problem: AcquisitionProblem,
    *,
    discount: float | None = None,
    layout: str = "auto",
    check: bool = True,
) -> LookaheadPolicy:
    r"""Read the alpha vectors that pomdp-solve or SARSOP found for a problem written by this package.

    Vectors are returned as costs of going on, per stage and context, with the scaling by the discount undone. A vector
    of a flat file spans all states, and the part of each stage is a vector of that stage. Vectors of decisions are not
    kept, since stopping is always possible; they show whether the file belongs to the problem, and by which discount it
    was scaled. A file for a shorter horizon gives a policy of that horizon.

    Vectors of decisions may differ from the costs by a twentieth of the largest, because those of SARSOP are bounds
    that close in. With pomdp-solve, the solution must be for ``n_stages + 1`` steps or more (or for the infinite
    horizon with a discount below 1). Of a chain of one-step runs by ``-terminal_values``, read the last: the earlier
    ones count plans that end without a decision, and are refused.

    In a problem in any order the policy asks by one step of look-ahead on the vectors. These assume that no answer
    is missing; if one is missing that later likelihoods depend on, the policy looks one question ahead without the
    vectors. A staged file does not give its horizon: for a shorter one pass the problem with ``max_questions``.

    Parameters
    ----------
    path : path-like
        A ``.alpha`` file of pomdp-solve, or a policy XML of SARSOP (APPL), flat or staged.
    problem : AcquisitionProblem
        The problem it was solved for, free or not.
    discount : float, optional
        Discount of the file that was solved; by default it is found from the vectors of decisions.
    layout : {"auto", "flat", "staged"}
        Whether the vectors are of stage and class (.POMDP), or of classes at each value of the observed stage
        (POMDPX); by default as the file says.
    check : bool
        Refuse vectors that claim, at beliefs the policy reaches, clearly less than what the next stage's vectors can
        pay for, such as those of too short a horizon.

    Returns
    -------
    LookaheadPolicy
        Its ``values`` are the vectors, in a problem in any order those of all questions at each node of what was asked.
        `certify` bounds what the policy costs and how far from optimal it is, whatever the file claims.

    Raises
    ------
    ValueError
        If the file is malformed, or is not of this problem and discount.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, certify
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "problem.alpha")
    ...     with open(path, "w") as file:  # what pomdp-solve answers to write_pomdp(problem, ...)
    ...         _ = file.write("0\n-0.2 -0.3 -2 -2 0\n\n1\n0 -1 0 -1 0\n\n2\n-1 0 -1 0 0\n")
    ...     policy = read_policy(path, problem)
    >>> policy.values.value(0, problem.prior[None]), certify(problem, policy).gap
    (array([0.25]), 0.0)
    """
    check_choice(layout, "layout", ("auto", "flat", "staged"))
    check_problem(problem)
    full = layout_of(problem)
    foreign = _identify(os.fspath(path), parse(path, full.n_nodes * full.nodes.n_hidden + 1), full, layout)
    factors = _check_decisions(foreign, discount)
    n_stages = foreign.layout.n_stages
    info = SolveInfo("converged" if n_stages == problem.n_stages else "truncated", n_stages=n_stages)
    policy = foreign.layout.policy([_stage_set(foreign, k, factors[k]) for k in range(n_stages)], info)
    policy = with_info(policy, size=policy.values.size)
    if check:
        _check_claims(foreign, _shortfalls(policy))
    return policy


def _identify(path: str, file: VectorFile, full: Layout, layout: str) -> _Foreign:
    width, length = full.nodes.n_hidden, file.vectors.shape[1]
    flat = file.n_nodes == 1
    if layout != "auto" and flat != (layout == "flat"):
        raise ValueError(f"{path} has {file.n_nodes} observed values, so its layout is not {layout!r}.")
    n_nodes = (length - 1) // width
    cut = None
    if length == (n_nodes * width + 1 if flat else width):
        cut = full.cut(n_nodes) if flat else full.cut_values(file.n_nodes)
    if cut is None:
        shape = f"{length} states" if flat else f"vectors of {length} classes at {file.n_nodes} observed values"
        wanted = f"{full.n_nodes} x {width} + 1 states" if flat else f"{width} at {full.n_values}"
        raise ValueError(f"{path} does not fit the problem: it has {shape}; all stages would be {wanted}.")
    foreign = _Foreign(path, file, cut, flat)
    most, asks = len(full.actions) + full.problem.n_decisions - 1, "questions" if full.problem.any_order else "acquire"
    if file.action.min() < 0 or file.action.max() > most:
        raise foreign.error(f"it has action {int(file.action.max())}; there are 0 ({asks}) to {most} (the decisions).")
    return foreign


def _check_decisions(foreign: _Foreign, discount: float | None) -> FloatArray:
    """Factor of each stage, found or checked by the vectors of decisions, whose costs are known."""
    layout = foreign.layout
    costs = layout.nodes.costs.T
    stages, unit_factors, known = [], [], []
    for node, stage in enumerate(layout.stage_of.tolist()):
        actions, vectors = foreign.vectors_at(node)
        rows = actions >= len(layout.actions)
        stages.append(np.full(int(rows.sum()), stage))
        unit_factors.append(vectors[rows])
        known.append(costs[actions[rows] - len(layout.actions)])
    stage, cost, truth = np.concatenate(stages), np.concatenate(unit_factors), np.concatenate(known)
    guesses = _guesses(foreign, stage, cost, truth) if discount is None else [discount]
    worst = 0.0
    near: list[tuple[float, int, FloatArray]] = []
    for guess in guesses:
        factors = scale(check_discount(guess, layout.n_stages), layout.n_stages)
        expected = factors[stage][:, None] * truth
        if _equal(cost, expected):
            return factors
        off = np.abs(cost - expected)
        worst = float(off.max(initial=0.0))
        # share of the largest decision cost by which a vector of a decision may miss it: SARSOP's are bounds, which it
        # leaves some ten times its precision away. What the policy is worth, a certificate tells
        if worst <= 0.05 * expected.max(initial=0.0):
            near.append((round(float(off.mean()), 4), len(unit_factors), factors))
    if near and (discount is None or not _by_another(foreign, stage, cost, truth)):
        # of discounts that explain them but for a residual, the one that leaves least, the rounder first
        return min(near, key=lambda one: one[:2])[2]
    scaled = "any discount" if discount is None else f"discount={discount:g}"
    raise foreign.error(
        f"its vectors of decisions are not the decision costs scaled by {scaled} (off by up to {worst:.3g}). It is of "
        "another problem or of another discount."
    )


def _equal(cost: FloatArray, expected: FloatArray) -> bool:
    """Whether costs are what they should be, but for the digits that are written."""
    # SARSOP writes six digits
    return bool((np.abs(cost - expected) <= 2e-5 * np.maximum(expected, 1e-3)).all())


def _by_another(foreign: _Foreign, stage: IntArray, cost: FloatArray, truth: FloatArray) -> bool:
    """Whether some discount explains the vectors of decisions without any residual."""
    if not ((truth > 0) & (cost > 0) & (stage > 0)[:, None]).any():
        return False
    factors = [scale(guess, foreign.layout.n_stages) for guess in _guesses(foreign, stage, cost, truth)]
    return any(_equal(cost, one[stage][:, None] * truth) for one in factors)


def _guesses(foreign: _Foreign, stage: IntArray, cost: FloatArray, truth: FloatArray) -> list[float]:
    """Discounts that explain the vectors of decisions, the rounder ones first."""
    if foreign.layout.n_stages == 0:
        return [1.0]
    row, column = np.nonzero((truth > 0) & (cost > 0) & (stage > 0)[:, None])
    if not len(row):
        raise foreign.error("it holds no vector of a decision after the first stage to find the discount by; give it.")
    last = stage[row] == stage[row].max()
    ratio = cost[row, column][last] / truth[row, column][last]
    estimate = min(float(np.median(ratio)) ** (-1.0 / float(stage[row].max())), 1.0)
    return [guess for digits in range(1, 10) if 0 < (guess := round(estimate, digits)) <= 1] + [estimate]


def _stage_set(foreign: _Foreign, stage: int, factor: float) -> AlphaSet:
    """The useful of the vectors of going on at a stage, grouped by context or node."""
    layout = foreign.layout
    group_of, n_groups = layout.groups(stage)
    groups = [np.empty((0, layout.nodes.n_hidden))] * n_groups
    for node, group in enumerate(group_of.tolist(), int(layout.nodes.first[stage])):
        actions, vectors = foreign.vectors_at(node)
        groups[group] = np.concatenate([groups[group], vectors[actions < len(layout.actions)] / factor])
    stopping = layout.nodes.costs.T
    kept = [stopping[:0], *(_useful(group, stopping) for group in groups)]
    return AlphaSet(np.concatenate(kept), None if n_groups == 1 else np.cumsum([len(own) for own in kept]))


def _useful(vectors: FloatArray, stopping: FloatArray) -> FloatArray:
    """Leave out what is there twice, and what a decision beats for every class."""
    vectors = np.unique(vectors, axis=0)
    beaten = np.zeros(len(vectors), dtype=bool)
    for decision in stopping:
        beaten |= (vectors >= decision).all(axis=1)
    return vectors[~beaten]


def _check_claims(foreign: _Foreign, shortfalls: Iterable[float]) -> None:
    """Refuse vectors that promise less than one more price and the next stage's vectors cost."""
    # share of the largest decision cost by which a vector may claim less than the following stage's vectors can pay for
    slack = 1e-3 * max(float(foreign.layout.nodes.costs.max()), 1e-9)
    for stage, short in enumerate(shortfalls):
        if short > slack:
            raise foreign.error(
                f"at stage {stage} it claims {short:.3g} less than the next stage's vectors can pay for. It is of "
                f"another problem, or of a horizon too short (pomdp-solve needs n_stages + 1 steps); certify it with "
                "check=False to see what it is worth."
            )


def _shortfalls(policy: LookaheadPolicy) -> Iterator[float]:
    """By how much each stage's vectors claim less than look-ahead finds, at beliefs that the policy reaches."""
    values = policy.values
    for level in walk_policy(policy.problem, policy, _N_CHECKED, SampledObservations(np.random.default_rng(0))):
        belief = level.belief
        if level.stage >= values.n_stages:
            return
        claimed = values.plan_cost(belief, np.arange(len(belief)))
        known = np.isfinite(claimed)
        yield float((policy.continuation_cost(belief)[known] - claimed[known]).max(initial=0.0))
