"""Warnings of kinds that parts of the package tell apart, and at the line of whoever called it."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


class HeldOutWarning(UserWarning):
    """On rows held out, what is bought does not pay."""


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that led here, however many calls ago that was."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
