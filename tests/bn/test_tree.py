from __future__ import annotations

import itertools
import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_cases import check_cliques
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from two_threads import answers_of_two

from seqclass import SequentialClassifier, load
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.persistence import save
from seqclass.testing import check_observation_model


def random_parents(rng, n, chance=0.85, most=1):
    """A forest, or a graph in which features have up to ``most`` parents."""
    order = rng.permutation(n)
    parents = [[]] * n
    for at, j in enumerate(order[1:], 1):
        if rng.random() < chance:
            parents[j] = rng.choice(order[:at], size=rng.integers(1, min(most, at) + 1), replace=False).tolist()
    return parents


def random_network(seed, n=6, n_classes=3, chance=0.85, most=1, zeros=0.0, concentration=0.5):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, n)
    parents = random_parents(rng, n, chance, most)
    cpds = []
    for j in range(n):
        shape = (*sizes[parents[j]], n_classes)
        table = np.moveaxis(rng.dirichlet(np.full(sizes[j], concentration), size=shape), -1, 0)
        table = np.where((rng.random(table.shape) < zeros) & (table < table.max(axis=0)), 0.0, table)
        cpds.append(table / table.sum(axis=0))
    return TreeNetwork.from_cpds(np.arange(n_classes), rng.dirichlet(np.ones(n_classes)), parents, cpds)


def joint(model):
    """P(outcomes, class) of all histories, entry by entry."""
    result = np.zeros((*model.n_outcomes_, len(model.classes_)))
    for cell in itertools.product(*map(range, result.shape)):
        p = model.class_prior_[cell[-1]]
        for j, table in enumerate(model.cpds_):
            p *= table[(cell[j], *(cell[i] for i in model.parents_[j]), cell[-1])]
        result[cell] = p
    return result


def cut(table, row, any_order=-1):
    """The part of the joint that agrees with a row, summed over what is unknown."""
    n = table.ndim - 1
    part = table[tuple(slice(None) if v < 0 or j == any_order else slice(v, v + 1) for j, v in enumerate(row))]
    return part.sum(axis=tuple(j for j in range(n) if j != any_order))


def draw_evidence(rng, model, n, known=0.5):
    X = rng.integers(0, 60, (n, model.n_features_in_)) % model.n_outcomes_
    return np.where(rng.random(X.shape) < known, X, -1)


def data(seed, n=120, n_features=5, n_classes=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, n_features)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, 60, (n, n_features)) % sizes
    for j in range(1, n_features):
        copied = rng.random(n) < 0.5
        X[copied, j] = (X[copied, rng.integers(j)] + y[copied]) % sizes[j]
    return X.astype(np.int8), y


# tables


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 0.3])
def test_tables_are_the_papers(weighted, alpha):
    X, y = data(0)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.2] = -1
    weight = rng.random(len(y)) if weighted else np.ones(len(y))
    model = TreeNetwork(alpha=alpha).fit(X, y, weight if weighted else None)
    assert_allclose(model.class_prior_, [weight[y == c].sum() / weight.sum() for c in range(3)])
    for a, table in enumerate(model.cpds_):
        V = model.n_outcomes_[a]
        for b in model.parents_[a]:
            for c, u in itertools.product(range(3), range(model.n_outcomes_[b])):
                rows = (y == c) & (X[:, b] == u) & (X[:, a] >= 0)
                for v in range(V):
                    expected = (weight[rows & (X[:, a] == v)].sum() + alpha) / max(weight[rows].sum() + alpha * V, 1e-9)
                    assert_allclose(table[v, u, c], expected if rows.any() or alpha else 1 / V, rtol=1e-9)


def test_weights_count_rows():
    X, y = data(2)
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    once = TreeNetwork().fit(X, y, weight.astype(float))
    often = TreeNetwork().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for a, b in zip(once.cpds_, often.cpds_):
        assert_allclose(a, b, rtol=1e-12)
    assert_allclose(once.edge_weights_, often.edge_weights_, rtol=1e-9)


