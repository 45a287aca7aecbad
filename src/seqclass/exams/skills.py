"""Skills that one has or has not, and items that ask for several of them: cognitive diagnosis."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import compress
from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import LEAST_CHANCE, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.frames import is_frame
from seqclass._utils.stored import require_array
from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import (
    check_choice,
    check_distribution,
    check_finite,
    check_integer,
    check_real,
    in_order_of_texts,
)
from seqclass.bn._checks import resolve_prior
from seqclass.bn._em import Design
from seqclass.bn._tables import state_posterior
from seqclass.exams._item_curves import Answers, covariances, expected_counts, item_scores, posterior_of
from seqclass.exams.item_parameters import NAMING, read_bank_file, with_row_names
from seqclass.exams.items import Tested, check_class_labels, names_of

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class SkillTuning:
    """How many skills are told apart, and by how much."""

    max_skills: int = 10  #: which have 1024 profiles
    max_profile_skills: int = 6  #: where each profile is a class of its own
    min_apart: float = 1e-3  #: by which those who have the skills are right more often than the others
    spare_rows: float = 1.0  #: that the profiles share evenly beside those that were seen


TUNING = SkillTuning()


@dataclass(repr=False, eq=False)
class SkillProfile(Tested):
    """Skills that a person has or does not have, and items that each need some of them: the DINA and DINO models.

    The hidden state is the profile: which of S skills a person has. An item is *met* by a profile that has all of the
    skills that the item needs (DINA, Haertel 1989 [1]_, Junker and Sijtsma 2001 [2]_), or at least one of them (DINO,
    Templin and Henson 2006 [3]_). The answer is right if the item is met, except for slips, and otherwise wrong, except
    for guesses:

        P(right | met) = 1 - slip,    P(right | not met) = guess,    guess < 1 - slip.

    The class is the whole profile, or one skill. Slips, guesses and the probabilities of the profiles are learnt from
    answers by marginal maximum likelihood (expectation maximisation), or given (`from_items`). Labels, if `fit` has
    any, are taken as the truth about the class; the rest of the profile stays hidden.

    Parameters
    ----------
    q_matrix : array-like or data frame of shape (n_items, n_skills)
        1 where an item needs a skill, else 0. At most 10 skills, and 6 where the class is the profile. The rows and
        columns of a data frame name the items and the skills.
    kind : {"DINA", "DINO"}
        Whether an item needs all of its skills, or one of them.
    target : None, int or str
        Skill that is the class, by number or name. None: the profile, as a text such as ``"101"``, the first skill
        first.
    skills : sequence of str of length n_skills, optional
        Names of the skills.
    labels : array-like of shape (2,) or (2 ** n_skills,) or "skills", optional
        Labels of not having the target and of having it, by default 0 and 1; without a target of each profile, from
        ``"00...0"`` to ``"11...1"``, the last skill changing first. ``"skills"``: names of those that it has, or
        ``"none"``; a name that is ``none`` itself, or has a comma or quotes, is put in quotes.
    alpha : float
        Pseudo-count of either answer, of those who meet an item and of those who do not. 0: maximum likelihood.
    prior : None, "uniform", dict or array-like of shape (n_classes,)
        Class prior, by label or in the order of `classes_`, which is sorted and not that of ``labels``; None takes the
        learnt probabilities of the profiles.
    max_iter : int
        Most iterations.
    tol : float
        Learning ends when no slip, guess or probability of a profile moves more.

    Attributes
    ----------
    classes_, class_prior_, n_outcomes_, n_features_in_
        As in `NaiveBayes`.
    slip_, guess_ : ndarray of shape (n_items,)
        Chances to slip and to guess right; NaN of an item that showed one outcome only.
    slip_errors_, guess_errors_ : ndarray of shape (n_items,) or None
        Their standard errors, from the cross-product of the rows' scores; of all items together where there are five
        rows for each parameter, else of each item's by themselves.
    profiles_ : ndarray of int of shape (n_hidden, n_skills)
        The profiles, in the order of the hidden states.
    profile_prior_ : ndarray of shape (n_hidden,)
        P(profile).
    hidden_class_, weights_, tables_
        As in `ClassMixture`.
    log_likelihood_ : float
        Of the answers, in nats; NaN of items that were given.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether they ended before ``max_iter``.
    state_names_, feature_names_ : None, list or None
        Names of the items, if they came with such.
    timings_ : dict
        Seconds taken by ``structure`` (none) and ``parameters``.

    See Also
    --------
    ItemResponse : One ability, of which one has more or less.

    References
    ----------
    .. [1] E. H. Haertel, "Using restricted latent class models to map the skill structure of achievement items",
       Journal of Educational Measurement 26, 1989.
    .. [2] B. W. Junker and K. Sijtsma, "Cognitive assessment models with few assumptions, and connections with
       nonparametric item response theory", Applied Psychological Measurement 25, 2001.
    .. [3] J. L. Templin and R. A. Henson, "Measurement of psychological disorders using cognitive diagnosis models",
       Psychological Methods 11, 2006.

    Examples
    --------
    Two skills, each asked for by two items, and one item that needs both:

    >>> q = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]]
    >>> model = SkillProfile.from_items(q, guess=0.2, slip=0.1, target=0)
    >>> model.posterior([[1, -1, -1, -1, -1], [1, 1, -1, -1, 1]]).round(2)
    array([[0.18, 0.82],
           [0.02, 0.98]])
    >>> X, _ = model.sample(2000, random_state=0)
    >>> SkillProfile(q).fit(X).mastery([[1, 1, 0, 0, 0]]).round(1)
    array([[1., 0.]])
    """

    q_matrix: Any
    kind: str = "DINA"
    _: KW_ONLY
    target: Any = None
    skills: Sequence[str] | None = None
    labels: Any = None
    alpha: float = 1.0
    prior: Any = None
    max_iter: int = 1000
    tol: float = 1e-5

    slip_errors_: FloatArray | None = field(init=False)
    guess_errors_: FloatArray | None = field(init=False)

    @classmethod
    def from_items(
        cls,
        q_matrix: Any,
        guess: npt.ArrayLike | None = None,
        slip: npt.ArrayLike | None = None,
        *,
        kind: str = "DINA",
        profile_prior: npt.ArrayLike | None = None,
        target: Any = None,
        skills: Sequence[str] | None = None,
        labels: Any = None,
        prior: Any = None,
    ) -> Self:
        """Make a fitted model of items whose chances are known.

        Parameters
        ----------
        q_matrix, kind, target, skills, labels, prior
            As of the class; ``q_matrix`` may also be a data frame, or a CSV file of one, with the columns ``guess`` and
            ``slip`` beside those of the skills, and ``item`` with the names. Columns of other texts are passed over.
        guess, slip : float or array-like of shape (n_items,), optional
            Chances to guess right and to slip, where the table has none; guess must be below 1 - slip.
        profile_prior : array-like of shape (2 ** n_skills,), optional
            P(profile), from ``"00...0"`` to ``"11...1"``, the last skill changing first; by default all alike.

        Returns
        -------
        SkillProfile

        Raises
        ------
        ValueError
            If chances or the matrix are wrong.

        Examples
        --------
        >>> SkillProfile.from_items([[1]], 0.2, 0.1, profile_prior=[0.3, 0.7]).predictive(0, [[-1]]).round(2)
        array([[0.31, 0.69]])
        """
        if guess is None or slip is None:
            q_matrix, guess, slip = _from_table(q_matrix)
        model = cls(q_matrix, kind, target=target, skills=skills, labels=labels, prior=prior)
        model.feature_names_ = model._item_names()
        n = len(model._q())
        model._set_known_items(model._class_labels(), np.full(n, 2))
        met, of_class = model._items_met()
        given = []
        for name, value in (("guess", guess), ("slip", slip)):
            value = value if model.feature_names_ is None else in_order_of_texts(value, name, model.feature_names_)
            array = check_finite(np.broadcast_to(value, n) if np.ndim(value) == 0 else value, name, (n,))
            if array.min() < 0 or array.max() > 1:
                raise ValueError(f"{name} must hold probabilities, got {array[(array < 0) | (array > 1)][0]:g}.")
            given.append(array)
        wrong = np.flatnonzero(given[0] >= 1 - given[1])
        if wrong.size:
            raise ValueError(
                f"guess must be below 1 - slip: item {wrong[0]} has guess {given[0][wrong[0]]:g} and slip "
                f"{given[1][wrong[0]]:g}."
            )
        share = np.full(met.shape[1], 1.0 / met.shape[1])
        if profile_prior is not None:
            profiles = ["".join(map(str, profile)) for profile in _profiles(model._q().shape[1]).tolist()]
            named = in_order_of_texts(profile_prior, "profile_prior", profiles)
            share = check_distribution(named, met.shape[1], "profile_prior")
        model.slip_errors_ = model.guess_errors_ = None
        model._take(met, of_class, given[0], given[1], share)
        return model

    def mastery(self, evidence: Any) -> FloatArray:
        """P(skill | answers) of every skill.

        Parameters
        ----------
        evidence : array-like or data frame of shape (n_rows, n_features)
            Outcome codes; -1, NaN or NA where not acquired. Columns of a data frame are found by the items' names.

        Returns
        -------
        ndarray of shape (n_rows, n_skills)

        Examples
        --------
        >>> SkillProfile.from_items([[1, 0], [0, 1]], 0.2, 0.1).mastery([[1, 0]]).round(2)
        array([[0.82, 0.11]])
        """
        check_is_fitted(self)
        codes = self._check_evidence(self._read_answers(evidence))
        result = np.empty((codes.shape[0], self.profiles_.shape[1]))
        for rows in chunks(codes.shape[0], 8.0 * 2 * len(self.weights_)):
            result[rows] = state_posterior(codes[rows], self._hidden_prior, self._pad_table).T @ self.profiles_
        return result

    def _q(self) -> IntArray:
        q = check_finite(self.q_matrix, "q_matrix")
        if q.ndim != 2 or not q.size or not np.isin(q, (0, 1)).all():
            raise ValueError("q_matrix must hold 0 and 1: a row an item, a column a skill.")
        n_skills = q.shape[1]
        most = TUNING.max_skills if self.target is not None else TUNING.max_profile_skills
        if n_skills > most:
            beside = f"name the one that matters by target=, beside which there may be {TUNING.max_skills - 1}"
            less = "drop some" if self.target is not None else beside
            raise ValueError(f"q_matrix has {n_skills} skills, and {most} are the most: {less}.")
        for axis, what, does in ((1, "item", "needs no skill"), (0, "skill", "is needed by no item")):
            none = np.flatnonzero(q.sum(axis=axis) == 0)
            if none.size:
                raise ValueError(f"q_matrix: {what} {none[0]} {does}; leave it out.")
        names = self._skill_names()
        if names and (len(names) != n_skills or len(set(names)) != n_skills):
            raise ValueError(f"skills must be {n_skills} different names, got {join_names(names)}.")
        return q.astype(np.intp)

    def _skill_names(self) -> list[str]:
        return list(self.skills if self.skills is not None else names_of(self.q_matrix) or ())

    def _item_names(self) -> list[str] | None:
        return names_of(self.q_matrix.T) if is_frame(self.q_matrix) else None

    def __getstate__(self) -> Any:
        named = {"q_matrix": np.asarray(self.q_matrix), "skills": self._skill_names()}  # no data frame is stored
        return super().__getstate__() | (named if is_frame(self.q_matrix) else {})

    def _target(self, n_skills: int) -> int | None:
        names = self._skill_names()
        if self.target is None:
            return None
        if isinstance(self.target, str) and self.target in names:
            return names.index(self.target)
        if isinstance(self.target, Integral) and not isinstance(self.target, bool) and 0 <= int(self.target) < n_skills:
            return int(self.target)
        known = join_names(names) if names else f"0..{n_skills - 1}"
        raise ValueError(f"target must be a skill, of {known}; got {short_repr(self.target)}.")

    def _class_labels(self) -> npt.NDArray[Any]:
        check_choice(self.kind, "kind", ("DINA", "DINO"))
        n_skills = self._q().shape[1]
        if self._target(n_skills) is not None:
            return check_class_labels(self.labels, 2, [0, 1], "of not having the target and of having it")
        default = ["".join(map(str, profile)) for profile in _profiles(n_skills).tolist()]
        what = f"of the profiles {default[0]} to {default[-1]}, the last skill changing first, as no target is named"
        by_skill = isinstance(self.labels, str) and self.labels == "skills"
        return check_class_labels(self._profile_names() if by_skill else self.labels, len(default), default, what)

    def _profile_names(self) -> list[str]:
        """Each profile by the skills that it has, whose names are told apart."""
        names = map(str, self._skill_names() or range(self._q().shape[1]))
        told = [f'"{name}"' if name == "none" or {*',"'} & {*name} else name for name in names]
        return [", ".join(compress(told, has)) or "none" for has in _profiles(len(told))]

    def _items_met(self) -> tuple[BoolArray, IntArray]:
        """Which items each profile meets, (n_items, n_hidden), and the class of each profile."""
        q = self._q()
        profiles, target = _profiles(q.shape[1]), self._target(q.shape[1])
        has = q @ profiles.T
        met = has == q.sum(axis=1, keepdims=True) if self.kind == "DINA" else has > 0
        number = np.arange(len(profiles)) if target is None else profiles[:, target]
        return met, np.searchsorted(self.classes_, self._class_labels())[number]

    def _learn(self, X: IntArray, codes: IntArray | None, weight: FloatArray) -> None:
        began, (met, of_class) = perf_counter(), self._items_met()
        alpha = check_real(self.alpha, "alpha", 0)
        max_iter, tol = check_integer(self.max_iter, "max_iter", 1), check_real(self.tol, "tol", 0)
        if X.shape[1] != len(met):
            raise ValueError(f"X has {X.shape[1]} features, and q_matrix {len(met)} items; they must be the same.")
        many = np.flatnonzero(self.n_outcomes_ > 2)
        if many.size:
            raise ValueError(
                f"{self._item_name(many[0])} has {self.n_outcomes_[many[0]]} outcomes: items are right or wrong, 1 or "
                "0."
            )
        allowed = np.zeros((1, met.shape[1]))
        if codes is not None:
            with np.errstate(divide="ignore"):
                allowed = np.log((of_class == np.arange(len(self.classes_))[:, None]).astype(np.float64))
        kind: IntArray = np.zeros(len(X), dtype=np.intp) if codes is None else codes
        design = Design(X, 2)
        guess, slip = np.full(len(met), 0.25), np.full(len(met), 0.25)
        share = np.full(met.shape[1], 1.0 / met.shape[1])
        self.converged_ = False
        for self.n_iter_ in range(1, max_iter + 1):
            rows = Answers(X, weight, kind, np.log(np.maximum(share, LEAST_CHANCE)) + allowed)
            expectation = expected_counts(design, rows, _tables(met, guess, slip))
            self.log_likelihood_ = expectation.log_likelihood
            before = np.concatenate([guess, slip, share])
            guess, slip = _maximise(expectation.counts, met, alpha)
            share = (expectation.total + TUNING.spare_rows / len(share)) / (expectation.total.sum() + TUNING.spare_rows)
            if np.abs(np.concatenate([guess, slip, share]) - before).max() < tol:
                self.converged_ = True
                break
        self._take(met, of_class, guess, slip, share)
        self.guess_errors_, self.slip_errors_ = self._errors(rows, met, alpha, share)
        silent = self.n_outcomes_ < 2
        for values in (self.guess_, self.slip_, self.guess_errors_, self.slip_errors_):
            values[silent] = np.nan
        self.timings_ = {"structure": 0.0, "parameters": perf_counter() - began}

    def _take(self, met: BoolArray, of_class: IntArray, guess: FloatArray, slip: FloatArray, share: FloatArray) -> None:
        """Set what was found, hidden states class by class."""
        self.guess_, self.slip_ = guess, slip
        order = np.argsort(of_class, kind="stable")
        mass: FloatArray = np.bincount(of_class, share, len(self.classes_)).astype(np.float64)
        within = np.where(mass[of_class] > 0, share / np.where(mass > 0, mass, 1.0)[of_class], 0.0)
        even = 1.0 / np.bincount(of_class)[of_class]
        within = np.where(mass[of_class] > 0, within, even)
        tables = _tables(met, guess, slip)
        tables[self.n_outcomes_ < 2] = np.array([1.0, 0.0])[:, None]  # of which nothing is known
        self._set_states(of_class[order], within[order], tables[:, : int(self.n_outcomes_.max(initial=1)), order])
        self.profiles_, self.profile_prior_ = _profiles(int(np.log2(len(share))))[order], share[order]
        self.class_prior_ = resolve_prior(self.prior, mass, self.classes_)
        self.state_names_ = None

    def _errors(self, rows: Answers, met: BoolArray, alpha: float, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        tables = _tables(met, self.guess_, self.slip_)
        belief = posterior_of(rows, tables)
        sign = np.array([-1.0, 1.0])[:, None]  # of P(wrong) and P(right) by P(right)
        by_log = np.zeros((*tables.shape, 2))
        by_log[..., 0] = sign * ~met[:, None] / np.maximum(tables, LEAST_CHANCE)
        by_log[..., 1] = -sign * met[:, None] / np.maximum(tables, LEAST_CHANCE)
        right = np.stack([self.guess_, self.slip_], axis=1)
        pseudo = alpha / np.maximum(right, LEAST_CHANCE) ** 2 + alpha / np.maximum(1 - right, LEAST_CHANCE) ** 2
        scores = item_scores(rows.X, belief, by_log)
        # the profiles' own scores, as far as they are free
        each = belief / np.maximum(share, LEAST_CHANCE)
        mixing = (each[:, 1:] - each[:, :1])[:, :, None]
        common = share[1:] > 1 / rows.weight.sum()
        mixing = mixing[:, common]
        alone = np.zeros(1, dtype=bool)
        precisions = [pseudo, np.full((mixing.shape[1], 1), 1e-6)]
        covariance = covariances([scores, mixing], rows.weight, precisions, [np.repeat(alone, 2), alone])[0]
        spread = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
        return spread[:, 0].copy(), spread[:, 1].copy()

    def _check_stored_fit(self) -> None:
        super()._check_stored_fit()
        require_array(self, "profiles_", "i", len(self.weights_), None)
        for name in ("guess_", "slip_"):
            require_array(self, name, "f", self.n_features_in_)


def _from_table(table: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Which item needs which skill, by name, and chances to guess and to slip, of a table that has all."""
    frame = read_bank_file(table) if isinstance(table, (str, os.PathLike)) else table
    frame = with_row_names(frame) if is_frame(frame) else frame
    called = {str(name).lower(): name for name in frame.columns} if is_frame(frame) else {}
    if lacking := [name for name in ("guess", "slip") if name not in called]:
        raise ValueError(f"{lacking[0]} is missing: give it, or a table with a column of that name.")
    if naming := [name for lower, name in called.items() if lower in NAMING][:1]:
        frame = frame.set_index(naming[0])
    guess, slip = (frame[called[name]].to_numpy(dtype=np.float64) for name in ("guess", "slip"))
    return frame.drop(columns=[called["guess"], called["slip"]]).select_dtypes("number"), guess, slip


