"""The sequential classifier: where discretiser, observation model, order and solver meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.model_files import save
from seqclass._utils.validation import check_choice, check_flag, check_part
from seqclass.bn import NaiveBayes, ObservationModel
from seqclass.costs import resolve_decisions, resolve_prices, warn_of_money
from seqclass.deciding._acquiring import Acquiring
from seqclass.deciding._coding import OutcomeCoder, category_counts, check_training
from seqclass.deciding._explaining import explain
from seqclass.deciding._seen_rows import seen_by
from seqclass.deciding.explanation import Explanation
from seqclass.deciding.session import Session
from seqclass.fitting._chunked import Growing
from seqclass.fitting._cross_fit import check_folds, hold_out
from seqclass.fitting._doubts import warn_of_doubts
from seqclass.fitting._planning import Planning
from seqclass.fitting._steps import filter_features, fit_model, prefitted, timed, weighted
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import Solver

#: Parts that a classifier is put together from: what may stand there, and what it has to do.
_PARTS = {
    "observation_model": ("a model such as seqclass.bn.NaiveBayes()", ("fit", "likelihood")),
    "solver": ("a solver such as seqclass.pomdp.Lookahead()", ("solve",)),
    "selector": ("a selector such as seqclass.selection.FCBF()", ("fit", "get_support")),
    "discretizer": ("a transformer such as seqclass.discretize.Discretizer()", ("fit", "transform")),
}


class SequentialClassifier(Acquiring, Planning, Growing, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifies each instance with the few features that pay for themselves.

    For each instance features are bought one at a time, in a fixed order; the class posterior is kept as a belief, and
    the classifier stops and decides as soon as the next feature is expected to save less than it costs. The stopping
    rule is the solution of a POMDP whose hidden state is the class, with a certified distance from the optimum.

    Parameters
    ----------
    observation_model : ObservationModel or None
        Model of what features show given the class; None: `seqclass.bn.NaiveBayes`.
    solver : Solver or None
        Method that finds the stopping rule; None: `GridValueIteration` for two or three classes, `Perseus` beyond,
        two steps of look-ahead for a model without tables, `seqclass.pomdp.Adaptive` with
        ``order="adaptive"``.
    discretizer : transformer, "precomputed" or None
        Transformer to non-negative integers. None cuts every numeric column into bins, as
        ``seqclass.discretize.Discretizer()`` does; ``"precomputed"``: ``X`` holds outcomes already. Categorical columns
        of a data frame need none.
    selector : feature selector or None
        Selector (``fit``, ``get_support``) that sees the discretised features; only those it keeps are modelled.
    order : str or array-like
        ``"conditional"``, ``"information"``, ``"error"`` (ETANA's), ``"variance"``, ``"given"``, or the columns to ask
        for, first one first, as numbers or names. ``"adaptive"``: what is asked next depends on what was seen, unless a
        fixed order costs less on the training rows.
    feature_costs : float, array-like of shape (n_features,) or dict
        Price of each feature in units of misclassification cost: one for all, one each, or by feature name.
    decision_costs : array-like of shape (n_classes, n_decisions) or None
        Cost of each decision (column) when each class (row, in sorted order) is true. None: 1 for a wrong class.
    decisions : sequence or None
        Labels of the decisions beyond the classes, such as ``["refer"]``: the further columns of ``decision_costs``.
    groups : array-like of shape (n_features,), dict or None
        Group label of features that are cheaper together; None for none.
    discounted_costs : float, array-like, dict or None
        Price of a feature once another of its group has been acquired.
    bundles : array-like of shape (n_features,), dict or None
        Bundle label of features that are bought and seen at once, for the price of one, such as the values of one blood
        test; None for none. Prices and groups given by name may name the bundle.
    charge_missing : bool
        Whether a feature that is asked for and missing is paid for all the same.
    target_cost : float or None
        Prices to pay per instance on average. The prices then say how features compare, and the stopping rule is that
        of least decision cost for this mean budget; see `seqclass.pomdp.solve_for_budget`.
    max_features : int or None
        Most features asked for, of any instance, missing ones included.
    max_cost : float or None
        Most paid for any instance: the order ends before the feature that could exceed it.
    handle_unknown : {"error", "missing"}
        What to do about a category that training did not show: refuse the data, or take the cell as missing.
    random_state : int, generator or None
        Seed of the default model and solver, and of the lots that ``target_cost`` may need.
    prefit : bool
        Whether ``observation_model`` is fitted already and stays as it is, such as a network that was drawn by hand.
        Otherwise a clone of it learns from the training data.
    calibrate : bool
        Whether to flatten what answers say as far as rows held out ask for, the k-th answer by an exponent of its own;
        see `Calibration`. Everything is fitted some ten times more, up to forty times where rows are few.
    max_open : int or None
        With ``order="adaptive"``, how many features or bundles may be asked for at all: those that tell most before
        anything is known. Each is scored again after every answer, so time grows with them. None: all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    decisions_ : ndarray of shape (n_decisions,)
        Labels of the decisions: the classes, then ``decisions``.
    model_ : ObservationModel
        The fitted model, over the selected features.
    problem_ : AcquisitionProblem
        The staged problem.
    policy_ : Policy
        The stopping rule; ``policy_.info`` has its status and certificate.
    order_ : ndarray of int
        Columns of ``X`` in the order they would be asked for, as far as the policy's horizon.
    ordering_ : OrderingChoice or None
        With ``order="adaptive"``: the orders that were tried, what each cost, and which was chosen.
    support_ : ndarray of int
        Columns of ``X`` that the selector kept: those of the features of `model_` and `problem_`.
    coder_ : OutcomeCoder
        Turns columns into outcomes.
    calibration_ : Calibration
        How far answers are trusted; only with ``calibrate``.
    held_out_ : HeldOut
        What the classifier costs on rows that it has not seen; only after ``fit(X, y, held_out=k)``.
    target_name_ : str or None
        Name of the labels, where ``y`` was a pandas Series that has one.
    timings_ : dict
        Seconds of each step of `fit`: ``"discretize"``, ``"filter"`` (the selector), ``"structure"`` (0 for a model
        that has none to learn), ``"parameters"``, ``"order"``, ``"solve"``, ``"certify"`` and, if any, ``"held_out"``;
        of `fit_chunks` also the passes ``"count"`` and ``"mark"``, which marks rows to know them again.
    n_features_in_, feature_names_in_
        Number of columns of ``X``, and their names where they have any.

    See Also
    --------
    seqclass.etana, seqclass.ifc2f : The recipes of the ETANA and IFC2F papers.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SequentialClassifier(feature_costs=0.01).fit(X, y)
    >>> record = clf.acquire(X)
    >>> bool(record.n_features.mean() < 6), clf.score(X, y) > 0.9
    (True, True)
    """

    #: Settings that came after version 0.1, and what leaves all as it was.
    _later_settings: ClassVar[dict[str, Any]] = {
        "bundles": None,
        "handle_unknown": "error",
        "prefit": False,
        "calibrate": False,
        "max_open": 200,
    }

    def __init__(
        self,
        observation_model: ObservationModel | None = None,
        solver: Solver | None = None,
        *,
        discretizer: Any = None,
        selector: Any = None,
        order: Any = "conditional",
        feature_costs: Any = 0.01,
        decision_costs: Any = None,
        decisions: Sequence[Any] | None = None,
        groups: Any = None,
        discounted_costs: Any = None,
        bundles: Any = None,
        charge_missing: bool = False,
        target_cost: float | None = None,
        max_features: int | None = None,
        max_cost: float | None = None,
        handle_unknown: str = "error",
        random_state: Any = 0,
        prefit: bool = False,
        calibrate: bool = False,
        max_open: int | None = 200,
    ) -> None:
        self.observation_model = observation_model
        self.solver = solver
        self.discretizer = discretizer
        self.selector = selector
        self.order = order
        self.feature_costs = feature_costs
        self.decision_costs = decision_costs
        self.decisions = decisions
        self.groups = groups
        self.discounted_costs = discounted_costs
        self.bundles = bundles
        self.charge_missing = charge_missing
        self.target_cost = target_cost
        self.max_features = max_features
        self.max_cost = max_cost
        self.handle_unknown = handle_unknown
        self.random_state = random_state
        self.prefit = prefit
        self.calibrate = calibrate
        self.max_open = max_open

    #: Folds of a cross-fit do without certificates, which their policies do not depend on.
    _certify = True
    held_out_: HeldOut
    #: Rows that `partial_fit` keeps.
    _kept: dict[str, Any]

    def fit(
        self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None, *, held_out: int = 0
    ) -> SequentialClassifier:
        """Learn the model and solve for the stopping rule.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Numbers, NaN where missing; a data frame may have categorical columns.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row in what the model learns: a row of weight 2 counts as two rows, one of weight 0 not at
            all. Bins, the selector, ``order="conditional"`` and what is judged on rows take every other row as one.
        held_out : int
            Folds for `held_out_`, at least 2: all is fitted once more without each fold, which takes as long as so many
            fits. Folds are stratified, and follow from ``random_state``; there are fewer where no class has as many
            rows. 0: leave it out.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        ValueError
            If data, weights, prices, costs or settings are wrong, or the model takes no weights; the message names the
            parameter or column.

        Warns
        -----
        UserWarning
            If deciding at once, with nothing bought, costs less on rows that were held out; or if the data seem to say
            what they hardly mean: texts that look like numbers, categories or classes that differ by case or blanks
            only, a class of one row, a value such as -999 that leaves all others to one bin.

        Notes
        -----
        The logger ``"seqclass"`` tells at level INFO which step begins: bins, model, plan, certificate, fold 2 of 5.
        """
        n_folds = check_folds(held_out)
        self._forget()
        self.target_name_ = named if isinstance(named := getattr(y, "name", None), str) else None
        X, y, weight = weighted(X, y, sample_weight)
        given = (X, y, weight)
        self.timings_: dict[str, float] = {}
        X, y, self.encoder_ = check_training(self, X, y)
        self.classes_ = np.unique(y)
        self.coder_ = OutcomeCoder(self.discretizer, category_counts(self.encoder_))
        self._settle()
        with timed(self.timings_, "discretize"):
            codes = self.coder_.fit_transform(X, y)
        with timed(self.timings_, "filter"):
            self.selector_, self.support_ = filter_features(self.selector, codes, y)
            codes = codes if self.selector_ is None else codes[:, self.support_]
        n_outcomes = self.coder_.n_outcomes_[self.support_]
        if self.prefit:
            if weight is not None:
                raise ValueError("sample_weight: with prefit=True the model learns nothing; leave it out.")
            self.model_ = prefitted(self.observation_model, self.coder_, self.support_, self.classes_, self.timings_)
            self.classes_ = self.model_.classes_
        else:
            self.model_ = fit_model(self._unfitted(), codes, y, n_outcomes, self.timings_, weight)
        if self._certify:
            sizes = np.bincount(np.searchsorted(self.classes_, y), minlength=len(self.classes_))
            names = getattr(self, "feature_names_in_", None)
            warn_of_doubts(self.encoder_, self.coder_, X, self.classes_, sizes, names)
        self._plan(codes, y, given)
        self._seen = seen_by(self, X, y) if self._certify else None
        if n_folds:
            with timed(self.timings_, "held_out"):
                self.held_out_ = hold_out(self, *given, n_folds=n_folds)
        return self

    def explain(self, X: Any, *, feature_names: Any = None) -> list[Explanation]:
        """Tell for each instance what was asked and why, how each answer moved the belief, and why it stopped.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features) or (n_features,)
            Instances in the form of the training data; one alone may be a vector or a pandas Series.
        feature_names : sequence of str of length n_features or mapping of column to str, optional
            What to call the features, such as the words of a bag of words; by default as in training.

        Returns
        -------
        list of Explanation of length n
        """
        return explain(self, X, feature_names)

    def session(
        self,
        saved: str | None = None,
        *,
        key: str | int | None = None,
        known: Mapping[str, Any] | None = None,
        first: Sequence[str] = (),
    ) -> Session:
        """Start a live case: it asks one question at a time, and takes any answer at any time.

        Parameters
        ----------
        saved : str, optional
            What ``to_json`` of an earlier session of this classifier gave: the case goes on from there.
        key : str or int, optional
            Name of the case, from which a randomised policy (``target_cost``) draws its lot; None: at random.
        known : mapping of str to value, optional
            What is known at the start, by feature; it costs nothing. Not beside ``saved``, which has its own.
        first : sequence of str
            Features or bundles to ask in any case, before the policy is asked; not beside ``saved``.

        Returns
        -------
        Session

        Raises
        ------
        ValueError
            If the text is no session of this classifier, a name is no feature, or a value is wrong.
        """
        check_is_fitted(self, "policy_")
        if saved is not None and (known or first):
            raise ValueError("a saved session has its own known= and first=: give either these or saved.")
        session = Session(self, key, known=known, first=first)
        if saved is not None:
            session.restore(saved)
        return session

    def save(self, path: Any) -> None:
        """Write the fitted classifier to one file, whole or not at all; `seqclass.load` reads it.

        Parameters
        ----------
        path : str or path
            Where to write.

        Raises
        ------
        TypeError
            If a part comes from another package; nothing is written then.
        """
        check_is_fitted(self, "policy_")
        save(self, path)

    def feature_name(self, column: int) -> str:
        """Name of a column of ``X``; ``"x3"`` for column 3 where there are no names.

        Parameters
        ----------
        column : int
            Column number.

        Returns
        -------
        str
        """
        names = getattr(self, "feature_names_in_", None)
        return f"x{column}" if names is None else str(names[column])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _forget(self) -> None:
        """Check the settings, and leave out what an earlier fit has found and this one may not."""
        check_choice(self.handle_unknown, "handle_unknown", ("error", "missing"))
        for name in ("calibrate", "charge_missing", "prefit"):
            check_flag(getattr(self, name), name)
        for name, (what, methods) in _PARTS.items():
            part = getattr(self, name)
            if part is not None and not (name == "discretizer" and isinstance(part, str)):
                check_part(part, name, what, methods)
        for name in ("held_out_", "calibration_", "_kept"):
            self.__dict__.pop(name, None)

    def _settle(self) -> None:
        """Work out prices and costs of decisions, once columns and classes are known."""
        names = getattr(self, "feature_names_in_", None)
        self._prices = resolve_prices(
            self.feature_costs, self.n_features_in_, names, self.groups, self.discounted_costs, self.bundles
        )
        self.decision_costs_, self.decisions_ = resolve_decisions(self.decision_costs, self.classes_, self.decisions)
        if self._certify:
            warn_of_money(self._prices.discounted, self.decision_costs_)

    def _unfitted(self) -> ObservationModel:
        """A model to fit, which knows of the columns that are its features."""
        model = NaiveBayes() if self.observation_model is None else clone(self.observation_model)
        names, bundles = getattr(self, "feature_names_in_", None), self._prices.take(self.support_).bundles
        return model._among(self.support_, names, bundles)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # classifiers of 0.1 lack some settings, and call the columns by another name
        state = {"support_" if name == "_support" else name: value for name, value in state.items()}
        super().__setstate__(self._later_settings | state)