def test_backoff_pulls_towards_the_class_alone():
    X, y = data(4)
    naive, laplace = NaiveBayes().fit(X, y), TreeNetwork().fit(X, y)
    strong = TreeNetwork(smoothing=1e12).fit(X, y)
    assert_allclose(strong.posterior(X), naive.posterior(X), rtol=1e-6)
    for table, plain in zip(strong.cpds_, laplace.cpds_):
        if table.ndim == 3:
            assert np.ptp(table, axis=1).max() < 1e-6 < np.ptp(plain, axis=1).max()
    s = 3.0
    model = TreeNetwork(smoothing=s).fit(X, y)
    child = next(j for j, p in enumerate(model.parents_) if len(p))
    parent = int(model.parents_[child][0])
    base = naive.likelihood_table([child])[0, : model.n_outcomes_[child]]
    for v, u, c in itertools.product(*map(range, model.cpds_[child].shape)):
        rows = (y == c) & (X[:, parent] == u)
        expected = ((rows & (X[:, child] == v)).sum() + s * base[v, c]) / (rows.sum() + s)
        assert_allclose(model.cpds_[child][v, u, c], expected)


def test_the_strength_of_the_backoff_predicts_left_out_rows_best():
    X, y = data(5, n=40)
    model = TreeNetwork(smoothing="backoff").fit(X, y)
    child = next(j for j, p in enumerate(model.parents_) if len(p))
    parent, V = int(model.parents_[child][0]), model.n_outcomes_[child]

    def left_out(s):
        total = 0.0
        for row in range(len(y)):
            rest = (np.arange(len(y)) != row) & (y == y[row])
            same = X[:, child] == X[row, child]
            base = ((rest & same).sum() + 1) / (rest.sum() + V)
            near = rest & (X[:, parent] == X[row, parent])
            total += np.log(base if np.isinf(s) else ((near & same).sum() + s * base) / (near.sum() + s))
        return total

    strengths = [*2.0 ** np.arange(-1, 9), np.inf]
    assert model.strengths_[child] == strengths[int(np.argmax([left_out(s) for s in strengths]))]


def test_noise_falls_back_to_naive_bayes():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 60)
    X = rng.integers(0, 4, (60, 8))
    model = TreeNetwork(smoothing="backoff").fit(X, y)
    assert np.nanmin(model.strengths_) >= 8
    held_y, held = rng.integers(0, 2, 4000), rng.integers(0, 4, (4000, 8))
    loss = [-np.log(m.posterior(held)[np.arange(4000), held_y]).mean() for m in (model, TreeNetwork().fit(X, y))]
    assert loss[0] < loss[1]


# exact inference


