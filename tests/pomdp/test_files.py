"""Files of other solvers: what is written is the problem, and what is read back is worth what it says."""

from __future__ import annotations

import itertools
import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pomdp_readers import NAME, alpha_text, decimal, read_cassandra, xml_text

from seqclass.pomdp import AcquisitionProblem, Perseus, TableProblem, certify, optimal_cost, read_policy, write_pomdp
from seqclass.pomdp.one_step import context_of

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "pomdp"
CASES = [(seed, kind, contexts) for contexts in (False, True) for seed, kind in enumerate(
    ("plain", "zeros", "prior", "free", "single", "useless", "equal", "decisions")
)]  # fmt: skip


def read_pomdpx(path: Path) -> SimpleNamespace:
    """The same arrays of a POMDPX file, the state being the pair of its two variables."""
    root = ET.parse(path).getroot()
    variables: dict[str, list[str]] = {}
    for node in root.find("Variable"):
        if node.tag != "RewardVar":
            names = node.findtext("ValueEnum").split()
            assert all(NAME.fullmatch(name) for name in names)
            variables |= {node.get(key): names for key in ("vname", "vnamePrev", "vnameCurr") if node.get(key)}

    def table(name: str) -> Any:
        for block in [*root.iter("CondProb"), *root.iter("Func")]:
            if block.findtext("Var") != name:
                continue
            parents = [p for p in block.findtext("Parent").split() if p != "null"]
            order = parents if name == "rw" else [*parents, name]
            array = np.zeros([len(variables[p]) for p in order])
            for entry in block.iter("Entry"):
                text = entry.findtext("ProbTable") or entry.findtext("ValueTable")
                fields = entry.findtext("Instance").split()
                index = tuple(
                    slice(None) if f in "*-" else variables[p].index(f) for p, f in zip(order, fields, strict=True)
                )
                free = [len(variables[p]) for p, f in zip(order, fields) if f == "-"]
                if text == "identity":
                    array[index] = np.eye(free[0])
                else:
                    array[index] = np.array([decimal(p) for p in text.split()]).reshape(free)
            return array, parents
        raise AssertionError(name)

    X, Y = len(variables["x_0"]), len(variables["y_0"])
    A = len(variables["ac"])
    move, parents = table("x_1")
    if "y_0" not in parents:
        move = np.repeat(move[:, :, None, :], Y, axis=2)
    stay, _ = table("y_1")
    observation, _ = table("ob")
    reward, _ = table("rw")
    model = SimpleNamespace(discount=decimal(root.findtext("Discount")), nodes=variables["x_0"], n_classes=Y)
    model.T = np.einsum("axyu,ayw->axyuw", move, stay).reshape(A, X * Y, X * Y)
    model.O = observation.reshape(A, X * Y, -1)
    model.R = reward.reshape(A, X * Y)
    model.start = np.outer(table("x_0")[0], table("y_0")[0]).ravel()
    # the observed variable is part of what the solver sees
    seen = np.eye(X)[None, :, None, :, None] * observation[:, :, :, None, :]
    model.O_seen = seen.reshape(A, X * Y, -1)
    model.observed = variables
    return model


def optimum_of(model: SimpleNamespace, belief: Any = None, steps: int = 12) -> float:
    """Best expected discounted reward by recursion over histories; all mass at the end ends it."""
    belief = model.start if belief is None else belief
    if steps == 0 or not belief[model.alive].any():
        return 0.0
    best = -np.inf
    for a in range(len(model.T)):
        value = belief @ model.R[a]
        after = belief @ model.T[a]
        for o in range(model.O.shape[2]):
            following = after * model.O[a, :, o]
            if following[model.alive].any():
                value += model.discount * optimum_of(model, following, steps - 1)
        best = max(best, value)
    return float(best)


