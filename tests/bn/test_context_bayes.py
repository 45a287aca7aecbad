from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixture_cases import random_data, summed_out
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, sparse, stats

from seqclass.bn import ContextBayes, NaiveBayes, _densities, context_bayes
from seqclass.bn._densities import FAMILIES
from seqclass.bn._em import TrainingRows
from seqclass.bn.contexts import contexts_of, strongest
from seqclass.datasets.cube import make_cube_nm
from seqclass.discretize import Discretizer
from seqclass.testing import check_observation_model


def pointing(n=300, seed=0, n_values=10, missing=0.0):
    """Two contexts, in each of which one of two features tells the class; then one that never does."""
    rng = np.random.default_rng(seed)
    context, y = rng.integers(0, 2, (2, n))
    shown = rng.integers(0, n_values, (n, 3))
    own = np.clip(np.rint(rng.normal(np.where(y, 0.7, 0.3) * n_values, 1.2)), 0, n_values - 1)
    shown[np.arange(n), context] = own
    X = np.column_stack([context, shown])
    return np.where(rng.random(X.shape) < missing, -1, X).astype(np.int8), y, np.array([2, *[n_values] * 3])


@pytest.mark.slow_cells("auto-auto")
@pytest.mark.covering(1)
@pytest.mark.parametrize("context", [None, 0, (0, 1), "auto"])
@pytest.mark.parametrize("density", ["auto", "tables", "rank"])
def test_conformance(context, density):
    X, y, _ = pointing(80)
    check_observation_model(ContextBayes(context, density=density), X, y)


@pytest.mark.parametrize("context, missing", [(None, 0.2), (0, 0.0), (2, 0.2), ((0, 3), 0.2), ("auto", 0.1)])
def test_answers_are_sums_over_hidden_states(context, missing):
    X, y, sizes = pointing(missing=missing)
    model = ContextBayes(context).fit(X, y, n_outcomes=sizes)
    evidence = pointing(12, seed=1, missing=0.4)[0]
    posterior, likelihood = summed_out(model, evidence)
    assert_allclose(model.posterior(evidence), posterior, rtol=1e-10)
    for j, size in enumerate(sizes):
        found = np.isfinite(likelihood[:, j, :size])
        assert_allclose(model.likelihood(j, evidence)[found], likelihood[:, j, :size][found], rtol=1e-10)
    state = model.start(12)
    for j in range(2):
        state = model.advance(j, state, evidence[:, j])
    known = np.where(np.arange(4) < 2, evidence, -1)
    assert_allclose(model.stage_likelihoods(np.arange(4), state)[:, 2:], summed_out(model, known)[1][:, 2:], rtol=1e-10)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from(FAMILIES), st.booleans())
def test_tables_are_distributions_and_rule_nothing_out(seed, missing, density, several):
    X, y, sizes = random_data(seed, n=40, missing=missing)
    model = ContextBayes([0, 1] if several else 0, density=density).fit(X, y, n_outcomes=sizes)
    assert_allclose(model.tables_.sum(axis=1), 1)
    assert_allclose(np.bincount(model.hidden_class_, model.weights_), 1)
    rest = [j for j in range(len(sizes)) if j not in model.context_]
    real = np.arange(model.tables_.shape[1]) < sizes[:, None]
    assert (model.tables_[rest] > 0).transpose(0, 1, 2)[real[rest]].all()
    assert not model.tables_[~real].any()
    assert (model.posterior(np.maximum(X, 0)) >= 0).all()


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 12 // 25)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_the_context_itself_is_told_as_without_contexts(seed, missing):
    X, y, sizes = random_data(seed, missing=missing)
    with_it, without = (ContextBayes(c).fit(X, y, n_outcomes=sizes) for c in (2, None))
    assert_allclose(with_it.likelihood_table([2]), without.likelihood_table([2]), rtol=1e-9)
    only = np.full((sizes[2], 6), -1)
    only[:, 2] = np.arange(sizes[2])
    assert_allclose(with_it.posterior(only), without.posterior(only), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_contexts_of_two_columns_are_as_likely_as_their_rows_say(alpha):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (120, 3)).astype(np.int8), (rng.random(120) < 0.3).astype(int)
    model = ContextBayes([0, 1], alpha=alpha).fit(X, y, n_outcomes=[2, 2, 2])
    for c in range(2):
        rows = np.bincount(2 * X[y == c, 0] + X[y == c, 1], minlength=4) + alpha
        assert_allclose(np.sort(model.weights_[model.hidden_class_ == c]), np.sort(rows / rows.sum()), rtol=1e-12)


