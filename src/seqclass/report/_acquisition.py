"""Pictures of what sequential methods acquire: features by class, numbers of features, calibration."""

from __future__ import annotations

from seqclass.experiment import LabelledRecord, Results
from seqclass.plots.question_calibration import stops_of
from seqclass.report._acquisition_map import acquisition_map
from seqclass.report._calibration import calibration_curves
from seqclass.report._feature_counts import histograms
from seqclass.report._markup import Markup, element, together
from seqclass.report._question_calibration import stops_figure
from seqclass.report._ways import calibration, codes_of, feature_counts, shares_of
from seqclass.report.explore import left_out, sequential_methods, some

#: Methods on data sets that are drawn.
MOST = 24


def acquisition_section(results: Results, price: float | None = None) -> Markup:
    """Section with four pictures of each sequential method on each data set, from the instances that were kept.

    Parameters
    ----------
    results : Results
        The run.
    price : float, optional
        Price of the run; by default the first that each method has on a data set.

    Returns
    -------
    Markup
    """
    drawn: list[Markup] = []
    left: list[str] = []
    bare: list[str] = []
    having = set(results.keys_with("instances"))
    for title, cells in sequential_methods(results.table(), price):
        own = [key for key in cells.index if key in having]
        if not own:
            bare.append(title)
            continue
        if len(drawn) == MOST:
            left.append(title)
            continue
        data, method, at, budget = cells[["data", "method", "price", "budget"]].iloc[0]
        said = f"{title}, price {at:g}" + ("" if budget != budget else f", hard budget {budget:g}")
        kept = Results(results.path, own).record(data, method)
        drawn.append(_pictures(f"way-{len(drawn)}", said, kept, is_open=not drawn))
    if not drawn:
        why = "no instances are kept of them" if bare else "there are none"
        return element("p", f"What methods that ask for features one by one acquired cannot be drawn: {why}.")
    notes = [
        "Of the instances that were kept, over all folds and seeds. Press a name to open or close its pictures.",
        left_out(left),
        f"No instances are kept of {some(bare)}." if bare else "",
    ]
    return together(element("p", " ".join(filter(None, notes)), class_="note"), *drawn)


def _pictures(key: str, title: str, kept: LabelledRecord, *, is_open: bool) -> Markup:
    classes, codes = codes_of(kept)
    counts = feature_counts(kept, codes)
    n = [int((codes == i).sum()) for i in range(len(classes))]
    figures = [
        acquisition_map(f"{key}-map", classes, n, shares_of(kept, codes)),
        histograms(f"{key}-counts", classes, n, counts),
        calibration_curves(f"{key}-calibration", calibration(kept)),
        stops_figure(f"{key}-stops", stops_of(kept.record, kept.truth, kept.classes)),
    ]
    said = f"{title}: {len(kept):,} instances, {kept.record.n_features.mean():.2f} features on average"
    inside = element("div", *figures, class_="pictures")
    return element("details", element("summary", said), inside, class_="ways", open="" if is_open else None)
