#!/usr/bin/env python3
"""test_catalogue.py PREFIX: codes_met, reasons.py and errors_page find the faults that they are for."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.stem, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


CODES, REASONS, PAGE = (load(ROOT / name) for name in ("tests/library/codes_met", "tests/library/reasons.py",
                                                       "script/errors_page"))


def codes_met(lines):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "codes-1.txt").write_text("".join(f"{code}\t{case}\n" for code, case in lines))
        (folder / "reasons-1.txt").write_text("SSL routines\tBAD_SIGNATURE\t-400\n")
        run = subprocess.run([ROOT / "tests/library/codes_met", folder, folder / "page"], capture_output=True,
                             text=True)
        return run.returncode, run.stdout, (folder / "page").read_text()


def codes():
    table, absent = CODES.table(), CODES.exceptions()
    whole = [(number, "some.case") for name, number in table.items() if name not in absent]
    status, said, page = codes_met(whole)
    assert status == 0 and said.splitlines()[-1] == f"{len(table)} passed, 0 failed, 0 skipped", said
    assert "BAD_SIGNATURE" in page and "PROTOCOL" in page, page
    status, said, _ = codes_met(whole[1:])
    assert status == 1 and "INVALID_ARGUMENT (-100): no test met it" in said, said
    status, said, _ = codes_met([(table["INVALID_ARGUMENT"], "error.calls_it_itself")] + whole[1:])
    assert status == 1 and "INVALID_ARGUMENT (-100): no test met it" in said, said
    status, said, _ = codes_met(whole + [(table[next(iter(absent))], "some.case")])
    assert status == 1 and "take it out" in said, said


def reasons(prefix):
    whole = REASONS.left_out
    assert REASONS.check(prefix) == []
    REASONS.left_out = lambda: ({name: why for name, why in whole()[0].items() if name != "SSL_R_BIO_NOT_SET"}, [])
    assert REASONS.check(prefix) == ["SSL_R_BIO_NOT_SET: neither in failure.c nor in reasons.txt"]
    REASONS.left_out = lambda: (whole()[0] | {"SSL_R_BAD_SIGNATURE": "x" * 9, "SSL_R_NEVER_HEARD_OF": "x" * 9}, [])
    assert REASONS.check(prefix) == ["SSL_R_BAD_SIGNATURE: both in failure.c and in reasons.txt",
                                     "reasons.txt: BoringSSL has no SSL_R_NEVER_HEARD_OF"]


def page():
    text = PAGE.page()
    for name, number, what, *_ in PAGE.rows():
        assert f"| {str(number).replace('-', '−')} | `{name}` | {what} |" in text, name
    assert all(f"−{1000 + number} |" in text for number in PAGE.alerts()[1])
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        PAGE.PAGE = pathlib.Path(name) / "errors.md"
        assert PAGE.main(["--check"]) == 1 and PAGE.main([]) == 0 and PAGE.main(["--check"]) == 0
        PAGE.PAGE.write_text(text.replace("BAD_SIGNATURE", "GOOD_SIGNATURE"))
        assert PAGE.main(["--check"]) == 1


codes()
reasons(sys.argv[1])
page()
