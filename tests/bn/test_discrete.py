"""Networks that are given: exact inference against enumeration and pgmpy, whatever the graph, targets and questions."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from network_cases import as_pgmpy, check_cliques, random_network
from two_threads import answers_of_two, interrupted

from seqclass.bn import DiscreteNetwork, NetworkTables
from seqclass.bn import discrete as memory
from seqclass.testing import check_observation_model


def joint(network: NetworkTables) -> np.ndarray:
    """P of all states of all nodes, one axis a node."""
    sizes = network.sizes
    table = np.ones(sizes)
    for row in itertools.product(*map(range, sizes)):
        for j, above in enumerate(network.parents):
            table[row] *= network.tables[j][(row[j], *(row[i] for i in above))]
    return table


def enumerated(model: DiscreteNetwork, row: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """P(class | evidence), and P(outcome | evidence on the others, class) of each feature, by summing everything."""
    network, table = model.network_, joint(model.network_)
    nodes = [network.names.index(name) for name in model.questions_]
    targets = list(model.targets_)

    def of(evidence: np.ndarray, wanted: list[int]) -> np.ndarray:
        picked = table
        for feature, outcome in enumerate(evidence.tolist()):
            if outcome >= 0:
                state = network.states[nodes[feature]].index(model.outcomes_[feature][outcome])
                mask = np.zeros(network.sizes[nodes[feature]])
                mask[state] = 1
                shape = [1] * table.ndim
                shape[nodes[feature]] = -1
                picked = picked * mask.reshape(shape)
        keep = [*targets, *wanted]
        summed = picked.sum(axis=tuple(j for j in range(table.ndim) if j not in keep))
        return np.moveaxis(summed, [sorted(keep).index(j) for j in keep], range(len(keep)))

    def labelled(values: np.ndarray) -> np.ndarray:
        flat = values.reshape(-1, *values.shape[len(targets) :])
        states = itertools.product(*(network.states[t] for t in targets))
        names = [network.names[t] for t in targets]
        labels = [row[0] if len(targets) == 1 else ", ".join(f"{n}={s}" for n, s in zip(names, row)) for row in states]
        return flat[[labels.index(label) for label in model.classes_.tolist()]]

    posterior = labelled(of(row, []))
    tables = []
    for feature, node in enumerate(nodes):
        others = row.copy()
        others[feature] = -1
        both = labelled(of(others, [node]))  # classes, states
        ranked = both[:, [network.states[node].index(s) for s in model.outcomes_[feature]]].T
        tables.append(ranked)
    return posterior / posterior.sum(), tables


@pytest.mark.quick
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans(), st.floats(0, 0.6))
def test_all_that_is_asked_of_any_network(seed: int, n_targets: int, hide: bool, zeros: float) -> None:
    network = random_network(seed, zeros=zeros)
    rng = np.random.default_rng(seed)
    names = rng.permutation(network.names).tolist()
    names.remove("n0")
    targets = ["n0", *names[: n_targets - 1]]
    rest = names[n_targets - 1 :]
    questions = rest[: max(1, len(rest) - 2)] if hide else rest
    model = DiscreteNetwork(network, targets if n_targets > 1 else "n0", questions).fit()
    assert model.questions_ == questions
    X, y = model.sample(6, seed)
    assert set(y) <= set(model.classes_)
    evidence = np.where(rng.random(X.shape) < 0.5, X, -1)
    found = model.posterior(evidence)
    everything = model.stage_likelihoods(np.arange(len(questions)), evidence.astype(np.int8))
    for row, belief, likelihoods in zip(evidence, found, everything):
        posterior, tables = enumerated(model, row)
        np.testing.assert_allclose(belief, posterior, atol=1e-12)
        for feature, table in enumerate(tables):
            possible = table.sum(axis=0) > 1e-300
            wanted = table[:, possible] / table[:, possible].sum(axis=0)
            single = model.likelihood(feature, row[None])[0]
            np.testing.assert_allclose(single.sum(axis=0), 1)
            np.testing.assert_allclose(single[:, possible], wanted, atol=1e-9)
            if row[feature] < 0:
                np.testing.assert_allclose(likelihoods[feature, : len(table), possible].T, wanted, atol=1e-9)
                assert not likelihoods[feature, len(table) :].any()


def test_it_keeps_the_rules_of_an_observation_model() -> None:
    network = random_network(3)
    model = DiscreteNetwork(network, "n0").fit()
    X, y = model.sample(400, 0)
    assert model.fit(X, y, n_outcomes=model.n_outcomes_) is model
    check_observation_model(model, X[:40], y[:40])
    np.testing.assert_allclose(model.class_prior_, model.posterior(np.full((1, 5), -1))[0])
    counted = np.array([(y == label).mean() for label in model.classes_])
    assert np.abs(counted - model.class_prior_).max() < 0.1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")  # about where pgmpy will have what
def test_pgmpy_agrees() -> None:
    from pgmpy.inference import VariableElimination

    theirs = as_pgmpy(random_network(11, 8))
    model = DiscreteNetwork(theirs, "n0", ["n5", "n2", "n7"]).fit()
    X, _ = model.sample(5, 0)
    X[:, 1] = -1
    engine = VariableElimination(theirs)
    for row, belief in zip(X, model.posterior(X)):
        evidence = {
            name: outcomes[v] for name, outcomes, v in zip(model.questions_, model.outcomes_, row.tolist()) if v >= 0
        }
        asked = engine.query(["n0"], evidence, show_progress=False)
        values = [asked.get_value(n0=label) for label in model.classes_.tolist()]
        np.testing.assert_allclose(belief, values, atol=1e-10)
    # a child's table may list its parents' states in another order
    child = next(cpd for cpd in theirs.cpds if len(cpd.variables) > 1 and len(cpd.state_names[cpd.variables[1]]) > 1)
    other = theirs.copy()
    [turned] = [cpd for cpd in other.cpds if cpd.variable == child.variable]
    turned.values = np.flip(turned.values, 1)
    turned.state_names = {**turned.state_names, turned.variables[1]: turned.state_names[turned.variables[1]][::-1]}
    again = DiscreteNetwork(other, "n0", model.questions_).fit()
    np.testing.assert_allclose(again.posterior(X), model.posterior(X))
    hidden = theirs.copy()
    hidden.latents = {"n5"}
    assert "n5" not in DiscreteNetwork(hidden, "n0").fit().questions_


def test_what_is_impossible_is_named() -> None:
    tables = [np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])]
    network = NetworkTables(["c", "a", "b"], [["n", "y"]] * 3, [[], [0], [0]], tables)
    model = DiscreteNetwork(network, "c").fit()
    np.testing.assert_array_equal(model.posterior([[1, -1]]), [[0, 1]])
    with pytest.raises(ValueError, match="feature 1"):
        model.posterior([[1, 0]])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"target": "n9"}, "target: the network has no node 'n9'; "),
        ({"target": []}, "must name a node"),
        ({"target": ["n0", "n0"]}, "names a node twice"),
        ({"questions": ["n1", "n0"]}, "holds the target 'n0'"),
        ({"questions": ["n1", "n1"]}, "names a node twice"),
        ({"questions": []}, "there is no question"),
        ({"questions": ["m"]}, "questions: the network has no node 'm'"),
    ],
)
def test_wrong_settings(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DiscreteNetwork(**{"network": random_network(1), "target": "n0"} | change).fit()


def test_too_much_is_refused() -> None:
    sizes = [2] * 8
    apart = NetworkTables(
        [f"t{j}" for j in range(8)], [["n", "y"]] * 8, [[] for _ in sizes], [np.array([0.5, 0.5])] * 8
    )
    with pytest.raises(ValueError, match=r"have 128 joint states, and 64 are the most"):
        DiscreteNetwork(apart, apart.names[:7]).fit()
    n = 24  # everybody is married to everybody
    parents = [[], *([0, *range(1, j)][-14:] for j in range(1, n))]
    rng = np.random.default_rng(0)
    tables = [np.moveaxis(rng.dirichlet([1, 1], (2,) * len(above)), -1, 0) for above in parents]
    dense = NetworkTables([f"n{j}" for j in range(n)], [["n", "y"]] * n, parents, tables)
    with pytest.raises(
        ValueError, match=r"too densely connected .*treewidth \d+.* set max_cells to [\d,]+: .* MB"
    ) as no:
        DiscreteNetwork(dense, "n0", max_cells=2**12).fit().prepare()
    enough = int(re.search(r"max_cells to ([\d,]+)", str(no.value)).group(1).replace(",", ""))  # type: ignore[union-attr]
    assert len(DiscreteNetwork(dense, "n0", max_cells=enough).fit().prepare().class_prior_) == 2
    for wrong in (0, 1.5, "many"):
        with pytest.raises((TypeError, ValueError), match="max_cells"):
            DiscreteNetwork(dense, "n0", max_cells=wrong).fit()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "names, states, parents, tables, words",
    [
        ([], [], [], [], "no node"),
        (["a", "a"], [["x"]] * 2, [[], []], [np.ones(1)] * 2, "two nodes of one name"),
        (["a"], [["x", "x"]], [[]], [np.ones(2) / 2], "states of different names"),
        (["a"], [["x", "y"]], [[]], [np.ones(3) / 3], "of shape"),
        (["a"], [["x", "y"]], [[]], [np.array([0.5, 0.6])], "sum to 1"),
        (["a", "b"], [["x", "y"]] * 2, [[], [0]], [np.ones(2) / 2, np.array([[0.5, 0.6], [0.5, 0.5]])], "sum to 1"),
        (["a"], [["x", "y"]], [[]], [np.array([1.5, -0.5])], "not negative"),
        (["a"], [["x", "y"]], [[]], [np.array([np.nan, 1])], "finite"),
        (["a"], [["x", "y"]], [[0]], [np.eye(2)], "wrong parents"),
        (["a", "b"], [["x", "y"]] * 2, [[1], [0]], [np.eye(2)] * 2, "goes in a circle"),
    ],
)
def test_wrong_networks(names: Any, states: Any, parents: Any, tables: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        NetworkTables(names, states, parents, tables)


def test_data_are_checked_and_nothing_is_learnt() -> None:
    model = DiscreteNetwork(random_network(3), "n0").fit()
    X, y = model.sample(50, 0)
    before = model.posterior(X)
    np.testing.assert_array_equal(model.fit(X[::-1], y).posterior(X), before)
    with pytest.raises(ValueError, match="y holds the classes"):
        model.fit(X, np.full(50, "s0"))
    with pytest.raises(ValueError, match="states in the network"):
        model.fit(X, y, n_outcomes=model.n_outcomes_ + 1)


def test_memory_is_bounded_and_forgets_soundly(monkeypatch: pytest.MonkeyPatch) -> None:
    model = DiscreteNetwork(random_network(5), "n0").fit()
    X, _ = model.sample(300, 1)
    whole = [model.stage_likelihood(j, X) for j in range(5)]
    most = 8 * int(model.n_outcomes_.sum()) * 2 * 7  # of seven rows
    monkeypatch.setattr(memory, "CHUNK_BYTES", most // 4)
    small = DiscreteNetwork(random_network(5), "n0").fit()
    for rows in (slice(0, 5), slice(3, 300), slice(0, 2), slice(0, 300)):
        np.testing.assert_array_equal(small.posterior(X[rows]), model.posterior(X[rows]))
        for j in range(5):  # of more rows than are remembered only what is asked for is worked out
            np.testing.assert_allclose(small.stage_likelihood(j, X[rows]), whole[j][rows])
    assert len(small._memory.slots) <= max(7, len(np.unique(X, axis=0)))


@pytest.mark.parametrize("forgetful", [False, True])
def test_threads_that_share_a_network_have_their_own_answers(forgetful: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(3)
    X, _ = DiscreteNetwork(network, "n0").fit().sample(40, 1)
    X = np.unique(X, axis=0)
    if forgetful:
        monkeypatch.setattr(memory, "CHUNK_BYTES", 1)

    def make() -> DiscreteNetwork:
        model = DiscreteNetwork(network, "n0").fit()
        model.stage_likelihood(0, X[:1])
        return model

    def of(rows: slice) -> Any:
        return lambda model: model.stage_likelihoods(np.arange(5), X[rows]).tolist()

    first, second = of(slice(1, 3)), of(slice(2, 5))
    answers = [*answers_of_two(make, first, second, {"_fill", "_grow"})]
    assert len(answers) > 10
    assert answers == [(first(make()), second(make()))] * len(answers)


def test_messages_that_another_thread_forgets_are_still_read(monkeypatch: pytest.MonkeyPatch) -> None:
    junction: Any = sys.modules[memory.JunctionTree.__module__]
    monkeypatch.setattr(junction, "CHUNK_BYTES", 1)
    monkeypatch.setattr(junction, "TUNING", replace(junction.TUNING, steps_kept=0))
    model = DiscreteNetwork(random_network(3, 4), "n0").fit()
    X, _ = model.sample(2, 1)

    def first(model: DiscreteNetwork) -> Any:
        return model._compute(X[:1], [2])[0].tolist()

    def second(model: DiscreteNetwork) -> Any:
        return [model._compute(X[1:], wanted)[0].tolist() for wanted in ([0], [1], [0])]

    answers = [*answers_of_two(lambda: model, first, second, {"_collect", "_passes"})]
    assert len(answers) > 20
    assert answers == [(first(model), second(model))] * len(answers)


@pytest.mark.slow
def test_a_network_that_was_interrupted_answers_as_before() -> None:
    network = random_network(3)
    X = np.unique(np.random.default_rng(0).integers(-1, 2, (90, 5)), axis=0)
    whole = DiscreteNetwork(network, "n0").fit().stage_likelihood(2, X)

    def make() -> DiscreteNetwork:
        model = DiscreteNetwork(network, "n0").fit()
        model.stage_likelihood(2, X[:16])
        return model

    models = [*interrupted(make, lambda one: one.stage_likelihood(2, X), {"_fill", "_grow"})]
    assert len(models) > 10
    for model in models:
        np.testing.assert_allclose(model.stage_likelihood(2, X[:16]), whole[:16], atol=1e-12)
        np.testing.assert_allclose(model.stage_likelihood(2, X), whole, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10**6), st.integers(1, 2), st.floats(0, 0.6))
def test_a_tree_that_is_too_large_changes_no_answer(seed: int, n_targets: int, zeros: float) -> None:
    """Each answer is then worked out by itself, in what bears on it."""
    network = random_network(seed, 7, zeros=zeros)
    targets: Any = "n0" if n_targets == 1 else ["n0", "n1"]
    model = DiscreteNetwork(network, targets).fit()
    pruned = DiscreteNetwork(network, targets).fit()
    pruned.__dict__["_tree_or_error"] = ValueError("too large")
    X, _ = model.sample(5, seed)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.5, X, -1)
    np.testing.assert_allclose(pruned.posterior(X), model.posterior(X), atol=1e-12)
    for j in range(X.shape[1]):
        others = np.where(np.arange(X.shape[1]) == j, -1, X)
        possible = model.posterior(others)[:, None] > 0  # of a class that cannot be any distribution will do
        found, wanted = (np.where(possible, one.likelihood(j, X), 0) for one in (pruned, model))
        np.testing.assert_allclose(found, wanted, atol=1e-9)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10**6), st.integers(1, 2), st.floats(0, 0.6), st.floats(0.1, 0.9))
def test_rows_of_a_batch_share_what_they_have_seen(seed: int, n_targets: int, zeros: float, share: float) -> None:
    network = random_network(seed, 8, zeros=zeros)
    model = DiscreteNetwork(network, "n0" if n_targets == 1 else ["n0", "n1"]).fit().prepare()
    X, _ = model.sample(12, seed)
    X = np.where(np.random.default_rng(seed).random(X.shape) < share, X, -1)
    tree: Any = model._tree_or_error
    known = {model._nodes[k]: X[:, k] for k in range(X.shape[1])}
    alone = np.vstack([model.posterior(row[None]) for row in X])
    np.testing.assert_allclose(alone, model._compute(X, [])[1], atol=1e-12)  # all rows by the same messages
    # as they are; where what variables say alone is too much to be kept; where all tables are large
    junction: Any = sys.modules[memory.JunctionTree.__module__]
    for no_bytes, no_products in itertools.product([False, True], repeat=2):
        tree.__dict__.pop("_alone", None)
        with pytest.MonkeyPatch.context() as patch:
            if no_products:
                patch.setattr(junction, "TUNING", replace(junction.TUNING, few_products=0))
            if no_bytes:
                patch.setattr(junction, "CHUNK_BYTES", 0)
            total = tree.totals(known, len(X))
        np.testing.assert_allclose((total / total.sum(axis=0)).T, alone, atol=1e-12)


@pytest.mark.parametrize("n_states", [127, 128, 129, 2**15])
def test_the_last_state_of_many_is_one_in_a_batch_too(n_states: int) -> None:
    """Of so many states codes are of a type that ends at the last one."""
    rng = np.random.default_rng(0)
    tables = [rng.random(2), rng.random((n_states, 2)), rng.random((3, 2))]
    states = [["n", "y"], [f"s{v:05d}" for v in range(n_states)], ["a", "b", "c"]]
    network = NetworkTables(["t", "x", "z"], states, [[], [0], [0]], [table / table.sum(axis=0) for table in tables])
    model = DiscreteNetwork(network, "t").fit()
    X = np.array([[n_states - 1, -1], [n_states - 1, 2], [0, 1], [-1, 2]])
    alone = tables[0] / tables[0].sum() * (tables[1] / tables[1].sum(axis=0))[n_states - 1]
    np.testing.assert_allclose(model.posterior(X)[0], alone / alone.sum(), atol=1e-12)
    np.testing.assert_allclose(model.posterior(X), np.vstack([model.posterior(row[None]) for row in X]), atol=1e-12)


def test_more_messages_meet_than_an_integer_has_bits() -> None:
    rng, names = np.random.default_rng(0), ["t", "hub", *(f"x{i}" for i in range(70))]
    shares = [rng.random(shape) for shape in ((2,), (2, 2), *[(2, 2)] * 70)]
    parents = [[], [0], *[[1]] * 70]
    hub = NetworkTables(names, [["n", "y"]] * 72, parents, [share / share.sum(axis=0) for share in shares])
    model = DiscreteNetwork(hub, "t", names[2:]).fit()
    X = np.where(rng.random((9, 70)) < 0.9, model.sample(9, 0)[0], -1)
    tree: Any = model._tree_or_error
    total = tree.totals({node: X[:, k] for k, node in enumerate(model._nodes)}, 9)
    np.testing.assert_allclose((total / total.sum(axis=0)).T, model._compute(X, [])[1], atol=1e-12)


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 10**6))
def test_what_was_seen_before_is_built_upon(seed: int) -> None:
    """One more answer at a time, the other way round, and many rows at once: all the same as anew."""
    network = random_network(seed, 8)
    X, _ = DiscreteNetwork(network, "n0").fit().sample(4, seed)
    kept = DiscreteNetwork(network, "n0").fit()
    seen = np.full_like(X, -1)
    for j in np.random.default_rng(seed).permutation(X.shape[1]).tolist():
        seen[:, j] = X[:, j]
        anew = DiscreteNetwork(network, "n0").fit()
        features = np.arange(X.shape[1])
        np.testing.assert_allclose(kept.posterior(seen[:1]), anew.posterior(seen[:1]), atol=1e-13)
        one_by_one = [kept.stage_likelihoods(features, row[None].astype(np.int8))[0] for row in seen]
        np.testing.assert_allclose(one_by_one, anew.stage_likelihoods(features, seen.astype(np.int8)), atol=1e-12)


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_questions_that_are_apart_never_tell_anything(seed: int) -> None:
    network = random_network(seed, 7, most_parents=1)
    model = DiscreteNetwork(network, "n0").fit()
    apart = model.irrelevant_questions()
    assert set(model.most_telling(7 - 1 - len(apart))) == set(model.questions_) - set(apart) if len(apart) < 6 else True
    X, _ = model.sample(4, seed)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.5, X, -1)
    before = model.posterior(X)
    for name in apart:
        j = model.questions_.index(name)
        for v in range(model.n_outcomes_[j]):
            if model.predictive(j, np.where(np.arange(X.shape[1]) == j, -1, X))[:, v].min() > 0:
                shown = np.where(np.arange(X.shape[1]) == j, v, X)
                np.testing.assert_allclose(model.posterior(shown), before, atol=1e-12)
    rest = [name for name in model.questions_ if name not in apart]
    if rest:  # and planning for the others gives the same beliefs
        at = [model.questions_.index(name) for name in rest]
        np.testing.assert_allclose(DiscreteNetwork(network, "n0", rest).fit().posterior(X[:, at]), before, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_cliques_multiply_to_the_network(seed: int) -> None:
    model = DiscreteNetwork(random_network(seed, 9), ["n0", "n4"] if seed % 2 else "n0").fit()
    check_cliques(model, np.arange(model.n_features_in_))
    check_cliques(model, np.array([5, 1, 3]))


def test_what_is_kept_of_sets_of_questions_has_an_end() -> None:
    model = DiscreteNetwork(random_network(0, 12), "n0").fit().prepare()
    tree: Any = model._tree_or_error
    row = model.sample(1, 0)[0]
    sets = (np.arange(1, 1201)[:, None] >> np.arange(row.shape[1])) % 2 == 1
    kept = []
    for seen in sets:
        model.posterior(np.where(seen, row, -1))
        kept.append(len(tree._steps))
    assert max(kept) == 1001
    assert kept[-1] < 250


@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_chain_of_rare_answers_is_in_range(n_rows: int) -> None:
    """Every other node is seen, and what they say together is less than a number can be."""
    n, rng = 240, np.random.default_rng(0)
    rare = 1e-4 * rng.uniform(0.5, 1.5, (n, 2))  # P(state 1 | the node before it is in state 0, class)
    chain = [np.array([1 - rare[0], rare[0]])]
    chain += [np.stack([[1 - own, 1 - own / 2], [own, own / 2]]) for own in rare[1:]]
    names, parents = ["t", *(f"x{k}" for k in range(n))], [[], [0], *([k, 0] for k in range(1, n))]
    network = NetworkTables(names, [["n", "y"]] * (n + 1), parents, [np.array([0.5, 0.5]), *chain])
    seen = np.where(np.arange(n) % 2, 1, -1)[None].repeat(n_rows, axis=0)
    logs = np.zeros(2)
    state = np.array([[1.0, 1.0], [0.0, 0.0]])  # of the node before the first: (state, class)
    for k in range(n):
        state = np.einsum("spc,pc->sc", chain[k][:, None] if k == 0 else chain[k], state[:1] if k == 0 else state)
        if k % 2:
            logs, state = logs + np.log(state[1]), np.array([[0.0, 0.0], [1.0, 1.0]])
    assert logs.max() < -800
    belief = np.exp(logs - logs.max())
    model = DiscreteNetwork(network, "t").fit()
    np.testing.assert_allclose(model.posterior(seen), (belief / belief.sum())[None].repeat(n_rows, axis=0), rtol=1e-9)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("n_rows", [1, 60])
def test_hundreds_of_rare_answers_are_in_range(hidden: bool, n_rows: int) -> None:
    """By themselves 250 answers of chance .001 have the chance 1e-750, and were told to be impossible."""
    n, rng = 250, np.random.default_rng(0)
    rare = 1e-3 * rng.uniform(0.5, 1.5, (n, 2))
    rare[1::2] = rare[1::2, ::-1] * [1.0, 1e-2] if hidden else rare[1::2]  # which contradict one another
    rare[::2] *= [1e-2, 1.0] if hidden else 1.0
    above = [np.array([0.5, 0.5]), np.array([[0.7, 0.2], [0.3, 0.8]])][: 1 + hidden]
    names = ["class", "cause"][: 1 + hidden] + [f"f{j}" for j in range(n)]
    parents = [[], [0]][: 1 + hidden] + [[int(hidden)]] * n
    states = [["a", "b"]] * (1 + hidden) + [["no", "yes"]] * n
    network = NetworkTables(names, states, parents, [*above, *(np.array([1 - p, p]) for p in rare)])
    model = DiscreteNetwork(network, "class", names[1 + hidden :]).fit()
    log_joint = np.log(rare).sum(axis=0)
    chance = np.exp(log_joint - log_joint.max())
    expected = above[1].T @ chance if hidden else chance
    got = model.posterior(np.ones((n_rows, n), dtype=int))
    assert np.allclose(got, expected / expected.sum(), rtol=1e-6, atol=0)
    if not hidden:
        seen = np.ones((n_rows, n), dtype=int)
        seen[:, 7] = -1
        assert np.allclose(model.likelihood(7, seen)[:, 1], rare[7], rtol=1e-9, atol=0)
