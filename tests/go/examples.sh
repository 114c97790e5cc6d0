# The part of tests/go/run that runs the examples, against those in C too.

programs=$work/bin
c_programs=$SST_ROOT/build/go-release/examples/c
mkdir -p "$programs"
say "building the examples"
go -C examples/go build -o "$programs/" ./... || { SST_FAILED=$((SST_FAILED + 1)); say "the examples do not build"; }
have openssl && script/throwaway_pki "$work/pki"
head -c 5000011 /dev/urandom >"$work/file"

needs_pki() { [ -e "$work/pki/ca.pem" ] || { echo "the openssl command makes the certificates, and is missing"; exit 77; }; }

# start_server PROGRAM ARGUMENT…: sets server and port.
start_server() {
  local tries
  : >"$work/server.out"
  "$1" --cert "$work/pki/server.pem" --key "$work/pki/server.key" --once "${@:2}" >"$work/server.out" 2>"$work/server.log" &
  server=$!
  for tries in $(seq 200); do
    port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/server.out")
    [ -z "$port" ] || return 0
    sleep 0.05
  done
  cat "$work/server.log"
  return 1
}

# there_and_back CLIENT SERVER ARGUMENT_OF_THE_CLIENT…
there_and_back() {
  needs_pki
  local client=$1 to=$2
  shift 2
  rm -f "$work/stored" "$work/back" "$work/echo"
  start_server "$to" --receive "$work/stored" && "$client" --ca "$work/pki/ca.pem" --summary --send "$work/file" "$@" 127.0.0.1 "$port" &&
    wait "$server" && cmp "$work/file" "$work/stored" || { cat "$work/server.log"; return 1; }
  start_server "$to" --send "$work/stored" && "$client" --ca "$work/pki/ca.pem" --output "$work/back" "$@" 127.0.0.1 "$port" </dev/null &&
    wait "$server" && cmp "$work/file" "$work/back" || { cat "$work/server.log"; return 1; }
  start_server "$to" --echo && "$client" --ca "$work/pki/ca.pem" --send "$work/file" --output "$work/echo" "$@" 127.0.0.1 "$port" &&
    wait "$server" && cmp "$work/file" "$work/echo" || { cat "$work/server.log"; return 1; }
  [ -z "$(find "$work" -name '*.part')" ] || { echo "a partial file is left"; return 1; }
}

# The client refuses, and says why; the server learns it by the alert.
refusal_is_plain() {
  needs_pki
  local code=0
  start_server "$1" --echo
  "$programs/secure-client" --ca "$work/pki/other-ca.pem" 127.0.0.1 "$port" </dev/null 2>"$work/client.log" || code=$?
  ! wait "$server" || { echo "the server is content"; return 1; }
  cat "$work/client.log" "$work/server.log"
  [ $code = 3 ] && grep -q ERR_CERT_ISSUER_NOT_FOUND "$work/client.log" && grep -q 'what to do: ' "$work/client.log" &&
    grep -q 'certificates that were sent: 1$' "$work/client.log" && grep -q 'unknown_ca (48)' "$work/server.log"
}

# Without --ca the client trusts the issuers of the system.
system_is_trusted() {
  needs_pki
  local code=0
  start_server "$programs/secure-server" --echo
  SSL_CERT_FILE=$work/pki/ca.pem SSL_CERT_DIR='' "$programs/secure-client" --send "$work/file" --output "$work/system" 127.0.0.1 "$port" &&
    wait "$server" && cmp "$work/file" "$work/system" || return 1
  start_server "$programs/secure-server" --echo
  SSL_CERT_FILE=$work/pki/other-ca.pem SSL_CERT_DIR='' "$programs/secure-client" 127.0.0.1 "$port" </dev/null || code=$?
  ! wait "$server" && [ $code = 3 ]
}

client_certificates() {
  needs_pki
  local code=0
  start_server "$1" --echo --ca "$work/pki/ca.pem"
  "$programs/secure-client" --ca "$work/pki/ca.pem" --cert "$work/pki/client.pem" --key "$work/pki/client.key" \
    --send "$work/file" --output "$work/mutual" 127.0.0.1 "$port" && wait "$server" && cmp "$work/file" "$work/mutual" || return 1
  start_server "$1" --echo --ca "$work/pki/ca.pem"
  "$programs/secure-client" --ca "$work/pki/ca.pem" --send "$work/file" --output "$work/none" 127.0.0.1 "$port" 2>"$work/client.log" || code=$?
  wait "$server" || true
  cat "$work/client.log" "$work/server.log"
  [ $code = 4 ] && grep -q 'certificate_required (116)' "$work/client.log" && [ ! -e "$work/none" ]
}

cut_is_seen() {
  needs_pki
  local code=0
  rm -f "$work/cut"
  start_server "$programs/secure-server" --receive "$work/cut"
  { head -c 100000 /dev/zero; sleep 5; } | "$programs/secure-client" --ca "$work/pki/ca.pem" 127.0.0.1 "$port" &
  local client=$!
  for _ in $(seq 100); do ! grep -q 'TLS 1.3' "$work/server.log" || break; sleep 0.02; done
  kill -KILL $client
  wait "$server" || code=$?
  cat "$work/server.log"
  [ $code = 2 ] && [ ! -e "$work/cut" ] && [ -z "$(find "$work" -name '*.part')" ]
}

pair_runs() {
  (cd tests/data && "$programs/pair" server-p256.pem server-p256.key root.pem server.test 1767225600) | tee "$work/pair.out"
  grep -q "^closed on both sides" "$work/pair.out"
}

# The example of both READMEs, in a module outside of the repository.
readme_example() {
  needs_pki
  local module=$work/module
  mkdir -p "$module"
  sed -n '/^```go$/,/^```$/p' bindings/go/README.md | sed '1d;$d' >"$module/main.go"
  cmp "$module/main.go" <(sed 1d examples/go/hello/main.go) || { echo "examples/go/hello is another program"; return 1; }
  cmp "$module/main.go" <(sed -n '/^```go$/,/^```$/p' README.md | sed '1d;$d') || { echo "README.md has another program"; return 1; }
  (cd "$module" && go mod init program.example/program &&
    go mod edit -require securestream.example/securestream@v0.0.0 -replace "securestream.example/securestream=$SST_ROOT/bindings/go" &&
    go build -o program .)
  start_server "$c_programs/secure-server" --echo
  [ "$("$module/program" "$work/pki/ca.pem" "localhost:$port")" = hello ] && wait "$server"
}

check "examples: a pair without a socket" pair_runs
check "examples: Go to Go" there_and_back "$programs/secure-client" "$programs/secure-server"
check "examples: Go to C" there_and_back "$programs/secure-client" "$c_programs/secure-server"
check "examples: C to Go" there_and_back "$c_programs/secure-client" "$programs/secure-server"
check "examples: Go to C, TLS 1.2" there_and_back "$programs/secure-client" "$c_programs/secure-server" --max-version 1.2
check "examples: C to Go, TLS 1.2" there_and_back "$c_programs/secure-client" "$programs/secure-server" --max-version 1.2
check "examples: a refusal is plain at both sides" refusal_is_plain "$programs/secure-server"
check "examples: a refusal is plain to a server in C" refusal_is_plain "$c_programs/secure-server"
check "examples: the system is trusted" system_is_trusted
check "examples: client certificates" client_certificates "$programs/secure-server"
check "examples: client certificates, with a server in C" client_certificates "$c_programs/secure-server"
check "examples: a cut is seen, and no file is left" cut_is_seen
check "the README's example, in a module outside of the repository" readme_example
