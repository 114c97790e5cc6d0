package securestream_test

import (
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"securestream.example/securestream"
)

// OpenSSL told to use no tickets offers a session by its id.
func TestFindSession_isAskedByClientsWithoutTickets(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is missing")
	}
	var store sync.Map
	asked := 0
	server := serverConfig(t)
	server.MaxVersion = securestream.VersionTLS12
	server.StoreSession = func(id []byte, session *securestream.Session) { store.Store(string(id), session) }
	server.FindSession = func(id []byte) (*securestream.Session, error) {
		asked++
		found, _ := store.Load(string(id))
		session, _ := found.(*securestream.Session)
		return session, nil
	}
	listener, err := securestream.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file := filepath.Join(t.TempDir(), "session")
	connect := func(session ...string) bool {
		t.Helper()
		arguments := append([]string{"s_client", "-connect", listener.Addr().String(), "-servername", "server.test", "-tls1_2",
			"-no_ticket", "-quiet"}, session...)
		client := exec.Command(openssl, arguments...)
		client.Stdin = strings.NewReader("x\n")
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		var transport net.Conn
		if transport, err = listener.Accept(); err != nil {
			t.Fatal(err)
		}
		conn := transport.(*securestream.Conn)
		mustRead(t, conn, []byte("x\n"))
		resumed := conn.ConnectionState().DidResume
		conn.Close()
		_, _ = io.Copy(io.Discard, transport)
		_ = client.Wait()
		return resumed
	}
	if connect("-sess_out", file) || asked != 0 {
		t.Errorf("the first connection was resumed, asked %d times", asked)
	}
	if !connect("-sess_in", file) || asked != 1 {
		t.Errorf("the second connection was not resumed, asked %d times", asked)
	}
	store.Clear()
	if connect("-sess_in", file) || asked != 2 {
		t.Errorf("a session that is not known was resumed, asked %d times", asked)
	}
}
