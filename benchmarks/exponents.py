"""How seconds grow with rows, columns, classes and questions asked: four sizes each, and the exponent of growth.

    python benchmarks/exponents.py [--json FILE] [--quick] [--repeats N]

Seconds are those of the processor, the least of the repeats, on rows whose classes differ a little in each column: 2000
rows, 20 columns and 2 classes but for what grows. The exponent is the slope of a straight line through the logarithms:
1 where twice as much takes twice as long. Predictions are of 2000 rows; the more is asked, the lower is the price.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import Row, parser, report
from _speed_of_ours import cpu, drawn

import seqclass
from seqclass import SequentialClassifier

SIZES = {
    "rows": (1000, 2000, 4000, 8000),
    "columns": (10, 20, 40, 80),
    "classes": (2, 4, 8, 16),
    "questions asked": (2, 4, 8, 16),
}
FITS: dict[str, Callable[..., Any]] = {
    "etana": seqclass.etana,
    "any order": lambda price, **limits: SequentialClassifier(order="adaptive", feature_costs=price, **limits),
    "adaptive, quick": lambda price, **limits: seqclass.adaptive(price, random_state=0),
}


def measured(method: str, grows: str, size: int, repeats: int) -> tuple[float, float, float]:
    """Seconds of fit and of predictions, and how much was asked on average."""
    sizes = {"rows": 2000, "columns": 20, "classes": 2} | ({grows: size} if grows != "questions asked" else {})
    X, y = drawn(sizes["columns"], sizes["classes"], sizes["rows"])
    new = drawn(sizes["columns"], sizes["classes"], 2000)[0]
    price, limits = (1e-5, {"max_features": size}) if grows == "questions asked" else (0.01, {})
    clf = FITS[method](price, **limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = cpu(lambda: clf.fit(X, y), repeats)
    predict = cpu(lambda: clf.acquire(new), repeats)
    return fit, predict, float(clf.acquire(new).n_features.mean())


def exponent(sizes: Any, seconds: Any) -> float:
    """Slope of seconds over sizes, both in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    arguments = parser(__doc__).parse_args()
    rows, lines = list[Row](), ["| what grows | method | task | CPU seconds | exponent |", "|---|---|---|---|---|"]
    for grows, sizes in SIZES.items():
        some, repeats = (sizes[:2], 1) if arguments.quick else (sizes, arguments.repeats)
        # of adaptive, what is asked follows from the price alone
        for method in [name for name in FITS if grows != "questions asked" or "adaptive" not in name]:
            found = np.array([measured(method, grows, size, repeats) for size in some])
            by = found[:, 2] if grows == "questions asked" else np.array(some, float)
            shown = ", ".join(f"{at:,.4g}" if at < 1000 else f"{at:,.0f}" for at in by)
            for task, seconds in (("fit", found[:, 0]), ("predict 2000 rows", found[:, 1])):
                rows += [
                    Row(f"{method}, {task}, {at:.4g} {grows}", float(one), None, None, None, None)
                    for at, one in zip(by, seconds)
                ]
                told = ", ".join(f"{one:.2g}" for one in seconds)
                lines.append(f"| {grows} ({shown}) | {method} | {task} | {told} | {exponent(by, seconds):.2f} |")
    report(rows, arguments.json)
    print("\n".join(["", *lines]))


if __name__ == "__main__":
    main()
