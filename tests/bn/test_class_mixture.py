from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixture_cases import random_data, summed_out
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from seqclass.bn import ClassMixture, NaiveBayes, _em
from seqclass.bn._em import Design, MixtureSettings, fit_mixture
from seqclass.testing import check_observation_model


def same(one, other, **tolerance):
    assert_allclose(one.weights_, other.weights_, **tolerance)
    assert_allclose(one.tables_, other.tables_, **tolerance)
    assert_array_equal(one.n_iter_, other.n_iter_)


@pytest.mark.slow_cells("3-1")
@pytest.mark.parametrize("n_components, n_bags", [(3, 1), (2, 2), (1, 1)])
def test_conformance(n_components, n_bags):
    X, y, _ = random_data(0)
    check_observation_model(ClassMixture(n_components, n_bags=n_bags), X, y)


@pytest.mark.parametrize("n_components, n_bags, missing", [(3, 1, 0.0), (2, 3, 0.2), (1, 1, 0.2)])
def test_answers_are_sums_over_hidden_states(n_components, n_bags, missing):
    X, y, sizes = random_data(1, missing=missing)
    model = ClassMixture(n_components, n_bags=n_bags).fit(X, y, n_outcomes=sizes)
    assert_array_equal(np.bincount(model.hidden_class_), n_components * n_bags)
    evidence = random_data(2, n=12, missing=0.5)[0] % sizes - (np.random.default_rng(3).random((12, 6)) < 0.3)
    evidence = np.maximum(evidence, -1).astype(np.int8)
    posterior, likelihood = summed_out(model, evidence)
    assert_allclose(model.posterior(evidence), posterior, rtol=1e-10)
    for j, size in enumerate(sizes):
        assert_allclose(model.likelihood(j, evidence), likelihood[:, j, :size], rtol=1e-10)
    state = model.start(12)
    for j in range(3):
        state = model.advance(j, state, evidence[:, j])
    known = np.where(np.arange(6) < 3, evidence, -1)
    expected = summed_out(model, known)[1]
    assert_allclose(model.stage_likelihoods(np.arange(6), state)[:, 3:], expected[:, 3:], rtol=1e-10)