def check_model(model: SimpleNamespace, n_end: int) -> None:
    np.testing.assert_allclose(model.T.sum(axis=2), 1, atol=1e-12)
    np.testing.assert_allclose(model.O.sum(axis=2), 1, atol=1e-12)
    assert model.start.sum() == pytest.approx(1, abs=1e-12)
    model.alive = np.arange(model.T.shape[1]) < model.T.shape[1] - n_end
    assert not model.R[:, ~model.alive].any()
    assert not model.T[:, ~model.alive][:, :, model.alive].any()  # absorbing
    assert not model.T[1:, :, model.alive].any()  # decisions end it


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("seed, kind, contexts", CASES)
def test_pomdp_file_is_the_problem(
    seed: int, kind: str, contexts: bool, discount: float, make_case: Any, oracle: Any, tmp_path: Path
) -> None:
    case = make_case(seed, kind, contexts=contexts, n_stages=1 if kind == "single" else 3)
    write_pomdp(case.problem, tmp_path / "a.pomdp", discount=discount)
    model = read_cassandra(tmp_path / "a.pomdp")
    check_model(model, 1)
    assert model.discount == discount
    assert -optimum_of(model) == pytest.approx(oracle.optimum(case), abs=1e-9)


@pytest.mark.parametrize("seed, kind, contexts", CASES)
def test_pomdpx_file_is_the_problem(
    seed: int, kind: str, contexts: bool, make_case: Any, oracle: Any, tmp_path: Path
) -> None:
    case = make_case(seed, kind, contexts=contexts, n_stages=1 if kind == "single" else 3)
    write_pomdp(case.problem, tmp_path / "a.pomdpx", discount=0.95)
    model = read_pomdpx(tmp_path / "a.pomdpx")
    check_model(model, model.n_classes)
    assert model.discount == 0.95
    model.O = model.O_seen
    assert -optimum_of(model) == pytest.approx(oracle.optimum(case), abs=1e-9)
    if not contexts:  # what is observed of the stage is known beforehand, and tells nothing more
        model = read_pomdpx(tmp_path / "a.pomdpx")
        check_model(model, model.n_classes)
        assert -optimum_of(model) == pytest.approx(oracle.optimum(case), abs=1e-9)


def test_entries_of_one_context(tmp_path: Path) -> None:
    table = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.5, 1.0], [0.5, 0.0]]])
    costs = np.array([[0.0, 2.0, 0.5], [3.0, 0.0, 0.5]])
    problem = TableProblem([0.3, 0.7], table, [0.1, 0.2], costs)
    write_pomdp(problem, tmp_path / "a.pomdp", discount=0.5)
    model = read_cassandra(tmp_path / "a.pomdp")
    assert model.states == ["s0_0", "s0_1", "s1_0", "s1_1", "s2_0", "s2_1", "end"]
    assert model.actions == ["acq", "d0", "d1", "d2"]
    assert model.start.tolist() == [0.3, 0.7, 0, 0, 0, 0, 0]
    assert model.T[0].argmax(axis=1).tolist() == [2, 3, 4, 5, 6, 6, 6]
    assert (model.T[1:].argmax(axis=2) == 6).all()
    np.testing.assert_array_equal(model.O[0, 2:6].reshape(2, 2, 2), table.transpose(0, 2, 1))
    np.testing.assert_allclose(model.R[0, :4], [-0.1, -0.1, -0.4, -0.4])
    assert (model.R[0, 4:6] <= -2 * costs.max()).all()  # buying where nothing is left
    for stage in range(3):
        np.testing.assert_allclose(model.R[1:, 2 * stage : 2 * stage + 2], -costs.T * 2.0**stage)

    write_pomdp(problem, tmp_path / "a.pomdpx", discount=0.5)
    staged = read_pomdpx(tmp_path / "a.pomdpx")
    assert staged.nodes == ["k0", "k1", "k2", "end"]
    assert staged.observed["y_0"] == ["c0", "c1"]
    assert staged.observed["ac"] == model.actions
    for name in ("T", "O", "R"):  # the end is one state there, two here
        ours, theirs = getattr(staged, name), getattr(model, name)
        cut = (slice(None), slice(6), slice(6)) if name == "T" else (slice(None), slice(6))
        np.testing.assert_allclose(ours[cut], theirs[cut])


