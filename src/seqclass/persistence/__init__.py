"""Model files: written completely or not at all, and read without running any code from them."""

from seqclass._utils.model_files import ModelFileError, register, save

__all__ = ["ModelFileError", "register", "save"]
__dir__ = __all__.copy  # tab completion
