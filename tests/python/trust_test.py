"""Trust: its forms, revocation lists, and the system's store, which a client without trust uses and a server never."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import securestream as ss
from peers import DATA, ROOT, client_config, credential, data, pair, pem, refused, server_config, streams, trust


def test_anchors_come_in_each_form_and_count_once() -> None:
    assert len(ss.TrustStore(der=[data("roots.der")])) == 2
    assert len(ss.TrustStore(pem("root"), der=[data("roots.der")], crls=[data("crl-both.der")])) == 2
    files = ss.TrustStore.from_files(DATA / "root.pem", der=[str(DATA / "roots.der")], crls=[DATA / "crl-root.pem"])
    assert len(files) == 2
    assert pair(client_config(trust=ss.TrustStore(der=[data("roots.der")])))[0].is_verified


def test_one_buffer_where_a_list_is_wanted_is_a_type_error() -> None:
    for wrong in ("root.der", Path("root.der")):
        with pytest.raises(TypeError, match="lists of"):
            ss.TrustStore.from_files(der=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="lists of"):
        ss.TrustStore(crls=data("crl-both.der"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("store", "code"),
    [
        (lambda: ss.TrustStore(b"nothing"), "ERR_NO_CERTIFICATE"),
        (lambda: ss.TrustStore(pem("root")[:-40]), "ERR_PARSE"),
        (lambda: ss.TrustStore(der=[data("roots.der")[:-1]]), "ERR_PARSE"),
        (lambda: ss.TrustStore(crls=[b"nothing"]), "ERR_PARSE"),
        (lambda: ss.TrustStore(crls=[data("crl-both.der")[:-1]]), "ERR_PARSE"),
        (lambda: ss.TrustStore(crls=[pem("root")]), "ERR_PARSE"),
    ],
)
def test_trust_that_cannot_be_loaded_says_why(store: object, code: str) -> None:
    assert callable(store)
    with pytest.raises(ss.ConfigError) as caught:
        store()
    assert caught.value.name == code and caught.value.hint


ROOT_LIST = data("crl-root.pem")


@pytest.mark.parametrize(
    ("crls", "code"),
    [
        ([data("crl-both.der")], "ERR_CERT_REVOKED"),
        ([ROOT_LIST, data("crl-intermediate-revokes.pem")], "ERR_CERT_REVOKED"),
        ([data("crl-root-revokes.pem"), data("crl-intermediate.pem")], "ERR_CERT_REVOKED"),
        ([ROOT_LIST], "ERR_CERT_CRL"),
        ([data("crl-intermediate.pem")], "ERR_CERT_CRL"),
        ([ROOT_LIST, data("crl-intermediate-expired.pem")], "ERR_CERT_CRL"),
        ([ROOT_LIST, data("crl-intermediate-future.pem")], "ERR_CERT_CRL"),
        ([ROOT_LIST, data("crl-wrong-signer.pem")], "ERR_CERT_CRL"),
    ],
)
def test_revocation_lists_are_checked_when_given(crls: list[bytes], code: str) -> None:
    error = refused(client_config(trust=ss.TrustStore(pem("root"), crls=crls)), server_config("server-revoked"))
    assert error.name == code
    good = client_config(trust=ss.TrustStore(pem("root"), crls=[ROOT_LIST, data("crl-intermediate.pem")]))
    assert pair(good, server_config("server-revoked"))[0].is_verified


def test_server_checks_the_lists_for_its_clients() -> None:
    store = ss.TrustStore(pem("client-root"), crls=[data("crl-client-root-revokes.pem")])
    server = server_config(trust=store, client_certificate=ss.ClientCertificate.REQUIRE)
    flight, _ = (side := streams(client_config(credentials=credential("client-p256")), server))[0].handshake()
    flight, _ = side[0].handshake(side[1].handshake(flight)[0])
    with pytest.raises(ss.CertificateError) as caught:
        side[1].handshake(flight)
    assert caught.value.name == "ERR_CERT_REVOKED" and caught.value.alert_sent == 44


def test_partial_chain_ends_at_an_intermediate() -> None:
    closed = client_config(trust=ss.TrustStore(pem("intermediate")))
    assert refused(closed, server_config()).name == "ERR_CERT_ISSUER_NOT_FOUND"
    client, _ = pair(client_config(trust=ss.TrustStore.from_files(DATA / "intermediate.pem", partial_chain=True)))
    assert client.verified_chain == client.peer_certificates


def test_verified_chain_ends_at_the_anchor() -> None:
    client, server = pair(
        client_config(credentials=credential("client-p256")),
        server_config("server-chain", trust=trust("client-root"), client_certificate=ss.ClientCertificate.REQUIRE),
    )
    assert client.verified_chain[:-1] == client.peer_certificates
    assert len(client.verified_chain) == 4 and len(server.verified_chain) == 2
    assert pair(client_config(verify=ss.Verify.NONE))[0].verified_chain == ()


def system(tmp_path: Path, program: str, **environment: str | Path) -> None:
    """Run a program in a process of its own, for which the system's store is another one."""
    head = "import securestream as ss\nfrom peers import *\n"
    path = f"{ROOT / 'tests' / 'python'}"
    done = subprocess.run(
        [sys.executable, "-c", head + program],
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **{name: str(value) for name, value in environment.items()}},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_client_without_trust_takes_the_issuers_of_the_system(tmp_path: Path) -> None:
    program = """
with ss.listen(("127.0.0.1", 0), server_config(), verify_time=NOW) as listener:
    def serve():
        with listener.accept()[0] as connection:
            connection.sendall(connection.recv(5))
    for config in (None, ss.Config(), ss.Config(trust=ss.TrustStore.system())):
        task = Task(serve)
        with ss.connect(listener.address, config, server_name=NAME, timeout=10, verify_time=NOW) as connection:
            connection.sendall(b"hello")
            assert connection.recv(5) == b"hello"
            assert connection.verified_chain[-1:] == der_chain("root")
        task.result()
assert refused(ss.Config(), server_config("server-untrusted")).name == "ERR_CERT_ISSUER_NOT_FOUND"
"""
    system(tmp_path, program, SSL_CERT_FILE=DATA / "root.pem")


