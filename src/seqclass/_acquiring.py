"""What a fitted classifier does with instances: encode, acquire, decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray, IntArray
from seqclass._coding import OutcomeCoder
from seqclass._frames import FrameEncoder
from seqclass._inputs import check_input
from seqclass._record import AcquisitionRecord, EncodedRows
from seqclass.pomdp import Acquisition, AcquisitionProblem, Policy, acquire


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
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def acquire(self, X: Any, *, record_beliefs: bool = False) -> AcquisitionRecord:
        """Acquire and decide, and tell what was acquired.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Every column is checked; only what the policy asks for counts.
        record_beliefs : bool
            Keep the beliefs on the way.

        Returns
        -------
        AcquisitionRecord
        """
        acquired = self._run(X, record_beliefs)
        return AcquisitionRecord.from_acquisition(acquired, self.decisions_, self.support_)

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
        check_is_fitted(self, "policy_")
        X = check_input(self, X, self.encoder_, self.handle_unknown)
        # lots are drawn from what may be asked for, whatever else the instance comes with
        keys = X[:, self.order_] if len(self.policy_.begin()[0]) > 1 else None
        column = np.zeros(self.support_.size, dtype=np.intp)
        if not self.order_.size:
            return EncodedRows(np.empty((X.shape[0], 0), dtype=np.int8), column, keys)
        coder = self.coder_.restrict(self.order_)
        if coder is self.coder_ or 2 * self.order_.size >= X.shape[1]:
            return EncodedRows(self.coder_.transform(X), self.support_, keys)
        column[self._asked()] = np.arange(self.order_.size)
        return EncodedRows(coder.transform(X[:, self.order_]), column, keys)

    def _run(self, X: Any, record_beliefs: bool = False) -> Acquisition:
        rows = self.encode(X)
        return acquire(
            self.policy_,
            rows.codes,
            columns=rows.columns,
            charge_missing=self.charge_missing,
            record_beliefs=record_beliefs,
            keys=rows.keys,
        )

    def _asked(self) -> IntArray:
        """Features of the model that may be asked for, in order."""
        problem = self.problem_
        questions = range(problem.n_questions if problem.free else self.policy_.n_stages)
        if problem.bundles is None:
            return problem.features[: len(questions)]
        return np.concatenate([np.empty(0, dtype=np.intp), *(problem.members(question) for question in questions)])
