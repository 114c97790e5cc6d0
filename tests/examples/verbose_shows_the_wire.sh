#!/usr/bin/env bash
# --verbose shows flights and records: each flight is one write. --key-log writes what Wireshark reads, for its owner.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
start_server --echo --verbose --key-log "$work/keys_server"
client --verbose --key-log "$work/keys_client" <<<hello >"$work/answer"
expect_code 0 "echo"

step "the client's flights: ClientHello, then Finished, each in one write"
sed 's/^/    /' "$work/client.log"
expect_text "$work/client.log" "bytes handshake: handshake"
[ "$(grep -c -- '-> .* bytes handshake:' "$work/client.log")" = 2 ] || fail "not two flights from the client"
[ "$(grep -c -- '-> .* bytes handshake:' "$work/server.log")" = 1 ] || fail "not one flight from the server"
expect_text "$work/client.log" "the peer's alert: close_notify"

step "the key logs: the same five lines on both sides, readable by their owner only"
stop_server
for file in keys_server keys_client; do
  [ "$(wc -l <"$work/$file")" = 5 ] || fail "$file has not five lines"
  [ "$(stat -c %a "$work/$file")" = 600 ] || fail "$file has another mode than 600"
done
cmp <(sort "$work/keys_server") <(sort "$work/keys_client") || fail "the key logs differ"
