"""A fitted model as a service over HTTP: what to ask next, live cases, explanations (needs the extra ``serve``)."""

from seqclass.serve.app import create_app

__all__ = ["create_app"]
__dir__ = __all__.copy  # tab completion