@pytest.mark.parametrize("name", ["a.pomdp", "a.pomdpx"])
def test_files_are_small(name: str, tmp_path: Path) -> None:
    tables = np.random.default_rng(0).dirichlet(np.ones(4), size=(40, 5)).transpose(0, 2, 1)
    write_pomdp(TableProblem(np.full(5, 0.2), tables, 0.01), tmp_path / name)
    assert (tmp_path / name).stat().st_size < 150_000


@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("n_stages", [0, 1, 2])
def test_shorter_horizon(n_stages: int, contexts: bool, make_case: Any, tmp_path: Path) -> None:
    case = make_case(3, "plain", contexts=contexts, n_stages=4)
    write_pomdp(case.problem, tmp_path / "a.pomdp", n_stages=n_stages)
    model = read_cassandra(tmp_path / "a.pomdp")
    check_model(model, 1)
    moves = case.moves and case.moves[:n_stages]
    cut = type(case)(case.prior, case.tables[:n_stages], case.prices[:n_stages], case.costs, moves)
    assert -optimum_of(model) == pytest.approx(optimal_cost(cut.problem), abs=1e-9)


def test_names_are_made_fit_for_the_format(tmp_path: Path) -> None:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), 0.1)
    names = {"classes": ["1 / a", "T"], "decisions": ["acq", "acq!"]}
    write_pomdp(problem, tmp_path / "a.pomdp", **names)
    write_pomdp(problem, tmp_path / "a.pomdpx", **names)
    model = read_cassandra(tmp_path / "a.pomdp")
    assert model.states == ["s0_1_a", "s0_T", "s1_1_a", "s1_T", "end"]
    assert model.actions == ["acq", "d_acq", "d_acq_1"]
    assert read_pomdpx(tmp_path / "a.pomdpx").observed["y_0"] == ["c_1_a", "c_T"]
    with pytest.raises(ValueError, match="classes must be a list of 2 names"):
        write_pomdp(problem, tmp_path / "a.pomdp", classes=["a"])
    with pytest.raises(ValueError, match="decisions must be a list of 2 names"):
        write_pomdp(problem, tmp_path / "a.pomdpx", decisions="ab")


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(names=st.lists(st.text(max_size=6), min_size=2, max_size=6))
def test_any_text_makes_a_name(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    n = len(names)
    problem = TableProblem(np.full(n, 1 / n), np.full((1, 2, n), 0.5), 0.1)
    path = tmp_path_factory.mktemp("names") / "a.pomdpx"
    write_pomdp(problem, path, classes=names)
    result = read_pomdpx(path).observed["y_0"]
    assert len(set(result)) == n
    assert all(NAME.fullmatch(name) for name in result)


def test_writers_refuse_what_they_cannot_write(tmp_path: Path) -> None:
    class Opaque(AcquisitionProblem):
        def start(self, n: int) -> Any:
            return np.zeros(n)

        likelihood = advance = start  # type: ignore[assignment]

    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 40), 0.1)
    for name in ("a.pomdp", "a.pomdpx"):
        with pytest.raises(ValueError, match="this one has none"):
            write_pomdp(Opaque([0.5, 0.5], [0.1], [2], 1 - np.eye(2)), tmp_path / name)
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            write_pomdp(problem, tmp_path / "missing" / name)
        with pytest.raises(ValueError, match="discount must be closer to 1"):
            write_pomdp(problem, tmp_path / name, discount=0.59)  # 1.5e9 over all stages
        with pytest.raises(ValueError, match="discount"):
            write_pomdp(problem, tmp_path / name, discount=1.5)
        with pytest.raises(ValueError, match="n_stages must be at most 40"):
            write_pomdp(problem, tmp_path / name, n_stages=41)
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), 0.1)
    path = tmp_path / "a.pomdp"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_pomdp(problem, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# ---- policies --------------------------------------------------------------------------------------------------------


def solve_flat(model: SimpleNamespace, horizon: int) -> list[tuple[int, Any]]:
    """All alpha vectors of a finite horizon by enumeration, as pomdp-solve defines them."""
    vectors = [(0, np.zeros(model.T.shape[1]))]
    for _ in range(horizon):
        new = []
        for a in range(len(model.T)):
            parts = []
            for o in range(model.O.shape[2]):
                reached = [model.discount * model.T[a] @ (model.O[a, :, o] * vector) for _, vector in vectors]
                parts.append(list(np.unique(np.round(reached, 14), axis=0)))
            new += [(a, model.R[a] + sum(choice)) for choice in itertools.product(*parts)]
        vectors = [(a, v) for i, (a, v) in enumerate(new) if not any((w >= v).all() and (w > v).any() for _, w in new)]
    return vectors


def node_of(name: str) -> tuple[int, int]:
    """Stage and context in a node's name, ``s2x1o0_3`` or ``k2``."""
    stage, context = re.match(r"[sk](\d+)(?:x(\d+))?", name).groups()  # type: ignore[union-attr]
    return int(stage), int(context or 0)


def vectors_of(values: Any, stage: int, context: int) -> Any:
    if stage >= values.n_stages:
        return np.empty((0, values.problem.n_classes))
    return values.sets[stage].vectors_in(context if values.sets[stage].pointer is not None else None)


def write_flat(path: Path, model: SimpleNamespace, values: Any) -> None:
    """Write the vectors of our own values as a flat solver would: each is good in one node and bad in the rest."""
    n_classes = values.problem.n_classes
    nodes = [node_of(name) for name in model.states[:-1:n_classes]]
    vectors: list[tuple[int, Any]] = []
    for stage in range(values.n_stages):
        for context in range(max(values.problem.structure.tables.n_contexts(stage), 1)):
            for own in vectors_of(values, stage, context):
                flat = np.full((len(nodes), n_classes), -1e3)
                for i, node in enumerate(nodes):
                    if node == (stage, context):
                        flat[i] = -own * model.discount**-stage
                vectors.append((0, np.append(flat.ravel(), 0.0)))
    vectors += [(a, model.R[a]) for a in range(1, len(model.R))]
    path.write_text(alpha_text(vectors))


def write_staged(path: Path, model: SimpleNamespace, values: Any, sparse: bool = False) -> None:
    n_classes = values.problem.n_classes
    vectors = []
    for i, name in enumerate(model.nodes[:-1]):
        stage, context = node_of(name)
        vectors += [(0, i, -own * model.discount**-stage) for own in vectors_of(values, stage, context)]
        vectors += [(a, i, model.R[a].reshape(-1, n_classes)[i]) for a in range(1, len(model.R))]
    vectors.append((1, len(model.nodes) - 1, np.zeros(n_classes)))
    path.write_text(xml_text(vectors, len(model.nodes), sparse))


@pytest.fixture(scope="module")
def solved_of(make_case: Any, exact: Any, oracle: Any) -> Callable[..., Any]:
    """Random problem, its exact values and its optimum, once for all layouts."""

    @cache
    def find(seed: int, kind: str, contexts: bool) -> Any:
        case = make_case(seed, kind, contexts=contexts, n_stages=1 if kind == "single" else 3)
        return case, exact(Perseus).solve(case.problem).values, oracle.optimum(case)

    return find


@pytest.mark.covering
@pytest.mark.parametrize(
    "layout, discount",
    [
        *(("flat", None), ("flat", 0.95), ("staged", None), ("sparse", 0.95)),
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in (("staged", 0.95), ("sparse", None))),
    ],
)
@pytest.mark.parametrize("seed, kind, contexts", CASES)
def test_our_own_vectors_come_back(
    seed: int,
    kind: str,
    contexts: bool,
    layout: str,
    discount: float | None,
    solved_of: Any,
    oracle: Any,
    tmp_path: Path,
) -> None:
    case, values, best = solved_of(seed, kind, contexts)
    problem = case.problem
    flat, policy_file = layout == "flat", tmp_path / "policy"
    problem_file = tmp_path / ("problem.pomdp" if flat else "problem.pomdpx")
    write_pomdp(problem, problem_file, discount=0.95)
    if flat:
        write_flat(policy_file, read_cassandra(problem_file), values)
    else:
        write_staged(policy_file, read_pomdpx(problem_file), values, layout == "sparse")
    policy = read_policy(policy_file, problem, discount=discount)
    start = problem.initial_belief()
    assert policy.values.value(0, start.probabilities, context_of(start))[0] == pytest.approx(best, abs=1e-9)
    assert oracle.run_policy(case, policy).cost == pytest.approx(best, abs=1e-9)
    assert policy.info.status == "converged"
    assert policy.info.n_stages == problem.n_stages
    # no vector promises, anywhere, what it does not in our own values
    rng = np.random.default_rng(seed)
    belief = rng.dirichlet(np.ones(problem.n_classes), size=20)
    for stage in range(values.n_stages):
        context = rng.integers(problem.structure.tables.n_contexts(stage), size=20) if contexts else None
        np.testing.assert_array_less(
            values.value(stage, belief, context) - 1e-9, policy.values.value(stage, belief, context)
        )


