"""A fitted policy as data: a page to work through cases offline, JSON, or C."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.files import replace_file
from seqclass._utils.text import join_names, money, near, short_repr, unit_text
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.agent._fingerprint import fingerprint
from seqclass.agent.agent import agent_of
from seqclass.evaluation.contract import CertifiedError, classifier_of
from seqclass.export._c import c_source
from seqclass.export._card import model_card
from seqclass.export._data import as_data
from seqclass.pomdp.visits import orders_panels
from seqclass.report._markup import Markup, document, element, resource, script_json, together

__all__ = ["export_policy", "model_card", "page_words", "policy_data"]
__dir__ = __all__.copy  # tab completion

#: Most nodes of a decision graph, unless told.
MAX_NODES = 20_000


def export_policy(
    classifier: BaseSequentialClassifier | CertifiedError,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    title: str | None = None,
    labels: Any = None,
    language: str | Mapping[str, str] = "en",
    respondent: str | None = None,
    max_nodes: int = MAX_NODES,
    min_probability: float | None = None,
) -> dict[str, Any]:
    """Write what a classifier asks and decides to a file that needs no Python.

    Questions, beliefs, prices, expected savings and decisions are the same as in `SequentialClassifier.session`.

    Parameters
    ----------
    classifier : SequentialClassifier, AdaptiveClassifier or CertifiedError
        A fitted classifier, or what `seqclass.certify_error` returned; the page then states what that promises.
    path : path
        File to write, completely or not at all; an existing file is replaced.
    format : {"html", "json", "c"}, optional
        ``"html"``: a page to work through cases with, which needs neither a server nor a network. ``"json"``: the data
        of `policy_data`. ``"c"``: C99 code that allocates nothing. By default as the ending of the file says.
    title : str, optional
        Title of the page; by default the name of the target, if it has one, and the decisions.
    labels : Labels, path, mapping or data frame, optional
        Words for questions, answers, units and help, instead of the names in the data; see
        `seqclass.Labels.from_value`. Items of a bank that are right or wrong are answered so without.
    language : {"en", "de", "fr", "es"} or mapping
        Language of the page's own words, or the words in another language; see `page_words`.
    respondent : {"end", "decision", "record"}, optional
        Make the page one for the person who is asked: questions alone, without beliefs, prices or savings; at the end
        it says that this is the end, or the decision, or the record too. Its source still holds the model.
    max_nodes, min_probability : optional
        See `policy_data`.

    Returns
    -------
    dict
        What was written, as `policy_data` returns it.

    Raises
    ------
    TypeError
        If ``classifier`` is none of these.
    ValueError
        If the policy cannot be written as data, or not within the limits, labels or words are wrong, or the ending of
        the file is that of another format; the message says what to do.
    FileNotFoundError
        If the folder, or a file of labels or words, does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = SequentialClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = export_policy(clf, Path(folder) / "page.html")
    ...     "<!DOCTYPE html>" in (Path(folder) / "page.html").read_text(encoding="utf-8")
    True
    >>> data["kind"], len(data["features"])
    ('program', 30)
    """
    format = format_of(path, format)
    words = page_words(language)
    if respondent is not None:
        check_choice(respondent, "respondent", ("end", "decision", "record"))
        if format != "html":
            raise ValueError(f"respondent is for a page, and {short_repr(str(path))} is none: leave it out.")
    data = _policy_data(classifier, labels, max_nodes, min_probability, words)
    if format == "html":
        text = policy_page(classifier, data, title, words, respondent)
    elif format == "json":
        text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    else:
        text = c_source(data, " ".join(promise_sentences(data | {"sets": None})))  # it tells no sets
    with replace_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))
    return data


def policy_page(
    classifier: BaseSequentialClassifier | CertifiedError,
    data: dict[str, Any] | None = None,
    title: str | None = None,
    words: dict[str, str] | None = None,
    respondent: str | None = None,
) -> str:
    """The page that `export_policy` writes, as text."""
    data, words = policy_data(classifier) if data is None else data, words or page_words()
    title = _title(classifier, data, words) if title is None else title
    style = together(resource("page.css"), _resource("page.css"))
    scripts = [_resource("policy.js"), _resource("page.js")]
    panels = orders_panels(agent_of(classifier_of(classifier)[0]).policy.problem)
    about = _about(data, words, panels) if respondent is None else words["stays"]
    header = element("header", element("h1", title), element("p", about, class_="note"))
    other = _resource("other.html").format_map(words) if data["kind"] == "program" else Markup("")
    main = element(
        "main", _resource("page.html").format_map({**words, "other_box": other, "respondent": respondent or ""})
    )
    held = [
        element("script", script_json(one), type="application/json", id=name)
        for name, one in (("policy", data), ("words", words))
    ]
    origin = element("p", _fill_in(words["model"], about=_origin(data, words, respondent is None)), data_part="model")
    footer = element("footer", element("p", _fill_in(words["written"], by=data["written_by"])), origin)
    limits, language = "form-action 'none'; ", words["lang"]
    return str(document(title, style, scripts, header, main, footer, *held, limits=limits, language=language))


#: Formats by the ending of a file.
ENDINGS = {".html": "html", ".htm": "html", ".json": "json", ".c": "c"}


def format_of(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Format in which a file is written, by its ending unless told; a ValueError where these clash."""
    ending = Path(path).suffix
    by_ending = ENDINGS.get(ending.lower())
    if format is None and by_ending is None:
        raise ValueError(
            f"{short_repr(str(path))} must end in .html, .json or .c, or format='json' (--format json on the command "
            "line) say what to write."
        )
    if format is not None:
        check_choice(format, "format", ("html", "json", "c"))
        if by_ending not in (None, format):
            raise ValueError(
                f"format is {format!r}, and {short_repr(str(path))} ends in {ending}; leave the format out, or name "
                "another file."
            )
    return str(format or by_ending)


