#!/usr/bin/env python3
"""version.py VERSION LIBRARY: the header, the library and the build say the same version."""

import ctypes
import pathlib
import re
import sys

version, path = sys.argv[1:]
major, minor, patch = (int(part) for part in version.split("."))
number = major << 16 | minor << 8 | patch
header = (pathlib.Path(__file__).resolve().parents[2] / "abi/securestream.h").read_text()
in_header = int(re.search(r"SST_VERSION_NUMBER\s*=\s*(\w+)", header)[1], 0)
library = ctypes.CDLL(path)
library.sst_version_number.restype = ctypes.c_uint32
library.sst_version_string.restype = ctypes.c_char_p
found = {
    "header": in_header == number,
    "sst_version_number": library.sst_version_number() == number,
    "sst_version_string": library.sst_version_string() == version.encode(),
}
wrong = [what for what, right in found.items() if not right]
sys.exit(f"not {version}: {', '.join(wrong)}" if wrong else 0)
