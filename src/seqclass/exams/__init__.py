"""Exams: banks of items, skills, classical rules to stop, exposure of items, and what an exam measured."""

from __future__ import annotations

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
    "SequentialTest",
    "SkillProfile",
    "exam_report",
]
__dir__ = __all__.copy  # tab completion
