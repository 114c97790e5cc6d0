#!/usr/bin/env bash
# A file goes from a client to a server, back from the server, and through an echo. $2: the address to use.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
address=$2
[ "$address" != ::1 ] || grep -q '^0*1 ' /proc/net/if_inet6 2>/dev/null || { echo 'skipped: this machine has no IPv6'; exit 77; }
random_file "$work/file" 5000011

for version in 1.2 1.3; do
  step "TLS $version: client to server on $address"
  start_server --receive "$work/stored" --once --min-version $version --max-version $version
  client --send "$work/file" --summary
  expect_code 0 "sending"
  end_server
  expect_same "$work/file" "$work/stored"
  expect_text "$work/client.log" "TLS $version"
  expect_text "$work/client.log" "peer verified"

  step "TLS $version: server to client"
  start_server --send "$work/stored" --once --min-version $version
  client --output "$work/back" --max-version $version </dev/null
  expect_code 0 "receiving"
  end_server
  expect_same "$work/file" "$work/back"

  step "TLS $version: echo"
  start_server --echo --once
  client --send "$work/file" --output "$work/echo" --max-version $version
  expect_code 0 "echo"
  end_server
  expect_same "$work/file" "$work/echo"
  rm "$work/stored" "$work/back" "$work/echo"
done
[ -z "$(find "$work" -name '*.part')" ] || fail "a partial file is left"
