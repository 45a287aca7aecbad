"""Draws the picture of the README: what deciding costs, beside the page that asks, on a phone.

python docs/_picture.py docs/images/readme.png    (needs matplotlib and Chromium; figures are those of `seqclass demo`)
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.patches import FancyBboxPatch

from seqclass.cli.demo import Demonstration, compare, tell
from seqclass.export import export_policy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from headless import NAMES, Browser

#: Size of the phone's screen, and its pixels for each of ours.
WIDTH, HEIGHT, SCALE = 390, 760, 2
#: How many answers are given before the page is photographed.
ANSWERS = 2
#: How far apart, in costs, names are written, and what the parts of a style are called.
_APART = 0.017
_STYLE = ("color", "marker", "markersize")


def photograph(comparison: Demonstration, folder: Path) -> Any:
    """The exported page on a phone, after some answers of a patient whom the model has not seen."""
    story = tell(comparison)
    export_policy(comparison.model, folder / "page.html", title="Breast tumour")
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        raise SystemExit(f"needs a Chromium: one of {', '.join(NAMES)}.")
    browser = Browser(executable, folder / "profile")
    browser.open(folder / "page.html", WIDTH, HEIGHT)
    browser.send("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=SCALE, mobile=True)
    for step in story.steps[:ANSWERS]:
        browser.run("document.querySelector('.case input[type=text]').focus()")
        browser.send("Input.insertText", text=f"{step.value:g}")
        browser.key("Enter")
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    browser.picture(folder / "page.png")
    browser.close()
    return imread(folder / "page.png")[: SCALE * HEIGHT]


def draw(comparison: Demonstration, screen: Any, path: Path) -> None:
    """Costs on the left, the phone on the right."""
    figure = Figure(figsize=(11, 5.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2.1, 1])
    results = sorted(comparison.results, key=lambda result: result.realised_cost)
    left.set_xscale("log")
    height = 0.0
    for result in results:
        ours, far = result is comparison.results[0], result.mean_features > 15
        style = ("#0072b2", "o", 10) if ours else ("#666666", "s", 7)
        left.plot(result.mean_features, result.realised_cost, linestyle="", **dict(zip(_STYLE, style)))
        height = max(result.realised_cost, height + _APART)  # names do not stand on each other
        left.annotate(
            f"{result.method}  {result.realised_cost:.3f}",
            (result.mean_features * (0.95 if far else 1.05), height),
            ha="right" if far else "left",
            va="center",
            fontsize=11,
            fontweight="bold" if ours else "normal",
        )
    ticks = [2, 3, 5, 10, 20, 30]
    left.set_xticks(ticks, [f"{tick}" for tick in ticks])
    left.minorticks_off()
    left.set_xlim(1.8, 36)
    left.set_ylim(0, 0.4)
    left.set_xlabel("measurements taken of a patient, of 30 (mean)")
    left.set_ylabel("cost of a patient: 0.01 a measurement, 1 a wrong diagnosis")
    left.set_title("Breast tumours: what deciding costs", fontsize=12)
    left.spines[["top", "right"]].set_visible(False)
    left.grid(color="#e6e6e6")
    left.set_axisbelow(True)

    right.imshow(screen, extent=(0, WIDTH, 0, HEIGHT))
    border = FancyBboxPatch(
        (0, 0), WIDTH, HEIGHT, boxstyle="round,pad=9,rounding_size=34", fill=False, linewidth=5, edgecolor="#333333"
    )
    right.add_patch(border)
    right.set_xlim(-24, WIDTH + 24)
    right.set_ylim(-24, HEIGHT + 24)
    right.set_axis_off()
    right.set_title("the exported page, offline on a phone", fontsize=12)
    figure.savefig(path, dpi=110)


def main() -> None:
    comparison = compare()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        draw(comparison, np.asarray(photograph(comparison, Path(folder))), Path(sys.argv[1]))


if __name__ == "__main__":
    main()