@settings(max_examples=settings.default.max_examples * 4 // 5)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.booleans())
def test_one_component_is_naive_bayes(seed, missing, weighted):
    X, y, sizes = random_data(seed, n=40, missing=missing)
    weight = np.random.default_rng(seed).random(len(y)) if weighted else None
    naive = NaiveBayes(alpha=0.7).fit(X, y, weight, n_outcomes=sizes)
    model = ClassMixture(1, n_bags=3, alpha=0.7).fit(X, y, weight, n_outcomes=sizes)
    assert_array_equal(model.tables_, naive.likelihood_table())
    assert_array_equal(model.posterior(X), naive.posterior(X))
    assert_array_equal(model.tables([2, 0]), naive.tables([2, 0]))
    assert_allclose(model.likelihood_table(), naive.likelihood_table(), rtol=1e-12)


@pytest.mark.slow
@given(
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([0.01, 0.5, 3.0]),
    st.sampled_from([0.0, 1.0]),
)
def test_the_objective_never_falls(seed, n_components, n_bags, missing, shrinkage, alpha):
    X, _, sizes = random_data(seed, missing=missing, n_classes=1)
    rng = np.random.default_rng(seed)
    weight = rng.random(len(X)) * 2 + 0.1
    zero = np.zeros(len(X), dtype=int)
    marginal = NaiveBayes(alpha=alpha).fit(X, zero, weight, n_outcomes=sizes).likelihood_table()[:, :, 0]
    settings = MixtureSettings(alpha, shrinkage, n_bags, 30, 0.0)
    mixture = fit_mixture(Design(X, len(marginal[0])), weight, marginal, shrinkage * sizes, n_components, settings, rng)
    assert len(mixture.history) > 1
    steps = np.diff(np.array(mixture.history), axis=0)
    assert np.nanmin(steps) >= -1e-9 * np.nanmax(np.abs(mixture.history))
    assert_allclose(mixture.weights.sum(), 1)
    assert_allclose(mixture.tables.sum(axis=1), 1)


def test_the_objective_is_likelihood_and_prior_up_to_a_constant():
    X, _, sizes = random_data(5, missing=0.2, n_classes=1)
    marginal = NaiveBayes().fit(X, np.zeros(len(X), dtype=int), n_outcomes=sizes).likelihood_table()[:, :, 0]
    design, found = Design(X, marginal.shape[1]), []
    for n_iter in (1, 2, 5, 9):
        # the tables after k iterations are those that iteration k + 1 judges
        both = [MixtureSettings(1, 0.5, 1, n, 0) for n in (n_iter, n_iter + 1)]
        some, more = (
            fit_mixture(design, np.ones(90), marginal, 0.5 * sizes, 3, settings, np.random.default_rng(0))
            for settings in both
        )
        total = np.log(some.weights).sum()
        for row in X:
            seen = [some.tables[j, v] for j, v in enumerate(row) if v >= 0]
            total += np.log((some.weights * np.prod(seen, axis=0)).sum())
        for j, size in enumerate(sizes):
            total += (0.5 * size * marginal[j, :size, None] * np.log(some.tables[j, :size])).sum()
        found.append(total - more.history[n_iter][0])
    assert np.ptp(found) < 1e-8


def test_it_is_done_when_the_whole_objective_rises_by_less_than_tol():
    X, _, sizes = random_data(5, missing=0.2, n_classes=1)
    marginal = NaiveBayes().fit(X, np.zeros(len(X), dtype=int), n_outcomes=sizes).likelihood_table()[:, :, 0]

    design = Design(X, marginal.shape[1])

    def history(tol, max_iter=30):
        settings, rng = MixtureSettings(1, 0.5, 1, max_iter, tol), np.random.default_rng(0)
        return fit_mixture(design, np.ones(90), marginal, 0.5 * sizes, 3, settings, rng).history

    # what the history leaves out is the likelihood of the class's own table
    alone = sum(np.log(marginal[j, v]) for row in X for j, v in enumerate(row) if v >= 0)
    over = np.ravel(history(0.0, 12))
    rise = np.diff(over) / np.abs(over[1:] + alone)
    assert (np.diff(rise)[:3] < 0).all()
    for k in range(3):
        assert len(history(rise[k] * (1 + 1e-6))) == k + 2
        assert len(history(rise[k] * (1 - 1e-6))) > k + 2


def test_components_find_the_kinds_of_rows():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 400)
    X = np.where(rng.random((400, 8)) < 0.9, kind[:, None], 1 - kind[:, None])
    model = ClassMixture(2).fit(X, np.zeros(400, dtype=int))
    assert_allclose(np.sort(model.tables_[:, 1], axis=1), np.tile([0.1, 0.9], (8, 1)), atol=0.06)


@pytest.mark.slow_cells("0.2-2")
@pytest.mark.covering(1)
@pytest.mark.parametrize("n_bags", [1, 2])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sparse_equals_dense(n_bags, missing):
    X, y, sizes = random_data(6, missing=missing)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.4, 0, X).astype(np.int8)
    dense = ClassMixture(4, n_bags=n_bags).fit(X, y, n_outcomes=sizes)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        model = ClassMixture(4, n_bags=n_bags).fit(kind(X), y, n_outcomes=sizes)
        same(model, dense, rtol=1e-10, atol=1e-12)
        assert_allclose(model.posterior(kind(X)), dense.posterior(X), rtol=1e-10, atol=1e-12)
        assert_allclose(model.likelihood(2, kind(X)), dense.likelihood(2, X), rtol=1e-10)


def test_stored_zeros_are_zeros():
    X, y, sizes = random_data(6)
    stored = sparse.csr_array(X + 1)
    stored.data -= 1
    same(ClassMixture(3).fit(stored, y, n_outcomes=sizes), ClassMixture(3).fit(X, y, n_outcomes=sizes), rtol=1e-10)


