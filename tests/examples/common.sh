# Shared by the tests of the examples: `source common.sh` with the folder of the programs as $1.
#
#   work, pki                 a fresh folder, and throw-away certificates below it
#   start_server ARGUMENT…    starts secure-server; sets server_pid, port; its messages go to $work/server.log; with
#                             max_files=N it may have so many files open
#   client ARGUMENT…          runs secure-client against it, with --ca; sets code; its messages go to $work/client.log
#   expect_code N WHAT        the last client's exit code
#   expect_text FILE TEXT     FILE has a line with TEXT
#   end_server [CODE]         waits until the server has ended by itself
#
# Whatever was started is ended and the folder removed when the script ends.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$1
address=127.0.0.1
work=$(mktemp -d)
pki=$work/pki
started=()

cleanup() {
  local code=$? pid
  set +e
  for pid in ${started[@]+"${started[@]}"}; do kill -CONT "$pid" 2>/dev/null; kill -KILL "$pid" 2>/dev/null; done
  wait
  [ "$code" = 0 ] || [ "$code" = 77 ] || show_logs
  rm -rf "$work"
  exit "$code"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

show_logs() {
  local log
  for log in "$work"/*.log; do [ ! -s "$log" ] || { echo "--- ${log##*/}"; tail -n 40 "$log"; }; done >&2
}
step() { echo "- $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() {
  echo "skipped: $1"
  [ "${CI:-}" = true ] && exit 1
  exit 77
}

# within SECONDS COMMAND…: repeats the command until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.05; done
}
has_text() { grep -qF -- "$2" "$1" 2>/dev/null; }
# Processor time that the server has spent, in hundredths of a second.
spent() { awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 100 / hz) }' "/proc/$server_pid/stat"; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }

start_server() {
  : >"$work/server.out"
  (
    [ -z "${max_files:-}" ] || ulimit -n "$max_files"
    exec "$programs/secure-server" --cert "$pki/server.pem" --key "$pki/server.key" --bind "$address" "$@"
  ) >"$work/server.out" 2>"$work/server.log" &
  server_pid=$!
  started+=("$server_pid")
  within 60 has_text "$work/server.out" "listening on" || fail "the server does not start"
  port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/server.out")
}

end_server() {
  within 60 has_ended "$server_pid" || fail "the server does not end"
  local ended=0
  wait "$server_pid" || ended=$?
  [ "$ended" = "${1:-0}" ] || fail "the server's exit code is $ended instead of ${1:-0}"
}

kill_at_once() {
  kill -KILL "$1"
  wait "$1" 2>/dev/null || true
}

stop_server() {
  kill -TERM "$server_pid"
  end_server
}

client() {
  code=0
  timeout 120 "$programs/secure-client" --ca "$pki/ca.pem" "$@" "$address" "$port" 2>"$work/client.log" || code=$?
}

# The same in the background: sets client_pid. input=FILE, output=FILE, messages=FILE in front of it redirect; a FIFO
# must be opened by the background process, for that waits for its other end. Of what the script holds open the client
# inherits nothing: it would keep a FIFO or a connection of another client open.
start_client() {
  (
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      [ "$fd" -le 2 ] || exec {fd}>&-
    done
    exec "$programs/secure-client" --ca "$pki/ca.pem" "$@" "$address" "$port"
  ) <"${input:-/dev/null}" >"${output:-/dev/null}" 2>"${messages:-$work/client.log}" &
  client_pid=$!
  started+=("$client_pid")
}

expect_code() { [ "$code" = "$1" ] || fail "$2: the client's exit code is $code instead of $1"; }
expect_text() { has_text "$1" "$2" || fail "${1##*/} does not say '$2'"; }
within_text() { within 60 has_text "$1" "$2" || fail "${1##*/} does not say '$2'"; }
expect_same() {
  local a b
  a=$(sha256sum <"$1") b=$(sha256sum <"$2")
  [ "$a" = "$b" ] || fail "${1##*/} and ${2##*/} differ"
}

random_file() { head -c "$2" /dev/urandom >"$1"; }

command -v openssl >/dev/null || skip "the openssl command is missing"
"$root/script/throwaway_pki" "$pki"
