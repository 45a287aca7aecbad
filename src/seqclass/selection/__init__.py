"""Feature selection before acquisition: on streams of features, on streams of rows, and by search with a learner."""

from __future__ import annotations

from seqclass.selection._base import FeatureStream, RowStream, Selector
from seqclass.selection.alpha_investing import AlphaInvesting
from seqclass.selection.efs import EFS
from seqclass.selection.fcbf import FCBF
from seqclass.selection.fires import FIRES, FiresANN, FiresGLM, FiresSDT
from seqclass.selection.fsds import FSDS
from seqclass.selection.ofs import OFS
from seqclass.selection.ofs_a3m import OFSA3M
from seqclass.selection.ofs_density import OFSDensity
from seqclass.selection.osfs import OSFS, FastOSFS
from seqclass.selection.prequential import prequential
from seqclass.selection.saola import SAOLA
from seqclass.selection.semi_rfs import SemiRFS
from seqclass.selection.stability import nogueira_stability

__all__ = [
    "EFS",
    "FCBF",
    "FIRES",
    "FSDS",
    "OFS",
    "OFSA3M",
    "OSFS",
    "SAOLA",
    "AlphaInvesting",
    "FastOSFS",
    "FeatureStream",
    "FiresANN",
    "FiresGLM",
    "FiresSDT",
    "OFSDensity",
    "RowStream",
    "Selector",
    "SemiRFS",
    "nogueira_stability",
    "prequential",
]
__dir__ = __all__.copy  # tab completion
