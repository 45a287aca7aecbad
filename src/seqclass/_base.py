"""The methods that all classifiers share: a scikit-learn shell around the record that decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_consistent_length, column_or_1d

from seqclass._utils.arrays import FloatArray, IntArray, log_or_infinite
from seqclass._utils.frames import is_frame
from seqclass._utils.model_files import Stored, save
from seqclass._utils.stored import is_fitted, require
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_weights, class_numbers, plain_labels
from seqclass.agent._coding import OutcomeCoder
from seqclass.agent._explaining import explain
from seqclass.agent._source import Source
from seqclass.agent.agent import Agent, acquire_rows, agent_of, copy_fitted, encode_rows, feature_name, question_names
from seqclass.agent.calibration import Calibration
from seqclass.agent.explanation import Explanation
from seqclass.agent.provenance import Provenance
from seqclass.agent.record import AcquisitionRecord, EncodedRows
from seqclass.agent.session import Session
from seqclass.bn import ObservationModel
from seqclass.costs import Costs
from seqclass.fitting._chunked import Kept
from seqclass.fitting._fit import Fit, change_costs, with_costs
from seqclass.fitting._planning import with_prior
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import time_step
from seqclass.fitting.choice import Choice
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import AcquisitionProblem, BeliefState, Policy
from seqclass.pomdp.rules import Rules
from seqclass.pomdp.solve_info import OrderingChoice

__all__ = ["BaseSequentialClassifier"]


class _Fitted:
    """An attribute that the record of a fitted classifier has under another name, and nobody before a fit."""

    def __init__(self, name: str, always: bool = True, how: str = "") -> None:
        self.name, self.always, self.how = name, always, how

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute

    def __get__(self, classifier: Any, owner: Any = None) -> Any:
        if classifier is None:
            return self
        agent = vars(classifier).get("agent_")
        value = reduce(lambda part, name: getattr(part, name, None), self.name.split("."), agent)
        if agent is None:
            raise NotFittedError(f"this {type(classifier).__name__} has no {self.attribute} yet: call its fit first.")
        if value is None and not self.always:
            raise AttributeError(f"{type(classifier).__name__!r} object has no attribute {self.attribute!r}{self.how}")
        return value


_agent_attribute: Any = _Fitted


class BaseSequentialClassifier(Stored, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of the classifiers: acquires, decides, opens sessions, explains and saves; subclasses fit.

    Attributes
    ----------
    agent_ : Agent
        Record of everything that was fitted; the other attributes are read from it.
    provenance_ : Provenance
        Where it comes from: the target, number of rows, day, and versions of the fit; a file that was learnt from is
        noted by ``clf.provenance_ = clf.provenance_.with_source(path)``, as the command line does. Files of models
        written before may lack it.

    See Also
    --------
    seqclass.SequentialClassifier, seqclass.adaptive : The classifiers; the attributes are described there.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> clf = SequentialClassifier().fit(*load_iris(return_X_y=True))
    >>> clf.agent_.policy is clf.policy_
    True
    """

    agent_: Agent
    provenance_: Provenance
    held_out_: HeldOut = _agent_attribute("held_out", always=False, how=": it comes of fit(X, y, held_out=5)")
    timings_: dict[str, float]
    selector_: Any
    n_features_in_: int = _agent_attribute("n_features")
    feature_names_in_: npt.NDArray[Any] = _agent_attribute("feature_names", always=False)
    encoder_: Any = _agent_attribute("encoder")
    coder_: OutcomeCoder = _agent_attribute("coder")
    support_: IntArray = _agent_attribute("support")
    model_: ObservationModel = _agent_attribute("model")
    problem_: AcquisitionProblem = _agent_attribute("problem")
    policy_: Policy = _agent_attribute("policy")
    order_: IntArray = _agent_attribute("order")
    ordering_: OrderingChoice | None = _agent_attribute("policy.info.ordering")
    classes_: npt.NDArray[Any] = _agent_attribute("classes")
    decisions_: npt.NDArray[Any] = _agent_attribute("decisions")
    decision_costs_: FloatArray = _agent_attribute("problem.decision_costs")
    target_name_: str | None = _agent_attribute("target_name")
    calibration_: Calibration = _agent_attribute("calibration", always=False, how=": it comes of calibrate=True")
    expected_cost_: float = _agent_attribute("expected_cost")
    #: Whether `fit` holds rows out where nobody says how many.
    _holds_out = False

    def settings(self) -> Settings:
        """The settings of a fit, as a record."""
        raise NotImplementedError

    def _take(self, fit: Fit) -> None:
        """Hold what was fitted, and nothing of an earlier fit."""
        for name in ("held_out_", "kept_"):
            self.__dict__.pop(name, None)
        self.agent_, self.selector_, self.timings_ = fit.agent, fit.selector, fit.timings
        self.provenance_ = Provenance.of_fit(len(fit.agent.classes), fit.n_rows, fit.agent.target_name)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Acquire features and return the decision for each instance.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features), dict or list of dicts
            Every column of the fit is checked, but only what the policy asks for is used. Of a dict by feature what is
            left out is missing. Columns of a data frame go by their names if the classifier was fitted to one: in any
            order, others are passed over, and one that is not there is refused once a row needs it.

        Returns
        -------
        ndarray of shape (n,)
            Labels from ``decisions_``.
        """
        agent = agent_of(self)
        acquired = acquire_rows(agent, X)
        return np.asarray(agent.decisions[acquired.leaf_decision][acquired.leaf])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class posterior of each instance at its stop.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features), dict or list of dicts
            Every column of the fit is checked, but only what the policy asks for is used. Of a dict by feature what is
            left out is missing. Columns of a data frame go by their names if the classifier was fitted to one: in any
            order, others are passed over, and one that is not there is refused once a row needs it.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        acquired = acquire_rows(agent_of(self), X)
        return np.asarray(acquired.leaf_belief[acquired.leaf])

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of the class posterior of each instance at its stop.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            As in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Minus infinity where a class is impossible.
        """
        return log_or_infinite(self.predict_proba(X))

    def score(self, X: Any, y: npt.ArrayLike, sample_weight: Any = None) -> float:
        """Return the (weighted) share of instances whose decision is their label, 1 or "1" alike; "refer" never is."""
        decided, labels = self.predict(X), column_or_1d(plain_labels(y))
        check_consistent_length(decided, labels)
        right = class_numbers(self.decisions_, decided) == class_numbers(self.classes_, labels, other=-1)
        return float(np.average(right, weights=check_weights(sample_weight, len(right))))

    def acquire(
        self,
        X: Any = None,
        *,
        record_beliefs: bool = False,
        known: Sequence[Any] = (),
        budget: int | None = None,
        provider: Callable[[IntArray, Any], Any] | None = None,
        n: int | None = None,
        kept: Any = None,
        tries: int = 3,
        on_error: str = "missing",
        batch_size: int | None = None,
        concurrency: int = 8,
    ) -> AcquisitionRecord:
        """Acquire features and decide, and return a record of both.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features), dict or list of dicts
            Every column of the fit is checked, but only what is known and what the policy asks for is used; see
            `predict`. Not
            together with ``provider``.
        record_beliefs : bool
            Whether to keep the belief after every question.
        known : sequence of int or str
            Columns, as names or numbers, that are known before the first question: they cost nothing, do not count as
            acquired, and are not asked for. A missing cell is not known, unless missing is itself informative
            (``missing="informative"``). For each row this does what ``session(known=...)`` does.
        budget : int, optional
            Hard budget: this many questions are asked about each instance, as long as any are left, whether or not they
            pay for themselves. Where questions may come in any order, a constant column is not asked for, as it tells
            nothing. By default the policy says when to stop. Fit with the same number as ``max_features``, so that the
            policy plans for it.
        provider : callable, optional
            A live source instead of ``X``. ``provider(rows, feature)`` is called when the policy asks for a feature,
            and returns its values for some of the instances: ``rows`` is an ndarray of int, their numbers from 0.
            ``feature`` is a name if the classifier was fitted to names, else a column number. It returns one value per
            row, as ``X`` would hold it, and None or NaN where the value is not available. For a bundle it is called
            once, with the bundle's name, and returns a dict or data frame of values by feature. It may be defined with
            ``async def``.
        n : int, optional
            Number of instances that ``provider`` knows about.
        kept : path or dict, optional
            File (created if there is none) or dict in which the answers of ``provider`` are kept, call by call. A later
            call with it continues from there and asks for none of them again. Instances must have the same numbers, and
            features the same names.
        tries : int
            How often ``provider`` is called at most for the same values if it raises an exception; there is no pause
            between calls.
        on_error : {"missing", "raise"}
            What to do if it raised an exception every time. ``"missing"``: treat the cells as not available and warn;
            they are not kept, so another call with the same ``kept`` asks for them again. ``"raise"``: raise its
            exception.
        batch_size : int, optional
            Number of instances that go from question to question together, and so the most in one call. By default all;
            64 if ``provider`` is asynchronous, where a batch that waits does not hold up the others.
        concurrency : int
            Most calls of an asynchronous ``provider``, and most batches, under way at the same time.

        Returns
        -------
        AcquisitionRecord
            The result with ``provider`` is the same as with an ``X`` that holds its answers, except that a randomised
            policy (``target_cost``) draws by the numbers of the instances.

        Raises
        ------
        ValueError
            If ``X`` is invalid, or ``provider`` returns too few or too many values, or a value that the feature cannot
            have.

        Warns
        -----
        UserWarning
            If ``provider`` could not give the values of some cells.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> clf = SequentialClassifier().fit(X, y)
        >>> record = clf.acquire(X, known=["worst area", "mean texture"])
        >>> bool(record.n_features.mean() < clf.acquire(X).n_features.mean())
        True
        >>> clf.acquire(X, budget=2).n_features.tolist() == [2] * len(X)
        True
        >>> record = clf.acquire(provider=lambda rows, feature: X[feature].iloc[rows], n=len(X))
        >>> bool((record.decision == clf.predict(X)).all())
        True
        """
        agent = agent_of(self)
        names: dict[str, Any] = {"classes": agent.classes.copy(), "names": question_names(agent), "unit": agent.unit}
        if provider is None:
            if X is None:
                raise ValueError("give the instances as X, or a live source as provider and n.")
            if (n, kept, tries, on_error, batch_size, concurrency) != (None, None, 3, "missing", None, 8):
                raise ValueError(
                    "n, kept, tries, on_error, batch_size and concurrency are about a live source: give it as "
                    "provider, or leave them out."
                )
            record = agent.acquire(X, record_beliefs=record_beliefs, known=known, budget=budget)
            return replace(record, **names, index=X.index if is_frame(X) else None)
        if X is not None:
            raise ValueError("give either X or provider: a live source tells all that is asked, what is known too.")
        source = Source(agent, provider, n, kept, tries, on_error, batch_size, concurrency)
        return replace(source.acquire(record_beliefs=record_beliefs, known=known, budget=budget), **names)

    def next_question(self, X: Any, known: npt.ArrayLike | None = None, *, budget: int | None = None) -> IntArray:
        """Return what to ask next about each instance, given only what is known about it.

        Nothing is kept from one call to the next. This is meant for pipelines that hold the features and a mask
        themselves, and want to know row by row what comes next. Called again after each answer, it asks the same
        questions as `acquire`, with one exception: if visits cost something it may stop earlier, or at a budget ask
        others, as it assumes that each question took a visit of its own and that no answer is still awaited.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features), dict or list of dicts
            Instances; a cell that is not known may hold any valid value, such as 0 or NaN. Of a dict by feature, or a
            data frame of some of the columns, what is left out is not known.
        known : array-like of bool of shape (n, n_features), optional
            Which cells have been acquired, in the order of the columns of the fit, which X then has as well: they are
            used, count as paid for, and are not asked for again, even if they are missing. By default all cells that
            are not missing.
        budget : int, optional
            Hard budget: as long as an instance has been asked fewer questions than this and any are left, it gets
            another one, whether or not that pays for itself. Where questions may come in any order, a constant column
            is not asked for, as it tells nothing. By default the policy says when to stop.

        Returns
        -------
        ndarray of int of shape (n,)
            Column of ``X`` to acquire next (for a bundle, the first that it shows), or -1 to decide.

        Raises
        ------
        ValueError
            If ``known`` has another shape than ``X``, or the policy is randomised (``target_cost``), as the draw would
            have to be kept from call to call.

        See Also
        --------
        acquire : Asks all questions about complete rows; ``acquire(X, known=[...])`` for columns that cost nothing.
        session : Asks about one live case.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = SequentialClassifier().fit(X, y)
        >>> known = np.zeros(X.shape, dtype=bool)
        >>> first = clf.next_question(X, known)
        >>> known[np.arange(len(X)), first] = True
        >>> bool((clf.next_question(X, known) == clf.acquire(X).order[:, 1]).all())
        True
        >>> clf.next_question({}).tolist() == first[:1].tolist()
        True
        """
        return agent_of(self).next_question(X, known, budget=budget)

    def encode(self, X: Any) -> EncodedRows:
        """Return rows as outcomes of the features that may be asked for; `seqclass.pomdp.acquire` takes them.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Instances in the form of the training data.

        Returns
        -------
        EncodedRows

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass import SequentialClassifier
        >>> X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0)
        >>> SequentialClassifier().fit(X, np.repeat(["a", "b"], 20)).encode([[0.1, 5.0]]).codes.shape
        (1, 2)
        """
        return encode_rows(agent_of(self), X, complete=True)

    def explain(self, X: Any, *, feature_names: Any = None) -> list[Explanation]:
        """Explain for each instance what was asked and why, how each answer moved the belief, and why it stopped.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features) or (n_features,)
            Instances in the form of the training data; a single one may be a vector or a pandas Series.
        feature_names : sequence of str of length n_features or mapping of column to str, optional
            Names to show for the features, such as the words of a bag of words; by default the names in training.

        Returns
        -------
        list of Explanation of length n
        """
        return explain(agent_of(self), X, feature_names)

    def session(
        self,
        saved: str | None = None,
        *,
        key: str | int | None = None,
        known: Mapping[Any, Any] | None = None,
        first: Sequence[Any] = (),
    ) -> Session:
        """Start a live case, which asks one question at a time and takes any answer at any time.

        Parameters
        ----------
        saved : str, optional
            Text from ``to_json`` of an earlier session of this classifier: the case continues from there.
        key : str or int, optional
            Name of the case, which seeds the draw of a randomised policy (``target_cost``); None: it is drawn at
            random.
        known : mapping of str or int to value, optional
            What is known at the start, by name or number of a column; it costs nothing. Not together with ``saved``,
            which has its own.
        first : sequence of str or int
            Features or bundles that are always asked, before the policy chooses; not together with ``saved``.

        Returns
        -------
        Session

        Raises
        ------
        ValueError
            If the text is not from a session of this classifier, a name is not that of a feature, or a value is
            invalid.
        """
        if saved is not None and (known or first):
            raise ValueError("a saved session has its own known= and first=: give either these or saved.")
        if saved is not None and not isinstance(saved, str):
            raise TypeError(
                f"saved must be the text of a session's to_json(), got {short_repr(saved)}; facts go to known=."
            )
        session = Session(agent_of(self), key, known=known, first=first)
        if saved is not None:
            session.restore(saved)
        return session

    def belief(self, known: Mapping[Any, Any] | None = None, *, key: str | int | None = None) -> BeliefState:
        """What is believed of a case, once some of its features are known.

        Parameters
        ----------
        known : mapping of str or int to value, optional
            What is known, by name or number of a column, as raw values or categories; it costs nothing.
        key : str or int, optional
            Name of the case, which seeds the draw of a randomised policy (``target_cost``); None: it is drawn at
            random.

        Returns
        -------
        BeliefState
            One case of ``problem_``, as ``policy_`` takes it, with the names of columns and classes. In a fixed order
            what is known counts in the belief, and the stage is that of the first question that is not known; later
            ones that are known are passed over.

        Raises
        ------
        ValueError
            If a name is not that of a feature, or a value is invalid.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> clf = SequentialClassifier(order="adaptive").fit(X, load_iris().target_names[y])
        >>> clf.belief({"petal length (cm)": 1.4}).update("petal width (cm)", 0.2)
        <BeliefState: setosa 99.9%, versicolor <0.1%, virginica <0.1%; 2 of 4 asked, 0.01 paid>
        """
        return self.session(key=key, known=known).belief

    def save(self, path: Any) -> None:
        """Write the fitted classifier to a file, completely or not at all; `seqclass.load` reads it.

        Parameters
        ----------
        path : str or path
            Where to write.

        Raises
        ------
        TypeError
            If a part of it comes from another package; nothing is written then.
        """
        agent_of(self)
        save(self, path)

    def with_prior(self, prior: npt.ArrayLike) -> Any:
        """Return the same classifier with its policy solved again for another class prior.

        It says where the classifier is used, not what was learnt: `partial_fit` keeps it and learns the rest from
        further rows, whatever the classes are in these; `fit` begins anew, from the classes of its rows.

        Parameters
        ----------
        prior : array-like of shape (n_classes,), or dict or Series by class
            P(class) where the classifier will be used; an array is in the order of ``classes_``.

        Returns
        -------
        classifier
            A new classifier; it shares the model's likelihoods with this one.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> rare = SequentialClassifier().fit(X, y).with_prior([0.01, 0.99])
        >>> rare.problem_.prior.tolist()
        [0.01, 0.99]
        """
        other = copy_fitted(self, agent_of(self))
        other._take_plan(lambda settings, agent: with_prior(settings, agent, prior))
        if "kept_" in vars(other):
            other.kept_ = replace(other.kept_, prior=other.problem_.prior)
        return other

    def with_costs(self, costs: Any) -> Any:
        """Return the same classifier with its policy solved again for other costs, without the training rows.

        What was learnt stays: the model, its choice by `AdaptiveClassifier`, and the class prior. An order that was
        made by prices is made anew, on cases drawn from the model, where prices compare otherwise with one another; a
        fixed one that ``order="adaptive"`` preferred on the training rows is then left. There is no ``held_out_``,
        which was about the old costs. `partial_fit` goes on with the new ones.

        Parameters
        ----------
        costs : float, array-like of shape (n_features,), dict or Costs
            Prices as ``feature_costs`` has them, where a dict may name some of the columns or bundles, and everything
            else about costs stays as it is; or a `Costs`, which replaces all of it.

        Returns
        -------
        classifier
            A new classifier; it shares the model's likelihoods with this one.

        Raises
        ------
        ValueError
            If costs are invalid, or name other ``marks``.

        See Also
        --------
        seqclass.analysis.what_if : What a change costs with the old rule and with a new one, by the model.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> clf = SequentialClassifier(feature_costs=0.01).fit(X, y)
        >>> dear = clf.with_costs(0.05)
        >>> bool(dear.acquire(X).n_features.mean() < clf.acquire(X).n_features.mean())
        True
        """
        other = copy_fitted(self, agent_of(self))
        other.feature_costs = change_costs(Costs.from_value(self.feature_costs), other.agent_, costs)
        other._take_plan(with_costs)
        return other

    def _take_plan(self, plan: Callable[[Settings, Agent], Agent]) -> None:
        with time_step(self.timings_, "solve", without="certify"):
            self.agent_ = plan(self.settings(), agent_of(self))
            self.timings_["certify"] = self.policy_.info.certify_seconds

    def feature_name(self, column: int) -> str:
        """Return the name of a column of ``X``; ``"x3"`` for column 3 if there are no names.

        Parameters
        ----------
        column : int
            Column number.

        Returns
        -------
        str
        """
        return feature_name(agent_of(self), column)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_stored(self) -> None:
        if not is_fitted(self):
            return
        require(isinstance(vars(self).get("agent_"), Agent), "agent_ is of another kind")
        costs = Costs.from_value(self.feature_costs)
        require(isinstance(costs.charge_missing, (bool, np.bool_)), "charge_missing is neither true nor false")
        costs.unit_name()
        require(self.handle_unknown in ("error", "missing"), "handle_unknown is wrong")
        require(isinstance(vars(self).get("timings_"), dict), "timings_ is no table")
        Rules.from_value(getattr(self, "rules", None))
        chosen = {"observation_model", "solver", "discretizer", "selector", "calibrate", "order"}
        require(chosen <= set(vars(self).get("_chosen", chosen)), "a setting that was chosen is missing")
        parts = {"held_out_": HeldOut, "kept_": Kept, "provenance_": Provenance, "choice_": Choice}
        for name, kind in parts.items():
            require(isinstance(vars(self).get(name), (kind, type(None))), f"{name} is of another kind")
