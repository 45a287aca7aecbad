"""What long work is at, as the library tells it on the logger "seqclass"."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from network_cases import random_network

import seqclass
from seqclass import SequentialClassifier, adaptive_classifier
from seqclass.bn import NaiveBayes
from seqclass.pomdp import Adaptive, ClassInformation, ExpectedSaving, FirstK

CANDIDATE = {"observation_model": NaiveBayes(), "discretizer": None, "selector": None, "calibrate": False}


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Any:
    with caplog.at_level(logging.INFO, "seqclass"):
        yield lambda: [record.getMessage() for record in caplog.records if record.name == "seqclass"]


@pytest.fixture
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    return y[:, None] + rng.normal(size=(60, 3)), y


def test_steps_of_a_fit(told: Any, data: Any) -> None:
    seqclass.etana(0.01).fit(*data, held_out=2)
    inner = ["bins", "selection", "model", "order", "plan"]
    folds = [f"held out: fold {k} of 2{step}" for k in (1, 2) for step in ["", *(f": {name}" for name in inner)]]
    beside = "held out: linear model beside it"
    assert told() == [*inner, "plan: certificate", "held out", *folds, beside]


def test_steps_of_a_calibrated_fit(told: Any, data: Any) -> None:
    seqclass.etana(0.01, calibrate=True).fit(*data)
    steps = told()
    assert "calibration: fold 1 of 10: model" in steps
    assert steps.index("calibration") < steps.index("calibration: fold 10 of 10: plan") < steps.index("plan")


def test_candidates_of_a_choice(told: Any, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = {
        name: CANDIDATE | {"solver": solver, "order": "conditional"}
        for name, solver in {"nothing": FirstK(0), "bayes": None}.items()
    }
    monkeypatch.setattr(adaptive_classifier, "candidates", lambda *_: ways)
    monkeypatch.setattr(adaptive_classifier, "INCUMBENT", "bayes")
    seqclass.adaptive(0.01).fit(*data, held_out=2)
    steps = [step for step in told() if not step.startswith("contexts")]
    assert steps[:2] == ["candidate 1 of 2, bayes", "candidate 1 of 2, bayes: fold 1 of 2"]  # what stands comes first
    assert "candidate 1 of 2, bayes: fold 2 of 2: plan" in steps
    assert "candidate 2 of 2, nothing: fold 1 of 2: plan" in steps


def test_rules_of_a_plan(told: Any) -> None:
    solver = Adaptive(
        [ClassInformation(), ExpectedSaving()],
        **{"n_paths": 50, "n_cases": 50, "max_nodes": 0, "max_rounds": 1, "certificate_paths": 100},
    )
    SequentialClassifier.from_network(random_network(0), "n0", solver=solver)
    rules = ["plan: candidate 1 of 2, ClassInformation()", "plan: candidate 2 of 2, ExpectedSaving()"]
    assert told() == [
        "order",
        "plan",
        *rules,
        "plan: values of ClassInformation()",
        "plan: improvement",
        "plan: certificate",
    ]


def test_a_step_that_fails_is_over(told: Any, data: Any) -> None:
    class Failing(FirstK):
        def solve(self, problem: Any) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        seqclass.etana(0.01, Failing()).fit(*data)
    assert told()[-1] == "plan"
    seqclass.etana(0.01).fit(*data)
    assert told()[-6:] == ["bins", "selection", "model", "order", "plan", "plan: certificate"]


def test_nothing_is_printed_unless_asked_for(data: Any, capfd: pytest.CaptureFixture[str]) -> None:
    seqclass.etana(0.01).fit(*data)
    assert capfd.readouterr() == ("", "")
