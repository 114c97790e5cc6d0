#!/usr/bin/env bash
# A server at its limit of open files waits without spinning, and serves the clients in its queue when others have gone.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
num=20
max_files=16 start_server --echo

step "$num clients that stay, with descriptors for fewer"
pids=()
holders=()
for i in $(seq $num); do
  mkfifo "$work/input$i"
  input=$work/input$i messages=$work/client$i.log output=$work/answer$i start_client
  pids+=("$client_pid")
  exec {holder}>"$work/input$i"
  holders+=("$holder")
  echo "client $i" >&"$holder"
done
within_text "$work/server.log" "cannot accept for now"

before=$(spent)
sleep 2
now=$(spent)
step "$((now - before)) hundredths of a second of processor time in 2 seconds of waiting"
[ $((now - before)) -le 50 ] || fail "the server spins"

step "all are served when the first have gone"
for holder in "${holders[@]}"; do exec {holder}>&-; done
for pid in "${pids[@]}"; do wait "$pid" || fail "a client failed"; done
for i in $(seq $num); do [ "$(cat "$work/answer$i")" = "client $i" ] || fail "client $i got another echo"; done
stop_server