def test_few_ones_take_the_sparse_product(monkeypatch):
    X, y, sizes = random_data(8)
    dense = ClassMixture(3).fit(X, y, n_outcomes=sizes)
    monkeypatch.setattr(_em, "TUNING", replace(_em.TUNING, max_sparse_density=1.0))
    same(ClassMixture(3).fit(X, y, n_outcomes=sizes), dense, rtol=1e-10)


@pytest.mark.parametrize("n_bags", [1, 3])
def test_weight_two_is_a_row_twice(n_bags):
    X, y, sizes = random_data(9)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = ClassMixture(3, n_bags=n_bags).fit(X, y, times, n_outcomes=sizes)
    repeated = ClassMixture(3, n_bags=n_bags).fit(np.repeat(X, times, axis=0), np.repeat(y, times), n_outcomes=sizes)
    same(weighted, repeated, rtol=1e-10)


def test_order_of_features_makes_no_difference():
    X, y, sizes = random_data(10, missing=0.1)
    order = np.random.default_rng(0).permutation(len(sizes))
    model = ClassMixture(3, n_bags=2).fit(X, y, n_outcomes=sizes)
    other = ClassMixture(3, n_bags=2).fit(X[:, order], y, n_outcomes=sizes[order])
    assert_allclose(other.tables_, model.tables_[order], rtol=1e-9)


def test_the_seed_decides():
    X, y, _ = random_data(11)
    one, two = (ClassMixture(3, n_bags=2, random_state=5).fit(X, y) for _ in range(2))
    assert_array_equal(one.tables_, two.tables_)
    assert (ClassMixture(3, n_bags=2, random_state=6).fit(X, y).tables_ != one.tables_).any()


def test_classes_of_few_rows_have_few_components():
    X, y, sizes = random_data(12, n=60)
    y = np.where(np.arange(60) < 4, 2, y % 2)
    y[0] = 3
    model = ClassMixture(10).fit(X, y, n_outcomes=sizes)
    assert_array_equal(model.n_components_, [min(10, np.sum(y == c) // _em.TUNING.min_rows) for c in (0, 1)] + [1, 1])
    assert_array_equal(np.bincount(model.hidden_class_), model.n_components_)
    # nor are there more than kinds of rows
    assert ClassMixture(10).fit(np.tile([[0, 1], [1, 0]], (30, 1)), np.zeros(60, dtype=int)).n_components_[0] == 2


def test_what_never_occurs_without_smoothing():
    X = np.array([[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]] * 2)
    model = ClassMixture(2, alpha=0).fit(X, np.repeat([0, 1], 6), n_outcomes=[3, 2])
    with pytest.raises(ValueError, match="outcome 2 of feature 0 has probability zero"):
        model.posterior([[2, -1]])
    with pytest.raises(ValueError, match="outcome 2 of feature 0 has probability zero"):
        model.posterior(sparse.csr_array([[2, 1]]))
    # a class that is ruled out keeps what it had
    assert_allclose(model.likelihood(1, [[2, -1]]).sum(axis=1), 1)
    assert_allclose(model.advance(0, model.start(1), [2]), model.start(1))


def test_sample():
    X, y, sizes = random_data(13)
    model = ClassMixture(3).fit(X, y, n_outcomes=sizes)
    drawn, labels = model.sample(20_000, random_state=0)
    assert_allclose(np.mean(labels == 1), model.class_prior_[1], atol=0.02)
    # of pairs too: features are not independent within a class
    own = drawn[labels == 0]
    for v in range(sizes[0]):
        rows = own[own[:, 0] == v]
        if len(rows) > 500:
            shares = np.bincount(rows[:, 1], minlength=sizes[1]) / len(rows)
            evidence = np.where(np.arange(6) == 0, v, -1)[None]
            assert_allclose(shares, model.likelihood(1, evidence)[0, :, 0], atol=0.06)


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"n_components": "many"}, "n_components must be one of 'auto'"),
        ({"n_bags": 0}, "n_bags must be at least 1"),
        ({"alpha": -1}, "alpha must be between 0"),
        ({"shrinkage": 0}, "shrinkage must be above 0"),
        ({"shrinkage": -1}, "shrinkage must be between 0"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"tol": -1}, "tol must be between 0"),
        ({"prior": "flat"}, "prior must be one of 'uniform'"),
    ],
)
def test_settings_name_what_is_wrong(setting, message):
    X, y, _ = random_data(14)
    with pytest.raises(ValueError, match=message):
        ClassMixture(**{"n_components": 2, **setting}).fit(X, y)