def polya(counts, base, a):
    """Probability of the counts of all classes, a row after the other."""
    total = 1.0
    for column in counts.T:
        urn = a * base.copy()
        for v, n in enumerate(column):
            for _ in range(int(n)):
                total *= urn[v] / urn.sum()
                urn[v] += 1
    return total


def test_the_strength_is_that_of_greatest_likelihood():
    rng = np.random.default_rng(0)
    for counts in rng.integers(0, 6, (20, 3, 4)).astype(float):
        bases = rng.dirichlet(np.ones(3), 2)
        best = max(((polya(counts, base, a), base, a) for base in bases for a in (1.0, 10.0, 1e5)), key=lambda t: t[0])
        expected = (counts + best[2] * best[1][:, None]) / (counts.sum(axis=0) + best[2])
        given = [(base[None, :, None, None], base[None, :, None, None]) for base in bases]
        found = _densities.shrunk(counts[None, :, None], given, (1.0, 10.0, 1e5))
        assert_allclose(found[0, :, 0], expected, rtol=1e-9)


def test_means_are_drawn_as_their_likelihood_says():
    rng = np.random.default_rng(1)
    strengths = set()
    for spread in np.repeat([0.0, 0.3, 3.0], 5):
        n, variance = rng.integers(2, 30, 4).astype(float), 1.7
        mean = rng.normal(5, spread, 4) + rng.normal(0, np.sqrt(variance / n))

        def likelihood(k, n=n, mean=mean, variance=variance):
            deviation = np.sqrt(variance / n + variance / k)
            at = np.linspace(-20, 30, 5001)
            return integrate.trapezoid(np.prod(stats.norm.pdf(mean[:, None], at, deviation[:, None]), axis=0), at)

        k = max((0.5, 2.0, 8.0, 32.0, 128.0, 1e6), key=likelihood)
        strengths.add(k)
        precision = 1 / (variance / n + variance / k)
        target = (precision * mean).sum() / precision.sum()
        found = _densities._shrunk_means(n[None, None], (n * mean)[None, None], np.full((1, 1), variance))
        assert_allclose(found[0, 0], (n * mean + k * target) / (n + k), rtol=1e-6)
    assert len(strengths) > 2


@pytest.mark.parametrize("density", ["tables", "normal"])
def test_what_few_rows_are_drawn_to_counts_for_so_many(density):
    """Classes of one mean, in columns of three outcomes and of six, narrow ones and wide."""
    three, six = np.array([[9, 1], [3, 1], [3, 1]]), np.array([[0, 2], [3, 1], [15, 1], [15, 1], [3, 1], [0, 2]])
    one = np.zeros((6, 2), dtype=int)
    one[2] = 30, 6
    X, sizes = np.empty((44, 3), dtype=int), [3, 6, 6]
    y = np.repeat([0, 1], [36, 8])
    all_counts = [three * 2 + [[6, 2], [0, 0], [0, 0]], six, one + np.array([[0, 0]] * 2 + [[6, 2]] + [[0, 0]] * 3)]
    for j, counts in enumerate(all_counts):
        X[:, j] = np.concatenate([np.repeat(np.arange(sizes[j]), of_class) for of_class in counts.T])
    model = ContextBayes(None, density=density).fit(X, y, n_outcomes=sizes)
    for j, counts in enumerate(all_counts):
        n, at, total = counts.sum(axis=0), np.arange(sizes[j]) + 0.5, counts.sum(axis=1)
        if density == "tables" or j == 0:
            bases, strengths = np.repeat(((total + 1) / (total + 1).sum())[:, None], 2, axis=1), (2, 8, 32, 128, 1e6)
        else:
            within = (counts * (at - counts[:, 0] @ at / n[0])[:, None] ** 2).sum(axis=0)
            variance = np.maximum((within + 10 * within.sum() / n.sum()) / (n + 10), 0.02)
            ends = np.array([-np.inf, 1, 2, 3, 4, 5, np.inf])[:, None]
            normal = np.diff(stats.norm.cdf(ends, counts[:, 0] @ at / n[0], np.sqrt(variance)), axis=0)
            bases, strengths = 0.998 * normal + 0.002 / 6, (32, 128, 512, 1e6)

        def likelihood(a, counts=counts, bases=bases):
            return np.prod([polya(counts[:, [c]], bases[:, c], a) for c in range(2)])

        a = max(strengths, key=likelihood)
        assert_allclose(model.tables_[j, : sizes[j]], (counts + a * bases) / (n + a), rtol=1e-9)


