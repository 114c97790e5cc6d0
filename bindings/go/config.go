package securestream

import (
	"io"
	"math"
	"sync"
	"time"

	"securestream.example/securestream/internal/raw"
)

// Config is what connections have in common. Its zero value is a safe client that trusts what the system trusts.
//
// A config is read at its first use in each role and must not be changed after it; use [Config.Clone]. It may be shared
// by any number of connections and goroutines. A renewed certificate is a clone with other Credentials, given to
// [Listener.SetConfig].
type Config struct {
	// Credentials are our own certificates with their keys: a server needs one. Of several, the first that the peer
	// supports is used. A client sends one only if the server asks and accepts it.
	Credentials []*Credential

	// Trust has the anchors that the peer's certificate must lead to. A client without it uses [SystemTrust]; a server
	// that asks for client certificates must have it ([ErrNoTrust]).
	Trust *Trust

	// ServerName is the DNS name or IP address that a client expects, unless Dial knows it. ASCII only: pass the
	// A-label form of other names.
	ServerName string

	// VerifyName is the name that the peer's certificate must have, where it is not ServerName. On a server: the
	// client's; empty is any.
	VerifyName string

	// VerifyChainOnly leaves the name unchecked: any name that a trusted issuer has certified passes.
	VerifyChainOnly bool

	// InsecureSkipVerify verifies nothing: anybody in the middle passes. For tests.
	InsecureSkipVerify bool

	// ClientAuth says whether a server asks for a client certificate. A TLS 1.3 client learns only from the first data
	// it reads whether the server took its certificate (RFC 8446, 4.4.2.4).
	ClientAuth ClientAuthType

	// ClientCAs are names of issuers that a server sends with its request: PEM certificates, one in DER, or an X.501
	// name in DER. None: any issuer may be tried.
	ClientCAs [][]byte

	// NextProtos are the protocols for ALPN, best first. The server's order wins; without a common one the handshake
	// fails.
	NextProtos []string

	// ALPNLenient lets a server go on without a protocol where there is no common one.
	ALPNLenient bool

	// MinVersion and MaxVersion limit the version; 0: TLS 1.2 and TLS 1.3.
	MinVersion, MaxVersion uint16

	// CurvePreferences are the key exchange groups, best first; nil: X25519MLKEM768, X25519, P-256, P-384.
	CurvePreferences []uint16

	// CipherSuites are those of TLS 1.2, best first; those of TLS 1.3 are no choice. Nil: ECDHE with AES-GCM and
	// ChaCha20-Poly1305.
	CipherSuites []uint16

	// SignatureSchemes are those accepted from the peer, best first; nil: all that are known.
	SignatureSchemes []uint16

	// MinRSABits is the least size of RSA keys, in the peer's chain and of our own: 1024 to 8192; 0: 2048.
	MinRSABits int

	// AllowSHA1 accepts signatures by SHA-1 in the peer's chain, as well as those by SHA-2.
	AllowSHA1 bool

	// Compat accepts TLS 1.2 peers without extended master secret (RFC 7627).
	Compat bool

	// MaxFragment is the most plaintext in a record that is sent: 512 to 16,384; 0: 16,384.
	MaxFragment int

	// SessionTickets is how many session tickets a server sends after a handshake: 1 to 16; 0: 1.
	SessionTickets int

	// SessionTicketsDisabled lets a server send none.
	SessionTicketsDisabled bool

	// TicketKeys seal a server's tickets and open them. Nil: a ring of its own, which clones of the config share.
	TicketKeys *TicketKeys

	// SessionLifetime is how long a session can be resumed, in whole seconds, up to 7 days; 0: 2 hours; below 0: sessions are
	// neither made nor resumed.
	SessionLifetime time.Duration

	// ClientSessionCache keeps a client's sessions, by ServerName, and gives them to its next connections; nil: the
	// client asks for none, unless Report has [EventSession].
	ClientSessionCache ClientSessionCache

	// EarlyData lets a client send ([Conn.HandshakeEarly]), a server take 0-RTT data ([Conn.ReadEarly]): an attacker can
	// replay them (RFC 8446, 8).
	EarlyData bool

	// Time is the time at which certificates are judged; nil: now.
	Time func() time.Time

	// KeyLogWriter gets the secrets of each connection in NSS key log format (RFC 9850): whoever has them reads
	// everything. A line is one Write; two Writes are never made at once. An error of it is ignored.
	KeyLogWriter io.Writer

	// Report is a set of 1 << kind: events that a [Stream] reports. A [Conn] takes the events itself.
	Report uint32

	// SuspendOn has the statuses StatusWant… that the handshake of a [Stream] stops for. A [Conn] has functions for them:
	// GetConfigForClient and those behind it.
	SuspendOn []Status

	// GetConfigForClient chooses the config of a server's connection by the client's hello; nil: this one. Credentials
	// and all else may then be missing here. VerifyName and Time stay those of this config. An error ends the handshake,
	// and is returned by it; that holds for the functions below too.
	GetConfigForClient func(*ClientHelloInfo) (*Config, error)

	// GetCertificate chooses what a server shows, in place of Credentials; nil: the handshake fails with
	// [ErrNoCredential].
	GetCertificate func(*ClientHelloInfo) (*Credential, error)

	// GetClientCertificate chooses what a client shows, in place of Credentials, if the server asks; nil: none.
	GetClientCertificate func(*CertificateRequestInfo) (*Credential, error)

	// VerifyPeer judges a peer that has shown a certificate. It returns nil for a peer that is good, whatever the
	// verdict, the Verdict itself to leave it at that, or another error. With VerifyPeer no Trust is needed.
	VerifyPeer func(*PeerCertificateInfo) error

	// FindSession gives a TLS 1.2 server the session of an id, for a client that has no tickets; nil: not known.
	// StoreSession gets such a session when it is made.
	FindSession  func(id []byte) (*Session, error)
	StoreSession func(id []byte, session *Session)

	// OpenTicket gives the session in a ticket that no key of TicketKeys opens; nil: unknown, and the handshake is a full
	// one.
	OpenTicket func(ticket []byte) ([]byte, error)

	mu    sync.Mutex
	ring  *TicketKeys // where TicketKeys are nil
	log   sync.Mutex  // held while KeyLogWriter writes
	built [2]*builtConfig
}

