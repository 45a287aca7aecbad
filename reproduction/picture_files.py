"""Pictures of reproduced tables as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reproduction.run import Reproduced
from seqclass._utils.files import replace_file

__all__ = ["FORMATS", "check_matplotlib", "save_picture"]

#: Kinds of files.
FORMATS = ("png", "svg")
#: Dots an inch.
_DPI = 110
#: Colours of a PNG's palette, which makes the file less than half as large.
_COLOURS = 64


def check_matplotlib() -> Any:
    """Return matplotlib's class of figures, which needs neither a window nor a display.

    Raises
    ------
    ImportError
        If matplotlib is not installed; the message says what to install.

    Examples
    --------
    >>> check_matplotlib().__name__
    'Figure'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('pictures need matplotlib: python -m pip install "seqclass[plot]"') from error
    return Figure


def save_picture(found: Reproduced, folder: str | Path, file_format: str = "png") -> Path:
    """Draw a reproduced figure into a file that is named as its table; an earlier one is replaced in one step.

    Parameters
    ----------
    found : Reproduced
        A table that has a picture, see `Reproduced.has_picture`.
    folder : path
        Where to write; it must be there.
    file_format : {"png", "svg"}
        Kind of file; the same figures give the same file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the table has no picture, or there is no such format.
    FileNotFoundError
        If there is no such folder.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from reproduction import reproduce
    >>> (table,) = reproduce(["semi_rfs-fig3"], quick=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_picture(table, folder).name
    'semi_rfs-fig3.png'
    """
    if file_format not in FORMATS:
        raise ValueError(f"file_format must be one of {', '.join(map(repr, FORMATS))}, got {file_format!r}.")
    figure = check_matplotlib()(layout="constrained")
    import matplotlib as mpl

    found.plot(figure)
    path = Path(folder, f"{found.table.name}.{file_format}")
    # without the time, and names that are not drawn by lot: the same figures, the same file
    with mpl.rc_context({"svg.hashsalt": found.table.name}), replace_file(path) as temporary:
        if file_format == "svg":
            figure.savefig(temporary, dpi=2 * _DPI, metadata={"Date": None})  # of areas, which are pixels here too
        else:
            _pixels(figure).save(temporary, format="PNG", optimize=True)
    return path


def _pixels(figure: Any) -> Any:
    """Image of a figure, in the colours that it has most of."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.set_dpi(_DPI)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