@pytest.mark.parametrize("rank", [False, True])
def test_bins_have_the_probability_of_the_normal_distribution(rank):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 40_000)
    value = rng.normal(np.where(y, 6.0, 4.0), np.where(y, 1.0, 1.5))
    shown = np.exp(value) if rank else value
    edges = np.quantile(shown, np.arange(1, 24) / 24) if rank else np.arange(1.0, 10)
    X = np.searchsorted(edges, shown)[:, None]
    model = ContextBayes(None, density="rank" if rank else "normal").fit(X, y)
    ends = np.append(-np.inf, np.append(np.log(edges) if rank else edges, np.inf))
    for c, (mean, deviation) in enumerate([(4.0, 1.5), (6.0, 1.0)]):
        expected = np.diff(stats.norm.cdf(ends, mean, deviation))
        # the scores of two classes together are not normal in each, but counts correct them
        assert_allclose(model.tables_[0, :, c], expected, atol=0.012 if rank else 0.008)


def test_zeros_of_most_rows_stand_for_themselves():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 4000)
    X = np.where(rng.random(4000) < np.where(y, 0.9, 0.4), 0, 1 + np.clip(np.rint(rng.normal(6, 2, 4000)), 0, 11))
    model = ContextBayes(None, density="normal").fit(X.astype(int)[:, None], y)
    assert_allclose(model.tables_[0, 0], [0.4, 0.9], atol=0.03)
    rest = model.tables_[0, 1:] / model.tables_[0, 1:].sum(axis=0)
    assert_allclose(rest[:, 0], np.diff(stats.norm.cdf([-np.inf, *np.arange(0.5, 11), np.inf], 6, 2)), atol=0.02)


def test_few_outcomes_have_tables_and_each_feature_its_own_density():
    X, y, sizes = pointing(600)
    model = ContextBayes(0).fit(X, y, n_outcomes=sizes)
    assert model.densities_[0] == "tables"
    assert set(ContextBayes(0, density="normal").fit(X, y, n_outcomes=sizes).densities_) == {"tables", "normal"}
    rng = np.random.default_rng(0)
    ends = np.where(rng.random(600) < 0.5, 0, 9)  # nothing normal about it
    other = ContextBayes(None).fit(np.column_stack([X, ends, X[:, 1]]), y)
    assert other.densities_[4] == "tables"
    assert other.densities_[5] == other.densities_[1]


def test_what_holds_in_one_context_is_learned_of_few_rows():
    train, test = make_cube_nm(600, random_state=2), make_cube_nm(2000, random_state=3)
    for bins, least in ((4, 0.62), (16, 0.75)):
        cut = Discretizer(np.repeat([2, bins], [5, 50])).fit(train.X)
        X, new = cut.transform(train.X), cut.transform(test.X)
        accuracy = [
            (model.fit(X, train.y).predict(new) == test.y).mean() for model in (ContextBayes(range(5)), NaiveBayes())
        ]
        assert accuracy[0] > least > 0.4 > accuracy[1]


def test_a_feature_without_bearing_in_a_context_has_one_table_there():
    X, y, sizes = pointing(400, seed=4)
    model = ContextBayes(0).fit(X, y, n_outcomes=sizes)
    by_class = model.tables_.reshape(4, 10, 2, 2)  # class, context
    apart = np.abs(by_class[:, :, 0] - by_class[:, :, 1]).sum(axis=1) / 2
    assert (apart[[1, 2], [0, 1]] > 0.6).all()
    assert (apart[[2, 1, 3, 3], [0, 1, 0, 1]] < 0.15).all()


