#!/usr/bin/env bash
# SIGTERM: close_notify to all clients, exit code 0. A second one does not wait for a client that hangs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

open_client() {
  mkfifo "$work/input$1"
  input=$work/input$1 messages=$work/client$1.log output=$work/answer$1 start_client
}

for signal in TERM INT; do
  step "SIG$signal with three open clients and one in its handshake"
  start_server --echo
  open_client 1$signal; first=$client_pid; exec 5>"$work/input1$signal"; echo one >&5
  open_client 2$signal; second=$client_pid; exec 6>"$work/input2$signal"; echo two >&6
  open_client 3$signal; third=$client_pid; exec 7>"$work/input3$signal"
  exec 8<>/dev/tcp/$address/"$port"
  for i in 1 2; do within 10 test -s "$work/answer$i$signal" || fail "no echo"; done
  third_is_open() { [ "$(grep -c ': TLS 1' "$work/server.log")" = 3 ]; }
  within 10 third_is_open || fail "the third client is not there"
  # A server started by a shell in the background ignores SIGINT until it sets a handler of its own.
  kill -$signal "$server_pid"
  end_server
  for pid in $first $second $third; do wait "$pid" || fail "a client did not see a clean end"; done
  exec 5>&- 6>&- 7>&- 8>&-
done

step "a client that does not answer holds the server up for a second"
start_server --echo
open_client 4; exec 5>"$work/input4"; echo four >&5
within 10 test -s "$work/answer4" || fail "no echo"
kill -STOP "$client_pid"
before=$(date +%s%N)
kill -TERM "$server_pid"
end_server
took=$((($(date +%s%N) - before) / 1000000))
[ $took -ge 800 ] || fail "the client got only $took ms"
[ $took -le 5000 ] || fail "the server took $took ms"
kill -CONT "$client_pid"
exec 5>&-
