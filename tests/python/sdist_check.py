"""sdist_check.py FILE: the sdist holds what the build needs, and no more."""

import sys
import tarfile

NEEDED = {
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "CMakeLists.txt",
    "PKG-INFO",
    "abi/securestream.h",
    "abi/securestream.i",
    "abi/securestream.map",
    "cmake/boringssl/Cargo.lock",
    "cmake/boringssl/build.sh",
    "bindings/python/README.md",
    "bindings/python/securestream.i",
    "bindings/python/native/calls.c",
    "bindings/python/securestream/py.typed",
    "bindings/python/securestream/_native.pyi",
    "src/stream.c",
    "src/tls/engine.c",
}
FOLDERS = {"abi", "bindings", "cmake", "src"}

with tarfile.open(sys.argv[1]) as archive:
    names = {name.partition("/")[2] for name in archive.getnames()}
missing = NEEDED - names
unwanted = {name for name in names if "/" in name and name.split("/")[0] not in FOLDERS or name.startswith("bindings/go")}
if missing or unwanted:
    sys.exit(f"sdist: missing {sorted(missing)}, unwanted {sorted(unwanted)}")