def test_rows_whose_context_is_not_seen_are_shared_out():
    X, y, sizes = pointing(500, seed=5)
    hidden = np.where((np.arange(500) % 3 == 0)[:, None] & (np.arange(4) == 0), -1, X)
    model = ContextBayes(0, density="tables").fit(hidden, y, n_outcomes=sizes)
    assert model.n_iter_ > 1
    assert ContextBayes(0, density="tables").fit(X, y, n_outcomes=sizes).n_iter_ == 0
    seen_only = ContextBayes(0, density="tables").fit(X[hidden[:, 0] >= 0], y[hidden[:, 0] >= 0], n_outcomes=sizes)
    fresh, label, _ = pointing(4000, seed=6)

    def fit_of(one):
        return np.log(one.posterior(fresh)[np.arange(len(label)), label]).mean()

    assert fit_of(model) > fit_of(seen_only)


def test_joint_outcomes_that_are_rare_are_shared_out():
    X, y, _ = pointing(400, seed=7)
    noisy = np.column_stack([X[:, 0], X[:, 0], X])
    noisy[:3, 0] = 1 - noisy[:3, 1]  # two columns say the same, but for three rows
    model = ContextBayes([0, 1]).fit(noisy, y)
    assert_array_equal(model.context_values_, [[0, 0], [1, 1]])
    assert model.n_iter_ > 0
    row = np.full((1, 6), -1)
    row[0, :2] = [0, 1]
    assert_allclose(model.posterior(row), model.class_prior_[None], atol=0.1)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("context", ["auto", 0, (0, 3)])
def test_sparse_input_is_the_same(kind, context):
    X, y, sizes = pointing(missing=0.1)
    dense, other = (ContextBayes(context).fit(data, y, n_outcomes=sizes) for data in (X, kind(X)))
    assert_array_equal(dense.context_, other.context_)
    assert_allclose(other.tables_, dense.tables_, rtol=1e-9)
    assert_allclose(other.posterior(kind(X)), dense.posterior(X), rtol=1e-9)


@pytest.mark.parametrize("context", [None, 0, (0, 3)])
def test_weight_two_is_a_row_twice(context):
    X, y, sizes = pointing(missing=0.1)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = ContextBayes(context, density="rank").fit(X, y, times, n_outcomes=sizes)
    repeated = ContextBayes(context, density="rank").fit(
        np.repeat(X, times, axis=0), np.repeat(y, times), n_outcomes=sizes
    )
    assert_allclose(weighted.tables_, repeated.tables_, rtol=1e-9)
    assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-9)


@pytest.mark.slow
def test_the_context_is_chosen():
    X, y, sizes = pointing(600)
    model = ContextBayes().fit(X, y, n_outcomes=sizes)
    assert_array_equal(model.context_, [0])
    gains = dict(model.candidates_)
    assert gains[0,] == max(gains.values()) > 0.1
    assert model.timings_["structure"] > 0
    rng = np.random.default_rng(8)
    free = ContextBayes().fit(rng.integers(0, 4, (600, 5)), y)
    assert not free.context_.size
    assert free.hidden_class_.tolist() == [0, 1]
    again = ContextBayes(random_state=np.random.default_rng(0)).fit(X, y, n_outcomes=sizes)
    assert_array_equal(again.context_, model.context_)


def test_many_rows_are_chosen_on_some(monkeypatch):
    X, y, _ = pointing(3000)
    asked = []
    gains = context_bayes._gains
    monkeypatch.setattr(context_bayes, "EM", replace(context_bayes.EM, max_rows=500))
    monkeypatch.setattr(context_bayes, "_gains", lambda rows, *rest: asked.append(len(rows)) or gains(rows, *rest))
    assert_array_equal(ContextBayes().fit(X, y).context_, [0])
    assert set(asked) == {500}


def test_many_outcomes_are_grouped():
    rng = np.random.default_rng(9)
    X = rng.integers(0, 40, (800, 2))
    alone = contexts_of(X, np.array([0]), np.array([40, 40]), np.ones(800))
    assert len(alone.patterns) == 4
    assert (np.diff(alone.group[0]) >= 0).all()
    assert np.bincount(alone.assign(X)).min() > 160
    X[:, 0] = np.where(rng.random(800) < 0.2, rng.integers(30, 40, 800), rng.integers(0, 12, 800))
    both = contexts_of(X, np.array([0, 1]), np.array([40, 40]), np.ones(800))
    assert len(both.patterns) == 4
    assert 11 <= (both.group[0] == 0).sum() <= 30  # cut where there is nothing
    assert_array_equal(both.assign(np.array([[-1, 3], [3, -1]])), [-1, -1])
    assert contexts_of(np.zeros((5, 1), dtype=int), np.array([0]), np.array([1]), np.ones(5)) is None