@given(st.integers(0, 10**6), st.sampled_from([1, 1, 3]), st.sampled_from([0.0, 0.0, 0.4]))
def test_everything_equals_enumeration(seed, most, zeros):
    model = random_network(seed, n=5, most=most, zeros=zeros)
    table = joint(model)
    rng = np.random.default_rng(seed + 1)
    X, _ = model.sample(8, rng)
    evidence = np.where(rng.random(X.shape) < rng.random(), X, -1)
    posterior = model.posterior(evidence)
    every = model.likelihoods(evidence)
    for row, belief in zip(evidence, posterior):
        mass = cut(table, row)
        assert_allclose(belief, mass / mass.sum(), rtol=1e-9, atol=1e-12)
    for j, V in enumerate(model.n_outcomes_):
        likelihood = model.likelihood(j, evidence)
        assert_allclose(likelihood.sum(axis=1), 1, rtol=1e-9)
        assert_allclose(every[:, j, :V].sum(axis=1), 1, rtol=1e-9)
        assert not every[:, j, V:].any()
        for row, *found in zip(evidence, likelihood, every[:, j, :V]):
            mass = cut(table, row, any_order=j)
            possible = mass.sum(axis=0) > 0
            for one in found:  # where the evidence excludes the class any answer will do
                expected = mass[:, possible] / mass[:, possible].sum(axis=0)
                assert_allclose(one[:, possible], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
def test_staged_likelihoods_multiply_to_the_joint_in_any_order(seed, most):
    model = random_network(seed, n=5, most=most)
    table = joint(model)
    rng = np.random.default_rng(seed)
    X, _ = model.sample(10, rng)
    asked = rng.permutation(model.n_features_in_)[: rng.integers(1, model.n_features_in_ + 1)]
    outcomes = np.where(rng.random((len(X), len(asked))) < 0.8, X[:, asked], -1)
    evidence = np.full_like(X, -1)
    evidence[:, asked] = outcomes
    expected = np.array([cut(table, row) for row in evidence])
    for order in (np.arange(len(asked)), rng.permutation(len(asked))):
        state, product, rows = model.start(len(X)), np.tile(model.class_prior_, (len(X), 1)), np.arange(len(X))
        for at in order:
            likelihood = model.stage_likelihood(int(asked[at]), state)
            seen = np.full_like(X, -1)
            done = asked[order[: list(order).index(at)]]
            seen[:, done] = evidence[:, done]
            assert_allclose(likelihood, model.likelihood(int(asked[at]), seen[rows]), rtol=1e-9, atol=1e-12)
            outcome = outcomes[rows, at]
            known = outcome >= 0
            product[rows[known]] *= likelihood[known, outcome[known]]
            state = model.advance(int(asked[at]), state, outcome)
            kept = rng.permutation(len(rows))
            state, rows = state[kept], rows[kept]
        assert_allclose(product, expected, rtol=1e-9, atol=1e-15)
    assert_allclose(model.posterior(evidence), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.covering(1)
@pytest.mark.parametrize("structure", ["tree", "forest", "line"])
@pytest.mark.parametrize("smoothing", ["laplace", "backoff"])
def test_keeps_the_promises_of_a_model(structure, smoothing):
    check_observation_model(TreeNetwork(structure, smoothing=smoothing), *data(7, n=60))


@pytest.mark.slow
def test_keeps_the_promises_of_a_model_on_a_graph():
    check_observation_model(TreeNetwork("clique", conditioning="full"), *data(8, n=30, n_features=4))
    check_observation_model(TreeNetwork("random", conditioning="full"), *data(8, n=30, n_features=4))


def test_an_edgeless_network_is_naive_bayes():
    X, y = data(9)
    model = TreeNetwork("forest", smoothing="backoff").fit(np.random.default_rng(0).permuted(X, axis=0), y)
    tables = [np.asarray(t if t.ndim == 2 else t.mean(axis=1)) for t in model.cpds_]
    model = TreeNetwork.from_cpds(model.classes_, model.class_prior_, [[]] * len(tables), tables)
    naive = np.log(model.class_prior_) + sum(np.log(t)[X[:, j]] for j, t in enumerate(tables))
    expected = np.exp(naive - naive.max(axis=1, keepdims=True))
    assert_allclose(model.posterior(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def plain_log_evidence(model, X):
    """Log P(row | class) of each row when all features are known."""
    return sum(np.log(t[(X[:, j], *X[:, model.parents_[j]].T)]) for j, t in enumerate(model.cpds_))


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", ["line", *(pytest.param(shape, marks=pytest.mark.slow) for shape in ("star", "random"))]
)
def test_more_than_a_thousand_features_do_not_underflow(shape):
    rng = np.random.default_rng(10)
    K, V = 1200, 3
    above = {"line": lambda j: j - 1, "star": lambda j: 0, "random": lambda j: int(rng.integers(j))}[shape]
    parents = [[]] + [[above(j)] for j in range(1, K)]
    cpds = [rng.dirichlet(np.ones(V), size=2).T]
    cpds += [np.moveaxis(rng.dirichlet(np.ones(V), size=(V, 2)), -1, 0) for _ in range(1, K)]
    model = TreeNetwork.from_cpds([0, 1], [0.5, 0.5], parents, cpds)
    X, _ = model.sample(3, rng)
    X = rng.permuted(X, axis=0)
    exact = plain_log_evidence(model, X.astype(int))
    assert exact.max() < -1000
    assert_allclose(model._engine.log_evidence({j: X[:, j] for j in range(K)}, 3).T, exact, rtol=1e-10)
    # the hub is open: sums of more than a thousand logarithms that have to be compared
    hidden = X.astype(int).copy()
    hidden[:, 0] = -1
    both = []
    for v in range(V):
        full = hidden.copy()
        full[:, 0] = v
        both.append(plain_log_evidence(model, full))
    log_evidence = model._engine.log_evidence({j: X[:, j] for j in range(1, K)}, 3).T
    total = np.logaddexp.reduce(both)
    assert_allclose(log_evidence, total, rtol=1e-10)
    likelihood = model.likelihood(0, hidden)
    ratio = np.exp(np.array(both) - total)
    assert_allclose(likelihood, ratio.transpose(1, 0, 2), rtol=1e-6, atol=1e-300)
    half = np.where(rng.random(X.shape) < 0.5, X, -1)
    assert np.isfinite(model.posterior(half)).all()
    every = model.likelihoods(half[:1])
    for j in rng.integers(0, K, 5).tolist():
        assert_allclose(every[:, j], model.likelihood(j, half[:1]), rtol=1e-8)


@pytest.mark.slow
def test_evidence_that_swings_by_more_than_a_double_holds():
    """A hub that is first all but impossible and then all but certain, with tables that hold zeros."""
    K = 1000
    unlikely = np.array([[[1e-3], [0.999]], [[0.999], [1e-3]]])
    parents = [[]] + [[0]] * K + [[0]]
    cpds = [np.array([[0.5], [0.5]])] + [unlikely] * K + [np.array([[[1.0], [0.0]], [[0.0], [1.0]]])]
    model = TreeNetwork.from_cpds([0], [1.0], parents, cpds)
    row = np.r_[-1, np.zeros(K // 2, int), np.ones(K // 2, int), -1][None]
    assert_allclose(model.likelihood(0, row)[0, :, 0], [0.5, 0.5], rtol=1e-9)
    assert_allclose(model.likelihood(K + 1, row)[0, :, 0], [0.5, 0.5], rtol=1e-9)
    row[0, -1] = 0
    assert_allclose(model.likelihood(0, row)[0, :, 0], [1.0, 0.0], atol=1e-300)


def test_a_message_is_kept_once_it_is_complete():
    model = random_network(1, 2, chance=1.0)
    evidence = np.array([[0, 1]])

    def ask(shared):
        return [shared.likelihood(j, evidence).tolist() for j in range(2)]

    answers = [*answers_of_two(partial(pickle.loads, pickle.dumps(model)), ask, ask, {"step"})]
    assert len(answers) > 10
    assert answers == [(ask(model), ask(model))] * len(answers)


@pytest.mark.parametrize(("n", "rare"), [(50, 1e-30), pytest.param(500, 1e-3, marks=pytest.mark.slow)])
def test_messages_through_tables_with_zeros_stay_logarithms(n, rare):
    """A chain of noisy copies whose rare branch is more than a double away, until its end makes it certain."""
    copy = np.array([[[1.0], [rare]], [[0.0], [1 - rare]]])  # once 0, for ever 0
    parents = [[]] + [p for j in range(n) for p in ([2 * j], [2 * j])]
    look = np.array([[[1 - rare], [rare]], [[rare], [1 - rare]]])
    cpds = [np.array([[0.5], [0.5]])] + [copy, look] * n
    model = TreeNetwork.from_cpds([0], [1.0], _renumber(parents), cpds)
    row = np.full((1, 2 * n + 1), -1)
    row[0, 2::2] = 0  # all looks say 0 ...
    row[0, 2 * n - 1] = 1  # ... but the end is 1, so that all were
    assert_allclose(model.likelihood(0, row)[0, :, 0], [0.0, 1.0], atol=1e-300)
    middle = n - (n % 2) + 1
    assert_allclose(model.likelihood(middle, row)[0, :, 0], [0.0, 1.0], atol=1e-300)


def _renumber(parents):
    """Chain node j + 1 at index 2j + 1 below node j, its look at 2j + 2 below itself."""
    result = [[]]
    for j in range((len(parents) - 1) // 2):
        result += [[max(2 * j - 1, 0)], [2 * j + 1]]
    return result


def test_impossible_evidence_is_named():
    cpds = [[[1.0, 0.5], [0.0, 0.5]], [[[1.0, 1.0], [0.5, 0.0]], [[0.0, 0.0], [0.5, 1.0]]]]
    model = TreeNetwork.from_cpds([0, 1], [0.5, 0.5], [[], [0]], cpds)
    assert_allclose(model.posterior([[1, 1]]), [[0, 1]])
    with pytest.raises(ValueError, match="outcome 1 of feature 1"):
        model.posterior([[0, 0], [0, 1]])
    assert_allclose(model.likelihood(0, [[-1, 1]])[0, :, 1], [0, 1])


def test_rows_do_not_depend_on_the_batch():
    X, y = data(11, n_features=12)
    model = TreeNetwork().fit(X, y)
    evidence = draw_evidence(np.random.default_rng(12), model, 300)
    whole, table = model.posterior(evidence), model.likelihood(4, evidence)
    for row in range(0, 300, 37):
        assert_allclose(model.posterior(evidence[[row]])[0], whole[row], rtol=1e-12)
        assert_allclose(model.likelihood(4, evidence[[row]])[0], table[row], rtol=1e-12)


def star(rng, n_leaves, size):
    """A root of three outcomes with leaves that hang on it alone, and their tables."""
    root, leaves = rng.dirichlet(np.ones(3), size=2).T, rng.dirichlet(np.ones(size), size=(n_leaves, 3, 2))
    tables = [root, *np.moveaxis(leaves, -1, 1)]
    return TreeNetwork.from_cpds([0, 1], [0.4, 0.6], [[], *[[0]] * n_leaves], tables), tables


@pytest.mark.parametrize("n, n_leaves, size", [(500, 2, 3), (5000, 40, 3), (300, 3, 70), (1, 2, 2), (50, 1, 2)])
def test_rows_of_few_kinds_have_each_the_answer_of_its_own(n, n_leaves, size):
    rng = np.random.default_rng(n)
    model, tables = star(rng, n_leaves, size)
    kinds = rng.integers(-1, size, (20, n_leaves + 1)).astype(np.int8)
    kinds[:, 0] = -1
    X = kinds[rng.integers(0, 20, n)]
    expected = np.tile(tables[0], (n, 1, 1))
    for column, table in zip(X.T[1:], tables[1:]):
        expected[column >= 0] *= table[column[column >= 0]]
    assert_allclose(model.likelihood(0, X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-10)


def test_rows_of_few_kinds_are_worked_out_once(steps):
    """Many that differ are worked out in parts, each with messages of its own."""
    rng = np.random.default_rng(0)
    model, _ = star(rng, 12, 3)
    rows = rng.integers(0, 3, (60_000, 13))
    rows[:, 0] = -1
    few = rows[rng.integers(0, 20, len(rows))]
    model.likelihood(0, few)  # what it keeps is there
    taken = [steps(lambda rows=some: model.likelihood(0, rows)) for some in (few[:20], few, rows)]
    assert taken[1] < 1.2 * taken[0]
    assert taken[2] > 2 * taken[1]


def test_codes_at_the_end_of_their_type():
    rng = np.random.default_rng(15)
    X = np.column_stack([np.arange(128), rng.permutation(128), rng.integers(0, 2, 128)])
    model = TreeNetwork().fit(X, rng.integers(0, 2, 128))
    state = model.start(128)
    seen = np.full_like(X, -1)
    for j in range(3):
        assert_allclose(model.stage_likelihood(j, state), model.likelihood(j, seen))
        state = model.advance(j, state, X[:, j])
        seen[:, j] = X[:, j]


# states


def test_states_hold_what_still_matters_only():
    rng = np.random.default_rng(16)
    K, n = 400, 50
    parents = [[]] + [[j - 1] for j in range(1, K)]
    cpds = [rng.dirichlet([1.0, 1.0], size=2).T]
    cpds += [np.moveaxis(rng.dirichlet([1.0, 1.0], size=(2, 2)), -1, 0) for _ in range(1, K)]
    model = TreeNetwork.from_cpds([0, 1], [0.5, 0.5], parents, cpds)
    X, _ = model.sample(n, rng)
    state = model.start(n)
    for j in range(100, 200):
        state = model.advance(j, state, X[:, j])
        assert state.codes.nbytes <= 2 * n
    assert len(state) == n
    assert len(state[:7]) == 7
    state = model.advance(300, state, np.full(n, -1))
    assert state.codes.nbytes <= 2 * n


def test_a_missing_answer_leaves_the_way_open():
    X, y = data(17)
    model = TreeNetwork("line").fit(X, y)
    order = [j for j, p in enumerate(model.parents_) if len(p) == 0]
    while len(order) < 3:
        order.append(next(j for j, p in enumerate(model.parents_) if p.tolist() == order[-1:]))
    first, second, third = order
    state = model.advance(first, model.start(2), np.array([0, 1]))
    state = model.advance(second, state, np.array([-1, 0]))
    evidence = np.full((2, X.shape[1]), -1)
    evidence[:, first], evidence[:, second] = [0, 1], [-1, 0]
    assert_allclose(model.stage_likelihood(third, state), model.likelihood(third, evidence), rtol=1e-12)


@given(st.integers(0, 10**6), st.sampled_from(["full", "ancestor"]))
def test_context_features_are_all_that_matters_and_nothing_else(seed, conditioning):
    base = random_network(seed, n=6, chance=0.95, concentration=1.0)
    sizes = np.maximum(base.n_outcomes_, 2)
    if (sizes != base.n_outcomes_).any():
        return
    model = TreeNetwork.from_cpds(
        base.classes_, base.class_prior_, base.parents_, base.cpds_, conditioning=conditioning
    )
    rng = np.random.default_rng(seed)
    order = rng.permutation(6)[: rng.integers(2, 7)]
    memory = model.context_features(order)
    rows = draw_evidence(rng, model, 1, known=1.0)
    for k in range(len(order)):
        assert set(memory[k]) <= set(order[:k])
        if k:
            assert set(memory[k]) <= {*memory[k - 1], order[k - 1]}
        for j in order[:k]:
            changes = False
            for later in range(k, len(order)):
                evidence = np.full((int(sizes[j]), 6), -1)
                evidence[:, order[:later]] = rows[:, order[:later]]
                evidence[:, j] = np.arange(sizes[j])
                table = model.likelihood(int(order[later]), evidence)
                changes |= bool(np.ptp(table, axis=0).max() > 1e-13)
            assert changes == (j in memory[k])


def test_context_features_of_other_models():
    X, y = data(18)
    assert [f.tolist() for f in NaiveBayes().fit(X, y).context_features([2, 0])] == [[], []]
    model = TreeNetwork().fit(X, y)
    assert model.context_features([]) == []
    with pytest.raises(ValueError, match="names feature 1 more than once"):
        model.context_features([1, 1])
    with pytest.raises(ValueError, match="names 9, which is not a feature"):
        model.context_features([9])


# the rest


def test_samples_follow_the_network():
    model = random_network(19, n=3, most=2, concentration=1.0)
    X, y = model.sample(200_000, 0)
    counts = np.zeros((*model.n_outcomes_, 3))
    np.add.at(counts, (*X.T, y), 1 / len(y))
    assert_allclose(counts, joint(model), atol=0.005)
    assert_array_equal(model.sample(5, 1)[0], model.sample(5, 1)[0])


def test_refitting_forgets_the_old_network():
    X, y = data(20)
    model = TreeNetwork("line").fit(X, y)
    _ = model.graph_, model.posterior(X[:2])
    model.set_params(structure="tree").fit(X[:, :3], y)
    fresh = TreeNetwork().fit(X[:, :3], y)
    assert set(model.graph_.edges) == set(fresh.graph_.edges)
    assert_array_equal(model.posterior(X[:, :3]), fresh.posterior(X[:, :3]))


@pytest.mark.parametrize(
    "settings_",
    [{}, {"structure": "clique"}, {"structure": "forest", "smoothing": "backoff"}, {"structure": "graph"}],
)
def test_saved_and_read_again(tmp_path, settings_):
    import networkx as nx

    X, y = data(21)
    if settings_.get("structure") == "graph":
        settings_ = {"structure": nx.DiGraph([(i, j) for i in range(2) for j in range(2, 5)]), "smoothing": 2.0}
    model = TreeNetwork(**settings_).fit(X, y)
    _ = model.graph_
    save(model, tmp_path / "tree.seq")
    for again in (load(tmp_path / "tree.seq"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(again.posterior(X), model.posterior(X))
        assert set(again.graph_.edges) == set(model.graph_.edges)
        assert_array_equal(clone(again).fit(X, y).posterior(X), model.posterior(X))


def test_a_classifier_that_holds_a_network_is_saved(tmp_path):
    X, y = data(22)
    clf = SequentialClassifier(observation_model=TreeNetwork("line")).fit(X.astype(float), y)
    save(clf, tmp_path / "model.seq")
    assert_array_equal(load(tmp_path / "model.seq").predict(X.astype(float)), clf.predict(X.astype(float)))


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"parents": [[1], [0]]}, "cycle"),
        ({"parents": [[], [5]]}, "distinct features"),
        ({"parents": [[]]}, "1 features"),
        ({"cpds": [np.full((2, 1), 0.5), np.full((2, 3, 1), 0.5)]}, "feature 1 must have shape"),
        ({"cpds": [np.full((2, 1), 0.5), np.full((2, 2, 1), 0.4)]}, "sum to 1"),
        ({"class_prior": [0.5, 0.5]}, "class_prior"),
        ({"classes": ["b", "a"], "class_prior": [0.5, 0.5]}, "sorted"),
        ({"conditioning": "half"}, "conditioning"),
    ],
)
def test_wrong_tables_are_named(changed, words):
    right = {"classes": [0], "class_prior": [1.0], "parents": [[], [0]]}
    right["cpds"] = [np.full((2, 1), 0.5), np.full((2, 2, 1), 0.5)]
    TreeNetwork.from_cpds(**right)
    with pytest.raises(ValueError, match=words):
        TreeNetwork.from_cpds(**(right | changed))


@pytest.mark.parametrize(
    "wrong, error",
    [({"alpha": -1}, ValueError), ({"smoothing": "none"}, ValueError), ({"smoothing": 0}, ValueError)]
    + [({"conditioning": "all"}, ValueError), ({"smoothing": None}, TypeError)],
)
def test_wrong_settings_are_named(wrong, error):
    with pytest.raises(error, match=next(iter(wrong))):
        TreeNetwork(**wrong).fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize("structure", ["tree", "forest", "line", "random", "clique"])
@pytest.mark.parametrize("conditioning", ["full", "ancestor"])
def test_odd_shapes(structure, conditioning):
    model = TreeNetwork(structure, conditioning=conditioning)
    model.fit([[0], [1], [0]], ["a", "b", "b"])
    assert model.graph_.number_of_edges() == 1
    assert model.posterior([[0], [-1]]).shape == (2, 2)
    model.fit(np.zeros((3, 4), int), ["a", "b", "b"], n_outcomes=[1, 2, 1, 3])
    assert model.likelihood(3, [[0, 1, 0, -1]]).shape == (1, 3, 2)
    model.fit(np.full((3, 2), -1), [0, 1, 1], n_outcomes=2)
    assert_allclose(model.posterior([[0, 1]]), [[1 / 3, 2 / 3]])
    model.fit([[0, 1], [1, 1], [0, 0]], [0, 1, 1], [1.0, 1.0, 0.0])
    nothing = np.empty((0, 2), int)
    assert model.posterior(nothing).shape == (0, 2)
    assert model.likelihood(0, nothing).shape == (0, 2, 2)
    assert model.likelihoods(nothing).shape == (0, 2, 2, 2)
    state = model.advance(0, model.start(0), np.empty(0, int))
    assert model.stage_likelihood(1, state).shape == (0, 2, 2)
    model.fit(np.empty((3, 0), int), [0, 1, 1])
    assert_allclose(model.posterior(np.empty((1, 0), int)), [[1 / 3, 2 / 3]])


def test_strengths_of_an_earlier_fit_are_gone():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 4)), rng.integers(0, 2, 40)
    model = TreeNetwork(smoothing="backoff").fit(X, y)
    assert model.strengths_.shape == (4,)
    assert not hasattr(model.set_params(smoothing="laplace").fit(X, y), "strengths_")


@pytest.mark.parametrize("structure", ["tree", "line", "clique"])
@pytest.mark.parametrize("smoothing", ["laplace", "backoff"])
@pytest.mark.parametrize("conditioning", ["full", "ancestor"])
def test_a_copy_answers_to_the_last_bit(structure, smoothing, conditioning):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 5)), rng.integers(0, 3, 60)
    model = TreeNetwork(structure, smoothing=smoothing, conditioning=conditioning).fit(X, y)
    evidence = rng.integers(-1, 3, (50, 5))
    assert_array_equal(pickle.loads(pickle.dumps(model)).posterior(evidence), model.posterior(evidence))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parents": [[], [0.5]]}, "parents of feature 1 must be numbers of features"),
        ({"feature_names": ["a"]}, "feature_names must be 2 different names"),
        ({"feature_names": ["a", "a"]}, "feature_names must be 2 different names"),
        ({"state_names": {0: ["low"]}}, "state_names of feature 0 must be 2 different names"),
        ({"state_names": {2: ["low", "high"]}}, "state_names has 2"),
        ({"state_names": {"a": ["low", "high"]}}, "state_names has 'a'"),
    ],
)
def test_from_cpds_refuses_names_and_parents_that_do_not_fit(changed, message):
    tables = {"parents": [[], [0]], "cpds": [np.full((2, 2), 0.5), np.full((2, 2, 2), 0.5)]}
    with pytest.raises(ValueError, match=message):
        TreeNetwork.from_cpds([0, 1], [0.5, 0.5], **(tables | changed))


