#!/usr/bin/env bash
# A connection that breaks off is never taken for a whole one: no file appears, and both sides say so.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

step "the client is killed in the middle"
start_server --receive "$work/stored"
mkfifo "$work/input"
input=$work/input start_client
victim=$client_pid
exec 5>"$work/input"
head -c 300000 /dev/urandom >&5
much_has_come() { [ -n "$(find "$work" -name 'stored.*.part' -size +100k)" ]; }
within 10 much_has_come || fail "the data do not come"
kill_at_once "$victim"
within_text "$work/server.log" ERR_TRUNCATED
exec 5>&-
stop_server
[ ! -e "$work/stored" ] || fail "the cut file has its name"
[ -z "$(find "$work" -name '*.part')" ] || fail "a partial file is left"

step "the server is killed in the middle"
random_file "$work/file" 50000000
start_server --send "$work/file"
# A reader that stops: the server cannot be done with so large a file.
mkfifo "$work/output"
output=$work/output start_client
victim=$client_pid
exec 6<"$work/output"
head -c 100000 <&6 >/dev/null
kill_at_once "$server_pid"
cat <&6 >/dev/null
code=0
wait "$victim" || code=$?
exec 6<&-
expect_code 5 "a server that was killed"
expect_text "$work/client.log" "the connection broke off"

step "the same into a file: it does not appear"
start_server --send "$work/file" --verbose
start_client --output "$work/back"
victim=$client_pid
within 10 has_text "$work/server.log" "data:" || fail "no data was sent"
kill_at_once "$server_pid"
code=0
wait "$victim" || code=$?
if [ $code = 0 ]; then
  expect_same "$work/file" "$work/back" # it was faster than the signal
else
  expect_code 5 "a server that was killed"
  [ ! -e "$work/back" ] || fail "the cut file has its name"
fi