@pytest.fixture
def small(tmp_path: Path) -> SimpleNamespace:
    """Two classes, two binary features, and its files."""
    table = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.1], [0.4, 0.9]]])
    problem = TableProblem([0.4, 0.6], table, [0.02, 0.03])
    write_pomdp(problem, tmp_path / "a.pomdp")
    return SimpleNamespace(
        problem=problem, model=read_cassandra(tmp_path / "a.pomdp"), path=tmp_path / "a.alpha", folder=tmp_path
    )


@pytest.mark.parametrize("horizon", [3, 4])
@pytest.mark.parametrize("discount", [1.0, 0.8])
def test_finite_horizon_answers(small: SimpleNamespace, horizon: int, discount: float) -> None:
    write_pomdp(small.problem, small.folder / "b.pomdp", discount=discount)
    small.path.write_text(alpha_text(solve_flat(read_cassandra(small.folder / "b.pomdp"), horizon)))
    policy = read_policy(small.path, small.problem)
    best = optimal_cost(small.problem)
    assert policy.values.value(0, small.problem.prior[None])[0] == pytest.approx(best, abs=1e-9)
    assert certify(small.problem, policy).gap == 0


@pytest.mark.parametrize("horizon", [1, 2])
def test_too_short_a_horizon_is_refused(small: SimpleNamespace, horizon: int) -> None:
    """Plans that run out of time pay for no decision: what they claim is not a cost."""
    small.path.write_text(alpha_text(solve_flat(small.model, horizon)))
    with pytest.raises(ValueError, match="a horizon too short"):
        read_policy(small.path, small.problem)
    policy = read_policy(small.path, small.problem, check=False)
    assert policy.values.value(0, small.problem.prior[None])[0] < optimal_cost(small.problem) - 0.01
    assert certify(small.problem, policy).upper >= optimal_cost(small.problem)


