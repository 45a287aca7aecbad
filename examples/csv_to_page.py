"""From two CSV files, the cases and the prices in euros, to a page that asks and decides offline.

python examples/csv_to_page.py
python examples/csv_to_page.py --page tumour.html    (keep the page)

The files are written first, so that the script runs as it stands: put your own in their place.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass import Costs
from seqclass.export import export_policy

#: In euros: a needless operation, a missed tumour; a row for what is true, a column for what is decided.
MISTAKES = pd.DataFrame({"benign": [0, 12_000], "malignant": [1500, 0]}, index=["benign", "malignant"])


def write_files(folder: Path) -> None:
    """Ten measurements of three figures: the first figure of each is dear, the others come cheaper."""
    frame = load_breast_cancer(as_frame=True).frame
    frame["diagnosis"] = frame.pop("target").map({0: "malignant", 1: "benign"})
    frame.to_csv(folder / "patients.csv", index=False)
    names = frame.columns.drop("diagnosis")
    what = names.str.replace("mean |worst | error", "", regex=True)
    prices = pd.DataFrame({"feature": names, "cost": 40, "group": what, "discounted": 5})
    prices.to_csv(folder / "prices.csv", index=False)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print how long a step took."""
    began = time.perf_counter()
    yield
    print(f"[{time.perf_counter() - began:.1f} s] {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description="From a CSV file with prices in euros to a page.")
    parser.add_argument("--page", metavar="FILE", help="write the page to FILE and keep it")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        with step("read"):
            frame = pd.read_csv(folder / "patients.csv")
            prices = pd.read_csv(folder / "prices.csv").set_index("feature")
            y = frame.pop("diagnosis")
        with step("learn, and hold out"):
            clf = seqclass.etana(
                Costs(
                    prices["cost"].to_dict(),
                    groups=prices["group"].to_dict(),
                    discounted_costs=prices["discounted"].to_dict(),
                    decision_costs=MISTAKES.to_numpy(),
                )
            ).fit(frame, y, held_out=3)
        held = clf.held_out_
        low, high = held.cost_interval
        print(f"a patient costs {held.cost:.0f} euros ({low:.0f} to {high:.0f}) where the fit had not seen them,")
        print(f"of these {held.price:.0f} for {held.n_features:.1f} figures,")
        print(f"and {held.deciding_at_once.cost:.0f} where nothing is measured")
        with step("write the page"):
            page = Path(arguments.page or folder / "page.html")
            export_policy(clf, page, title="Breast tumours, prices in euros")
        print(f"{page.name}: {page.stat().st_size / 1000:.0f} kB, one file that works offline")


if __name__ == "__main__":
    main()