@pytest.mark.slow_cells("asarray")
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_number_of_components_is_chosen(kind):
    rng = np.random.default_rng(0)
    n, y = 600, np.arange(600) % 2
    centres = rng.integers(0, 2, (2, 4, 12))
    X = np.where(rng.random((n, 12)) < 0.9, centres[y, rng.integers(0, 4, n)], rng.integers(0, 2, (n, 12)))
    model = ClassMixture().fit(kind(X), y)
    assert_array_equal(model.n_components_, [4, 4])
    assert list(model.candidates_)[:3] == [1, 2, 4]
    assert model.candidates_[4] > model.candidates_[2] + 0.1
    assert model.timings_["structure"] > 0
    independent = rng.integers(0, 3, (n, 6))
    alone = ClassMixture().fit(kind(independent), y)
    assert_array_equal(alone.n_components_, [1, 1])
    assert list(alone.candidates_) == [1, 2, 4]  # two in a row that are worse are enough


def test_the_choice_knows_likelihoods():
    X, y, sizes = random_data(15, missing=0.2)
    model = ClassMixture(3).fit(X, y, n_outcomes=sizes)
    found = _em.class_likelihoods(X, model.hidden_class_, model.weights_, model.tables_)
    assert found.shape == (len(model.classes_), len(X))
    for c, of_class in enumerate(found):
        own = model.hidden_class_ == c
        for row, value in zip(X, of_class):
            seen = [model.tables_[j, v, own] for j, v in enumerate(row) if v >= 0]
            assert_allclose(value, np.log((model.weights_[own] * np.prod(seen, axis=0)).sum()), rtol=1e-10)


def test_a_second_fit_forgets_the_hidden_states_of_the_first():
    X, y, sizes = random_data(15)
    model = ClassMixture(3).fit(X, y, n_outcomes=sizes)
    model.posterior(X), model.advance(0, model.start(len(X)), X[:, 0])
    again, other = model.set_params(n_components=1).fit(X, y, n_outcomes=sizes), ClassMixture(1)
    other.fit(X, y, n_outcomes=sizes)
    assert_array_equal(again.posterior(X), other.posterior(X))
    assert_array_equal(again.advance(0, again.start(len(X)), X[:, 0]), other.advance(0, other.start(len(X)), X[:, 0]))


@pytest.mark.slow
def test_the_choice_looks_at_some_rows_of_many(monkeypatch):
    X, y, sizes = random_data(16, n=300)
    monkeypatch.setattr(_em, "TUNING", replace(_em.TUNING, max_rows=150))
    model = ClassMixture().fit(X, y, n_outcomes=sizes)
    assert model.n_components_[0] in model.candidates_
    assert_array_equal(model.tables_, ClassMixture().fit(X, y, n_outcomes=sizes).tables_)


def test_structure_without_bearing_on_the_class_is_left_alone():
    # log-likelihoods of four rows, and of their classes
    scores = {1: np.array([np.zeros(4), [-0.1] * 4]), 2: np.array([np.ones(4), [-0.5] * 4])}
    assert _em._fewest(scores, 2, np.ones(4)) == 1
    scores[2][1] = -0.1
    assert _em._fewest(scores, 2, np.ones(4)) == 2
    scores[1][0] = [0.0, 4.1, 0.0, 0.0]  # within a standard error of the best
    assert _em._fewest(scores, 2, np.ones(4)) == 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_choice_with_hardly_any_rows(n):
    X = np.arange(2 * n).reshape(n, 2) % 2
    assert_array_equal(ClassMixture().fit(X, np.arange(n) % 2).n_components_, [1] * min(n, 2))