@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("n_stages", [0, 1, 3])
def test_policy_of_a_shorter_horizon(contexts: bool, n_stages: int, make_case: Any, exact: Any, tmp_path: Path) -> None:
    problem = make_case(3, "plain", contexts=contexts, n_stages=4).problem
    values = exact(Perseus, max_stages=max(n_stages, 1)).solve(problem).values
    values.sets = values.sets[:n_stages]
    values.n_stages = n_stages
    write_pomdp(problem, tmp_path / "a.pomdpx", n_stages=n_stages)
    write_staged(tmp_path / "p", read_pomdpx(tmp_path / "a.pomdpx"), values)
    policy = read_policy(tmp_path / "p", problem)
    assert policy.info.status == "truncated"
    assert policy.n_stages == n_stages


def test_shorter_horizon_before_contexts_part(tmp_path: Path, exact: Any, case_of: Any) -> None:
    """One context at the first stage, two at the second: a file of one stage has the nodes of a problem of two."""
    first, other = [[0.9, 0.2], [0.1, 0.8]], [[0.5, 0.3], [0.5, 0.7]]
    case = case_of([0.5, 0.5], [[first], [first, other]], [0.1, 0.1], [[0, 1], [1, 0]], [[[0, 1, 0]], [[0] * 3] * 2])
    values = exact(Perseus, max_stages=1).solve(case.problem).values
    write_pomdp(case.problem, tmp_path / "a", n_stages=1)
    write_flat(tmp_path / "p", read_cassandra(tmp_path / "a"), values)
    policy = read_policy(tmp_path / "p", case.problem)
    assert policy.n_stages == 1
    assert policy.values.value(0, np.array([[0.5, 0.5]]), np.array([0]))[0] == pytest.approx(0.25)


