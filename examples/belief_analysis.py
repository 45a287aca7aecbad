"""What a fitted policy does: beliefs it meets, where it stops, what each measurement brings, what its price matters.

python examples/belief_analysis.py
python examples/belief_analysis.py --pictures FOLDER    (needs matplotlib)
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass import analysis
from seqclass.pomdp import Lookahead


def main() -> None:
    parser = argparse.ArgumentParser(description="Analyse the beliefs of a policy for breast tumours.")
    parser.add_argument("--pictures", metavar="FOLDER", type=Path, help="draw four pictures into FOLDER")
    arguments = parser.parse_args()

    data = load_breast_cancer(as_frame=True)
    clf = seqclass.etana(feature_costs=0.01).fit(data.data, np.asarray(data.target_names)[data.target])
    problem, policy = clf.problem_, clf.policy_
    names = [clf.feature_name(column) for column in clf.order_]

    print("Beliefs: how many, and how many cases go on")
    beliefs = analysis.reachable_beliefs(problem, policy)
    entropy = analysis.entropy_path(problem, policy)
    for stage in range(4):
        here = beliefs.at_stage(stage)
        print(
            f"  after {stage}: {len(here):4d} beliefs, {entropy.overall[stage]:.3f} nats, {here.asked.sum():6.1%} go on"
        )

    print("\nIt asks while P(malignant) is between")
    bounds = analysis.thresholds(policy, max_stages=4)
    for stage, low, high in zip(*(part[bounds.go_on] for part in (bounds.stage, bounds.lower, bounds.upper))):
        print(f"  {low:.4f} and {high:.4f}   for {names[stage]}")

    print("\nWhat the measurements bring those that are asked")
    values = analysis.feature_values(problem, policy)
    for stage in range(4):
        print(f"  {names[stage]:22s} asked {values.asked[stage]:6.1%}, brings {values.gain[stage]:.3f}")

    print("\nBy class")
    profile = analysis.class_profile(problem, policy)
    for label, features, error in zip(clf.classes_, profile.n_features, profile.error):
        print(f"  {label:10s} {features:.2f} measurements, {error:.1%} wrong")

    print("\nIf the first measurement cost 0.05 more")
    slopes = analysis.sensitivity(problem, policy)
    dearer = analysis.what_if(problem, policy, prices={int(problem.features[0]): float(problem.prices[0]) + 0.05})
    print(f"  the slope says  {0.05 * slopes.price[0]:+.4f}")
    print(f"  solved again    {dearer.change:+.4f}")

    difference = analysis.regret(problem, Lookahead().solve(problem), policy)
    print(f"\nLooking one step ahead only costs {difference.regret:.4f} more; by the stage where the two part:")
    print("  " + ", ".join(f"{k}: {cost:.4f}" for k, cost in enumerate(difference.by_stage[:5])))

    if arguments.pictures:
        draw(clf, arguments.pictures)


def draw(clf: seqclass.SequentialClassifier, folder: Path) -> None:
    from seqclass.plots import EntropyDisplay, FeatureValuesDisplay, ReachableBeliefsDisplay, ThresholdsDisplay

    folder.mkdir(parents=True, exist_ok=True)
    displays = {
        "beliefs": ReachableBeliefsDisplay,
        "thresholds": ThresholdsDisplay,
        "features": FeatureValuesDisplay,
        "entropy": EntropyDisplay,
    }
    for name, display in displays.items():
        display.from_estimator(clf).figure_.savefig(folder / f"{name}.png", dpi=150)
    print(f"\nPictures written to {folder}.")


if __name__ == "__main__":
    main()
