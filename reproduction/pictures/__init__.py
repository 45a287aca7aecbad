"""How the figures of the papers are drawn: one kind of picture a file; they need the extra ``plot``."""

from __future__ import annotations

from reproduction.pictures.courses import CoursePicture
from reproduction.pictures.lines import LinePicture
from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.pictures.pixels import PixelPicture
from reproduction.pictures.regions import RegionPicture
from reproduction.pictures.scatter import ScatterPicture
from reproduction.pictures.searches import SearchPicture
from reproduction.pictures.seeds import SeedPicture

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
