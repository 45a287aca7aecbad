"""Methods: what an experiment compares, made ready for a price and a seed."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.frames import is_frame
from seqclass._utils.text import near
from seqclass.adaptive_classifier import adaptive
from seqclass.costs import Costs
from seqclass.datasets import Dataset
from seqclass.recipes import etana, f_etana, ifc2f

#: Recipes by their names.
RECIPES: dict[str, Callable[..., Any]] = {"adaptive": adaptive, "etana": etana, "f_etana": f_etana, "ifc2f": ifc2f}
_SKLEARN = "sklearn:"
_COSTS = ("feature_costs", "discounted_costs", "groups", "decision_costs", "decisions")


def parse_method(text: str) -> Any:
    """Return the method that a text names."""
    expression = text.strip().removeprefix(_SKLEARN)
    try:
        calls = [_call(node) for node in _operands(ast.parse(expression, mode="eval").body)]
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"method {text!r} cannot be read; write a name, and its settings as in etana(published=True)."
        ) from error
    if text.strip().startswith(_SKLEARN):
        return _from_sklearn(text, calls)
    if len(calls) != 1 or calls[0][0] not in RECIPES:
        hint = near(calls[0][0], [*RECIPES, _SKLEARN + "CLASS"], "there are")
        raise ValueError(f"there is no method {text!r}: {hint}")
    [(name, settings)] = calls
    for setting in ("feature_costs", "random_state"):
        if setting in settings:
            raise ValueError(f"{name}: {setting} is the experiment's to set, by its prices and seeds.")
    try:
        RECIPES[name](**settings)
    except TypeError as error:
        raise ValueError(f"{name}: {error}.") from error
    return partial(RECIPES[name], **settings)


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_operands(node.left), *_operands(node.right)]
    return [node]


def _call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    """Name and settings of ``name`` or ``name(setting=value, ...)``; nothing is evaluated."""
    if isinstance(node, ast.Name):
        return node.id, {}
    named = isinstance(node, ast.Call) and not node.args and all(k.arg for k in node.keywords)
    if named and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id, {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
    raise ValueError("neither a name nor a call with settings")


def _from_sklearn(text: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> Any:
    known = dict(all_estimators())
    steps = []
    for name, settings in calls:
        if name not in known:
            raise ValueError(f"method {text!r}: scikit-learn has no {name!r}; {near(name, list(known), 'it has')}")
        try:
            steps.append(known[name](**settings))
        except TypeError as error:
            raise ValueError(f"method {text!r}: {error}.") from error
    method = steps[0] if len(steps) == 1 else make_pipeline(*steps)
    if not is_classifier(method):
        raise ValueError(f"method {text!r} is no classifier.")
    return method


def check_methods(methods: Any) -> dict[str, Any]:
    """Methods by name: texts are parsed, and name themselves."""
    if isinstance(methods, str):
        methods = [methods]
    if not isinstance(methods, Mapping):
        methods = list(methods)
        for method in methods:
            if not isinstance(method, str):
                raise TypeError(f"methods: {method!r} has no name; pass a dict of names and methods.")
        if len(set(methods)) < len(methods):
            raise ValueError("methods: the same name is given twice; each method needs its own.")
        methods = {name: name for name in methods}
    if not methods:
        raise ValueError("methods must name at least one method.")
    by_name = {str(name): parse_method(m) if isinstance(m, str) else m for name, m in methods.items()}
    for name, method in by_name.items():
        if isinstance(method, type) or not (callable(method) or hasattr(method, "get_params")):
            raise TypeError(
                f"methods: {name!r} must be an estimator, or a recipe or other callable that gives one, got {method!r}."
            )
    return by_name


def build(method: Any, costs: Mapping[str, Any], seed: int) -> Any:
    """Make an unfitted estimator of a method.

    A callable gets the costs and the seed as keywords. An estimator is cloned; those of its parameters, also of its
    parts, that are called like a cost or ``random_state`` are set.
    """
    if not hasattr(method, "get_params"):
        feature_costs = costs["feature_costs"] if len(costs) == 1 else Costs(**costs)
        return _call_recipe(method, {"feature_costs": feature_costs, "random_state": seed})
    estimator = clone(method)
    wanted = dict(costs) | {"random_state": seed}
    parts = {"": estimator} | estimator.get_params(deep=True)
    chosen = {}
    for name, value in parts.items():
        owner, _, last = name.rpartition("__")
        if last == "feature_costs" and isinstance(parts[owner], BaseSequentialClassifier):
            # what the experiment does not say of costs stays as it is
            chosen[name] = Costs(**(Costs.from_value(value).non_default_params() | dict(costs)))
        elif last in wanted and not isinstance(parts[owner], Costs) and (last == "random_state" or last in _COSTS):
            chosen[name] = wanted[last]
    return estimator.set_params(**chosen)


def plan_for(method: Any, data: Dataset, known: Sequence[str], budget: int | None) -> Any:
    """A method that plans for cases of which these columns are known, if it can, and for a budget of questions."""
    planned = bool(known) and isinstance(method, BaseSequentialClassifier)
    if planned:
        names = data.names()
        own = list(known) if is_frame(data.X) else [names.index(name) for name in known]
        method = clone(method, safe=False).set_params(known=own)
    # one that cannot plan asks for what is known, too
    return method if budget is None else _limit_questions(method, budget + (0 if planned else len(known)))


def _limit_questions(method: Any, most: int) -> Any:
    """A copy of a method whose sequential classifiers plan for so many questions at most."""
    method = clone(method, safe=False)
    for part in [method, *method.get_params(deep=True).values()]:
        if isinstance(part, BaseSequentialClassifier):
            part.set_params(max_features=most)
    return method


def _call_recipe(recipe: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
    """Estimator that a recipe gives."""
    try:
        inspect.signature(recipe).bind(**settings)
    except TypeError as error:
        raise TypeError(f"a recipe is called with {', '.join(settings)}, and this one cannot be: {error}.") from error
    except ValueError:  # a callable that does not tell its signature
        pass
    estimator = recipe(**settings)
    if not hasattr(estimator, "fit"):
        raise TypeError(f"a recipe must return an unfitted estimator, this one returned {estimator!r}.")
    return estimator
