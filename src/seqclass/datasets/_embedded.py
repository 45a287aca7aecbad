"""The data sets that scikit-learn carries, by name and without a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from seqclass.datasets._dataset import Dataset

_LOADERS: dict[str, tuple[Callable[..., Any], str]] = {
    "breast_cancer": (load_breast_cancer, "Wisconsin diagnostic: measures of cell nuclei, malignant or benign."),
    "digits": (load_digits, "Handwritten digits, 8 x 8 pixels of 0 to 16."),
    "iris": (load_iris, "Sepals and petals of three kinds of iris."),
    "wine": (load_wine, "Chemical analysis of wines of three growers."),
}
#: Names of the embedded sets.
EMBEDDED = tuple(_LOADERS)


def load_embedded(name: str) -> Dataset:
    """Return one of scikit-learn's own sets: breast_cancer, digits, iris or wine.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    Dataset
        Without prices.

    Raises
    ------
    ValueError
        If there is no such set.

    Examples
    --------
    >>> load_embedded("digits")
    Dataset('digits', 1797 x 64, 10 classes)
    """
    if name not in _LOADERS:
        raise ValueError(f"name must be one of {', '.join(map(repr, EMBEDDED))}, got {name!r}.")
    loader, text = _LOADERS[name]
    bunch = loader()
    return Dataset(
        name=name,
        X=bunch.data,
        y=np.asarray(bunch.target, dtype=np.int64),
        class_names=tuple(str(label) for label in bunch.target_names),
        feature_names=tuple(str(feature) for feature in bunch.feature_names),
        description=text,
        source=f"scikit-learn, load_{name}",
    )
