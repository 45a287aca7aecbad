"""Array helpers that every part of the package shares."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.progress import check_deadline
from seqclass._utils.text import short_repr

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]

#: Working memory that a batched computation may take at a time, in bytes.
CHUNK_BYTES = 64 * 2**20
#: And of one that goes through it more than once, so that it stays in a processor's cache.
CACHE_BYTES = 2**21

#: Numbers that differ by less than this share of themselves tie, so that batch size and BLAS change no answer.
TIE = 1e-12
#: Probabilities below it are taken for it where one divides by them, or takes their logarithm.
LEAST_CHANCE = 1e-12
#: Stands for zero where all that is above it counts.
TINY = float(np.finfo(float).tiny)


_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)


def as_generator(random_state: Any = None, purpose: str = "") -> np.random.Generator:
    """Turn any form of ``random_state`` into a numpy generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1, size=4))
    return np.random.default_rng(another_stream(random_state, purpose) if purpose else _numpy_seed(random_state))


def _numpy_seed(random_state: Any) -> Any:
    """A seed that numpy takes."""
    if random_state is None or isinstance(random_state, (*_GENERATORS, np.random.SeedSequence)):
        return random_state
    try:
        return np.random.SeedSequence(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be None, an integer from 0 on or a numpy generator, got {short_repr(random_state)}."
        ) from error


def another_stream(random_state: Any, purpose: str = "") -> Any:
    """Seed of a stream that is independent of the one that ``random_state`` itself seeds."""
    if random_state is None or isinstance(random_state, _GENERATORS):
        return random_state
    random_state = _numpy_seed(random_state)
    salt = zlib.crc32(purpose.encode()) if purpose else 0x5EED
    return np.random.SeedSequence(random_state.entropy, spawn_key=(*random_state.spawn_key, salt))


def check_width(n_columns: int, n_bytes: int) -> None:
    """Refuse a sparse matrix of very many columns that comes from a small file: each column takes memory."""
    # as many as scikit-learn's hashing makes a matrix may have, whatever is in them
    if n_columns > max(2**20, n_bytes):
        raise ValueError(f"it states {n_columns:,} columns, of which it can hold hardly any; leave out the empty ones.")


def unmask(X: Any, fill: float = np.nan) -> Any:
    """Give a masked array as an ordinary one, ``fill`` where it is masked; anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype.kind in "biu" and isinstance(fill, float):
        X = X.astype(np.float64)
    return X.astype(object).filled(None) if X.dtype.kind not in "biuf" else X.filled(fill)


def unmask_codes(X: Any) -> Any:
    """Give masked outcome codes as ordinary ones, -1 where they are masked; other numbers as `unmask` does."""
    return unmask(X.astype(np.int64), -1) if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "iub" else unmask(X)


def chunks(n: int, bytes_per_row: float, budget: int = CHUNK_BYTES) -> Iterator[slice]:
    """Cut ``n`` rows into slices whose work fits in ``budget`` bytes."""
    step = max(1, int(budget // max(1.0, bytes_per_row)))
    for start in range(0, n, step):
        check_deadline()
        yield slice(start, min(n, start + step))


def chunks_by_size(ends: IntArray, most: int) -> Iterator[slice]:
    """Cut items of different sizes into slices of a limited total."""
    start = 0
    while start < len(ends):
        check_deadline()
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop


def draw_columns(share: FloatArray, uniforms: FloatArray) -> IntArray:
    """A column of each row, (n,), as likely as its share, by a number of [0, 1) each; never one of share 0."""
    cumulative = share.cumsum(axis=1)
    last = share.shape[1] - 1 - (share[:, ::-1] > 0).argmax(axis=1)  # rounding must not go beyond it
    return np.asarray(np.minimum((cumulative <= uniforms[:, None] * cumulative[:, -1:]).sum(axis=1), last))


def row_sums(X: FloatArray) -> FloatArray:
    """Sum over the last axis; ten times as fast as numpy's own where that axis is short."""
    width = X.shape[-1]
    return np.asarray((X.reshape(-1, width) @ np.ones(width)).reshape(X.shape[:-1])) if width else X.sum(axis=-1)


