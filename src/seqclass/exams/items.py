"""Items of a test: right or wrong, graded or nominal answers that depend on one ability."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse, stats
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import LEAST_CHANCE, FloatArray, IntArray, chunks, unmask
from seqclass._utils.frames import is_frame
from seqclass._utils.stored import require, require_numbers, require_part
from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import (
    check_choice,
    check_distribution,
    check_finite,
    check_flag,
    check_integer,
    check_real,
    check_weights,
    in_order,
    plain_labels,
)
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.bn._checks import Codes, check_codes, check_n_outcomes, count_outcomes, resolve_prior
from seqclass.bn._tables import state_posterior
from seqclass.bn.mixture import LatentStateModel
from seqclass.exams._item_curves import (
    Answers,
    Asymptotic,
    Curves,
    Graded,
    Group,
    Nominal,
    covariances,
    item_scores,
    maximise_likelihood,
    posterior_of,
    tables_of,
)
from seqclass.exams.item_parameters import Item, ItemParameters, join_items

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class AbilityTuning:
    """How far the points of an ability reach, and which count."""

    reach: float = 4.0  #: standard deviations on either side
    max_reach: float = 30.0  #: standard deviations, where those who have everything right or wrong are beyond
    max_beyond: float = 0.01  #: probability of an ability beyond the points from which on they reach further
    left_beyond: float = 1e-4  #: until it is below this
    min_share: float = 1e-9  #: of a class: points of less are left out of it
    min_band: float = 1e-3  #: of all abilities: a band of less is told of
    class_spread: float = 10.0  #: of the prior of the slopes by which the class depends on the ability


TUNING = AbilityTuning()

_KINDS = ("1PL", "2PL", "3PL", "4PL", "graded", "nominal")


class Tested(LatentStateModel):
    """Models of tests: hidden states that may be learnt from answers alone, where the classes are known beforehand."""

    _outcome_words = ("wrong", "right")

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, n_outcomes: Any = None) -> Self:
        """Learn from answers.

        Parameters
        ----------
        X : array-like, data frame or scipy sparse of shape (n_rows, n_features)
            Integer outcome codes; -1, NaN or NA where missing. The columns of a data frame name the items.
        y : array-like of shape (n_rows,), optional
            Class labels, every class once at least. May be left out where the model itself says what the classes are.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        n_outcomes : int or array-like of shape (n_features,), optional
            Number of outcomes of each feature; by default the largest code in ``X`` plus one.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If settings, codes or labels are wrong; the message names the parameter or the feature.
        """
        named, known = self._class_labels(), self._item_names()
        X, self.feature_names_ = _with_blanks(X, known, "X"), known or names_of(X)
        if y is not None:
            super().fit(X, y, sample_weight, n_outcomes=n_outcomes)
            return self
        if named is None:
            raise ValueError("y is missing: give labels, or say by cuts= which abilities are the classes.")
        n_outcomes = self._by_feature(n_outcomes, "n_outcomes")
        X = check_codes(X, n_outcomes=n_outcomes)
        if not X.shape[0]:
            raise ValueError("X has no rows: nothing to fit")
        weight = check_weights(sample_weight, X.shape[0])
        self.classes_, self.n_features_in_ = np.unique(named), X.shape[1]
        self.n_outcomes_ = count_outcomes(X) if n_outcomes is None else check_n_outcomes(n_outcomes, X.shape[1]).copy()
        self._learn(_dense(X), None, np.ones(X.shape[0]) if weight is None else weight)
        return self

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        named = self._class_labels()
        if named is not None and self.classes_.tolist() != np.unique(named).tolist():
            raise ValueError(
                f"y holds the classes {join_names(self.classes_.tolist())} and the model has "
                f"{join_names(named.tolist())}: give rows of every class and no others, or fit the model without y."
            )
        self._learn(_dense(X), codes, np.ones(len(codes)) if sample_weight is None else sample_weight)

    def _set_known_items(self, named: npt.NDArray[Any], n_outcomes: IntArray) -> None:
        """Set what a model of items that are known has in the place of what was found in learning."""
        self.classes_, self.n_features_in_, self.n_outcomes_ = np.unique(named), len(n_outcomes), n_outcomes
        self.log_likelihood_, self.n_iter_, self.converged_ = float("nan"), 0, True
        self.timings_ = {"structure": 0.0, "parameters": 0.0}

    def _item_name(self, item: int) -> str:
        return f"feature {item}" if self.feature_names_ is None else f"item {short_repr(self.feature_names_[item])}"

    def _item_names(self) -> list[str] | None:
        """Names of the items, where the settings have them."""
        return None

    def _check_evidence(self, evidence: Any) -> Any:
        # as of every model, numbers with a point are no codes, unless some are missing
        floats = type(evidence) is np.ndarray and evidence.dtype.kind == "f" and not np.isnan(evidence).any()
        return super()._check_evidence(evidence if floats else self._read_answers(evidence))

    def _read_answers(self, evidence: Any) -> Codes:
        """Outcome codes of answers of which some may be missing, in the order of the items."""
        return _with_blanks(evidence, self.feature_names_, "evidence")

    @abstractmethod
    def _class_labels(self) -> npt.NDArray[Any] | None:
        """Labels of the classes, where the settings say what these are."""

    @abstractmethod
    def _learn(self, X: IntArray, codes: IntArray | None, weight: FloatArray) -> None:
        """Learn from checked answers, and numbers of classes if any."""


def names_of(X: Any) -> list[str] | None:
    """Names of the columns of a data frame, unless these are numbers."""
    named = is_frame(X) and not all(isinstance(name, Integral) for name in X.columns)
    return list(map(str, X.columns)) if named else None


def answer_codes(X: Any, names: Sequence[Any] | None = None, what: str = "answers") -> Codes:
    """Answers as outcome codes, -1 where one is missing, of a data frame the columns of these names, if it has any."""
    import pandas as pd

    X = unmask(X)
    if sparse.issparse(X) or getattr(X, "dtype", np.dtype("O")).kind in "iub":
        return X
    own = None if names is None else names_of(X)
    if own is not None and names is not None:
        lacking = [name for name in map(str, names) if name not in own]
        if lacking:
            raise ValueError(f"{what} has no column {join_names(lacking)}: give the items their names, or no names.")
        X = X.iloc[:, [own.index(str(name)) for name in names]]
    cells = pd.DataFrame(X)
    values = cells.where(cells.notna(), np.nan).to_numpy(dtype=np.float64, na_value=np.nan)
    known = np.isfinite(values)
    if (np.isinf(values) | (known & (values % 1 != 0))).any():
        raise TypeError(f"{what} must hold integer outcome codes, or nothing where one is missing; discretise it first")
    return np.where(known, values, -1).astype(np.int64)


def _with_blanks(X: Any, names: Sequence[Any] | None, what: str) -> Codes:
    """Outcome codes of a data frame, or of numbers some of which may be missing; others are as they are."""
    if is_frame(X) or sparse.issparse(X):
        return answer_codes(X, names, what)
    cells = np.asarray(unmask(X))
    return answer_codes(cells, names, what) if cells.ndim == 2 and cells.dtype.kind in "fO" else X


def _dense(X: Codes) -> IntArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def check_class_labels(labels: Any, n: int, default: Any, what: str) -> npt.NDArray[Any]:
    """Labels of classes: so many, and different."""
    given = np.asarray(default if labels is None else plain_labels(labels, "labels"))
    if given.shape != (n,) or len(set(given.tolist())) < n:
        raise ValueError(f"labels must be {n} different ones, {what}; got {short_repr(given.tolist())}.")
    return given


def check_cuts(cuts: Any) -> FloatArray:
    """Abilities at which classes begin."""
    abilities = check_finite(cuts, "cuts")
    if abilities.ndim != 1 or not abilities.size or (np.diff(abilities) <= 0).any():
        raise ValueError(
            f"cuts must be rising abilities, one at least, such as cuts=[0.0]; got {short_repr(abilities.tolist())}."
        )
    return abilities


@dataclass(repr=False, eq=False)
class ItemResponse(Tested):
    """Items of a test, whose answers depend on one ability: item response theory.

    The hidden state is the ability, on a grid of points; given it the answers are independent. Classes are bands of
    ability between cut scores, or what labels say. Items are graded (two outcomes are the two-parameter logistic
    model), logistic of one to four parameters, or nominal; see `ItemParameters` for the formulas. Their parameters are
    given (`from_items`), or learnt from answers by marginal maximum likelihood (Bock and Aitkin 1981 [1]_).

    What the labels ``y`` of `fit` mean depends on ``cuts``:

    - With ``cuts`` the classes are the bands between them, on the scale on which ability has ``mean`` and ``sd``. A
      row's label, if there are labels, says in which band its ability lies; without, items are learnt from answers
      alone.
    - Without, the label is one more thing that depends on the ability, like a nominal answer: P(class | ability) is
      learnt together with the items, and P(ability | class) follows. So a label may be an imperfect sign of ability,
      such as an examiner's verdict or a score on another test.

    Parameters
    ----------
    kind : {"graded", "nominal", "1PL", "2PL", "3PL", "4PL"}
        What items are learnt as. ``"1PL"`` has one slope for all; 3PL and 4PL learn the chance to guess right, the
        latter also that of the able to slip. Of all but nominal items higher outcomes are those of the able: slopes are
        above 0, and items that count the other way must be recoded.
    cuts : array-like of shape (n_classes - 1,), optional
        Rising abilities; who is at a cut is in the band above.
    labels : array-like of shape (n_classes,), optional
        Labels of the bands, the lowest first; by default 0, 1, ...
    mean, sd : float
        Mean and standard deviation of the ability, which is normal before anything is known. They set the scale.
    points : int or array-like of shape (n_points,)
        Number of cells that the ability is cut into, four ``sd`` to either side, each at its mean and with its exact
        probability, and more of them further out where items are so hard or easy that abilities are found there; or
        the points themselves.
    weights : array-like of shape (n_points,), optional
        P(point), where the points are given and the ability is not normal. What is learnt is then to have its ``mean``
        and ``sd``, or near ones, which set the scale.
    shrinkage : float
        How many times weak normal priors of the parameters count, which keep those that answers hardly tell from
        running away: the logarithm of slopes 0 ± 0.5, intercepts 0 ± 3, the logarithm of how far one intercept is
        below the one before 0 ± 1.5, slopes of nominal outcomes 0 ± 3 and their intercepts 0 ± 9, the logit of the
        chance to guess that of ``guess`` ± 0.7, that of the chance to slip -3 ± 0.7, all of them of abilities of mean 0
        and standard deviation 1, whatever ``mean`` and ``sd`` are. 0: maximum likelihood.
    guess : float
        Where the chance to guess right is expected, such as one over the number of choices.
    prior : None, "uniform", dict or array-like of shape (n_classes,)
        Class prior, by label or in the order of `classes_`, which is sorted and not that of ``labels``; None takes the
        probabilities of the bands, or without ``cuts`` the (weighted) frequencies of ``y``.
    standard_errors : bool
        Whether to work out `standard_errors_`.
    max_iter : int
        Most iterations.
    tol : float
        Learning ends when no P(outcome | ability) moves more.

    Attributes
    ----------
    classes_, class_prior_, n_outcomes_, n_features_in_
        As in `NaiveBayes`.
    items_ : ItemParameters
        The items; NaN of those of which one outcome is known, which say nothing about the ability.
    standard_errors_ : ItemParameters or None
        Standard errors of the items' parameters in the same form, from the cross-product of the rows' scores: of all
        parameters together where there are five rows for each, else of each item's by themselves, which is a little
        less than the truth.
    ability_ : ndarray of shape (n_hidden,)
        Ability of each hidden state.
    hidden_class_, weights_, tables_
        As in `ClassMixture`.
    log_likelihood_ : float
        Of the answers, and labels if any, in nats; NaN of items that were given.
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
    SkillProfile : Several skills that one has or has not.

    References
    ----------
    .. [1] R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters: application of an EM
       algorithm", Psychometrika 46, 1981.

    Examples
    --------
    Two items of a known bank, and who passes:

    >>> items = {"a": [1.5, 2.0], "b": [-0.5, 0.5], "c": [0.2, 0.2]}
    >>> model = ItemResponse.from_items(items, cuts=[0.0], labels=["fail", "pass"])
    >>> model.posterior([[1, 1], [0, 0], [-1, -1]]).round(2)
    array([[0.21, 0.79],
           [0.87, 0.13],
           [0.5 , 0.5 ]])

    Learnt from answers:

    >>> X, y = model.sample(2000, random_state=0)
    >>> learnt = ItemResponse("3PL", cuts=[0.0], labels=["fail", "pass"]).fit(X)
    >>> bool(abs(learnt.posterior([[1, 1]]) - model.posterior([[1, 1]])).max() < 0.1)
    True
    """

    kind: str = "graded"
    _: KW_ONLY
    cuts: Any = None
    labels: Any = None
    mean: float = 0.0
    sd: float = 1.0
    points: Any = 61
    weights: Any = None
    shrinkage: float = 1.0
    guess: float = 0.2
    prior: Any = None
    standard_errors: bool = True
    max_iter: int = 500
    tol: float = 1e-4

    @classmethod
    def _from_bank(cls, bank: Any) -> ItemResponse:
        """A fitted model as it is, or one of a bank of items."""
        return bank if isinstance(bank, cls) else cls.from_items(bank, cuts=[0.0])

    @classmethod
    def from_items(
        cls,
        items: Any,
        cuts: npt.ArrayLike,
        *,
        labels: Any = None,
        mean: float = 0.0,
        sd: float = 1.0,
        points: Any = 61,
        weights: Any = None,
        prior: Any = None,
    ) -> Self:
        """Make a fitted model of items whose parameters are known.

        Parameters
        ----------
        items : ItemParameters, data frame, mapping or path
            The items, or what `ItemParameters.from_table` reads.
        cuts, labels, mean, sd, points, weights, prior
            As of the class.

        Returns
        -------
        ItemResponse

        Raises
        ------
        ValueError
            If parameters or cuts are wrong.

        Examples
        --------
        >>> ItemResponse.from_items({"b": [0.0]}, cuts=[-1, 1]).class_prior_.round(3)
        array([0.159, 0.683, 0.159])
        """
        model = cls(cuts=cuts, labels=labels, mean=mean, sd=sd, points=points, weights=weights, prior=prior)
        given = ItemParameters._from_value(items)
        named = model._class_labels()
        if named is None:
            raise ValueError("cuts is missing: say which abilities are the classes.")
        model._set_known_items(named, given.n_outcomes)
        grid, mass = model._grid(model._reach(given))
        model._take(given, None, grid, model._mass_by_band(grid, mass, named))
        return model

    def ability(self, evidence: Any) -> tuple[FloatArray, FloatArray]:
        """Ability given answers.

        Parameters
        ----------
        evidence : array-like or data frame of shape (n_rows, n_features)
            Outcome codes; -1, NaN or NA where not acquired. Columns of a data frame are found by the items' names.

        Returns
        -------
        mean, sd : ndarray of shape (n_rows,)
            Of its posterior. Where more than one part in a hundred of it is at the first or last of ``points`` that
            were given, a warning says so.

        Examples
        --------
        >>> ItemResponse.from_items({"b": [0.0, 0.0]}, cuts=[0.0]).ability([[1, 1]])[0].round(2)
        array([0.7])
        """
        check_is_fitted(self)
        codes = self._check_evidence(self._read_answers(evidence))
        mean, square, outside = *np.empty((2, codes.shape[0])), False
        for rows in chunks(codes.shape[0], 8.0 * 2 * len(self.weights_)):
            share = state_posterior(codes[rows], self._hidden_prior, self._pad_table)
            mean[rows] = self.ability_ @ share
            square[rows] = ((self.ability_[:, None] - mean[rows]) ** 2 * share).sum(axis=0)
            ends = np.isin(self.ability_, [self.ability_.min(), self.ability_.max()])
            outside |= np.ndim(self.points) > 0 and bool((share[ends].sum(axis=0) > TUNING.max_beyond).any())
        if outside:
            warnings.warn(
                "points: some abilities lie at or beyond the first or last point; give points that reach further, or "
                "their number alone.",
                stacklevel=2,
            )
        return mean, np.sqrt(square)

    def _class_labels(self) -> npt.NDArray[Any] | None:
        if self.cuts is None:
            if self.labels is not None:
                raise ValueError("labels are of the bands between cuts: give cuts too, or leave labels out.")
            return None
        cuts = check_cuts(self.cuts)
        return check_class_labels(self.labels, len(cuts) + 1, np.arange(len(cuts) + 1), "one a band, the lowest first")

    def _reach(self, items: ItemParameters) -> float:
        """Standard deviations to reach on either side, so that nobody's ability is beyond."""
        step, (mean, sd) = 0.05, self._mean_and_sd()
        place = np.arange(-TUNING.max_reach, TUNING.max_reach + step, step)
        if np.ndim(self.points) or not len(items):
            return TUNING.reach
        log_chance = np.log(np.maximum(items.probabilities(mean + sd * place), 1e-300))
        # of nominal items the answer of the able is that of the greatest slope, of others the last or the first
        times = np.where((np.array(items.kinds) == "nominal")[:, None], 1, np.arange(1, items.slopes.shape[1] + 1))
        steep = np.concatenate([np.zeros((len(items), 1)), times * items.slopes], axis=1)
        able, unable = np.nanargmax(steep, axis=1), np.nanargmin(steep, axis=1)
        reach = TUNING.reach
        for answers in (able, unable):
            log_share = stats.norm.logpdf(place) + log_chance[np.arange(len(items)), answers].sum(axis=0)
            share = np.exp(log_share - log_share.max())
            beyond = np.bincount(np.round(abs(place) / step).astype(np.intp), share / share.sum())[::-1].cumsum()[::-1]
            if beyond[round(TUNING.reach / step)] > TUNING.max_beyond:
                reach = max(reach, step * int((beyond > TUNING.left_beyond).sum()))
        return reach

    def _mean_and_sd(self) -> tuple[float, float]:
        return check_real(self.mean, "mean", -1e6, 1e6), check_real(self.sd, "sd", 1e-6, 1e6)

    def _grid(self, reach: float = TUNING.reach) -> tuple[FloatArray, FloatArray]:
        """Points of ability and their probabilities."""
        mean, sd = self._mean_and_sd()
        if np.ndim(self.points) == 0:
            if self.weights is not None:
                raise ValueError("weights are of points that are given: give points too, or leave weights out.")
            n = round(check_integer(self.points, "points", 2, 10_000) * reach / TUNING.reach)
            cuts = np.empty(0) if self.cuts is None else check_cuts(self.cuts)
            edges = np.unique(np.concatenate([np.linspace(-reach, reach, n + 1)[1:-1], (cuts - mean) / sd]))
            edges = np.concatenate([[-np.inf], edges, [np.inf]])
            # by the nearer tail, which keeps its digits
            upper = edges[:-1] > 0
            mass = np.where(upper, stats.norm.sf(edges[:-1]) - stats.norm.sf(edges[1:]), np.diff(stats.norm.cdf(edges)))
            kept = mass > 0
            place = (stats.norm.pdf(edges[:-1]) - stats.norm.pdf(edges[1:]))[kept] / mass[kept]
            place = np.clip(place, edges[:-1][kept], edges[1:][kept])
            return mean + sd * place, mass[kept] / mass[kept].sum()
        grid = check_finite(self.points, "points")
        if grid.ndim != 1 or len(grid) < 2 or (np.diff(grid) <= 0).any():
            raise ValueError("points must be a number, or at least two rising abilities.")
        if self.weights is not None:
            return grid, check_distribution(in_order(self.weights, "weights", grid), len(grid), "weights")
        log_mass = stats.norm.logpdf(grid, mean, sd)
        mass = np.exp(log_mass - log_mass.max())
        return grid, mass / mass.sum()

    def _mass_by_band(self, grid: FloatArray, mass: FloatArray, named: npt.NDArray[Any]) -> FloatArray:
        """P(class, point), (n_classes, n_points), where the classes are bands."""
        band = np.searchsorted(check_cuts(self.cuts), grid, side="right")
        joint = np.zeros((len(named), len(grid)))
        joint[np.searchsorted(self.classes_, named)[band], np.arange(len(grid))] = mass
        empty = np.flatnonzero(joint.sum(axis=1) == 0)
        if empty.size:
            label = short_repr(self.classes_[empty[0]].item())
            raise ValueError(
                f"cuts: no point of the ability lies in the band {label}; give other cuts or more points. Cuts are no "
                f"shares right but abilities, of mean {self.mean:g} and standard deviation {self.sd:g}."
            )
        for number, label in enumerate(named.tolist()):
            if (share := float(mass[band == number].sum())) < TUNING.min_band:
                warnings.warn(
                    f"cuts: {share:.1%} of all abilities, of mean {self.mean:g} and standard deviation {self.sd:g}, "
                    f"are in the band {short_repr(label)}: hardly anything needs to be asked. Are the cuts on this "
                    "scale?",
                    stacklevel=3,
                )
        return joint

    def _learn(self, X: IntArray, codes: IntArray | None, weight: FloatArray) -> None:
        began, named = perf_counter(), self._class_labels()
        if (X.max(axis=0, initial=-1) > 1).any() and not (X == 0).any():
            warnings.warn(
                f"X: no answer is 0, and outcomes count from 0: where they are coded 1 to {X.max()}, subtract 1 (a "
                "missing one stays -1), or each item is learnt with an outcome that nobody gives.",
                stacklevel=2,
            )
        grid, mass = self._grid()
        settings = (check_integer(self.max_iter, "max_iter", 1), check_real(self.tol, "tol", 0))
        check_flag(self.standard_errors, "standard_errors")
        groups = self._groups()
        of_items, joint = list(groups), None
        kind: IntArray = np.zeros(len(X), dtype=np.intp)
        log_prior = np.log(np.maximum(mass, 1e-300))[None]
        if named is not None:
            joint = self._mass_by_band(grid, mass, named)
            if codes is not None:
                with np.errstate(divide="ignore"):
                    kind, log_prior = codes, np.log(joint)
        elif len(self.classes_) > 1:
            assert codes is not None  # or there would be no classes
            X = np.column_stack([X, codes.astype(X.dtype if len(self.classes_) < 100 else np.int64)])
            curves = Nominal(len(self.classes_), TUNING.class_spread)
            groups.append(self._group(np.array([X.shape[1] - 1]), curves, 1.0))
        rows, (mean, sd) = Answers(X, weight, kind, log_prior), self._mean_and_sd()
        plain = (grid - mean) / sd  # on which priors, limits and starts are
        middle = float(mass @ plain)
        if abs(middle) > 3 or not 1 / 9 < mass @ (plain - middle) ** 2 < 9:
            warnings.warn(
                "points: abilities are far from mean and sd, which set the scale that items are learnt on; give their "
                f"own, such as mean={mass @ grid:.3g}.",
                stacklevel=2,
            )
        self.log_likelihood_, self.n_iter_, self.converged_ = maximise_likelihood(rows, groups, plain, *settings)
        errors = self._errors(rows, groups, plain) if self.standard_errors else None
        found = [self._on_scale(group.curves.to_reported(group.given)[0]) for group in of_items]
        items = _parameters(of_items, found, self.n_features_in_, names=self.feature_names_)
        grid, mass = self._grid(self._reach(items))
        if named is not None:
            joint = self._mass_by_band(grid, mass, named)
        else:
            named_by = groups[-1].chances((grid - mean) / sd)[0] if len(groups) > len(of_items) else 1.0
            joint = np.atleast_2d(mass * named_by)
        self._take(items, errors, grid, joint, codes, weight)
        self.timings_ = {"structure": 0.0, "parameters": perf_counter() - began}

    def _take(
        self,
        items: ItemParameters,
        errors: ItemParameters | None,
        grid: FloatArray,
        joint: FloatArray,
        codes: IntArray | None = None,
        weight: FloatArray | None = None,
    ) -> None:
        """Set what was found: the items, and P(class, point), (n_classes, n_points)."""
        self.items_, self.standard_errors_ = items, errors
        within = joint / joint.sum(axis=1, keepdims=True)
        # where points reach further, those at the ends hold so much less
        furthest = TUNING.reach
        if not np.ndim(self.points):
            furthest = max(float(abs(grid - self.mean).max()) / float(self.sd), furthest)
        classes, place = np.nonzero(within > TUNING.min_share * np.exp((TUNING.reach**2 - furthest**2) / 2))
        share = within[classes, place]
        tables = items.probabilities(grid)
        self._set_states(classes, share / np.bincount(classes, share)[classes], tables[:, :, place])
        self.ability_ = grid[place]
        counts = joint.sum(axis=1)
        if codes is not None:
            self.class_count_ = np.bincount(codes, weights=weight, minlength=len(joint)).astype(np.float64)
            counts = self.class_count_ if self.cuts is None else counts
        self.class_prior_ = resolve_prior(self.prior, counts, self.classes_)
        self.state_names_, self.feature_names_ = None, None if items.names is None else list(items.names)

    def _groups(self) -> list[Group]:
        """Items of one kind and number of outcomes together."""
        check_choice(self.kind, "kind", _KINDS)
        if check_real(self.guess, "guess", 0, 1) in (0, 1):
            raise ValueError("guess must be above 0 and below 1.")
        strength = check_real(self.shrinkage, "shrinkage", 0)
        many = np.flatnonzero(self.n_outcomes_ > 2)
        if many.size and self.kind.endswith("PL"):
            raise ValueError(
                f"{self._item_name(many[0])} has {self.n_outcomes_[many[0]]} outcomes, and kind={self.kind!r} takes "
                'two: give kind="graded" or "nominal".'
            )
        groups = []
        for size in np.unique(self.n_outcomes_[self.n_outcomes_ > 1]).tolist():
            columns = np.flatnonzero(self.n_outcomes_ == size)
            curves: Curves = Nominal(size) if self.kind == "nominal" else Graded(size)
            if asymptotes := {"3PL": 3, "4PL": 4}.get(self.kind):
                curves = Asymptotic(asymptotes)
            groups.append(self._group(columns, curves, strength, tied=self.kind == "1PL"))
        return groups

    def _group(self, columns: IntArray, curves: Curves, strength: float, tied: bool = False) -> Group:
        """Items with their priors, which are of a scale of ability of mean 0 and standard deviation 1."""
        mean, sd = curves.weak_prior(float(self.guess))
        return Group(columns, curves, mean, strength / sd**2, tied)

    def _on_scale(self, reported: FloatArray) -> FloatArray:
        """What is reported of abilities of mean 0 and standard deviation 1, or its derivatives, of the model's own."""
        n, (mean, sd) = reported.shape[1] // 2 - 1, self._mean_and_sd()
        slopes = reported[:, :n] / sd
        return np.concatenate([slopes, reported[:, n : 2 * n] - slopes * mean, reported[:, 2 * n :]], axis=1)

    def _errors(self, rows: Answers, groups: list[Group], grid: FloatArray) -> ItemParameters:
        """Standard errors of the items, with the class beside them if it was learnt."""
        if not groups:
            return _parameters([], [], self.n_features_in_, 0.0, self.feature_names_)
        n_outcomes = max(group.curves.n_outcomes for group in groups)
        tables = tables_of(groups, [group.chances(grid) for group in groups], rows.X.shape[1], n_outcomes, len(grid))
        share = posterior_of(rows, tables)
        scores, tied = [], []
        for group in groups:
            chance, by_free = group.curves.derivatives(group.given, grid)
            by_log = by_free / np.maximum(chance, LEAST_CHANCE)[..., None]
            scores.append(item_scores(rows.X[:, group.columns], share, by_log))
            tied.append((np.arange(group.curves.n_free) == 0) & group.tied)
        by_group = covariances(scores, rows.weight, [group.precision for group in groups], tied)
        values = []
        for group, covariance in zip(groups, by_group):
            by_free = self._on_scale(group.curves.to_reported(group.given)[1])
            variance = np.einsum("jrp,jpq,jrq->jr", by_free, covariance, by_free)
            values.append(np.sqrt(np.maximum(variance, 0.0)))
        count = sum(group.columns.max(initial=-1) < self.n_features_in_ for group in groups)
        return _parameters(groups[:count], values[:count], self.n_features_in_, 0.0, self.feature_names_)

    def _check_stored_fit(self) -> None:
        super()._check_stored_fit()
        require_numbers(self, "ability_", len(self.weights_))
        items = require_part(self, "items_", ItemParameters)
        require(len(items) == self.n_features_in_, "items_ are of other features")


def _parameters(
    groups: list[Group],
    values: list[FloatArray],
    n_items: int,
    asymptotes: float = 1.0,
    names: Sequence[Any] | None = None,
) -> ItemParameters:
    """What groups of items report, item by item."""
    items: list[Item] = [("graded", [], [], 0.0, asymptotes)] * n_items
    for group, reported in zip(groups, values):
        size = group.curves.n_outcomes - 1
        for column, own in zip(group.columns.tolist(), reported.tolist()):
            items[column] = (group.curves.kind, own[:size], own[size : 2 * size], own[-2], own[-1])
    return join_items(items, None if names is None else tuple(map(str, names)))
