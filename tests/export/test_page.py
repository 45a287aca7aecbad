"""The page in a real browser: it stands where a session stands, and it can be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seqclass.export import export_policy

#: Runs all cases in the page at once, and gives where each stands after every answer.
RUN = """
((cases) => {
  const { data, stand, outcomeOf } = window.seqclassPolicy;
  const number = Object.fromEntries(data.features.map((f, i) => [f.name, i]));
  const told = (at) => ({
    belief: at.belief, asked: at.asked && data.features[at.asked.feature].name, price: at.asked && at.asked.price,
    saving: at.asked && at.asked.saving, now: at.now, cost: at.cost, decision: data.decisions[at.decision],
    best: at.asked ? at.best.map((o) => [data.features[o.feature].name, o.price, o.saving]) : [],
  });
  return cases.map((answers) => {
    const given = answers.map(([name, value, known]) =>
      ({ feature: number[name], outcome: value === null ? -1 : outcomeOf(number[name], String(value)), known }));
    return [...Array(given.length + 1).keys()].map((n) => told(stand(given.slice(0, n))));
  });
})(%s)
"""


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found["asked"] == wanted["asked"]
    assert found["decision"] == wanted["decision"]
    for key in ("belief", "cost", "now", *(("price", "saving") if wanted["asked"] else ())):
        assert found[key] == pytest.approx(wanted[key], abs=1e-9, rel=0), key
    assert len(found["best"]) == len(wanted["best"])
    for (name, price, saving), (wanted_name, wanted_price, wanted_saving) in zip(found["best"], wanted["best"]):
        assert saving == pytest.approx(wanted_saving, abs=1e-9)
        if name != wanted_name:  # a tie
            assert saving == pytest.approx(wanted_saving, abs=1e-12)
        else:
            assert price == pytest.approx(wanted_price, abs=1e-12)


@pytest.mark.parametrize("name", ["grid2", "grid3", "vectors", "adaptive", "mixture"])
def test_the_page_stands_where_a_session_stands(
    name: str, model: Any, cases: Any, browser: Any, tmp_path: Path
) -> None:
    clf, page = model(name), tmp_path / "page.html"
    data = export_policy(clf, page)
    assert data["kind"] == ("graph" if name in ("adaptive", "mixture") else "values")
    wanted = cases(clf, 60, data["kind"] == "values")
    assert sum(len(case["answers"]) for case in wanted) > 90
    browser.open(page)
    found = browser.run(RUN % json.dumps([case["answers"] for case in wanted]))
    for case, stands in zip(wanted, found, strict=True):
        for stand, session in zip(stands, case["stands"], strict=True):
            same(stand, session)
    assert browser.faults == []
    assert browser.requests == [page.resolve().as_uri()]
