"""A complaint says which of eight sensors tells the class: the same order for everybody against any question next.

python examples/adaptive_sensors.py
"""

from __future__ import annotations

import numpy as np

from seqclass import SequentialClassifier
from seqclass.analysis import decision_graph
from seqclass.bn import TreeNetwork
from seqclass.datasets import make_sensors
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive


def main() -> None:
    train, test = make_sensors(4000, 4, random_state=0), make_sensors(4000, 4, random_state=1)
    print(f"least possible cost: {train.optimum}")
    for order in ("conditional", "adaptive"):
        # a tree may learn that what a sensor says of the class depends on the complaint
        clf = SequentialClassifier(
            TreeNetwork(),
            discretizer=Discretizer(4),
            order=order,
            feature_costs=dict(zip(train.feature_names, train.feature_costs)),
        )
    print(np, Adaptive, decision_graph, clf, test)


if __name__ == "__main__":
    main()
