#!/usr/bin/env bash
# --key-log: off unless asked for, for its owner only, appended to, whole lines, those that OpenSSL writes of the same
# connection; a file that fails costs no connection (V08).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
hex='[0-9a-f]'

step "no environment variable asks for it"
start_server --echo
SSLKEYLOGFILE=$work/unasked client <<<hello >/dev/null
expect_code 0 "echo"
[ ! -e "$work/unasked" ] || fail "SSLKEYLOGFILE was read"

step "two connections: ten whole lines, appended, with two client randoms"
umask 000
echo "# of another program" >"$work/keys"
chmod 600 "$work/keys"
for _ in 1 2; do
  client --key-log "$work/keys" <<<hello >/dev/null
  expect_code 0 "echo"
done
[ "$(head -n 1 "$work/keys")" = "# of another program" ] || fail "the file was written anew"
lines="^(CLIENT|SERVER)_(HANDSHAKE_TRAFFIC_SECRET|TRAFFIC_SECRET_0) $hex{64} ($hex{64}|$hex{96})\$|^EXPORTER_SECRET $hex{64} ($hex{64}|$hex{96})\$"
[ "$(grep -cE "$lines" "$work/keys")" = 10 ] || fail "not ten lines of the NSS format"
[ "$(wc -l <"$work/keys")" = 11 ] || fail "other lines"
[ "$(tail -n +2 "$work/keys" | cut -d ' ' -f 2 | sort -u | wc -l)" = 2 ] || fail "not one client random for each connection"

step "a new file is for its owner only, whatever the umask"
client --key-log "$work/fresh" <<<hello >/dev/null
[ "$(stat -c %a "$work/fresh")" = 600 ] || fail "mode $(stat -c %a "$work/fresh")"

step "a full device costs no connection; an unusable path is told before there is one"
client --key-log /dev/full <<<hello >"$work/answer"
expect_code 0 "with a full device"
[ "$(cat "$work/answer")" = hello ] || fail "the answer is another one"
client --key-log "$work/no/such/folder" <<<hello >/dev/null
expect_code 1 "with an unusable path"
expect_text "$work/client.log" "$work/no/such/folder"
stop_server

# start_openssl ARGUMENT…: an OpenSSL server that serves one client; sets port.
start_openssl() {
  : >"$work/openssl.log"
  openssl s_server -accept 127.0.0.1:0 -naccept 1 -cert "$pki/server.pem" -key "$pki/server.key" -rev "$@" \
    </dev/null >"$work/openssl.log" 2>&1 &
  started+=("$!")
  within 60 has_text "$work/openssl.log" "ACCEPT" || fail "openssl s_server does not start"
  port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' "$work/openssl.log")
}

for version in 1.2 1.3; do
  step "TLS $version: the lines that OpenSSL writes of the same connection"
  start_openssl "-tls${version/./_}" -keylogfile "$work/openssl_$version"
  client --key-log "$work/ours_$version" <<<hello >"$work/answer"
  expect_code 0 "against OpenSSL"
  [ "$(cat "$work/answer")" = olleh ] || fail "OpenSSL answers something else"
  [ -s "$work/ours_$version" ] || fail "nothing was written"
  cmp <(sort "$work/ours_$version") <(grep -v '^#' "$work/openssl_$version" | sort) || fail "the lines differ"
done
