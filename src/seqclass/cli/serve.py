"""``seqclass serve``: a model as a service over HTTP."""

from __future__ import annotations

import logging
import pkgutil
import socket
import sys
from contextlib import suppress
from pathlib import Path

import click

from seqclass._utils.text import short_repr
from seqclass.cli._errors import InputError, as_input_errors, check_input_file
from seqclass.serve import create_app


def _command(
    models: tuple[str, ...],
    host: str,
    port: int,
    page: bool,
    token_file: Path | None,
    labels: tuple[str, ...],
    key_file: Path | None,
) -> None:
    paths, words = dict[str, Path](), dict[str, Path]()
    for given in models:
        name, file = _split_name(given)
        name = name or file.stem
        if name in paths:
            raise InputError(f"two models have the name {short_repr(name)}: give one of them another, NAME=FILE.")
        paths[name] = file
    for given in labels:
        name, file = _split_name(given)
        words[name or next(iter(paths))] = file
    token, key = _secret(token_file, "--token-file"), _secret(key_file, "--key-file")
    try:
        uvicorn = pkgutil.resolve_name("uvicorn")
        with as_input_errors():
            app = create_app(paths, labels=words, token=token, key=None if key is None else key.encode(), page=page)
    except ImportError as error:
        raise InputError("the service needs FastAPI and uvicorn: pip install 'seqclass[serve]'.") from error
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InputError(f"--host, --port: {host}:{port} cannot be listened on: {error.strerror or error}.") from error
    if token is None and host not in ("127.0.0.1", "::1", "localhost"):
        click.echo("Warning: whoever reaches this port may ask; --token-file lets only those who have it.", err=True)
    handler = logging.StreamHandler(sys.stderr)
    logging.getLogger("seqclass").addHandler(handler)
    logging.getLogger("seqclass").setLevel(logging.INFO)
    address = f"[{host}]" if ":" in host else host
    click.echo(f"Serving {', '.join(paths)} at http://{address}:{port}; Ctrl-C ends it.")
    # more connections than that wait, so that slow ones do not take up all memory; who reads nothing is left at the end
    limits = {"limit_concurrency": 1000, "timeout_graceful_shutdown": 15}
    settings = uvicorn.Config(app, log_level="warning", access_log=False, **limits)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run(sockets=[listening])


def _split_name(given: str) -> tuple[str, Path]:
    """Name, which may be empty, and file of NAME=FILE or FILE."""
    name, sign, path = given.partition("=")
    file = Path(given if not sign or Path(given).exists() else path)
    check_input_file(file)
    return name if sign and file != Path(given) else "", file


def _secret(path: Path | None, option: str) -> str | None:
    """The first line of a file, long enough to be no guess."""
    if path is None:
        return None
    check_input_file(path)
    with as_input_errors():
        text = path.read_text(encoding="utf-8").strip()
    least = 16
    if len(text) < least or not text.isascii() or not text.isprintable():
        raise InputError(f"{option}: {path} must hold one line of at least {least} letters, digits and signs.")
    return text
