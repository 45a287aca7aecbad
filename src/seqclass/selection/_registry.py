"""The selectors, and parts of theirs, that a model file may hold."""

from __future__ import annotations

from seqclass._utils.model_files import check_when_read, register
from seqclass._utils.validation import check_support
from seqclass.selection._base import Selector
from seqclass.selection._dependence import Columns, CorrelationDependence, Indicators, InformationDependence
from seqclass.selection._fires_models import FiresANN, FiresSDT
from seqclass.selection._independence import LikelihoodRatioTest, PartialCorrelationTest
from seqclass.selection._reasons import FeatureReasons, ReasonLog
from seqclass.selection._rough_set import Density, Dependency, Gap
from seqclass.selection.alpha_investing import AlphaInvesting
from seqclass.selection.efs import EFS
from seqclass.selection.fcbf import FCBF
from seqclass.selection.fires import FIRES, FiresGLM
from seqclass.selection.fsds import FSDS
from seqclass.selection.ofs import OFS
from seqclass.selection.ofs_a3m import OFSA3M
from seqclass.selection.ofs_density import OFSDensity
from seqclass.selection.osfs import OSFS, FastOSFS
from seqclass.selection.saola import SAOLA, PairwiseScan
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