def policy_data(
    classifier: BaseSequentialClassifier | CertifiedError,
    *,
    labels: Any = None,
    max_nodes: int = MAX_NODES,
    min_probability: float | None = None,
) -> dict[str, Any]:
    """Return what a classifier asks and decides as plain data.

    The policy of a model with hidden states (naive Bayes, class mixtures, contexts), or of a tree or network with small
    tables, is written as a *program*: tables, prices, what it asks next, and when it stops. Any feature may then be
    answered at any time. Any other policy (of large networks, say) is written as a *graph* of all cases that it can
    meet, which has a limited number of nodes and takes answers only in the order in which it asks.

    Parameters
    ----------
    classifier : SequentialClassifier, AdaptiveClassifier or CertifiedError
        A fitted classifier, or what `seqclass.certify_error` returned; the data then state what that promises.
    labels : Labels, path, mapping or data frame, optional
        See `export_policy`.
    max_nodes : int
        Most nodes of a graph.
    min_probability : float, optional
        For a graph: cases less probable than this are not followed further; the graph then says what to decide as
        things stand, and that it is cut there. For this probability, 5% of all answers are taken to be missing. By
        default it is as small as ``max_nodes`` allows, with a ValueError if less than 99% of cases would be followed to
        their end; 0 follows all.

    Returns
    -------
    dict
        Lists, dicts, numbers and texts, as in JSON; the page on export in the documentation explains the keys.

    Raises
    ------
    TypeError
        If ``classifier`` is none of these.
    ValueError
        If the policy cannot be written as data, or not within the limits, or labels are wrong; the message says what to
        do.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> clf = SequentialClassifier(order="adaptive").fit(*load_iris(return_X_y=True))
    >>> data = policy_data(clf)
    >>> data["kind"], data["program"]["any_order"], data["questions"][2]["name"]
    ('program', True, 'x2')
    """
    return _policy_data(classifier, labels, max_nodes, min_probability)


