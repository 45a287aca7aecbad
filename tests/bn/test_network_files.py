"""Networks in files: what pgmpy writes, what other programs write, and what nobody should."""

from __future__ import annotations

import contextlib
import gzip
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from network_cases import as_pgmpy, random_network

from seqclass.bn import DiscreteNetwork, NetworkTables, network_tables
from seqclass.bn.network_tables import read_network

NAMES, STATES, PARENTS = ["flu", "fever", "x ray"], [["no", "yes"], ["a", "b", "c"], ["neg", "pos"]], [[], [0], [0, 1]]
TABLES = [
    np.array([0.9, 0.1]),
    np.array([[0.8, 0.1], [0.15, 0.2], [0.05, 0.7]]),
    np.array([[[0.9, 0.8, 0.7], [0.6, 0.5, 1e-05]], [[0.1, 0.2, 0.3], [0.4, 0.5, 1 - 1e-05]]]),
]
BIF = """// a comment
network "flu" { property by hand; }
variable flu { type discrete [ 2 ] { no, yes }; property odd, "one"; }
variable fever { type discrete[3] {a, b, c}; }
variable "x ray" { type discrete [ 2 ] { "neg", pos }; }
probability ( flu ) { table 0.9, 0.1; }
probability ( fever | flu ) { (yes) 0.1, 0.2, 0.7; (no) 0.8 0.15 0.05; /* in any
 order */ }
probability ( "x ray" | flu, fever ) {
  default 0.9, 0.1; (no, b) .8, .2; (no, c) .7, .3; (yes, a) .6, .4; (yes, b) .5, .5; (yes, c) 1e-05, 0.99999; }
"""
XMLBIF = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>flu</NAME>
<VARIABLE TYPE="nature"><NAME>flu</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>fever</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME><OUTCOME>c</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>x ray</NAME><OUTCOME>neg</OUTCOME><OUTCOME>pos</OUTCOME></VARIABLE>
<DEFINITION><FOR>x ray</FOR><GIVEN>flu</GIVEN><GIVEN>fever</GIVEN>
<TABLE>.9 .1 .8 .2 .7 .3 .6 .4 .5 .5 1e-05 .99999 <!-- the last --></TABLE></DEFINITION>
<DEFINITION><FOR>fever</FOR><GIVEN>flu</GIVEN><TABLE>.8 .15 .05 .1 .2 .7</TABLE></DEFINITION>
<DEFINITION><FOR>flu</FOR><TABLE>0.9 0.1</TABLE></DEFINITION></NETWORK></BIF>
"""
XDSL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="flu" numsamples="1000"><nodes>
<cpt id="flu"><state id="no"/><state id="yes"/><probabilities>0.9 0.1</probabilities></cpt>
<cpt id="fever"><state id="a"/><state id="b"/><state id="c"/><parents>flu</parents>
<probabilities>0.8 0.15 0.05
 0.1  0.2 0.7</probabilities></cpt>
<deterministic id="both"><state id="n"/><state id="y"/><parents>flu fever</parents>
<resultingstates>n n n n n y</resultingstates></deterministic>
</nodes><extensions/></smile>
"""
UAI = "BAYES\n3\n2 3 2\n3\n1 0\n2 0 1\n3 0 1 2\n2 0.9 0.1\n6 .8 .15 .05 .1 .2 .7\n12\n" + (
    ".9 .1 .8 .2 .7 .3\n.6 .4 .5 .5 1e-05 .99999\n"
)


def assert_same(found: NetworkTables, names: list[str], states: list[list[str]]) -> None:
    assert (found.names, found.states) == (names, states)
    by_name = {names[j]: j for j in range(len(names))}
    for j, name in enumerate(found.names):
        assert found.parents[j] == PARENTS[by_name[name]]
        np.testing.assert_allclose(found.tables[j], TABLES[by_name[name]], rtol=1e-9)