// builtConfig is the C object of a config for one role.
type builtConfig struct{ native native[raw.Config] }

func (b *builtConfig) lastError(e *raw.Error) int32 {
	return raw.Sst_config_last_error(b.native.ptr, e)
}

func orZero(c *Config) *Config {
	if c == nil {
		return new(Config)
	}
	return c
}

// Clone returns a copy that may be changed.
func (c *Config) Clone() *Config {
	if c == nil {
		return nil
	}
	return &Config{Credentials: c.Credentials, Trust: c.Trust, ServerName: c.ServerName, VerifyName: c.VerifyName,
		VerifyChainOnly: c.VerifyChainOnly, InsecureSkipVerify: c.InsecureSkipVerify, ClientAuth: c.ClientAuth,
		ClientCAs: c.ClientCAs, NextProtos: c.NextProtos, ALPNLenient: c.ALPNLenient, MinVersion: c.MinVersion,
		MaxVersion: c.MaxVersion, CurvePreferences: c.CurvePreferences, CipherSuites: c.CipherSuites,
		SignatureSchemes: c.SignatureSchemes, MinRSABits: c.MinRSABits, AllowSHA1: c.AllowSHA1, Compat: c.Compat,
		MaxFragment: c.MaxFragment, SessionTickets: c.SessionTickets, SessionTicketsDisabled: c.SessionTicketsDisabled,
		TicketKeys: c.TicketKeys, SessionLifetime: c.SessionLifetime, ClientSessionCache: c.ClientSessionCache,
		EarlyData: c.EarlyData, Time: c.Time, KeyLogWriter: c.KeyLogWriter, Report: c.Report, SuspendOn: c.SuspendOn,
		GetConfigForClient: c.GetConfigForClient, GetCertificate: c.GetCertificate,
		GetClientCertificate: c.GetClientCertificate, VerifyPeer: c.VerifyPeer, FindSession: c.FindSession,
		StoreSession: c.StoreSession, OpenTicket: c.OpenTicket, ring: c.shareRing()}
}

