"""Puts seqclass into a checkout of AFABench as one of its methods; a second run changes nothing.

python examples/afabench/install.py AFA-BENCHMARK
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COPIES = {
    HERE.parent / "afabench_method.py": "afabench/seqclass_method.py",
    # not seqclass.py: Python would then take the script for the package
    HERE / "train.py": "scripts/train/train_seqclass.py",
    HERE / "config.yaml": "extra/conf/scripts/train/seqclass/config.yaml",
}
#: What is put after a line of a file, by its beginning; at the end where there is none.
ENTRIES = {
    "afabench/common/registry.py": (
        "REGISTERED_CLASSES = {",
        '    "AFABenchMethod": "afabench.seqclass_method.AFABenchMethod",\n',
    ),
    "extra/workflow/conf/methods.yaml": ("methods:", "  - seqclass\n"),
    "extra/workflow/conf/method_options.yaml": (
        "method_options:",
        "  seqclass:\n"
        '    train_script_name: "train_seqclass"\n'
        "    eval_batch_size:\n"
        "      default: 1000\n"
        "    hard_budget_ignored_datasets: [mnist, fashion_mnist, imagenette]\n"
        "    soft_budget_ignored_datasets: [mnist, fashion_mnist, imagenette]\n",
    ),
    "extra/workflow/conf/soft_budget_params.yaml": (
        "soft_budget_params:",
        "  seqclass:\n    default:\n      - [0.001, null]\n      - [0.01, null]\n      - [0.03, null]\n",
    ),
}


def main() -> None:
    checkout = Path(sys.argv[1]) if len(sys.argv) == 2 else Path()
    absent = [name for name in ENTRIES if not (checkout / name).is_file()]
    if len(sys.argv) != 2 or absent:
        raise SystemExit(f"Name the folder of a checkout of AFABench{f'; it lacks {absent[0]}' if absent else ''}.")
    for source, name in COPIES.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, checkout / name)
    for name, (after, entry) in ENTRIES.items():
        lines = (checkout / name).read_text(encoding="utf-8").splitlines(keepends=True)
        if entry not in "".join(lines):
            at = next(i for i, line in enumerate(lines) if line.startswith(after)) + 1
            (checkout / name).write_text("".join([*lines[:at], entry, *lines[at:]]), encoding="utf-8")
    print(f"Put seqclass into {checkout}.")


if __name__ == "__main__":
    main()
