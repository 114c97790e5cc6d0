#!/usr/bin/env bash
# A server that requires client certificates takes a good one, and refuses none and one of another issuer, plainly.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

start_server --echo --ca "$pki/ca.pem"
for version in 1.2 1.3; do
  step "TLS $version: a good certificate"
  client --cert "$pki/client.pem" --key "$pki/client.key" --max-version $version <<<hello >"$work/answer"
  expect_code 0 "with a certificate"
  [ "$(cat "$work/answer")" = hello ] || fail "the echo is another text"

  step "TLS $version: no certificate"
  # A TLS 1.3 client has finished its handshake when the server looks: it learns of the refusal when it reads.
  client --max-version $version <<<hello >"$work/answer"
  expect_code 4 "without a certificate"
  [ ! -s "$work/answer" ] || fail "there is an answer"
  expect_text "$work/client.log" "the peer refused us"
  case $version in 1.2) alert="handshake_failure (40)" ;; 1.3) alert="certificate_required (116)" ;; esac
  expect_text "$work/client.log" "alert received: $alert"
  within_text "$work/server.log" ERR_PEER_CERT_REQUIRED
done
stop_server

step "a certificate of another issuer"
start_server --echo --ca "$pki/other-ca.pem"
client --cert "$pki/client.pem" --key "$pki/client.key" <<<hello >"$work/answer"
expect_code 4 "with the wrong certificate"
expect_text "$work/client.log" "alert received: unknown_ca (48)"
within_text "$work/server.log" ERR_CERT_ISSUER_NOT_FOUND
stop_server
