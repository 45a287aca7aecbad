"""What a fitted classifier does with instances: encode, acquire, decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.frames import FrameEncoder
from seqclass._utils.validation import check_integer, plain_labels
from seqclass.bn import check_order
from seqclass.costs import Prices
from seqclass.deciding._case import all_questions, as_seen
from seqclass.deciding._coding import OutcomeCoder, check_input
from seqclass.deciding._record import AcquisitionRecord, EncodedRows
from seqclass.pomdp import DECIDE, Acquisition, AcquisitionProblem, InformationState, Policy, acquire
from seqclass.pomdp.answers import DataAnswers
from seqclass.pomdp.problem import OPEN
from seqclass.pomdp.solvers.ordering.rules import asking, next_question
from seqclass.pomdp.walk import Level, walk

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


class WarmStart:
    """What is known of instances at the start, and what a policy sees of it on the way."""

    def __init__(
        self,
        classifier: SequentialClassifier,
        features: IntArray,
        codes: Any,
        columns: IntArray,
        lot: IntArray,
        asked: BoolArray | None = None,
    ) -> None:
        self.problem, self._asked = classifier.problem_, asked is not None
        self.begun = classifier.policy_.begin()[0]
        whole = all_questions(classifier)
        questions = [q for q in range(whole.n_questions) if np.isin(whole.members(q), features).any()]
        data = DataAnswers(codes, columns, lot)
        outcomes = [data.outcomes(whole, q, among=features) for q in questions]
        if asked is not None:
            before = [asked[:, whole.members(q)].any(axis=1) for q in questions]
            outcomes = [np.where(some, outcome, OPEN) for some, outcome in zip(before, outcomes)]
        distinct, node = np.unique(np.stack([lot, *outcomes], axis=1), axis=0, return_inverse=True)
        self.node: IntArray = node.reshape(-1)
        info = whole.begin(len(distinct))
        if self.begun.lot is not None:
            info.lot = self.begun.lot[distinct[:, 0]]
        for place, question in enumerate(questions):
            charged = classifier.charge_missing if asked is not None else None
            info = _told(info, question, distinct[:, place + 1], charged)
        self.info = info
        # of a fixed order: the stage at which each history stands, and the problem's own state there
        first = self.begun.state[distinct[:, 0]]
        self._standing: list[tuple[IntArray, int, Any]] = [(np.arange(len(distinct)), 0, first)]

    def next_question(self, policy: Policy, budget: int | None) -> IntArray:
        """What each history asks next, -1 where it decides; at a budget, until so many were asked."""
        question = np.full(len(self.info), DECIDE)

        def ask(level: Level) -> IntArray:
            for rows, info in self.see(level):
                question[rows] = policy.act(info) if budget is None else next_question(policy, info)
            return np.full(len(level.info), DECIDE)

        for _ in walk(self.info, np.ones(len(self.info)), ask):
            pass
        if budget is not None:
            assert self.info.seen is not None  # the problem of the facts is free
            question[(self.info.seen != OPEN).sum(axis=1) >= budget] = DECIDE
        return question

    def see(self, level: Level) -> list[tuple[IntArray, InformationState]]:
        """Parts of a level as the policy sees them, each of one stage."""
        facts, problem = level.info, self.problem
        standing: list[tuple[IntArray, int, Any]]
        if problem.free:
            seen: Any = facts.seen
            known = (seen[:, : problem.n_questions] != OPEN).sum(axis=1)
            # what was known takes no one's place
            counts = self._asked or problem.max_questions is None
            stage = known if counts else np.full(len(facts), level.stage)
            groups = [(np.asarray(np.flatnonzero(stage == k)), int(k)) for k in np.unique(stage)]
            standing = [(rows, stage, facts.state[rows]) for rows, stage in groups]
        else:
            standing = self._standing = self._along(level)
        return [(rows, as_seen(self.begun, facts[rows], stage, state)) for rows, stage, state in standing]

    def _along(self, level: Level) -> list[tuple[IntArray, int, Any]]:
        """Rows of a level by the first stage of a fixed order that is not known, with the state there."""
        problem, seen = self.problem, level.info.seen
        assert seen is not None  # the problem of the facts is free
        waiting: dict[int, list[tuple[IntArray, Any]]] = {}
        for before, stage, state in self._standing:
            place = np.full(int(level.parent.max(initial=before.max())) + 1, -1)
            place[before] = np.arange(before.size)
            rows = np.flatnonzero(place[level.parent] >= 0)
            if rows.size:
                waiting.setdefault(stage, []).append((rows, state[place[level.parent[rows]]]))
        found = []
        while waiting:
            stage = min(waiting)
            parts = waiting.pop(stage)
            rows = np.concatenate([part[0] for part in parts])
            state = parts[0][1] if len(parts) == 1 else problem.join([part[1] for part in parts])
            past = seen[rows, stage] != OPEN if stage < problem.n_stages else np.zeros(rows.size, dtype=bool)
            if past.any():
                moved = problem.advance(stage, state[past], seen[rows[past], stage])
                waiting.setdefault(stage + 1, []).append((rows[past], moved))
            if not past.all():
                found.append((rows[~past], stage, state[~past]))
        return found


def _told(info: InformationState, question: int, outcome: IntArray, charged: bool | None = None) -> InformationState:
    """What is known after an answer that cost nothing; where it is missing the question stays open."""
    there = np.flatnonzero(outcome >= 0 if charged is None else outcome != OPEN)
    if not there.size:
        return info
    before = info[there]
    after = before.asking(question).update(outcome[there], charge_missing=bool(charged))
    after.stage = before.stage
    if charged is None:
        after.paid, after.spent = before.paid, before.spent
    if there.size == len(info):
        return after
    missing = np.setdiff1d(np.arange(len(outcome)), there)
    both = InformationState.concatenate([after, info[missing]])
    return both[np.argsort(np.concatenate([there, missing]))]


class Acquiring:
    """Runs the policy of a fitted `SequentialClassifier`, which says what its parts are."""

    charge_missing: bool
    handle_unknown: str
    coder_: OutcomeCoder
    encoder_: FrameEncoder | None
    support_: IntArray
    order_: IntArray
    decisions_: npt.NDArray[Any]
    problem_: AcquisitionProblem
    policy_: Policy
    _prices: Prices

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Acquire and decide.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Every column is checked; only what the policy asks for counts.

        Returns
        -------
        ndarray of shape (n,)
            Labels from ``decisions_``.
        """
        acquired = self._run(X)
        return np.asarray(self.decisions_[acquired.leaf_decision][acquired.leaf])

    def predict_proba(self, X: Any) -> FloatArray:
        """Class posterior at the stop.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Every column is checked; only what the policy asks for counts.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        acquired = self._run(X)
        return np.asarray(acquired.leaf_belief[acquired.leaf])

    def score(self, X: Any, y: npt.ArrayLike, sample_weight: Any = None) -> float:
        """Share of instances (weighted, if asked) whose decision is their label; "refer" and the like never are."""
        decided, labels = self.predict(X), column_or_1d(plain_labels(y))
        check_consistent_length(decided, labels)
        return float(np.average(decided == labels, weights=sample_weight))

    def acquire(
        self, X: Any, *, record_beliefs: bool = False, known: Sequence[Any] = (), budget: int | None = None
    ) -> AcquisitionRecord:
        """Acquire and decide, and tell what was acquired.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Every column is checked; only what is known and what the policy asks for counts.
        record_beliefs : bool
            Keep the beliefs on the way.
        known : sequence of int or str
            Columns, as numbers or names, that are known before the first question: they cost nothing, do not count as
            acquired, and are not asked for. A cell that is missing is not known. As ``session(known=...)``, row by row.
        budget : int, optional
            Hard budget: so many questions are asked of each instance, as long as any is left, whether or not they pay
            for themselves. By default the policy says when to stop. Fit with ``max_features`` of the same number, which
            plans for it.

        Returns
        -------
        AcquisitionRecord

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
        """
        acquired = self._run(X, record_beliefs, known, budget)
        return AcquisitionRecord.from_acquisition(acquired, self.decisions_, self.support_)

    def next_question(self, X: Any, known: npt.ArrayLike | None = None, *, budget: int | None = None) -> IntArray:
        """What to ask next of each instance, from what is known of it and nothing else.

        Nothing is kept from one call to the next: for pipelines that hold features and a mask of their own, and ask row
        by row what comes next. Called again with each answer, it asks what `acquire` does.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Instances; what is not known may be anything that is valid, such as 0 or NaN.
        known : array-like of bool of shape (n, n_features), optional
            Which cells were acquired before: they count, were paid for, and are not asked for again, also where they
            are missing. By default all that are not missing.
        budget : int, optional
            Hard budget: a question for each instance of which fewer have been asked, as long as any is left, whether or
            not it pays for itself. By default the policy says when to stop.

        Returns
        -------
        ndarray of int of shape (n,)
            Column of ``X`` to acquire next, of a bundle the first one; -1 to decide.

        Raises
        ------
        ValueError
            If ``known`` has another shape, or the policy is drawn by lot (``target_cost``), where the lot would have to
            be kept.

        See Also
        --------
        acquire : All questions of rows that are there; ``acquire(X, known=[...])`` for what cost nothing.
        session : One live case.

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
        """
        check_is_fitted(self, "policy_")
        if len(self.policy_.begin()[0]) > 1:
            raise ValueError(
                "next_question keeps nothing between calls, and this policy is drawn by lot for each instance "
                "(target_cost): use acquire(X) or session()."
            )
        if budget is not None:
            check_integer(budget, "budget", 0)
        features = np.arange(self.support_.size)
        rows = self._encoded(X, features)
        codes = rows.codes[:, rows.columns]
        codes = np.asarray(codes.toarray() if sparse.issparse(codes) else codes)
        if known is None:
            asked = codes >= 0
        else:
            mask = np.asarray(known)
            shape = (len(codes), self._prices.full.size)
            if mask.shape != shape or mask.dtype.kind != "b":
                raise ValueError(
                    f"known must be a mask of bool of the shape of X, {shape}; got {mask.dtype} of shape {mask.shape}."
                )
            asked = mask[:, self.support_]
            codes = np.where(asked, codes, -1)
        nothing = np.zeros(len(codes), dtype=np.intp)
        warm = WarmStart(self, features, codes, features, nothing, asked)  # type: ignore[arg-type]
        question = warm.next_question(self.policy_, budget)[warm.node]
        column = np.append(self.support_[self.problem_.features], DECIDE)
        return np.asarray(column[question])

    def encode(self, X: Any) -> EncodedRows:
        """Outcomes of what may be asked for: what `seqclass.pomdp.acquire` needs to run a policy of `problem_`.

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
        return self._encoded(X, self._asked())

    def _encoded(self, X: Any, features: IntArray) -> EncodedRows:
        """Outcomes of some features of the model."""
        check_is_fitted(self, "policy_")
        X = check_input(self, X, self.encoder_, self.handle_unknown)
        # lots are drawn from what may be asked for, whatever else the instance comes with
        keys = X[:, self.order_] if len(self.policy_.begin()[0]) > 1 else None
        column, wanted = np.zeros(self.support_.size, dtype=np.intp), self.support_[features]
        if not wanted.size:
            return EncodedRows(np.empty((X.shape[0], 0), dtype=np.int8), column, keys)
        coder = self.coder_.restrict(wanted)
        if coder is self.coder_ or 2 * wanted.size >= X.shape[1]:
            return EncodedRows(self.coder_.transform(X), self.support_, keys)
        column[features] = np.arange(wanted.size)
        return EncodedRows(coder.transform(X[:, wanted]), column, keys)

    def _run(
        self, X: Any, record_beliefs: bool = False, known: Sequence[Any] = (), budget: int | None = None
    ) -> Acquisition:
        check_is_fitted(self, "policy_")
        features, asked = self._known(known), self._asked(whole=budget is not None)
        rows = self._encoded(X, np.union1d(asked, features) if features.size else asked)
        if budget is not None:
            check_integer(budget, "budget", 0)
        start, ask = None, None if budget is None else asking(self.policy_, budget=budget)
        if features.size:
            lot = np.zeros(rows.codes.shape[0], dtype=np.intp) if rows.keys is None else self.policy_.draw(rows.keys)
            warm = WarmStart(self, features, rows.codes, rows.columns, lot)  # type: ignore[arg-type]
            start, ask = (warm.info, warm.node), asking(self.policy_, warm.see, budget)
        return acquire(
            self.policy_,
            rows.codes,
            columns=rows.columns,
            charge_missing=self.charge_missing,
            record_beliefs=record_beliefs,
            keys=rows.keys,
            start=start,
            ask=ask,
        )

    def _known(self, known: Sequence[Any]) -> IntArray:
        """Features of the model that are known; those that a selector left out change nothing."""
        if not len(known):
            return np.empty(0, dtype=np.intp)
        names = getattr(self, "feature_names_in_", None)
        columns = check_order(list(known), self._prices.full.size, names, what="known")
        return np.flatnonzero(np.isin(self.support_, columns))

    def _asked(self, whole: bool = False) -> IntArray:
        """Features of the model that may be asked for, in order; or all of the problem, beyond the policy's horizon."""
        problem = self.problem_
        questions = range(problem.n_questions if problem.free or whole else self.policy_.n_stages)
        if problem.bundles is None:
            return problem.features[: len(questions)]
        return np.concatenate([np.empty(0, dtype=np.intp), *(problem.members(question) for question in questions)])
