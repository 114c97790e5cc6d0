#!/usr/bin/env bash
# luajit_echo.sh LIBRARY DATA: examples/luajit/echo.lua, a first user that knows the .so and the header alone. With a
# library that has AddressSanitizer in it, the sanitizers are loaded before it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
library=$1 data=$2
need luajit
# The time at which the certificates of tests/data are good.
run() {
  luajit "$root/examples/luajit/echo.lua" "$library" "$root/abi/securestream.h" "$data/server-p256.pem" \
    "$data/server-p256.key" "$1" server.test 1767225600
}

if readelf -d "$library" | grep -q 'NEEDED.*libasan'; then
  LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
  export LD_PRELOAD ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fi
output=$(run "$data/root.pem") || fail "echo.lua fails"
echo "$output"
[[ $output == *"client: TLS 1.3, "*verified*"echo: 100000 bytes"*"no object is left"* ]] || fail "not the output that was expected"

# It fails, and says why, when it must.
! output=$(run "$data/untrusted-root.pem" 2>&1) || fail "echo.lua trusts a stranger"
[[ $output == *ERR_CERT_ISSUER_NOT_FOUND* ]] || fail "echo.lua does not say why: $output"
