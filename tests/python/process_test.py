"""What only whole processes show: two crypto libraries in one, the end of the interpreter, fork, and lifetimes."""

from __future__ import annotations

import ctypes.util
import gc
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import weakref
from pathlib import Path

import pytest

import securestream as ss
from peers import NAME, NOW, client_config, connections, live_objects, missing, pair, server_config, streams
from securestream import _native

TESTS = Path(__file__).parent


def run(script: str, **environment: str) -> str:
    """Run a script in a process of its own, with the helpers of these tests; it must end with 0."""
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True, timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


OURS_WITH_FOREIGN = """
    def ours():
        for _ in range(20):
            one, two = pair()
            assert two.decrypt(one.encrypt(b"ours"))[0] == b"ours"

    def theirs():
        for _ in range(20):
            context, peer = foreign_client(), foreign_server()
            to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
            one = context.wrap_bio(to_client, to_server, server_hostname=NAME)
            two = peer.wrap_bio(to_server, to_client, server_side=True)
            for _ in range(4):
                for side in (one, two):
                    try:
                        side.do_handshake()
                    except ssl.SSLWantReadError:
                        pass
            one.write(b"theirs")
            assert two.read(100) == b"theirs"

    def across():
        with sockets() as (one, two):
            task = Task(lambda: foreign_server().wrap_socket(two, server_side=True).recv(100))
            client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
            client.sendall(b"across")
            assert task.result() == b"across"
            client.close()

    theirs(); ours(); across(); ours(); theirs()
    tasks = [Task(ours), Task(theirs), Task(ours), Task(theirs)]
    for task in tasks:
        task.result(60)
    print("all fine")
"""
LOADS = {
    "ssl first": "import ssl, hashlib; ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\n",
    "ours first": "import securestream; securestream.Config(verify=securestream.Verify.NONE)\nimport ssl\n",
    "ours RTLD_GLOBAL": "import os, sys; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)\nimport securestream, ssl\n",
    "both RTLD_GLOBAL": "import os, sys; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)\nimport ssl, securestream\n",
    "ours RTLD_DEEPBIND": "import os, sys; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)\nimport securestream\nimport ssl\n",
}


@pytest.mark.parametrize("load", LOADS)
def test_ours_and_openssl_live_in_one_process(load: str) -> None:
    """B01."""
    script = LOADS[load] + "from peers import *\nimport ssl\n" + textwrap.dedent(OURS_WITH_FOREIGN)
    assert run(script) == "all fine\n"


def test_ours_works_with_libcrypto_preloaded() -> None:
    """B01."""
    found = [name for name in map(ctypes.util.find_library, ("crypto", "ssl")) if name]
    if not found:
        missing("the system has no libcrypto")
    script = "from peers import *\nimport ssl\n" + textwrap.dedent(OURS_WITH_FOREIGN)
    assert run(script, LD_PRELOAD=" ".join(found)) == "all fine\n"