def test_tables_that_are_larger_than_any_number():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (12, 1100)), np.arange(12) % 2
    nx = pytest.importorskip("networkx")
    star = nx.DiGraph([(j, 0) for j in range(1, 1100)])
    model = TreeNetwork(star, conditioning="full").fit(X, y)
    assert model.cpds_[0] is None
    with pytest.raises(ValueError, match="too many to keep its table"):
        model.likelihood(0, np.full((1, 1100), -1))


@pytest.mark.parametrize("structure", ["tree", "forest", "random"])
def test_cliques_multiply_to_the_network(structure: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (200, 6)), rng.integers(0, 2, 200)
    model = TreeNetwork(structure, conditioning="full").fit(X, y)
    check_cliques(model, [4, 1, 2])
    check_cliques(model, np.arange(6))
    assert TreeNetwork(structure, conditioning="ancestor").fit(X, y).cliques([0, 1]) is None


def test_the_outcomes_of_one_feature_widen_no_tables_of_others() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 3)), rng.integers(0, 2, 300)
    X[:, 0] = rng.permutation(np.arange(0, 6000, 20))
    tracemalloc.start()
    model = TreeNetwork(structure="tree").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sorted(table.size for table in model.cpds_)[-1] == 3 * 5981 * 2
    assert peak < 50 * 2**20
