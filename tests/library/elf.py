#!/usr/bin/env python3
"""elf.py CASE LIBRARY: the shape of the shared library, read with readelf."""

import os
import re
import subprocess
import sys


def readelf(option):
    return subprocess.run(["readelf", "--wide", option, LIBRARY], check=True, capture_output=True, text=True).stdout


def needs_only_libc():
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("-d"))
    others = [name for name in needed if not re.fullmatch(r"libc\.so\.6|ld-linux[\w.-]*\.so\.\d+", name)]
    return f"needs {', '.join(others)}" if others or not needed else ""


def soname_has_the_abi_version():
    soname = re.search(r"\(SONAME\).*\[(.+)\]", readelf("-d"))
    return "" if soname and soname[1] == "libsecurestream.so.0" else f"soname: {soname and soname[1]}"


def relocations_are_read_only():
    dynamic = readelf("-d")
    if "GNU_RELRO" not in readelf("-l"):
        return "no GNU_RELRO segment"
    return "" if re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic) else "not linked with -z now: RELRO is partial"


def stack_is_not_executable():
    stack = re.search(r"GNU_STACK\s.*?\s([RWE ]+)\s+0x\w+$", readelf("-l"), flags=re.M)
    if not stack:
        return "no GNU_STACK segment: the stack becomes executable"
    return "the stack is executable" if "E" in stack[1] else ""


def stays_mapped_after_dlclose():
    return "" if re.search(r"FLAGS_1.*\bNODELETE\b", readelf("-d")) else "not linked with -z nodelete"


def text_has_no_relocations():
    return "TEXTREL" if "TEXTREL" in readelf("-d") else ""


def holds_no_machine_path():
    """Debug information apart, which the install strips: __FILE__ must not tell where the library was built."""
    copy = f"{LIBRARY}.stripped-{os.getpid()}"
    try:
        subprocess.run(["strip", "-o", copy, LIBRARY], check=True)
        with open(copy, "rb") as file:
            found = re.search(rb"(?<![\w.-])/(?:root|home|tmp|work|build)/[\w./-]+", file.read())
    finally:
        os.remove(copy)
    return f"holds {found[0].decode()}" if found else ""


def observes_nothing():
    """What writes the failures that tests met (src/tls/observed) is in the sanitized builds alone."""
    symbols = subprocess.run(["nm", LIBRARY], check=True, capture_output=True, text=True).stdout
    with open(LIBRARY, "rb") as file:
        variable = re.search(rb"SST_TEST_\w+", file.read())
    if re.search(r"sst__observe_failure", symbols):
        return "holds sst__observe_failure"
    return f"holds {variable[0].decode()}" if variable else ""


CASE, LIBRARY = sys.argv[1:]
sys.exit({case.__name__: case for case in (
    needs_only_libc, soname_has_the_abi_version, relocations_are_read_only, stack_is_not_executable,
    stays_mapped_after_dlclose, text_has_no_relocations, holds_no_machine_path,
    observes_nothing)}[CASE]() or 0)
