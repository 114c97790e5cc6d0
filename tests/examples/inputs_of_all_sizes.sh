#!/usr/bin/env bash
# Standard input, nothing at all, one byte, and the sizes around a record; --once and exit codes.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for size in 0 1 16383 16384 16385 66836 66837 1000000; do
  step "$size bytes"
  random_file "$work/file" $size
  start_server --receive "$work/stored" --once
  client --send "$work/file"
  expect_code 0 "sending $size bytes"
  end_server
  expect_same "$work/file" "$work/stored"
  start_server --echo --once
  # A pipe at both ends.
  client < <(cat "$work/file") > >(cat >"$work/echo")
  expect_code 0 "echo of $size bytes"
  end_server
  within 5 cmp -s "$work/file" "$work/echo" || fail "the echo differs"
  start_server --send "$work/file" --once
  client --output "$work/back" </dev/null
  expect_code 0 "receiving $size bytes"
  end_server
  expect_same "$work/file" "$work/back"
done

step "standard input at its end at once, standard output kept"
start_server --echo --once
client </dev/null >"$work/answer"
expect_code 0 "no input"
end_server
[ ! -s "$work/answer" ] || fail "there is an answer"

step "standard input closed"
start_server --echo --once
client <&- >"$work/answer"
expect_code 0 "closed input"
end_server

step "--once tells when its client failed"
start_server --echo --once
client --ca "$pki/other-ca.pem" <<<x
expect_code 3 "wrong issuer"
end_server 2