@pytest.mark.quick
@pytest.mark.parametrize("ending, text", [(".bif", BIF), (".xml", XMLBIF), (".xmlbif", XMLBIF), (".uai", UAI)])
def test_the_same_network_in_every_format(tmp_path: Path, ending: str, text: str) -> None:
    file = tmp_path / f"flu{ending}"
    file.write_text(text)
    packed = tmp_path / f"flu{ending}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (file, str(packed)):
        found = read_network(path)
        if ending == ".uai":
            assert_same(found, ["x0", "x1", "x2"], [["0", "1"], ["0", "1", "2"], ["0", "1"]])
        elif ending == ".bif":
            assert_same(found, NAMES, STATES)
        else:
            assert sorted(found.names) == sorted(NAMES)
            whole = DiscreteNetwork(found, "flu", ["fever", "x ray"]).fit()
            ours = DiscreteNetwork(NetworkTables(NAMES, STATES, PARENTS, TABLES), "flu").fit()
            np.testing.assert_allclose(whole.posterior([[2, 1], [0, -1]]), ours.posterior([[2, 1], [0, -1]]))


def test_xdsl_with_what_is_sure(tmp_path: Path) -> None:
    (tmp_path / "flu.xdsl").write_text(XDSL)
    found = read_network(tmp_path / "flu.xdsl")
    assert found.names == ["flu", "fever", "both"]
    np.testing.assert_allclose(found.tables[1], TABLES[1])
    assert found.tables[2][1].tolist() == [[0, 0, 0], [0, 0, 1]]


@pytest.mark.slow_cells(".bif", ".xmlbif")
@pytest.mark.filterwarnings("ignore::FutureWarning")  # about where pgmpy will have what
@pytest.mark.parametrize("ending", [".bif", ".xmlbif", ".xdsl"])
def test_what_pgmpy_writes(tmp_path: Path, ending: str) -> None:
    from pgmpy.readwrite import BIFWriter, XMLBIFWriter

    network = random_network(4, 7)
    theirs = as_pgmpy(network)
    file = tmp_path / f"n{ending}"
    if ending == ".bif":
        BIFWriter(theirs).write(str(file))
    elif ending == ".xdsl":
        from pgmpy.readwrite import XDSLWriter

        XDSLWriter(theirs).write(str(file))
        nodes = file.read_text().split("<cpt")
        file.write_text("<cpt".join([nodes[0], *nodes[-2:0:-1], nodes[-1]]))  # in whatever order they come
    else:
        XMLBIFWriter(theirs).write(str(file))
    model = DiscreteNetwork.from_file(file, "n0", network.names[1:])
    ours = DiscreteNetwork(network, "n0").fit()
    assert model.outcomes_ == ours.outcomes_
    X, _ = ours.sample(50, 0)
    np.testing.assert_allclose(model.posterior(X), ours.posterior(X), atol=1e-6)


