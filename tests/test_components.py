"""Hidden components of the classes, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seqclass import Costs, SequentialClassifier
from seqclass.agent.explanation import Explanation
from seqclass.analysis import describe_components
from seqclass.bn import ClassMixture, ObservationModel
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation, FirstK, Lookahead

QUICK = Adaptive([ClassInformation()], max_rounds=0, n_cases=100, n_paths=100, certificate_paths=0)


def kinds(n: int, seed: int = 0) -> tuple[Any, Any]:
    """The ill show "ab" or "cd", the well neither; the first column says which pair to look at."""
    rng = np.random.default_rng(seed)
    y, kind = rng.integers(0, 2, n), rng.integers(0, 2, n)
    X = (rng.random((n, 5)) < 0.1).astype(int)
    for column in range(4):
        shows = (y == 1) & (kind == column // 2)
        X[shows, column] = rng.random(shows.sum()) < 0.9
    X[:, 4] = kind
    return X, np.array(["well", "ill"])[y]


def classifier(**more: Any) -> SequentialClassifier:
    given = {"discretizer": "precomputed", "order": "adaptive", "solver": QUICK, "feature_costs": 0.01}
    return SequentialClassifier(ClassMixture(2), **(given | more)).fit(*kinds(800))


@pytest.fixture(scope="module")
def clf() -> SequentialClassifier:
    return classifier()


def test_components_are_told_by_what_is_typical_of_them(clf: SequentialClassifier) -> None:
    found = describe_components(clf, n_traits=2, feature_names=list("abcde"))
    assert [(c.label, c.number, c.n_components) for c in found] == [
        ("ill", 1, 2),
        ("ill", 2, 2),
        ("well", 1, 2),
        ("well", 2, 2),
    ]
    assert {frozenset(t.name for t in c.traits) for c in found[:2]} == {frozenset("ab"), frozenset("cd")}
    model = clf.model_
    for component in found[:2]:
        assert component.share == pytest.approx(0.5, abs=0.1)
        for trait in component.traits:
            assert trait.label == "1"
            assert trait.share > 0.75 > 0.5 > trait.share_of_all
            assert trait.column == "abcde".index(trait.name)
            overall = model.tables_[trait.column, 1] @ (model.class_prior_[model.hidden_class_] * model.weights_)
            assert trait.share_of_all == pytest.approx(overall)
    assert str(found[0]).startswith("ill, kind 1 of 2 (")
    assert describe_components(clf, n_traits=0)[0].traits == ()


def test_an_explanation_says_which_one_the_case_is_most_like(clf: SequentialClassifier) -> None:
    X = kinds(60, 1)[0]
    for row, told in zip(X, clf.explain(X)):
        likely = clf.model_.class_prior_[clf.model_.hidden_class_] * clf.model_.weights_
        for step in told.steps:
            likely = likely * clf.model_.tables_[step.column, row[step.column]]
        assert told.likeness is not None
        assert told.likeness.probability == pytest.approx((likely / likely.sum()).max())
        assert told.likeness.component.label == clf.classes_[clf.model_.hidden_class_[likely.argmax()]]
        likely_enough = told.likeness.probability >= 0.5
        assert (f"\nMost like {told.likeness.component.name} (" in str(told)) == likely_enough
        assert str(Explanation.from_dict(told.to_dict())) == str(told)


def test_bundles_and_missing_answers_count_as_what_they_show() -> None:
    bundled = classifier(feature_costs=Costs(bundles=["one", "one", "two", "two", None]))
    X = kinds(1, 2)[0].astype(float)
    X[0] = [1, np.nan, 0, 0, 0]
    [told] = bundled.explain(X)
    model, asked = bundled.model_, [step.name for step in told.steps]
    likely = model.class_prior_[model.hidden_class_] * model.weights_
    for name, columns in (("one", [0]), ("two", [2, 3]), ("x4", [4])):
        for column in columns if name in asked else ():
            likely = likely * model.tables_[column, int(X[0, column])]
    assert "one" in asked
    assert told.likeness is not None
    assert told.likeness.probability == pytest.approx((likely / likely.sum()).max())


class Own(ObservationModel):
    """A model with hidden states that passes on what was seen, and tells of its kinds."""

    def _fit(self, X: Any, codes: Any, sample_weight: Any) -> None:
        self.true_ = ClassMixture(2).fit(X, codes, n_outcomes=self.n_outcomes_)

    def _likelihood(self, feature: int, evidence: Any) -> Any:
        return self.true_._likelihood(feature, evidence)

    def latent_tables(self, features: Any) -> Any:
        return self.true_.latent_tables(features)

    def _kinds(self) -> Any:
        return self.true_._kinds()


@pytest.mark.parametrize("order", ["given", "adaptive"])
def test_hidden_states_of_a_model_of_ones_own(order: str) -> None:
    """What it passes on is its own matter: in a fixed order it was handed P(hidden state) of what was known before."""
    X, y = kinds(200)
    settings: dict[str, Any] = {"discretizer": "precomputed", "order": order, "known": [0], "solver": Lookahead()}
    own, ours = (SequentialClassifier(m, **settings).fit(X, y) for m in (Own(), ClassMixture(2)))
    np.testing.assert_array_equal(own.acquire(X[:20]).decision, ours.acquire(X[:20]).decision)
    assert list(map(str, own.explain(X[:5]))) == list(map(str, ours.explain(X[:5])))
    assert list(map(str, describe_components(own))) == list(map(str, describe_components(ours)))
    cases = [clf.session(known={"x0": int(X[0, 0])}) for clf in (own, ours)]
    for case in cases:
        case.observe("x3", int(X[0, 3]))  # before its turn
    np.testing.assert_allclose(cases[0].posterior, cases[1].posterior)
    assert str(cases[0].next_feature) == str(cases[1].next_feature)


def test_without_components_nothing_is_said() -> None:
    X, y = kinds(200)
    for model in (None, ClassMixture(1)):
        other = SequentialClassifier(model, discretizer="precomputed").fit(X, y)
        [told] = other.explain(X[:1])
        assert told.likeness is None
        assert "Most like" not in str(told)
    with pytest.raises(ValueError, match=r"describe_components needs kinds .* model_, a NaiveBayes, has none"):
        describe_components(SequentialClassifier(discretizer="precomputed").fit(X, y))


def test_nothing_is_typical_of_a_constant_column() -> None:
    """By rounding it was an outcome that the column has not, and an explanation failed."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([np.ones(200), rng.normal(size=(200, 2)) + y[:, None]])
    solver = FirstK(2, certificate_paths=0)
    clf = SequentialClassifier(ClassMixture(2, random_state=0), solver, discretizer=Discretizer(4), order="given")
    clf.fit(X, y)
    for component in describe_components(clf, n_traits=3):
        assert {trait.column for trait in component.traits} == {1, 2}
    assert clf.explain(X[:1])[0].likeness is not None
