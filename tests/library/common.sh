# Shared by the checks of this folder.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH="$root/build/venv/bin:$PATH"

# A missing tool is a skipped test; in CI it is a failure.
skip() {
  echo "skipped: $1"
  [ "${CI:-}" = true ] && exit 1
  exit 77
}
need() { command -v "$1" >/dev/null || skip "$1 is missing"; }
fail() { echo "$1" >&2; exit 1; }