HOSTILE = {
    "quote.bif": (BIF.replace('"neg", pos', '"neg, pos'), "a quote is not closed"),
    "comment.bif": (BIF.replace("order */", "order"), "a comment is not closed"),
    "twice.bif": (BIF + "variable flu { type discrete [ 2 ] { a, b }; }", "two variables 'flu'"),
    "stranger.bif": (BIF + "probability ( cold ) { table 1; }", "table of 'cold', which is no variable"),
    "again.bif": (BIF.replace("(no, c)", "(no, b)"), "says again what was said"),
    "whole.bif": (BIF.replace("(no) 0.8 0.15 0.05", "table .8 .1 .1 .2 .1 .7"), "says again what was said"),
    "tables.bif": (BIF + "probability ( flu ) { table 0.9, 0.1; }", "there are two tables"),
    "defaults.bif": (BIF.replace("default 0.9, 0.1;", "default 0.9, 0.1; default 0.9, 0.1;"), "two defaults"),
    "parent.bif": (BIF.replace("(no, b)", "(no)"), "'x ray', in its entry .no., must name a state of each"),
    "type.bif": (BIF.replace("type discrete [ 2 ] { no, yes };", ""), "'flu' must be of the type discrete"),
    "blank.bif": (BIF.replace("no, yes", '"", yes'), "'flu' has a state without a name"),
    "after.bif": (BIF + "variable", "variable or probability must stand"),
    "blank.xml": (XMLBIF.replace("<OUTCOME>no</OUTCOME>", "<OUTCOME/>"), "'flu' has a state without a name"),
    "given.xml": (XMLBIF.replace("<GIVEN>flu</GIVEN><GIVEN>", "<GIVEN/><GIVEN>"), "the parent '', which is no node"),
    "decision.xml": (XMLBIF.replace("nature", "decision", 1), "'flu' is of the type 'decision'"),
    "utility.xml": (XMLBIF.replace("nature", "utility", 1), "'flu' is of the type 'utility'"),
    "variables.xml": (XMLBIF.replace(">fever</NAME>", ">flu</NAME>"), "two variables 'flu'"),
    "definitions.xml": (XMLBIF.replace("<FOR>fever", "<FOR>flu"), "two definitions for 'flu'"),
    "tables.xml": (XMLBIF.replace("</TABLE></DEF", "</TABLE><TABLE>1</TABLE></DEF", 1), "of 'x ray' has TABLE twice"),
    "networks.xml": (XMLBIF.replace("</BIF>", "<NETWORK/></BIF>"), "has NETWORK twice"),
    "attributes.xml": (XMLBIF.replace("[ <!", "[ " + "<!ATTLIST BIF a CDATA ''>" * 101 + " <!"), "more than 100 attr"),
    "blank.xdsl": (XDSL.replace('<state id="no"/>', "<state/>"), "'flu' has a state without a name"),
    "noname.xdsl": (XDSL.replace('<cpt id="flu">', "<cpt>"), "a node has no name"),
    "plate.xdsl": (XDSL.replace('id="fever"', 'id="fever" dynamic="plate"'), "'fever' is of a dynamic network"),
    "dynamic.xdsl": (XDSL.replace("<extensions/>", "<dynamic numslices='3'/>"), "is a dynamic network"),
    "nodes.xdsl": (XDSL.replace('id="fever"', 'id="flu"'), "two nodes 'flu'"),
    "state.xdsl": (XDSL.replace("n n y<", "n n high<"), "'both', in its resulting states, names the state 'high', and"),
    "zero.uai": (UAI.replace("2 3 2", "2 0 2"), "no state"),
    "no.txt": ("BAYES", "a network is a file that ends in .bif"),
    "empty.bif": ("", "no node"),
    "cut.bif": (BIF[:-40], "not closed"),
    "words.bif": (BIF.replace("variable flu ", "variable the flu "), "in quotes if that has blanks, not 'the flu'"),
    "none.bif": (BIF.replace("probability ( flu ) { table 0.9, 0.1; }", ""), "'flu' has no table"),
    "less.bif": (BIF.replace("table 0.9, 0.1", "table 0.9"), "has 1 numbers, not 2"),
    "word.bif": (BIF.replace("table 0.9, 0.1", "table 0.9, __import__('os')"), "'flu'"),
    "part.bif": (BIF.replace("default 0.9, 0.1;", ""), "leaves states of the parents out"),
    "state.bif": (BIF.replace("(no, b)", "(maybe, b)"), "'x ray', in its entry .maybe, b., names the state 'maybe'"),
    "sum.bif": (BIF.replace("table 0.9, 0.1", "table 0.9, 0.3"), "sum to 1"),
    "nan.bif": (BIF.replace("table 0.9, 0.1", "table nan, 0.1"), "leaves states|finite"),
    "many.bif": (BIF.replace("[ 2 ] { no, yes }", "[ 99999999999 ] { no, yes }"), "must list 99999999999 states"),
    "circle.bif": (BIF.replace("( flu ) { table 0.9,", "(flu | fever) { default .9"), "circle"),
    "bomb.xml": ('<!DOCTYPE b [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><BIF>&b;</BIF>', "declares entities"),
    "file.xml": ('<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]><BIF>&a;</BIF>', "declares entities"),
    "not.xml": ("<BIF><NETWORK>", "no element found|unclosed"),
    "other.xml": ("<html/>", "no element NETWORK"),
    "stranger.xml": (XMLBIF.replace("<FOR>flu</FOR>", "<FOR>cold</FOR>"), "'cold', which is no variable"),
    "noisy.xdsl": (XDSL.replace("deterministic", "noisymax"), "turn it into a cpt"),
    "few.xdsl": (XDSL.replace("n n n n n y", "n n y"), "6 resulting states, not 3"),
    "none.xdsl": (XDSL.replace("<parents>flu</parents>", "<parents>cold</parents>"), "'cold', which is no node"),
    "circle.xdsl": (XDSL.replace("<probabilities>0.9", "<parents>both</parents><probabilities>1 0 .9"), "circle"),
    "markov.uai": (UAI.replace("BAYES", "MARKOV"), "must begin with BAYES"),
    "zeros.uai": ("BAYES\n000000000000999999999\n", "a whole number is expected"),
    "huge.uai": ("BAYES\n999999999999999999999\n", "a whole number is expected"),
    "cut.uai": (UAI[:60], "a whole number is expected|not a number|has 4 numbers, not 6"),
    "more.uai": (UAI + " 1 2 3", "something follows"),
    "twice.uai": (UAI.replace("2 0 1\n", "2 1 0\n"), "one table"),
    "wide.uai": ("BAYES\n1\n4000000\n1\n1 0\n0\n", "a whole number is expected"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(tmp_path: Path, name: str) -> None:
    text, words = HOSTILE[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        read_network(tmp_path / name)
    assert name in str(caught.value)
    assert "not in list" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08\x00broken", b"\x1f\x8b", b"\xff\xfe\x00n", gzip.compress(BIF.encode(), mtime=0)[:60]]
)
def test_what_is_no_text(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.bif").write_bytes(content)
    with pytest.raises(ValueError, match="no sound BIF file"):
        read_network(tmp_path / "a.bif")
    with pytest.raises(FileNotFoundError):
        read_network(tmp_path / "absent.bif")


#: Other ways to write the same network.
VARIANTS = {
    "comments.bif": BIF.replace("no, yes }", 'no//no\n, yes// "Yes"\n }').replace("a, b, c", "a/* ; { */,b, c//"[:-2]),
    "braces.bif": BIF.replace("; }\nprob", "; };\nprob").replace("} ;", "};"),
    "space.xml": XMLBIF.replace('VERSION="0.3"', 'VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/XMLBIFv0_3"'),
    "prefix.xml": XMLBIF.replace("</", "</b:").replace("<BIF", '<b:BIF xmlns:b="x"').replace("<NETW", "<b:NETW")
    .replace("<VAR", "<b:VAR").replace("<DEF", "<b:DEF").replace("<NAME", "<b:NAME").replace("<OUT", "<b:OUT")
    .replace("<FOR", "<b:FOR").replace("<GIV", "<b:GIV").replace("<TAB", "<b:TAB"),
    "mixed.xdsl": XMLBIF,
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_what_other_programs_write(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(VARIANTS[name])
    found = read_network(tmp_path / name)
    assert sorted(found.names) == sorted(NAMES)
    assert all(found.states[found.names.index(node)] == states for node, states in zip(NAMES, STATES))


def test_names_that_are_not_in_quotes(tmp_path: Path) -> None:
    """What pgmpy writes so: bars and brackets in a name are its own."""
    text = BIF.replace("no, yes", "a|b, c(d)").replace("(no", "(a|b").replace("(yes", "(c(d)").replace("| flu", "|flu")
    (tmp_path / "flu.bif").write_text(text.replace("fever", "fe|ver"))
    found = read_network(tmp_path / "flu.bif")
    assert found.states[0] == ["a|b", "c(d)"]
    assert found.names[1] == "fe|ver"
    assert found.parents == PARENTS
    np.testing.assert_allclose(found.tables[2], TABLES[2])


def test_xdsl_in_a_file_of_xml(tmp_path: Path) -> None:
    (tmp_path / "flu.xml").write_text(XDSL)
    assert read_network(tmp_path / "flu.xml").names == ["flu", "fever", "both"]


@pytest.mark.parametrize(
    "encoding, declared, word",
    [
        ("windows-1251", "windows-1251", "грипп"),
        ("gb2312", "gb2312", "流感"),
        ("shift_jis", "Shift_JIS", "インフル"),
        ("iso-8859-1", "ISO-8859-1", "grippé"),
        ("utf-8", "utf-8", "grippé"),
        ("utf-8-sig", "utf-8", "grippé"),
        ("utf-8", "US-ASCII", "грипп"),
        ("utf-16", "utf-16", "грипп"),
        ("utf-8", "utf-16", "грипп"),  # as programs do that write what they made in memory
    ],
)
def test_letters_are_those_that_a_file_declares(tmp_path: Path, encoding: str, declared: str, word: str) -> None:
    text = XMLBIF.replace("US-ASCII", declared).replace(">no<", f">{word}<").replace("nature", "&#110;ature")
    (tmp_path / "flu.xml").write_bytes(text.encode(encoding))
    found = read_network(tmp_path / "flu.xml")
    assert found.states[found.names.index("flu")] == [word, "yes"]


def test_letters_that_nobody_declares(tmp_path: Path) -> None:
    text = "// encoding of this is another thing\n" + BIF.replace("no", "нет")
    for encoding in ("utf-8", "utf-16"):
        (tmp_path / "flu.bif").write_bytes(text.encode(encoding))
        assert read_network(tmp_path / "flu.bif").states[0] == ["нет", "yes"]
    for name, content, words in (
        (
            "flu.bif",
            text.encode("windows-1251"),
            "no text in utf-8, write it as UTF-8: 'utf-8' codec can't decode byte",
        ),
        (
            "flu.xml",
            XMLBIF.replace("US-ASCII", "klingon").encode(),
            "no text in klingon, write it as UTF-8: unknown encoding",
        ),
        (
            "flu.xml",
            XMLBIF.replace("US-ASCII", "hex").encode(),
            "no text in hex, write it as UTF-8: 'hex' is not a text encoding",
        ),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=words):
            read_network(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-7", "utf-16"])
def test_no_encoding_hides_an_entity(tmp_path: Path, encoding: str) -> None:
    text = XMLBIF.replace("[ <", '[ <!ENTITY a "no"> <').replace(">no<", ">&a;<")
    content = text.replace("US-ASCII", encoding).encode(encoding)
    if encoding == "utf-7":  # in which signs may be written otherwise, once it is declared
        content = text.replace("US-ASCII", encoding).replace("<!ENTITY", "+ADwAIQ-ENTITY").encode()
    (tmp_path / "flu.xml").write_bytes(content)
    with pytest.raises(ValueError, match=r"holds NUL|declares entities"):
        read_network(tmp_path / "flu.xml")


#: Small files of which another reading makes gigabytes, or hours.
OF_BIF = "".join(f"variable {c} {{ type discrete [ 3 ] {{ x, y, z }}; }}" for c in "abcd")
OF_BIF += "probability (a|b,c,d) { default 1, 0, 0; }" + "".join(f"probability ({c}) {{ table 1 0 0; }}" for c in "bcd")
BOMBS = {
    "digits.uai": ("BAYES 30 " + "500 " * 30, 10_000, "more than 10,000 nodes, states and parents"),
    "default.bif": (OF_BIF, 80, "node 'a' have more than 80 entries"),
    "sure.xdsl": (XDSL, 16, "node 'both' have more than 16 entries"),
    "parents.uai": ("BAYES 2 90 90 2 1 0 2 0 1", 8000, "node 'x1' have more than 8,000 entries"),
    "empty.xml": ("<BIF>" + "<a/>" * 3000 + "</BIF>", 1000, "more than 1,000 nodes"),
    "attributes.xml": ("<BIF " + "".join(f"a{i}='' " for i in range(2000)) + "/>", 1000, "more than 1,000 nodes"),
    "braces.bif": ("variable a { " + "{ } " * 3000 + "}", 1000, "more than 4,000 quotes"),
    "names.bif": (OF_BIF, 10, "more than 10 nodes"),
    "parents.xdsl": (XDSL.replace("flu fever<", "flu fever " * 9 + "<"), 12, "more than 12 nodes"),
}


def set_limits(monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    monkeypatch.setattr(network_tables, "LIMITS", replace(network_tables.LIMITS, **limits))


@pytest.mark.parametrize("name", BOMBS)
def test_what_takes_memory_is_counted_before_it_is_made(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, most, words = BOMBS[name]
    set_limits(monkeypatch, max_names=most, max_numbers=most)
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words):
        read_network(tmp_path / name)


def peak_of_reading(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that it takes at most, but for the room for the text, which is made at once."""
    set_limits(monkeypatch, max_bytes=2**21 + 2**16)
    tracemalloc.start()
    with contextlib.suppress(ValueError):
        read_network(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_defaults_of_a_document_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attribute that is declared with a long default would be there again for every element."""
    text = XMLBIF.replace("[ <!", "[ <!ATTLIST OUTCOME note CDATA '" + "x" * 60_000 + "'> <!")
    text = text.replace("</NETWORK>", "<OUTCOME/>" * 2000 + "</NETWORK>")
    (tmp_path / "flu.xml").write_text(text)
    assert peak_of_reading(tmp_path / "flu.xml", monkeypatch) < 8e6  # 120 MB if they were


def test_a_table_is_made_number_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "BAYES 1 1 1 1 0 1 " + "0.5 " * 500_000
    (tmp_path / "flu.uai.gz").write_bytes(gzip.compress(text.encode(), 1))
    assert peak_of_reading(tmp_path / "flu.uai.gz", monkeypatch) < 12e6  # 30 MB if all words were listed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_before_anybody_writes_to_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "flu.bif")
    with pytest.raises(ValueError, match="is a pipe or a device"):
        read_network(tmp_path / "flu.bif")


def test_a_file_that_unpacks_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, max_bytes=1000)
    (tmp_path / "a.bif.gz").write_bytes(gzip.compress(b" " * 10_000))
    with pytest.raises(ValueError, match="it holds more than"):
        read_network(tmp_path / "a.bif.gz")


def test_any_cut_and_any_slip_is_an_error_or_a_network(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for ending, text in ((".bif", BIF), (".xml", XMLBIF), (".xdsl", XDSL), (".uai", UAI)):
        n_networks = 0
        for _ in range(60):
            letters: Any = list(text)
            for at in rng.integers(0, len(letters), 1).tolist():
                letters[at] = rng.choice(list("{}();|,<>/ 0a\n"))
            file = tmp_path / f"slip{ending}"
            file.write_text("".join(letters[: rng.integers(len(letters))] if rng.random() < 0.3 else letters))
            with contextlib.suppress(ValueError):  # and nothing else
                read_network(file)
                n_networks += 1
        assert 0 < n_networks < 60, ending


def test_states_of_several_words_as_pgmpy_writes_them(tmp_path: Path) -> None:
    """It puts them down without quotes, with commas between, and reads them back."""
    states = [["very bad", "ok"], ["not so good", "good"], ["a", "b c", "d"]]
    table = np.random.default_rng(0).dirichlet(np.ones(3), (2, 2)).transpose(2, 0, 1)
    tables = [np.array([0.3, 0.7]), np.array([[0.2, 0.6], [0.8, 0.4]]), table]
    own = NetworkTables(["c", "d", "e"], states, [[], [0], [0, 1]], tables)
    as_pgmpy(own).save(str(tmp_path / "words.bif"))
    assert '"' not in (tmp_path / "words.bif").read_text()
    found = read_network(tmp_path / "words.bif")
    models = [DiscreteNetwork(one, "c", questions=["d", "e"]).fit() for one in (own, found)]
    assert models[0].outcomes_ == models[1].outcomes_
    rows = [[0, 2], [-1, 1], [1, -1]]
    np.testing.assert_allclose(models[0].posterior(rows), models[1].posterior(rows), atol=1e-12)
    assert sorted(found.states) == sorted(states)