def test_stages_look_at_a_known_context_alone():
    X, y, sizes = pointing()
    model = ContextBayes(0).fit(X, y, n_outcomes=sizes)
    assert [found.tolist() for found in model.context_features([2, 0, 1, 3])] == [[], [2], [0], [0]]
    assert [found.tolist() for found in model.context_features([2, 1])] == [[], [2]]
    free = ContextBayes(None).fit(X, y, n_outcomes=sizes)
    assert [found.tolist() for found in free.context_features([2, 0])] == [[], []]
    assert free.tables([2, 0]).shape == (2, 10, 2)


def test_samples_are_of_the_model():
    X, y, sizes = pointing(800)
    model = ContextBayes(0).fit(X, y, n_outcomes=sizes)
    drawn, label = model.sample(20_000, random_state=0)
    for value in (0, 1):
        rows = drawn[:, 0] == value
        expected = model.likelihood(1, [[value, -1, -1, -1]])[0]
        for c in (0, 1):
            mine = drawn[rows & (label == c), 1]
            assert_allclose(np.bincount(mine, minlength=10) / len(mine), expected[:, c], atol=0.02)


@pytest.mark.slow
def test_pgmpy_gives_it_back():
    pytest.importorskip("pgmpy")
    X, y, sizes = pointing()
    model = ContextBayes(0).fit(X, y, n_outcomes=sizes)
    network = model.to_pgmpy(["where", "a", "b", "c"], "kind")
    assert network.check_model()
    again = ContextBayes.from_pgmpy(network, "kind", feature_names=["where", "a", "b", "c"])
    assert isinstance(again, ContextBayes)
    assert_allclose(again.posterior(X), model.posterior(X), rtol=1e-9)
    assert not again.context_.size
    assert [f.tolist() for f in again.context_features([0, 1])] == [[], [0]]


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"context": "where"}, "names are for a SequentialClassifier"),
        ({"context": 9}, "0..3, got"),
        ({"context": [-1]}, "0..3, got"),
        ({"context": 0.5}, "context must be"),
        ({"context": []}, "context must be"),
        ({"density": "gauss"}, "density must be"),
        ({"alpha": 0}, "alpha must be above 0"),
        ({"alpha": math.nan}, "alpha"),
    ],
)
def test_wrong_settings_are_named(setting, message):
    X, y, sizes = pointing()
    with pytest.raises((ValueError, TypeError), match=message):
        ContextBayes(**setting).fit(X, y, n_outcomes=sizes)


@pytest.mark.covering(1)
@pytest.mark.parametrize("n_bins", [4, 12])
@pytest.mark.parametrize("seed", [0, 2])
def test_a_context_of_several_columns_is_found(n_bins, seed):
    """A noisy one-hot, of which a feature of its block tells more than the other columns of it do."""
    data = make_cube_nm(600, random_state=seed)
    model = ContextBayes().fit(Discretizer(n_bins).fit_transform(data.X), data.y)
    assert model.context_.tolist() == [0, 1, 2, 3, 4]
    assert len(model.context_values_) == 5


def test_columns_that_tell_of_each_other_but_make_many_contexts_are_not_tried():
    """Fourteen noisy copies of one coin, which together show far more outcomes than a single column may."""
    rng = np.random.default_rng(0)
    coins = rng.integers(0, 2, (900, 1))
    X = np.where(rng.random((900, 14)) < 0.3, rng.integers(0, 2, (900, 14)), coins)
    tried = [columns for columns, _ in ContextBayes().fit(X, rng.integers(0, 2, 900)).candidates_]
    assert [len(columns) for columns in tried] == [1] * 6


def twice(X):
    """Rows once of each of two classes, of which they say nothing."""
    X, y = np.concatenate([X, X]), np.repeat([0, 1], len(X))
    return TrainingRows(X, y, np.ones(len(y)), 2, np.full(X.shape[1], 2))


