"""The selectors, and parts of theirs, that a model file may hold."""

from __future__ import annotations

from seqclass._instances import check_when_read
from seqclass._support import check_support
from seqclass.persistence import register
from seqclass.selection._base import Selector
from seqclass.selection._fires_ann import FiresANN
from seqclass.selection._fires_glm import FiresGLM
from seqclass.selection._fires_sdt import FiresSDT
from seqclass.selection._independence import LikelihoodRatioTest
from seqclass.selection._information_dependence import InformationDependence
from seqclass.selection._measures import Columns, CorrelationDependence
from seqclass.selection._neighbourhoods import Density, Gap
from seqclass.selection._pair_tables import Indicators
from seqclass.selection._pairwise_scan import PairwiseScan
from seqclass.selection._partial_correlation import PartialCorrelationTest
from seqclass.selection._reasons import FeatureReasons, ReasonLog
from seqclass.selection._rough_set import Dependency
from seqclass.selection.alpha_investing import AlphaInvesting
from seqclass.selection.efs import EFS
from seqclass.selection.fast_osfs import FastOSFS
from seqclass.selection.fcbf import FCBF
from seqclass.selection.fires import FIRES
from seqclass.selection.fsds import FSDS
from seqclass.selection.ofs import OFS
from seqclass.selection.ofs_a3m import OFSA3M
from seqclass.selection.ofs_density import OFSDensity
from seqclass.selection.osfs import OSFS
from seqclass.selection.saola import SAOLA
from seqclass.selection.semi_rfs import SemiRFS, SemiRFSStep

for _cls in (
    EFS,
    FCBF,
    FIRES,
    FSDS,
    OFS,
    OFSA3M,
    OFSDensity,
    OSFS,
    SAOLA,
    AlphaInvesting,
    Columns,
    CorrelationDependence,
    FastOSFS,
    FeatureReasons,
    FiresANN,
    FiresGLM,
    FiresSDT,
    Indicators,
    InformationDependence,
    Density,
    Dependency,
    Gap,
    LikelihoodRatioTest,
    PairwiseScan,
    PartialCorrelationTest,
    ReasonLog,
    SemiRFS,
    SemiRFSStep,
):
    register(_cls)

check_when_read(Selector, check_support)
