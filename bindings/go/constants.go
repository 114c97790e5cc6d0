package securestream

import "securestream.example/securestream/internal/raw"

// Protocol versions, as in crypto/tls.
const (
	VersionTLS12 uint16 = raw.SST_TLS1_2
	VersionTLS13 uint16 = raw.SST_TLS1_3
)

// Key exchange groups, in numbers of IANA.
const (
	CurveP256      uint16 = 23
	CurveP384      uint16 = 24
	CurveP521      uint16 = 25
	X25519         uint16 = 29
	MLKEM1024      uint16 = 514
	X25519MLKEM768 uint16 = 4588
)

// Role is the side of a stream.
type Role int32

// The roles.
const (
	RoleClient Role = raw.SST_ROLE_CLIENT
	RoleServer Role = raw.SST_ROLE_SERVER
)

// ClientAuthType says whether a server asks for a client certificate. One that is sent is always verified.
type ClientAuthType int32

// The values have the meaning that they have in crypto/tls.
const (
	NoClientCert               ClientAuthType = raw.SST_CLIENT_CERTIFICATE_NONE
	VerifyClientCertIfGiven    ClientAuthType = raw.SST_CLIENT_CERTIFICATE_REQUEST
	RequireAndVerifyClientCert ClientAuthType = raw.SST_CLIENT_CERTIFICATE_REQUIRE
)

// Status says what the next step of a [Stream] needs.
type Status int32

// The statuses. Below zero it is the [Code] of the error that comes with it.
const (
	StatusOK         Status = raw.SST_OK          // done
	StatusNeedInput  Status = raw.SST_NEED_INPUT  // give more input; all that was given is processed
	StatusNeedOutput Status = raw.SST_NEED_OUTPUT // give more room: Needed bytes make progress
	StatusClosed     Status = raw.SST_CLOSED      // the peer's close_notify was reached: the end of the data

	StatusWantClientHello         Status = raw.SST_WANT_CLIENT_HELLO          // which config?
	StatusWantCertificate         Status = raw.SST_WANT_CERTIFICATE           // which credential?
	StatusWantCertificateVerify   Status = raw.SST_WANT_CERTIFICATE_VERIFY    // is this peer good?
	StatusWantPrivateKeyOperation Status = raw.SST_WANT_PRIVATE_KEY_OPERATION // the signature, please
	StatusWantSession             Status = raw.SST_WANT_SESSION               // the session of this id?
	StatusWantTicketDecrypt       Status = raw.SST_WANT_TICKET_DECRYPT        // the session in this ticket?
	StatusWantEarlyDataRetry      Status = raw.SST_WANT_EARLY_DATA_RETRY      // early data was not taken
)

// String is the name that C has for the status, without SST_: "NEED_INPUT".
func (s Status) String() string { return raw.Sst_status_name(int32(s)) }

// Flags say what waits. They are levels, not edges; unknown ones are to be ignored.
type Flags uint32

// The flags.
const (
	HasOutput    Flags = raw.SST_HAS_OUTPUT    // wire bytes wait: the next Encrypt, Flush, CloseWrite or Handshake writes them first
	HasPlaintext Flags = raw.SST_HAS_PLAINTEXT // plaintext is kept: the next Decrypt gives it out first
	HasEvent     Flags = raw.SST_HAS_EVENT     // NextEvent has something
	EarlyData    Flags = raw.SST_EARLY_DATA    // 0-RTT
)

// State is a set of what a stream has come to; 0 before its first byte.
type State uint32

// The states. StateHandshake and StateOpen stay beside StateFailed and tell how far it came.
const (
	StateHandshake  State = raw.SST_STATE_HANDSHAKE
	StateSuspended  State = raw.SST_STATE_SUSPENDED
	StateOpen       State = raw.SST_STATE_OPEN
	StateWeClosed   State = raw.SST_STATE_WE_CLOSED
	StatePeerClosed State = raw.SST_STATE_PEER_CLOSED
	StateTruncated  State = raw.SST_STATE_TRUNCATED
	StateFailed     State = raw.SST_STATE_FAILED
	StateEndedEarly State = raw.SST_STATE_ENDED_EARLY
)

// Counter chooses a counter of a stream.
type Counter int32

// The counters.
const (
	RecordsSent        Counter = raw.SST_COUNTER_RECORDS_SENT     // of application data
	RecordsReceived    Counter = raw.SST_COUNTER_RECORDS_RECEIVED // of any type, by Decrypt
	BytesEncrypted     Counter = raw.SST_COUNTER_BYTES_ENCRYPTED
	BytesDecrypted     Counter = raw.SST_COUNTER_BYTES_DECRYPTED
	WireSent           Counter = raw.SST_COUNTER_WIRE_SENT // handshake included
	WireReceived       Counter = raw.SST_COUNTER_WIRE_RECEIVED
	KeyUpdatesSent     Counter = raw.SST_COUNTER_KEY_UPDATES_SENT
	KeyUpdatesReceived Counter = raw.SST_COUNTER_KEY_UPDATES_RECEIVED
	EventsLost         Counter = raw.SST_COUNTER_EVENTS_LOST
)

// EventKind is the kind of an [Event].
type EventKind uint32

// The kinds of events.
const (
	EventSession       EventKind = raw.SST_EVENT_SESSION        // a session came: TakeSession has it. Data: of a server, its id
	EventKeyLog        EventKind = raw.SST_EVENT_KEY_LOG        // Data: one line of the NSS key log (RFC 9850). These are secrets
	EventAlertReceived EventKind = raw.SST_EVENT_ALERT_RECEIVED // Value: the number of the alert, close_notify (0) included
	EventKeysUpdated   EventKind = raw.SST_EVENT_KEYS_UPDATED   // Value: 0 our sending keys have changed, 1 the receiving ones
	EventEarlyData     EventKind = raw.SST_EVENT_EARLY_DATA     // Value: 1 taken, 0 refused; of a client that offered it, a server that took it
)

// MaxRecord is the longest TLS record: the least receive buffer for [Stream.DecryptInPlace] and with LeavePartial.
const MaxRecord = raw.SST_RECORD_MAX

// VersionName is "TLS 1.2", "TLS 1.3" or "unknown".
func VersionName(version uint16) string {
	switch version {
	case VersionTLS12:
		return "TLS 1.2"
	case VersionTLS13:
		return "TLS 1.3"
	}
	return "unknown"
}

// CipherSuiteName is the IANA name of a cipher suite, or "unknown".
func CipherSuiteName(suite uint16) string { return raw.Sst_suite_name(suite) }

// GroupName is the IANA name of a key exchange group, or "unknown".
func GroupName(group uint16) string { return raw.Sst_group_name(group) }

// SchemeName is the IANA name of a signature scheme, or "unknown".
func SchemeName(scheme uint16) string { return raw.Sst_scheme_name(scheme) }

// AlertName is the IANA name of an alert, or "unknown".
func AlertName(alert int) string { return raw.Sst_alert_name(int32(alert)) }
