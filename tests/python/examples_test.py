"""The examples and the README do what they say, among themselves and with the programs of examples/c."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from peers import ROOT, missing

EXAMPLES = ROOT / "examples" / "python"
C_FOLDERS = [ROOT / "build" / preset / "examples" / "c" for preset in ("release", "dev")]
SERVER = {"Python": [sys.executable, str(EXAMPLES / "server.py")]}
CLIENT = {"Python": [sys.executable, str(EXAMPLES / "client.py")]}
for folder in C_FOLDERS:
    if (folder / "secure-server").exists() and (folder / "secure-client").exists():
        SERVER["C"], CLIENT["C"] = [str(folder / "secure-server")], [str(folder / "secure-client")]
        break


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pki")
    subprocess.run([ROOT / "script" / "throwaway_pki", made], check=True, capture_output=True)
    return made


@contextmanager
def server(kind: str, pki: Path, *arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    if kind not in SERVER:
        missing("examples/c are not built")
    command = [*SERVER[kind], "--cert", pki / "server.pem", "--key", pki / "server.key", "--once", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        try:
            yield process, line.strip().rpartition(":")[2]
            process.wait(30)
        finally:
            process.kill()


def client(kind: str, pki: Path, port: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    if kind not in CLIENT:
        missing("examples/c are not built")
    command = [*CLIENT[kind], "--ca", pki / "ca.pem", *arguments, "127.0.0.1", port]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


PAIRS = [("Python", "Python"), ("Python", "C"), ("C", "Python")]
SIZES = [0, 1, 5_000_011]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("sender", "receiver"), PAIRS)
def test_file_goes_from_client_to_server(pki: Path, tmp_path: Path, sender: str, receiver: str, size: int) -> None:
    source, stored = tmp_path / "source", tmp_path / "stored"
    source.write_bytes(os.urandom(size))
    with server(receiver, pki, "--receive", stored) as (process, port):
        done = client(sender, pki, port, "--send", source)
        assert done.returncode == 0, done.stderr
    assert process.returncode == 0
    assert stored.read_bytes() == source.read_bytes()
    assert sorted(tmp_path.iterdir()) == [source, stored]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("receiver", "sender"), PAIRS)
def test_file_goes_from_server_to_client(pki: Path, tmp_path: Path, receiver: str, sender: str, size: int) -> None:
    source, stored = tmp_path / "source", tmp_path / "stored"
    source.write_bytes(os.urandom(size))
    with server(sender, pki, "--send", source) as (process, port):
        done = client(receiver, pki, port, "--output", stored, "--summary")
        assert done.returncode == 0, done.stderr
        assert "TLS 1.3" in done.stderr
    assert process.returncode == 0
    assert stored.read_bytes() == source.read_bytes()


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_echo_of_a_large_file_does_not_hang(pki: Path, tmp_path: Path, one: str, two: str) -> None:
    source, stored = tmp_path / "source", tmp_path / "stored"
    source.write_bytes(os.urandom(20_000_000))
    with server(two, pki, "--echo") as (process, port):
        done = client(one, pki, port, "--send", source, "--output", stored)
        assert done.returncode == 0, done.stderr
    assert process.returncode == 0
    assert stored.read_bytes() == source.read_bytes()


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_client_certificate_is_asked_for_and_given(pki: Path, tmp_path: Path, one: str, two: str) -> None:
    stored = tmp_path / "stored"
    with server(two, pki, "--receive", stored, "--ca", pki / "ca.pem") as (process, port):
        done = client(one, pki, port, "--send", pki / "ca.pem", "--cert", pki / "client.pem", "--key", pki / "client.key")
        assert done.returncode == 0, done.stderr
    assert process.returncode == 0 and stored.exists()
    with server(two, pki, "--receive", tmp_path / "never", "--ca", pki / "ca.pem") as (process, port):
        done = client(one, pki, port, "--send", pki / "ca.pem")
        assert done.returncode == 4, done.stderr
        assert "certificate_required" in done.stderr
    assert process.returncode == 2 and not (tmp_path / "never").exists()


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_peer_that_is_not_trusted_is_refused(pki: Path, one: str, two: str) -> None:
    with server(two, pki, "--echo") as (process, port):
        done = client(one, pki, port, "--server-name", "other.test")
        assert done.returncode == 3 and "other.test" in done.stderr
        for part in ("ERR_CERT_NAME_MISMATCH", "what to do: ", "certificates that were sent: 1" if one == "Python" else ""):
            assert part in done.stderr
    assert process.returncode == 2


def test_client_without_ca_trusts_the_issuers_of_the_system(pki: Path) -> None:
    for bundle, expected in (("ca.pem", 0), ("other-ca.pem", 3)):
        with server("Python", pki, "--echo") as (_, port):
            command = [*CLIENT["Python"], "127.0.0.1", port]
            environment = os.environ | {"SSL_CERT_FILE": str(pki / bundle), "SSL_CERT_DIR": ""}
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            assert done.returncode == expected, done.stderr


def test_file_that_is_cut_off_is_not_kept(pki: Path, tmp_path: Path) -> None:
    """The client is killed in the middle: what came is not all, whatever TCP says."""
    source, stored = tmp_path / "source", tmp_path / "stored"
    os.mkfifo(source)
    with server("Python", pki, "--receive", stored) as (process, port):
        command: list[str | Path] = [*CLIENT["Python"], "--ca", pki / "ca.pem", "--send", source, "127.0.0.1", port]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as sender, open(source, "wb") as pipe:
            pipe.write(bytes(500_000))
            pipe.flush()
            while not list(tmp_path.glob("stored.*")) or not next(tmp_path.glob("stored.*")).stat().st_size:
                pass
            sender.kill()
        assert process.wait(30) == 2
        assert process.stderr and "close_notify" in process.stderr.read()
    assert not stored.exists() and not list(tmp_path.glob("*.part"))


def test_memory_pair_says_what_each_side_reads(pki: Path) -> None:
    command: list[str | Path] = [sys.executable, EXAMPLES / "memory_pair.py", pki / "server.pem", pki / "server.key", pki / "ca.pem", "server.test"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "TLS 1.3" in lines[0] and lines[2:] == ["server reads: hello over memory", "client reads: HELLO OVER MEMORY"]


@pytest.mark.parametrize("readme", ["README.md", "bindings/python/README.md"])
def test_example_of_the_readme_runs(pki: Path, tmp_path: Path, readme: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / readme).read_text(), flags=re.M | re.S)
    if not blocks and readme == "README.md":
        pytest.skip("README.md has no Python yet")
    (tmp_path / "example.py").write_text(blocks[0])
    command: list[str | Path] = [sys.executable, tmp_path / "example.py", pki / "server.pem", pki / "server.key", pki / "ca.pem"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("hello over TLS 1.3")
