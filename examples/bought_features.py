"""Images of which features are computed only when they are bought: each is a function, and its price is what it costs.

python examples/bought_features.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import seqclass
from seqclass import Costs
from seqclass.bn import ClassMixture


def ink(images: Any) -> dict[str, Any]:
    """Two cheap looks at an image: how dark it is, and how much of that is in its middle."""
    return {"ink": images.sum(axis=(1, 2)), "middle": images[:, 2:6, 2:6].sum(axis=(1, 2))}


def profile(images: Any) -> dict[str, Any]:
    """How dark rows and columns are, four strips each way."""
    across, down = (images.sum(axis=axis).reshape(-1, 4, 2).sum(axis=2) for axis in (2, 1))
    return {f"{name}{i}": strips[:, i] for name, strips in (("across", across), ("down", down)) for i in range(4)}


def edges(images: Any) -> dict[str, Any]:
    """How much of the edges in each quarter leans which way, a small histogram of oriented gradients."""
    down, right = np.gradient(images, axis=(1, 2))
    strength, lean = np.hypot(down, right), np.arctan2(down, right) % np.pi
    found = {}
    for quarter, (top, left) in enumerate([(0, 0), (0, 4), (4, 0), (4, 4)]):
        part = np.s_[:, top : top + 4, left : left + 4]
        for way in range(4):
            leans = (lean[part] * 4 / np.pi).astype(int) % 4 == way
            found[f"edges{quarter}{way}"] = (strength[part] * leans).sum(axis=(1, 2))
    return found


#: A bundle each: one computation shows all of its features, for one price.
EXTRACTORS = {"ink": (ink, 0.002), "profile": (profile, 0.01), "edges": (edges, 0.05)}


def main() -> None:
    digits = load_digits()
    train, test = train_test_split(np.arange(len(digits.images)), random_state=0, stratify=digits.target)
    computed: dict[str, int] = dict.fromkeys(EXTRACTORS, 0)

    def extract(rows: Any, bundle: str) -> Any:
        """What `acquire` calls: the features of a bundle, of those images that need them."""
        computed[bundle] += len(rows)
        return EXTRACTORS[bundle][0](digits.images[test[rows]])

    # to learn, all features of all training images are needed
    tables = {name: pd.DataFrame(function(digits.images[train])) for name, (function, _) in EXTRACTORS.items()}
    X_train = pd.concat(tables.values(), axis=1)
    bundle = {feature: name for name, table in tables.items() for feature in table}
    prices = {feature: EXTRACTORS[name][1] for feature, name in bundle.items()}
    clf = seqclass.SequentialClassifier(
        ClassMixture(3, random_state=0), feature_costs=Costs(prices, bundles=bundle), order="adaptive"
    ).fit(X_train, digits.target[train])

    record = clf.acquire(provider=extract, n=len(test))
    for name, count in computed.items():
        print(f"{name:8} computed for {count:4} of {len(test)} images")
    everything = sum(price for _, price in EXTRACTORS.values())
    print(f"accuracy {(record.decision == digits.target[test]).mean():.3f}")
    print(f"{record.paid.mean():.4f} an image, where everything would be {everything:.4f}")


if __name__ == "__main__":
    main()
