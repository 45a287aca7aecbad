"""Files of problems in any order: an action a question, solved by plain recursion over what was written, and read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from free_cases import FreeCase, free_case, mixture_case
from pomdp_readers import NAME, alpha_text, read_cassandra, read_factored, xml_text

from seqclass.pomdp import (
    DECIDE,
    ExactFreeOrder,
    TableProblem,
    acquire,
    certify,
    evaluate,
    optimal_cost,
    read_policy,
    write_pomdp,
)
from seqclass.pomdp.one_step import one_step_costs
from seqclass.pomdp.rules import with_rules
from seqclass.pomdp.sweeps.budget import within_budget
from seqclass.pomdp.unrolled import FreeNodes


def tree_case(seed: int) -> FreeCase:
    return free_case(seed, tree=True, most=3)


def naive_case(seed: int) -> FreeCase:
    return free_case(seed, most=4)


def hidden_case(seed: int) -> FreeCase:
    return mixture_case(seed, most=4)


KINDS = [naive_case, tree_case, hidden_case]


class Solved:
    """The best plan for every belief that it reaches, by recursion, as rewards of all states."""

    def __init__(self, model: SimpleNamespace) -> None:
        self.model = model
        self.plans: dict[bytes, tuple[int, Any]] = {}
        self.alive = np.arange(model.T.shape[1]) < model.T.shape[1] - model.n_end
        self.value = float(model.start @ self.plan(model.start)[1])

    def plan(self, belief: Any) -> tuple[int, Any]:
        """First action and vector of the best plan; nothing is worth more than asking a way out of this world."""
        model = self.model
        if not belief[self.alive].any():
            return -1, model.R[-1]  # as good as any, and a plan wherever else it is followed
        key = np.round(belief / belief.sum(), 12).tobytes()
        if key not in self.plans:
            best: tuple[int, Any] = (-1, None)
            for a in reversed(range(len(model.T))):
                if best[1] is not None and belief @ model.R[a] <= belief @ best[1]:
                    continue  # what follows is no gain
                after, vector = belief @ model.T[a], model.R[a].copy()
                for o in np.flatnonzero(model.O[a].any(axis=0)):
                    following = self.plan(after * model.O[a, :, o])[1]
                    vector += model.discount * model.T[a] @ (model.O[a, :, o] * following)
                if best[1] is None or belief @ vector > belief @ best[1]:
                    best = (a, vector)
            self.plans[key] = best
        return self.plans[key]

    def vectors(self, n_asks: int) -> list[tuple[int, Any]]:
        """Vectors of all plans that ask first, and of every decision."""
        asks = [plan for plan in self.plans.values() if plan[0] < n_asks]
        return [*asks, *((a, self.model.R[a]) for a in range(n_asks, len(self.model.R)))]

    def staged(self, n_asks: int) -> list[tuple[int, int, Any]]:
        """The same by value of all observed variables: each plan where it is followed, decisions wherever they cost."""
        width = self.model.n_hidden
        n_nodes = len(self.model.start) // width // 2
        vectors = []
        for key, (action, vector) in self.plans.items():
            node = int(np.flatnonzero(np.frombuffer(key))[0]) // width
            if action < n_asks:
                vectors.append((action, node, vector[node * width : (node + 1) * width]))
        for node in range(n_nodes):
            here = self.model.R[:, node * width : (node + 1) * width]
            vectors += [(a, node, here[a]) for a in range(n_asks, len(here)) if here.any()]
        return vectors


def check(model: SimpleNamespace, n_asks: int) -> None:
    np.testing.assert_allclose(model.T.sum(axis=2), 1, atol=1e-12)
    np.testing.assert_allclose(model.O.sum(axis=2), 1, atol=1e-12)
    assert model.start.sum() == pytest.approx(1, abs=1e-12)
    assert not model.R[:, -model.n_end :].any()
    assert not model.T[:, -model.n_end :, : -model.n_end].any()  # absorbing
    assert not model.T[n_asks:, :, : -model.n_end].any()  # decisions end it


def solved(problem: Any, path: Path, **settings: Any) -> Solved:
    write_pomdp(problem, path, **settings)
    model = read_cassandra(path)
    model.n_end = 1
    check(model, problem.n_questions)
    return Solved(model)


def solved_factored(problem: Any, path: Path, **settings: Any) -> Solved:
    path = path.with_suffix(".pomdpx")
    write_pomdp(problem, path, **settings)
    model = read_factored(path)
    model.n_end = len(model.start) // 2
    check(model, problem.n_questions)
    return Solved(model)


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("make", KINDS)
def test_pomdp_file_is_the_problem(make: Any, discount: float, tmp_path: Path) -> None:
    for seed in range(3):
        case = make(seed)
        found = solved(case.problem, tmp_path / "a", discount=discount)
        assert -found.value == pytest.approx(case.optimum(), abs=1e-9)


@pytest.mark.covering(1)
@pytest.mark.parametrize("discount", [None, 0.9])
@pytest.mark.parametrize("make", KINDS)
def test_vectors_of_the_solution_come_back(make: Any, discount: float | None, tmp_path: Path) -> None:
    for seed in range(2):
        case = make(seed)
        problem, optimum = case.problem, case.optimum()
        found = solved(problem, tmp_path / "a", discount=0.9)
        (tmp_path / "b").write_text(alpha_text(found.vectors(problem.n_questions)))
        policy = read_policy(tmp_path / "b", problem, discount=discount)
        assert policy.info.status == "converged"
        assert policy.values.value(0, policy.values.nodes.belief(problem.initial_belief()))[0] == pytest.approx(
            optimum, abs=1e-9
        )
        assert case.run(policy)[0] == pytest.approx(optimum, abs=1e-9)
        assert evaluate(problem, policy, method="exact").cost == pytest.approx(optimum, abs=1e-9)
        certificate = certify(problem, policy)
        assert (certificate.scope, certificate.gap) == ("all orders", pytest.approx(0, abs=1e-9))
        exact = ExactFreeOrder().solve(problem)
        assert exact.info.upper == pytest.approx(certificate.upper, abs=1e-9)


@pytest.mark.slow_cells("tree_case-0.9")
@pytest.mark.covering(1)
@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("make", KINDS)
def test_pomdpx_file_is_the_problem_and_its_vectors_come_back(make: Any, discount: float, tmp_path: Path) -> None:
    case = make(int(discount == 1.0))
    problem, optimum = case.problem, case.optimum()
    found = solved_factored(problem, tmp_path / "a", discount=discount)
    assert -found.value == pytest.approx(optimum, abs=1e-9)
    n_values = len(found.model.start) // found.model.n_hidden
    (tmp_path / "b").write_text(xml_text(found.staged(problem.n_questions), n_values))
    policy = read_policy(tmp_path / "b", problem, discount=discount)
    value = policy.values.value(0, policy.values.nodes.belief(problem.initial_belief()))[0]
    assert value == pytest.approx(optimum, abs=1e-9)
    assert case.run(policy)[0] == pytest.approx(optimum, abs=1e-9)
    assert certify(problem, policy).gap == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_policies_read_back_are_executed_whatever_is_missing(tmp_path: Path) -> None:
    for make in KINDS:
        case = make(4)
        problem = case.problem
        found = solved(problem, tmp_path / "a")
        (tmp_path / "b").write_text(alpha_text(found.vectors(problem.n_questions)))
        policy = read_policy(tmp_path / "b", problem, discount=1.0)
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(-1, size, 60) for size in case.joint.shape[:-1]])
        result = acquire(policy, X)
        assert (result.leaf_question >= 0).any()
        belief = problem.initial_belief(2).asking(0).update(np.array([-1, 0]))
        alone = [policy.action(belief[np.array([row])])[0] for row in range(2)]
        assert policy.action(belief).tolist() == alone
        assert all(question == DECIDE or belief.available[row, question] for row, question in enumerate(alone))
        assert np.isfinite(policy.continuation_cost(belief)).all() == bool(belief.available.any())


@pytest.mark.parametrize("tree", [False, True])
def test_nodes_are_found_from_midway_on(tree: bool) -> None:
    belief = free_case(3, tree=tree, most=4).problem.initial_belief().asking(1).update(np.array([0]))
    nodes = FreeNodes(belief, 2, "a test")
    assert nodes.by_set != tree
    for level in nodes.levels:
        np.testing.assert_array_equal(nodes.find(level), np.arange(len(level)))


def test_twenty_thousand_states_are_too_many() -> None:
    tables = np.full((13, 2, 3), 0.5)
    belief = TableProblem(np.full(3, 1 / 3), tables, 0.1, any_order=True).initial_belief()
    with pytest.raises(ValueError, match=r"24,577 states or more \(8,192 of what was asked, .* above 20,000"):
        FreeNodes(belief, 13, "a test")


def test_a_missing_answer_leads_to_no_node(tmp_path: Path) -> None:
    """What follows is looked at as if one had to decide after the next question."""
    problem = free_case(1, tree=True, n_questions=3).problem
    problem = problem.replace(prices=problem.prices / 20, full_prices=problem.full_prices / 20)
    found = solved(problem, tmp_path / "a")
    (tmp_path / "b").write_text(alpha_text(found.vectors(3)))
    policy = read_policy(tmp_path / "b", problem, discount=1.0)
    for question in range(3):
        belief = problem.initial_belief(2).asking(question).update(np.array([-1, 0]))
        assert (policy.values.nodes.find(belief) >= 0).tolist() == [False, True]
        ours = policy.values.question_costs(belief)
        np.testing.assert_allclose(ours[0], one_step_costs(belief)[0], atol=1e-12)
        assert (ours[1] < one_step_costs(belief)[1] - 1e-3).any()


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("limits", [{"max_features": 2}, {"max_cost": 0.09}, {"max_features": 2, "max_cost": 0.06}])
def test_budgets_are_in_the_file(make: Any, limits: dict[str, Any], tmp_path: Path) -> None:
    for seed in range(1, 3):
        problem = within_budget(make(seed).problem, **limits)
        optimum = optimal_cost(problem)
        found = solved(problem, tmp_path / "a", discount=0.95)
        assert -found.value == pytest.approx(optimum, abs=1e-9)
        (tmp_path / "b").write_text(alpha_text(found.vectors(problem.n_questions)))
        policy = read_policy(tmp_path / "b", problem, discount=0.95)
        assert evaluate(problem, policy, method="exact").cost == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("make", KINDS)
def test_a_shorter_horizon_asks_fewer(make: Any, tmp_path: Path) -> None:
    case = make(2)
    for n_stages in range(3):
        found = solved(case.problem, tmp_path / "a", n_stages=n_stages)
        assert -found.value == pytest.approx(case.optimum(n_stages), abs=1e-9)
        (tmp_path / "b").write_text(alpha_text(found.vectors(case.problem.n_questions)))
        policy = read_policy(tmp_path / "b", case.problem)
        whole = n_stages == case.problem.n_stages
        assert (policy.n_stages, policy.info.status) == (n_stages, "converged" if whole else "truncated")
        # look-ahead does not ask beyond the horizon, and loses nothing within
        assert case.run(policy)[0] == pytest.approx(case.optimum(n_stages), abs=1e-9)


def test_skip_logic_is_in_the_file(tmp_path: Path) -> None:
    """Nodes are answers there, and the tables are of hidden states all the same."""
    tables = np.random.default_rng(1).dirichlet(np.ones(2), (3, 2)).transpose(0, 2, 1)
    plain = TableProblem([0.4, 0.6], np.ascontiguousarray(tables), 0.02, any_order=True)
    problem = with_rules(plain, {"skip": [{"question": 2, "after": 0, "answers": [1]}]})
    assert optimal_cost(problem) > optimal_cost(plain) + 0.2
    for read in (solved, solved_factored):
        assert -read(problem, tmp_path / "a").value == pytest.approx(optimal_cost(problem), abs=1e-9)


def two_sensors() -> TableProblem:
    tables = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.5, 1.0], [0.5, 0.0]]])
    return TableProblem(
        [0.3, 0.7],
        tables,
        [0.1, 0.2],
        [[0, 2, 0.5], [3, 0, 0.5]],
        groups=[0, 0],
        full_prices=[0.3, 0.3],
        any_order=True,
    )


def test_entries(tmp_path: Path) -> None:
    problem = two_sensors()
    write_pomdp(problem, tmp_path / "a", discount=0.5, classes=["well", "ill"])
    model = read_cassandra(tmp_path / "a")
    names = ["s_well", "s_ill", "sq0_well", "sq0_ill", "sq1_well", "sq1_ill", "sq0q1_well", "sq0q1_ill", "end"]
    assert model.states == names
    assert model.actions == ["ask0", "ask1", "d0", "d1", "d2"]
    assert model.T[0].argmax(axis=1).tolist() == [2, 3, 8, 8, 6, 7, 8, 8, 8]
    assert model.T[1].argmax(axis=1).tolist() == [4, 5, 6, 7, 8, 8, 8, 8, 8]
    np.testing.assert_allclose(model.R[0], [-0.3, -0.3, -12, -12, -0.2, -0.2, -24, -24, 0])
    np.testing.assert_allclose(model.R[1], [-0.3, -0.3, -0.4, -0.4, -12, -12, -24, -24, 0])
    np.testing.assert_array_equal(model.O[0, 2:4], problem.likelihoods[0].T)
    np.testing.assert_array_equal(model.O[1, 6:8], problem.likelihoods[1].T)
    text = (tmp_path / "a").read_text()
    assert "# what is not open: 6.0" in text
    write_pomdp(mixture_case(2).problem, tmp_path / "a")
    assert all(NAME.fullmatch(name) for name in read_cassandra(tmp_path / "a").states)


def test_too_many_states_are_refused_by_number(tmp_path: Path) -> None:
    tables = np.random.default_rng(0).dirichlet(np.ones(2), size=(20, 3)).transpose(0, 2, 1)
    problem = TableProblem(np.full(3, 1 / 3), tables, 0.01, any_order=True)
    with pytest.raises(
        ValueError, match=r"3,145,729 states or more \(1,048,576 of what was asked, times 3 hidden ones\)"
    ):
        write_pomdp(problem, tmp_path / "a")
    with pytest.raises(ValueError, match=r"3,145,729 states"):
        read_policy(tmp_path / "missing", problem)
    write_pomdp(problem, tmp_path / "a", n_stages=2)
    assert len(read_cassandra_head(tmp_path / "a")) == (1 + 20 + 190) * 3 + 1
    with pytest.raises(ValueError, match="n_stages must be at most 20"):
        write_pomdp(problem, tmp_path / "b", n_stages=21)
    assert not (tmp_path / "b").exists()


def read_cassandra_head(path: Path) -> list[str]:
    return next(line for line in path.read_text().splitlines() if line.startswith("states: ")).split()[1:]


def test_variables_of_a_factored_file(tmp_path: Path) -> None:
    write_pomdp(two_sensors(), tmp_path / "a.pomdpx")
    variables = read_factored(tmp_path / "a.pomdpx").variables
    assert variables["ac"] == ["ask0", "ask1", "d0", "d1", "d2"]
    assert (variables["q0_0"], variables["ob"], variables["y_0"]) == (["open", "asked"], ["o0", "o1"], ["c0", "c1"])
    case = tree_case(1)
    write_pomdp(case.problem, tmp_path / "a.pomdpx")
    variables = read_factored(tmp_path / "a.pomdpx").variables
    assert variables["q1_0"] == ["open", *(f"o{v}" for v in range(case.problem.n_outcomes[1]))]
    assert variables["ob"] == ["o0"]  # answers are seen as variables of their own


def test_budgets_in_factored_files(tmp_path: Path) -> None:
    alone, grouped = naive_case(2).problem, two_sensors()
    for problem in (within_budget(alone, max_features=1), within_budget(alone, max_cost=0.09)):
        found = solved_factored(problem, tmp_path / "a")
        assert -found.value == pytest.approx(optimal_cost(problem), abs=1e-9)
    limited = grouped.replace(max_cost=0.5, full_prices=np.array([0.3, 0.35]))
    with pytest.raises(ValueError, match=r"which question came first; write a \.pomdp file"):
        write_pomdp(limited, tmp_path / "b.pomdpx")
    many = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 40), 0.1, any_order=True, max_questions=2)
    with pytest.raises(ValueError, match=r"would have 4,398,046,511,104 states .* or write a .pomdp file"):
        write_pomdp(many, tmp_path / "b.pomdpx")
    assert not (tmp_path / "b.pomdpx").exists()


def test_files_of_other_problems_are_refused(tmp_path: Path) -> None:
    problem = two_sensors()
    found = solved(problem, tmp_path / "a")
    path = tmp_path / "b"
    path.write_text(alpha_text(found.vectors(2)))
    read_policy(path, problem)
    cheaper = problem.replace(decision_costs=problem.decision_costs / 2)
    with pytest.raises(ValueError, match="vectors of decisions are not the decision costs"):
        read_policy(path, cheaper)
    with pytest.raises(ValueError, match="at stage 0 it claims"):
        read_policy(path, problem.replace(likelihoods=np.full((2, 2, 2), 0.5)))
    with pytest.raises(ValueError, match="9 states; all stages would be 4 x 4"):
        read_policy(path, TableProblem(np.full(4, 0.25), np.full((2, 2, 4), 0.5), 0.1, any_order=True))
    path.write_text(alpha_text([(5, found.model.R[2])]))
    with pytest.raises(ValueError, match=r"it has action 5; there are 0 \(questions\) to 4"):
        read_policy(path, problem)


def with_residual(path: Path, discount: float, residual: float, *, scaled: float = 1.0) -> Path:
    """What SARSOP writes for one question of two outcomes at .05, made from the exact vectors and a residual.

    SARSOP itself is not run here: its vectors are lower bounds of rewards, and those of decisions were found to be
    short of the exact ones by about ten times its precision, .00998 for this problem.
    """
    wrong, asked = scaled * (1 - np.eye(2)), 1 / discount
    penalty = np.full(2, 2.0) * asked
    vectors = [(1 + j, np.concatenate([wrong[:, j], wrong[:, j] * asked, [0.0]])) for j in range(2)]
    vectors.append((0, np.concatenate([0.05 + np.array([0.1, 0.2]), penalty, [0.0]])))
    lines = [f'<Vector action="{a}" obsValue="0">{" ".join(f"{-v - residual:.6g}" for v in vector)} </Vector>'
             for a, vector in vectors]  # fmt: skip
    path.write_text(
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<Policy version="0.1" type="value" model="one.pomdp">\n'
        f'<AlphaVector vectorLength="5" numObsValue="1" numVectors="3">\n{chr(10).join(lines)}\n</AlphaVector></Policy>'
    )
    return path


@pytest.mark.parametrize("discount", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("given", [False, True])
def test_what_a_solver_leaves_as_residual_is_no_other_problem(discount: float, given: bool, tmp_path: Path) -> None:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.05, any_order=True)
    for residual in (0.0, 0.00998, 0.0209):
        path = with_residual(tmp_path / "one.policy", discount, residual)
        policy = read_policy(path, problem, discount=discount if given else None)
        assert policy.action(problem.initial_belief()).tolist() == [0]
        certificate = certify(problem, policy)
        assert (certificate.upper, certificate.gap) == (pytest.approx(0.2), 0.0)
        # the bound that the file gives is one of the best policy's cost
        assert 0.2 - 1e-6 <= policy.continuation_cost(problem.initial_belief())[0] <= 0.2 + residual + 1e-6
    for scaled in (0.9, 1.1):  # costs that are a tenth off are another problem's
        with pytest.raises(ValueError, match="not the decision costs"):
            read_policy(with_residual(path, discount, 0.00998, scaled=scaled), problem, discount=discount)
