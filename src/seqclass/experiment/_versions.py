"""Results that were computed by another seqclass than this one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from seqclass import __version__


def warn_of_versions(versions: Iterable[str], what: str) -> None:
    """Warn the caller of our caller if any of these versions is not this one.

    Parameters
    ----------
    versions : iterable of str
        Of what is kept.
    what : str
        What is kept, in words.
    """
    others = set(versions) - {__version__}
    if others:
        warnings.warn(
            f"{what} of this run were computed by seqclass {', '.join(sorted(others))} and are kept, this is "
            f"{__version__}; write to another file to compute them anew.",
            stacklevel=3,
        )
