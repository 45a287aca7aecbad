"""Whatever has a name may have markup in it: the page shows it as text, in every section and in a real browser."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

import seqclass
from seqclass.datasets import Dataset
from seqclass.experiment import Experiment, Results
from seqclass.report import Explored, explore, write_report
from seqclass.report.explore import ExploredRun

#: What does harm where it is taken for markup; a browser leaves the page, asks for something or opens a dialog.
HARM = (
    '<meta http-equiv="refresh" content="0;url=about:blank">',
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "</title></style></textarea></svg><svg onload=alert(3)>",
    "\"' onclick=alert(4) autofocus onfocus=alert(5) x='",
    "<iframe src=javascript:alert(6)></iframe><base href=https://example.org/>",
    "<!-- ]]> {{7*7}} ${7*7} &lt;b&gt;",
)


def named(kind: str) -> list[str]:
    """Names of a kind, each with another harm in it."""
    return [f"{kind} {number} {harm}" for number, harm in enumerate(HARM)]


class Failing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method all of whose cells fail, with markup in the error."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def fit(self, X: Any, y: Any) -> Failing:
        raise ValueError(self.text)


class Warns(DummyClassifier):  # type: ignore[misc]
    """A method that warns with markup."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        warnings.warn(f"warning {HARM[0]}", UserWarning, stacklevel=2)
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two data sets and ten methods: two that ask, five that fail, one that warns and two that look at nothing."""
    rng = np.random.default_rng(0)
    classes = named("class")
    y = np.arange(12 * len(classes)) % len(classes)
    X = np.eye(len(classes))[y] + 0.3 * rng.normal(size=(len(y), len(classes)))
    X[rng.random(X.shape) < 0.05] = np.nan
    one = Dataset(named("data")[0], X, y, tuple(classes), tuple(named("feature")))
    other = replace(one, name=named("data")[1], X=X + 0.2 * rng.normal(size=X.shape))
    names = named("method")
    methods: dict[str, Any] = dict.fromkeys(names[:2], seqclass.etana)
    methods |= {names[2]: DummyClassifier(), names[3]: Warns(), names[4]: DummyClassifier()}
    methods |= {f"{names[5]} {i}": Failing(error) for i, error in enumerate(named("error")[:5])}
    path = tmp_path_factory.mktemp("hostile") / "hostile.run"
    with pytest.warns(UserWarning, match="40 of 80 cells failed"):
        return Experiment([one, other], methods, prices=[0.01, 0.05], cv=2).run(path)


@pytest.fixture(scope="module")
def explored(everything: Results) -> ExploredRun:
    table = everything.to_frame()
    told: Explored = explore(everything, table["data"].iloc[0], table["method"].iloc[0])
    return ExploredRun(
        {
            f"explored {HARM[2]}": replace(
                told, note=f"note {HARM[1]}", truth=[named("class")[0]] * len(told.explanations)
            )
        },
        f"left {HARM[0]}",
    )


def shown_names() -> list[str]:
    """What is to be seen, as text, somewhere on the page: all of it but what pictures shorten."""
    methods = named("method")
    fails = [f"{methods[5]} {i}" for i in range(5)]
    return [*named("data")[:2], *methods[:5], *fails, *named("class"), *named("feature"), *named("error")[:5]]


@pytest.mark.slow
@pytest.mark.parametrize("given", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_name_is_text_in_a_browser(
    browser: Any, everything: Results, explored: ExploredRun, tmp_path: Path, given: bool
) -> None:
    settings: dict[str, Any] = {"explanations": explored} if given else {}
    path = write_report(everything, tmp_path / "page.html", title=f"title {HARM[3]}{HARM[0]}", **settings)
    browser.open(path)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for _ in range(int(browser.run("document.querySelector('[data-part=slider]').max"))):
        browser.click("[data-part=next]")
    for name in ("later", "earlier", "previous"):
        browser.click(f"[data-part={name}]")
    for number in range(int(browser.run("document.querySelectorAll('#summary thead button').length"))):
        browser.click("#summary thead button", number)
    browser.run(
        "document.querySelectorAll('[title], summary, svg *').forEach(e => e.dispatchEvent(new Event('focus')))"
    )
    assert browser.run("location.href") == path.resolve().as_uri()
    assert browser.faults == []
    assert browser.requests == [path.resolve().as_uri()]
    assert browser.run("document.title") == f"title {HARM[3]}{HARM[0]}"
    harmful = (
        "img, iframe, base, object, embed, form, link, textarea, [onload], [onerror], [onclick], [onfocus], [autofocus]"
    )
    assert browser.run(f"document.querySelectorAll('{harmful}').length") == 0
    assert browser.run("document.querySelectorAll('meta').length") == 3
    assert browser.run("document.querySelectorAll('script').length") == 3
    assert browser.run("document.querySelectorAll('svg svg').length") == 0
    text = re.sub(r"\s+", " ", str(browser.run("document.body.textContent")))
    for name in shown_names():
        assert name in text, name
    assert f"warning {HARM[0]}" in text
    if given:
        assert f"left {HARM[0]}" in text
        assert browser.text("[data-part=note]") == f"note {HARM[1]}"
        assert browser.texts("[data-part=set] option") == [f"explored {HARM[2]}"]


@pytest.mark.slow
def test_names_of_methods_that_failed_are_text_in_the_note(everything: Results, tmp_path: Path) -> None:
    text = write_report(everything, tmp_path / "page.html", explanations={}).read_text(encoding="utf-8")
    assert "as all their cells failed: method 5 &lt;iframe" in text
    assert [harm for harm in HARM if harm in text] == []


@pytest.mark.slow
def test_words_of_users_are_text_in_a_browser(browser: Any, everything: Results, tmp_path: Path) -> None:
    words = {
        name: {"question": f"words {number} {harm}\n*/", "unit": f"unit {harm}"}
        for number, (name, harm) in enumerate(zip(named("feature"), HARM))
    }
    path = write_report(everything, tmp_path / "page.html", labels=words, unit=f"money {HARM[2]}")
    browser.open(path)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for _ in range(int(browser.run("document.querySelector('[data-part=slider]').max"))):
        browser.click("[data-part=next]")
    assert browser.faults == []
    assert browser.requests == [path.resolve().as_uri()]
    assert browser.run("document.querySelectorAll('img, iframe, base, svg svg, [onload], [onclick]').length") == 0
    assert browser.run("document.querySelectorAll('script').length") == 3
    text = re.sub(r"\s+", " ", str(browser.run("document.querySelector('#acquisition').textContent")))
    assert [f"words {number} {harm} */" in text for number, harm in enumerate(HARM)] == [True] * len(HARM)
    assert [name for name in named("feature") if name in text] == []
    assert f"Prices and costs are in money {HARM[2]}." in browser.text("header")
