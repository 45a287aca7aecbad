"""Warnings of kinds that parts of the package tell apart."""

from __future__ import annotations


class HeldOutWarning(UserWarning):
    """On rows held out, what is bought does not pay."""
