#!/usr/bin/env bash
# Builds the pinned BoringSSL (see Cargo.toml) once per version, compiler and flags, and prints its prefix on stdout.
#
#   build.sh            build if needed; progress on stderr; the prefix (include/, lib/) on stdout
#   build.sh --print    only print the prefix it would use
#
# The cache lies outside every build tree: $SST_CACHE, else $XDG_CACHE_HOME/securestream, else ~/.cache/securestream.
# CC, CXX, CFLAGS and CXXFLAGS are respected and are part of the cache key (an instrumented build is another entry).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'boringssl: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

version=$(sed -n 's/^boring-sys = "=\(.*\)"$/\1/p' "$here/Cargo.toml")
# A compiler is known by what it says of itself, not by the name it was called: CMake gives full paths.
identity() { "$1" --version 2>/dev/null | sed -n '1s/^[^ ]* //p'; }
key=$(printf '%s\n' "$(identity "${CC:-cc}")" "$(identity "${CXX:-c++}")" "${CFLAGS:-}" "${CXXFLAGS:-}" path-free \
      | cat - "$here/Cargo.lock" | sha256sum | cut -c1-12)
cache=${SST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/securestream}
root=$cache/boringssl-$version-$key
prefix=$root/prefix

if [ "${1:-}" = --print ]; then echo "$prefix"; exit 0; fi
if [ -e "$root/complete" ]; then echo "$prefix"; exit 0; fi

command -v cargo >/dev/null || die "cargo is missing: install Rust 1.85 or later, or give -DBORINGSSL_ROOT=<prefix>"
command -v cmake >/dev/null || die "cmake is missing: run script/build, which installs it into build/venv"
mkdir -p "$root"
exec 9>"$root/lock"
if ! flock -n 9; then
  say "another build of the same version is running; waiting for it"
  flock 9
fi
if [ -e "$root/complete" ]; then echo "$prefix"; exit 0; fi

# bindgen (part of the crate's build) needs libclang; the PyPI wheel has no stddef.h, so the compiler's own is named.
if [ -z "${LIBCLANG_PATH:-}" ]; then
  for python in "$here/../../build/venv/bin/python" python3; do
    found=$("$python" -c 'import clang, os; print(os.path.join(list(clang.__path__)[0], "native"))' 2>/dev/null || true)
    if [ -n "$found" ] && [ -d "$found" ]; then export LIBCLANG_PATH=$found; break; fi
  done
  for folder in /usr/lib/llvm-*/lib; do
    [ -n "${LIBCLANG_PATH:-}" ] || ! ls "$folder"/libclang*.so* >/dev/null 2>&1 || export LIBCLANG_PATH=$folder
  done
fi
[ -n "${LIBCLANG_PATH:-}" ] || die "libclang is missing: run script/build, or pip install libclang, or set LIBCLANG_PATH"
export BINDGEN_EXTRA_CLANG_ARGS="${BINDGEN_EXTRA_CLANG_ARGS:-} -isystem $("${CC:-cc}" -print-file-name=include)"

# BoringSSL's error queue carries __FILE__: without the map the builder's home folder would stand in every library made
# from it. Unique symbols cannot be made local, and would stay visible in the merged static library.
paths="-ffile-prefix-map=$root/target/="
unique=-fno-gnu-unique
"${CXX:-c++}" $unique -x c++ -fsyntax-only /dev/null 2>/dev/null || unique=
export CFLAGS="${CFLAGS:-} $paths" CXXFLAGS="${CXXFLAGS:-} $paths $unique"

rm -rf "$prefix" "$root/target"
mkdir -p "$prefix"
say "building BoringSSL of boring-sys $version (about 5 minutes on 2 cores, once)"
export BORING_BSSL_INSTALL_DIR=$prefix CARGO_TARGET_DIR=$root/target
log=$root/build.log
cargo build --release --locked -vv --manifest-path "$here/Cargo.toml" >"$log" 2>&1 </dev/null 9>&- &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; exit 130' INT TERM
step=
while kill -0 "$pid" 2>/dev/null; do
  sleep 2
  percent=$(grep -o '\[ *[0-9]*%\]' "$log" 2>/dev/null | tail -n 1 || true)
  # One line per tenth: a terminal sees it move, a log stays short.
  now=${percent//[^0-9]/}; now=${now:+$((now / 10))}
  [ -z "$percent" ] || [ "$now" = "$step" ] || { say "$percent"; step=$now; }
done
if ! wait "$pid"; then
  tail -n 40 "$log" >&2
  die "the build failed; the log is $log"
fi
[ -f "$prefix/lib/libssl.a" ] && [ -f "$prefix/lib/libcrypto.a" ] && [ -f "$prefix/include/openssl/ssl.h" ] \
  || die "the build ended without libssl.a, libcrypto.a and headers in $prefix; the log is $log"
rm -rf "$root/target"
touch "$root/complete"
say "done"
echo "$prefix"
