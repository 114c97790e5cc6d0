"""The package as it is shipped, and the checks that guard the border between Python and C."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import securestream as ss
from peers import ROOT
from securestream import _native

INSTALLED = Path(ss.__file__).parent
SOURCE = ROOT / "bindings" / "python" / "securestream"


def test_package_has_its_types_and_one_module_file() -> None:
    assert (INSTALLED / "py.typed").is_file() and (INSTALLED / "_native.pyi").is_file()
    assert [path.name for path in INSTALLED.iterdir() if path.suffix == ".so"] == ["_native.abi3.so"]
    assert ss.__version__ == _native.sst_version_string()


def test_installed_facade_is_that_of_the_tree() -> None:
    """Else all other tests would look at something old."""
    for path in [*SOURCE.glob("*.py"), *SOURCE.glob("*.pyi")]:
        assert (INSTALLED / path.name).read_bytes() == path.read_bytes(), path.name


def test_version_is_that_of_the_project() -> None:
    assert f'version = "{ss.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"VERSION {ss.__version__}" in (ROOT / "CMakeLists.txt").read_text()


def test_module_names_no_path_of_the_machine() -> None:
    data = Path(str(_native.__file__)).read_bytes()
    for folder in (str(ROOT), os.path.expanduser("~") + "/"):
        assert folder.encode() not in data


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_source_is_small_and_imports_no_ssl(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert "ssl" not in names


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_what_is_public_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "the module"
    if path.name.startswith("_") and path.name != "__init__.py":
        return
    missing = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    # Enumerations and plain names of facts explain themselves.
    plain = {"Role", "Version", "Profile", "ChainDigest", "State", "EventKind", "Direction", "Counter"}
    plain |= {"state", "info", "version", "facts", "counter", "alert", "alert_name", "fileno", "gettimeout", "getpeername", "getsockname", "close"}
    assert set(missing) <= plain


def checked(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, tree / "script" / "check_bindings_python"], capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("abi", "script", "bindings/python"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return tmp_path


def test_check_bindings_is_content(tree: Path) -> None:
    done = checked(tree)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "pattern", "replacement", "expected"),
    [
        ("abi/securestream.i", r"\(const uint8_t \*pem, size_t pem_len\), ", "", "sst_trust_load_pem takes or gives an untyped pointer"),
        ("abi/securestream.i", r"%apply \(uint16_t \*GET_NUMBERS[^;]*;", "", "sst_stream_accepted_schemes takes or gives an untyped"),
        ("abi/securestream.i", r"%apply \(const sst_slice[^;]*;", "", "sst_stream_encryptv takes or gives an untyped pointer"),
        ("abi/securestream.i", r"%apply sst_stream \*\*NEW_STREAM[^;]*;", "", "sst_stream_new takes or gives an untyped pointer"),
        ("bindings/python/securestream.i", r"FILLED\(event\)", "", "sst_stream_next_event takes or gives an untyped pointer"),
        ("bindings/python/securestream.i", r"(%include \"\.\./)", r"%ignore sst_stream_alpn;\n\1", "sst_stream_alpn is not bound"),
        ("bindings/python/native/calls.c", r'"sst_trust_free"', '"sst_trust_fre"', "sst_trust_free is not bound"),
        ("abi/securestream.h", r"SST_API sst_status sst_stream_alpn", "SST_API void sst_stream_more(sst_stream *stream, uint8_t *bytes);\n"
         "SST_API sst_status sst_stream_alpn", "sst_stream_more takes or gives an untyped pointer"),
        ("bindings/python/securestream/_native.pyi", r"def sst_stream_alpn.*\n", "", "_native.pyi is old"),
    ],
)
def test_check_bindings_sees_what_it_must(tree: Path, file: str, pattern: str, replacement: str, expected: str) -> None:
    path = tree / file
    text, changes = re.subn(pattern, replacement, path.read_text())
    assert changes
    path.write_text(text)
    done = checked(tree)
    assert done.returncode != 0 and expected in done.stdout, done.stdout + done.stderr
