"""Networks in files: what pgmpy writes, what other programs write, and what nobody should."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from network_cases import as_pgmpy, random_network

from seqclass.bn import DiscreteNetwork, NetworkTables
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
    "no.txt": ("BAYES", "a network is a file that ends in .bif"),
    "empty.bif": ("", "no node"),
    "cut.bif": (BIF[:-40], "not closed"),
    "none.bif": (BIF.replace("probability ( flu ) { table 0.9, 0.1; }", ""), "'flu' has no table"),
    "less.bif": (BIF.replace("table 0.9, 0.1", "table 0.9"), "has 1 numbers, not 2"),
    "word.bif": (BIF.replace("table 0.9, 0.1", "table 0.9, __import__('os')"), "'flu'"),
    "part.bif": (BIF.replace("default 0.9, 0.1;", ""), "leaves states of the parents out"),
    "state.bif": (BIF.replace("(no, b)", "(maybe, b)"), "'maybe' is not in list"),
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
    "huge.uai": ("BAYES\n999999999999999999999\n", "a whole number is expected"),
    "cut.uai": (UAI[:60], "a whole number is expected|not a number"),
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


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08\x00broken", b"\x1f\x8b", b"\xff\xfe\x00n", gzip.compress(BIF.encode(), mtime=0)[:60]]
)
def test_what_is_no_text(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.bif").write_bytes(content)
    with pytest.raises(ValueError, match="no sound BIF file"):
        read_network(tmp_path / "a.bif")
    with pytest.raises(FileNotFoundError):
        read_network(tmp_path / "absent.bif")


def test_a_file_that_unpacks_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqclass.bn.network_tables.MAX_SIZE", 1000)
    (tmp_path / "a.bif.gz").write_bytes(gzip.compress(b" " * 10_000))
    with pytest.raises(ValueError, match="it holds more than"):
        read_network(tmp_path / "a.bif.gz")


def test_any_cut_and_any_slip_is_an_error_or_a_network(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for ending, text in ((".bif", BIF), (".xml", XMLBIF), (".xdsl", XDSL), (".uai", UAI)):
        for _ in range(60):
            letters: Any = list(text)
            for at in rng.integers(0, len(letters), 2).tolist():
                letters[at] = rng.choice(list("{}();|,<>/ 0a\n"))
            file = tmp_path / f"slip{ending}"
            file.write_text("".join(letters[: rng.integers(len(letters))] if rng.random() < 0.3 else letters))
            with contextlib.suppress(ValueError):  # and nothing else
                read_network(file)


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
