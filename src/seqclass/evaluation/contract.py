"""The result of certifying a risk: the rule that was chosen, the ladder, and the classifier."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import Any

import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.model_files import register, save
from seqclass._utils.stored import require, require_whole
from seqclass._utils.tables import Readable, rows_of
from seqclass._utils.text import exact_percent, join_names, money, percent, short_repr
from seqclass.agent.record import AcquisitionRecord
from seqclass.agent.session import Session
from seqclass.stats.risk import rows_to_certify


@register
@dataclass(frozen=True, repr=False)
class GroupRisk(Readable):
    """How a stopping rule did in a group of rows.

    Attributes
    ----------
    label : object
        The group; None for all rows.
    n_rows : int
        Number of rows that count.
    risk : float
        Their mean loss: the share of errors or of missed cases, or the mean cost.
    bound : float
        Upper confidence bound of the risk of this rule in this group, taken by itself, at ``1 - delta``.

    Examples
    --------
    >>> GroupRisk("women", 200, 0.05, 0.08).risk
    0.05
    """

    label: Any
    n_rows: int
    risk: float
    bound: float


@register
@dataclass(frozen=True, repr=False)
class Rung(Readable):
    """A stopping rule of the ladder, and how it did.

    Attributes
    ----------
    value : float
        Expected cost of deciding at which it stops, or the factor by which prices are multiplied.
    p_value : float
        P-value of "the risk is above alpha", in the group where it is highest.
    certified : bool
        Whether that hypothesis was rejected.
    n_features, price : float
        Features acquired and prices paid, on average.
    groups : tuple of GroupRisk
        How the rule did in each group or, without groups, in all rows.
    decides : object
        The decision that every row got, such as "ill" for everybody; None if there were several.
    specificity : float
        For the sensitivity: the share of rows of other classes that were not decided for the target. None otherwise.
    classifier : int
        Whose ladder the rule belongs to: 0 for the classifier, 1 for the first of ``others``, and so on.
    referred : float
        Share of all rows that got a further decision, such as "refer", which is not an error.
    referral_cost : float
        Cost of these decisions, averaged over all rows.

    Examples
    --------
    >>> Rung(0.1, 0.02, True, 3.2, 0.032, (GroupRisk(None, 200, 0.05, 0.08),)).bound
    0.08
    """

    value: float
    p_value: float
    certified: bool
    n_features: float
    price: float
    groups: tuple[GroupRisk, ...]
    decides: Any = None
    specificity: float | None = None
    classifier: int = 0
    referred: float = 0.0
    referral_cost: float = 0.0

    @property
    def trivial(self) -> str:
        """Why the rule is of little use, in words, if it decides the same for everybody; empty otherwise."""
        if self.decides is None:
            return ""
        asks = "asks nothing" if self.n_features == 0 else f"asks {self.n_features:.2f} features"
        return f"{asks} and decides {short_repr(self.decides)} for everybody"

    @property
    def bound(self) -> float:
        """Highest bound among the groups."""
        return max(group.bound for group in self.groups)

    @property
    def risk(self) -> float:
        """Mean loss of all rows that count."""
        return sum(group.n_rows * group.risk for group in self.groups) / sum(group.n_rows for group in self.groups)


@register
@dataclass(frozen=True, eq=False, repr=False)
class CertifiedError(Readable):
    """A classifier with a certified error rate, or the finding that no rule has it; made by `certify_error`.

    If a rule is certified, this has the methods of a fitted classifier. `seqclass.load` reads what `save` wrote.

    Attributes
    ----------
    certified : bool
        Whether a rule was found whose risk is at most ``alpha``, except with a chance of ``delta``.
    alpha, delta : float
        What was asked for.
    metric : str
        ``"error"``, ``"sensitivity"`` or ``"cost"``.
    target : object
        The class whose sensitivity is certified, of several a tuple, or None.
    reachable : float
        Least ``alpha`` at which these rows would have certified any rule of this ladder; the ladder itself depends on
        ``alpha``.
    chosen : int
        Number of the chosen rule in `rungs`; if none is certified, of the one that comes nearest.
    rungs : tuple of Rung
        The ladder, from the rule that asks most to the one that asks least, in the order of testing.
    classifier : BaseSequentialClassifier or None
        The classifier with the chosen stopping rule; None if nothing is certified.
    unit : str
        Unit of prices and costs, such as ``"EUR"``; empty if none was given.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import seqclass
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = seqclass.etana(0.01).fit(X[:300], y[:300])
    >>> contract = seqclass.certify_error(clf, X[300:], y[300:], alpha=0.1, delta=0.1)
    >>> contract.certified, contract.bound < 0.1
    (True, True)
    >>> contract.predict(X[300:302]).shape
    (2,)
    """

    certified: bool
    alpha: float
    delta: float
    metric: str
    target: Any
    reachable: float
    chosen: int
    rungs: tuple[Rung, ...]
    classifier: BaseSequentialClassifier | None
    unit: str = ""

    @property
    def rule(self) -> Rung:
        """The chosen rule; if none is certified, the one that comes nearest."""
        return self.rungs[self.chosen]

    @property
    def bound(self) -> float:
        """Upper confidence bound of the risk of `rule` at ``1 - delta``, taken by itself.

        It is at most `alpha` if the rule is certified. It does not allow for the choice among rules; `alpha` does.
        """
        return self.rule.bound

    @property
    def risk(self) -> float:
        """Risk of `rule` on the rows that it was certified on: the share of errors, or the mean cost."""
        return self.rule.risk

    @property
    def n_rows(self) -> int:
        """Number of rows that it was certified on; for the sensitivity, those of the class."""
        return sum(group.n_rows for group in self.rule.groups)

    @property
    def n_features(self) -> float:
        """Mean number of features that `rule` acquires."""
        return self.rule.n_features

    @property
    def price(self) -> float:
        """Mean price that `rule` pays."""
        return self.rule.price

    @property
    def trivial(self) -> str:
        """Why `rule` is of little use, in words, if it decides the same for everybody; empty otherwise."""
        return self.rule.trivial

    @property
    def specificity(self) -> float | None:
        """For the sensitivity: share of rows of other classes not decided for the target; None otherwise."""
        return self.rule.specificity

    @property
    def groups(self) -> tuple[GroupRisk, ...]:
        """How `rule` did in each group or, without groups, in all rows."""
        return self.rule.groups

    @property
    def noun(self) -> str:
        """What the risk is: ``"error"``, ``"missed"`` or ``"cost"``."""
        return "missed" if self.metric == "sensitivity" else self.metric

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the decision for each instance; see `SequentialClassifier.predict`.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Instances in the form of the training data.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If nothing is certified.
        """
        return self.require_classifier().predict(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class posterior at the stop; see `SequentialClassifier.predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Instances in the form of the training data.

        Returns
        -------
        ndarray of shape (n, n_classes)

        Raises
        ------
        ValueError
            If nothing is certified.
        """
        return self.require_classifier().predict_proba(X)

    def acquire(self, X: Any, *, record_beliefs: bool = False) -> AcquisitionRecord:
        """Acquire features and decide, and return a record of both; see `SequentialClassifier.acquire`.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Instances in the form of the training data.
        record_beliefs : bool
            Whether to keep the belief after every question.

        Returns
        -------
        AcquisitionRecord

        Raises
        ------
        ValueError
            If nothing is certified.
        """
        return self.require_classifier().acquire(X, record_beliefs=record_beliefs)

    def session(
        self,
        saved: str | None = None,
        *,
        key: str | int | None = None,
        known: Mapping[Any, Any] | None = None,
        first: Sequence[Any] = (),
    ) -> Session:
        """Start a live case; see `SequentialClassifier.session`.

        The certificate is for the rule as it asks. It does not cover answers that the rule did not ask for, nor what is
        known at the start beyond the columns that are known for every case.

        Parameters
        ----------
        saved : str, optional
            Text from ``to_json`` of an earlier session.
        key : str or int, optional
            Name of the case, which seeds the draw of a randomised policy.
        known : mapping of str or int to value, optional
            What is known at the start, by name or number of a column.
        first : sequence of str or int
            Features or bundles that are always asked, before the rule chooses.

        Returns
        -------
        Session

        Raises
        ------
        ValueError
            If nothing is certified, or the text is not from a session of this classifier.
        """
        return self.require_classifier().session(saved, key=key, known=known, first=first)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this to a file, completely or not at all, certified or not; `seqclass.load` reads it.

        Parameters
        ----------
        path : str or path
            Where to write.

        Raises
        ------
        TypeError
            If a part of it comes from another package; nothing is written then.
        """
        save(self, path)

    def record(self) -> dict[str, Any]:
        """Return all figures as a plain record, without the classifier."""
        names = ("certified", "alpha", "delta", "metric", "target", "reachable", "bound", "risk", "n_rows")
        figures = {name: getattr(self, name) for name in (*names, "n_features", "price", "specificity", "trivial")}
        return figures | {
            "groups": [vars(group) for group in self.groups],
            "rungs": [vars(rung) | {"groups": [vars(group) for group in rung.groups]} for rung in self.rungs],
        }

    def _table(self) -> Any:
        rows = rows_of(self.rungs)
        return [row | {"chosen": number == self.chosen} for number, row in enumerate(rows)]

    def __str__(self) -> str:
        what, one = _metric_text(self.metric, self.target), self.metric == "cost"
        figure = (lambda x: money(x, self.unit)) if one else percent
        rule, sure = self.rule, f"{100 * (1 - self.delta):.10g}%"
        most = f"{self.alpha:.10g} {self.unit}".rstrip() if one else exact_percent(self.alpha)
        seen = f"{figure(rule.risk)} on {self.n_rows:,} rows, with {rule.n_features:.2f} features at a price of "
        seen += f"{money(rule.price, self.unit, 4)} on average"
        if rule.specificity is not None:
            them = "any of these" if isinstance(self.target, tuple) else short_repr(self.target)
            seen += f"; of the other rows {percent(rule.specificity)} were not decided for {them}"
        if rule.referred:
            seen += f"; {percent(rule.referred)} of all rows were referred (decided for no class), which is no error, "
            seen += f"and costs {money(rule.referral_cost, self.unit, 4)} on average"
        each = " in every group" if len(self.groups) > 1 else ""
        if self.certified and self.trivial:
            return (
                f"Certified by a trivial rule only: it {self.trivial}. That keeps {what} at most {most}"
                f"{each}, with {sure} confidence, and is of no use. Seen: {seen}."
            )
        if self.certified:
            return f"Certified: {what} at most {most}{each}, with {sure} confidence. Seen: {seen}."
        return (
            f"Not certified: {what} at most {most}{each}, with {sure} confidence. What these rows would "
            f"certify is about {figure(self.reachable)}, by a rule that had {seen}.{self._rows_text()}"
        )

    def _rows_text(self) -> str:
        """Say on how many rows the rule that comes nearest would be certified, if it erred as often there."""
        if self.metric == "cost":
            return ""
        wanted = [rows_to_certify(group.risk, self.alpha, self.delta) for group in self.groups]
        each = " in every group" if len(wanted) > 1 else ""
        if None in wanted:
            return f" More rows{each} would hardly help, as it errs too often for that."
        return f" If it errs as often on others, about {max(filter(None, wanted)):,} rows{each} would certify it."

    def require_classifier(self) -> BaseSequentialClassifier:
        """The classifier, or an error that says what could be certified instead."""
        if self.classifier is None:
            up = Context(prec=4, rounding=ROUND_CEILING).create_decimal(self.reachable)  # asking for less would fail
            about = "about " if self.metric == "cost" else ""  # as its rules are others for another alpha
            raise ValueError(
                f"nothing is certified, so there is no rule to decide by: these rows certify {about}{float(up):g} at "
                f"best, not {self.alpha:.4g}; ask for that, or bring more rows or a better classifier."
            )
        return self.classifier

    def _check_stored(self) -> None:
        require(type(self.certified) is bool and type(self.rungs) is tuple, "it says nothing")
        for name in ("alpha", "delta", "reachable"):
            require(type(getattr(self, name)) is float, f"{name} is no number")
        for rung in self.rungs:
            require(isinstance(rung, Rung) and type(rung.groups) is tuple and len(rung.groups) > 0, "a rule is none")
            require(all(isinstance(group, GroupRisk) for group in rung.groups), "groups are none")
        require_whole(self, "chosen", 0, len(self.rungs) - 1)
        require(self.rule.certified is self.certified, "another rule was chosen")
        known = isinstance(self.classifier, BaseSequentialClassifier)
        require(known is self.certified, "it has another classifier")


def contract_of(model: Any) -> CertifiedError | None:
    """What `certify_error` found, where it is that; None of anything else."""
    return model if isinstance(model, CertifiedError) else None


def classifier_of(model: Any) -> tuple[BaseSequentialClassifier, CertifiedError | None]:
    """A fitted classifier, given by itself or by what `certify_error` found, and what that is."""
    contract = contract_of(model)
    clf = model if contract is None else contract.require_classifier()
    if not isinstance(clf, BaseSequentialClassifier):
        raise TypeError(
            "classifier must be a fitted SequentialClassifier or AdaptiveClassifier, or what certify_error gave, got "
            f"{type(model).__name__}."
        )
    return clf, contract


def _metric_text(metric: str, target: Any) -> str:
    """What is certified, in words."""
    if metric == "sensitivity":
        names = join_names(target) if isinstance(target, tuple) else short_repr(target)
        return f"a share of {names} missed of"
    return "an error rate of" if metric == "error" else "a mean cost of"
