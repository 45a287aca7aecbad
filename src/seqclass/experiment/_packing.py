"""What a run keeps beside its cells, as bytes: arrays as a compressed npz without pickle, plain data as zipped JSON."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._archive import read_npy

Arrays = dict[str, npt.NDArray[Any]]
#: Of an archive, the entry that holds plain data beside the arrays.
_ABOUT = "about"


class DamagedPart(ValueError):
    """What a run kept of a cell, and cannot be read.

    Examples
    --------
    >>> issubclass(DamagedPart, ValueError)
    True
    """


def pack(arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> bytes:
    """Bytes of a compressed npz; the same content gives the same bytes.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Arrays of numbers.
    about : mapping
        Plain data, as JSON has them.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If an array holds objects.

    Examples
    --------
    >>> arrays, about = unpack(pack({"row": np.arange(3)}, {"classes": ["a"]}))
    >>> arrays["row"].tolist(), about
    ([0, 1, 2], {'classes': ['a']})
    """
    text = np.frombuffer(json.dumps(about, allow_nan=False).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    # not by numpy.savez_compressed, which before 2.1 cannot be kept from pickling
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in {**arrays, _ABOUT: text}.items():
            info = zipfile.ZipInfo(f"{name}.npy")  # its date is that of no day
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def unpack(content: bytes) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and plain data that `pack` packed."""
    with unpacking(), zipfile.ZipFile(io.BytesIO(content)) as archive:
        arrays = {info.filename.removesuffix(".npy"): read_npy(archive, info) for info in archive.infolist()}
        about: dict[str, Any] = json.loads(arrays.pop(_ABOUT).tobytes())
        return arrays, about


@contextmanager
def unpacking() -> Iterator[None]:
    """Say of whatever goes wrong that what was kept is damaged.

    Raises
    ------
    DamagedPart
    """
    try:
        yield
    except DamagedPart:
        raise
    except Exception as error:  # the ways in which zipfile, zlib, JSON and arrays that do not fit fail have no end
        what = f"{type(error).__name__}: {error}"
        raise DamagedPart(f"what the run kept of its instances is damaged: {what}.") from error


def pack_json(content: Any) -> bytes:
    """Bytes of compressed JSON.

    Examples
    --------
    >>> unpack_json(pack_json({"a": [1, None]}))
    {'a': [1, None]}
    """
    return zlib.compress(json.dumps(content, allow_nan=False, separators=(",", ":")).encode())


def unpack_json(content: bytes) -> Any:
    """Plain data that `pack_json` packed."""
    with unpacking():
        return json.loads(zlib.decompress(content))
