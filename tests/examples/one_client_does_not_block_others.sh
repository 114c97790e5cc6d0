#!/usr/bin/env bash
# A client that stops to read, one that says nothing, one that sends half a record: others are served meanwhile, and the
# silent ones are timed out.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
random_file "$work/small" 100000
# Far more than what the sockets between both can hold.
random_file "$work/large" 30000000

others_are_served() {
  client --send "$work/small" --output "$work/echo"
  expect_code 0 "another client"
  expect_same "$work/small" "$work/echo"
}

step "a client stops in the middle of a transfer: others go on"
start_server --echo
messages=$work/stopped.log start_client --send "$work/large" --output "$work/large_echo"
stopped=$client_pid
started_writing() { [ -n "$(find "$work" -name 'large_echo.*.part' -size +0)" ]; }
within 60 started_writing || fail "the transfer does not start"
kill -STOP "$stopped"
[ "$(stat -c %s "$work"/large_echo.*.part)" -lt 30000000 ] || fail "the client was done before it could be stopped"
others_are_served
others_are_served
before=$(spent)
sleep 1
now=$(spent)
step "$((now - before)) hundredths of a second of processor time in a second of waiting for it"
[ $((now - before)) -le 25 ] || fail "the server spins"

step "it goes on where it was"
kill -CONT "$stopped"
wait "$stopped" || fail "the stopped client fails"
expect_same "$work/large" "$work/large_echo"
stop_server

step "one client says nothing, one sends half a record, one stops to read: others go on, and these are timed out"
start_server --echo --timeout-ms 2000
exec 3<>/dev/tcp/$address/"$port" 4<>/dev/tcp/$address/"$port"
printf '\x16\x03\x01\x02\x00\x01\x00' >&4
messages=$work/stopped.log start_client --send "$work/large" --output "$work/large_echo"
stopped=$client_pid
within 60 started_writing || fail "the transfer does not start"
kill -STOP "$stopped"
others_are_served
both_timed_out() { [ "$(grep -c 'timed out in the handshake' "$work/server.log")" = 2 ]; }
within 60 both_timed_out || fail "not both silent clients were timed out"
within_text "$work/server.log" "timed out: silent for too long"
timeout 10 cat <&3 >/dev/null || fail "the silent client's connection is still open"
exec 3>&- 4>&-

step "the one that stopped must see that its echo was cut"
kill -CONT "$stopped"
code=0
wait "$stopped" || code=$?
expect_code 5 "the stopped client"

step "a client that is silent after its handshake gets close_notify"
mkfifo "$work/input"
input=$work/input messages=$work/idle.log output=$work/answer start_client
exec 5>"$work/input"
echo before >&5
wait "$client_pid" || fail "the idle client ends with $?"
[ "$(cat "$work/answer")" = before ] || fail "the echo is another text"
exec 5>&-
stop_server
