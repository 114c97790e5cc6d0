# Shared by the scripts: `source "$(dirname "$0")/lib.sh"`. Sets SST_ROOT, puts build/venv/bin in front of PATH.
#
#   python_tools            cmake, ninja, swig, clang-format, libclang of script/requirements.txt in build/venv
#   debian_tools COMMAND…   installs what lacks with apt-get when root; names what is still missing and goes on
#   say TEXT…, die TEXT…    progress and the last word, on stderr
#   build_preset PRESET     configures and builds build/PRESET, tools and BoringSSL included
#   run_ctest PRESET ARG…   runs ctest with progress and adds to SST_PASSED, SST_FAILED, SST_SKIPPED
#   add_total LINE          adds a line "N passed, N failed, N skipped" to these sums
#   print_total             prints them as the last line, and before it, on stderr, which tests failed and how their
#                           output ended; false when something failed
#
# A tool that is missing in the end costs skipped tests; with CI=true it is a failure.
set -euo pipefail
SST_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH="$SST_ROOT/build/venv/bin:$PATH"
export PYTHONDONTWRITEBYTECODE=1
SST_PASSED=0 SST_FAILED=0 SST_SKIPPED=0
# The scripts that a script runs add to its file, and the outermost one shows it.
if [ -z "${SST_FAILURES:-}" ]; then
  mkdir -p "$SST_ROOT/build"
  export SST_FAILURES=$SST_ROOT/build/failures.$$
  SST_SHOWS_FAILURES=1
  rm -f "$SST_FAILURES"
fi

say() { printf '== %s\n' "$*" >&2; }
die() { printf '== %s\n' "$*" >&2; exit 1; }

python_tools() {
  local venv=$SST_ROOT/build/venv wanted stamp
  stamp=$venv/installed
  wanted=$(sha256sum <"$SST_ROOT/script/requirements.txt")
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  mkdir -p "$SST_ROOT/build"
  exec 8>"$SST_ROOT/build/venv.lock"
  flock 8
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    command -v python3 >/dev/null || die "python3 (3.9 or later) is missing: install it with the system's packages"
    if ! [ -x "$venv/bin/pip" ]; then
      say "making build/venv"
      make_venv "$venv"
    fi
    say "installing the tools of script/requirements.txt into build/venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$SST_ROOT/script/requirements.txt" >&2 \
      || die "pip could not install script/requirements.txt: is the Python package index reachable?"
    printf '%s\n' "$wanted" >"$stamp"
  fi
  exec 8>&-
  hash -r
}

make_venv() {
  python3 -m venv --clear "$1" >/dev/null 2>&1 && return
  apt_install python3-venv || true
  python3 -m venv --clear "$1" >&2 || die "python3 has no venv: install python3-venv with the system's packages"
}

apt_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  say "apt-get install $*"
  # No answer may be asked for, and nothing that the scripts print may be mixed with apt's talk.
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 ||
    { apt-get update -qq >/dev/null 2>&1 &&
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }
}

# The Debian package of a command (or, with a slash, of a file below /usr/include; or of a library).
debian_package() {
  case $1 in
    abidw) echo abigail-tools ;;
    gnutls-serv | gnutls-cli) echo gnutls-bin ;;
    java) echo openjdk-17-jdk-headless ;;
    node) echo nodejs ;;
    openssl/ssl.h) echo libssl-dev ;;
    clang-14) echo clang-14 ;;
    softhsm2-util) echo softhsm2 ;;
    pkcs11-tool) echo opensc ;;
    pkcs11.so) echo libengine-pkcs11-openssl ;;
    cc | gcc | g++) echo build-essential ;;
    *) echo "$1" ;;
  esac
}

have() {
  case $1 in
    *.so) [ -n "$(find /usr/lib -name "$1" -print -quit 2>/dev/null)" ] ;;
    */*) [ -n "$(find /usr/include -path "*/$1" -print -quit 2>/dev/null)" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

debian_tools() {
  local tool packages=() missing=()
  for tool; do have "$tool" || packages+=("$(debian_package "$tool")"); done
  [ ${#packages[@]} -eq 0 ] || apt_install "${packages[@]}" || true
  hash -r
  for tool; do have "$tool" || missing+=("$tool (Debian: $(debian_package "$tool"))"); done
  [ ${#missing[@]} -eq 0 ] || { printf '== missing, tests that need it are skipped: %s\n' "${missing[@]}" >&2; return 0; }
}

# What every build needs; without it there is no point in going on.
build_tools() {
  local tool
  for tool in cc c++; do command -v "$tool" >/dev/null || apt_install build-essential || die "$tool is missing: install gcc and g++"; done
  python_tools
  command -v cargo >/dev/null || [ -n "${BORINGSSL_ROOT:-}" ] ||
    [ -e "$(dirname "$("$SST_ROOT/cmake/boringssl/build.sh" --print)")/complete" ] ||
    die "cargo is missing: BoringSSL is built from a crate. Install Rust 1.85 or later, or set BORINGSSL_ROOT=<prefix>"
}

build_preset() {
  build_tools
  cd "$SST_ROOT"
  say "configuring $1"
  # Its talk is wanted only when something fails; the progress of BoringSSL's build comes on stderr.
  local log=$SST_ROOT/build/configure-$1.log
  cmake --preset "$1" >"$log" || { cat "$log" >&2; die "configuring $1 failed"; }
  say "building $1"
  cmake --build --preset "$1" >&2 || die "building $1 failed"
}

# run_ctest PRESET CTEST_ARGUMENT…
run_ctest() {
  local preset=$1 junit=$SST_ROOT/build/$1/ctest-$RANDOM.xml
  shift
  (cd "$SST_ROOT/build/$preset" && ctest --output-on-failure --no-tests=ignore --output-junit "$junit" \
    -j "$(nproc)" "$@" | grep --line-buffered -v '^ *Start ') >&2 || true
  [ -s "$junit" ] || die "ctest left no result for $preset"
  add_total "$(python3 "$SST_ROOT/script/junit_total.py" "$junit" "$SST_FAILURES")"
  rm -f "$junit"
}

# Passes its input on, and shows it on stderr. (tee with a process substitution may print after the last line.)
show() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line"
    printf '%s\n' "$line" >&2
  done
}

add_total() {
  local from="${BASH_SOURCE[1]#"$SST_ROOT"/} line ${BASH_LINENO[0]}"
  if ! [[ $1 =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    printf 'failed: %s: no total, but "%s"\n' "$from" "$1" >>"$SST_FAILURES"
    SST_FAILED=$((SST_FAILED + 1))
    return
  fi
  [ "${BASH_REMATCH[2]}" = 0 ] || printf 'failed: %s: %s\n' "$from" "$1" >>"$SST_FAILURES"
  SST_PASSED=$((SST_PASSED + BASH_REMATCH[1]))
  SST_FAILED=$((SST_FAILED + BASH_REMATCH[2]))
  SST_SKIPPED=$((SST_SKIPPED + BASH_REMATCH[3]))
}

print_total() {
  if [ -n "${SST_SHOWS_FAILURES:-}" ]; then
    [ ! -s "$SST_FAILURES" ] || cat "$SST_FAILURES" >&2
    rm -f "$SST_FAILURES"
  fi
  printf '%d passed, %d failed, %d skipped\n' "$SST_PASSED" "$SST_FAILED" "$SST_SKIPPED"
  [ "$SST_FAILED" -eq 0 ] && [ "$SST_PASSED" -gt 0 ]
}
