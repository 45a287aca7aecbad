"""Published methods as recipes: each sets up the same parts in a few lines."""

from __future__ import annotations

from typing import Any

from seqclass._utils.validation import check_choice, check_settings
from seqclass.bn import InformationFilter, NaiveBayes, TreeNetwork
from seqclass.classifier import SequentialClassifier
from seqclass.discretize import Discretizer
from seqclass.discretize._edges import STRATEGIES
from seqclass.pomdp import GridValueIteration, LinearThresholdSPSA, Perseus, Solver

__all__ = ["etana", "f_etana", "ifc2f"]
__dir__ = __all__.copy  # tab completion

#: Settings of `ifc2f`: ours, and the paper's.
_IFC2F: dict[str, Any] = {
    "n_bins": 4,
    "strategy": "uniform",
    "zero_bin": "auto",
    "min_features": 300,
    "false_discovery_rate": 0.1,
    "smoothing": 10.0,
    "conditioning": "auto",
    "order": "conditional",
}
_IFC2F_PUBLISHED: dict[str, Any] = {
    "n_bins": "sparsity",
    "strategy": "uniform",
    "zero_bin": False,
    "min_features": 1,
    "false_discovery_rate": None,
    "smoothing": "laplace",
    "conditioning": "ancestor",
    "order": "blanket_only",
}


def etana(
    feature_costs: Any = 0.01,
    solver: Solver | None = None,
    published: bool = False,
    random_state: Any = 0,
    *,
    n_bins: Any = None,
    strategy: str | None = None,
    order: Any = None,
    temperature: Any = None,
    **settings: Any,
) -> SequentialClassifier:
    """ETANA: naive Bayes, and the optimal stopping rule on the class posterior.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost; see `SequentialClassifier`.
    solver : Solver, optional
        By default a grid for two or three classes, and Perseus for more.
    published : bool
        Whether to use the paper's own settings, unless this call gives others: as many equal-width bins as classes,
        features in the order of their type I and II errors, and a nearest-point grid of 10 levels. The default settings
        are ours, which do better: bins that depend on the number of rows, an order that avoids redundancy, and an
        interpolated grid. The authors' own code differs from the paper: it has 3 bins, ``order="variance"`` and a
        uniform prior.
    random_state : int, generator or None
        Seed of the solver and its certificate.
    n_bins : int, array-like or {"auto", "n_classes"}, optional
        Number of outcomes of a feature; see `seqclass.discretize.Discretizer`.
    strategy : {"uniform", "quantile", "auto", "mdlp"}, optional
        How bins are cut; by default ``"uniform"``.
    order : str or array-like, optional
        See `SequentialClassifier`.
    temperature : float, "fit" or None
        Tempers over-confident likelihoods; see `seqclass.bn.NaiveBayes`. ``"fit"`` is another name for
        ``calibrate=True``, which tempers the k-th answer as held-out rows suggest.
    **settings
        Further settings of `SequentialClassifier`, such as ``max_features``.

    Returns
    -------
    SequentialClassifier
        Not fitted yet.

    Raises
    ------
    TypeError
        If a setting is unknown.
    ValueError
        If ``n_bins`` or ``strategy`` comes with a ``discretizer``, or ``temperature`` with an ``observation_model``.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification",
       sections 3 and 5.

    Examples
    --------
    >>> import seqclass
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = seqclass.etana(feature_costs=0.01).fit(X[::2], y[::2])
    >>> record = clf.acquire(X[1::2])
    >>> bool((record.decision == y[1::2]).mean() > 0.9), bool(record.n_features.mean() < 6)
    (True, True)
    """
    check_settings(settings, etana, SequentialClassifier)
    _refuse_clash(settings, "discretizer", n_bins=n_bins, strategy=strategy)
    _refuse_clash(settings, "observation_model", temperature=temperature)
    strategy = "uniform" if strategy is None else check_choice(strategy, "strategy", STRATEGIES)
    if published:
        n_bins = "n_classes" if n_bins is None else n_bins
        order = "error" if order is None else order
        solver = (
            GridValueIteration(10, interpolation="nearest", random_state=random_state) if solver is None else solver
        )
    if isinstance(temperature, str) and temperature == "fit":
        temperature, settings["calibrate"] = None, True
    if settings.get("observation_model") is None:
        settings["observation_model"] = NaiveBayes(temperature=temperature)
    if settings.get("discretizer") is None:
        settings["discretizer"] = Discretizer("auto" if n_bins is None else n_bins, strategy=strategy)
    return SequentialClassifier(
        solver=solver,
        order="conditional" if order is None else order,
        feature_costs=feature_costs,
        random_state=random_state,
        **settings,
    )


