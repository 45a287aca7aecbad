"""How the figures of the papers are drawn: one kind of picture a file; they need the extra ``plot``."""

from __future__ import annotations

from seqclass.reproduction.pictures.courses import CoursePicture
from seqclass.reproduction.pictures.lines import LinePicture
from seqclass.reproduction.pictures.picture import NothingToDraw, Picture
from seqclass.reproduction.pictures.pixels import PixelPicture
from seqclass.reproduction.pictures.regions import RegionPicture
from seqclass.reproduction.pictures.scatter import ScatterPicture
from seqclass.reproduction.pictures.searches import SearchPicture
from seqclass.reproduction.pictures.seeds import SeedPicture

__all__ = [
    "CoursePicture",
    "LinePicture",
    "NothingToDraw",
    "Picture",
    "PixelPicture",
    "RegionPicture",
    "ScatterPicture",
    "SearchPicture",
    "SeedPicture",
]
