"""A small run, and the browser that opens its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from headless import browser as browser
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import seqclass
from seqclass.experiment import Experiment, Results


class Awkward(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method whose cells fail with markup in their error."""

    def fit(self, X: Any, y: Any) -> Awkward:
        raise ValueError("</script><script>alert(1)</script> & <b>no</b>")


@pytest.fixture(scope="session", autouse=True)
def drawn_once(draw_anew: Callable[..., Any]) -> None:
    """What was drawn before is not drawn again, but in tests that ask for `draw_anew` and put it back."""


@pytest.fixture(scope="session")
def failing() -> Awkward:
    """A method whose cells fail with markup in their error."""
    return Awkward()


@pytest.fixture(scope="session")
def hostile() -> str:
    """A name that breaks a page that takes it for markup."""
    return "<img src=x onerror=\"alert(1)\"> & 'co'"


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory, hostile: str, failing: Awkward) -> Results:
    """Three methods, one of which fails and one with an awkward name, on two sets at two prices."""
    path = tmp_path_factory.mktemp("run") / "small.run"
    methods = {"etana": seqclass.etana, hostile: GaussianNB(), "fails": failing}
    with pytest.warns(UserWarning, match="8 of 24 cells failed"):
        return Experiment(["iris", "wine"], methods, prices=[0.01, 0.1], cv=2).run(path)