// shareRing is the config's own ring, for a clone.
func (c *Config) shareRing() *TicketKeys {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ring.share()
}

// Check reports what would make every connection of role fail. Making a connection does the same.
func (c *Config) Check(role Role) error {
	if role == RoleServer && c.GetConfigForClient != nil {
		return nil // the config of each connection is checked when it is chosen
	}
	_, err := c.build(role)
	return err
}

// Close frees the C objects of the config, as far as no stream needs them any more. The config can be used again.
func (c *Config) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.built {
		if b != nil {
			b.native.close()
			c.built[i] = nil
		}
	}
	if c.ring != nil {
		c.ring.Close()
		c.ring = nil
	}
	return nil
}

// build returns the frozen C object for role, which it makes at the first call.
func (c *Config) build(role Role) (*builtConfig, error) {
	if role != RoleClient && role != RoleServer {
		return nil, failure("configure", raw.SST_ERR_INVALID_ARGUMENT, nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.built[role-1]; b != nil {
		return b, nil
	}
	ptr := raw.Sst_config_new()
	if ptr == nil {
		return nil, failure("make a config", raw.SST_ERR_NO_MEMORY, nil)
	}
	b := new(builtConfig)
	b.native.own(ptr, raw.Sst_config_free)
	if err := c.fill(b, role); err != nil {
		b.native.close()
		return nil, err
	}
	c.built[role-1] = b
	return b, nil
}

// fill gives the settings to the C object and freezes it.
func (c *Config) fill(b *builtConfig, role Role) error {
	config := b.native.ptr
	for _, set := range append(c.settings(config), c.questions(config, role)) {
		if set.wanted {
			if status := set.apply(); status != raw.SST_OK {
				return failure("configure "+set.name, status, b.lastError)
			}
		}
	}
	if err := c.addCredentials(b); err != nil {
		return err
	}
	if err := c.addTrust(b, role); err != nil {
		return err
	}
	if err := c.addSessions(b, role); err != nil {
		return err
	}
	if status := raw.Sst_config_freeze(config, int32(role)); status != raw.SST_OK {
		return failure("configure", status, b.lastError)
	}
	return nil
}

type setting struct {
	name   string
	wanted bool
	apply  func() int32
}

// settings are those that are numbers and lists.
func (c *Config) settings(config *raw.Config) []setting {
	least, most := c.MinVersion, c.MaxVersion
	if least == 0 {
		least = VersionTLS12
	}
	if most == 0 {
		most = VersionTLS13
	}
	verify := int32(raw.SST_VERIFY_FULL)
	if c.VerifyChainOnly {
		verify = raw.SST_VERIFY_CHAIN_ONLY
	}
	if c.InsecureSkipVerify {
		verify = raw.SST_VERIFY_NONE
	}
	report := c.Report
	if c.KeyLogWriter != nil {
		report |= 1 << EventKeyLog
	}
	if c.ClientSessionCache != nil || c.StoreSession != nil {
		report |= 1 << EventSession
	}
	all := []setting{
		{"Compat", c.Compat, func() int32 { return raw.Sst_config_set_profile(config, raw.SST_PROFILE_COMPAT) }},
		{"versions", true, func() int32 { return raw.Sst_config_set_versions(config, least, most) }},
		{"CurvePreferences", c.CurvePreferences != nil, func() int32 { return raw.Sst_config_set_groups(config, c.CurvePreferences) }},
		{"CipherSuites", c.CipherSuites != nil, func() int32 { return raw.Sst_config_set_tls12_suites(config, c.CipherSuites) }},
		{"SignatureSchemes", c.SignatureSchemes != nil, func() int32 { return raw.Sst_config_set_signature_schemes(config, c.SignatureSchemes) }},
		{"verification", true, func() int32 { return raw.Sst_config_set_verify(config, verify) }},
		{"ClientAuth", true, func() int32 { return raw.Sst_config_set_client_certificate(config, int32(c.ClientAuth)) }},
		{"ALPNLenient", c.ALPNLenient, func() int32 { return raw.Sst_config_set_alpn_lenient(config, 1) }},
		{"MinRSABits", c.MinRSABits != 0, func() int32 { return raw.Sst_config_set_minimum_key(config, limited(c.MinRSABits)) }},
		{"AllowSHA1", c.AllowSHA1, func() int32 { return raw.Sst_config_set_chain_digests(config, raw.SST_CHAIN_DIGEST_SHA1) }},
		{"MaxFragment", c.MaxFragment != 0, func() int32 { return raw.Sst_config_set_max_fragment(config, limited(c.MaxFragment)) }},
		{"SessionTickets", c.SessionTickets != 0, func() int32 { return raw.Sst_config_set_ticket_count(config, limited(c.SessionTickets)) }},
		{"SessionTicketsDisabled", c.SessionTicketsDisabled, func() int32 { return raw.Sst_config_set_ticket_count(config, 0) }},
		{"Report", report != 0, func() int32 { return raw.Sst_config_report(config, report) }},
	}
	for _, protocol := range c.NextProtos {
		all = append(all, setting{"NextProtos", true, func() int32 { return raw.Sst_config_add_alpn(config, []byte(protocol)) }})
	}
	for _, ca := range c.ClientCAs {
		all = append(all, setting{"ClientCAs", true, func() int32 { return raw.Sst_config_add_client_ca(config, ca) }})
	}
	return all
}

// questions is what streams of role stop for.
func (c *Config) questions(config *raw.Config, role Role) setting {
	mask := uint32(0)
	add := func(wanted bool, want Status) {
		if wanted {
			mask |= 1 << min(uint32(want-StatusWantClientHello), 31) // the last bit is no question
		}
	}
	for _, want := range c.SuspendOn {
		add(true, want)
	}
	add(role == RoleServer && c.GetCertificate != nil, StatusWantCertificate)
	add(role == RoleClient && c.GetClientCertificate != nil, StatusWantCertificate)
	add(c.VerifyPeer != nil, StatusWantCertificateVerify)
	add(c.FindSession != nil, StatusWantSession)
	add(c.OpenTicket != nil, StatusWantTicketDecrypt)
	return setting{"SuspendOn", mask != 0, func() int32 { return raw.Sst_config_suspend_on(config, mask) }}
}

// limited is n for a setter that refuses what is too large; a negative n is too large.
func limited(n int) uint32 { return uint32(min(uint(n), math.MaxUint32)) }

func (c *Config) addCredentials(b *builtConfig) error {
	for _, credential := range c.Credentials {
		if credential == nil || !credential.native.enter() {
			return failure("configure Credentials", raw.SST_ERR_CLOSED, nil)
		}
		status := raw.Sst_config_add_credential(b.native.ptr, credential.native.ptr)
		credential.native.leave()
		if status != raw.SST_OK {
			return failure("configure Credentials", status, b.lastError)
		}
	}
	return nil
}

func (c *Config) addTrust(b *builtConfig, role Role) error {
	trust := c.Trust
	if trust == nil {
		if role == RoleServer || c.InsecureSkipVerify || c.VerifyPeer != nil {
			return nil
		}
		system, err := SystemTrust()
		if err != nil {
			return err
		}
		defer system.Close()
		trust = system
	}
	if !trust.native.enter() {
		return failure("configure Trust", raw.SST_ERR_CLOSED, nil)
	}
	defer trust.native.leave()
	if status := raw.Sst_config_set_trust(b.native.ptr, trust.native.ptr); status != raw.SST_OK {
		return failure("configure Trust", status, b.lastError)
	}
	return nil
}

// writeKeyLog writes one line.
func (c *Config) writeKeyLog(line []byte) {
	c.log.Lock()
	defer c.log.Unlock()
	_, _ = c.KeyLogWriter.Write(append(line, '\n'))
}
