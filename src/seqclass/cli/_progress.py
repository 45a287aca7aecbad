"""Signs of life on stderr: only on a terminal, without --quiet, and only for what takes over two seconds."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from seqclass._utils.progress import logger
from seqclass.cli._options import QUIET

#: Seconds before anything is shown.
DELAY = 2.0
#: Tests put their own here.
_wait = threading.Event.wait
_clock = time.perf_counter

_T = TypeVar("_T")


def is_quiet() -> bool:
    """Whether --quiet was given."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def is_shown() -> bool:
    """Whether there is a terminal to show progress on, and no --quiet."""
    return sys.stderr.isatty() and not is_quiet()


def progress(items: Iterable[_T], description: str) -> Iterable[_T]:
    """Iterate with a progress bar."""
    from tqdm import tqdm

    bar: Iterable[_T] = tqdm(items, description, **_settings())
    return bar


@contextmanager
def open_with_progress(path: Any) -> Iterator[Any]:
    """Open a file for reading bytes, with a progress bar over its size."""
    from tqdm import tqdm

    size = path.stat().st_size
    with (
        path.open("rb") as file,
        tqdm.wrapattr(file, "read", desc=f"reading {path.name}", total=size, **_settings()) as wrapped,
    ):
        yield wrapped


@contextmanager
def show_progress(task: str) -> Iterator[None]:
    """Show for how long work goes on, and which step the library tells that it is at."""
    if not is_shown():
        yield
        return
    latest, level = _Latest(task), logger.level
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(latest, done), daemon=True)
    logger.addHandler(latest)
    logger.setLevel(logging.INFO)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        logger.setLevel(level)
        logger.removeHandler(latest)


class _Latest(logging.Handler):
    """Keeps the step that was told last, which share of the work was done then, and when that was."""

    def __init__(self, task: str) -> None:
        super().__init__(logging.INFO)
        self.task = self.text = task
        self.began = _clock()
        self.share, self.at = 0.0, self.began

    def emit(self, record: logging.LogRecord) -> None:
        share = getattr(record, "share", None)
        if share is None:
            self.text = f"{self.task}: {record.getMessage()}"
        else:
            self.share, self.at = share, _clock()

    def seconds_left(self) -> float:
        """Seconds that the rest takes if it goes on as the share that is done."""
        whole = (self.at - self.began) / self.share
        return max(0.0, whole - (_clock() - self.began))


def _show(latest: _Latest, done: threading.Event) -> None:
    from tqdm import tqdm

    if _wait(done, DELAY):
        return
    with tqdm(total=1.0, bar_format="{desc} {elapsed}", leave=False, file=sys.stderr) as bar:
        bar.start_t -= DELAY
        while not _wait(done, 0.2):
            if latest.share:
                left = tqdm.format_interval(latest.seconds_left())
                bar.bar_format = f"{left} left {{percentage:.0f}}%|{{bar:10}}| {{elapsed}} {{desc}}"
                bar.n = latest.share
            bar.set_description_str(latest.text)


def _settings() -> dict[str, Any]:
    return {"delay": DELAY, "disable": not is_shown(), "leave": False, "file": sys.stderr}
