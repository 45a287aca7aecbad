"""True classes that come back: is what a model expects of its decisions still true?"""

from __future__ import annotations

import threading
from typing import Any

from seqclass._utils.progress import log_event
from seqclass.agent.session import Session
from seqclass.drift import DriftTest
from seqclass.serve.models import Refusal, ServedModel, refuse


class Watch:
    """A test of drift for each model by its digest, of the cases since the service was started."""

    #: What to do once there is an alarm.
    advice = "Look at how cases differ from those of the fit, fit again to recent rows, and judge before it is served."

    def __init__(self) -> None:
        self._tests: dict[str, DriftTest] = {}
        self._lock = threading.Lock()

    def note(self, model: ServedModel, session: Session, label: Any) -> dict[str, Any]:
        """Take the true class of a case that is decided, and say how the test stands."""
        if session.next_panel:
            raise Refusal(422, ["body", "case"], "the case is not decided yet: answer what it asks first.")
        with self._lock, refuse("body", "true_class"):
            test = self._tests.setdefault(model.digest, _test(model))
            before = test.alarm
            test.update(session, label)
            alarm, text = test.alarm is not None, str(test)
            if alarm and before is None:
                log_event("drift", model=model.name, digest=model.digest, text=text, advice=self.advice)
        data = {"model": model.name, "digest": model.digest, "n_cases": test.n_cases, "evidence": test.e_value}
        return data | {"alarm": alarm, "text": f"{text}. {self.advice}" if alarm else text}


def _test(model: ServedModel) -> DriftTest:
    """A test that takes the model to be as sure of itself as it was on rows that the fit had not seen."""
    held_out = vars(model.clf).get("held_out_")
    margin = 0.0 if held_out is None else max(0.0, held_out.cost_interval[1] - held_out.expected_cost)
    return DriftTest.from_classifier(model.clf, margin=margin)
