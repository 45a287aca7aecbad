"""Turn features into the few outcomes that the models count."""

from seqclass.discretize.discretizer import Discretizer

__all__ = ["Discretizer"]
__dir__ = __all__.copy  # tab completion
