"""``seqclass explain``: why one row of a table is decided as it is."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from seqclass._utils.text import value_text
from seqclass.agent.agent import agent_of
from seqclass.agent.choices import check_labels
from seqclass.cli._cases import full_rows, read_cases, refuse_lacking
from seqclass.cli._describe import load_model
from seqclass.cli._errors import InputError, as_input_errors
from seqclass.cli._format import count, echo_json


def _command(
    model: Path, data: Path, row: int, unknown: str | None, currency: str | None, labels: Path | None, as_json: bool
) -> None:
    clf = load_model(model, unknown, currency)
    cases = read_cases(clf, data)
    n = int(cases.X.shape[0])
    if row > n:
        raise InputError(f"--row: {data} has {count(n, 'row')}, so there is no row {row:,}.")
    with as_input_errors(str(data)):
        [explanation] = clf.explain(full_rows(clf, cases, slice(row - 1, row)))
    with as_input_errors():
        words = check_labels(agent_of(clf), labels)
    worded_explanation = explanation.in_words(words)
    # a column that is not there may stay away as long as the case does not ask for it
    asked = np.array([[step.column for step in explanation.steps]], dtype=np.intp)
    refuse_lacking(clf, data, asked, cases.names, row)
    if as_json:
        content = {"row": row, **explanation.to_dict()}
        if labels is not None:  # names stay, and words stand beside them
            for step, worded in zip(content["steps"], worded_explanation.steps):
                step |= {"question": worded.name, "answer": None if worded.missing else value_text(worded.value)}
            content["class_texts"] = [words.class_text(label) for label in explanation.classes]
            content["decision_text"] = words.decision_text(explanation.decision)
        echo_json(content)
    else:
        click.echo(str(worded_explanation))
