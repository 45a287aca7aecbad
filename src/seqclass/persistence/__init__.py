"""Model files: written whole or not at all, and read without running anything from them."""

from seqclass._utils.model_files import ModelFileError, load, register, save

__all__ = ["ModelFileError", "load", "register", "save"]
