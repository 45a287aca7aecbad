"""What may happen to a call at each of its lines: another thread that shares the object, or an interruption."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from linecache import getline
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def _at_line(number: int, names: Container[str], call: Callable[[], Any], happen: Callable[[], None]) -> Any:
    """Call, and have something happen before a line of the functions of these names, the first one by 0."""
    count, before = itertools.count(), sys.gettrace()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        # the line of a with is told once more at its end, where no signal comes before the exit
        with_lock = getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")
        if event == "line" and not with_lock and next(count) == number:
            happen()
        return trace if frame.f_code.co_name in names else None

    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(before)


def answers_of_two(
    make: Callable[[], T], first: Callable[[T], Any], second: Callable[[T], Any], names: Container[str]
) -> Iterator[tuple[Any, Any]]:
    """Two answers of one object, the second by a thread that goes all its way, where it may, at a line of the first."""
    for number in itertools.count():
        shared, found = make(), list[Any]()
        thread = Thread(target=lambda shared=shared, found=found: found.append(second(shared)))

        def meet(thread: Thread = thread) -> None:
            thread.start()
            thread.join(0.001)  # it may have to wait for the first

        answer = _at_line(number, names, lambda shared=shared: first(shared), meet)
        if thread.ident is None:  # there is no such line
            return
        thread.join()
        yield answer, found[0] if found else None


def interrupted(make: Callable[[], T], call: Callable[[T], Any], names: Container[str]) -> Iterator[T]:
    """An object after a call that was interrupted, at one line after the other."""

    def stop() -> None:
        reached.append(True)
        raise KeyboardInterrupt

    for number in itertools.count():
        shared, reached = make(), list[bool]()
        with suppress(KeyboardInterrupt):
            _at_line(number, names, lambda shared=shared: call(shared), stop)
        if not reached:
            return
        yield shared
