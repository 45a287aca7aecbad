"""The sequential classifier, which puts discretiser, observation model, order and solver together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._chunks.source import as_chunks
from seqclass._utils.validation import check_integer
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.agent.problem import is_free
from seqclass.bn import DiscreteNetwork, ObservationModel
from seqclass.fitting._chunked import Kept, add_rows, fit_chunks, fixes_bins
from seqclass.fitting._cross_fit import hold_out
from seqclass.fitting._fit import Fit, fit_given, fit_network, fit_rows, network_solver
from seqclass.fitting._folds import check_folds
from seqclass.fitting._settings import Parameters, Settings
from seqclass.fitting._steps import forgetting_weights, time_step

__all__ = ["SequentialClassifier"]
__dir__ = __all__.copy  # tab completion


class _WhereBinsAreFixed:
    """A method that only those classifiers have whose settings fix the bins, as scikit-learn's checks expect."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)  # type: ignore[arg-type]
        self.function = function

    def __get__(self, clf: Any, owner: Any = None) -> Any:
        if clf is None:
            return self.function
        if not fixes_bins(clf.discretizer):
            raise AttributeError(
                f"{type(clf).__name__}.partial_fit needs bins that are fixed: give a discretizer that is fitted "
                'already (such as another classifier\'s coder_.discretizer_) or "precomputed"; or use fit_chunks.'
            )
        return MethodType(self.function, clf)


