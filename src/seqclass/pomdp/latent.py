"""Hidden states beside the class, given which the answers are independent of one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import CACHE_BYTES, TINY, FloatArray, IntArray, chunks, equal_errors, row_sums

__all__ = ["Hidden"]


def pad_tables(tables: FloatArray | Sequence[FloatArray], n_outcomes: IntArray) -> FloatArray:
    """Tables of all questions as one array, zero beyond a question's own outcomes."""
    if isinstance(tables, np.ndarray):
        return tables
    width = tables[0].shape[-1] if tables else 1
    result = np.zeros((len(tables), int(n_outcomes.max(initial=1)), width))
    for row, table in zip(result, tables):
        row[: len(table)] = table
    return result


def unpad_tables(tables: FloatArray) -> tuple[FloatArray, IntArray | None]:
    """Rows of tables, an outcome each, (R, n_classes), and where those of each question begin.

    Where at least half are padding, as where one question has many more outcomes than others, it is left out; else
    there is a row for it too, and no beginnings (None).
    """
    flat = tables.reshape(-1, tables.shape[-1])
    used = row_sums(flat) > 0
    if 2 * used.sum() >= len(flat):
        return flat, None
    return flat[used], np.append(0, used.reshape(tables.shape[:2]).sum(axis=1).cumsum()[:-1])


