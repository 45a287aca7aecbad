"""Acquisition problems whose likelihoods come from observation models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray, draw_columns, smallest_int
from seqclass._utils.stored import require, require_array, require_part, require_whole
from seqclass.bn import ObservationModel
from seqclass.bn.base import HiddenTables
from seqclass.bn.bundles import draw_jointly, joint_likelihood, likelihood_along
from seqclass.bn.contexts import StageContexts, stage_contexts
from seqclass.costs import Prices
from seqclass.pomdp import AcquisitionProblem, MixtureProblem, TableProblem
from seqclass.pomdp.bundles import Bundle, DrawnBundle
from seqclass.pomdp.latent import Known
from seqclass.pomdp.starts import Starts
from seqclass.pomdp.structure import Structure
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.visits import with_visits

#: Up to so many joint outcomes of a bundle are listed; of a larger one so many are drawn.
MAX_JOINT, N_ATOMS = 256, 256

__all__ = ["ModelProblem", "ProjectedProblem", "acquisition_problem"]


class ModelState:
    """State of a `ModelProblem`: a row an instance."""

    __slots__ = ("messages", "values")

    def __init__(self, messages: Any, values: IntArray) -> None:
        self.messages = messages
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> ModelState:
        return ModelState(self.messages[rows], self.values[rows])


class ModelProblem(AcquisitionProblem):
    """An acquisition problem whose likelihoods come from an observation model, messages kept in its state.

    In a fixed order it has tables where what its stages look at has few enough values; see
    `seqclass.bn.stage_contexts`. Likelihoods and so beliefs are the model's in any case, whatever is missing.

    A bundle of more than 256 joint outcomes is planned for by a sample.
    """

    def __init__(
        self,
        model: ObservationModel,
        prior: npt.ArrayLike,
        features: IntArray,
        prices: FloatArray,
        decision_costs: FloatArray,
        groups: IntArray | None = None,
        full_prices: FloatArray | None = None,
        *,
        max_contexts: int = 256,
        any_order: bool = False,
        bundles: Sequence[Bundle | None] | None = None,
    ) -> None:
        outcomes = model.n_outcomes_[features].astype(np.intp)
        for question, bundle in enumerate(bundles or ()):
            if bundle is not None:
                outcomes[question] = bundle.n_complete if bundle.n_complete <= MAX_JOINT else N_ATOMS
        super().__init__(
            prior, prices, outcomes, decision_costs, features, groups, full_prices, any_order=any_order, bundles=bundles
        )
        self.model = model
        self.max_contexts = max_contexts

    def start(self, n: int) -> Any:
        """Return the state of ``n`` instances."""
        return ModelState(self.model.start(n), self._empty_memory(n))

    def likelihood(self, question: int, state: Any) -> FloatArray:
        """P(outcome | what was seen, class), (n, n_outcomes, n_classes)."""
        bundle = self.structure.bundle(question)
        if bundle is None:
            return self.model._check_stage_likelihood(int(self.features[question]), state.messages)
        if self.structure.is_sampled(question):
            return self._sample(question, state)[1]
        return joint_likelihood(self.model, bundle.features, state.messages)

    def advance(self, question: int, state: Any, outcome: IntArray) -> Any:
        """Return the state after an outcome."""
        bundle, messages = self.structure.bundle(question), state.messages
        shown = [outcome] if bundle is None else bundle.decode(outcome).T
        for feature, value in zip(self.structure.members(question).tolist(), shown):
            messages = self.model.advance(feature, messages, value)
        values = self.remember(question, state.values, outcome) if self._is_staged else state.values
        return ModelState(messages, values)

    def _sample(self, question: int, state: Any) -> tuple[IntArray, FloatArray]:
        """What a bundle shows, drawn from all classes alike, and the weights in each class, which sum to one."""
        bundle = self.structure.bundle(question)
        assert bundle is not None  # nothing else is sampled
        n, n_classes = len(state), self.n_classes
        # the same numbers for all rows and whenever it is asked: what is compared differs by what is known alone
        uniforms = np.random.default_rng([question, len(bundle.sizes)]).random((N_ATOMS, len(bundle.sizes)))
        row = np.repeat(np.arange(n), N_ATOMS)
        label = np.tile(np.arange(N_ATOMS) % n_classes, n)
        known = state.messages[row]
        values, likelihood = draw_jointly(self.model, bundle.features, known, label, np.tile(uniforms, (n, 1)))
        share = np.bincount(label[:N_ATOMS], minlength=n_classes) / N_ATOMS
        weight = (likelihood / (likelihood @ share)[:, None]).reshape(n, N_ATOMS, n_classes)
        return values.reshape(n, N_ATOMS, -1), weight / weight.sum(axis=1, keepdims=True)

    def replace(self, **changes: Any) -> AcquisitionProblem:
        """Return the same problem with some arrays replaced; contexts are shared if the features stay as they are."""
        shared = {"_contexts": self._contexts, "_made_contexts": self._made_contexts} if self._is_staged else {}
        other = super().replace(**changes)
        if "features" in changes:
            for name in shared:
                del other.__dict__[name]
        return other

    @property
    def _is_staged(self) -> bool:
        """Whether features come one by one in an order, so that contexts say what they look at."""
        return not self.any_order and self.bundles is None

    @cached_property
    def _contexts(self) -> StageContexts:
        return stage_contexts(self.model, self.features, max_contexts=self.max_contexts)

    @cached_property
    def _made_contexts(self) -> dict[int, StageContexts]:
        return {}

    def _empty_memory(self, n: int) -> IntArray:
        return np.empty((n, 0), dtype=smallest_int(int(self.n_outcomes.max(initial=1)) - 1))

    def remember(self, stage: int, values: IntArray, outcome: IntArray) -> IntArray:
        """Of the values remembered so far and an outcome, those that matter at the next stage."""
        longer = np.concatenate([values, np.asarray(outcome, dtype=values.dtype)[..., None]], axis=-1)
        memory = self._contexts.memory
        if stage + 1 >= len(memory):
            return longer[..., :0]
        return np.asarray(longer[..., self._contexts.next_positions(stage)])

    @property
    def structure(self) -> ModelStructure:
        """What it is known to be made of."""
        return ModelStructure(self)

    def _check_stored(self) -> None:
        model, starts = require_part(self, "model", ObservationModel), self._starts
        require(len(model.classes_) == self.n_classes, "model has other classes")
        for question in range(self.n_questions):
            members, bundle = self.structure.members(question), self.structure.bundle(question)
            require((members < model.n_features_in_).all(), "model has other features")
            n_outcomes = self.n_outcomes[[question]] if bundle is None else bundle.sizes
            require(np.array_equal(n_outcomes, model.n_outcomes_[members]), "model has other outcomes")
        require_whole(self, "max_contexts", 1, 2**16)
        if starts is not None:
            require(starts.features.max(initial=-1) < model.n_features_in_, "what is known is no feature of the model")
            known = (starts.outcomes >= -1) & (starts.outcomes < model.n_outcomes_[starts.features])
            require(known.all(), "outcomes at the start are none")


class ModelStructure(Structure["ModelProblem"]):
    """What solvers may exploit of a `ModelProblem`."""

    @property
    def tables(self) -> Tables | None:
        """Contexts of the stages, where every one has few enough; None in any order, and where starts differ."""
        if not self.problem._is_staged or self.starts is not None or not self.problem._contexts.exact:
            return None
        return StageTables(self.problem, self.problem._contexts)

    def state_of(self, starts: Starts) -> Any:
        """The state where cases begin, worked out from what is known of them."""
        messages = self.problem.model.start(len(starts.outcomes))
        for feature, outcome in zip(starts.features.tolist(), starts.outcomes.T):
            messages = self.problem.model.advance(feature, messages, outcome)
        return ModelState(messages, self.problem._empty_memory(len(starts.outcomes)))

    def join(self, states: Sequence[Any]) -> Any:
        """Put the rows of several states together, one after the other."""
        messages = self.problem.model.join([state.messages for state in states])
        return ModelState(messages, np.concatenate([state.values for state in states]))

    def messages(self, state: Any) -> Any:
        """What the model keeps of the answers."""
        return state.messages

    def with_messages(self, state: Any, messages: Any) -> Any:
        """A state of other messages."""
        return ModelState(messages, state.values)

    def together(self, questions: IntArray) -> list[IntArray]:
        """Positions of questions that are worth computing together: of some models those of equally many outcomes."""
        parts = super().together(questions)
        if not self.problem.model._batches_by_size:
            return parts
        sizes = self.problem.n_outcomes[questions]
        return [part[sizes[part] == size] for part in parts for size in np.unique(sizes[part])]

    def likelihoods_of(self, questions: IntArray, state: Any) -> FloatArray:
        """P(outcome | what was seen, class) of many questions at once; see `Structure.likelihoods_of`."""
        single = np.array([self.bundle(question) is None for question in questions.tolist()], dtype=bool)
        if single.all():
            return self.problem.model.stage_likelihoods(self.problem.features[questions], state.messages)
        if not single.any():
            return super().likelihoods_of(questions, state)
        parts = [self.likelihoods_of(questions[some], state) for some in (single, ~single)]
        shape = (len(state), len(questions), max(part.shape[2] for part in parts), self.problem.n_classes)
        result = np.zeros(shape)
        for some, part in zip((single, ~single), parts):
            result[:, some, : part.shape[2]] = part
        return result

    def is_sampled(self, question: int) -> bool:
        """Whether the question is a bundle of too many joint outcomes to list them."""
        bundle = self.bundle(question)
        return bundle is not None and bundle.n_complete > MAX_JOINT

    def sampled_support(self, question: int, state: Any) -> IntArray:
        """Joint outcomes that stand for all of a sampled bundle's, (n, n_outcomes)."""
        bundle, (values, _) = self.bundle(question), self.problem._sample(question, state)
        assert bundle is not None  # nothing else is sampled
        return bundle.encode(values.reshape(-1, values.shape[2])).reshape(values.shape[:2])

    def sample_outcomes(self, question: int, belief: Known, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an outcome of a bundle for each of some rows, as the model has it."""
        bundle = self.bundle(question)
        assert bundle is not None  # nothing else is sampled
        label = draw_columns(belief.probabilities[rows], rng.random(len(rows)))
        values, _ = draw_jointly(
            self.problem.model,
            bundle.features,
            belief.state.messages[rows],
            label,
            rng.random((len(rows), len(bundle.sizes))),
        )
        return bundle.encode(values)

    def draw_cases(self, n: int, rng: np.random.Generator) -> IntArray | None:
        """Outcomes of all questions in ``n`` cases, where the model draws them at once; its own prior has to hold."""
        model = self.problem.model
        own = np.allclose(self.problem.prior, model.class_prior_, atol=1e-12)
        X = model._draw_rows(n, rng) if own else None
        if X is None:
            return None
        shown = []
        for question in range(self.problem.n_questions):
            members, bundle = X[:, self.members(question)], self.bundle(question)
            shown.append(members[:, 0] if bundle is None else bundle.encode(members))
        return np.column_stack([*shown, np.empty((n, 0), dtype=np.intp)])

    def posterior_of(self, cases: IntArray) -> FloatArray:
        """P(class | the answers to all questions) of cases that `draw_cases` has drawn, (n, n_classes)."""
        X = np.full((len(cases), self.problem.model.n_features_in_), -1)
        for question, answers in enumerate(cases.T):
            bundle = self.bundle(question)
            X[:, self.members(question)] = answers[:, None] if bundle is None else bundle.decode(answers)
        return self.problem.model.posterior(X)

    def observation_likelihood(self, question: int, state: Any, outcome: IntArray) -> FloatArray:
        """P(outcome | what was seen, class) of outcomes that were seen, whole or in part, (n, n_classes)."""
        bundle, messages = self.bundle(question), state.messages
        if bundle is None:
            return super().observation_likelihood(question, state, outcome)
        return likelihood_along(self.problem.model, bundle.features, messages, bundle.decode(outcome))

    def answers(self, stage: int, state: Any) -> IntArray | None:
        """Outcomes seen so far that the stage or later ones depend on, (n, m), -1 where missing."""
        return np.asarray(state.values) if self.problem._is_staged else None

    def successor_answers(self, stage: int, answers: IntArray) -> IntArray:
        """What `answers` gives at the next stage after each outcome, (n, n_outcomes, m)."""
        n_outcomes = int(self.problem.n_outcomes[stage])
        outcome = np.broadcast_to(np.arange(n_outcomes), (len(answers), n_outcomes))
        return self.problem.remember(stage, np.repeat(answers[:, None], n_outcomes, axis=1), outcome)

    def projection(self, max_contexts: int) -> ModelProblem | None:
        """Return the process of the strongest context features alone; see `seqclass.bn.stage_contexts`."""
        if not self.problem._is_staged:
            return None
        problem = self.problem
        if (contexts := problem._made_contexts.get(max_contexts)) is None:
            contexts = stage_contexts(problem.model, problem.features, max_contexts=max_contexts)
            problem._made_contexts[max_contexts] = contexts
        return ProjectedProblem(problem, contexts)


class StageTables(Tables):
    """The contexts of a model's stages, as the tables of a problem."""

    def __init__(self, problem: ModelProblem, contexts: StageContexts) -> None:
        self._problem = problem
        self._contexts = contexts

    @property
    def single(self) -> bool:
        """Whether every stage has one context only."""
        contexts = self._contexts  # those that are not exact keep less than what matters
        kept = contexts.memory if contexts.exact else map(contexts.features, range(contexts.n_stages))
        return not any(features.size for features in kept)

    def n_contexts(self, stage: int) -> int:
        """Number of contexts at a stage."""
        return self._contexts.n_contexts(stage)

    def contexts(self, stage: int, state: Any) -> IntArray:
        """Context number of each row of the problem's state, (n,)."""
        if stage >= self._problem.n_stages:
            return np.zeros(len(state), dtype=np.intp)
        return self._contexts.number(stage, state.values[:, self._contexts.places(stage)])

    def likelihoods(self, stage: int) -> FloatArray:
        """P(outcome | context, class) of all contexts of a stage."""
        return self._contexts.likelihood(stage)

    def moves(self, stage: int) -> IntArray:
        """Context at the next stage after each outcome and a missing one, by context."""
        return self._contexts.transitions(stage)

    def state_in(self, stage: int, context: int) -> Any:
        """State of one instance in a context, as if whatever the context does not tell had been missing."""
        problem = self._problem
        evidence = dict(zip(self._contexts.features(stage).tolist(), self._contexts.rows(stage)[context].tolist()))
        state = problem.start(1)
        for earlier, feature in enumerate(problem.features[:stage].tolist()):
            state = problem.advance(earlier, state, np.full(1, evidence.get(feature, -1)))
        return state


class ProjectedProblem(ModelProblem):
    """A problem of its own that looks at the strongest context features only, and has tables."""

    def __init__(self, problem: ModelProblem, contexts: StageContexts) -> None:
        self.__dict__.update({k: v for k, v in problem.__dict__.items() if k not in ("_contexts", "_made_contexts")})
        self.kept = contexts

    @property
    def _contexts(self) -> StageContexts:
        return self.kept

    def start(self, n: int) -> Any:
        """Return the state of ``n`` instances."""
        nothing = self._empty_memory(n)
        return ModelState(nothing, nothing)

    def likelihood(self, question: int, state: Any) -> FloatArray:
        """P(outcome | context, class), (n, n_outcomes, n_classes)."""
        table = self.structure.tables.likelihood(question, self.structure.tables.contexts(question, state))
        return table if len(table) == len(state) else np.broadcast_to(table, (len(state), *table.shape[1:]))

    def advance(self, question: int, state: Any, outcome: IntArray) -> Any:
        """Return the state after an outcome."""
        return ModelState(state.messages, self.remember(question, state.values, outcome))

    @property
    def structure(self) -> ProjectedStructure:
        """What it is known to be made of."""
        return ProjectedStructure(self)

    def _check_stored(self) -> None:
        kept = require_part(self, "kept", StageContexts)
        require(kept.model is self.model, "its contexts are of another model")
        require(np.array_equal(require_array(kept, "order", "i", None), self.features), "its order is another")


class ProjectedStructure(ModelStructure):
    """What solvers may exploit of a `ProjectedProblem`."""

    problem: ProjectedProblem

    @property
    def tables(self) -> Tables:
        """Its contexts, exact or not."""
        return StageTables(self.problem, self.problem._contexts)

    def state_of(self, starts: Starts) -> Any:
        """Nothing is remembered of what is known at the start but what it says of the class."""
        return self.problem.start(len(starts.outcomes))

    def likelihoods_of(self, questions: IntArray, state: Any) -> FloatArray:
        """P(outcome | context, class) of many questions at once."""
        return Structure.likelihoods_of(self, questions, state)

    def projection(self, max_contexts: int) -> ModelProblem:
        """Return itself."""
        return self.problem


def acquisition_problem(
    model: ObservationModel,
    order: IntArray,
    prices: Prices,
    decision_costs: FloatArray,
    prior: npt.ArrayLike | None = None,
    *,
    any_order: bool = False,
    bundles: IntArray | None = None,
) -> AcquisitionProblem:
    """Build the acquisition problem of a fitted model, as tables where the model has them.

    All features of a bundle (by its number in ``bundles``) are seen when the first of them in the order is asked.
    """
    first, shown = _questions(model, order, bundles)
    stage_prices, full, groups = prices.any_order(first)
    prior = model.class_prior_ if prior is None else prior
    settings: dict[str, Any] = {
        "features": first,
        "groups": groups,
        "full_prices": full,
        "any_order": any_order,
        "bundles": shown,
    }
    tables = _tables(model, first)
    listed = all(bundle is None or bundle.n_complete <= MAX_JOINT for bundle in shown or ())
    latent = tables is None and (any_order or not listed) and model._passes_latent
    hidden = model.latent_tables(first) if latent else None
    if tables is not None and not listed:
        n_classes = len(model.classes_)
        hidden = HiddenTables(np.ones(n_classes), np.arange(n_classes), tables)
    visits = None if prices.visits is None else prices.visits.take(first)
    if tables is None and hidden is None:
        problem = ModelProblem(model, prior, prices=stage_prices, decision_costs=decision_costs, **settings)
        return with_visits(problem, visits)
    if not listed:
        assert hidden is not None  # or it would be a problem of the model
        assert shown is not None
        settings["bundles"] = shown = [_sample_bundle(model, bundle, hidden) for bundle in shown]
    single = tables if hidden is None else hidden.tables
    widest = int(model.n_outcomes_[first].max(initial=1))  # which may be less than that of what is known
    by_column = single[:, :widest] if shown is None else _joint(model, single, first, shown)
    n_outcomes = model.n_outcomes_[first] if shown is None else None
    if hidden is None:
        plain = TableProblem(prior, by_column, stage_prices, decision_costs, n_outcomes=n_outcomes, **settings)
        return with_visits(plain, visits)
    weights = np.asarray(prior)[hidden.classes] * hidden.weights
    mixed = MixtureProblem(
        weights, hidden.classes, by_column, stage_prices, decision_costs, n_outcomes=n_outcomes, **settings
    )
    return with_visits(mixed, visits)


def _questions(
    model: ObservationModel, order: IntArray, bundles: IntArray | None
) -> tuple[IntArray, list[Bundle | None] | None]:
    """First feature of each question, and what each shows at once; None where none shows several."""
    if bundles is None or (bundles < 0).all():
        return order, None
    label = np.where(bundles[order] < 0, -1 - order, bundles[order])
    _, position = np.unique(label, return_index=True)
    first = np.sort(position)
    shown: list[Bundle | None] = []
    for place in first.tolist():
        members = order[label == label[place]]
        if label[place] >= 0:  # what the order leaves out of a bundle is seen all the same
            members = np.concatenate([members, np.setdiff1d(np.flatnonzero(bundles == label[place]), members)])
        shown.append(Bundle(members, model.n_outcomes_[members]) if len(members) > 1 else None)
    return order[first], shown


def _sample_bundle(model: ObservationModel, bundle: Bundle | None, hidden: HiddenTables) -> Bundle | None:
    """A bundle by outcomes that are drawn, where it has too many to list them."""
    if bundle is None or bundle.n_complete <= MAX_JOINT:
        return bundle
    # from all classes alike, half of them from all states of a class
    n_classes, counts = len(model.classes_), np.bincount(hidden.classes)
    share = (hidden.weights + 1 / counts[hidden.classes]) / (2 * n_classes)
    return DrawnBundle(bundle.features, bundle.sizes, _single(model, bundle.features), share, N_ATOMS)


def _joint(
    model: ObservationModel, tables: FloatArray, first: IntArray, shown: Sequence[Bundle | None]
) -> list[FloatArray]:
    """Likelihood tables of questions, by class or by hidden state as those of the single features are."""
    return [
        table[: model.n_outcomes_[feature]] if bundle is None else bundle.joint(_single(model, bundle.features))
        for feature, table, bundle in zip(first.tolist(), tables, shown)
    ]


def _single(model: ObservationModel, features: IntArray) -> FloatArray:
    """Tables of single features, by class or by hidden state."""
    tables = _tables(model, features)
    if tables is None:
        hidden = model.latent_tables(features)
        assert hidden is not None  # or there would be no joint tables
        tables = hidden.tables
    return np.asarray(tables)


def _tables(model: ObservationModel, order: IntArray) -> Any:
    """Tables of a model, if it has such; if they are of the shape that they must have."""
    tables = model.tables(order)
    if tables is None:
        return None
    tables, wanted = np.asarray(tables), (len(order), len(model.classes_))
    if tables.ndim != 3 and not wanted[0]:  # an empty list
        tables = np.empty((0, 1, wanted[1]))
    if tables.dtype.kind not in "fiub" or tables.ndim != 3 or tables.shape[::2] != wanted:
        raise ValueError(
            f"{type(model).__name__}.tables must give numbers in an array of shape ({wanted[0]}, n_outcomes, "
            f"{wanted[1]}): stages, outcomes, classes; it gave {tables.dtype} of shape {tables.shape}."
        )
    return tables


def is_free(order: Any) -> bool:
    """Whether any question may come next."""
    return isinstance(order, str) and order == "adaptive"
