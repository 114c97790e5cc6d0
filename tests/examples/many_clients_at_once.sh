#!/usr/bin/env bash
# 20 clients at once get their own bytes back.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
num=20
start_server --echo

step "$num clients, up to 2 MB each"
pids=()
for i in $(seq $num); do
  random_file "$work/file$i" $((i * 100003))
  messages=$work/client$i.log start_client --send "$work/file$i" --output "$work/echo$i"
  pids+=("$client_pid")
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a client failed"; done
for i in $(seq $num); do expect_same "$work/file$i" "$work/echo$i"; done
stop_server
[ "$(grep -c 'closed; received' "$work/server.log")" = $num ] || fail "the server did not serve $num clients"

step "$num clients store in one folder"
mkdir "$work/stored"
start_server --receive "$work/stored"
pids=()
for i in $(seq $num); do
  messages=$work/client$i.log start_client --send "$work/file$i"
  pids+=("$client_pid")
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a client failed"; done
stop_server
[ "$(for i in $(seq $num); do sha256sum <"$work/file$i"; done | sort)" = \
  "$(for file in "$work"/stored/*; do sha256sum <"$file"; done | sort)" ] || fail "not the same $num files"