@dataclass(repr=False, eq=False)
class SequentialClassifier(BaseSequentialClassifier, Parameters):
    """Classifies each instance with the few features that pay for themselves.

    For each instance, features are bought one at a time: by default in a fixed order, with ``order="adaptive"``
    depending on the answers so far. The class posterior is kept as a belief, and the classifier stops and decides as
    soon as buying on is expected to save less than it costs. The stopping rule is the solution of a POMDP whose hidden
    state is the class, with a certified distance from the optimum.

    Parameters
    ----------
    observation_model : ObservationModel or None
        Model of the distribution of the features given the class; None: `seqclass.bn.NaiveBayes`.
    solver : Solver or None
        Method that finds the stopping rule. None: `GridValueIteration` for two or three classes, `Perseus` for more,
        two steps of look-ahead for a model without tables, and `seqclass.pomdp.Adaptive` with ``order="adaptive"``.
    discretizer : transformer, "precomputed" or None
        Transformer that turns columns into non-negative integers. None: ``seqclass.discretize.Discretizer()``, which
        cuts every numeric column into bins. ``"precomputed"``: ``X`` holds outcomes already. Categorical columns of a
        data frame need no discretizer.
    selector : feature selector or None
        Selector (``fit``, ``get_support``) that is fitted to the discretised features; only those it keeps are
        modelled.
    order : str or array-like
        ``"conditional"``, ``"information"``, ``"error"`` (ETANA's), ``"variance"``, ``"given"``, or the columns to ask
        for, first one first, as numbers or names. ``"adaptive"``: what is asked next depends on what was seen, unless a
        fixed order costs less on the training rows.
    feature_costs : float, array-like of shape (n_features,), dict or Costs
        Price of each feature in units of misclassification cost: one for all, one each, or by feature name. Everything
        else about costs, such as decision costs, groups and bundles, goes into a `seqclass.Costs`.
    target_cost : float or None
        Mean budget: what may be paid in prices per instance, on average. The prices then only say how features compare,
        and the stopping rule is the one of least decision cost within this budget; see
        `seqclass.pomdp.solve_for_budget`.
    max_features : int or None
        Most features that any instance is asked for, missing ones included.
    max_cost : float or None
        Most that is paid for any instance: a fixed order ends before the feature that could exceed it.
    handle_unknown : {"error", "missing"}
        What to do about a category that did not occur in training: raise an error, or treat the cell as missing.
    random_state : int, generator or None
        Seed of the default model and solver, and of the random draws that ``target_cost`` may need.
    prefit : bool
        Whether ``observation_model`` is already fitted and is used as it stands, such as a network drawn by hand, in
        clones as well.
        Otherwise a clone of it learns from the training data.
    calibrate : bool
        Whether to weaken the evidence of answers as far as held-out rows show that the model trusts it too much, with
        an exponent of its own for the k-th answer; see `Calibration`. This adds about ten fits, up to forty if rows are
        few.
    max_candidates : int or None
        With ``order="adaptive"``, how many features or bundles may be asked for at all: those that are most informative
        before anything is known. Each is scored again after every answer, so the time taken grows with their number.
        None: all.
    known : sequence of int or str, or dict
        Columns, as numbers or names, or questions with marks, that are known for every case before the first question
        and cost nothing, such as age, sex or a complaint. They are read from each row, plans start from them (see the
        notes), and they are never asked for; where a case lacks one, it counts as missing. They need no price. With
        ``order="adaptive"`` this may be a dict, which says for each known column which other column it makes needless,
        or None: what a patient has volunteered is not asked for again. A value of the known column makes the other
        needless if no training row with that value has an answer there.
    rules : Rules, SkipLogic, dict or None
        What may be asked and what has to be asked, whether or not it pays: content areas, enemies, starting and
        mandatory questions, only with ``order="adaptive"``; see `seqclass.Rules`. Or which questions follow on answers
        to others, in any order: `seqclass.SkipLogic`.
    half_life : float or None
        For data that drift: number of later rows after which a row counts half in what the model learns. Rows must be
        in order of time. A row that is followed by k others (of weight above 0) has weight 2^(-k / half_life), in `fit`
        and across calls of `partial_fit` alike. ``calibrate`` and ``held_out`` look only at the rows of the last three
        half-lives, plus the last few of each class, by the same weights; so do the parts that cannot weight rows (the
        selector and ``order``). Bins are cut on all rows. None: all rows count alike.
    missing : {"ignored", "informative"}
        What a missing cell says about the class. ``"ignored"``: nothing; the cell is left out of the counts, and an
        answer that is not available leaves the belief as it is. ``"informative"``: that a test was not done may be
        evidence in itself. In columns with missing cells in training, missing then is an outcome of its own: it is
        learnt, planned for, and paid for when it is the answer, whatever ``charge_missing`` says.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    decisions_ : ndarray of shape (n_decisions,)
        Labels of the decisions: the classes, then the ``decisions`` of the costs.
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
        Columns of ``X`` that the selector kept, which are the features of `model_` and `problem_`.
    coder_ : OutcomeCoder
        Turns columns into outcomes.
    calibration_ : Calibration
        How far each answer is trusted; only with ``calibrate``.
    held_out_ : HeldOut
        What the classifier costs on rows that it has not seen; only after ``fit(X, y, held_out=k)``.
    target_name_ : str or None
        Name of the labels, if ``y`` was a pandas Series with a name.
    timings_ : dict
        Seconds that each step of `fit` took: ``"discretize"``, ``"filter"`` (the selector), ``"structure"`` (0 for a
        model that has none to learn), ``"parameters"``, ``"order"``, ``"solve"``, ``"certify"`` and, if done,
        ``"held_out"``; after `fit_chunks` also the passes ``"count"`` and ``"mark"``, the latter to recognise the
        training rows later.
    n_features_in_, feature_names_in_
        Number of columns of ``X``, and their names if they have any.

    Notes
    -----
    With ``known``, cases are assumed to start from the beliefs that the training rows have once these columns are seen
    (at most 2000 rows, drawn at random), or that cases drawn from the model have if there are no rows. Plans, the
    certificate and `expected_cost_` are about the mean over such starts. ``known`` is a parameter rather than an
    argument of ``fit``, so that clones, cross-validation, experiments and files keep it.

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

    #: Rows that `partial_fit` keeps.
    kept_: Kept = field(init=False)

    def settings(self) -> Settings:
        """The settings of a fit, as a record."""
        return Settings.from_estimator(self)

    @all_or_nothing
    def fit(
        self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None, *, held_out: int = 0
    ) -> SequentialClassifier:
        """Learn the model from rows, and solve for the stopping rule.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Numbers, NaN where missing; columns of texts, and those of a category type, are categories.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row in what the model learns and, if columns are ``known``, in the starts that are planned
            for: a row of weight 2 counts as two rows, a row of weight 0 not at all. So it does in whatever is judged on
            rows, such as ``held_out`` and ``calibrate``. Bins, the selector and ``order="conditional"`` count every row
            of weight above 0 once.
        held_out : int
            Number of folds for `held_out_`, at least 2. Everything is fitted again without each fold, which takes as
            long as that many fits. Folds are stratified and depend on ``random_state``; there are fewer if no class has
            that many rows. 0: no `held_out_`.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        ValueError
            If data, weights, prices, costs or settings are invalid, or the model takes no weights; the message names
            the parameter or column.

        Warns
        -----
        UserWarning
            If deciding at once, with nothing bought, costs less on held-out rows; if the data look like a mistake:
            texts that look like numbers, categories or classes that differ only by case or blanks, a class with a
            single row, a value such as -999 that leaves all others in one bin; or if rows fade so fast that they count
            as fewer than ten.

        Notes
        -----
        The logger ``"seqclass"`` reports at level INFO each step that begins: bins, model, plan, certificate, fold 2 of
        5.
        """
        n_folds = check_folds(held_out)
        settings = Settings.from_estimator(self)
        if self.half_life is not None:
            settings.check()
        fit = fit_rows(settings, X, y, forgetting_weights(y, self.half_life, sample_weight))
        return self._take_and_hold_out(fit, n_folds)

    def _take_and_hold_out(self, fit: Fit, n_folds: int) -> SequentialClassifier:
        self._take(fit)
        if n_folds:
            with time_step(self.timings_, "held_out"):
                self.held_out_ = hold_out(fit, n_folds)
        return self

    @all_or_nothing
    def fit_chunks(self, chunks: Any, *, sample_rows: int = 20_000, held_out: int = 0) -> SequentialClassifier:
        """Learn from rows that come in chunks, in a few passes over them; memory is bounded by the size of a chunk.

        Bins, counts and what models learn are statistics that add up over chunks. With bins of equal widths, the
        default, naive Bayes is the same as after `fit` to all rows at once. With quantiles, the ranks of edges are
        accurate to 0.14% of the rows (they come from KLL sketches, which draw random bits of their own and need the
        extra ``large``). A `seqclass.bn.ClassMixture` is first fitted to a sample, and EM goes on from there over all
        chunks; a `seqclass.bn.TreeNetwork` is learnt from counts of all pairs.

        Everything else that looks at rows looks at a sample of them: ``order="conditional"``, the choice between an
        adaptive and a fixed order, ``calibrate`` and ``held_out``, whose figures are those of a classifier fitted to
        the sample.

        Parameters
        ----------
        chunks : Chunks, list of pairs (X, y), or function
            What `seqclass.large.read_parquet` or `seqclass.large.from_dask` returns; or a list of pairs of features and
            labels, or a function without arguments that returns a new iterator over such pairs at each call.
        sample_rows : int
            Size of the sample, which has the same share of every class, and at least one row of each, drawn with
            ``random_state``. If there are no more rows than that, all are used, and the classifier is the same as after
            `fit`.
        held_out : int
            Number of folds of the sample for ``held_out_``; see `fit`.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        TypeError
            If chunks can be gone through only once.
        ValueError
            If data, prices, costs or settings are invalid, the chunks change between passes, or a part needs all rows
            at once: a selector, an unfitted discretiser from another package, or a model other than those named.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = SequentialClassifier().fit_chunks([(X[:300], y[:300]), (X[300:], y[300:])])
        >>> clf.order_.tolist() == SequentialClassifier().fit(X, y).order_.tolist()
        True
        """
        n_folds = check_folds(held_out)
        check_integer(sample_rows, "sample_rows", 1)
        source = as_chunks(chunks)
        if self.half_life is not None:
            raise ValueError(
                "half_life: chunks come in no order of time; use partial_fit, chunk by chunk, or leave half_life out."
            )
        if self.selector is not None:
            raise ValueError(
                f"selector: {type(self.selector).__name__} needs all rows at once. Fit it to a sample of the rows, "
                "chunks.sample(100_000), read the columns that it keeps (read_parquet(columns=...)), and give "
                "selector=None."
            )
        fit = fit_chunks(Settings.from_estimator(self), source, sample_rows)
        return self._take_and_hold_out(fit, n_folds)

    @_WhereBinsAreFixed
    @all_or_nothing
    def partial_fit(
        self, X: Any, y: npt.ArrayLike, classes: Any = None, n_outcomes: Any = None
    ) -> SequentialClassifier:
        """Update the model with further rows (naive Bayes, or any model with ``half_life``), and plan again.

        This works only if the bins are fixed: with ``discretizer="precomputed"``, or with a discretizer that is already
        fitted, which then stays as it is. Without ``half_life`` the result is the same as counting all rows so far at
        once. Each call solves for the policy again, so give rows by the thousand rather than one by one.

        With ``half_life`` older rows count less. The counts of naive Bayes decay; other models are fitted again to the
        rows of the last ten half-lives, which have all but a thousandth of the weight, and to the last row of each
        class. Orders are found on the rows of the last three half-lives. The rows needed for this are kept in memory.

        A prior that was set by `with_prior` stays: further rows say what each class shows, not how frequent it is where
        the classifier is used.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Numbers, NaN where missing.
        y : array-like of shape (n,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All classes that will ever occur; needed in the first call.
        n_outcomes : int or array-like of shape (n_features,), optional
            Number of outcomes of each feature; needed in the first call with ``discretizer="precomputed"``.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        AttributeError
            If the settings do not fix the bins.
        ValueError
            If the model is not naive Bayes and there is no ``half_life``, a label or an outcome was not announced, a
            column is categorical, or a setting needs all rows: a selector or ``calibrate``.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass import SequentialClassifier
        >>> clf = SequentialClassifier(discretizer="precomputed")
        >>> _ = clf.partial_fit([[0, 1], [1, 1]], ["a", "b"], classes=["a", "b"], n_outcomes=2)
        >>> clf.partial_fit([[1, 0]] * 8, ["b"] * 8).model_.class_count_.tolist()
        [1.0, 9.0]
        """
        before = vars(self).get("kept_")
        if before is None and hasattr(self, "agent_"):
            raise ValueError(
                "partial_fit: the classifier was fitted to rows that it has not kept; begin with partial_fit on a "
                "clone, or fit_chunks to all rows."
            )
        fit, kept = add_rows(
            Settings.from_estimator(self), None if before is None else (self.agent_, before), X, y, classes, n_outcomes
        )
        earlier = None if before is None else vars(self).get("provenance_")
        self._take(fit if earlier is None else replace(fit, n_rows=(earlier.n_rows or 0) + (fit.n_rows or 0)))
        self.kept_ = kept
        return self

    def __sklearn_clone__(self) -> SequentialClassifier:
        other: SequentialClassifier = super().__sklearn_clone__()
        if self.prefit:  # a clone of its model would have to learn first
            other.observation_model = copy(self.observation_model)
        return other

    @classmethod
    def from_network(
        cls,
        network: Any,
        target: str | Sequence[str],
        *,
        questions: Sequence[str] | None = None,
        feature_costs: Any = 0.01,
        order: Any = "adaptive",
        max_cells: int = 2**20,
        **settings: Any,
    ) -> SequentialClassifier:
        """Plan for a given Bayesian network, without data: nothing is learnt.

        Parameters
        ----------
        network : pgmpy DiscreteBayesianNetwork, `seqclass.bn.NetworkTables` or path
            The network, or a file that holds one, in BIF, XMLBIF, XDSL or UAI format as told by its ending; see
            `seqclass.bn.DiscreteNetwork.from_file`. Costs in an XDSL file are not read: give ``feature_costs``.
        target : str or sequence of str
            Node whose state is to be found out; it may have parents. If there are several, such as faults, the class is
            their joint state.
        questions : sequence of str, optional
            Nodes that may be asked for; the others stay hidden. By default all nodes but the targets and the latent
            ones.
        feature_costs : float, array-like of shape (n_questions,), dict or Costs
            Price of each question in units of misclassification cost: one for all, one each, or by node.
        order : str or array-like
            See `SequentialClassifier`; an order that needs data is found on cases drawn from the network.
        max_cells : int
            Most numbers in a table that inference may make; see `seqclass.bn.DiscreteNetwork`.
        **settings
            Further settings of `SequentialClassifier`, such as ``max_cost`` or ``solver``. By default the solver is
            `seqclass.pomdp.Adaptive` with three rules and few cases, as inference takes time.

        Returns
        -------
        SequentialClassifier
            Ready to use: its columns are the questions, with the states of their nodes as categories.

        Raises
        ------
        ValueError
            If a node is unknown, prices or costs are invalid, the targets have too many joint states, or the network is
            too densely connected for exact inference with ``max_cells``; the message says how much memory it would
            take.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass import SequentialClassifier
        >>> from seqclass.bn import NetworkTables
        >>> tables = [np.array([0.7, 0.3]), np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[0.9, 0.2], [0.1, 0.8]])]
        >>> states = [["no", "yes"], ["low", "high"], ["neg", "pos"]]
        >>> flu = NetworkTables(["flu", "fever", "swab"], states, [[], [0], [0]], tables)
        >>> clf = SequentialClassifier.from_network(flu, "flu", feature_costs={"fever": 0.01, "swab": 0.05})
        >>> session = clf.session()
        >>> session.next_feature.name, session.observe("fever", "low"), str(session.decision)
        ('fever', None, 'no')
        """
        model = DiscreteNetwork(network, target, questions, max_cells).fit()
        # what can be written to a file: the network as tables, and what may be asked by name
        model.network, model.questions = model.network_, model.questions_
        model.prepare()
        settings |= {"feature_costs": feature_costs, "order": order, "prefit": True}
        if is_free(order) and settings.get("solver") is None:
            settings["solver"] = network_solver(settings.get("random_state", 0), table_size=model.table_size)
        clf = cls(model, **settings)
        clf._take(fit_network(Settings.from_estimator(clf), model))
        return clf

    @classmethod
    def from_model(
        cls, model: ObservationModel, *, feature_costs: Any = 0.01, order: Any = "adaptive", **settings: Any
    ) -> SequentialClassifier:
        """Plan for a given observation model, without data: nothing is learnt.

        Parameters
        ----------
        model : ObservationModel
            A fitted model, such as the one that `seqclass.exams.ItemResponse.from_items` makes from a bank of items.
        feature_costs : float, array-like of shape (n_features,), dict or Costs
            Price of each feature in units of misclassification cost: one for all, one each, or by the model's names.
        order : str or array-like
            See `SequentialClassifier`; an order that needs data is found on cases drawn from the model.
        **settings
            Further settings of `SequentialClassifier`, such as ``max_cost`` or ``solver``.

        Returns
        -------
        SequentialClassifier
            Ready to use: its columns are the model's features, given as outcomes 0, 1, ...

        Raises
        ------
        ValueError
            If the model is not fitted, prices or costs are invalid, or an order needs cases and the model cannot draw
            any.

        Examples
        --------
        >>> from seqclass import SequentialClassifier
        >>> from seqclass.exams import ItemResponse
        >>> model = ItemResponse.from_items({"a": [2.0, 1.0], "b": [0.0, 0.5]}, cuts=[0.0], labels=["fail", "pass"])
        >>> session = SequentialClassifier.from_model(model, feature_costs=0.02).session()
        >>> session.next_feature.name, session.observe("x0", 1), str(session.decision)
        ('x0', None, 'pass')
        """
        settings |= {"feature_costs": feature_costs, "order": order, "prefit": True, "discretizer": "precomputed"}
        clf = cls(model, **settings)
        clf._take(fit_given(Settings.from_estimator(clf), model))
        return clf
