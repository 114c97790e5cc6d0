#!/usr/bin/env bash
# The private key of remote-key-server is made in a PKCS#11 token (SoftHSM) and never leaves it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/keys.sh"
command -v softhsm2-util >/dev/null || skip "softhsm2-util is missing (Debian: softhsm2)"
command -v pkcs11-tool >/dev/null || skip "pkcs11-tool is missing (Debian: opensc)"
module=$(find /usr/lib -name libsofthsm2.so 2>/dev/null | head -n 1)
[ -n "$module" ] || skip "libsofthsm2.so is missing"
openssl engine pkcs11 >/dev/null 2>&1 || skip "OpenSSL has no engine pkcs11 (Debian: libengine-pkcs11-openssl)"

mkdir "$work/tokens"
printf 'directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n' "$work/tokens" >"$work/softhsm2.conf"
export SOFTHSM2_CONF=$work/softhsm2.conf PKCS11_MODULE_PATH=$module
softhsm2-util --init-token --free --label test --so-pin 4321 --pin 1234 >"$work/token.log" || fail "no token can be made"

# token_key LABEL KIND: makes a key in the token that cannot be read, and a certificate for it.
token_key() {
  pkcs11-tool --module "$module" --token-label test --login --pin 1234 --keypairgen --key-type "$2" --label "$1" \
    --id "$3" --usage-sign --private >>"$work/token.log" 2>&1 || fail "the token makes no key of type $2"
  uri="pkcs11:token=test;object=$1;type=private;pin-value=1234"
  openssl req -new -engine pkcs11 -keyform engine -key "$uri" -subj /CN=server.test \
    -config <(printf '[req]\ndistinguished_name=dn\n[dn]\n') 2>>"$work/token.log" |
    openssl x509 -req -days 2 -CA "$pki/ca.pem" -CAkey "$pki/ca.key" -set_serial "0x$(openssl rand -hex 8)" \
      -extfile <(printf 'subjectAltName=DNS:server.test,IP:127.0.0.1\n') 2>>"$work/token.log" >"$work/$1.pem"
}

number=1
for kind in EC:prime256v1 EC:secp384r1 rsa:2048; do
  step "$kind"
  token_key "key$number" $kind "0$number"
  start_signer "$uri"
  start_keyless "$work/key$number.pem"
  for version in 1.2 1.3; do visit_with --max-version $version; done
  end_both
  number=$((number + 1))
done
[ -z "$(grep -rl 'PRIVATE KEY' "$work/tokens" || true)" ] || fail "a key lies in the clear"

step "100 handshakes wait for the token in one thread"
start_signer "pkcs11:token=test;object=key1;type=private;pin-value=1234"
start_keyless "$work/key1.pem"
hundred_wait
end_both
