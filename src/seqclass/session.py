"""A live case: the classifier asks for one feature at a time."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from seqclass._arrays import FloatArray
from seqclass.pomdp import DECIDE, InformationState, Policy

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

_FORMAT = "seqclass-session"


@dataclass(frozen=True)
class Question:
    """The feature that a session asks for next.

    Attributes
    ----------
    name : str
        Its name; ``"x3"`` for column 3 where features have no names.
    column : int
        Its column in the training data.
    price : float
        What it costs, in units of misclassification cost.
    expected_saving : float
        By how much going on is expected to be cheaper than deciding now; NaN where the policy cannot tell.
    categories : tuple of str
        What it may be, for a categorical feature; empty for a number.

    Examples
    --------
    >>> Question("age", 0, 0.01, 0.2).categories
    ()
    """

    name: str
    column: int
    price: float
    expected_saving: float
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """One step of a session.

    Attributes
    ----------
    name : str
        The feature that was asked for.
    value : float, str or None
        What it showed; None where it was unavailable.
    outcome : int
        Outcome of the model that the value belongs to; -1 where unavailable.
    price : float
        What was paid.
    expected_saving : float
        What was expected of asking.
    posterior : tuple of float
        P(class | everything so far) after the answer.

    Examples
    --------
    >>> Answer("age", 47.0, 2, 0.01, 0.2, (0.3, 0.7)).price
    0.01
    """

    name: str
    value: float | str | None
    outcome: int
    price: float
    expected_saving: float
    posterior: tuple[float, ...]


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
        question = int(policy.act(info)[0])
        if question == DECIDE:
            return None
        saving = float(expected_saving(policy, info)[0])
        column = int(self._classifier.support_[policy.problem.features[question]])
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

    def observe(self, name: str, value: Any) -> None:
        """Answer the question that was asked.

        Parameters
        ----------
        name : str
            The feature; it must be the one that `next_feature` asks for.
        value : float or str
            Its raw value, or its category.

        Raises
        ------
        ValueError
            If another feature was asked for, or the value is no number (or no known category).
        """
        question = self._asked(name)
        self._advance(question, value, self._outcome(question, value))

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
        content = {"format": _FORMAT, "version": 1, "model": self._fingerprint(), "answers": answers}
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
            lot = int(content.get("lot", 0))
            known = content["format"] == _FORMAT and content["version"] == 1 and lot >= 0
            answers = [(str(name), value) for name, value in content["answers"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            known = False
        if not known:
            raise ValueError("this is not a saved session, or one of a newer seqclass.")
        if content.get("model") != self._fingerprint():
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
            raise ValueError(f"nothing more is asked for: decide, the decision is {self.decision!r}.")
        if name != question.name:
            raise ValueError(
                f"feature {name!r} was not asked for; the next one is {question.name!r}: observe it or call it "
                "unavailable."
            )
        return question

    def _outcome(self, question: Question, value: Any) -> int:
        encoder = self._classifier.encoder_
        if question.categories and encoder is not None:
            name = encoder.columns_[question.column]
            number = encoder.code(name, value)
        else:
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise ValueError(f"feature {question.name!r} must be a number, got {value!r}.") from None
            if not np.isfinite(number):
                raise ValueError(
                    f"feature {question.name!r} must be finite, got {value!r}; call it unavailable if it is."
                )
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

    def _fingerprint(self) -> str:
        problem = self._classifier.problem_
        digest = hashlib.sha256()
        for part in (problem.prior, problem.prices, problem.decision_costs, self._classifier.order_):
            digest.update(np.ascontiguousarray(part).tobytes())
        probability = self._classifier.policy_.begin()[1]
        if len(probability) > 1:
            digest.update(probability.tobytes())
        horizon = min(self._classifier.policy_.n_stages, 16)
        likelihood = getattr(problem, "likelihoods", ())
        for stage in range(min(horizon, len(likelihood))):
            digest.update(np.ascontiguousarray(likelihood[stage]).tobytes())
        model = getattr(problem, "model", None)
        if model is not None:
            # its likelihoods are worked out when they are asked for: what it has learnt stands for them
            _digest(digest, model)
        return digest.hexdigest()[:16]


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
    return np.asarray(info.stopping_cost - policy.continuation_cost(info))


def _digest(digest: Any, value: Any) -> None:
    """Take in what a model has learnt, by its attributes, however they are nested."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (list, tuple, np.ndarray)):
        digest.update(f"[{len(value)}".encode())
        for item in value:
            _digest(digest, item)
    elif isinstance(value, dict):
        for name in sorted(value, key=str):
            digest.update(f"{name}:".encode())
            _digest(digest, value[name])
    elif isinstance(value, BaseEstimator):
        # not what merely speeds it up, nor timings, which differ from run to run
        kept = {k: v for k, v in value.__getstate__().items() if not k.startswith("_")}
        for name in ("timings_", "structure"):
            kept.pop(name, None)
        _digest(digest, kept)
    elif value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
        digest.update(repr(value.item() if isinstance(value, np.generic) else value).encode())


def _draw_lot(policy: Policy, key: str | int | None) -> int:
    """The lot of one case, as far as the policy leaves anything to chance."""
    probability = policy.begin()[1]
    if len(probability) == 1:
        return 0
    if key is None:
        return int(np.random.default_rng().choice(len(probability), p=probability))
    digest = hashlib.sha256(str(key).encode()).digest()
    return int(policy.draw(np.array([[int.from_bytes(digest[:6], "big") + 1]]))[0])
