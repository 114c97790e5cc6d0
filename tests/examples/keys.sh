# Shared by the tests of remote-key-server: `source keys.sh` behind common.sh.
#
#   start_signer KEY      starts key-signer; sets signer_pid
#   start_keyless CHAIN   starts remote-key-server for it; sets server_pid, port
#   visit_with ARGUMENT…  a client goes there and wants its words back
#   hundred_wait          100 handshakes are suspended at once in the server's one thread, and all succeed
[ -x "$programs/key-signer" ] || skip "key-signer was not built: the headers of OpenSSL 3 are missing"

start_signer() {
  : >"$work/signer.out"
  "$programs/key-signer" "$work/socket" "$1" >"$work/signer.out" 2>"$work/signer.log" &
  signer_pid=$!
  started+=("$signer_pid")
  within 60 has_text "$work/signer.out" ready || fail "the signer does not start"
}

start_keyless() {
  : >"$work/server.out"
  "$programs/remote-key-server" "$1" "$work/socket" >"$work/server.out" 2>"$work/server.log" &
  server_pid=$!
  started+=("$server_pid")
  within 60 has_text "$work/server.out" "listening on" || fail "the server does not start"
  port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/server.out")
}

end_both() {
  kill_at_once "$server_pid"
  kill_at_once "$signer_pid"
}

visit_with() {
  client "$@" <<<"hello $*" >"$work/answer"
  expect_code 0 "client $*"
  [ "$(cat "$work/answer")" = "hello $*" ] || fail "other words came back"
}

hundred_wait() {
  local i pids=() pid
  kill -STOP "$signer_pid"
  for i in $(seq 100); do
    echo "hello $i" >"$work/input$i"
    input=$work/input$i output=$work/echo$i messages=$work/client$i.log start_client
    pids+=("$client_pid")
  done
  within_text "$work/server.log" "100 handshakes wait for a signature"
  [ "$(ls "/proc/$server_pid/task" | wc -l)" = 1 ] || fail "the server has more than one thread"
  kill -CONT "$signer_pid"
  for pid in "${pids[@]}"; do wait "$pid" || fail "a client failed"; done
  for i in $(seq 100); do expect_same "$work/input$i" "$work/echo$i"; done
}