def log_or_infinite(values: Any) -> FloatArray:
    """Natural logarithms, minus infinity of 0 without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def effective_size(weight: FloatArray | None, n: int) -> float:
    """How many rows of equal weight tell as much as some weighted ones: all n where there are no weights."""
    return float(n) if weight is None else float(weight.sum() ** 2 / (weight @ weight))


def mean_and_variance(values: FloatArray, weight: FloatArray | None = None) -> tuple[float, float]:
    """Mean of values, and the variance of one of them such that by `effective_size` it gives that of the mean."""
    n = effective_size(weight, len(values))
    if weight is None:
        return float(values.mean()), float(values.var(ddof=1)) if n > 1 else np.nan
    share = weight / weight.sum()
    mean = float(share @ values)
    return mean, n**2 / (n - 1) * float(share**2 @ (values - mean) ** 2) if n > 1 else np.nan


def equal_errors(vectors: FloatArray) -> float | None:
    """What every mistake costs, where all cost the same and a right decision nothing; None elsewhere."""
    n = len(vectors)
    error = float(vectors[0, -1])
    alike = vectors.shape == (n, n) and not vectors.trace() and np.count_nonzero(vectors == error) == n * (n - 1)
    return error if alike else None


def lower_envelope(X: FloatArray, vectors: FloatArray) -> FloatArray:
    """Smallest product of each row with one of a few vectors."""
    rows = X.reshape(-1, X.shape[-1])
    # of fewer it does not pay to look whether they are costs of 0 and 1
    if len(vectors) >= 8 and equal_errors(vectors) == 1:
        # a mistake costs 1: all but the likeliest, and not as many products as there are pairs of classes
        return np.asarray((row_sums(rows) - rows.max(axis=1)).reshape(X.shape[:-1]))
    if len(rows) * len(vectors) <= 2**15:  # one part
        return np.asarray((vectors @ rows.T).min(axis=0).reshape(X.shape[:-1]))
    result = np.empty(len(rows))
    # numpy reduces short rows one by one and long ones at speed: the products lie vector by vector
    for part in chunks(len(rows), 8.0 * len(vectors), CACHE_BYTES):
        np.min(vectors @ rows[part].T, axis=0, out=result[part])
    return result.reshape(X.shape[:-1])


def smallest_int(largest: int) -> np.dtype[Any]:
    """Smallest signed integer type that holds ``-1..largest``."""
    return np.min_scalar_type(-1 - max(int(largest), 0))  # of a negative number a signed type


def mix_bits(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread numbers over all 64 bits: a step of the generator splitmix64 (Steele, Lea and Flood, 2014)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def uniforms(keys: Any, seed: int) -> FloatArray:
    """Numbers in [0, 1) that are a hash of each row: equal rows give equal numbers, different ones independent ones."""
    n, width = keys.shape
    total = np.zeros(n, dtype=np.uint64)
    salt = mix_bits(np.arange(1, width + 1, dtype=np.uint64))
    if isinstance(keys, np.ndarray):
        for part in chunks(n, 8.0 * 6 * width):
            bits = _number_bits(keys[part])
            # zeros add nothing, so that sparse and dense rows agree
            total[part] = np.where(bits == 0, np.uint64(0), mix_bits(bits ^ salt)).sum(axis=1, dtype=np.uint64)
    else:
        rows = keys.tocsr()
        bits = _number_bits(rows.data)
        cells = np.where(bits == 0, np.uint64(0), mix_bits(bits ^ salt[rows.indices]))
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(cells, dtype=np.uint64)])
        total = sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]
    lots = mix_bits(total ^ mix_bits(np.array([seed], dtype=np.uint64)))
    return np.asarray((lots >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _number_bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    number = values.astype(np.float64) + 0.0  # negative zero becomes zero
    number[np.isnan(number)] = np.nan
    return np.ascontiguousarray(number).view(np.uint64)


def pick(values: Any, places: IntArray) -> Any:
    """Some entries of an array or of a list, in the order of the places."""
    return [values[place] for place in places.tolist()] if isinstance(values, list) else values[places]


def within_classes(state: FloatArray, table: FloatArray, members: list[IntArray]) -> FloatArray:
    """P(outcome | class) from P(hidden state | class) and P(outcome | hidden state)."""
    flat = table.reshape(-1, table.shape[-1])
    if len(members) == table.shape[-1]:  # a class is its only state
        own = np.concatenate(members)
        return np.asarray((state[:, None, own] * flat[:, own]).reshape(len(state), *table.shape[:-1], len(own)))
    result = np.empty((len(state), len(flat), len(members)))
    for c, states in enumerate(members):
        result[:, :, c] = state[:, states] @ flat[:, states].T
    return result.reshape(len(state), *table.shape[:-1], len(members))


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of an array that cannot be written to."""
    view: npt.NDArray[Any] = array.view()
    view.flags.writeable = False
    return view


def condition_on_answer(state: FloatArray, shown: FloatArray, hidden_class: IntArray, member: FloatArray) -> FloatArray:
    """P(hidden state | class) after an answer of the given probability in each hidden state."""
    joint = state * shown
    total = joint @ member
    ruled_out = total <= 0
    if ruled_out.any():
        scale = 1 / np.where(ruled_out, 1.0, total)
        return np.where(ruled_out[:, hidden_class], state, joint * scale[:, hidden_class])
    # a product is faster than picking columns
    joint *= (1 / total) @ member.T
    return np.asarray(joint)
