"""Exams: banks of items, skills, scores with their precision, classical rules, exposure, and what an exam measured."""

from __future__ import annotations

from seqclass.exams.estimates import ScoreEstimates, ScorePlan, ScoreStates, UntilPrecise, estimate
from seqclass.exams.exposure import ExposureControl
from seqclass.exams.item_parameters import ItemParameters
from seqclass.exams.items import ItemResponse
from seqclass.exams.report import exam_report
from seqclass.exams.sequential_tests import FisherInformation, SequentialTest
from seqclass.exams.skills import SkillProfile

__all__ = [
    "ExposureControl",
    "FisherInformation",
    "ItemParameters",
    "ItemResponse",
    "ScoreEstimates",
    "ScorePlan",
    "ScoreStates",
    "SequentialTest",
    "SkillProfile",
    "UntilPrecise",
    "estimate",
    "exam_report",
]
__dir__ = __all__.copy  # tab completion