def _policy_data(
    classifier: BaseSequentialClassifier | CertifiedError,
    labels: Any,
    max_nodes: int,
    min_probability: float | None,
    translate: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    clf, contract = classifier_of(classifier)
    check_integer(max_nodes, "max_nodes", 1)
    if min_probability is not None:
        min_probability = check_real(min_probability, "min_probability", 0.0, 1.0)
    data = as_data(agent_of(clf), labels, max_nodes, min_probability, translate)
    return data | {"promise": _promise(contract), "provenance": _provenance(clf)}


def _provenance(clf: BaseSequentialClassifier) -> dict[str, Any]:
    """Where a classifier comes from, as the data have it, and the digest that tells its cases from those of others."""
    origin, held_out = vars(clf).get("provenance_"), vars(clf).get("held_out_")
    data = {} if origin is None else origin.record()
    cost = None if held_out is None else held_out.cost
    about = "" if origin is None else origin.text(cost, agent_of(clf).unit)
    return data | {"held_out_cost": cost, "model": fingerprint(agent_of(clf)), "text": about}


def _promise(contract: CertifiedError | None) -> dict[str, Any] | None:
    """What is certified, as the data have it."""
    if contract is None:
        return None
    rule, groups = contract.rule, len(contract.groups)
    target = None if contract.target is None else str(contract.target)
    terms = {"metric": contract.metric, "target": target, "at_most": contract.alpha, "confidence": 1 - contract.delta}
    return terms | {"seen": rule.risk, "n_rows": contract.n_rows, "n_groups": groups if groups > 1 else 0}


#: What stands for something in words.
_PLACE = re.compile(r"\{(\w+)\}")


def page_words(language: str | Mapping[str, str] = "en") -> dict[str, str]:
    """Return the words of an exported page itself, by key.

    Parameters
    ----------
    language : {"en", "de", "fr", "es"} or mapping
        A language that comes with the package, or the words in another one, by the same keys: ``lang`` is the code of
        the language, ``decimal`` is the decimal separator, and whatever is in braces is filled in.

    Returns
    -------
    dict of str to str

    Raises
    ------
    ValueError
        If there is no such language, or a word is missing, has an unknown key, or lacks something in braces.

    Examples
    --------
    >>> page_words("de")["stop"]
    'Aufhören und entscheiden'
    >>> page_words(page_words("en") | {"stop": "Enough"})["stop"]
    'Enough'
    """
    known = _languages()
    if isinstance(language, str) and language in known:
        return dict(known[language])
    if not isinstance(language, Mapping):
        raise ValueError(
            f"language must be {join_names(known)}, or the words of another one; got {short_repr(language)}."
        )
    wanted = known["en"]
    if unknown := [key for key in language if key not in wanted]:
        raise ValueError(
            f"language has words for {short_repr(unknown[0])}; {near(str(unknown[0]), list(wanted), 'keys are')}"
        )
    if missing := [key for key in wanted if key not in language]:
        raise ValueError(f"language lacks words for {join_names(missing)}; page_words() gives those of English.")
    for key, text in wanted.items():
        if not isinstance(language[key], str) or set(_PLACE.findall(language[key])) != set(_PLACE.findall(text)):
            raise ValueError(f"language: the words for {key!r} must be a text with the same braces as {text!r}.")
    return dict(language)


@cache
def _languages() -> dict[str, dict[str, str]]:
    """Words of each language that is there; they are read once."""
    return dict(json.loads((files(__package__) / "words.json").read_text(encoding="utf-8")))


def _fill_in(text: str, **about: Any) -> str:
    """Words with what they are about."""
    return _PLACE.sub(lambda place: str(about[place[1]]), text)


def _about(data: dict[str, Any], words: dict[str, str], panels: bool) -> str:
    """What the reader has to know first."""
    decisions = _either(data, words)
    sentences = [_fill_in(words["about_visits" if panels else "about"], decisions=decisions)]
    if data["kind"] == "graph":
        sentences += [words["in_its_order"]]
        sentences += [_fill_in(words["cut"], share=cut_share(data["cut"], words))] if data["cut"] else []
    if data["unit"]:
        sentences.append(_fill_in(words["unit"], unit=data["unit"]))
    elif unit_text(data["decision_costs"]):
        sentences.append(words["errors"])
    return " ".join([*sentences, *promise_sentences(data, words), words["stays"]])


def _origin(data: dict[str, Any], words: dict[str, str], costs: bool) -> str:
    """What a model was learnt from, when, with ``costs`` at which cost, and its digest."""
    origin = data["provenance"]
    parts = [origin.get("source"), _fill_in(words["n_rows"], n=rows) if (rows := origin.get("n_rows")) else ""]
    if costs and (cost := origin["held_out_cost"]) is not None:
        figure = money(cost, data["unit"]).replace(".", words["decimal"])
        parts.append(_fill_in(words["held_out"], cost=figure))
    return ", ".join(filter(None, [*parts, origin.get("date"), origin["model"]]))


def promise_sentences(data: dict[str, Any], words: Mapping[str, str] | None = None) -> list[str]:
    """Sentences of what is certified, none where nothing is; by default in English."""
    words = page_words() if words is None else words
    promise, sets = data["promise"], data["sets"]
    by_metric = {
        "error": words["promised_error"],
        "sensitivity": words["promised_sensitivity"],
        "cost": words["promised_cost"],
    }
    promises = [] if promise is None else [(by_metric[promise["metric"]], promise)]
    if sets is not None:
        promises.append((words["promised_sets_by_class"] if sets["by_class"] else words["promised_sets"], sets))

    def figure(value: float, share: bool, exact: bool = False) -> str:
        text = f"{100 * value if share else value:.10g}" if exact else f"{100 * value:.3g}" if share else money(value)
        text = text.replace(".", words["decimal"])
        return _fill_in(words["percent"], p=text) if share else f"{text} {data['unit']}".rstrip()

    def sentence(text: str, terms: dict[str, Any]) -> str:
        share, target = terms.get("metric") != "cost", str(terms.get("target"))
        figures = {"most": figure(terms["at_most"], share, exact=True), "seen": figure(terms["seen"], share)}
        sure, rows = figure(terms["confidence"], True, exact=True), terms["n_rows"]
        return _fill_in(text, rows=rows, sure=sure, target=texts.get(target, target), **figures)

    texts = dict(zip(map(str, data["classes"]), data["class_texts"]))
    sentences = [sentence(*one) for one in promises]
    sentences += [_fill_in(words["promised_groups"], n=promise["n_groups"])] if promise and promise["n_groups"] else []
    return [*sentences, words["promise_holds"]] if promises else []


def cut_share(cut: float, words: Mapping[str, str] | None = None) -> str:
    """A share of cases as people count them, by default in English."""
    words = page_words() if words is None else words
    for of in (100, 1000, 10_000):
        if cut * of >= 1:
            return _fill_in(words["share"], n=round(cut * of), of=of)
    return _fill_in(words["few"], of=10_000)


def _title(classifier: Any, data: dict[str, Any], words: dict[str, str]) -> str:
    """The name of the target, where it has one, and the decisions."""
    return ": ".join(filter(None, [classifier_of(classifier)[0].target_name_, _either(data, words)]))


def _either(data: dict[str, Any], words: dict[str, str]) -> str:
    names = [data["decision_texts"][number] for number in data["decision_order"]]
    if len(names) > 6:
        return _fill_in(words["many"], n=len(names))
    return _fill_in(words["both"], names=", ".join(names[:-1]), last=names[-1]) if len(names) > 1 else names[0]


def _resource(name: str) -> Markup:
    return resource(name, __package__)
