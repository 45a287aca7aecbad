"""Jobs in worker processes: results as they come in, also where one takes its process down."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, effective_n_jobs

#: A function and its arguments, as `joblib.delayed` gives them.
Job = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

_DIED = "BrokenProcessPool: its process was killed, for want of memory perhaps, or crashed"


def work(jobs: Mapping[str, Callable[[], Job]], n_jobs: int | None) -> Iterator[tuple[str, Any, str]]:
    """Do jobs as far as they can be done.

    Parameters
    ----------
    jobs : mapping of str to callable
        Each makes a job when it is its turn, so that arguments are not all there at a time.
    n_jobs : int or None
        Processes; None for what ``joblib.parallel_config`` says.

    Yields
    ------
    name : str
        Name of the job.
    result : object
        What it gives; None of one that takes its process down.
    error : str
        Empty, unless it took its process down.
    """
    left = dict(jobs)
    while left:
        names = list(left)
        # one job a batch: what is done is told at once
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        try:
            for number, result in parallel(_numbered(i, left[name]()) for i, name in enumerate(names)):
                del left[names[number]]
                yield names[number], result, ""
        except BrokenProcessPool:
            # it is among those that were handed out, which are the first
            for name in list(left)[: 2 * effective_n_jobs(n_jobs) + 1]:
                yield name, *_alone(left.pop(name)())


def _alone(job: Job) -> tuple[Any, str]:
    """Result of a job that has worker processes for itself, which it may take down."""
    try:
        return Parallel(n_jobs=2)([job])[0], ""
    except BrokenProcessPool:
        return None, _DIED


def _numbered(number: int, job: Job) -> Job:
    return _with_number, (number, *job[:1], *job[1]), job[2]


def _with_number(number: int, function: Callable[..., Any], *arguments: Any, **settings: Any) -> tuple[int, Any]:
    return number, function(*arguments, **settings)


@contextmanager
def quiet_workers() -> Iterator[None]:
    """Leave out joblib's warning that a worker whose memory has grown was replaced, which is as it should be."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        yield
