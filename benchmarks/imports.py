"""Seconds of ``seqclass --help``, and of importing the classifier beyond ``import sklearn.base``, beside peers.

    python benchmarks/imports.py [--json FILE] [--quick] [--repeats N]

Each import has a fresh process, and the best of the repeats counts; the package's files are warm by then, and compiled,
as an installation leaves them: where nothing may write bytecode, every import would compile all sources again. Seconds
are those of the processor. What is imported at all is counted in ``tests/test_architecture.py``.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile

from _common import Row, left_out, parser, report

#: Beside which: what everybody pays who uses scikit-learn, and the packages for networks and for POMDPs.
PEERS = ("sklearn.base", "pgmpy.models", "pomdp_py")
_CLASSIFIER = "from seqclass import SequentialClassifier"
_HELP = """
import contextlib, io
from seqclass.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    main(['--help'], standalone_mode=False)
"""
_CODE = """
import time
{before}
start = time.process_time()
{code}
print(time.process_time() - start)
"""


def fresh(code: str, before: str, repeats: int, bytecode: str) -> float:
    """Seconds of running a code after importing a module: the best of the repeats; compiled files go into a folder."""
    command = [sys.executable, "-c", _CODE.format(before=f"import {before}" if before else "", code=code)]
    places = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    places["PYTHONPYCACHEPREFIX"] = bytecode
    # the first only warms and compiles the files
    runs = [subprocess.run(command, capture_output=True, text=True, check=True, env=places) for _ in range(repeats + 1)]
    return min(float(run.stdout) for run in runs[1:])


def main() -> None:
    arguments = parser(__doc__).parse_args()
    repeats = 1 if arguments.quick else arguments.repeats
    name = f"{_CLASSIFIER} after sklearn.base"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        help_s, ours_s = fresh(_HELP, "", repeats, folder), fresh(_CLASSIFIER, "sklearn.base", repeats, folder)
        for peer in PEERS[:1] if arguments.quick else PEERS:
            if importlib.util.find_spec(peer.split(".")[0]) is None:
                left_out(f"beside {peer}", "it is not installed")
                continue
            peer_s = fresh(f"import {peer}", "" if peer == "sklearn.base" else "sklearn.base", repeats, folder)
            if not rows:
                rows.append(Row("seqclass --help", help_s, f"import {peer}", peer_s, peer_s / help_s, None))
            rows.append(Row(name, ours_s, f"import {peer}", peer_s, peer_s / ours_s, None))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