def test_files_of_another_problem_are_refused(small: SimpleNamespace) -> None:
    small.path.write_text(alpha_text(solve_flat(small.model, 3)))
    table = small.problem.likelihoods
    dear = TableProblem(small.problem.prior, table, small.problem.prices, [[0, 1], [5, 0]])
    with pytest.raises(ValueError, match="vectors of decisions are not the decision costs"):
        read_policy(small.path, dear)
    with pytest.raises(ValueError, match=r"scaled by discount=0\.9 "):
        read_policy(small.path, small.problem, discount=0.9)
    with pytest.raises(ValueError, match="7 states; all stages would be 2 x 2"):
        read_policy(small.path, TableProblem(small.problem.prior, table[:1], 0.1))
    with pytest.raises(ValueError, match="7 states; all stages would be 3 x 4"):
        read_policy(small.path, TableProblem(np.full(4, 0.25), np.full((2, 2, 4), 0.5), 0.1))
    with pytest.raises(ValueError, match="its layout is not 'staged'"):
        read_policy(small.path, small.problem, layout="staged")
    with pytest.raises(ValueError, match="layout must be"):
        read_policy(small.path, small.problem, layout="dense")
    useless = TableProblem(small.problem.prior, np.full((2, 2, 2), 0.5), small.problem.prices)
    with pytest.raises(ValueError, match="at stage 0 it claims"):
        read_policy(small.path, useless)
    small.path.write_text(alpha_text([(3, small.model.R[1])]))
    with pytest.raises(ValueError, match=r"it has action 3; there are 0 \(acquire\) to 2"):
        read_policy(small.path, small.problem)
    small.path.write_text(alpha_text([(0, small.model.R[0])]))
    with pytest.raises(ValueError, match="no vector of a decision after the first stage"):
        read_policy(small.path, small.problem)
    with pytest.raises(FileNotFoundError):
        read_policy(small.folder / "missing", small.problem)


POLICY = '<Policy type="value"><AlphaVector vectorLength="2" numObsValue="4">%s</AlphaVector></Policy>'
BOMB = '<!DOCTYPE Policy [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + POLICY % "&b;"


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "it holds no vectors"),
        ("discount: 1.0\nvalues: reward\n", r"line 1 \(an action's number\) should be a whole number"),
        ("0\n-1 -1 x\n", "line 2 should hold numbers only"),
        ("0\n-1 -1\n\n1\n-1\n", "line 5 has 1 entries, earlier vectors have 2"),
        ("0\n-1 nan\n", "line 2 holds NaN or infinity"),
        ("0\n-1 -1\n\n2\n", "ends after the action of line 4"),
        ("PK\x03\x04\x00\xff", "line 1"),
        ("<Policy>", "its XML is broken"),
        ("<pomdpx/>", "its root element is pomdpx, not Policy"),
        ('<Policy type="graph"/>', "policy of type 'graph'"),
        ("<Policy/>", "no AlphaVector element"),
        ("<Policy><AlphaVector/></Policy>", "a AlphaVector has no vectorLength"),
        ('<Policy><AlphaVector vectorLength="x"/></Policy>', "vectorLength of a AlphaVector should be a whole number"),
        ("<Policy><Vector action='0'>0 0</Vector></Policy>", "a Vector is not inside Policy, AlphaVector"),
        (POLICY % "", "it holds no vectors"),
        (POLICY % "<Vector>0 0</Vector>", "a Vector has no action"),
        (POLICY % "<Vector action='0'>0</Vector>", "vector 1 has 1 entries, not vectorLength=2"),
        (POLICY % "<Vector action='0'>0 one</Vector>", "vector 1 should hold numbers only"),
        (POLICY % "<Vector action='0' obsValue='4'>0 0</Vector>", r"obsValue is not in 0..3"),
        (POLICY % "<SparseVector action='0'><Entry>2 1</Entry></SparseVector>", "vector 1 is not pairs"),
        (POLICY % "<SparseVector action='0'><Entry>1</Entry></SparseVector>", "vector 1 is not pairs"),
        (BOMB, "declares a document type"),
        (BOMB.encode("utf-16"), "its XML is broken|line 1|document type"),
    ],
)
def test_malformed_files(content: str | bytes, message: str, small: SimpleNamespace) -> None:
    small.path.write_bytes(content if isinstance(content, bytes) else content.encode("latin-1"))
    with pytest.raises(ValueError, match=message) as error:
        read_policy(small.path, small.problem)
    assert str(small.path) in str(error.value)


