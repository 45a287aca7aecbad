"""Rules about what may be asked: content areas, enemies, starting and mandatory questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.files import read_json
from seqclass._utils.model_files import register
from seqclass._utils.prices_after import PriceAfter
from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import check_integer, columns_of
from seqclass.pomdp.answer_rules import AnswerRules
from seqclass.pomdp.constraints import ConstraintStatus
from seqclass.pomdp.one_step import remaining_questions
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.skipped import check_targets, find_open_questions, find_price_levels
from seqclass.pomdp.skips import SkipLogic, answer_rules
from seqclass.pomdp.table_problem import in_any_order
from seqclass.pomdp.ties import affords, budget_of
from seqclass.pomdp.visits import NO_VISITS

__all__ = ["QuestionRules", "Rules"]

#: Most areas that are tied together by enemies: all their subsets are looked at.
_MOST_TIED = 8


@register
@dataclass
class Rules:
    """What may be asked, and what has to be, whatever pays: the habits of testing, and of clinics.

    They belong to the problem: a question is open only while what has to be asked can still be asked after it, and
    nothing is decided before all of that was. So plans, bounds, sessions and certificates know them, and the recursion
    over partial answers stays exact, for what they allow depends on these alone. They need an
    order in which any question may come next (``order="adaptive"``), but for skip logic alone, by which a fixed order
    passes over what is not asked. What is missing counts as asked, and so does what
    is known at the start (``known=``). A column that ``max_candidates`` leaves out and that is told all the same does
    not: its enemies stay open. A bundle (a testlet) is one question and counts once. With ``max_cost`` money is set
    aside at full prices for what has to be asked yet.

    Parameters
    ----------
    areas : mapping of str to mapping
        Areas of content (Kingsbury and Zara 1991 [1]_): of each by its name ``"items"``, its columns, as names or
        numbers, and how many are asked ``"at_least"`` and ``"at_most"``, of which either may be left out. A column is
        in one area at most.
    enemies : sequence of sequence
        Groups of columns that exclude one another: at most one of each group is asked.
    first : sequence
        Columns that are asked before any other, in this order. They are not mandatory by that: who may be decided at
        once is not asked them.
    mandatory : sequence
        Columns that everybody is asked.
    skip : SkipLogic, sequence or mapping
        Columns that are asked only after another was answered, or answered so; see `seqclass.SkipLogic`, which may also
        stand for rules that say nothing else. What it may leave out cannot be mandatory.

    References
    ----------
    .. [1] G. G. Kingsbury and A. R. Zara, "A comparison of procedures for content-sensitive item selection in
       computerized adaptive tests", Applied Measurement in Education 4, 1991.

    Examples
    --------
    >>> from seqclass.exams import ItemResponse
    >>> from seqclass import Rules, SequentialClassifier
    >>> exam = ItemResponse.from_items({"b": [-1, -0.5, 0, 0.5, 1]}, cuts=[0.0])
    >>> rules = Rules(areas={"algebra": {"items": ["x0", "x1"], "at_least": 1}}, enemies=[["x1", "x2"]], first=["x3"])
    >>> clf = SequentialClassifier.from_model(exam, feature_costs=0.2, rules=rules)
    >>> case = clf.session()
    >>> while (item := case.next_feature) is not None:
    ...     case.observe(item.name, 1)
    ...     print(item.name, case.posterior.round(2))
    x3 [0.29 0.71]
    x0 [0.22 0.78]
    """

    areas: Any = field(default_factory=dict)
    enemies: Any = ()
    first: Any = ()
    mandatory: Any = ()
    skip: Any = ()

    def __post_init__(self) -> None:
        """Keep lists, which are read and saved as often as need be, in the place of iterators, sets and arrays."""
        if isinstance(self.areas, Mapping):
            self.areas = {
                name: {**area, "items": _plain(area["items"])}
                if isinstance(area, Mapping) and "items" in area
                else area
                for name, area in self.areas.items()
            }
        self.enemies, self.first, self.mandatory = map(_plain, (self.enemies, self.first, self.mandatory))
        if isinstance(self.enemies, (list, tuple)):
            self.enemies = type(self.enemies)(map(_plain, self.enemies))
        self.skip = SkipLogic.from_value(self.skip) if self.skip else ()

    @classmethod
    def from_value(cls, given: Any) -> Rules | None:
        """Return rules as they are, or made of what a user gave.

        Parameters
        ----------
        given : Rules, SkipLogic, mapping or None
            Rules, or their parts by name, as a file has them; or skip logic alone.

        Returns
        -------
        Rules or None
            None where nothing was given, or nothing in it.

        Raises
        ------
        ValueError
            If there is no such part, or one is wrong.

        Examples
        --------
        >>> Rules.from_value({"first": ["age"]}).first
        ['age']
        """
        if given is None:
            return None
        if isinstance(given, SkipLogic):
            given = cls(skip=given)
        if isinstance(given, Mapping):
            names = [part.name for part in fields(cls)]
            if unknown := [name for name in given if name not in names]:
                raise ValueError(f"rules: there is no {short_repr(unknown[0])}; there are {join_names(names)}.")
            given = cls(**given)
        if not isinstance(given, cls):
            raise ValueError(
                f"rules must be a seqclass.Rules or a mapping of its parts, or a seqclass.SkipLogic, got "
                f"{short_repr(given)}."
            )
        given._check()
        return given if any(len(getattr(given, part.name)) for part in fields(given)) else None

    @classmethod
    def read(cls, path: str | Path) -> Rules:
        """Read a JSON file, an object of ``areas``, ``enemies``, ``first``, ``mandatory``, ``skip``; any may lack.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Rules

        Raises
        ------
        ValueError
            If it holds anything else.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "rules.json"
        ...     _ = path.write_text('{"enemies": [["CT", "MRI"]], "first": ["history"]}')
        ...     Rules.read(path)
        Rules(areas={}, enemies=[['CT', 'MRI']], first=['history'], mandatory=(), skip=())
        """
        try:
            content = read_json(Path(path).read_text("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path} is no JSON ({error}): write an object of areas, enemies, first and so on."
            ) from error
        if not isinstance(content, dict):
            raise ValueError(
                f"{path} must hold an object of areas, enemies, first and mandatory, got {short_repr(content)}."
            )
        try:
            return cls.from_value(content) or cls()
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def _check(self) -> None:
        self.__post_init__()  # of what was set since
        if not isinstance(self.areas, Mapping):
            raise ValueError(f"rules: areas must be a mapping of names to areas, got {short_repr(self.areas)}.")
        for name, area in self.areas.items():
            keys = ("items", "at_least", "at_most")
            if not isinstance(area, Mapping) or "items" not in area or any(key not in keys for key in area):
                raise ValueError(
                    f'rules: area {short_repr(name)} must be a mapping such as {{"items": [...], "at_least": 1, '
                    f'"at_most": 3}}, got {short_repr(area)}.'
                )
            _list(area["items"], f"the items of area {short_repr(name)}")
            least, most = self._bounds(name)
            if most < least:
                raise ValueError(
                    f"rules: area {short_repr(name)} is to have at least {least} and at most {most}: lower at_least, "
                    "or raise at_most."
                )
        for group in _list(self.enemies, "enemies"):
            if len(_list(group, "each group of enemies")) < 2:
                raise ValueError(f"rules: a group of enemies has two columns or more, got {short_repr(group)}.")
        for name in ("first", "mandatory"):
            _list(getattr(self, name), name)

    def _bounds(self, name: Any) -> tuple[int, int]:
        least, most = self.areas[name].get("at_least"), self.areas[name].get("at_most")
        what, n = f"of area {short_repr(name)}", np.iinfo(np.int32).max
        return (
            0 if least is None else check_integer(least, f"at_least {what}", 0),
            n if most is None else check_integer(most, f"at_most {what}", 0),
        )

    def numbers(self, n_columns: int, names: Iterable[Any] | None = None) -> Rules:
        """Return the same by numbers of columns.

        Parameters
        ----------
        n_columns : int
            Number of columns.
        names : iterable of str, optional
            Their names.

        Returns
        -------
        Rules

        Raises
        ------
        ValueError
            If a column is unknown or named twice, or is in two areas.

        Examples
        --------
        >>> Rules(first=["b"]).numbers(2, ["a", "b"]).first
        [1]
        """
        self._check()
        names = None if names is None else list(names)

        def columns(given: Any, what: str) -> list[int]:
            return [int(column) for column in columns_of(given, n_columns, names, f"rules: {what}")]

        areas = {
            name: dict(area) | {"items": columns(area["items"], f"area {short_repr(name)}")}
            for name, area in self.areas.items()
        }
        home: dict[int, Any] = {}
        for name, area in areas.items():
            for column in area["items"]:
                if column in home:
                    called = short_repr(f"x{column}" if names is None else str(names[column]))
                    raise ValueError(
                        f"rules: {called} is in area {short_repr(home[column])} and in area {short_repr(name)}: an "
                        "item counts for one area."
                    )
                home[column] = name
        enemies = [columns(group, "enemies") for group in self.enemies]
        skip = self.skip.numbers(n_columns, names) if self.skip else ()
        return Rules(areas, enemies, columns(self.first, "first"), columns(self.mandatory, "mandatory"), skip)

    def of_questions(self, members: Sequence[IntArray], names: Any = None) -> QuestionRules:
        """Return the same by questions.

        Parameters
        ----------
        members : sequence of ndarray of int
            Columns that each question shows.
        names : sequence of str or mapping of int to str, optional
            What columns are called in messages.

        Returns
        -------
        QuestionRules

        Raises
        ------
        ValueError
            If a column that has to be asked, or comes first, is shown by no question, or a bundle is in two areas.

        Examples
        --------
        >>> Rules(enemies=[[0, 2]]).of_questions([np.array([0]), np.array([1]), np.array([2])]).enemies
        array([[ True, False,  True]])
        """
        place = {int(column): question for question, columns in enumerate(members) for column in columns}

        def name_of(column: int) -> str:
            return f"x{column}" if names is None else str(names[column])

        def questions(columns: Sequence[int], what: str) -> list[int]:
            if gone := [column for column in columns if column not in place]:
                raise ValueError(
                    f"rules: {what} names {short_repr(name_of(gone[0]))}, which is never asked here: it is known at "
                    "the start or left out of the model; take it out of the rules."
                )
            return list(dict.fromkeys(place[column] for column in columns))

        n = len(members)
        area: IntArray = np.full(n, -1)
        for number, name in enumerate(self.areas):
            items = np.array([place[column] for column in self.areas[name]["items"] if column in place], dtype=np.intp)
            if (area[items] >= 0).any():
                raise ValueError(
                    f"rules: a bundle is in area {short_repr(name)} and in another one: it counts for one area."
                )
            area[items] = number
        groups: list[BoolArray] = []
        for group in self.enemies:
            hit = np.zeros(n, dtype=bool)
            hit[[place[column] for column in group if column in place]] = True
            groups += [hit] if hit.sum() > 1 else []
        enemies = np.array(groups, dtype=bool).reshape(-1, n)
        first, mandatory = (np.array(questions(getattr(self, k), k), dtype=np.intp) for k in ("first", "mandatory"))
        called_areas = tuple(str(name) for name in self.areas)
        shown_as = tuple(" and ".join(name_of(int(column)) for column in columns) for columns in members)
        least, most = np.array([self._bounds(name) for name in self.areas], dtype=np.intp).reshape(-1, 2).T
        return QuestionRules(area, least, most, enemies, first, mandatory, called_areas, shown_as)


def _plain(given: Any) -> Any:
    """Sets in order, arrays and what can be gone through once as lists; all else as it is."""
    if isinstance(given, (str, bytes, Mapping, list, tuple)) or not isinstance(given, Iterable):
        return given
    if isinstance(given, (set, frozenset)):
        return sorted(given, key=lambda one: (len(str(one)), str(one)))
    return given.tolist() if isinstance(given, np.ndarray) else list(given)


def _list(given: Any, what: str) -> list[Any]:
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise ValueError(f"rules: {what} must be a list, got {short_repr(given)}.")
    return list(given)


@register
@dataclass(frozen=True, eq=False)
class QuestionRules:
    """Rules by the questions of a problem; see `Rules`.

    Attributes
    ----------
    area : ndarray of int of shape (n_questions,)
        Area of each question, -1 for none.
    at_least, at_most : ndarray of int of shape (n_areas,)
        How many questions of each area are asked.
    enemies : ndarray of bool of shape (n_groups, n_questions)
        Questions of each group, of which at most one is asked.
    first, mandatory : ndarray of int
        Questions that come first, in this order, and that are always asked.
    areas, questions : tuple of str
        What areas and questions are called.
    answers : AnswerRules or None
        Which answers open others or imply them, by the features that questions show.
    prices : tuple of PriceAfter
        Where prices that depend on answers lie, 0 for the least and 1 for the full one; the last that holds counts.

    Examples
    --------
    >>> rules = Rules(mandatory=[1]).of_questions([np.array([0]), np.array([1])])
    >>> rules.compelled
    array([False,  True])
    """

    area: IntArray
    at_least: IntArray
    at_most: IntArray
    enemies: BoolArray
    first: IntArray
    mandatory: IntArray
    areas: tuple[str, ...]
    questions: tuple[str, ...]
    answers: AnswerRules | None = None
    prices: tuple[PriceAfter, ...] = ()

    def take(self, questions: IntArray) -> QuestionRules:
        """Return the rules of some questions, among which those that come first or are mandatory must be."""
        place = np.full(len(self.area), -1)
        place[questions] = np.arange(len(questions))
        return replace(
            self,
            area=self.area[questions],
            enemies=self.enemies[:, questions],
            first=place[self.first],
            mandatory=place[self.mandatory],
            questions=tuple(self.questions[question] for question in questions.tolist()),
        )

    @cached_property
    def needed(self) -> BoolArray:
        """Questions that stay where some are left out: all that come first, are mandatory or of an area to be asked."""
        needed = (self.area >= 0) & (np.append(self.at_least, 0)[self.area] > 0)
        needed[self.first] = needed[self.mandatory] = True
        return needed

    @property
    def limits(self) -> bool:
        """Whether they are about more than prices."""
        return bool(self.has_requirements or self.areas or len(self.enemies) or self.first.size or self.answers)

    @property
    def has_requirements(self) -> bool:
        """Whether deciding is ever closed: something has to be asked."""
        return bool(self.mandatory.size or self.at_least.any())

    @cached_property
    def compelled(self) -> BoolArray:
        """Questions that everybody is asked: the mandatory ones, and what has to come before them."""
        compelled = np.zeros(len(self.area), dtype=bool)
        compelled[self.mandatory] = True
        if not self.has_requirements:
            return compelled
        for last in range(self.first.size + 1):
            head = self.first[:last]
            count = np.bincount(self.area[head][self.area[head] >= 0], minlength=len(self.areas))
            if (count >= self.at_least).all() and np.isin(self.mandatory, head).all():
                break  # those before the others are enough
        compelled[head] = True
        return compelled

    @cached_property
    def _foes(self) -> BoolArray:
        """Whether two questions exclude each other."""
        foes: BoolArray = (self.enemies.T.astype(np.float32) @ self.enemies.astype(np.float32)) > 0
        np.fill_diagonal(foes, False)
        return foes

    @cached_property
    def _never(self) -> BoolArray:
        """Questions that are never open, for they exclude what has to be asked."""
        return np.asarray(self._foes[self.compelled].any(axis=0))

    @cached_property
    def _unit(self) -> IntArray:
        """Number of the group of enemies of each question, a number of its own where it has no enemies."""
        unit: IntArray = np.arange(len(self.area)) + len(self.enemies)
        for number, group in enumerate(self.enemies):
            unit[group] = number
        return unit

    @cached_property
    def _sets(self) -> list[IntArray]:
        """Sets of areas that have to find enough questions together: one each, and those tied by enemies."""
        wanted = np.flatnonzero(self.at_least > 0)
        tied = {int(a): {int(a)} for a in wanted}
        for group in self.enemies:
            areas = [int(a) for a in np.unique(self.area[group & ~self._never]) if int(a) in tied]
            joint = set().union(*(tied[a] for a in areas))
            for a in joint:
                tied[a] = joint
        sets: list[IntArray] = []
        for whole in sorted({tuple(sorted(some)) for some in tied.values()}):
            if len(whole) > _MOST_TIED:
                raise ValueError(
                    f"rules: enemies tie {len(whole)} areas with at_least together, and at most {_MOST_TIED} can be "
                    "kept in step: give fewer enemies across areas."
                )
            sets += [np.array(some) for size in range(1, len(whole) + 1) for some in combinations(whole, size)]
        return sets

    @cached_property
    def _takes(self) -> IntArray:
        """How many asking each question takes away of what a set of areas can find, (n_sets, n_questions)."""
        result = np.zeros((len(self._sets), len(self.area)), dtype=np.intp)
        for number, some in enumerate(self._sets):
            inside = np.isin(self.area, some) & ~self._never & ~self.compelled
            # an item of these areas is in one group at most, another question may be in several
            groups = self.enemies[(self.enemies & inside).any(axis=1)]
            result[number] = np.where(self.compelled, 0, np.maximum(groups.sum(axis=0), inside))
        return result

    def check(self, problem: AcquisitionProblem) -> None:
        """Refuse what cannot be met in a problem."""
        needed = self.compelled | ((self.area >= 0) & (np.append(self.at_least, 0)[self.area] > 0))
        check_targets(self.answers, problem, needed, self.questions)
        named = self.compelled.copy()
        named[self.first] = True
        if (together := np.argwhere(self._foes[np.ix_(named, named)])).size:
            pair = [self.questions[q] for q in np.flatnonzero(named)[together[0]]]
            raise ValueError(
                f"rules: {pair[0]} and {pair[1]} are mandatory or come first, and are enemies: take one of them out."
            )
        whose = self.area[(self.enemies.sum(axis=0) > 1) & ~self._never]
        if (whose := whose[whose >= 0]).size and self.at_least[whose].any():
            name = self.areas[int(whose[self.at_least[whose].argmax()])]
            raise ValueError(
                f"rules: an item of area {short_repr(name)} is in two groups of enemies, and the area has at_least: "
                "make the groups one, or leave at_least out."
            )
        across = [self.area[group & ~self._never] for group in self.enemies]
        unequal = any(self.at_least[a[a >= 0]].any() and np.ptp(a) for a in across if a.size)
        if problem.limits.max_cost is not None and unequal:
            raise ValueError(
                "rules: max_cost does not know what to set aside where items of an area with at_least have enemies "
                "beyond it: use max_features, or leave one of these out."
            )
        count = np.bincount(self.area[named & (self.area >= 0)], minlength=len(self.areas))
        if (over := count > self.at_most).any():
            full = int(over.argmax())
            raise ValueError(
                f"rules: {int(count[full])} of area {short_repr(self.areas[full])} are mandatory or come first, and at "
                f"most {int(self.at_most[full])} may be asked: raise at_most."
            )
        self._check_enough(problem)

    def _check_enough(self, problem: AcquisitionProblem) -> None:
        nothing = np.zeros((1, len(self.area)), dtype=bool)
        book = _FeasibilityTracker(self, problem, nothing, np.zeros(1), np.zeros(1, dtype=np.intp))
        if ((slack := book.slack[0]) < 0).any():
            first = int((slack < 0).argmax())
            some = self._sets[first]
            names, least = join_names([self.areas[a] for a in some]), int(book.need[0, some].sum())
            short = least + int(slack[first])
            raise ValueError(
                f"rules: at_least asks for {least} items of area {names} beside the mandatory ones, and {short} can be "
                "asked, enemies counted once: lower at_least, or give the area more items."
            )
        most = int(book.required[0])
        if most > problem.n_stages:
            raise ValueError(
                f"rules: {most} questions have to be asked, and at most {problem.n_stages} may be: raise max_features, "
                "or ask for less."
            )
        if problem.limits.max_cost is not None and not affords(problem.limits.max_cost, book.reserve[0]):
            raise ValueError(
                f"rules: what has to be asked costs {book.reserve[0]:g} at full prices, above max_cost="
                f"{problem.limits.max_cost:g}: raise that, or ask for less."
            )

    def status(self, belief: BeliefState) -> ConstraintStatus:
        """How instances stand to the rules."""
        return self._tracker(belief).status(belief)

    def price_levels(self, belief: BeliefState) -> FloatArray | None:
        """Where prices that depend on answers lie between the least and the full ones, (n, n_questions)."""
        return find_price_levels(self.prices, belief) if self.prices else None

    def _tracker(self, belief: BeliefState) -> _FeasibilityTracker:
        """What can still be asked of what has to be."""
        left = np.full(len(belief), belief.problem.n_stages - belief.stage)
        asked = ~remaining_questions(belief) if belief.observed is None else belief.observed >= -1
        book = _FeasibilityTracker(self, belief.problem, asked, belief.spent, left)
        book.settle()
        return book

    def lower_bound(self, belief: BeliefState) -> FloatArray:
        """No way of asking what has to be asked costs less, (n,); enemies, groups and what is missing left aside."""
        book = self._tracker(belief)
        book.prices = belief.problem.prices
        return book.reserve

    def upper_bound(self, belief: BeliefState) -> FloatArray:
        """Asking what has to be asked costs no more, (n,), whichever of an area is asked."""
        book, prices = self._tracker(belief), belief.problem.full_prices
        dearest = [prices[self.area == area].max(initial=0.0) for area in range(len(self.areas))]
        return np.asarray(book.must @ prices + book.need @ np.array(dearest))


class _FeasibilityTracker:
    """What has to be asked yet, and what is left for it, by sets of questions asked, (n, n_questions)."""

    def __init__(
        self, rules: QuestionRules, problem: AcquisitionProblem, asked: BoolArray, spent: FloatArray, left: IntArray
    ) -> None:
        self.rules, self.problem, self.asked, self.spent, self.left = rules, problem, asked, spent, left
        self.prices: FloatArray = problem.full_prices
        #: Questions that are still to be asked of everybody, (n, n_questions).
        self.must = rules.compelled & ~asked
        self._count()

    def _count(self) -> None:
        """What areas need and have room for, (n, n_areas), and which questions may be asked sometime."""
        rules, asked = self.rules, self.asked
        of_area = (rules.area[:, None] == np.arange(len(rules.areas))).astype(np.float64)
        count = (asked | self.must) @ of_area
        self.need = np.maximum(rules.at_least - count, 0)
        open_: BoolArray = ~asked & ~rules._never & (self.must | ~self._by_area(rules.at_most <= count))
        if len(rules.enemies):
            open_ &= (asked.astype(np.float32) @ rules._foes.astype(np.float32)) == 0
        self.there = open_

    def settle(self) -> None:
        """Take out what can no longer be met, since answers were told that nobody asked for; the rest stays."""
        if (gone := self.must & ~self.there).any():
            self.must = self.must & ~gone
            self._count()
        sets = self.rules._sets
        if (self.slack < 0).any():
            # area by area as many as all sets with those before it can find: these numbers are a polymatroid
            for number in sorted(range(len(sets)), key=lambda number: int(sets[number][-1])):
                others, last = sets[number][:-1], sets[number][-1]
                most = self._supply[:, number] - self.need[:, others].sum(axis=1)
                self.need[:, last] = np.minimum(self.need[:, last], most)
        first = self.rules.first
        rest = np.setdiff1d(np.flatnonzero(self.rules.compelled), first)
        compelled = np.append(first[self.rules.compelled[first]], rest)
        if (self.required > self.left).any():
            must = self.must[:, compelled]
            self.must[:, compelled] = must & (np.cumsum(must, axis=1) <= self.left[:, None])
            before = self.must.sum(axis=1)[:, None] + np.cumsum(self.need, axis=1) - self.need
            self.need = np.clip(self.left[:, None] - before, 0, self.need)
        most = self.problem.limits.max_cost
        if most is not None and not affords(most, self.spent + self.reserve).all():
            self._afford(budget_of(most) - self.spent, compelled)
        for name in ("_dearest", "reserve"):  # of other needs, or other prices
            self.__dict__.pop(name, None)

    def _afford(self, rest: FloatArray, compelled: IntArray) -> None:
        """Take out what there is no money for."""
        for question in compelled.tolist():
            self.must[:, question] &= self.prices[question] <= rest
            rest = rest - self.must[:, question] * self.prices[question]
        for area in np.flatnonzero(self.rules.at_least > 0):
            taken, price = self._cheapest(int(area))
            taken &= np.cumsum(taken * price, axis=1) <= rest[:, None]
            self.need[:, area] = taken.sum(axis=1)
            rest = rest - taken @ price

    @property
    def required(self) -> FloatArray:
        """Number of questions that have to be asked yet, (n,)."""
        return np.asarray(self.must.sum(axis=1) + self.need.sum(axis=1))

    @cached_property
    def _supply(self) -> FloatArray:
        """How many questions each set of areas can find, enemies counted once, (n, n_sets)."""
        rules = self.rules
        result: FloatArray = np.zeros((len(self.asked), len(rules._sets)))
        for number, some in enumerate(rules._sets):
            items = np.flatnonzero(np.isin(rules.area, some) & ~rules._never & ~rules.compelled)
            items = items[np.argsort(rules._unit[items], kind="stable")]
            if items.size:
                begins = np.flatnonzero(np.diff(rules._unit[items], prepend=-1))
                result[:, number] = np.maximum.reduceat(self.there[:, items], begins, axis=1).sum(axis=1)
        return result

    @property
    def slack(self) -> FloatArray:
        """By how many more than needed each set of areas can find, (n, n_sets): Hall's theorem says all have enough."""
        slack: FloatArray = self._supply.copy()
        for number, some in enumerate(self.rules._sets):
            slack[:, number] -= self.need[:, some].sum(axis=1)
        return slack

    @cached_property
    def _dearest(self) -> tuple[FloatArray, FloatArray]:
        """What the cheapest way of asking what areas need costs, (n,), and its dearest question, (n, n_areas)."""
        total, last = np.zeros(len(self.asked)), np.zeros(self.need.shape)
        for area in np.flatnonzero(self.rules.at_least > 0):
            taken, price = self._cheapest(int(area))
            total += taken @ price
            last[:, area] = np.where(taken, price, 0.0).max(axis=1, initial=0.0)
        return total, last

    def _cheapest(self, area: int) -> tuple[BoolArray, FloatArray]:
        """The cheapest that an area needs, of each group of enemies one, (n, m), and prices, the cheapest first."""
        rules = self.rules
        questions = np.flatnonzero((rules.area == area) & ~rules._never & ~rules.compelled)
        questions = questions[np.argsort(self.prices[questions], kind="stable")]
        questions = questions[np.sort(np.unique(rules._unit[questions], return_index=True)[1])]
        there = self.there[:, questions]
        return there & (np.cumsum(there, axis=1) <= self.need[:, area, None]), self.prices[questions]

    @cached_property
    def reserve(self) -> FloatArray:
        """Price of what has to be asked yet, (n,)."""
        return np.asarray(self.must @ self.prices + self._dearest[0])

    def status(self, belief: BeliefState) -> ConstraintStatus:
        """See `QuestionRules.status`."""
        rules, problem, allowed = self.rules, self.problem, self.there
        if rules.answers is not None:
            allowed = allowed & find_open_questions(rules.answers, belief)
        # what comes first and was taken out does not keep the others waiting
        pending = (allowed & remaining_questions(belief) & (self.must | ~rules.compelled))[:, rules.first]
        waits = np.flatnonzero(pending.any(axis=1))
        if waits.size:
            allowed = allowed.copy()
            allowed[waits] = False
            allowed[waits, rules.first[pending[waits].argmax(axis=1)]] = True
        if not rules.has_requirements:
            never = np.zeros(allowed.shape, dtype=bool)
            return ConstraintStatus(allowed, never, np.zeros(len(never), dtype=bool), never)
        # asking serves what has to be asked, or takes from what is left for that
        wanted = self._by_area(self.need > 0) & ~self.must
        serves, required, slack = self.must | wanted, self.required, self.slack
        after = (required - self.left)[:, None] + ~serves <= 0
        for number, some in enumerate(rules._sets):
            tight = (slack[:, number, None] < rules._takes[number]) & (self.need[:, some] > 0).all(axis=1)[:, None]
            after &= ~tight | (wanted & np.isin(rules.area, some))
        if problem.limits.max_cost is not None:
            after &= affords(problem.limits.max_cost, self.spent[:, None] + belief.prices + self._reserve_after(wanted))
        allowed = allowed & after
        closed: BoolArray = required > 0
        return ConstraintStatus(allowed, serves & allowed, closed, required[:, None] - serves > 0)

    def _reserve_after(self, wanted: BoolArray) -> FloatArray:
        """What has to be set aside once each question was asked, (n, n_questions)."""
        rules, counts = self.rules, ~self.rules._never & ~self.rules.compelled
        cheapest = np.full(len(rules.area) + len(rules.enemies), np.inf)
        np.minimum.at(cheapest, rules._unit[counts], self.prices[counts])
        # it was set aside itself, or the dearest that was set aside is not needed any more
        less = np.minimum(cheapest[rules._unit], self._by_area(self._dearest[1]))
        less = np.where(self.must, self.prices, np.where(wanted, less, 0.0))
        return np.asarray(self.reserve[:, None] - less)

    def _by_area(self, values: Any) -> Any:
        """What holds of the area of each question, (n, n_questions); nothing where it is in none."""
        return np.append(values, np.zeros((len(values), 1), dtype=values.dtype), axis=1)[:, self.rules.area]