def test_server_never_takes_them(tmp_path: Path) -> None:
    """Not even where a client of the same config has taken them before."""
    program = """
both = server_config(client_certificate=ss.ClientCertificate.REQUIRE, verify=ss.Verify.CHAIN_ONLY)
assert pair(both, server_config())[0].is_verified
for role in (ss.Role.SERVER, ss.Role.BOTH):
    with pytest.raises(ss.ConfigError) as caught:
        both.freeze(role)
    assert caught.value.name == "ERR_NO_TRUST"
with pytest.raises(ss.ConfigError):
    ss.Stream(both, ss.Role.SERVER)
"""
    system(tmp_path, program, SSL_CERT_FILE=DATA / "root.pem")


def test_store_of_the_system_is_read_once_and_shared(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(pem("root") + pem("client-root"))
    program = """
from pathlib import Path
start = ss.live_objects()
tasks = [Task(ss.TrustStore.system) for _ in range(8)]
stores = {id(task.result()) for task in tasks}
assert len(stores) == 1 and len(ss.TrustStore.system()) == 2
Path("bundle.pem").unlink()
streams = [ss.Stream(ss.Config(), ss.Role.CLIENT, server_name=NAME) for _ in range(3)]
assert ss.live_objects() - start == 1 + 3 * 4  # the store; for each a config, its ring, its copy with the store, and a stream
child = os.fork()
if child == 0:
    os._exit(len(ss.TrustStore.system()))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
both = ss.TrustStore(pem("untrusted-root"), system=False)
assert len(both) == 1
"""
    system(tmp_path, program, SSL_CERT_FILE=bundle)


def test_system_beside_own_anchors(tmp_path: Path) -> None:
    program = """
assert len(ss.TrustStore(pem("untrusted-root"), system=True)) == 2
assert len(ss.TrustStore.from_files(DATA / "untrusted-root.pem", DATA / "root.pem", system=True)) == 2
"""
    system(tmp_path, program, SSL_CERT_FILE=DATA / "root.pem")


def test_system_without_a_store_names_the_way_out(tmp_path: Path) -> None:
    """And the next call tries again."""
    program = """
with pytest.raises(ss.SystemCallError) as caught:
    ss.Stream(ss.Config(), ss.Role.CLIENT, server_name=NAME)
import errno
assert isinstance(caught.value, OSError) and caught.value.errno == errno.ENOENT
for part in (os.environ["SSL_CERT_FILE"], "trust=TrustStore", "SSL_CERT_FILE"):
    assert part in str(caught.value), str(caught.value)
open("empty.pem", "w").close()
os.environ["SSL_CERT_FILE"] = "empty.pem"
with pytest.raises(ss.ConfigError, match="trust=TrustStore") as caught:
    ss.connect(("127.0.0.1", 1))
assert caught.value.name == "ERR_NO_CERTIFICATE"
ss.Stream(ss.Config(verify=ss.Verify.NONE), ss.Role.CLIENT)
os.environ["SSL_CERT_FILE"] = str(DATA / "root.pem")
assert pair(ss.Config())[0].is_verified
"""
    system(tmp_path, program, SSL_CERT_FILE=tmp_path / "missing.pem")