def fine_kinds(n=900, seed=0, missing=0.0):
    """Two kinds in each class, told by which of two numbers are large together; 20 bins."""
    rng = np.random.default_rng(seed)
    y, kind = rng.integers(0, 2, (2, n))
    place = np.column_stack([kind, kind ^ y, y * 0 + 1])
    X = np.clip(np.rint(rng.normal(6 + 8 * place, 2.5)), 0, 19)
    return np.where(rng.random(X.shape) < missing, -1, X).astype(np.int8), y


@pytest.mark.parametrize("density, n_bags", [("normal", 1), ("rank", 2), ("auto", 1)])
def test_conformance_over_fine_bins(density, n_bags):
    X, y = fine_kinds(80)
    check_observation_model(ClassMixture(2, n_bags=n_bags, density=density), X, y)


def test_a_row_counts_in_every_bag_over_fine_bins(monkeypatch):
    from seqclass.bn import mixture

    X, y = fine_kinds(missing=0.2)
    seen, scales = [], mixture.Scales

    class Seen(scales):
        def tables(self, counts):
            seen.append(counts.sum())
            return super().tables(counts)

    monkeypatch.setattr(mixture, "Scales", Seen)
    ClassMixture(2, n_bags=3, density="normal").fit(X, y)
    assert sum(seen) == pytest.approx(3 * (X >= 0).sum())


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_densities_of_components_over_fine_bins(kind):
    X, y = fine_kinds(missing=0.1)
    new, label = fine_kinds(3000, seed=1)
    models = {density: ClassMixture(2, density=density).fit(kind(X), y) for density in ("tables", "normal", "auto")}
    told = {name: np.log(model.posterior(new)[np.arange(len(label)), label]).mean() for name, model in models.items()}
    assert told["normal"] > told["tables"]
    assert told["auto"] > told["tables"]
    normal = models["normal"]
    assert normal.densities_ == ["normal"] * 3
    assert_allclose(normal.tables_.sum(axis=1), 1)
    assert (normal.tables_ > 0).all()
    centre = (np.arange(20)[:, None] * normal.tables_[0]).sum(axis=0)
    assert_allclose(np.sort(centre), [6, 6, 14, 14], atol=0.6)


def test_few_outcomes_have_tables_whatever_the_density():
    X, y, sizes = random_data(3)
    one, other = (ClassMixture(2, density=d).fit(X, y, n_outcomes=sizes) for d in ("tables", "auto"))
    assert one.densities_ == ["tables"] * 6
    assert_array_equal(one.weights_, other.weights_)
    few = sizes < 4
    assert [name for name, small in zip(other.densities_, few) if small] == ["tables"] * int(few.sum())
    X, sizes = np.random.default_rng(0).integers(0, [3, 4], (len(y), 2)), [3, 4]
    assert ClassMixture(1, density="normal").fit(X, y, n_outcomes=sizes).densities_ == ["tables", "normal"]
    with pytest.raises(ValueError, match="density must be one of"):
        ClassMixture(2, density="gauss").fit(X, y)


def test_folds_are_stratified_and_leave_each_class_in_training():
    codes = np.repeat([0, 1, 2, 3], [40, 11, 2, 1])
    folds = _em.stratified_folds(codes, 4, 5, np.random.default_rng(0))
    assert folds[-1] == -1
    sizes = np.bincount(folds[:-1], minlength=5)
    assert sizes.max() - sizes.min() <= 1
    for c in range(3):
        per_fold = np.bincount(folds[codes == c], minlength=5)
        assert per_fold.max() - per_fold.min() <= 1
        assert per_fold.max() < (codes == c).sum()


