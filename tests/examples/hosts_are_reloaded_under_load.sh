#!/usr/bin/env bash
# sni-server chooses by name among files that are replaced while four clients come and go: no connection fails, and each
# new file is in force at once.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
hosts=$work/hosts
mkdir "$hosts"

# make FILE SUBJECT NAME…: chain and key in one file.
make() {
  local file=$1 subject=$2 names
  shift 2
  names=$(printf ',DNS:%s' "$@")
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key" -subj "/CN=$subject" \
    -config <(printf '[req]\ndistinguished_name=dn\n[dn]\n') -out "$work/csr" 2>/dev/null
  openssl x509 -req -sha256 -days 2 -in "$work/csr" -CA "$pki/ca.pem" -CAkey "$pki/ca.key" \
    -set_serial "0x$(openssl rand -hex 8)" -extfile <(printf 'subjectAltName=%s\n' "${names#,}") 2>/dev/null >"$file"
  cat "$work/key" >>"$file"
}
# replace FILE HOST: at once, as a file that is half written would not be.
replace() {
  cp "$1" "$hosts/.new"
  mv "$hosts/.new" "$hosts/$2.pem"
}
serial_of() { openssl x509 -noout -serial -in "$1"; }
# serial_at NAME: of the certificate that the server shows now; empty: none.
serial_at() {
  timeout 60 openssl s_client -connect "$address:$port" -servername "$1" </dev/null 2>/dev/null |
    openssl x509 -noout -serial 2>/dev/null || true
}
expect_served() { [ "$(serial_at "$1")" = "$(serial_of "$2")" ] || fail "$1 is not served from ${2##*/}"; }

for host in a.test b.test default; do
  for generation in 1 2 3; do make "$work/$host.$generation" "$host $generation" "$host" default.test; done
  replace "$work/$host.1" "$host"
done

"$programs/sni-server" "$hosts" >"$work/server.out" 2>"$work/server.log" &
server_pid=$!
started+=("$server_pid")
within 60 has_text "$work/server.out" "listening on" || fail "the server does not start"
port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/server.out")

step "each name has its own file, in any case; others have the default's"
expect_served a.test "$work/a.test.1"
expect_served B.Test "$work/b.test.1"
expect_served c.test "$work/default.1"
cp "$work/a.test.1" "$work/outside.pem"
expect_served ../outside "$work/default.1"

# visit NUMBER NAME: connects until all is done; each visit leaves a line.
visit() {
  local code
  while [ ! -e "$work/done" ]; do
    code=0
    timeout 60 "$programs/secure-client" --ca "$pki/ca.pem" --server-name "$2" "$address" "$port" \
      <<<"hello $1" >"$work/echo$1" 2>"$work/visit$1.log" || code=$?
    [ "$code" = 0 ] && [ "$(cat "$work/echo$1")" = "hello $1" ] && echo good >>"$work/visits$1" && continue
    echo "exit code $code" >>"$work/failures"
    cat "$work/visit$1.log" >>"$work/failures"
  done
}
step "four clients, and 33 new files"
visitors=()
for i in 1 2 3 4; do
  case $i in [12]) name=a.test ;; 3) name=b.test ;; 4) name=default.test ;; esac
  visit $i $name &
  visitors+=($!)
  started+=($!)
done
for round in $(seq 11); do
  for host in a.test b.test default; do
    replace "$work/$host.$((round % 3 + 1))" "$host"
    expect_served "$host" "$work/$host.$((round % 3 + 1))"
  done
done

step "a file that cannot be used does no harm, and the next one counts again"
head -c 300 "$work/a.test.2" >"$work/cut"
replace "$work/cut" a.test
expect_served a.test "$work/a.test.3"
expect_text "$work/server.log" "a.test cannot be used: the one before it serves on"
replace "$work/a.test.1" a.test
expect_served a.test "$work/a.test.1"
touch "$work/done"
wait "${visitors[@]}"
[ ! -e "$work/failures" ] || { cat "$work/failures" >&2; fail "a connection failed"; }
for i in 1 2 3 4; do [ "$(wc -l <"$work/visits$i")" -ge 5 ] || fail "client $i came only $(wc -l <"$work/visits$i") times"; done

step "no file, no default: the client is told"
rm "$hosts/default.pem"
client --server-name default.test <<<hello >"$work/answer"
expect_code 4 "a name without a file"
expect_text "$work/client.log" "alert received: unrecognized_name (112)"
kill_at_once "$server_pid"
