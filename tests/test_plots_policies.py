"""Pictures of policies and beliefs: what is drawn is what plain enumeration finds, and what is written can be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from test_plots_analysis import assert_legible

from seqclass import SequentialClassifier
from seqclass.analysis import decision_graph
from seqclass.bn import DiscreteNetwork, NetworkTables, TreeNetwork
from seqclass.costs import Visits
from seqclass.plots import (
    ActionValuesDisplay,
    AlphaVectorsDisplay,
    EpisodePathsDisplay,
    NetworkDisplay,
    PolicyTreeDisplay,
    ValueFunctionDisplay,
)
from seqclass.pomdp import (
    FirstK,
    FunctionPolicy,
    Lookahead,
    Panels,
    Perseus,
    Policy,
    TableProblem,
    evaluate,
    simulate,
    with_names,
)
from seqclass.pomdp.sweeps.budget import RandomisedPolicy
from seqclass.pomdp.visits import with_visits

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LONG = "a question whose name is rather long, number"
COIN = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.4], [0.3, 0.6]]])


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


def problem(n_classes: int = 2, n_questions: int = 2, price: float = 0.03, **settings: Any) -> TableProblem:
    tables = np.random.default_rng(n_classes).dirichlet(np.ones(2), size=(n_questions, n_classes)).transpose(0, 2, 1)
    tables = COIN if n_classes == n_questions == 2 else tables
    return with_names(
        TableProblem(np.full(n_classes, 1 / n_classes), tables, price, **settings),
        [f"{LONG} {k}" for k in range(n_questions)],
        outcomes=[["low", "high"]] * n_questions,
        classes=[f"a class with a long name {k}" for k in range(n_classes)],
    )


def cost_by_hand(policy: Any, belief: Any) -> float:
    """Expected cost from here on, answer by answer."""
    question = int(policy.action(belief)[0])
    if question < 0:
        return float(belief.stopping_cost[0])
    asking = belief.asking(question)
    cost = float(np.broadcast_to(belief.prices, (1, policy.problem.n_questions))[0, question])
    for outcome, p in enumerate(asking.outcome_probabilities[0]):
        cost += p * cost_by_hand(policy, asking.update(np.array([outcome])))
    return cost


def at(of: TableProblem, p: Any) -> Any:
    return of.initial_belief().replace(probabilities=np.array([p]))


class TestValueFunction:
    @pytest.mark.slow
    def test_lines_and_strips_are_what_the_policies_do(self) -> None:
        of = problem(any_order=True)
        policies = {"one step": Lookahead().solve(of), f"{LONG} 2": Lookahead(2).solve(of)}
        display = ValueFunctionDisplay.from_policies(policies, resolution=6)
        lines = {line.get_label(): line.get_ydata() for line in display.ax_[0].lines}
        np.testing.assert_allclose(lines["deciding at once"], display.beliefs.min(axis=1))
        np.testing.assert_allclose(lines["one step"], display.values[0])
        for row, policy in enumerate(policies.values()):
            for k, p in enumerate(display.beliefs):
                assert display.values[row, k] == pytest.approx(cost_by_hand(policy, at(of, p)))
                action = int(policy.action(at(of, p))[0])
                done = f"ask {of.names.question(action)}" if action >= 0 else f"decide {of.names.classes[p.argmax()]}"
                assert display.names[display.actions[row, k]] == done or p[0] == 0.5
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_a_triangle_for_each_and_questions_by_name(self) -> None:
        of = problem(3, 3)
        turned = with_names(
            TableProblem(of.prior, of.likelihoods[::-1], of.prices), of.names.questions[::-1], classes=of.names.classes
        )
        policies = {"first": FirstK(1).solve(of), "last": FirstK(1).solve(turned)}
        display = ValueFunctionDisplay.from_policies(policies, resolution=6)
        asked = [{display.names[a] for a in row} for row in display.actions]
        assert asked == [{f"ask {LONG} 0"}, {f"ask {LONG} 2"}]
        for k in range(0, 36, 7):
            assert display.values[0, k] == pytest.approx(cost_by_hand(policies["first"], at(of, display.beliefs[k])))
        faces = display.ax_[0].collections[0]
        np.testing.assert_allclose(faces.get_array(), display.values[0])
        assert_legible(display.figure_)
        again = ValueFunctionDisplay(policies, show="values", resolution=4).plot(plt.subplots(1, 2)[1])
        assert again.actions is None

    def test_later_stages_and_refusals(self) -> None:
        of = problem()
        policy = Lookahead().solve(of)
        display = ValueFunctionDisplay.from_policy(policy, stage=2, resolution=4)
        np.testing.assert_allclose(display.values[0], display.beliefs.min(axis=1))
        assert display.ax_[0].get_legend() is None
        assert display.figure_.get_suptitle() == "After 2 questions"
        with pytest.raises(ValueError, match="2 or 3 classes, here are 4"):
            ValueFunctionDisplay.from_policy(Lookahead().solve(problem(4)))
        with pytest.raises(ValueError, match="'other' has other classes"):
            ValueFunctionDisplay({"one": policy, "other": Lookahead().solve(TableProblem([0.5, 0.5], COIN, 0.1))})
        lots = RandomisedPolicy([policy, FirstK(1).solve(of)], [0.5, 0.5])
        with pytest.raises(ValueError, match="'lots' draws a lot for each case"):
            ValueFunctionDisplay({"lots": lots})
        assert ValueFunctionDisplay({"lots": lots}, show="values", resolution=2).values.shape == (1, 3)
        with pytest.raises(TypeError, match="policies must be a dict of policies by name"):
            ValueFunctionDisplay(policy)  # type: ignore[arg-type]
        for settings in ({"relative_to": "none"}, {"relative_to": "one"}, {"relative_to": "lots", "show": "actions"}):
            with pytest.raises(ValueError, match="relative_to must be the name of one of several policies"):
                ValueFunctionDisplay(
                    {"one": policy} if len(settings) == 1 else {"one": policy, "lots": lots}, **settings
                )

    @pytest.mark.slow_cells("3")
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_actions_alone_and_differences(self, n_classes: int) -> None:
        of = problem(n_classes, 3, any_order=True)
        policies = {"deep": Lookahead(3).solve(of), "one step": Lookahead().solve(of), "none": FirstK(0).solve(of)}
        alone = ValueFunctionDisplay.from_policies(policies, show="actions", resolution=5)
        assert alone.values is None
        assert alone.actions is not None
        assert_legible(alone.figure_)
        apart = ValueFunctionDisplay.from_policies(policies, show="values", relative_to="deep", resolution=5)
        drawn = [line.get_ydata() for line in apart.ax_[0].lines[:2]]
        if n_classes == 3:
            assert [ax.get_title() for ax in apart.ax_] == ["one step", "none"]
            drawn = [ax.collections[0].get_array() for ax in apart.ax_]
        np.testing.assert_allclose(drawn, apart.values[1:] - apart.values[0])
        assert min(map(np.min, drawn)) > -1e-12
        assert np.max(drawn) > 0
        assert "above deep" in apart._cost_label
        assert_legible(apart.figure_)


def colours(policy: Policy) -> dict[str, Any]:
    """Colours of actions by name, as the legend has them."""
    legend = ValueFunctionDisplay.from_policy(policy, show="actions", resolution=12).figure_.legends[0]
    return {t.get_text(): h.get_color() for t, h in zip(legend.get_texts(), legend.legend_handles)}


def asking(of: TableProblem, questions: list[int]) -> FunctionPolicy:
    """A policy that asks one of some questions, by P(second class)."""
    return FunctionPolicy(
        of, lambda b: np.array(questions)[(b.probabilities[:, 1] * len(questions) * 0.999).astype(int)]
    )


def test_a_question_has_one_colour_in_all_pictures_of_its_problem() -> None:
    of = with_names(problem(2, 3, any_order=True), ["a", "b", "c"])
    few, more = colours(asking(of, [2, -1])), colours(asking(of, [0, 1, 2, -1]))
    assert few["ask c"] == more["ask c"]
    assert {key: paint for key, paint in few.items() if key.startswith("decide")}.items() <= more.items()
    assert len({str(paint) for paint in more.values()}) == len(more) == 4
    # of more questions than colours the most frequent have one
    of = with_names(problem(2, 20, any_order=True), list("abcdefghijklmnopqrst"))
    many = colours(asking(of, [19, 19, 19, *range(8)]))
    assert many["ask t"] != many["ask another question"]
    assert len({str(paint) for paint in many.values()}) == len(many) == 9


def test_regions_have_lines_where_they_meet() -> None:
    of = problem(3, 2, any_order=True)
    policy = FunctionPolicy(of, lambda b: np.where(b.probabilities[:, 2] > 0.5, 1, 0))
    lines = np.array(
        ValueFunctionDisplay.from_policy(policy, show="actions", resolution=4).ax_[0].collections[1].get_segments()
    )
    # of the triangles on both sides of half the height
    np.testing.assert_allclose(lines[:, :, 1], np.sqrt(0.75) / 2)
    assert len(lines) == 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_alpha_vectors_have_their_regions(n_classes: int) -> None:
    of = problem(n_classes, 2)
    values = Perseus(50, certificate_paths=0).solve(of).values
    display = values.plot()
    vectors = np.vstack([of.decision_costs.T, values.sets[0].vectors])
    for k in range(0, len(display.beliefs), 331):
        costs = [sum(p * v for p, v in zip(display.beliefs[k], vector)) for vector in vectors]
        assert costs[display.lowest[k]] == pytest.approx(min(costs))
    np.testing.assert_allclose(display.cost, values.value(0, display.beliefs))
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert sum(text.startswith("decide a class") for text in legend) == len(
        set(display.lowest[display.lowest < n_classes])
    )
    assert any(text.startswith("ask a question") for text in legend)
    assert_legible(display.figure_)
    with pytest.raises(ValueError, match="stage must be between 0 and 1"):
        values.plot(2)
    with pytest.raises(ValueError, match="2 or 3 classes, here are 4"):
        Perseus(9, certificate_paths=0).solve(problem(4)).values.plot()
    with pytest.raises(TypeError, match="values must be AlphaVectors"):
        AlphaVectorsDisplay.from_policy(FirstK(1).solve(of))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_episodes_are_paths(n_classes: int) -> None:
    of = problem(n_classes, 3, 0.001)
    episodes = simulate(of, Lookahead(2).solve(of), 300, random_state=0)
    display = EpisodePathsDisplay.from_episodes(episodes)
    frame = episodes.to_frame()
    told = frame.groupby("case")[[f"P({name})" for name in of.names.classes]].apply(
        lambda one: str(one.to_numpy().round(6))
    )
    share = told.value_counts(normalize=True)
    drawn = {str(path[: n + 1].round(6)): s for path, n, s in zip(display.paths, display.n_asked, display.share)}
    assert drawn == pytest.approx(share.to_dict())
    assert display.ax_.get_title() == f"300 cases on {len(share)} paths"
    assert_legible(display.figure_)
    few = EpisodePathsDisplay.from_episodes(episodes, max_paths=2)
    assert few.share.tolist() == pytest.approx(share.iloc[:2].tolist())
    assert few.ax_.get_title().endswith(f"on the 2 most frequent of {len(share)} paths")


def test_episodes_that_are_refused() -> None:
    of = problem(4)
    with pytest.raises(ValueError, match="2 or 3 classes, here are 4"):
        EpisodePathsDisplay(simulate(of, FirstK(1).solve(of), 3, random_state=0))
    with pytest.raises(ValueError, match="at least one case"):
        EpisodePathsDisplay(simulate(of, FirstK(1).solve(of), 0, random_state=0))
    with pytest.raises(TypeError, match="episodes must be what simulate"):
        EpisodePathsDisplay([1])  # type: ignore[arg-type]


class TestPolicyTree:
    @pytest.mark.slow
    @pytest.mark.parametrize(("n_classes", "any_order"), [(3, True), (8, False)])
    def test_rows_are_histories(self, n_classes: int, any_order: bool) -> None:
        of = problem(n_classes, 4, any_order=any_order)
        policy = Lookahead(2).solve(of) if any_order else Perseus(50, certificate_paths=0).solve(of)
        display = PolicyTreeDisplay.from_policy(policy, max_depth=2, min_probability=1e-4)
        # row by row: answers that end alike share a row, so that these are means
        rows = {label.split(", ")[0]: k for k, label in enumerate(display.labels)}
        assert display.share[0] == 1.0
        assert display.cost[0] == pytest.approx(cost_by_hand(policy, of.initial_belief()))
        first = int(policy.action(of.initial_belief())[0])
        asking = of.initial_belief().asking(first)
        for outcome, (name, p) in enumerate(zip(["low", "high"], asking.outcome_probabilities[0])):
            after = asking.update(np.array([outcome]))
            [row] = [
                k for label, k in rows.items() if label.startswith(f"{name}: ") and display.share[k] == pytest.approx(p)
            ]
            assert display.cost[row] == pytest.approx(cost_by_hand(policy, after))
            np.testing.assert_allclose(display.beliefs[row], after.probabilities[0])
        assert display.note.startswith("Dashed lines: ") == any(" and so on" in label for label in display.labels)
        assert_legible(display.figure_)
        assert display.to_dot() == decision_graph(policy, max_depth=2, min_probability=1e-4, merge=False, costs=True)

    @pytest.mark.slow
    def test_a_classifier_in_its_own_words_and_limits(self) -> None:
        X, y = load_iris(return_X_y=True)
        clf = SequentialClassifier(feature_costs=0.01).fit(X, load_iris().target_names[y])
        display = PolicyTreeDisplay.from_estimator(clf, max_nodes=12)
        assert 1 < len(display.labels) <= 12
        assert "(for at most 12 nodes)" in display.note
        assert any("decide setosa" in label for label in display.labels)
        assert display.cost[0] == pytest.approx(evaluate(clf.problem_, clf.policy_).cost)
        assert_legible(display.figure_)
        with pytest.raises(ValueError, match="max_depth"):
            PolicyTreeDisplay.from_policy(clf.policy_, max_depth=-1)
        with pytest.raises(TypeError, match="Policy or a fitted SequentialClassifier"):
            PolicyTreeDisplay.from_policy(clf.problem_)  # type: ignore[arg-type]

    def test_lots_visits_and_missing_answers_have_their_costs(self) -> None:
        of = problem()
        lots = RandomisedPolicy([FirstK(1).solve(of), FirstK(2).solve(of)], [0.25, 0.75])
        assert PolicyTreeDisplay(lots).cost[0] == pytest.approx(evaluate(of, lots).cost)
        visits = with_visits(problem(any_order=True), Visits(0.02, np.zeros(2)))
        together = Panels().solve(visits)
        assert PolicyTreeDisplay(together).cost[0] == pytest.approx(evaluate(visits, together).cost)
        always = FunctionPolicy(of, lambda belief: belief.stage < 2)
        half = decision_graph(always, missing=0.5, costs=True)
        # half of the answers are missing, and cost nothing
        costs = []
        for seen in product([False, True], repeat=2):
            here = of.replace(likelihoods=np.where(np.array(seen)[:, None, None], COIN, 0.5))
            costs.append(evaluate(here, FirstK(2).solve(here)).cost - 0.03 * (2 - sum(seen)))
        assert f'cost="{np.mean(costs):.12g}"' in half.splitlines()[5]
        assert "costs" not in decision_graph(always)


class TestActionValues:
    @pytest.mark.parametrize("any_order", [False, True])
    def test_cells_are_costs_of_actions(self, any_order: bool) -> None:
        of = problem(8, 3, any_order=any_order)
        episodes = simulate(of, Lookahead(2).solve(of), 20, random_state=1)
        case = int(np.argmax(episodes.n_questions))
        display = ActionValuesDisplay.from_episodes(episodes, case)
        for k, step in enumerate(episodes.replay(case)):
            assert display.names[display.chosen[k]] == (step.question or "decide")
            for row, name in enumerate(display.names):
                if name == "decide":
                    assert display.total[row, k] == pytest.approx(step.belief.stopping_cost[0])
                    continue
                number = of.names.number(name)
                if not step.belief.available[0, number]:
                    assert np.isnan(display.total[row, k])
                    continue
                asking, cost = step.belief.asking(number), float(of.prices[number])
                for outcome, p in enumerate(asking.outcome_probabilities[0]):
                    cost += p * cost_by_hand(episodes.policy, asking.update(np.array([outcome])))
                assert display.total[row, k] == pytest.approx(cost)
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_many_questions_and_refusals(self) -> None:
        of = problem(2, 30, 0.15, any_order=True)
        policy = Lookahead().solve(of)
        episodes = simulate(of, policy, 5, random_state=0)
        display = ActionValuesDisplay.from_episodes(episodes, max_actions=6, n_paths=50)
        n = int(episodes.n_questions[0])
        assert len(display.names) == max(6, n + 1)
        assert display.ax_.get_title() == f"{len(display.names) - 1} of 30 questions"
        assert_legible(display.figure_)
        with pytest.raises(TypeError, match="policy must be a Policy"):
            ActionValuesDisplay(episodes.replay(0), of)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="at least one step"):
            ActionValuesDisplay([], policy)

    def test_a_question_may_be_called_decide(self) -> None:
        of = problem(2, 3, any_order=True)
        plain = ActionValuesDisplay.from_episodes(simulate(of, Lookahead().solve(of), 1, random_state=0))
        of = with_names(of, ["decide", "b", "c"])
        named = ActionValuesDisplay.from_episodes(simulate(of, Lookahead().solve(of), 1, random_state=0))
        np.testing.assert_array_equal(named.total, plain.total)


class TestNetwork:
    def test_information_by_the_whole_table(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=200)
        X = (rng.random((200, 3)) < 0.2 + 0.3 * y[:, None]).astype(int)
        model = TreeNetwork().fit(X, y)
        display = NetworkDisplay.from_model(model, {1: 1}, prior=[0.2, 0.3, 0.5])
        rows = np.array(list(product([0, 1], repeat=3)))
        table = np.ones((8, 3)) * [0.2, 0.3, 0.5]
        for j, (cpd, above) in enumerate(zip(model.cpds_, model.parents_)):
            for r, row in enumerate(rows):
                table[r] *= cpd[(row[j], *row[above])]
        table[rows[:, 1] == 0] = 0
        table /= table.sum()
        np.testing.assert_allclose(display.posterior, table.sum(axis=0))
        for j in (0, 2):
            joint = np.array([table[rows[:, j] == v].sum(axis=0) for v in (0, 1)])
            apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
            assert display.information[j] == pytest.approx((joint * np.log2(joint / apart)).sum())
        assert np.isnan(display.information[1])
        assert sum(label.startswith("feature 1 = 1") for label in display.labels) == 1
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_a_classifier_by_the_names_of_columns(self) -> None:
        X, y = load_iris(return_X_y=True)
        frame = pd.DataFrame(X, columns=[f"{LONG} {j}" for j in range(4)])
        clf = SequentialClassifier(TreeNetwork(), feature_costs=0.01).fit(frame, load_iris().target_names[y])
        display = NetworkDisplay.from_estimator(clf, {f"{LONG} 2": 1.4})
        np.testing.assert_allclose(display.posterior, clf.belief({f"{LONG} 2": 1.4}).probabilities[0])
        assert display.labels[0].startswith("class: setosa")
        assert_legible(display.figure_)
        few = NetworkDisplay.from_estimator(clf, max_features=1)
        assert few.ax_.get_title().endswith("of 4 features")
        with pytest.raises(ValueError, match="'petals' is no feature"):
            NetworkDisplay.from_estimator(clf, {"petals": 1.4})
        with pytest.raises(TypeError, match="model must be a fitted ObservationModel"):
            NetworkDisplay(TreeNetwork())

    def test_a_network_with_several_parents(self) -> None:
        states = [["no", "yes"]] * 4
        tables = [np.array([0.6, 0.4]), np.array([[0.9, 0.3], [0.1, 0.7]]), np.array([[1.0, 0.5], [0.0, 0.5]])]
        tables.append(np.array([[[0.9, 0.5], [0.4, 0.1]], [[0.1, 0.5], [0.6, 0.9]]]))
        names = ["season", "flu", "fever", "ward"]
        model = DiscreteNetwork(NetworkTables(names, states, [[], [0], [1], [0, 2]], tables), "flu").fit()
        display = NetworkDisplay.from_model(model, {"fever": "yes"})
        assert [label.split(",")[0] for label in display.labels] == ["season", "flu: no 0.0%", "fever = yes", "ward"]
        assert len(display.ax_.patches) == 1
        assert display.information[model.questions_.index("ward")] == pytest.approx(0.0, abs=1e-12)
        assert_legible(display.figure_)
        alone = NetworkDisplay.from_model(model, {"season": "no", "fever": "no", "ward": "no"})
        assert np.isnan(alone.information).all()
        sure = [*tables[:2], np.array([[1.0, 1.0], [0.0, 0.0]])]
        never = DiscreteNetwork(NetworkTables(names[:3], states[:3], [[], [0], [0]], sure), "flu").fit()
        with pytest.raises(ValueError, match="fever has probability zero"):
            NetworkDisplay(never, {"fever": "yes"})