def f_etana(
    feature_costs: Any = 0.01, published: bool = False, random_state: Any = 0, **settings: Any
) -> SequentialClassifier:
    """F-ETANA: naive Bayes, and linear stopping thresholds learned on simulated trajectories.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost; see `SequentialClassifier`.
    published : bool
        Whether to use the paper's own settings, unless this call gives others: bins and order as in `etana`, and the
        thresholds of each decision learned by themselves, by eq. (16), with steps within the paper's ranges. What the
        paper leaves open we chose: the constants of the steps, where they start (the regions of one-step look-ahead),
        and 300 steps of 1000 simulated paths each, where the paper allows 100,000 steps of one path. The optimum of eq.
        (16) is to buy nothing, so the result depends on where the descent is when it ends. By default all thresholds
        are learned together, on the true cost.
    random_state : int, generator or None
        Seed of the solver and its certificate.
    **settings
        Settings of `etana`, and of `SequentialClassifier`.

    Returns
    -------
    SequentialClassifier
        Not fitted yet.

    Raises
    ------
    TypeError
        If a setting is unknown.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification",
       section 4.

    Examples
    --------
    >>> import seqclass
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = seqclass.f_etana(feature_costs=0.01).fit(X[::2], y[::2])
    >>> record = clf.acquire(X[1::2])
    >>> bool((record.decision == y[1::2]).mean() > 0.9), bool(record.n_features.mean() < 6)
    (True, True)
    """
    if settings.get("solver") is None:
        decays: dict[str, Any] = {"gain_decay": 1.0, "perturbation_decay": 0.51} if published else {}
        settings["solver"] = LinearThresholdSPSA(published=published, random_state=random_state, **decays)
    return etana(feature_costs, published=published, random_state=random_state, **settings)


