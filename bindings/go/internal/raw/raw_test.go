package raw

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

func data(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../../tests/data/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The compiler has compared the constants with those of the header. Here: with those of the committed list, as numbers.
func TestConstants(t *testing.T) {
	file, err := os.ReadFile("constants.go")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := os.Open("../../../../abi/constants.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer listed.Close()
	count := 0
	for lines := bufio.NewScanner(listed); lines.Scan(); count++ {
		name, value, _ := strings.Cut(lines.Text(), " = ")
		if !bytes.Contains(file, []byte("[SST"+strings.TrimPrefix(name, "SST")+"-C."+name+"]")) && name != "SST_VERSION_NUMBER" {
			t.Errorf("%s is not compared with the header", name)
		}
		if _, err := strconv.Atoi(value); err != nil {
			t.Error(err)
		}
	}
	if count < 150 {
		t.Errorf("only %d constants", count)
	}
	if Sst_version_number() != SST_VERSION_NUMBER {
		t.Errorf("the library is %s", Sst_version_string())
	}
	for status, name := range map[int32]string{SST_OK: "OK", SST_ERR_CERT_EXPIRED: "ERR_CERT_EXPIRED", SST_WANT_SESSION: "WANT_SESSION"} {
		if got := Sst_status_name(status); got != name {
			t.Errorf("%d is %q in C, %q here", status, got, name)
		}
	}
	if Sst_group_name(29) != "x25519" || Sst_alert_name(40) != "handshake_failure" || Sst_suite_name(0xffff) != "unknown" {
		t.Error("names of numbers")
	}
}

func TestNothingIsNoObject(t *testing.T) {
	var room [64]byte
	if got := Sst_stream_handshake(nil, nil, room[:]); got.Status != SST_ERR_INVALID_ARGUMENT || got.Produced != 0 {
		t.Error(got)
	}
	if got, n := Sst_stream_decrypt_in_place(nil, room[:], nil); got.Status != SST_ERR_INVALID_ARGUMENT || n != 0 {
		t.Error(got, n)
	}
	if Sst_trust_load_pem(nil, nil) != SST_ERR_INVALID_ARGUMENT || Sst_trust_num_anchors(nil) != 0 || Sst_config_copy(nil) != nil {
		t.Error("nil is taken for an object")
	}
	Sst_trust_free(nil)
}

// A caller's slice may lie in a struct with pointers: cgo would refuse to pass its address untyped.
func TestInputMayLieBesidePointers(t *testing.T) {
	owner := &struct {
		next *int
		pem  [65536]byte
		room [8]byte
	}{next: new(int)}
	pem := owner.pem[:copy(owner.pem[:], data(t, "root.pem"))]
	trust := Sst_trust_new()
	defer Sst_trust_free(trust)
	if status := Sst_trust_load_pem(trust, pem); status != SST_OK || Sst_trust_num_anchors(trust) != 1 {
		t.Fatal(status)
	}
	if !bytes.Equal(pem, data(t, "root.pem")) {
		t.Error("the caller's bytes were changed")
	}
	config := Sst_config_new()
	defer Sst_config_free(config)
	Sst_config_set_verify(config, SST_VERIFY_NONE)
	var stream *Stream
	if status := Sst_stream_new(config, SST_ROLE_CLIENT, &stream); status != SST_OK {
		t.Fatal(status)
	}
	defer Sst_stream_free(stream)
	if got := Sst_stream_handshake(stream, nil, owner.room[:]); got.Status != SST_NEED_OUTPUT || got.Produced != 8 || got.Needed < 100 {
		t.Error(got)
	}
	if got := Sst_stream_export_key(stream, "label", pem, owner.room[:]); got >= 0 {
		t.Error(got)
	}
}

func TestRoom(t *testing.T) {
	credential := Sst_credential_new()
	defer Sst_credential_free(credential)
	if status := Sst_credential_load_pem(credential, data(t, "server-p256.pem"), ""); status != SST_OK {
		t.Fatal(status)
	}
	small := NewRoom(3)
	if Sst_credential_certificate(credential, 0, small) != SST_NEED_OUTPUT || small.Len() < 200 {
		t.Fatal(small.Len())
	}
	room := NewRoom(small.Len())
	if Sst_credential_certificate(credential, 0, room) != SST_OK || room.Len() != small.Len() || room.Bytes()[0] != 0x30 {
		t.Error(room.Len())
	}
	if Sst_credential_certificate(credential, 99, room) != SST_OK || room.Len() != 0 || len(room.Bytes()) != 0 {
		t.Error("a certificate that is not there has", room.Len(), "bytes")
	}
	if Sst_stream_accepted_schemes(nil, NewRoom(0)) >= 0 || len(NewRoom(8).Numbers()) != 0 {
		t.Error("a list of nothing")
	}
	e := Error{Size: uint32(unsafe.Sizeof(Error{}))}
	if Sst_credential_load_pem(credential, []byte("x"), "") != SST_ERR_NO_CERTIFICATE || Sst_credential_last_error(credential, &e) != SST_OK || e.Code != SST_ERR_NO_CERTIFICATE || e.Message[0] == 0 {
		t.Error(e.Code)
	}
	if Sst_config_set_groups(nil, []uint16{29}) != SST_ERR_INVALID_ARGUMENT {
		t.Error("a list for nothing")
	}
}