def test_sizes_side_by_side_have_their_shares():
    X, y, sizes = random_data(3, n=200)
    few = np.flatnonzero(np.bincount(y) > 0)[:2]
    kept = np.concatenate([np.flatnonzero(y == few[0])[:40], np.flatnonzero(y == few[1])[:8]])
    X, y = X[kept], y[kept]
    shares = {8: 2.0, 1: 2.0, 2: 1.0, 4: 3.0}
    model = ClassMixture(shares).fit(X, y, n_outcomes=sizes)
    # 8 rows bear two components: what is asked for beyond them is the same again, and has the shares of all
    assert_array_equal(model.n_components_, [1 + 2 + 4 + 8, 1 + 2])
    assert_array_equal(np.bincount(model.hidden_class_), model.n_components_)
    for c, bounds, total in ((0, [0, 1, 3, 7], [0.25, 0.125, 0.375, 0.25]), (1, [0, 1], [0.25, 0.75])):
        assert_allclose(np.add.reduceat(model.weights_[model.hidden_class_ == c], bounds), total)
    alone = NaiveBayes().fit(X, y, n_outcomes=sizes).likelihood_table()
    assert_allclose(model.tables_[:, :, [0, 15]], alone)
    assert model.candidates_ == {}
    same(model, ClassMixture(shares).fit(X, y, n_outcomes=sizes))
    for wrong, error in (
        ({}, "above 0"),
        ({1: 0.0}, "above 0"),
        ({0: 1.0}, "n_components"),
        ({2: -1.0}, "n_components"),
    ):
        with pytest.raises(ValueError, match=error):
            ClassMixture(wrong).fit(X, y)


@pytest.mark.slow
def test_averaged_sizes_have_the_shares_by_which_held_out_rows_are_most_probable():
    X, y, sizes = random_data(3, n=90)
    model = ClassMixture("average").fit(X, y, n_outcomes=sizes)
    assert sum(model.shares_.values()) == pytest.approx(1)
    assert min(model.shares_.values()) >= 0.1
    assert set(model.shares_) <= set(model.candidates_)
    check_observation_model(ClassMixture("average"), X, y)
    # of a row each to three sizes the best shares are known: the last explains nothing that the others do not
    logs = {n: np.array([row, row]) for n, row in zip((1, 2, 4), np.log([[3, 1, 1, 1], [1, 2, 2, 2], [1, 1, 1, 1]]))}
    weight = np.array([1.0, 1.0, 1.0, 0.0])
    found = _em._stack(logs, weight)
    assert list(found) == [1, 2]
    apart = {n: np.array([row, row]) for n, row in zip((1, 2), np.log([[1, 1e-9], [1e-9, 1]]))}
    assert _em._stack(apart, np.array([0.85, 0.15])) == pytest.approx({1: 0.85, 2: 0.15})
    assert _em._stack(apart, np.array([0.91, 0.09])) == {1: 1.0}  # a tenth of the rows at least
    best = max(np.linspace(0, 1, 1001), key=lambda p: np.log(1 + 2 * p) + 2 * np.log(2 - p))
    assert found[1] == pytest.approx(best, abs=0.02)


def test_averaged_bags_over_fine_bins():
    X, y = fine_kinds(80)
    check_observation_model(ClassMixture({1: 1, 4: 2}, n_bags=2, density="auto"), X, y)
    model = ClassMixture({1: 1, 4: 2}, n_bags=2, density="auto").fit(X, y)
    # a single component is the same in all bags
    assert_array_equal(model.n_components_, [1 + 4] * 2)
    assert_array_equal(np.bincount(model.hidden_class_), [1 + 2 * 4] * 2)


def test_averaged_over_one_component_says_what_classes_share():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 16, (30, 40)), np.arange(30) % 3
    apart = {}
    for size in (1, "average"):
        model = ClassMixture(size, density="auto").fit(X, y)
        single = model.tables_[:, :, [np.flatnonzero(model.hidden_class_ == c)[0] for c in range(3)]]
        apart[size] = np.abs(single - single.mean(axis=2, keepdims=True)).mean()
    assert apart["average"] < 0.5 * apart[1]


def test_iterations_are_counted_and_no_more_than_may_be() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 6)), rng.integers(0, 2, 300)
    for most in (1, 3, 7):
        assert ClassMixture(3, max_iter=most, random_state=0).fit(X, y).n_iter_.tolist() == [most, most]
