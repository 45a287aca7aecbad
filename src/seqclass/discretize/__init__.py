"""Turn features into the few outcomes that the models count."""

from seqclass.discretize._discretizer import Discretizer

__all__ = ["Discretizer"]
