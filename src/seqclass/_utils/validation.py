"""Checks of arguments that more than one part makes."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import plain_data
from seqclass._utils.model_files import suggest_parts
from seqclass._utils.text import ParameterError, ParameterTypeError, join_names, near, short_repr, value_text

#: Costs that are not 0: products and quotients of such are neither 0 nor infinite, and not rounded more than others.
_COSTS = (1e-100, 1e100)


def check_kind(value: Any, kind: type, name: str, what: str) -> None:
    """Refuse an argument of another kind, and say what it must be."""
    if not isinstance(value, kind):
        raise ParameterTypeError(name, f"must be {what}, got {short_repr(value)}.")


def in_order(value: Any, name: str, *labels: Any) -> Any:
    """Put what pandas, or a dict, has by name into the order of labels, an axis each; leave anything else as it is.

    An axis of None has no names.
    """
    value = plain_data(value) if hasattr(value, "get_column") else value  # of polars, which names columns
    if np.ma.is_masked(value):
        raise ParameterError(name, "must be finite; it holds masked entries.")
    named = isinstance(value, Mapping)
    if named and labels[0] is None:
        raise ParameterTypeError(name, "must have its entries in order, as there are no names to go by; got a dict.")
    if named and len(labels) == 1:
        keys, value = [list(value)], np.array(list(value.values()), dtype=object)
    elif hasattr(value, "iloc") and value.ndim == len(labels):
        keys, value = [axis.tolist() for axis in value.axes], value.to_numpy()
    elif named:
        raise ParameterError(name, "must be a data frame with a row a class and a column a decision, not a dict.")
    else:
        return value
    what = ("entries",) if len(labels) == 1 else ("rows", "columns")
    for axis, (own, wanted) in enumerate(zip(keys, labels)):
        if wanted is None:
            continue
        known = np.asarray(wanted).tolist()
        # what pandas numbers has no names of its own, and is in order
        if own != known and (named or own != list(range(len(known)))):
            value = np.take(value, _places(own, known, name, what[axis]), axis=axis)
    return value


def own_labels(value: Any, axis: int = 0) -> list[Any] | None:
    """What pandas calls the entries along an axis; None of what it numbers, and of anything else."""
    labels = value.axes[axis].tolist() if hasattr(value, "iloc") else None
    return None if labels is None or labels == list(range(len(labels))) else labels


def to_mapping(value: Any, name: str) -> Any:
    """A pandas Series as the dict that its index makes it, where its labels differ; leave anything else as it is."""
    if not (hasattr(value, "to_dict") and hasattr(value, "index")):
        return value
    if twice := value.index[value.index.duplicated()].tolist():
        raise ParameterError(name, f"has more than one entry called {short_repr(twice[0])}.")
    return value.to_dict()


def names_to_mapping(value: Any, name: str) -> Any:
    """A pandas Series whose labels are names, and not numbers, as a dict; leave anything else as it is."""
    return value if own_labels(value) is None or _is_numbered(value) else to_mapping(value, name)


def _is_numbered(value: Any) -> bool:
    """Whether pandas has numbers for the rows."""
    return bool(value.index.dtype.kind in "iu")


def in_order_of_texts(value: Any, name: str, *labels: Sequence[str]) -> Any:
    """The same where all labels are texts: rows that pandas numbers, of a part of a table too, have no names."""
    return value if hasattr(value, "iloc") and _is_numbered(value) else in_order(value, name, *labels)


def _places(own: list[Any], wanted: list[Any], name: str, what: str) -> list[int]:
    """Where the labels that are wanted stand."""
    texts, asked = [value_text(label) for label in own], [value_text(label) for label in wanted]
    if sorted(texts) != sorted(asked) or len({*texts}) < len(texts):
        more = [label for label, text in zip(own, texts) if text not in asked]
        also = (name, what) == ("decision_costs", "columns") and 0 < len(more) == len(own) - len(wanted)
        further = f"; or name further decisions, decisions={more!r}" if also else ""
        raise ValueError(
            f"{name}: its {what} are called {join_names(own)}, which should be {join_names(wanted)}; call them so, or "
            f"give an array in that order{further}."
        )
    return [texts.index(text) for text in asked]


def check_distribution(value: npt.ArrayLike, n: int | None, name: str) -> FloatArray:
    """Check a probability vector and return it normalised to a sum of exactly one."""
    array = check_finite(value, name, shape=None if n is None else (n,))
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(name, f"must be a vector of probabilities, got shape {array.shape}.")
    if array.min() < 0:
        raise ParameterError(name, f"must not be negative, got {array.min():g}.")
    if abs(array.sum() - 1) > 1e-6:
        raise ParameterError(name, f"must sum to 1, it sums to {array.sum():g}.")
    return np.asarray(array / array.sum())


def check_finite(value: npt.ArrayLike, name: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return ``value`` as a new float64 array, finite and of the wanted shape."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(name, f"must hold numbers only: {error}.") from error
    if shape is not None and array.shape != shape:
        raise ParameterError(name, f"must have shape {shape}, got {array.shape}.")
    if np.ma.is_masked(value) or not np.isfinite(array).all():
        what = "masked entries" if np.ma.is_masked(value) else "NaN or infinity"
        raise ParameterError(name, f"must be finite; it holds {what}.")
    return array


def check_costs(value: npt.ArrayLike, name: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return costs as a float64 array: 0, or of a size with which one can reckon, and of the wanted shape."""
    array = check_not_negative(value, name, shape)
    low, high = _COSTS
    wrong = (array > high) | ((array > 0) & (array < low))
    if wrong.any():
        raise ParameterError(
            name, f"must be 0 or between {low:g} and {high:g}, got {array[wrong][0]:g}: count costs in another unit."
        )
    return array


