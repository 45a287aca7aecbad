"""Archives of JSON and arrays: written with a digest, read within limits of size."""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

MANIFEST = "manifest.json"
#: Kind of the digest, and name of its entry.
DIGEST = "sha256"
#: Deflating makes nothing smaller than by this.
_DEFLATED = 1040


def check_size(manifest: bytes) -> None:
    """Refuse a manifest of too many parts."""
    signs = [manifest.count(sign) for sign in (b"[", b"{", b",")]
    # tens of seconds go by where there are millions
    for many, most, what in ((sum(signs[:2]), 1_000_000, "lists"), (sum(signs), 5_000_000, "parts")):
        if many > most:
            raise ValueError(f"the model has {many:,} {what}, more than the {most:,} that can be read again")


def write_archive(file: IO[bytes], manifest: str, arrays: list[npt.NDArray[Any]]) -> None:
    """Write an archive; the same content gives the same bytes."""
    # stored, not deflated: a reader can then hold all stated sizes against the size of the file
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        digests = {MANIFEST: hashlib.sha256(manifest.encode()).hexdigest()}
        archive.writestr(zipfile.ZipInfo(MANIFEST), manifest)
        for i, array in enumerate(arrays):
            info = zipfile.ZipInfo(f"arrays/{i}.npy")
            with archive.open(info, "w", force_zip64=array.nbytes > 2**30) as entry:
                watched = _Watched(entry)
                np.lib.format.write_array(watched, array, version=(1, 0), allow_pickle=False)
            digests[info.filename] = watched.digest.hexdigest()
        archive.writestr(zipfile.ZipInfo(DIGEST), _digest_all(digests))


class _Watched:
    """A file to which is written, and the digest of that."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write on."""
        self.digest.update(data)
        return self.file.write(data)


def _digest_all(digests: dict[str, str]) -> str:
    text = "".join(f"{name} {digest}\n" for name, digest in digests.items())
    return hashlib.sha256(text.encode()).hexdigest()


class Archive:
    """An archive that is read; what it claims is held against what is there before anything is made of it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file)
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if MANIFEST not in names:
            raise ValueError("it is a zip without manifest.json")
        if len(set(names)) < len(names):
            raise ValueError("it has two entries of one name")
        size = os.fstat(file.fileno()).st_size
        if any(e.compress_type for e in entries) or sum(e.file_size for e in entries) > size:
            raise ValueError("its entries claim more than the file holds")
        content = self._zip.read(MANIFEST)
        check_size(content)
        self.manifest: Any = json.loads(content)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def check_digest(self) -> None:
        """Refuse an archive in which anything is not as it was written."""
        digests = {name: self._digest(name) for name in self._zip.namelist() if name != DIGEST}
        if DIGEST not in self._zip.namelist() or self._zip.read(DIGEST) != _digest_all(digests).encode():
            raise ValueError("its parts are not those that were written together")

    def _digest(self, name: str) -> str:
        digest = hashlib.sha256()
        with self._zip.open(name) as entry:
            while piece := entry.read(2**20):
                digest.update(piece)
        return digest.hexdigest()

    def array(self, name: str) -> npt.NDArray[Any]:
        """Read an array."""
        return read_npy(self._zip, self._zip.getinfo(name))


def read_npy(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """Read an array of a zip archive, once its header is found to claim no more than what is there."""
    with archive.open(info) as entry:
        shape, dtype = _header(entry)
        claimed = math.prod(shape) * dtype.itemsize
        # numpy reserves the memory before it reads: a false shape must not get that far
        if not dtype.hasobject and claimed != info.file_size - entry.tell():
            raise ValueError(f"{info.filename} is not of the size that its header states")
        if dtype.itemsize == 0 and 0 not in shape:
            raise ValueError(f"{info.filename} holds nothing, very often")
        if info.file_size > _DEFLATED * (info.compress_size + 1):
            raise ValueError(f"{info.filename} is said to be larger than it can be")
        # what this machine cannot hold
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**63
        if claimed > there:
            raise ValueError(f"it takes {claimed / 2**30:,.1f} GiB, more than the memory of this machine")
    with archive.open(info) as entry:
        array: npt.NDArray[Any] = np.lib.format.read_array(entry, allow_pickle=False)
        entry.read(1)  # the checksum is compared at the end
    return array


def _header(entry: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(entry)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("it is an array of an unknown kind")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(entry)
    return tuple(int(n) for n in shape), dtype
