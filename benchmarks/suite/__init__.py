"""A frozen suite: fixed sets, rows, folds and prices, what methods cost on them as data, and a command that adds one.

`docs/suite.md` is its page, and ``python -m benchmarks.suite --help`` its command.
"""

from __future__ import annotations

import sys
from pathlib import Path

#: The benchmark scripts are run by their paths, and import one another by their bare names.
if (_FOLDER := str(Path(__file__).resolve().parents[1])) not in sys.path:
    sys.path.append(_FOLDER)
