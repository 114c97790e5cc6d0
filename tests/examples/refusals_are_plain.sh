#!/usr/bin/env bash
# A client that does not trust its server says why: message, code, all reasons; and the server hears of it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
start_server --echo --alpn echo

step "an issuer that is not trusted"
client --ca "$pki/other-ca.pem" <<<secret >"$work/answer"
expect_code 3 "wrong issuer"
expect_text "$work/client.log" "refused, the peer is not trusted: "
expect_text "$work/client.log" "code ERR_CERT_ISSUER_NOT_FOUND (-500)"
expect_text "$work/client.log" "alert sent: unknown_ca (48)"
expect_text "$work/client.log" "what to do: let the peer send its intermediate certificates"
[ ! -s "$work/answer" ] || fail "there is an answer"
within_text "$work/server.log" "alert received: unknown_ca (48)"

step "another name"
client --server-name other.test <<<secret >"$work/answer"
expect_code 3 "wrong name"
expect_text "$work/client.log" "code ERR_CERT_NAME_MISMATCH (-530)"
expect_text "$work/client.log" "other.test"
expect_text "$work/client.log" "server.test"

step "both at once: both are told"
client --ca "$pki/other-ca.pem" --server-name other.test <<<secret >"$work/answer"
expect_code 3 "wrong issuer and name"
expect_text "$work/client.log" "reason ERR_CERT_ISSUER_NOT_FOUND"
expect_text "$work/client.log" "reason ERR_CERT_NAME_MISMATCH"

step "the right name: given, or that of the host"
client --server-name server.test <<<fine >"$work/answer"
expect_code 0 "right name"
if getent ahosts localhost >/dev/null 2>&1; then
  code=0
  timeout 60 "$programs/secure-client" --ca "$pki/ca.pem" localhost "$port" <<<fine >"$work/answer" 2>"$work/client.log" || code=$?
  expect_code 0 "localhost"
fi

step "--insecure verifies nothing and says so"
code=0
timeout 60 "$programs/secure-client" --insecure --summary $address "$port" <<<fine >"$work/answer" 2>"$work/client.log" || code=$?
expect_code 0 "--insecure"
expect_text "$work/client.log" "is not verified"
! has_text "$work/client.log" "peer verified" || fail "--insecure claims that the peer is verified"

step "no protocol in common"
client --alpn other <<<x >"$work/answer"
expect_code 4 "ALPN"
expect_text "$work/client.log" "alert received: no_application_protocol (120)"
client --alpn other --alpn echo --summary <<<x >"$work/answer"
expect_code 0 "ALPN"
expect_text "$work/client.log" "ALPN echo"

step "no version in common"
stop_server
start_server --echo --min-version 1.3
client --max-version 1.2 <<<x >"$work/answer"
expect_code 4 "version"
expect_text "$work/client.log" "alert received: protocol_version (70)"

step "a peer that does not speak TLS"
exec 3<>/dev/tcp/$address/"$port"
printf 'GET / HTTP/1.0\r\n\r\n' >&3
within_text "$work/server.log" ERR_NOT_TLS
exec 3>&-

step "a server that says nothing"
kill -STOP "$server_pid"
client --timeout-ms 300 <<<x
expect_code 6 "a silent server"
expect_text "$work/client.log" "timed out in the handshake"
kill -CONT "$server_pid"

step "nobody there"
stop_server
client <<<x
expect_code 2 "no server"
expect_text "$work/client.log" "cannot connect"

step "wrong command lines and files"
for arguments in "" "--no-such-option a 1" "--min-version 1.1 a 1" "--cert x a 1" "--insecure --ca x a 1" "--ca $work/none a 1"; do
  code=0
  "$programs/secure-client" $arguments 2>"$work/client.log" </dev/null || code=$?
  expect_code 1 "secure-client $arguments"
  [ -s "$work/client.log" ] || fail "secure-client $arguments says nothing"
done
refused_at_start() {
  code=0
  timeout 10 "$programs/secure-server" "${@:2}" >"$work/server.out" 2>"$work/server.log" || code=$?
  [ $code = 1 ] || fail "secure-server ${*:2} ends with $code"
  expect_text "$work/server.log" "$1"
}
refused_at_start ERR_KEY_MISMATCH --cert "$pki/server.pem" --key "$pki/client.key" --echo
refused_at_start ERR_NO_CERTIFICATE --cert "$root/README.md" --key "$pki/server.key" --echo
refused_at_start ERR_BAD_VERSION --cert "$pki/server.pem" --key "$pki/server.key" --echo --min-version 1.3 --max-version 1.2
refused_at_start "cannot listen" --cert "$pki/server.pem" --key "$pki/server.key" --echo --bind 192.0.2.1
refused_at_start "not a file" --cert "$pki/server.pem" --key "$pki/server.key" --send "$work"
