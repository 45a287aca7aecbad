"""Methods: texts, recipes and estimators, made ready for prices and seeds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline

import seqclass
from seqclass import Costs
from seqclass.experiment import Experiment
from seqclass.experiment.methods import build, check_methods, parse_method
from seqclass.pomdp import Perseus

COSTS = {"feature_costs": 0.05}


def test_texts() -> None:
    for name in ("etana", "f_etana", "ifc2f"):
        assert build(parse_method(name), COSTS, 3).get_params()["feature_costs"] == 0.05
    published = build(parse_method(" etana( published = True, n_bins=4) "), COSTS, 3)
    assert repr(published) == repr(seqclass.etana(0.05, published=True, n_bins=4, random_state=3))
    chain = parse_method("sklearn:StandardScaler+SelectKBest(k=2)+LogisticRegression(C=0.5)")
    assert [type(step).__name__ for _, step in chain.steps] == ["StandardScaler", "SelectKBest", "LogisticRegression"]
    assert chain[1].k == 2
    assert chain[2].C == 0.5


@pytest.mark.parametrize(
    "text, message",
    [
        ("etanna", "did you mean 'etana'"),
        ("etana(3)", "cannot be read"),
        ("etana(**{'published': True})", "cannot be read"),
        ("etana(published=open('x'))", "cannot be read"),
        ("__import__('os')", "cannot be read"),
        ("etana +", "cannot be read"),
        ("etana+ifc2f", "there is no method"),
        ("etana(shoes=1)", "shoes"),
        ("etana(feature_costs=1)", "the experiment's to set"),
        ("etana(random_state=1)", "the experiment's to set"),
        ("sklearn:LogisticRegresion", "did you mean 'LogisticRegression'"),
        ("sklearn:LogisticRegression(D=1)", "unexpected keyword"),
        ("sklearn:Ridge", "no classifier"),
    ],
)
def test_wrong_texts(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        parse_method(text)


def test_estimators_get_price_and_seed_in_all_their_parts() -> None:
    method = seqclass.SequentialClassifier(solver=Perseus(random_state=9))
    made = build(method, COSTS | {"groups": ["a", "a"]}, 3)
    assert made.feature_costs.non_default_params() == {"feature_costs": 0.05, "groups": ["a", "a"]}
    assert (made.random_state, made.solver.random_state) == (3, 3)
    assert (method.feature_costs, method.solver.random_state) == (0.01, 9)
    plain = make_pipeline(SelectFromModel(RandomForestClassifier()), RandomForestClassifier())
    made = build(plain, COSTS, 3)
    assert [step.random_state for step in (made[0].estimator, made[1])] == [3, 3]

    class Own(RandomForestClassifier):  # type: ignore[misc]
        def __init__(self, feature_costs: Any = None) -> None:
            self.feature_costs = feature_costs

    assert build(make_pipeline(Own()), COSTS, 3)[0].feature_costs == 0.05


def test_callables_get_all_costs() -> None:
    def own(feature_costs: Any, random_state: int) -> Any:
        return seqclass.etana(feature_costs, random_state=random_state)

    made = build(own, COSTS | {"decision_costs": [[0, 2], [1, 0]]}, 3)
    assert made.feature_costs.non_default_params() == {"feature_costs": 0.05, "decision_costs": [[0, 2], [1, 0]]}
    assert (build(own, COSTS, 3).feature_costs, made.random_state) == (0.05, 3)


def test_costs_of_an_estimator_that_the_experiment_does_not_say_stay() -> None:
    method = seqclass.etana(Costs(0.3, decision_costs=[[0, 2], [1, 0]], charge_missing=True))
    made = build(make_pipeline(SelectFromModel(RandomForestClassifier()), method), COSTS | {"groups": ["a", "a"]}, 3)
    said = {"feature_costs": 0.05, "groups": ["a", "a"], "decision_costs": [[0, 2], [1, 0]], "charge_missing": True}
    assert made[-1].feature_costs.non_default_params() == said
    assert method.feature_costs.feature_costs == 0.3
    assert build(partial(seqclass.etana, published=True), COSTS, 3).order == "error"


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="has no name"):
        check_methods([seqclass.etana])
    with pytest.raises(ValueError, match="given twice"):
        check_methods(["etana", "etana"])
    with pytest.raises(ValueError, match="at least one"):
        check_methods([])
    for wrong in (3, seqclass.SequentialClassifier):
        with pytest.raises(TypeError, match="'x' must be an estimator"):
            check_methods({"x": wrong})
    assert list(check_methods("etana")) == ["etana"]


def test_recipes_that_do_not_fit_are_named_before_anything_is_computed(tmp_path: Path) -> None:
    for recipe, told in (
        (lambda: seqclass.etana(), "methods: 'mine': a recipe is called with feature_costs, random_state"),
        (lambda **settings: 3, "methods: 'mine': a recipe must return an unfitted estimator, this one returned 3"),
    ):
        with pytest.raises(TypeError, match=told):
            Experiment(["iris"], {"mine": recipe}).run(tmp_path / "a.run")
    assert not (tmp_path / "a.run").exists()