def check_decision_costs(value: Any, classes: Any, decisions: Any) -> FloatArray:
    """Check costs of decisions, (n_classes, n_decisions), by name where they have names."""
    named = in_order(value, "decision_costs", classes, decisions)
    return check_costs(named, "decision_costs", (len(classes), len(decisions)))


def check_not_negative(value: npt.ArrayLike, name: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return ``value`` as a float64 array: finite, not negative, of the wanted shape."""
    array = check_finite(value, name, shape)
    if array.size and array.min() < 0:
        raise ParameterError(name, f"must not be negative, got {array.min():g}.")
    return array


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Check the weights of the rows: finite, non-negative, not all zero."""
    if sample_weight is None:
        return None
    weight = check_not_negative(sample_weight, "sample_weight", (n_rows,))
    if not weight.any():
        raise ValueError("sample_weight must not be zero for all rows.")
    if not _COSTS[0] <= weight.max() <= _COSTS[1]:
        raise ValueError(
            f"sample_weight must be between {_COSTS[0]:g} and {_COSTS[1]:g} where it is largest, got "
            f"{weight.max():g}: multiply all by one number."
        )
    return weight


def exponential_forgetting(n_rows: int, half_life: Any, weight: FloatArray | None = None) -> FloatArray:
    """Weights of rows in order of time, half of what they were after ``half_life`` further ones of any weight."""
    rows = check_real(half_life, "half_life")
    if not 0 < rows < np.inf:
        raise ValueError(f"half_life must be a number of rows above 0, or None, got {short_repr(half_life)}.")
    weight = np.ones(n_rows) if weight is None else weight
    later: IntArray = np.cumsum(weight[::-1] > 0)[::-1] - (weight > 0)
    return weight * decay_weights(later, rows)


def decay_weights(age: FloatArray | IntArray, half_life: float) -> FloatArray:
    """Weights of rows by how many came after each."""
    # rows of 50 half-lives count no less: without weight a class would be forgotten
    return np.asarray(np.exp2(-np.minimum(age / half_life, 50)))


def check_integer(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int between ``low`` and ``high``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ParameterTypeError(name, f"must be an integer, got {short_repr(value)}.")
    number = int(value)
    if number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ParameterError(name, f"must be {limits}, got {short_repr(number)}.")
    return number


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of processes, negative to count from one a processor, or None."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise TypeError(
            f"n_jobs must be a number of processes, -1 for one a processor, or None, got {short_repr(n_jobs)}."
        )
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number of processes, -1 for one a processor, or None, got 0.")
    return int(n_jobs)


def check_real(value: Any, name: str, low: float = -np.inf, high: float = np.inf) -> float:
    """Return ``value`` as a float between ``low`` and ``high``, both included."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterTypeError(name, f"must be a number, got {short_repr(value)}.")
    try:
        number = float(value)
    except OverflowError:  # a whole number that no float can hold
        number = np.nan
    if not low <= number <= high:
        raise ParameterError(name, f"must be between {low:g} and {high:g}, got {short_repr(value)}.")
    return number


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(name, f"must be one of {', '.join(map(repr, choices))}, got {short_repr(value)}.")
    return value


def columns_of(features: Iterable[Any], n_columns: int, names: Iterable[Any] | None, what: str) -> IntArray:
    """Numbers of different columns that are given by name, or by number where none has that number for a name."""
    features = list(features)
    if names is None and any(isinstance(feature, str) for feature in features):
        names = (f"x{column}" for column in range(n_columns))
    known = {} if names is None else {name: column for column, name in enumerate(names)}
    columns: dict[int, None] = {}
    for feature in features:
        number = isinstance(feature, numbers.Integral) and not isinstance(feature, bool)
        try:
            column = known.get(feature, int(feature) if number else -1)
        except TypeError:  # a list, say
            raise ValueError(
                f"{what} names {short_repr(feature)}, which is no feature: give names or numbers."
            ) from None
        if not 0 <= column < n_columns:
            hint = near(str(feature), list(map(str, known)), "the features are")
            hint = f"they are 0..{n_columns - 1}." if number or not known else hint
            raise ValueError(f"{what} names {short_repr(feature)}, which is not a feature; {hint}")
        if column in columns:
            raise ValueError(f"{what} names feature {short_repr(feature)} more than once.")
        columns[column] = None
    return np.array(list(columns), dtype=np.intp)


def check_n_classes(n_classes: int) -> None:
    if n_classes > 5000:  # of which the costs of decisions take 200 MB
        raise ValueError(
            "y holds more than 5,000 classes, the most that can be planned for, as every decision has a "
            "cost for every class: if labels are numbers or names of rows, choose another target; otherwise group them."
        )


def check_flag(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterTypeError(name, f"must be True or False, got {short_repr(value)}.")
    return bool(value)


def check_settings(settings: Mapping[str, Any], maker: Any, kind: Any) -> None:
    """Refuse settings that neither a function has nor the class of what it makes."""
    known = [name for name in (*inspect.signature(maker).parameters, *kind._get_param_names()) if name != "settings"]
    for name in settings:
        if name not in known:
            if name in inspect.signature(kind.fit).parameters:
                raise TypeError(f"{maker.__name__} has no setting {name!r}: give it to fit(X, y, {name}=...).")
            there = near(name, list(dict.fromkeys(known)), "there are")
            raise TypeError(f"{maker.__name__} has no setting {short_repr(name)}; {there}")


def check_part(value: Any, name: str, what: str, methods: tuple[str, ...]) -> None:
    """Check that a part of an estimator is an object that does what is asked of it."""
    if isinstance(value, type):
        raise TypeError(f"{name} must be {what}, got the class {value.__name__}: write {value.__name__}().")
    if not all(hasattr(value, method) for method in methods):
        known = " or ".join(suggest_parts(value, methods)[:3]) if isinstance(value, str) else ""
        raise TypeError(f"{name} must be {what}, got {short_repr(value)}{known and f': write {known}'}.")


def plain_labels(labels: Any, name: str = "y") -> Any:
    """Labels as an array, numbers or booleans that came as objects or nullable as one of their own."""
    if isinstance(labels, np.ma.MaskedArray) and (masked := np.ma.getmaskarray(labels)).any():
        raise ValueError(f"{name} is masked in row {int(masked.ravel().argmax())}: leave out the rows without a label.")
    array = np.asarray(labels)
    if array.ndim != 1 and array.shape[1:] != (1,):
        return labels
    kinds = {*map(type, labels)} if isinstance(labels, (list, tuple)) else {str}
    if len(kinds) > 1 or any(issubclass(kind, Enum) for kind in kinds):
        # numpy would make texts of numbers and of NaN, numbers of booleans, and of texts with names their first letters
        array = np.array(labels, dtype=object)
    array = array.astype(object) if array.dtype.kind == "T" else array  # numpy's texts of any length
    if array.dtype.kind in "mM":  # dates could not be read back from a model file
        raise ValueError(f"{name} holds {array.dtype.name}: labels must be numbers, texts or booleans.")
    # scikit-learn makes floats of nullable integers and booleans, and a series is read by index, not by row
    plain = array if array.dtype != object else _plain_objects(array.ravel(), name).reshape(array.shape)
    if plain.ndim == 1 and plain.dtype.kind in "biufU":
        return plain  # as it comes out of scikit-learn's checks, which take as long as a small fit
    return column_or_1d(plain, warn=True)


def _plain_objects(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    values = array.tolist()
    kinds: dict[str, type] = {}
    types = dict.fromkeys(map(type, values))
    for kind in types:
        kinds.setdefault(_label_kind(kind), kind)
    if {"numbers", "others"} & set(kinds):
        row = next((i for i, value in enumerate(values) if _is_missing(value)), None)
        if row is not None:
            raise ValueError(
                f"{name} holds {short_repr(values[row])} in row {row}: leave out the rows without a label."
            )
    if "others" in kinds:
        raise ValueError(f"{name} holds {kinds['others'].__name__}: labels must be numbers, texts or booleans.")
    if len(kinds) > 1:
        (a, one), (b, other) = list(kinds.items())[:2]
        pair = " and ".join(short_repr(next(value for value in values if type(value) is kind)) for kind in (one, other))
        raise ValueError(f"{name} mixes {a} with {b}, as {pair}: give all labels as {a} or all as {b}.")
    if not values or [*types] == [str]:
        return array
    if "texts" in kinds:  # some of which have names
        return np.array([str.__str__(value) for value in values], dtype=object)
    plain = np.array(values)
    if plain.dtype.kind not in "biuf" or plain.tolist() != values:
        raise ValueError(f"{name} holds numbers that no array of numbers can hold exactly: use texts instead.")
    return plain


def class_numbers(
    classes: npt.ArrayLike,
    labels: npt.ArrayLike,
    name: str = "y",
    *,
    n: int | None = None,
    other: int | None = None,
    hint: str = "",
) -> IntArray:
    """Position of each label among the classes, compared by value: 1, 1.0, True and the text "1" are one label."""
    known = np.asarray(classes).tolist()
    texts = all(isinstance(label, str) for label in known)
    # decisions such as "refer" may stand among numbers
    mixed = other is not None or (not texts and any(isinstance(label, str) for label in known))
    given_labels = np.asarray(labels if mixed else plain_labels(labels, name))
    given_labels = given_labels[:, 0] if given_labels.ndim == 2 and given_labels.shape[1] == 1 else given_labels
    if given_labels.ndim != 1 or (n is not None and len(given_labels) != n):
        rows = "row" if n is None else f"of the {n} rows"
        raise ValueError(f"{name} must have one label for each {rows}, got shape {given_labels.shape}.")
    values = given_labels.tolist()
    place = {label: i for i, label in enumerate(known)}
    as_numbers = {as_number(label): i for i, label in reversed(list(enumerate(known)))}
    for label in dict.fromkeys(values):
        if label in place:
            continue
        # a file may hold "1" where a model has 1
        at = other
        if isinstance(label, str) != texts:
            at = place.get(str(label), as_numbers.get(as_number(label), other))
        if _is_missing(label):
            row = values.index(label)
            raise ValueError(f"{name} holds {short_repr(label)} in row {row}: leave out the rows without a label.")
        if at is None:
            raise ValueError(
                f"{name} holds {short_repr(label)}, which is no class of the model: "
                f"there are {join_names(known)}.{hint}"
            )
        place[label] = at
    return np.array([place[label] for label in values], dtype=np.intp)


def group_numbers(groups: npt.ArrayLike, n: int) -> tuple[IntArray, list[Any]]:
    """Number of each row's group, and the names of the groups, sorted."""
    labels = np.asarray(plain_labels(groups, "groups"))
    if labels.shape != (n,):
        raise ValueError(f"groups must have one label for each of the {n} rows, got shape {labels.shape}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"groups has no label in row {int(np.isnan(labels).argmax())}: give each row one.")
    names, number = np.unique(labels, return_inverse=True)
    return number.reshape(-1), names.tolist()


def as_number(label: Any) -> Any:
    """Return the number that a text is, as Python writes it; what is no such text as it stands."""
    if not isinstance(label, str):
        return label
    if label in ("True", "False"):
        return label == "True"
    for kind in (int, float):
        try:
            return kind(label)
        except ValueError:
            pass
    return label


def _label_kind(kind: type) -> str:
    if issubclass(kind, (bool, np.bool_)):
        return "booleans"
    if issubclass(kind, str):
        return "texts"
    return "numbers" if issubclass(kind, numbers.Real) else "others"


def _is_missing(value: Any) -> bool:
    # pandas is not imported for its NA and NaT
    nan = isinstance(value, (float, np.floating)) and value != value
    return nan or type(value).__name__ in ("NoneType", "NAType", "NaTType")


#: Sums of probabilities may be off by so much, as those of single precision are.
SUM_TOLERANCE = 1e-3


def check_likelihood(likelihood: FloatArray, wanted: tuple[int, int, int], method: str) -> FloatArray:
    """Check shape, signs and sums of what a model or a problem gives as P(outcome | what was seen, class)."""
    if np.shape(likelihood) != wanted:
        got = np.shape(likelihood)
        raise ValueError(f"{method} must give an array of shape {wanted}: rows, outcomes, classes; it gave {got}.")
    likelihood = np.asarray(likelihood)
    if likelihood.dtype.kind not in "fiub":
        raise ValueError(
            f"{method} must give real numbers, P(outcome | what was seen, class); it gave {likelihood.dtype}."
        )
    if (likelihood < 0).any():
        if likelihood.min() < -1e-6:
            raise ValueError(
                f"{method} must give P(outcome | what was seen, class), which is nowhere negative; it gave "
                f"{likelihood.min():g}."
            )
        likelihood = np.maximum(likelihood, 0)
    sums = np.einsum("nvc->nc", likelihood, dtype=np.float64)  # some times quicker than sum: it is done at every stage
    wrong = ~(np.abs(sums - 1) <= SUM_TOLERANCE)
    if wrong.any():
        raise ValueError(
            f"{method} must give P(outcome | what was seen, class), which does not sum to 1 over the outcomes but to "
            f"{sums[wrong][0]:g}."
        )
    return likelihood
