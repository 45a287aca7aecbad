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
from datetime import datetime, timezone
from functools import partial
from itertools import accumulate
from pathlib import Path
from traceback import format_tb
from typing import Annotated, Any

from seqclass import __version__
from seqclass._utils.files import TwiceError, read_json
from seqclass._utils.progress import log_event
from seqclass._utils.tables import to_json_value
from seqclass._utils.validation import check_integer, check_real, class_numbers
from seqclass.serve.fhir import Forms, operation_outcome
from seqclass.serve.models import CaseTexts, Models, Refusal, ServedModel, refuse
from seqclass.serve.outcomes import Watch
from seqclass.serve.schema import CaseAnswers, Explained, KnownClass, NewCase, Situation, describe

try:  # whoever serves nothing needs none of it
    from anyio import fail_after
    from fastapi import Body, FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
    from starlette.exceptions import HTTPException
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
except ImportError:
    FastAPI = None  # type: ignore[assignment, misc, unused-ignore]


#: What FHIR calls its JSON.
_FHIR = "application/fhir+json"


def create_app(
    models: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    *,
    labels: Any = None,
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
    labels : Labels, path, mapping or data frame, optional
        Words, units and codes for the page and for questionnaires, see `seqclass.Labels.from_value`; a mapping of these
        by name where models have names.
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
        If a file holds no classifier, or there is none, or a setting is invalid.

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
    if isinstance(models, (str, os.PathLike)):
        labels, models = {Path(models).stem: labels}, {Path(models).stem: models}
    _check_settings(models, token, key, max_bytes, refresh_seconds)
    meters, texts, watch = _Meters(), CaseTexts(key), Watch()
    served = Models({name: Path(path) for name, path in models.items()}, meters.files, labels or {})
    forms, ready = Forms(served), datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        async def look() -> None:
            while True:
                await asyncio.sleep(refresh_seconds)
                await asyncio.to_thread(served.refresh)

        watching = asyncio.create_task(look())
        yield
        watching.cancel()

    summary = "What to ask next about a case, and when to decide."
    # without the pages of FastAPI, which fetch scripts from elsewhere
    app = FastAPI(
        title="seqclass", version=__version__, summary=summary, lifespan=lifespan, redoc_url=None, docs_url=None
    )
    app.state.models = served

    def next_question(body: Situation, request: Request) -> Response:
        """Say what to ask next, or what to decide, of a case of which this is known; nothing is kept."""
        model = served.get(body.model, "body", "model")
        session = model.session(body.known, body.key)
        odd = model.answer(session, body.answers, body.skipped)
        new = sum(name in odd for name in list(body.answers)[-1:])  # the others were counted when they were new
        return respond(request, model, model.step(session, body.budget) | {"notes": model.notes(session, odd)}, new)

    def begin_case(body: NewCase, request: Request) -> Response:
        """Begin a case that the client keeps: its text comes back with the first question."""
        model = served.get(body.model, "body", "model")
        session = model.session(body.known, body.key)
        step = {"notes": model.notes(session, {}), "case": texts.write(model, session)}
        return respond(request, model, model.step(session) | step)

    def answer_case(body: CaseAnswers, request: Request) -> Response:
        """Take answers to a case; its new text comes back with the next question."""
        model, session = texts.read(body.case, served)
        with refuse("body", "undo"):
            for _ in range(body.undo):
                session.undo()
        odd, gone = model.correct(session, body.corrections)
        odd |= model.answer(session, body.answers, body.skipped)
        step = model.step(session) | {"notes": gone | model.notes(session, odd), "case": texts.write(model, session)}
        if step["decide"]:
            meters.questions.labels(model.name).observe(session.n_features)
        return respond(request, model, step, len(odd))

    def next_fhir_question(body: Annotated[dict[str, Any], Body(media_type=_FHIR)], request: Request) -> Response:
        """Say what to ask next in an adaptive form of FHIR; nothing is kept."""
        model, session, step, n_unusual, response = forms.next_question(body, _fhir_base(request))
        respond(request, model, step, n_unusual)
        if step["decide"]:
            meters.questions.labels(model.name).observe(session.n_features)
        return _json(response, media=_FHIR)

    def find_forms(request: Request, url: str | None = None) -> Response:
        """List the adaptive forms of FHIR."""
        return _json(forms.search(_fhir_base(request), url), media=_FHIR)

    def read_form(request: Request, form: str) -> Response:
        """Give an adaptive form of FHIR, which says where to ask and has no questions before."""
        return _json(forms.root(form, _fhir_base(request)), media=_FHIR)

    def tell_capability(request: Request) -> Response:
        """Say what of FHIR the service can do."""
        return _json(forms.capability(_fhir_base(request), __version__, ready), media=_FHIR)

    def explain(body: Explained, request: Request) -> Response:
        """Say why a case is decided as it is."""
        model = served.get(body.model, "body", "model")
        request.state.model = model.name
        return _json(model.explain(body.answers))

    def note_outcome(body: KnownClass, request: Request) -> Response:
        """Take the true class of a case, and say whether decisions cost more than the model expects."""
        model, session = texts.read(body.case, served)
        with refuse("body", "true_class"):
            [number] = class_numbers(model.agent.classes, [body.true_class], "true_class").tolist()
        true_class = model.agent.classes[number]
        stands, request.state.model = watch.note(model, session, true_class), model.name
        right = str(session.decision) == str(true_class)
        meters.outcomes.labels(model.name, str(right).lower()).inc()
        meters.evidence.labels(model.name, model.digest).set(stands["evidence"])
        meters.alarm.labels(model.name, model.digest).set(stands["alarm"])
        return _json(stands)

    def respond(request: Request, model: ServedModel, step: dict[str, Any], n_unusual: int = 0) -> Response:
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

    posts: dict[str, Any] = {"/next": next_question, "/cases": begin_case, "/cases/answer": answer_case}
    posts |= {"/explain": explain, "/outcomes": note_outcome, "/fhir/Questionnaire/$next-question": next_fhir_question}
    for path, answer in posts.items():
        app.add_api_route(path, answer, methods=["POST"], responses=describe(path))
    gets: dict[str, Any] = {"/model": about, "/healthz": health, "/metrics": metrics}
    gets |= {
        "/fhir/metadata": tell_capability,
        "/fhir/Questionnaire": find_forms,
        "/fhir/Questionnaire/{form}": read_form,
    }
    gets |= {"/": show_page} if page else {}
    for path, tell in gets.items():
        kind = {"/": HTMLResponse, "/metrics": PlainTextResponse}.get(path, JSONResponse)
        app.add_api_route(path, tell, methods=["GET"], responses=describe(path), response_class=kind)
    app.add_api_route("/healthz", health, methods=["HEAD"], include_in_schema=False)
    app.add_exception_handler(Refusal, lambda r, e: _problem(r.url.path, e.status, e.place, str(e)))
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(RequestValidationError, _invalid)
    first, form = next(iter(served.current.values())), next(iter(forms.ids.values()))
    app.openapi = _with_examples(app.openapi, first, texts, form)
    known = {route.path for route in app.routes}
    app.add_middleware(Guard, token=token, max_bytes=max_bytes, meters=meters, paths=known)
    return app


def _check_settings(models: Any, token: Any, key: Any, max_bytes: Any, refresh_seconds: Any) -> None:
    pairs = models.items() if isinstance(models, Mapping) else [("", models)]
    if wrong := [pair for pair in pairs if not isinstance(pair[0], str) or not isinstance(pair[1], (str, os.PathLike))]:
        got = next(one for one in wrong[0][::-1] if not isinstance(one, (str, os.PathLike)))
        raise TypeError(f"models must be a path, or paths by name, got {type(got).__name__}: save it first.")
    for name, secret, kind in (("token", token, str), ("key", key, bytes)):
        if secret is not None and not isinstance(secret, kind):
            raise TypeError(f"{name} must be {kind.__name__}, got {type(secret).__name__}.")
        if secret is not None and not secret.strip():  # which anybody would guess
            raise ValueError(f"{name} is empty: give a secret, or leave it out.")
    check_integer(max_bytes, "max_bytes", 1)
    check_real(refresh_seconds, "refresh_seconds", 0.001)


def _json(content: Any, status: int = 200, headers: Any = None, media: str = "application/json") -> Response:
    """JSON in ASCII, which holds whatever a client sent, halves of characters too."""
    return Response(json.dumps(to_json_value(content), allow_nan=False), status, headers, media)


def _fhir_base(request: Request) -> str:
    """Where the part of the service is that speaks FHIR, as the client sees it."""
    return f"{request.base_url}fhir"


def _problem(path: str, status: int, place: list[str], message: str, headers: Any = None) -> Response:
    """What is wrong with a request, in the form of those who sent it."""
    if path.startswith("/fhir/"):
        return _json(operation_outcome(status, place, message), status, headers, _FHIR)
    return _json({"detail": [{"loc": place, "msg": message, "type": "value_error"}]}, status, headers)


def _unknown(request: Request, error: Any) -> Response:
    """What is wrong with a request that nothing answers."""
    said = {404: "there is no such path: GET /openapi.json tells of all."}
    if allowed := (error.headers or {}).get("Allow"):
        said[405] = f"this path takes {allowed} alone: GET /openapi.json tells of all."
    text = said.get(error.status_code, str(error.detail))
    return _problem(request.url.path, error.status_code, [], text, error.headers)


def _invalid(request: Request, error: Any) -> Response:
    """What is wrong with a request that has not the form of its kind."""
    problems = [{key: one[key] for key in ("loc", "msg", "type")} for one in error.errors()]
    if isinstance(error.body, bytes):  # so it was not read
        said = "the body is read as JSON only if the request says so: send the header 'content-type: application/json'."
        problems = [{"loc": ["header", "content-type"], "msg": said, "type": "value_error"}]
    elif error.body is None and problems[0]["type"] == "missing":
        problems[0]["msg"] = "there is no body: send the request in it, as JSON."
    if request.url.path.startswith("/fhir/"):
        return _problem(request.url.path, 400, [], "; ".join(one["msg"] for one in problems))
    return _json({"detail": problems}, 422)


def _with_examples(openapi: Any, model: ServedModel, texts: CaseTexts, form: str) -> Callable[[], dict[str, Any]]:
    """The description of the service, with requests that a model answers."""
    session = model.clf.session(key=0)
    values = {one["name"]: (one["categories"] or one["range"] or [0.0])[0] for one in model.about["features"]}
    asked = [one.name for question in session.next_panel for one in question.features or (question,)]
    answers = {name: values[name] for name in asked[:1]}
    step, case = model.step(session) | {"notes": {}}, {"case": texts.write(model, session)}
    requests = {"/next": {"answers": answers}, "/cases": {"known": {}}, "/explain": {"answers": answers}}
    requests["/cases/answer"] = case | {"answers": answers}
    requests["/outcomes"] = case | {"true_class": model.agent.classes.tolist()[0]}
    beginning = {
        "resourceType": "Questionnaire",
        "id": "form",
        "status": "active",
        "derivedFrom": [f"Questionnaire/{form}"],
    }
    response = {"resourceType": "QuestionnaireResponse", "status": "in-progress", "questionnaire": "#form"}
    requests["/fhir/Questionnaire/$next-question"] = response | {"contained": [beginning]}
    results: dict[str, Any] = to_json_value({"/next": step, "/cases": step | case})

    def describe() -> dict[str, Any]:
        content: dict[str, Any] = openapi()
        for path, request in requests.items():
            post = content["paths"][path]["post"]
            [content_of_kind] = post["requestBody"]["content"].values()
            content_of_kind["example"] = request
            if path in results:
                post["responses"]["200"]["content"]["application/json"]["example"] = results[path]
        return content

    return describe


class _Meters:
    """What is counted for Prometheus."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        count = partial(Counter, registry=self.registry)
        measure = partial(Histogram, registry=self.registry)
        self.requests = count("seqclass_requests", "Requests", ["path", "status"])
        self.seconds = measure("seqclass_request_seconds", "Seconds a request took", ["path"])
        counts = (0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)
        self.questions = measure("seqclass_case_questions", "Questions until a decision", ["model"], buckets=counts)
        self.decisions = count("seqclass_decisions", "Decisions", ["model", "decision"])
        self.unusual = count("seqclass_unusual_values", "Answers outside of what training showed", ["model"])
        gauge, of_model = partial(Gauge, registry=self.registry), ["model", "digest"]
        self.outcomes = count("seqclass_outcomes", "True classes that came back", ["model", "right"])
        self.evidence = gauge("seqclass_drift_evidence", "Evidence that decisions cost more than expected", of_model)
        self.alarm = gauge("seqclass_drift_alarm", "Whether that evidence was an alarm", of_model)
        self.files = count("seqclass_model_files", "Model files that changed", ["model", "taken"])


Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Guard:
    """Stands before the application: who may ask, how much is read, what is counted, and what a fault looks like."""

    #: Answers of a bundle are within answers within the body; and one to spare.
    max_depth = 4
    #: A coding of an extension of an item of a group of a form of a response of parameters; and some to spare.
    max_fhir_depth = 24
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
        path = scope["path"] if scope["path"] in self.paths else "other"  # of others there is no end

        async def sending(message: dict[str, Any]) -> None:
            status[0] = message.get("status", status[0])
            await send(message)

        state = scope.setdefault("state", {})
        try:
            response = self._refusal(scope) or await self._answer(scope, receive, sending)
        except Exception as error:  # the text of which may be of the case, and stays here
            log_event("fault", path=path, kind=type(error).__name__, where=format_tb(error.__traceback__)[-3:])
            response = _problem(scope["path"], 500, [], "this is a fault of the service; its log says where.")
        if response is not None:
            await response(scope, receive, sending)
        seconds = time.perf_counter() - began
        self.meters.requests.labels(path, str(status[0])).inc()
        self.meters.seconds.labels(path).observe(seconds)
        log_event("request", path=path, status=status[0], seconds=round(seconds, 6), model=state.get("model"))

    def _refusal(self, scope: dict[str, Any]) -> Response | None:
        scheme, _, token = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
        known = self.token is None or (scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self.token))
        if not known and scope["path"] != "/healthz":
            text = "send the token of this service as 'Authorization: Bearer TOKEN'."
            return _problem(scope["path"], 401, ["header", "authorization"], text, {"WWW-Authenticate": "Bearer"})
        return None

    async def _answer(self, scope: dict[str, Any], receive: Receive, send: Send) -> Response | None:
        """Read the body within its limits, and hand it on."""
        path = scope["path"]
        try:
            with fail_after(self.body_seconds):
                body = await self._read(receive)
        except TimeoutError:
            return _problem(path, 408, ["body"], f"the body took over {self.body_seconds:g} seconds: send it again.")
        except ConnectionError:  # nothing is kept of it, and nobody hears this
            return _problem(path, 400, ["body"], "the connection was closed before the end of the body: send it again.")
        if len(body) > self.max_bytes:
            return _problem(path, 413, ["body"], f"the body is over {self.max_bytes:,} bytes: send one case at a time.")
        deepest = self.max_fhir_depth if path.startswith("/fhir/") else self.max_depth
        if _depth(body) > deepest:
            text = f"the body is nested more than {deepest} deep: answers are names and values."
            return _problem(path, 422, ["body"], text)
        try:
            read_json(body.decode("utf-8-sig"))  # in UTF-16 signs would stand where none were counted
        except TwiceError as error:
            return _problem(path, 422, ["body"], f"{error}, and only one would count: send each name once.")
        except ValueError as error:
            if body and b"json" in dict(scope["headers"]).get(b"content-type", b"json").lower():
                return _problem(path, 400 if path.startswith("/fhir/") else 422, ["body"], _no_json(error))
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
            if message["type"] == "http.disconnect":
                raise ConnectionError
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body)


def _no_json(error: ValueError) -> str:
    """Why a body cannot be read."""
    if isinstance(error, json.JSONDecodeError):
        return f"the body is no JSON: {error.msg.removesuffix(' at')}, at character {error.pos + 1}."
    return "the body must be JSON in UTF-8, with numbers of a few digits."  # thousands are not read


def _depth(body: bytes) -> int:
    """How deep JSON is nested, whether or not it is any."""
    signs = re.findall(rb"[\[{\]}]", re.sub(rb'"(?:[^"\\]|\\.)*"?', b"", body, flags=re.DOTALL))
    return max(accumulate(1 if sign in b"[{" else -1 for sign in signs), default=0)