def rules_of(problem: AcquisitionProblem) -> QuestionRules | None:
    """The rules of a problem, if it has any."""
    rules = problem.limits.rules
    assert rules is None or isinstance(rules, QuestionRules)  # there are no others
    return rules


def with_rules(
    problem: AcquisitionProblem, rules: Rules | QuestionRules | Mapping[str, Any] | None
) -> AcquisitionProblem:
    """Return the problem in which rules say what may be asked, and what has to be before anything is decided.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem without rules.
    rules : Rules, QuestionRules, mapping or None
        The rules, by the numbers of `features` or by questions; None: as it is.

    Returns
    -------
    AcquisitionProblem

    Raises
    ------
    ValueError
        If the order is fixed, visits cost something, or rules are wrong or cannot be met; in one sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import Rules
    >>> from seqclass.pomdp import TableProblem, optimal_cost
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.3, any_order=True)
    >>> round(optimal_cost(problem), 3), round(optimal_cost(with_rules(problem, Rules(mandatory=[1]))), 3)
    (0.45, 0.45)
    """
    asked = rules if isinstance(rules, QuestionRules) else Rules.from_value(rules)
    if asked is None:
        return problem
    if problem.visits is not None:
        raise ValueError(NO_VISITS)
    if isinstance(asked, Rules):
        members = [problem.structure.members(question) for question in range(problem.n_questions)]
        n, naming = 1 + max((int(columns.max()) for columns in members), default=-1), problem._naming
        place = {int(j): int(j) for columns in members for j in columns}
        asked = asked.numbers(n, [naming.feature(j) for j in range(n)] if naming.features else None)
        others = asked.areas or asked.enemies or asked.first or asked.mandatory
        if asked.skip and not others and not problem.any_order:
            # skip logic alone: what is left out is passed over
            problem, asked = in_any_order(problem), replace(asked, first=list(place))
        sizes = np.ones(n, dtype=np.intp)
        for question, columns in enumerate(members):
            bundle = problem.structure.bundle(question)
            sizes[columns] = problem.n_outcomes[question] if bundle is None else bundle.sizes
        answers = answer_rules(asked.skip, naming, place, sizes) if asked.skip else None
        asked = replace(asked.of_questions(members), answers=answers)
    if not problem.any_order:
        raise ValueError(
            'rules: a fixed order asks everybody the same; take order="adaptive" (any_order=True), or write the '
            "order as rules would."
        )
    if (before := rules_of(problem)) is not None:  # which may say what depends on answers
        asked = replace(asked, prices=before.prices)
    asked.check(problem)
    return problem.replace(rules=asked)