def ifc2f(
    feature_costs: Any = 0.01,
    n_bins: Any = None,
    structure: Any = "tree",
    published: bool = False,
    random_state: Any = 0,
    *,
    strategy: str | None = None,
    min_features: int | None = None,
    smoothing: str | float | None = None,
    conditioning: str | None = None,
    order: Any = None,
    solver: Solver | None = None,
    **settings: Any,
) -> SequentialClassifier:
    """IFC2F, for features that depend on one another: a filter, a network over the features that pass, a stopping rule.

    Naive Bayes counts the same evidence twice when two features say the same, becomes too sure of itself and stops too
    early. Here a network, by default a tree, models what a feature adds to those acquired before.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost; see `SequentialClassifier`.
    n_bins : int, array-like or {"auto", "n_classes", "sparsity"}, optional
        Number of outcomes of a feature; see `seqclass.discretize.Discretizer`. By default 4; with ``published`` 4, or
        10 if more than half of the values are zero.
    structure : {"tree", "forest", "line", "random", "clique"} or networkx graph
        See `seqclass.bn.TreeNetwork`. The nodes of a graph are the columns of ``X``, and there is then no filter; if
        you pass a ``selector``, the nodes are the columns it keeps, numbered from 0.
    published : bool
        Whether to use the paper's own settings, unless this call gives others: a filter that ends with the first
        feature that passes, bins as above, the Markov-blanket order until its pool is empty, likelihoods given the
        nearest acquired ancestor, and Perseus on 100 beliefs, which shares vectors across contexts, so that its value
        is not a bound. The default settings are ours: at least 300 features pass, less those that chance explains as
        well; the order avoids redundancy; tables lean on the class where rows are few; likelihoods are given everything
        that was acquired; and the solver's bounds are valid.
    random_state : int, generator or None
        Seed of the solver, its certificate and a random structure.
    strategy : {"uniform", "quantile", "auto", "mdlp"}, optional
        How bins are cut; by default ``"uniform"``.
    min_features : int, optional
        Fewest features that pass the filter. By default 300, as with fewer of them gene data lose features that the
        order would use; with ``published`` 1. See `seqclass.bn.InformationFilter`.
    smoothing, conditioning : optional
        See `seqclass.bn.TreeNetwork`; by default 10 and ``"auto"``, with ``published`` ``"laplace"`` and
        ``"ancestor"``.
    order : str or array-like, optional
        See `SequentialClassifier`. By default ``"conditional"``, which on most data sets does better than
        ``"blanket"``, the paper's Markov-blanket order followed by the other features; with ``published``
        ``"blanket_only"``.
    solver : Solver, optional
        By default a solver that suits the number of classes and contexts.
    **settings
        Further settings of `SequentialClassifier`, such as ``max_features``, or ``selector=None`` for no filter.

    Returns
    -------
    SequentialClassifier
        Not fitted yet.

    Raises
    ------
    TypeError
        If a setting is unknown.
    ValueError
        If a setting of a part, such as ``n_bins``, comes with another part in its place, such as a ``discretizer``.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE Transactions on Artificial Intelligence 2, 2021.

    Examples
    --------
    >>> import seqclass
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = seqclass.ifc2f(feature_costs=0.01).fit(X[::2], y[::2])
    >>> record = clf.acquire(X[1::2])
    >>> bool((record.decision == y[1::2]).mean() > 0.9), bool(record.n_features.mean() < 6)
    (True, True)
    """
    check_settings(settings, ifc2f, SequentialClassifier)
    graph = not isinstance(structure, str)
    named = structure if graph or structure != "tree" else None
    _refuse_clash(settings, "discretizer", n_bins=n_bins, strategy=strategy)
    _refuse_clash(settings, "observation_model", structure=named, smoothing=smoothing, conditioning=conditioning)
    if min_features is not None and (graph or "selector" in settings):
        raise ValueError("min_features belongs to our filter; with another selector, a graph or none, leave it out.")
    default = _IFC2F_PUBLISHED if published else _IFC2F
    given = {"n_bins": n_bins, "strategy": strategy, "min_features": min_features, "order": order}
    given |= {"smoothing": smoothing, "conditioning": conditioning}
    chosen = default | {name: value for name, value in given.items() if value is not None}
    check_choice(chosen["strategy"], "strategy", STRATEGIES)
    if settings.get("discretizer") is None:
        settings["discretizer"] = Discretizer(
            chosen["n_bins"], strategy=chosen["strategy"], zero_bin=chosen["zero_bin"]
        )
    if settings.get("observation_model") is None:
        settings["observation_model"] = TreeNetwork(
            structure,
            smoothing=chosen["smoothing"],
            conditioning=chosen["conditioning"],
            random_state=random_state,
        )
    settings.setdefault("selector", None if graph else _filter(chosen))
    if solver is None and published:
        solver = Perseus.from_paper(random_state)
    return SequentialClassifier(
        solver=solver, order=chosen["order"], feature_costs=feature_costs, random_state=random_state, **settings
    )


def _filter(chosen: dict[str, Any]) -> InformationFilter:
    return InformationFilter(min_features=chosen["min_features"], false_discovery_rate=chosen["false_discovery_rate"])


def _refuse_clash(settings: dict[str, Any], part: str, **given: Any) -> None:
    """Refuse settings of a part of ours beside another part in its place, where they would do nothing."""
    if settings.get(part) is None or all(value is None for value in given.values()):
        return
    *first, last = given
    if first:
        names = f"{', '.join(first)} and {last} belong"
    else:
        names = f"{last} belongs"
    raise ValueError(f"{names} to our {part}; with another one leave {'them' if first else 'it'} out.")
