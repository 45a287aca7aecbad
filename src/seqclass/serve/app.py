"""The application: what is asked over HTTP and how it is answered, counted and kept within limits."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from seqclass import __version__
from seqclass._utils.progress import log_event
from seqclass.serve.models import CaseTexts, Models, Refusal, ServedModel, refuse

try:  # whoever serves nothing needs none of it
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
    from pydantic import BaseModel, ConfigDict, Field
    from starlette.exceptions import HTTPException
    from starlette.responses import HTMLResponse, PlainTextResponse, Response
except ImportError:
    FastAPI, BaseModel = None, object  # type: ignore[assignment, misc, unused-ignore]
    ConfigDict = Field = lambda *_, **__: None  # type: ignore[assignment, misc, unused-ignore]

#: Values of one feature, and of a feature or a bundle.
Value = int | float | str | bool | None
Values = dict[str, Value | dict[str, Value]]


class _Body(BaseModel):  # type: ignore[misc, unused-ignore]
    model_config = ConfigDict(extra="forbid")


class NewCase(_Body):
    """A case that begins."""

    model: str | None = Field(None, description="Name of the model; by default the first one.")
    known: Values = Field({}, description="What is known beforehand by name; it costs nothing.")
    key: str | None = Field(None, max_length=200, description="Name of the case, for policies drawn by lot.")


class Situation(NewCase):
    """What is known of a case so far."""

    answers: Values = Field({}, description="Answers by name, in the order in which they came; null: not available.")
    skipped: list[str] = Field([], description="What was asked and not available.")
    budget: int | None = Field(None, ge=0, le=10**6, description="Ask so many questions, whether or not they pay.")


class CaseAnswers(_Body):
    """What is new of a case."""

    case: str = Field(description="The text of the case, as the service gave it.")
    answers: Values = Field({}, description="New answers by name; null: not available.")
    skipped: list[str] = Field([], description="What was asked and is not available.")
    undo: int = Field(0, ge=0, le=10**6, description="How many answers to take back first.")


class Explained(_Body):
    """A case to explain."""

    model: str | None = Field(None, description="Name of the model; by default the first one.")
    answers: Values = Field({}, description="What is known of the case by name; what is left out is missing.")


class Problem(_Body):
    """What is wrong with a request."""

    detail: list[dict[str, Any]] = Field(description="Each with loc, the place in the request, and msg.")


def create_app(
    models: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    *,
    token: str | None = None,
    key: bytes | None = None,
    page: bool = True,
    max_bytes: int = 65_536,
    refresh_seconds: float = 2.0,
) -> Any:
    """Return an application of FastAPI that serves fitted models; ``uvicorn.run`` and every other ASGI server take it.

    Cases are kept by clients, as texts that name their model, so the service can be stopped and started at any time.
    A model file that changes is read while requests are answered; cases that were begun before end by the model that
    they began with.

    Parameters
    ----------
    models : path, or mapping of str to path
        Model file, or files by name; the first one answers where no model is named. A single path has the name of its
        file, without the ending.
    token : str, optional
        What clients have to send as bearer token, but for ``/healthz``; by default nobody needs one.
    key : bytes, optional
        Key by which cases are signed, so that clients cannot change them; by default they are plain JSON.
    page : bool
        Whether ``/`` is the page to work through cases with, as `seqclass.export.export_policy` writes it.
    max_bytes : int
        Size of the largest body that is read.
    refresh_seconds : float
        How often model files are looked at.

    Returns
    -------
    fastapi.FastAPI

    Raises
    ------
    ImportError
        If the extra ``serve`` is not installed.
    ValueError
        If a file holds no classifier, or there is none.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     SequentialClassifier().fit(*load_iris(return_X_y=True)).save(f"{folder}/iris.seq")
    ...     app = create_app(f"{folder}/iris.seq")
    >>> sorted(app.openapi()["paths"])[:4]
    ['/', '/cases', '/cases/answer', '/explain']
    """
    if FastAPI is None:
        raise ImportError("the service needs FastAPI and uvicorn: pip install 'seqclass[serve]'.")
    paths = {Path(models).stem: models} if isinstance(models, (str, os.PathLike)) else models
    meters = _Meters()
    served, texts = Models({name: Path(path) for name, path in paths.items()}, meters.note_model), CaseTexts(key)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        async def watch() -> None:
            while True:
                await asyncio.sleep(refresh_seconds)
                await asyncio.to_thread(served.refresh)

        watching = asyncio.create_task(watch())
        yield
        watching.cancel()

    described = {
        401: "The token is missing or wrong.",
        408: "The body came too slowly.",
        413: "The body is too large.",
        422: "Something is wrong with the request; it says what, and where.",
    }
    wrong: dict[int | str, Any] = {n: {"model": Problem, "description": text} for n, text in described.items()}
    app = FastAPI(
        title="seqclass",
        version=__version__,
        summary="What to ask next about a case, and when to decide.",
        lifespan=lifespan,
        docs_url=None,  # pages that fetch scripts from elsewhere
        redoc_url=None,
    )
    app.state.models = served

    def next_question(body: Situation, request: Request) -> Response:
        """Say what to ask next, or what to decide, of a case of which this is known; nothing is kept."""
        model = served.get(body.model, "body", "model")
        session = model.session(body.known, body.key)
        odd = model.answer(session, body.answers, body.skipped)
        new = sum(name in odd for name in list(body.answers)[-1:])  # the others were counted when they were new
        return told(request, model, model.step(session, body.budget) | {"notes": odd}, new)

    def begin_case(body: NewCase, request: Request) -> Response:
        """Begin a case that the client keeps: its text comes back with the first question."""
        model = served.get(body.model, "body", "model")
        session = model.session(body.known, body.key)
        return told(request, model, model.step(session) | {"notes": {}, "case": texts.write(model, session)})

    def answer_case(body: CaseAnswers, request: Request) -> Response:
        """Take answers to a case; its new text comes back with the next question."""
        model, session = texts.read(body.case, served)
        with refuse("body", "undo"):
            for _ in range(body.undo):
                session.undo()
        odd = model.answer(session, body.answers, body.skipped)
        step = model.step(session) | {"notes": odd, "case": texts.write(model, session)}
        if step["decide"]:
            meters.questions.labels(model.name).observe(session.n_features)
        return told(request, model, step, len(odd))

    def explain(body: Explained, request: Request) -> Response:
        """Say why a case is decided as it is."""
        model = served.get(body.model, "body", "model")
        request.state.model = model.name
        return _json(model.explain(body.answers))

    def told(request: Request, model: ServedModel, step: dict[str, Any], n_unusual: int = 0) -> Response:
        request.state.model = model.name
        meters.unusual.labels(model.name).inc(n_unusual)
        if step["decide"]:
            meters.decisions.labels(model.name, step["decision"]).inc()
        return _json(step)

    def about(name: str | None = None) -> Response:
        """Say what a model asks and decides, and where it comes from."""
        return _json(served.get(name, "query", "name").about | {"models": list(served.current)})

    def show_page(name: str | None = None) -> Response:
        """Give the page to work through cases with, which needs nothing else of this service."""
        model = served.get(name, "query", "name")
        try:
            return HTMLResponse(model.page)
        except ValueError:
            raise Refusal(404, ["query", "name"], "this policy cannot be written as a page: ask /next.") from None

    def health() -> Response:
        """Say that the service answers."""
        return _json({"status": "ok", "version": __version__})

    def metrics() -> Response:
        """Give what Prometheus reads."""
        return PlainTextResponse(generate_latest(meters.registry), media_type="text/plain; version=0.0.4")

    posts = {"/next": next_question, "/cases": begin_case, "/cases/answer": answer_case, "/explain": explain}
    for path, function in posts.items():
        more: dict[int | str, Any] = (
            {409: {"model": Problem, "description": "The case's model is gone."}} if "answer" in path else {}
        )
        app.add_api_route(path, function, methods=["POST"], responses={**wrong, **more})
    app.add_api_route("/model", about, methods=["GET"], responses=wrong)
    app.add_api_route("/healthz", health, methods=["GET"])
    app.add_api_route("/metrics", metrics, methods=["GET"], response_class=PlainTextResponse)
    if page:
        none: dict[int | str, Any] = {404: {"model": Problem, "description": "The policy cannot be written as a page."}}
        app.add_api_route("/", show_page, methods=["GET"], responses={**wrong, **none}, response_class=HTMLResponse)

    def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return _problem(error.status, error.place, str(error))

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        detail = [{key: one[key] for key in ("loc", "msg", "type")} for one in error.errors()]
        return _json({"detail": detail}, 422)

    def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _problem(error.status_code, [], str(error.detail), error.headers)

    app.add_exception_handler(Refusal, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, failed)
    app.openapi = _with_examples(app.openapi, next(iter(served.current.values())))
    app.add_middleware(
        Guard, token=token, max_bytes=max_bytes, meters=meters, paths={route.path for route in app.routes}
    )
    return app


def _json(content: Any, status: int = 200, headers: Any = None) -> Response:
    """JSON in ASCII, which holds whatever a client sent, halves of characters too."""
    return Response(json.dumps(content, allow_nan=False), status, headers, "application/json")


def _problem(status: int, place: list[str], message: str, headers: Any = None) -> Response:
    return _json({"detail": [{"loc": place, "msg": message, "type": "value_error"}]}, status, headers)


def _with_examples(openapi: Callable[[], dict[str, Any]], model: ServedModel) -> Callable[[], dict[str, Any]]:
    """The description of the service, with requests that a model answers."""
    session = model.clf.session(key=0)
    first = next(iter(session.next_panel), None)
    answers: dict[str, Any] = {}
    for feature in [] if first is None else [*(first.features or (first,))]:
        low = (session.training_range(feature.name) or (0.0,))[0] if not feature.categories else feature.categories[0]
        answers[feature.name] = low
    told = {first.name: answers if first.features else answers[first.name]} if first is not None else {}
    case = CaseTexts(None).write(model, session)
    examples = {
        "/next": {"answers": told},
        "/cases": {"known": {}},
        "/cases/answer": {"case": case, "answers": told},
        "/explain": {"answers": answers},
    }
    step = model.step(session) | {"notes": {}}
    results = {"/next": step, "/cases": step | {"case": case}}

    def described() -> dict[str, Any]:
        content = openapi()
        for path, example in examples.items():
            post = content["paths"][path]["post"]
            post["requestBody"]["content"]["application/json"]["example"] = example
            if path in results:
                post["responses"]["200"]["content"]["application/json"]["example"] = results[path]
        return content

    return described


class _Meters:
    """What is counted for Prometheus."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        name, path = ["model"], ["path"]
        self.requests = Counter("seqclass_requests", "Requests", ["path", "status"], registry=registry)
        self.seconds = Histogram("seqclass_request_seconds", "Seconds a request took", path, registry=registry)
        counts = (0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)
        self.questions = Histogram(
            "seqclass_case_questions", "Questions until a case is decided", name, buckets=counts, registry=registry
        )
        self.decisions = Counter("seqclass_decisions", "Decisions", [*name, "decision"], registry=registry)
        self.unusual = Counter(
            "seqclass_unusual_values", "Answers outside of what training showed", name, registry=registry
        )
        self.taken = Counter("seqclass_model_files", "Model files that changed", [*name, "taken"], registry=registry)

    def note_model(self, name: str, taken: bool) -> None:
        """Count a file that was read again."""
        self.taken.labels(name, str(taken).lower()).inc()


Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Guard:
    """Stands before the application: who may ask, how much is read, what is counted, and what a fault looks like."""

    #: Answers of a bundle are within answers within the body; and one to spare.
    max_depth = 4
    #: Bodies are small: who sends one more slowly than this holds a connection.
    body_seconds = 10.0

    def __init__(self, app: Any, token: str | None, max_bytes: int, meters: _Meters, paths: set[str]) -> None:
        self.app, self.max_bytes, self.meters, self.paths = app, max_bytes, meters, paths
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), [500]

        async def sending(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            await send(message)

        scope.setdefault("state", {})
        try:
            response = self._refusal(scope) or await self._answer(scope, receive, sending)
        except Exception as error:
            log_event("fault", kind=type(error).__name__, path=self._path(scope))
            response = (
                _problem(500, [], "this is a fault of the service; its log says more.") if status == [500] else None
            )
        if response is not None:
            await response(scope, receive, sending)
        seconds, path = time.perf_counter() - began, self._path(scope)
        self.meters.requests.labels(path, str(status[0])).inc()
        self.meters.seconds.labels(path).observe(seconds)
        model = scope["state"].get("model")
        log_event("request", path=path, status=status[0], seconds=round(seconds, 6), model=model)

    def _path(self, scope: dict[str, Any]) -> str:
        """The path where there is such a one: of others there is no end."""
        return scope["path"] if scope["path"] in self.paths else "other"

    def _refusal(self, scope: dict[str, Any]) -> Response | None:
        headers = dict(scope["headers"])
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        known = self.token is None or (scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self.token))
        if not known and scope["path"] != "/healthz":
            text = "send the token of this service as 'Authorization: Bearer TOKEN'."
            return _problem(401, ["header", "authorization"], text, {"WWW-Authenticate": "Bearer"})
        length = headers.get(b"content-length", b"0")
        return None if length.isdigit() and int(length) <= self.max_bytes else self._too_large()

    def _too_large(self) -> Response:
        return _problem(413, ["body"], f"the body is larger than {self.max_bytes:,} bytes: send one case at a time.")

    async def _answer(self, scope: dict[str, Any], receive: Receive, send: Send) -> Response | None:
        """Read the body within its limits, and hand it on."""
        try:
            body = await asyncio.wait_for(self._read(receive), self.body_seconds)
        except (asyncio.TimeoutError, TimeoutError):
            return _problem(
                408, ["body"], f"the body did not come within {self.body_seconds:g} seconds: send it again."
            )
        if len(body) > self.max_bytes:
            return self._too_large()
        if _depth(body) > self.max_depth:
            text = f"the body is nested more than {self.max_depth} deep: answers are names and values."
            return _problem(422, ["body"], text)
        messages = [{"type": "http.request", "body": body}]

        async def replay() -> dict[str, Any]:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)
        return None

    async def _read(self, receive: Receive) -> bytes:
        """The body, or as much of it as shows that it is too large."""
        body, more = bytearray(), True
        while more and len(body) <= self.max_bytes:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body)


_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)


def _depth(body: bytes) -> int:
    """How deep JSON is nested, whether or not it is any."""
    depth = deepest = 0
    for sign in re.findall(rb"[\[{\]}]", _TEXT.sub(b"", body)):
        depth += 1 if sign in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest
