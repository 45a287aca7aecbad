"""Published methods as recipes: a few lines over the same parts."""

from __future__ import annotations

from typing import Any

from seqclass._validation import check_choice
from seqclass.bn import NaiveBayes
from seqclass.classifier import SequentialClassifier
from seqclass.discretize import Discretizer
from seqclass.pomdp import GridValueIteration, LinearThresholdSPSA, Solver


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
    feature_costs : float, array-like of shape (n_features,) or dict
        Price of each feature in units of misclassification cost.
    solver : Solver, optional
        By default a grid for two or three classes and Perseus beyond.
    published : bool
        The paper's own settings where this call names no other: as many equal-width bins as classes, features in the
        order of their type I and II errors, and a nearest-point grid of 10 levels. By default ours, which do
        better: bins by the number of rows, a redundancy-aware order, and an interpolated grid.
        The authors' own code differs from the paper: 3 bins, ``order="variance"`` and a uniform prior.
    random_state : int, generator or None
        Seed of the solver and its certificate.
    n_bins : int, array-like or {"auto", "n_classes"}, optional
        Outcomes of a feature; see `seqclass.discretize.Discretizer`.
    strategy : {"uniform", "quantile"}, optional
        How bins are cut; by default ``"uniform"``.
    order : str or array-like, optional
        See `SequentialClassifier`.
    temperature : float, "fit" or None
        Tempers over-confident likelihoods; see `seqclass.bn.NaiveBayes`.
    **settings
        Further settings of `SequentialClassifier`, such as ``decision_costs``.

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
    if settings.get("discretizer") is not None and (n_bins is not None or strategy is not None):
        raise ValueError("n_bins and strategy belong to our discretizer; with another one leave them out.")
    if settings.get("observation_model") is not None and temperature is not None:
        raise ValueError("temperature belongs to our observation_model; with another one leave it out.")
    strategy = "uniform" if strategy is None else check_choice(strategy, "strategy", ("uniform", "quantile"))
    if published:
        n_bins = "n_classes" if n_bins is None else n_bins
        order = "error" if order is None else order
        solver = (
            GridValueIteration(10, interpolation="nearest", random_state=random_state) if solver is None else solver
        )
    settings.setdefault("observation_model", NaiveBayes(temperature=temperature, random_state=random_state))
    settings.setdefault("discretizer", Discretizer("auto" if n_bins is None else n_bins, strategy=strategy))
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
    feature_costs : float, array-like of shape (n_features,) or dict
        Price of each feature in units of misclassification cost.
    published : bool
        The paper's own settings where this call names no other: bins and order as in `etana`, and each decision's
        thresholds learned alone, by eq. (16) and steps within the paper's ranges. The optimum of eq. (16) is to buy
        nothing. By default all thresholds are learned together, by the true cost.
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
