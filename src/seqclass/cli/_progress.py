"""Signs of life on stderr: only on a terminal, and only for what takes over two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

#: Seconds before anything is shown.
DELAY = 2.0

_T = TypeVar("_T")


def progress(items: Iterable[_T], description: str, total: int | None = None) -> Iterable[_T]:
    """Iterate with a progress bar.

    Parameters
    ----------
    items : iterable
        What to go through.
    description : str
        What is going on.
    total : int, optional
        Number of items, if ``len`` does not tell.
    """
    from tqdm import tqdm

    bar: Iterable[_T] = tqdm(items, description, total=total, delay=DELAY, disable=None, leave=False, file=sys.stderr)
    return bar


@contextmanager
def reading(path: Any) -> Iterator[Any]:
    """Open a file for reading bytes, with a progress bar over its size."""
    from tqdm import tqdm

    size = path.stat().st_size
    options: dict[str, Any] = {"total": size, "delay": DELAY, "disable": None, "leave": False, "file": sys.stderr}
    with path.open("rb") as file, tqdm.wrapattr(file, "read", desc=f"reading {path.name}", **options) as wrapped:
        yield wrapped


@contextmanager
def working(description: Callable[[], str]) -> Iterator[None]:
    """Show what is going on and for how long, for work that cannot tell how far it is.

    Parameters
    ----------
    description : callable
        Gives the words of the moment.
    """
    from tqdm import tqdm

    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()

    def show() -> None:
        if done.wait(DELAY):
            return
        with tqdm(bar_format="{desc} {elapsed}", leave=False, file=sys.stderr) as bar:
            while not done.wait(0.2):
                bar.set_description_str(description())

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
