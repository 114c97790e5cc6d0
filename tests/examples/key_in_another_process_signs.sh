#!/usr/bin/env bash
# remote-key-server has no private key: key-signer, another process, makes each signature.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/keys.sh"

# chain_for KEY: a certificate for a key of any kind.
chain_for() {
  openssl req -new -key "$1" -subj /CN=server.test -config <(printf '[req]\ndistinguished_name=dn\n[dn]\n') |
    openssl x509 -req -days 2 -CA "$pki/ca.pem" -CAkey "$pki/ca.key" -set_serial "0x$(openssl rand -hex 8)" \
      -extfile <(printf 'subjectAltName=DNS:server.test\n') 2>/dev/null
}

for kind in "EC -pkeyopt ec_paramgen_curve:P-256" "EC -pkeyopt ec_paramgen_curve:P-384" "RSA -pkeyopt rsa_keygen_bits:2048" ED25519; do
  step "$kind"
  openssl genpkey -algorithm $kind -out "$work/key" 2>/dev/null
  chain_for "$work/key" >"$work/chain.pem"
  start_signer "$work/key"
  start_keyless "$work/chain.pem"
  for version in 1.2 1.3; do visit_with --server-name server.test --max-version $version; done
  end_both
done

step "100 handshakes wait in one thread"
start_signer "$pki/server.key"
start_keyless "$pki/server.pem"
hundred_wait

step "a signer that goes away takes nobody with it but those who wait for it"
kill -STOP "$signer_pid"
messages=$work/waiting.log start_client
within 60 has_text "$work/server.log" "1 handshakes wait" || fail "nobody waits"
kill_at_once "$signer_pid"
code=0
wait "$client_pid" || code=$?
expect_code 4 "without a signer"
expect_text "$work/waiting.log" "alert received: internal_error (80)"
client <<<hello >"$work/answer"
expect_code 4 "the next one"
! has_ended "$server_pid" || fail "the server has ended"

step "a key that is not that of the chain"
kill_at_once "$server_pid"
start_signer "$pki/client.key"
start_keyless "$pki/server.pem"
client <<<hello >"$work/answer"
expect_code 4 "with a wrong signature"
expect_text "$work/client.log" "alert sent: decrypt_error (51)"
end_both