def found_groups(X):
    """Groups of columns tied to each other."""
    return [tuple(columns.tolist()) for columns in context_bayes._group_tied(twice(X), [])]


def test_of_very_many_columns_no_contexts_are_looked_for():
    def alike(n_columns):
        return np.repeat(np.repeat([[0], [1]], n_columns, axis=1), 9, axis=0)

    assert [len(found_groups(alike(n))) for n in (100, 201)] == [2, 0]
    assert [len(context_bayes._short_list(twice(alike(n)))) for n in (100, 1001)] == [6, 0]


def test_columns_are_tied_beyond_chance_alone():
    three = np.array(list(itertools.product([0, 1], repeat=3)))
    for alike, found in ((8, []), (12, [(0, 1, 2)])):  # 3.6 and 8.2 standard deviations
        assert (
            found_groups(np.concatenate([np.repeat(three, 5, axis=0), np.repeat([[0] * 3, [1] * 3], alike, axis=0)]))
            == found
        )
    assert len(found_groups(np.repeat(np.repeat(three, 3, axis=1), 20, axis=0))) == 2  # of three
    assert found_groups(np.repeat([[0] * 17, [1] * 17], 20, axis=0)) == [tuple(range(16))]


def test_how_many_contexts_columns_make():
    def n_contexts(values, repeats):
        X = np.repeat(values, repeats, axis=0)
        return len(contexts_of(X, np.arange(X.shape[1]), X.max(axis=0) + 1, np.ones(len(X))).patterns)

    assert [n_contexts(np.arange(size)[:, None], 10) for size in (12, 13)] == [12, 4]
    assert [n_contexts(list(itertools.product(range(size), repeat=2)), 10) for size in (3, 4)] == [9, 4]
    assert n_contexts(list(itertools.product([0, 1], repeat=6)), 5) == 32
    assert n_contexts([[0, 0], [0, 1], [1, 0], [1, 1]], [5, 4, 5, 5]) == 3


@pytest.mark.parametrize(
    ("n", "told", "lean", "changes"),
    [
        (3000, 0.68, 0.0, True),  # by 5.5 standard errors, and 3.5% of the entropy
        (2000, 0.65, 0.0, False),  # by 2.6
        (2000, 0.95, 0.08, False),  # 0.14 of what another column says
        (200, 0.95, 0.09, False),  # 0.08 of it beyond twice chance
    ],
)
def test_when_contexts_are_worth_a_try(n, told, lean, changes):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    context = (rng.random(n) < np.where(y, 0.5 + lean, 0.5 - lean)).astype(int)
    shown = rng.integers(0, 2, (n, 2))
    shown[np.arange(n), context] = np.where(rng.random(n) < told, y, 1 - y)
    X = np.column_stack([context, shown])
    assert context_bayes.changes_what_others_tell(X, y, np.ones(n), np.array([2, 2, 2]), []) == changes


def test_many_rows_are_tested_on_some(monkeypatch):
    X, y, sizes = pointing(3001, n_values=2)
    asked = []
    monkeypatch.setattr(context_bayes, "_candidate_contexts", lambda rows, _: asked.append(len(rows)) or [])
    assert not context_bayes.changes_what_others_tell(X, y, np.ones(len(y)), sizes, [])
    assert asked == [3000]


@pytest.mark.parametrize(("told", "kept"), [((0, 1), 0), ((1, 0), 1), ((5, 9), 0), ((6, 9), 1)])
def test_features_are_remembered_for_what_they_tell_of_the_next_stages(told, kept):
    """Two features, each of which says as much of one later stage; of equal ones the first is forgotten."""

    def likelihood(feature, evidence):
        shown = evidence[:, told.index(feature)] if feature in told else np.full(len(evidence), 0.5)
        return np.stack([0.7 - 0.4 * shown, 0.3 + 0.4 * shown], axis=1)[:, :, None]

    model = SimpleNamespace(n_features_in_=2, n_outcomes_=np.full(10, 2), classes_=np.array([0]), likelihood=likelihood)
    rows, weight = np.array(list(itertools.product([0, 1], repeat=2))), np.full((4, 1), 0.25)
    assert strongest(model, np.array([0, 1]), rows, weight, np.arange(8), 4).tolist() == [kept]
