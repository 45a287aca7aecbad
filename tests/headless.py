"""A headless Chromium that is driven through a pipe by the DevTools protocol; no further package."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: After which a browser that says nothing hangs, however busy the machine is.
SECONDS = 300
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Chromium takes its commands from file 3 and answers on file 4.
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_FLAGS = (
    *("--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars"),
)
#: Key codes of the DevTools protocol.
_CODES = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40}
_CODES |= {",": 188, ".": 190}


class Browser:
    """One page in a headless Chromium."""

    def __init__(self, executable: str, profile: Path) -> None:
        theirs, self._to = os.pipe()
        self._from, mine = os.pipe()
        command = [sys.executable, "-c", _START, str(theirs), str(mine), executable, *_FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}"],
            pass_fds=(theirs, mine),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(mine)
        self._numbers, self._buffer, self._session = itertools.count(1), b"", ""
        #: What the page asked for, and what went wrong in it.
        self.requests: list[str] = []
        self.faults: list[Any] = []
        self._loaded = 0
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        self._session = ""
        self.send("Browser.close")
        self._process.wait(SECONDS)
        os.close(self._to)
        os.close(self._from)

    def post(self, method: str, **parameters: Any) -> int:
        """Send without waiting for an answer."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        return number

    def send(self, method: str, **parameters: Any) -> Any:
        number = self.post(method, **parameters)
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(end - time.monotonic(), 0))
            part = os.read(self._from, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("Chromium does not answer.")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        name, parameters = message.get("method"), message.get("params", {})
        if name == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif name in ("Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"):
            self.faults.append(parameters)
        elif name == "Page.loadEventFired":
            self._loaded += 1
        return message

    def open(self, path: Path | str, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        self.requests, self.faults = [], []
        phone = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        before = self._loaded
        self.send("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        while self._loaded == before:
            self._receive()

    def run(self, code: str) -> Any:
        """Value of a JavaScript expression in the page."""
        answer = self.send("Runtime.evaluate", expression=code, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def texts(self, selector: str) -> list[str]:
        return list(self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.innerText)"))

    def click(self, selector: str, number: int = 0) -> None:
        """Click with the mouse on the middle of an element, which must be what the mouse hits there."""
        found = f"document.querySelectorAll({json.dumps(selector)})[{number}]"
        place = self.run(
            f"(() => {{ const e = {found}; e.scrollIntoView({{block: 'center', inline: 'center'}});"
            "const r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;"
            "return {x, y, hit: e.contains(document.elementFromPoint(x, y))}; })()"
        )
        assert place.pop("hit"), selector
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def focus(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")

    def key(self, key: str, shift: bool = False) -> None:
        typed = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        code = _CODES.get(key) or ord(key.upper())
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
        self.send("Input.dispatchKeyEvent", type="keyDown" if typed else "rawKeyDown", text=typed, **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def picture(self, path: Path) -> None:
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.skip("no Chromium: none of chromium, chromium-browser and google-chrome is installed")
    opened = Browser(executable, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
