"""A live case: the classifier asks for one feature at a time."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from seqclass._arrays import FloatArray
from seqclass._fingerprint import fingerprint
from seqclass._messages import shown
from seqclass._questions import Answer as Answer
from seqclass._questions import Question as Question
from seqclass.pomdp import DECIDE, InformationState, Policy

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

_FORMAT = "seqclass-session"


class Session:
    """A live case of a fitted `SequentialClassifier`; start one with its ``session()``.

    Parameters
    ----------
    classifier : SequentialClassifier
        A fitted classifier.
    key : str or int, optional
        Name of the case, from which a randomised policy draws its lot; None: at random.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.array([[0.0, 5.0], [0.1, 4.0], [0.9, 5.0], [1.0, 4.0]] * 10)
    >>> case = SequentialClassifier().fit(X, [0, 0, 1, 1] * 10).session()
    >>> case.next_feature.name
    'x0'
    >>> case.observe("x0", 0.95)
    >>> int(case.decision), case.next_feature
    (1, None)
    """

    def __init__(self, classifier: SequentialClassifier, key: str | int | None = None) -> None:
        self._classifier = classifier
        self._start(_draw_lot(classifier.policy_, key))

    def _start(self, lot: int) -> None:
        begun, _ = self._classifier.policy_.begin()
        self._lot = lot
        self._states: list[InformationState] = [begun[np.array([lot])]]
        self._answers: list[Answer] = []

    @property
    def next_feature(self) -> Question | None:
        """The feature to acquire next; None where it is time to decide."""
        info, policy = self._states[-1], self._classifier.policy_
        feature = int(policy.act(info)[0])
        if feature == DECIDE:
            return None
        saving = float(expected_saving(policy, info)[0])
        column = int(self._classifier._support[feature])
        name = self._classifier.feature_name(column)
        return Question(name, column, float(info.price[0]), saving, self._categories(column))

    @property
    def posterior(self) -> FloatArray:
        """P(class | everything observed), shape (n_classes,)."""
        return np.array(self._states[-1].belief[0])

    @property
    def decision(self) -> Any:
        """The cheapest decision as things stand, a label of ``decisions_``."""
        index = self._classifier.policy_.decide(self._states[-1].belief)[0]
        return self._classifier.decisions_[index]

    @property
    def expected_cost(self) -> float:
        """Expected cost of deciding now, prices left out."""
        return float(self._states[-1].stopping_cost[0])

    @property
    def cost(self) -> float:
        """Prices paid so far."""
        return float(sum(answer.price for answer in self._answers))

    @property
    def n_features(self) -> int:
        """Features acquired so far."""
        return sum(answer.outcome >= 0 for answer in self._answers)

    @property
    def history(self) -> tuple[Answer, ...]:
        """The answers so far."""
        return tuple(self._answers)

    def observe(self, name: str, value: Any, *, strict: bool = False) -> None:
        """Answer the question that was asked.

        Parameters
        ----------
        name : str
            The feature; it must be the one that `next_feature` asks for.
        value : float or str
            Its raw value, or its category. One that training never showed is refused, or taken as missing where the
            classifier has ``handle_unknown="missing"``.
        strict : bool
            Whether to refuse a number outside of `training_range`, which may be a slip of the pen.

        Raises
        ------
        ValueError
            If another feature was asked for, or the value is no number (or no known category), or outside of the
            training range and ``strict``.
        """
        question = self._asked(name)
        if strict and (note := self.unusual(name, value)):
            raise ValueError(note)
        self._advance(question, value, self._outcome(question, value))

    def training_range(self, name: str) -> tuple[float, float] | None:
        """Smallest and largest value that a feature had in training.

        Parameters
        ----------
        name : str
            A feature that may be asked for.

        Returns
        -------
        tuple of float, or None
            None for a category, and where the model does not know: it was saved by seqclass 0.1, or saw no value.

        Raises
        ------
        ValueError
            If it is never asked for.
        """
        clf = self._classifier
        column = next((j for j in clf.order_.tolist() if clf.feature_name(j) == name), None)
        if column is None:
            raise ValueError(f"feature {shown(name)} is never asked for.")
        return None if self._categories(column) else clf.coder_.training_range(column)

    def unusual(self, name: str, value: Any) -> str:
        """Say that a number is outside of `training_range`; nothing where it is not.

        Parameters
        ----------
        name : str
            A feature that may be asked for.
        value : float or str
            Its raw value.

        Returns
        -------
        str
            A sentence, or "".
        """
        known = self.training_range(name)
        if known is None or known[0] <= (number := _number(name, value)) <= known[1]:
            return ""
        return f"{number:.6g} is outside of what training showed of {shown(name)}, {known[0]:.6g} to {known[1]:.6g}."

    def unavailable(self, name: str) -> None:
        """Say that the feature that was asked for cannot be had; the belief stays as it is.

        Parameters
        ----------
        name : str
            The feature; it must be the one that `next_feature` asks for.

        Raises
        ------
        ValueError
            If another feature was asked for.
        """
        self._advance(self._asked(name), None, -1)

    def undo(self) -> None:
        """Take the last answer back.

        Raises
        ------
        ValueError
            If there is none.
        """
        if not self._answers:
            raise ValueError("there is no answer to take back.")
        self._answers.pop()
        self._states.pop()

    def to_json(self) -> str:
        """Return the session as JSON text, for ``SequentialClassifier.session(saved)``.

        Returns
        -------
        str
        """
        answers = [[answer.name, answer.value] for answer in self._answers]
        content = {"format": _FORMAT, "version": 1, "model": fingerprint(self._classifier), "answers": answers}
        if self._lot:
            content["lot"] = self._lot
        return json.dumps(content)

    def restore(self, saved: str) -> None:
        """Take up a saved session where it was left; nothing changes if that fails.

        Parameters
        ----------
        saved : str
            What `to_json` gave.

        Raises
        ------
        ValueError
            If the text is no session, or one of another model.
        """
        try:
            content = json.loads(saved)
            lot = content.get("lot", 0)
            known = content["format"] == _FORMAT and content["version"] == 1 and type(lot) is int
            answers = [(str(name), value) for name, value in content["answers"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            known = False
        if not known or not 0 <= lot < len(self._classifier.policy_.begin()[1]):
            raise ValueError("this is not a saved session, or one of a newer seqclass.")
        if content.get("model") != fingerprint(self._classifier):
            raise ValueError("this session was saved with another model.")
        fresh = Session(self._classifier)
        fresh._start(lot)
        for name, value in answers:
            if value is None:
                fresh.unavailable(name)
            else:
                fresh.observe(name, value)
        self._lot, self._states, self._answers = fresh._lot, fresh._states, fresh._answers

    def _asked(self, name: str) -> Question:
        question = self.next_feature
        if question is None:
            raise ValueError(f"nothing more is asked for: decide, the decision is {shown(self.decision)}.")
        if name != question.name:
            raise ValueError(
                f"feature {shown(name)} was not asked for; the next one is {shown(question.name)}: observe it or "
                "call it unavailable."
            )
        return question

    def _outcome(self, question: Question, value: Any) -> int:
        encoder = self._classifier.encoder_
        if question.categories and encoder is not None:
            name = encoder.columns_[question.column]
            number = encoder.code(name, value, self._classifier.handle_unknown)
        else:
            number = _number(question.name, value)
        return self._classifier.coder_.code_value(question.column, number)

    def _advance(self, question: Question, value: Any, outcome: int) -> None:
        info = self._states[-1]
        charged = self._classifier.charge_missing
        following = info.update(np.array([outcome]), charge_missing=charged)
        paid = outcome >= 0 or charged
        if value is not None:
            value = str(value) if question.categories else float(value)
        self._states.append(following)
        self._answers.append(
            Answer(
                question.name,
                value,
                outcome,
                question.price if paid else 0.0,
                question.expected_saving,
                tuple(float(p) for p in following.belief[0]),
            )
        )

    def _categories(self, column: int) -> tuple[str, ...]:
        encoder = self._classifier.encoder_
        if encoder is None:
            return ()
        return tuple(encoder.categories_.get(encoder.columns_[column], np.array([], dtype=str)).tolist())


def _number(name: str, value: Any) -> float:
    """A raw value as a finite number; bytes are none, though Python would read them as such."""
    try:
        number = (
            np.nan if value is np.ma.masked else float(str(value) if isinstance(value, (bytes, bytearray)) else value)
        )
    except (TypeError, ValueError):
        raise ValueError(f"feature {shown(name)} must be a number, got {shown(value)}.") from None
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"feature {shown(name)} must be finite, got {shown(value)}; call it unavailable if it is.")
    return number


def expected_saving(policy: Policy, info: InformationState) -> FloatArray:
    """By how much going on is expected to be cheaper than deciding now, prices counted.

    Parameters
    ----------
    policy : Policy
        The policy.
    info : InformationState
        What is known of ``n`` instances, at a stage before the policy's horizon.

    Returns
    -------
    ndarray of shape (n,)
        NaN where the policy cannot tell.

    Examples
    --------
    >>> from seqclass.pomdp import LookaheadPolicy, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> expected_saving(LookaheadPolicy(StoppingValue(problem)), problem.begin()).round(3)  # .5 - (.1 + .15)
    array([0.25])
    """
    if not hasattr(policy, "continuation_cost"):
        return np.full(len(info), np.nan)
    return np.asarray(info.stopping_cost - policy.continuation_cost(info))


def _draw_lot(policy: Policy, key: str | int | None) -> int:
    """The lot of one case, as far as the policy leaves anything to chance."""
    probability = policy.begin()[1]
    if len(probability) == 1:
        return 0
    if key is None:
        return int(np.random.default_rng().choice(len(probability), p=probability))
    digest = hashlib.sha256(str(key).encode()).digest()
    return int(policy.draw(np.array([[int.from_bytes(digest[:6], "big") + 1]]))[0])
