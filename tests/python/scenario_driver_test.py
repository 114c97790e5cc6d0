"""The driver of scenarios itself: what it must read as tests/conformance/README.md says, and what it must refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes

from scenarios.__main__ import main
from scenarios.forge import Keys, expand_label
from scenarios.form import understand
from scenarios.scenario import BadFile, Case, read_scenarios
from scenarios.tokens import BadLine, Token, cut
from scenarios.wire import Record, records
from support import ROOT, pattern

FOLDER = ROOT / "tests" / "conformance"
STEP = "\nwhen both shake hands\n"


def read(folder: Path, text: str | bytes) -> list[Case]:
    (folder / "some.scn").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_scenarios(folder)[0].cases()


def test_tokens() -> None:
    assert cut('a "b \\"\\\\\\r\\n\\t\\xfF", 12,c\t') == [
        Token("word", "a"),
        Token("string", 'b "\\\r\n\t\xff'),
        Token("comma", ","),
        Token("word", "12"),
        Token("comma", ","),
        Token("word", "c"),
    ]
    assert cut('a"b"c') == [Token("word", "a"), Token("string", "b"), Token("word", "c")]
    assert cut("'\u00a0'")[0].data == b"'\xa0'"
    for wrong in ('"', '"a', '"\\"', '"\\x1"', '"\\q"'):
        with pytest.raises(BadLine):
            cut(wrong)


def test_names_of_cases(tmp_path: Path) -> None:
    text = (
        "Title\nprose: variants: of nothing\n\nvariants: version 1.2, 1.3\nvariants: chunk whole, byte, 7\n"
        'variants: room plenty, 9\nvariants: other Big, "a -- b!"\nvariants: other last\n' + STEP
    )
    names = [case.name for case in read(tmp_path, text)]
    assert len(names) == len(set(names)) == 2 * 3 * 2 * 3
    assert names[:4] == [
        "some.tls12_whole_plenty_big",
        "some.tls12_whole_plenty_a_b_",
        "some.tls12_whole_plenty_last",
        "some.tls12_whole_room_9_big",
    ]
    assert names[-1] == "some.tls13_chunk_7_room_9_last"
    assert [case.name for case in read(tmp_path, "Title\n" + STEP)] == ["some.once"]


def test_values_stand_in_sentences_once(tmp_path: Path) -> None:
    case = read(tmp_path, 'T\n\nvariants: a "<b> \\"x\\""\nvariants: b y\nwhen client <a> < <b> 5 > 4\n')[0]
    with pytest.raises(KeyError):
        case.sentence(case.scenario.lines[0])
    case = read(tmp_path, 'T\n\nvariants: a "<b> \\"x\\""\nvariants: b y\nwhen client <a> <b> 5 > 4 <\n')[0]
    assert case.sentence(case.scenario.lines[0]) == 'client <b> "x" y 5 > 4 <'


def test_comments_are_no_lines_and_and_repeats_the_verb(tmp_path: Path) -> None:
    text = "# c\nT\n# c\n\n# c\n\trepeat: 3\n given\ta client\n  # c\n\nand a server\nthen client is open\nand server is open\n"
    scenario = read(tmp_path, text)[0].scenario
    assert scenario.repeat == 3
    assert [line.verb for line in scenario.lines] == ["given", "given", "then", "then"]
    assert [line.number for line in scenario.lines] == [7, 10, 11, 12]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n" + STEP,
        "Title\n",
        "Title\nprose\nwhen both shake hands\n",
        "T\n\nand both shake hands\n",
        "T\n\nwhen\n",
        "T\n\nnow both shake hands\n",
        "T\n" + STEP + "given a client\n",
        "T\n" + STEP + "variants: version 1.2\n",
        "T\n" + STEP + "repeat: 2\n",
        "T\n\nrepeat: 0\n" + STEP,
        "T\n\nrepeat: often\n" + STEP,
        "T\n\nvariants:\n" + STEP,
        "T\n\nvariants: a\n" + STEP,
        "T\n\nvariants: a b c\n" + STEP,
        "T\n\nvariants: a b,\n" + STEP,
        "T\n\nvariants: a b,, c\n" + STEP,
        'T\n\nvariants: "a" b\n' + STEP,
        'T\n\nvariants: a "b\n' + STEP,
        "T\n\nvariants: a B, b\n" + STEP,
        "T\n\nvariants: a a-b, a--b\n" + STEP,
        "T\n\nvariants: version 1.1\n" + STEP,
        "T\n\nvariants: chunk some\n" + STEP,
        b"T \xff\n" + STEP.encode(),
    ],
)
def test_file_that_does_not_parse_is_refused(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(BadFile, match="some.scn:"):
        read(tmp_path, text)
    assert main(["--in", str(tmp_path), "--list"]) == 2


@pytest.mark.parametrize(
    ("verb", "sentence"),
    [
        ("when", "client decrypts nothing"),
        ("then", "both shake hands"),
        ("given", "client closes"),
        ("given", "the client"),
        ("given", "a client with"),
        ("given", "a client that trusts root and"),
        ("given", "a client that trusts root,"),
        ("given", "a client that judges on 2026-13-01"),
        ("given", 'a client with leaf "server-p256"'),
        ("when", "client encrypts bytes"),
        ("when", "client encrypts bytes 1"),
        ("when", 'client encrypts "a" followed by'),
        ("when", "client encrypts 5 bytes of patterns"),
        ("when", "client flushes -1 bytes"),
        ("when", "the wire to client gets a plain 256 record with nothing"),
        ("then", "client fails with ERR_CLOSED"),
        ("then", "client fails with CLOSE"),
        ("then", "client is open with TLS 1.1"),
        ("then", "alert 1 or reaches server"),
        ("then", 'client decrypts "a" and sees'),
        ("then", "client decrypts"),
    ],
)
def test_sentence_that_has_no_form_is_not_understood(verb: str, sentence: str) -> None:
    assert understand(verb, cut(sentence)) is None


def test_values_of_placeholders() -> None:
    def values(verb: str, sentence: str) -> object:
        known = understand(verb, cut(sentence))
        assert known
        return known[1]

    atoms = 'bytes 00 fF 10 followed by nothing followed by 3 bytes of pattern followed by "by"'
    assert values("when", f"client encrypts {atoms}") == ["client", b"\x00\xff\x10\x3c\x5e\x81by"]
    assert values("then", "server decrypts bytes 01 in place and fails with alert 5") == ["server", b"\x01", True, -1005]
    assert values("then", "alert 1 or 20 reaches client") == [[1, 20], "client"]
    assert values("then", "reasons of client are CERT_EXPIRED, x") == ["client", [b"CERT_EXPIRED", b"x"]]


def test_pattern_begins_as_it_must() -> None:
    assert pattern(8) == pattern(100)[:8] == bytes.fromhex("3c5e81b40c5ec68e")


def test_records_are_cut_by_their_headers() -> None:
    one, two = Record(22, b"\x03\x01", b"abc"), Record(23, b"\x03\x03", b"")
    assert records(one.data + two.data + b"\x17\x03\x03\x00\x02x") == ([one, two], b"\x17\x03\x03\x00\x02x")


def test_keys_are_those_of_rfc_8448() -> None:
    """Section 3: the server's application data."""
    secret = bytes.fromhex("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643")
    assert expand_label(hashes.SHA256(), secret, "key", 16).hex() == "9f02283b6c9c07efc26bb9f2ac92e356"
    assert expand_label(hashes.SHA256(), secret, "iv", 12).hex() == "cf782b88dd83549aadf1e984"
    assert Keys(0x1301, secret).seal(1, 23, bytes(range(50))).hex() == (
        "17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc602dcb501a59a8fcc49c4bf2e5f0a2"
        "1c0047c2abf332540dd032e167c2955d"
    )


def test_run_prints_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "some.scn").write_text("T\n\nvariants: who client, server\n\nwhen both shake hands\nthen <who> saw a retry\n")
    folder = ["--in", str(tmp_path)]
    assert main([*folder, "--run", "some.client"]) == 1
    assert capsys.readouterr().out == "some.scn:6: retry: expected True, got False\n"
    assert main([*folder, "--run", "some.other"]) == 1
    assert main([*folder, "--run-all"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["scenario"], line["variant"], line["result"]) for line in lines] == [
        ("some", "client", "fail"),
        ("some", "server", "fail"),
    ]
    assert main([]) == main(["--in", str(tmp_path)]) == main(["--list", "x"]) == 2