# ---- the golden files ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def golden() -> SimpleNamespace:
    if not GOLDEN.is_dir():
        pytest.skip("the golden files of SARSOP and pomdp-solve, ../shared/golden/pomdp, are absent")
    data = json.loads((GOLDEN / "problem.json").read_text())
    problem = TableProblem(data["prior"], np.array(data["likelihood"]), data["costs"], data["decision_costs"])
    return SimpleNamespace(problem=problem, optimum=data["optimum"])


@pytest.mark.parametrize("name", ["sarsop_flat.policy", "sarsop_staged.policy", "pomdp_solve_flat.alpha"])
def test_golden_policies(name: str, golden: SimpleNamespace) -> None:
    policy = read_policy(GOLDEN / name, golden.problem)
    assert policy.values.value(0, golden.problem.prior[None])[0] == pytest.approx(golden.optimum, abs=1e-5)
    certificate = certify(golden.problem, policy)
    assert certificate.gap < 1e-4
    assert certificate.upper == pytest.approx(golden.optimum, abs=1e-9)


def test_golden_policies_need_their_discount(golden: SimpleNamespace) -> None:
    read_policy(GOLDEN / "sarsop_flat.policy", golden.problem, discount=0.999)
    with pytest.raises(ValueError, match="another discount"):
        read_policy(GOLDEN / "sarsop_flat.policy", golden.problem, discount=1.0)


@pytest.mark.parametrize("name, discount", [("flat.pomdp", 0.999), ("flat_undiscounted.pomdp", 1.0)])
def test_golden_pomdp(name: str, discount: float, golden: SimpleNamespace, tmp_path: Path) -> None:
    write_pomdp(golden.problem, tmp_path / "a", discount=discount)
    ours, theirs = read_cassandra(tmp_path / "a"), read_cassandra(GOLDEN / name)
    assert (ours.states, ours.actions, ours.observations) == (theirs.states, theirs.actions, theirs.observations)
    _compare(ours, theirs)


def test_golden_pomdpx(golden: SimpleNamespace, tmp_path: Path) -> None:
    write_pomdp(golden.problem, tmp_path / "a.pomdpx")
    ours, theirs = read_pomdpx(tmp_path / "a.pomdpx"), read_pomdpx(GOLDEN / "staged.pomdpx")
    assert ours.observed == theirs.observed
    _compare(ours, theirs)


def _compare(ours: SimpleNamespace, theirs: SimpleNamespace) -> None:
    assert ours.discount == theirs.discount
    np.testing.assert_allclose(ours.start, theirs.start, atol=1e-8)
    np.testing.assert_allclose(ours.R, theirs.R, atol=1e-8)
    np.testing.assert_array_equal(ours.T, theirs.T)
    np.testing.assert_allclose(ours.O, theirs.O, atol=1e-8)


@pytest.mark.parametrize("text", ["<SparseVector action='0'></SparseVector>" * n for n in (1, 3000)])
def test_a_vector_claims_no_more_than_the_problem_has(tmp_path: Path, text: str) -> None:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    path = tmp_path / "a.policy"
    path.write_text(f"<Policy><AlphaVector vectorLength='1000000000000'>{text}</AlphaVector></Policy>")
    with pytest.raises(
        ValueError, match="vectorLength=1000000000000 is more than the problem or the file accounts for"
    ):
        read_policy(path, problem)
