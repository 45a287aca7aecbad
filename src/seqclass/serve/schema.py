"""What bodies of requests and responses hold, as the description of the service has them."""

from __future__ import annotations

from typing import Any

try:  # whoever serves nothing needs none of it
    from pydantic import BaseModel, ConfigDict, Field, create_model
except ImportError:
    BaseModel = object  # type: ignore[assignment, misc, unused-ignore]
    ConfigDict = Field = lambda *_, **__: None  # type: ignore[assignment, misc, unused-ignore]

#: Values of one feature, and of a feature, a bundle or a question with marks.
Value = int | float | str | bool | None
Values = dict[str, Value | list[str] | dict[str, Value]]

_ANSWERS = "Answers by name, of a question with marks a list of those that hold"


class _Body(BaseModel):  # type: ignore[misc, unused-ignore]
    model_config = ConfigDict(extra="forbid")


class NewCase(_Body):
    """A case that begins."""

    model: str | None = Field(None, description="Name of the model; by default the first one.")
    known: Values = Field({}, description="What is known beforehand by name; it costs nothing.")
    key: str | None = Field(None, max_length=200, description="Name of the case, for policies drawn by lot.")


class Situation(NewCase):
    """What is known of a case so far."""

    answers: Values = Field({}, description=f"{_ANSWERS}, in the order in which they came; null: not available.")
    skipped: list[str] = Field([], description="What was asked and not available.")
    budget: int | None = Field(
        None, strict=True, ge=0, le=10**6, description="Ask so many questions, whether or not they pay."
    )


class CaseAnswers(_Body):
    """What is new of a case."""

    case: str = Field(description="The text of the case, as the service gave it.")
    answers: Values = Field({}, description=f"New ones. {_ANSWERS}; null: not available.")
    skipped: list[str] = Field([], description="What was asked and is not available.")
    undo: int = Field(0, strict=True, ge=0, le=10**6, description="How many answers to take back first.")
    corrections: Values = Field({}, description="Answers given before, as they are now; others still asked stay.")


class KnownClass(_Body):
    """What turned out to be true of a case."""

    case: str = Field(description="The text of a case that is decided.")
    true_class: str | int | float | bool = Field(description="Its class, one of those of the model.")


class Explained(_Body):
    """A case to explain."""

    model: str | None = Field(None, description="Name of the model; by default the first one.")
    answers: Values = Field({}, description="What is known of the case by name; what is left out is missing.")


class Problem(_Body):
    """What is wrong with a request."""

    detail: list[dict[str, Any]] = Field(description="Each with loc, the place in the request, and msg.")


class AskedFeature(_Body):
    """A feature of a bundle."""

    name: str
    column: int
    categories: list[str] = Field(description="What to choose from; empty for a number.")
    range: tuple[float, float] | None = Field(None, description="Of a number the smallest and largest in training.")


class AskedQuestion(AskedFeature):
    """A question to ask now."""

    price: float
    features: list[AskedFeature] = Field(description="Features of a bundle, which are all answered.")
    expected_saving: float | None = Field(description="What going on is expected to save; null where it is not known.")
    added_saving: float | None = Field(description="What this question adds to that.")
    saving_alone: float | None = None


class NextStep(_Body):
    """What to ask next, or what to decide."""

    model: str
    digest: str = Field(description="Which model answered; it changes when the model does.")
    decide: bool = Field(description="Whether it is time to decide.")
    questions: list[AskedQuestion] = Field(description="What to ask now, several in one visit; empty once it is time.")
    visit_cost: float
    belief: dict[str, float] = Field(description="Probability of each class.")
    decision: str = Field(description="The cheapest decision as things stand.")
    expected_cost: float
    paid: float
    prediction_set: list[str] | None = Field(description="Classes that it may be, where such sets are promised.")
    notes: dict[str, str] = Field(description="What is odd of answers that were taken, by name.")


class CaseStep(NextStep):
    """What to ask next in a case that the client keeps."""

    case: str = Field(description="The text of the case, to be sent as it is.")


def describe(path: str) -> dict[int | str, Any]:
    """What comes back from a path, by status."""
    text, texts, many = (str, ...), (list[str], ...), (list[dict[str, Any]], ...)
    schemas: dict[str, Any] = {"/next": NextStep, "/cases": CaseStep, "/cases/answer": CaseStep}
    schemas["/healthz"] = create_model("Health", status=text, version=text)
    schemas["/explain"] = create_model("Explanation", model=text, digest=text, text=text, steps=many)
    schemas["/model"] = create_model(
        "About", name=text, digest=text, classes=texts, decisions=texts, features=many, models=texts
    )
    stands = {"model": text, "digest": text, "n_cases": (int, ...), "evidence": (float, ...), "alarm": (bool, ...)}
    schemas["/outcomes"] = create_model("Stands", **stands, text=text)
    kind, schema = "application/json", Problem.model_json_schema()
    if fhir := path.startswith("/fhir/"):
        kind, schema = "application/fhir+json", {"type": "object", "required": ["resourceType"]}
    content = {
        "description": "A resource of FHIR R4" if fhir else "What is wrong",
        "content": {kind: {"schema": schema}},
    }
    described: dict[int | str, Any] = dict.fromkeys((400, 401, 404, 405, 408, 409, 413, 422), content)
    return described | ({200: content} if fhir else {200: {"model": schemas[path]}} if path in schemas else {})