def test_module_exports_its_init_function_alone() -> None:
    """B01."""
    listed = subprocess.run(["nm", "-D", "--defined-only", str(_native.__file__)], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__native"]
    needed = subprocess.run(["readelf", "-d", str(_native.__file__)], capture_output=True, text=True, check=True).stdout
    libraries = {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
    assert libraries <= {"libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6"}


def test_package_does_not_load_ssl() -> None:
    run("import securestream, sys; assert not {'ssl', '_ssl', 'hashlib'} & sys.modules.keys(), sys.modules.keys()")


def test_interpreter_ends_with_live_streams_and_a_daemon_thread_that_reads() -> None:
    """B02, B03: objects that live until the end."""
    for _ in range(3):
        out = run("""
            from peers import *
            import threading, time
            with_data = pair()
            begun = streams()
            begun[0].handshake()
            one, two = socket.socketpair()
            client = ss.Connection.client(one, client_config(), NAME, verify_time=NOW)
            server = ss.Connection.server(two, server_config())
            task = Task(server.handshake)
            client.handshake()
            task.result()
            threading.Thread(target=client.recv, args=(10,), daemon=True).start()
            big, room = bytes(1 << 22), bytearray(1 << 23)
            busy, peer = pair()

            def work():
                while True:
                    busy.encrypt_into(big, room)

            threading.Thread(target=work, daemon=True).start()

            def shake():
                while True:
                    pair()

            threading.Thread(target=shake, daemon=True).start()
            time.sleep(0.2)
            print("leaving")
        """)
        assert out == "leaving\n"


def test_exit_without_cleaning_up() -> None:
    """B02."""
    assert run("from peers import *\nkeep = [pair() for _ in range(10)]\nprint('bye', flush=True)\nos = __import__('os')\nos._exit(0)") == "bye\n"
    assert run("from peers import *\nkeep = [pair() for _ in range(10)]\nkeep.append(keep)\nprint('bye')\nimport sys\nsys.exit(0)") == "bye\n"


def test_objects_may_go_in_any_order() -> None:
    """B03."""
    before = live_objects()
    client, server = client_config(), server_config()
    one, two = streams(client, server)
    del client, server
    gc.collect()
    hello, _ = one.handshake()
    gc.collect()
    flight, _ = two.handshake(hello)
    answer, _ = one.handshake(flight)
    two.handshake(answer)
    assert two.decrypt(one.encrypt(b"the config lives with its stream"))[0]
    one.config  # noqa: B018
    del one, two
    assert live_objects() == before


def test_cycle_through_a_stream_is_collected() -> None:
    """B03."""

    class Owner:
        def __init__(self) -> None:
            self.stream = ss.Stream(client_config(), ss.Role.CLIENT, server_name=NAME)
            self.callback = self.answer

        def answer(self) -> ss.Stream:
            return self.stream

    before = live_objects()
    owner = Owner()
    stream, there = weakref.ref(owner.stream), weakref.ref(owner)
    owner.stream.handshake()
    del owner
    gc.collect()
    assert stream() is None and there() is None
    assert live_objects() == before


def test_constructor_that_fails_half_way_leaves_nothing() -> None:
    """B03."""
    before = live_objects()
    for _ in range(10):
        with pytest.raises(ss.ConfigError):
            ss.Stream(client_config(), ss.Role.CLIENT, server_name="no such host")
        with pytest.raises(ss.ConfigError):
            client_config(groups=[29, 1])
        with pytest.raises(ss.ConfigError):
            ss.Credential(b"")
        with pytest.raises(TypeError):
            ss.Stream(client_config(), "client")  # type: ignore[arg-type]
    assert live_objects() == before


def in_child(function: object) -> int:
    """Call a function in a forked child; its exit code. A child that hangs is killed: -9."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        code = 1
        try:
            function()  # type: ignore[operator]
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + 30
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:  # it hangs, maybe before its own alarm was set
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(ended[1])


def echo_ten(client: ss.Connection, server: ss.Connection) -> None:
    for number in range(10):
        client.sendall(b"message %d" % number)
        assert server.recv(100) == b"message %d" % number
        server.sendall(b"answer")
        assert client.recv(100) == b"answer"


def test_forked_child_cannot_use_the_stream_and_the_parent_goes_on() -> None:
    """T04."""
    with connections() as (client, server):
        stream = client.stream

        def use() -> None:
            for call in (lambda: stream.encrypt(b"x"), lambda: stream.decrypt(b"x"), stream.flush, stream.close, stream.input_eof):
                try:
                    call()
                except ss.ForkedError as error:
                    assert error.name == "ERR_FORKED"
                    assert error.progress is None or error.progress.produced == 0
                else:
                    raise AssertionError(call)
            assert stream.version == ss.Version.TLS1_3, "facts can be read"

        assert in_child(use) == 0
        echo_ten(client, server)


@pytest.mark.parametrize("how", ["exit", "collect", "close", "abort", "with"])
def test_forked_child_that_ends_sends_nothing(how: str) -> None:
    """T04: its copy is dropped or closed; the parent's transport stays up."""
    made = connections()
    client, server = made.__enter__()
    before = server.stream.counter(ss.Counter.WIRE_RECEIVED)

    def child() -> None:
        nonlocal client, server
        if how == "collect":
            del client, server
            gc.collect()
        elif how == "close":
            client.close()
            server.close()
        elif how == "abort":
            client.abort()
        elif how == "with":
            with client:
                pass

    assert in_child(child) == 0
    server.settimeout(0.1)
    with pytest.raises(TimeoutError):
        server.recv(1)
    assert server.stream.counter(ss.Counter.WIRE_RECEIVED) == before
    server.settimeout(10)
    echo_ten(client, server)
    made.__exit__(None, None, None)


def test_fork_while_other_threads_are_in_calls() -> None:
    """T04: no lock of a thread that the child does not have is waited for."""
    out = run("""
        from process_test import *
        import threading, time
        busy, _ = pair()
        big, room = bytes(1 << 20), bytearray(1 << 21)
        stop = threading.Event()

        def work():
            while not stop.is_set():
                busy.encrypt_into(big, room)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()

        def child():
            for _ in range(3):
                for data in (b"small", big):
                    try:
                        busy.encrypt_into(data, room)
                    except ss.ForkedError:
                        continue
                    raise AssertionError

        for _ in range(10):
            time.sleep(0.01)
            assert in_child(child) == 0
        stop.set()
        for thread in threads:
            thread.join()
        print("done")
    """)
    assert out == "done\n"


def test_streams_of_parent_and_child_have_different_randoms() -> None:
    """T04: 1,000 each from one config."""
    config = client_config()
    config.freeze(ss.Role.CLIENT)
    count = 1000

    def randoms() -> bytes:
        found = b""
        for _ in range(count):
            hello, _ = ss.Stream(config, ss.Role.CLIENT, server_name=NAME, verify_time=NOW).handshake()
            found += hello[11:43]
        return found

    read, write = os.pipe()
    with socket.socket(), os.fdopen(read, "rb") as source:
        child = os.fork()
        if child == 0:
            with os.fdopen(write, "wb") as target:
                target.write(randoms())
            os._exit(0)
        os.close(write)
        both = randoms() + source.read()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    pieces = {both[start : start + 32] for start in range(0, len(both), 32)}
    assert len(both) == 2 * count * 32 and len(pieces) == 2 * count


def test_subprocess_with_fork_handlers_registered() -> None:
    """T04."""
    out = run("""
        from peers import *
        import os, subprocess, sys
        one, two = pair()
        os.register_at_fork(before=lambda: None, after_in_child=lambda: None, after_in_parent=lambda: None)
        done = subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True, preexec_fn=lambda: None)
        assert done.stdout == "child\\n"
        assert two.decrypt(one.encrypt(b"parent"))[0] == b"parent"
        print("fine")
    """)
    assert out == "fine\n"


