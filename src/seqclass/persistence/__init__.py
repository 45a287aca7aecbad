"""Model files: written whole or not at all, and read without running anything from them."""

from seqclass._utils.model_files import ModelFileError, register, save

__all__ = ["ModelFileError", "register", "save"]