def _profiles(n_skills: int) -> IntArray:
    """All profiles, the last skill changing first, (2 ** n_skills, n_skills)."""
    return (np.arange(2**n_skills)[:, None] >> np.arange(n_skills)[::-1]) & 1


def _tables(met: BoolArray, guess: FloatArray, slip: FloatArray) -> FloatArray:
    """P(wrong) and P(right) of each item and profile, (n_items, 2, n_hidden)."""
    right = np.where(met, 1 - slip[:, None], guess[:, None])
    return np.stack([1 - right, right], axis=1)


def _maximise(counts: FloatArray, met: BoolArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Guesses and slips that are most probable given expected answers (n_items, 2, n_hidden), the able being better."""
    by_met = np.stack([(counts * ~met[:, None]).sum(axis=2), (counts * met[:, None]).sum(axis=2)]) + alpha
    total = by_met.sum(axis=2)
    right = np.where(total > 0, by_met[:, :, 1] / np.where(total > 0, total, 1.0), 0.5)
    # where those who do not meet it would be better, both are alike, and told apart by hardly anything
    pooled = by_met[:, :, 1].sum(axis=0) / np.maximum(total.sum(axis=0), LEAST_CHANCE)
    close = right[0] > right[1] - TUNING.min_apart
    middle = np.clip(pooled, TUNING.min_apart / 2, 1 - TUNING.min_apart / 2)
    guess = np.where(close, middle - TUNING.min_apart / 2, right[0])
    return guess, 1 - np.where(close, middle + TUNING.min_apart / 2, right[1])
