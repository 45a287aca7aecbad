"""What a classifier asks for which class, how much it asks, and whether its belief can be trusted on the way.

python examples/acquisition_pictures.py
python examples/acquisition_pictures.py --picture acquisition.png    (needs matplotlib)
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import seqclass


def draw(clf: seqclass.SequentialClassifier, X: np.ndarray, y: np.ndarray, path: str) -> None:
    """Draw three pictures of one record: acquisition by class, feature counts, and calibration by stage."""
    import matplotlib.pyplot as plt

    from seqclass.plots import AcquisitionMapDisplay, FeatureCountDisplay, StagewiseCalibrationDisplay

    record = clf.acquire(X, record_beliefs=True)
    names = [clf.feature_name(j) for j in range(clf.n_features_in_)]
    figure = plt.figure(figsize=(11, 8.4), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1, 1.15], hspace=0.03)
    left, right = lower.subplots(1, 2)
    AcquisitionMapDisplay.from_record(record, y, names=names, max_features=26, ax=upper.subplots())
    FeatureCountDisplay.from_record(record, y, ax=left)
    StagewiseCalibrationDisplay.from_record(record, y, classes=clf.classes_, counts=[1, 4, 8, 12, 16], ax=right)
    figure.savefig(path, dpi=90)
    print(f"\nPicture written to {path}.")


def main() -> None:
    parser = argparse.ArgumentParser(description="Recognise digits by few pixels, and look at which.")
    parser.add_argument("--picture", metavar="FILE", help="draw three pictures into FILE")
    arguments = parser.parse_args()

    data = load_digits(as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0, stratify=data.target)
    clf = seqclass.etana(feature_costs=0.01).fit(X_train, y_train)
    record = clf.acquire(X_test, record_beliefs=True)
    right = record.decision == y_test
    print(f"{record.n_features.mean():.1f} of 64 pixels a digit, accuracy {right.mean():.3f}\n")

    print("digit   pixels   accuracy   sure of it   first pixel that not all are asked for")
    for digit in clf.classes_:
        rows = np.flatnonzero(y_test == digit)
        share = (record.outcome[rows] >= 0).mean(axis=0)
        step = int(np.argmax(share < 1))
        pixel = clf.feature_name(clf.order_[step])
        sure = record.posterior[rows].max(axis=1).mean()
        print(
            f"{digit:5d}{record.n_features[rows].mean():9.1f}{right.iloc[rows].mean():11.3f}{sure:13.3f}"
            f"   {pixel}, step {step + 1}: {share[step]:.0%}"
        )

    if arguments.picture:
        draw(clf, X_test, y_test, arguments.picture)


if __name__ == "__main__":
    main()