def by_question(values: FloatArray, n_questions: int, starts: IntArray | None) -> FloatArray:
    """Sums over the outcomes of each question, (n, n_questions), of values by rows that `unpad_tables` gave, (n, R)."""
    if starts is not None:
        return np.asarray(np.add.reduceat(values, starts, axis=1))
    return row_sums(values.reshape(len(values), n_questions, values.shape[1] // max(n_questions, 1)))


def one_per_belief(tables: FloatArray) -> tuple[FloatArray, IntArray] | None:
    """Tables in which outcomes that give the same belief are one, and of each the outcome that stands for it, (m, V).

    They are those of a question whose likelihoods are multiples of one another, as of rare categories that were counted
    as often. None where less than half of all would be spared, or no question has many outcomes.
    """
    n, width, n_classes = tables.shape
    # outcomes of a question from which on it is looked which of them give the same belief
    if width < 32:
        return None
    flat, question = tables.reshape(-1, n_classes), np.repeat(np.arange(n), width)
    # share by share to 40 bits, since what is next to nothing now may be all that counts after further answers
    mantissa, exponent = np.frexp(flat / np.maximum(flat.max(axis=1, keepdims=True), TINY))
    keys = np.column_stack([question, np.rint(mantissa * 2.0**40), exponent])
    largest = np.argsort(-row_sums(flat), kind="stable")  # its belief does not drown in rounding
    _, first, kind = np.unique(keys[largest], axis=0, return_index=True, return_inverse=True)
    some = largest[first]
    used = row_sums(flat) > 0
    if 2 * used[some].sum() > used.sum():
        return None
    stands_for = np.empty(len(flat), dtype=np.intp)
    stands_for[largest] = some[kind.reshape(-1)]
    place = np.empty(len(flat), dtype=np.intp)
    place[some] = np.arange(len(some)) - np.searchsorted(question[some], question[some])  # sorted by question first
    merged = np.zeros((n, int(place[some].max()) + 1, n_classes))
    np.add.at(merged, (question, place[stands_for]), flat)
    return merged, (stands_for % width).reshape(n, width)


class StateTables:
    """P(outcome | hidden state) of some questions, class by class.

    Attributes
    ----------
    by_class : list of ndarray of shape (n_states, R)
        The tables of each class's states, an outcome of a question a column; see `unpad_tables`.
    """

    def __init__(self, questions: IntArray, table: FloatArray, members: list[IntArray]) -> None:
        self.questions, self.members, self.shape = questions, members, table.shape[:2]
        self._place = np.full(1 + questions.max(initial=-1), -1)
        self._place[questions] = np.arange(len(questions))
        flat, self._starts = unpad_tables(table)
        if all(own.size == 1 for own in members):  # one product serves all
            self._alone: IntArray = np.concatenate(members)
            self._whole: FloatArray | None = np.ascontiguousarray(flat[:, self._alone].T)
            self.by_class = [self._whole[c : c + 1] for c in range(len(members))]
            self._groups = [(self._alone, self._whole)]
        else:
            self._whole = None
            self.by_class = [np.ascontiguousarray(flat[:, own].T) for own in members]
            self._groups = list(zip(members, self.by_class))

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return sum(table.size for table in self.by_class)

    @cached_property
    def entropy(self) -> FloatArray:
        """Negative entropy in nats of the answer to each question in each hidden state, (n_hidden, m)."""
        entropy: FloatArray = np.empty((sum(map(len, self.members)), self.shape[0]))
        for own, table in zip(self.members, self.by_class):
            entropy[own] = self._sums(plogp(table))
        return entropy

    @cached_property
    def amplitudes(self) -> list[FloatArray]:
        """Roots of the tables, all in one where each class has one state."""
        return [np.sqrt(table) for table in (self.by_class if self._whole is None else [self._whole])]

    def places(self, questions: IntArray) -> IntArray | None:
        """Where some questions are among these; None if some are not, or they are fewer than half of these."""
        if len(questions) > len(self.questions) or 2 * len(questions) < len(self.questions):
            return None
        if questions.max(initial=-1) >= len(self._place):
            return None
        positions = self._place[questions]
        return None if (positions < 0).any() else positions

    def class_costs(self, states: FloatArray, vectors: FloatArray) -> FloatArray:
        """Expected cost of the best of some vectors after each question."""
        cost, n_classes = self._empty(states), len(self.members)
        # where all errors cost the same, one decides for the likeliest: with 50 classes 50 times less to work out
        error = equal_errors(vectors) if n_classes >= 16 and self._whole is not None else None
        if self._whole is not None and error is None and len(vectors) <= 4 * len(states):
            alone: FloatArray = states[:, self._alone]
            for part in self._parts(states, 3):
                best = (alone[part] * vectors[0]) @ self._whole
                for vector in vectors[1:]:
                    np.minimum(best, (alone[part] * vector) @ self._whole, out=best)
                cost[part] = self._sums(best)
            return cost
        for part in self._parts(states, max(n_classes, len(vectors))):
            joint = self._joint(states[part])
            if error is not None:
                best = error * (joint.sum(axis=0) - joint.max(axis=0))
            else:
                best = (vectors @ joint.reshape(n_classes, -1)).min(axis=0).reshape(joint.shape[1:])
            cost[part] = self._sums(best)
        return cost

    def _joint(self, states: FloatArray) -> FloatArray:
        """P(class, outcome), (n_classes, n, R)."""
        if self._whole is not None:
            return np.asarray(states.T[self._alone, :, None] * self._whole[:, None])
        joint = np.empty((len(self.members), len(states), self.by_class[0].shape[1]))
        for of_class, own, table in zip(joint, self.members, self.by_class):
            np.matmul(states[:, own], table, out=of_class)
        return joint

    def class_information(self, states: FloatArray) -> FloatArray:
        """I(answer; class) of each question in nats, (n, m)."""
        if self._whole is not None:
            return self.latent_information(states)
        result = self._empty(states)
        for part in self._parts(states, 4):
            total: FloatArray = np.zeros((part.stop - part.start, self.by_class[0].shape[1]))
            information, known = np.zeros_like(total), np.zeros((len(total), 1))
            for own, table in zip(self.members, self.by_class):
                of_class = states[part][:, own]
                both = of_class @ table
                total += both
                information += plogp(both)
                known += plogp(of_class.sum(axis=1, keepdims=True))
            information -= plogp(total)
            result[part] = self._sums(information) - known
        return result

    def latent_information(self, states: FloatArray) -> FloatArray:
        """I(answer; hidden state) of each question in nats, (n, m)."""
        result = self._empty(states)
        for part in self._parts(states, 3):
            predictive = np.asarray(sum(states[part][:, own] @ table for own, table in self._groups))
            within = states[part] @ self.entropy
            result[part] = within - self._sums(plogp(predictive))
        return result

    def separation(self, states: FloatArray) -> FloatArray:
        """Weight of the pairs of states of different classes that each question separates, (n, m)."""
        result = self._empty(states)
        for part in self._parts(states, 3):
            if self._whole is not None:
                result[part] = (1 - self._sums((states[part][:, self._alone] @ self.amplitudes[0]) ** 2)) / 2
                continue
            total: FloatArray = np.zeros((part.stop - part.start, self.by_class[0].shape[1]))
            within, alike = np.zeros((len(total), 1)), np.zeros_like(total)
            for own, amplitude in zip(self.members, self.amplitudes):
                of_class = states[part][:, own]
                both = of_class @ amplitude
                total += both
                within += of_class.sum(axis=1, keepdims=True) ** 2
                alike += both**2
            # twice the weight of all pairs is one less that of pairs within a class; so of pairs that answer alike
            result[part] = (1 - within - self._sums(total**2 - alike)) / 2
        return result

    def _sums(self, values: FloatArray) -> FloatArray:
        """Sums over the outcomes of each question."""
        return by_question(values, self.shape[0], self._starts)

    def _empty(self, states: FloatArray) -> FloatArray:
        return np.empty((len(states), self.shape[0]))

    def _parts(self, states: FloatArray, width: int) -> Iterator[slice]:
        """Rows of which ``width`` numbers of each answer fit into the cache, or a quarter of what the tables take."""
        most = max(CACHE_BYTES, 2 * self.size)  # tables beyond the cache are gone through for each part
        return chunks(len(states), 8.0 * width * self.by_class[0].shape[1], most)


def plogp(p: FloatArray) -> FloatArray:
    """``p log p``, zero at zero."""
    result = np.log(p + TINY)
    result *= p
    return np.asarray(result)


def nearly_nothing(kind: np.dtype[Any]) -> np.floating[Any]:
    """A number whose square is above 0 in a precision: a product of two sums with it has a logarithm."""
    return kind.type(np.sqrt(np.finfo(kind).tiny))  # type: ignore[no-any-return]


class Known(Protocol):
    """What latent states are worked out of: a `BeliefState`, or what reads like one."""

    @property
    def probabilities(self) -> FloatArray: ...

    @property
    def state(self) -> Any: ...

    def __len__(self) -> int: ...


class Hidden:
    """The hidden states of a problem: each belongs to a class, and given it the answers are independent.

    What is known of a class alone may hide what is known of its states: a question that says nothing about the class
    may say which other question does. Ordering rules look here for it. Tables of sets of questions are kept for when
    they are looked at again.

    Parameters
    ----------
    classes : ndarray of int of shape (n_hidden,)
        Class of each hidden state.
    likelihoods : ndarray of shape (n_questions, V, n_hidden)
        P(outcome | hidden state), zero beyond a question's own outcomes.
    n_outcomes : ndarray of int of shape (n_questions,)
        How many those are.

    Examples
    --------
    >>> from seqclass.pomdp import MixtureProblem
    >>> tables = np.array([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]])  # a question, its two outcomes, three hidden states
    >>> problem = MixtureProblem([0.25, 0.25, 0.5], [0, 1, 1], tables, prices=0.1, any_order=True)
    >>> problem.structure.latent.probability(problem.initial_belief())
    array([[0.25, 0.25, 0.5 ]])
    """

    def __init__(self, classes: IntArray, likelihoods: FloatArray, n_outcomes: IntArray) -> None:
        self.classes, self._likelihoods, self._n_outcomes = classes, likelihoods, n_outcomes
        self.members: list[IntArray] = [np.flatnonzero(classes == c) for c in range(int(classes.max()) + 1)]
        self._table_cache: list[StateTables] = []
        self._in_kind: dict[Any, list[list[npt.NDArray[np.floating]]]] = {}

    def probability(self, info: Known) -> FloatArray:
        """P(hidden state | what was seen), (n, n_hidden)."""
        return np.asarray(info.probabilities[:, self.classes] * info.state)

    def likelihoods_of(self, questions: IntArray) -> FloatArray:
        """P(outcome | hidden state) of some questions, (m, V, n_hidden); zero beyond a question's own outcomes."""
        return np.asarray(self._likelihoods[questions, : self._n_outcomes[questions].max(initial=1)])

    @cached_property
    def sums(self) -> FloatArray:
        """P(any outcome | hidden state) of each question, (n_questions, n_hidden), which is 1 but for rounding."""
        return np.asarray(self._likelihoods.sum(axis=1))

    @property
    def widest(self) -> int:
        """Outcomes of the question that has most."""
        return int(self._n_outcomes.max(initial=1))

    def tables_in(self, kind: np.dtype[Any]) -> list[list[npt.NDArray[np.floating]]]:
        """P(outcome | hidden state) of each question by class, (n_states, n_outcomes), in a precision; none is 0."""
        if kind not in self._in_kind:
            pairs, least = zip(self._likelihoods, self._n_outcomes.tolist()), nearly_nothing(kind)
            by_class = [[np.array(table[:n, c].T, kind, order="C") for c in self.members] for table, n in pairs]
            self._in_kind[kind] = [[table + least for table in own] for own in by_class]
        return self._in_kind[kind]

    def tables_of(self, questions: IntArray) -> tuple[StateTables, IntArray]:
        """Tables of these questions or more class by class, which may have been laid out before, and where they are.

        Parameters
        ----------
        questions : ndarray of int of shape (m,)
            The questions, each once.

        Returns
        -------
        tables : StateTables
        places : ndarray of int of shape (m,)

        Examples
        --------
        >>> hidden = Hidden(np.array([0, 1]), np.full((3, 2, 2), 0.5), np.full(3, 2))
        >>> first, at = hidden.tables_of(np.array([0, 1, 2]))
        >>> second, some = hidden.tables_of(np.array([2, 0]))  # nothing new is laid out
        >>> first is second, some
        (True, array([2, 0]))
        """
        for tables in self._table_cache:
            places = tables.places(questions)
            if places is not None:
                return tables, places
        tables = StateTables(questions, self.likelihoods_of(questions), self.members)
        size = sum(other.size for other in self._table_cache) + tables.size
        # what is kept of a problem's tables takes at most so many times their own memory
        self._table_cache = [tables] if size > 2 * self._likelihoods.size else [tables, *self._table_cache]
        return tables, np.arange(len(questions))


class ClassStates(Hidden):
    """Classes that are states themselves, as answers depend on nothing else."""

    def __init__(self, likelihoods: FloatArray) -> None:
        n_questions, n_outcomes, n_classes = likelihoods.shape
        super().__init__(np.arange(n_classes), likelihoods, np.full(n_questions, n_outcomes))

    def probability(self, info: Known) -> FloatArray:
        """P(class | what was seen), (n, n_classes)."""
        return info.probabilities
