package main

import (
	"fmt"
	"time"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// making is a config and what its stream is told, as clauses make it (README.md, section 5).
type making struct {
	role                    securestream.Role
	config                  securestream.Config
	day                     time.Time
	leavesPartial           bool
	hasLeaf, hasTrust, asks bool // a clause has said so
	hasName                 bool
}

// clause is one that was read: what it does.
type clause func(*making) error

type clauseForm struct {
	pattern string
	do      func(*making, match) error
}

// The first that matches counts: those with more words stand before those that begin with the same ones.
var clauseForms = []clauseForm{
	{"leaf LEAF with key TEXT opened by TEXT", func(k *making, m match) error {
		return k.addLeaf(get[string](m, 0), get[string](m, 1), get[string](m, 2))
	}},
	{"leaf LEAF with key TEXT", func(k *making, m match) error {
		return k.addLeaf(get[string](m, 0), get[string](m, 1), "")
	}},
	{"leaf LEAF", func(k *making, m match) error { return k.addLeaf(get[string](m, 0), get[string](m, 0), "") }},
	{"no leaf", func(k *making, _ match) error { k.hasLeaf = true; return nil }},
	{"trusts nobody", func(k *making, _ match) error { k.hasTrust = true; return nil }},
	{"trusts LIST", func(k *making, m match) error { return k.trust(get[[]string](m, 0)...) }},
	{"speaks TLS V to V", func(k *making, m match) error { return k.speak(get[uint16](m, 0), get[uint16](m, 1)) }},
	{"speaks TLS V", func(k *making, m match) error { return k.speak(get[uint16](m, 0), get[uint16](m, 0)) }},
	{"groups LIST", func(k *making, m match) (err error) {
		k.config.CurvePreferences, err = support.Numbers(support.Groups, get[[]string](m, 0))
		return err
	}},
	{"suites LIST", func(k *making, m match) (err error) {
		k.config.CipherSuites, err = support.Numbers(support.Suites, get[[]string](m, 0))
		return err
	}},
	{"schemes LIST", func(k *making, m match) (err error) {
		k.config.SignatureSchemes, err = support.Numbers(support.Schemes, get[[]string](m, 0))
		return err
	}},
	{"protocols LIST", func(k *making, m match) error {
		k.config.NextProtos = append(k.config.NextProtos, get[[]string](m, 0)...)
		return nil
	}},
	{"N protocols", func(k *making, m match) error {
		for i := range get[int](m, 0) {
			k.config.NextProtos = append(k.config.NextProtos, fmt.Sprintf("protocol-%d", i))
		}
		return nil
	}},
	{"is lenient about protocols", func(k *making, _ match) error { k.config.ALPNLenient = true; return nil }},
	{"has the compat profile", func(k *making, _ match) error { k.config.Compat = true; return nil }},
	{"verifies the chain only", func(k *making, _ match) error {
		k.config.VerifyChainOnly, k.config.InsecureSkipVerify = true, false
		return nil
	}},
	{"verifies nothing", func(k *making, _ match) error {
		k.config.VerifyChainOnly, k.config.InsecureSkipVerify = false, true
		return nil
	}},
	{"asks for a certificate", func(k *making, _ match) error { return k.ask(securestream.VerifyClientCertIfGiven) }},
	{"requires a certificate", func(k *making, _ match) error { return k.ask(securestream.RequireAndVerifyClientCert) }},
	{"names LEAF as issuer", func(k *making, m match) error {
		ca, err := support.File(get[string](m, 0) + ".pem")
		k.config.ClientCAs = append(k.config.ClientCAs, ca)
		return err
	}},
	{"accepts RSA keys of N bits", func(k *making, m match) error { k.config.MinRSABits = get[int](m, 0); return nil }},
	{"sends fragments of at most N bytes", func(k *making, m match) error { k.config.MaxFragment = get[int](m, 0); return nil }},
	{"keeps a key log", func(k *making, _ match) error { return k.report(securestream.EventKeyLog) }},
	{"reports alerts", func(k *making, _ match) error { return k.report(securestream.EventAlertReceived) }},
	{"reports key updates", func(k *making, _ match) error { return k.report(securestream.EventKeysUpdated) }},
	{"expects no name", func(k *making, _ match) error { return k.expect("") }},
	{"expects TEXT", func(k *making, m match) error { return k.expect(get[string](m, 0)) }},
	{"checks the name TEXT", func(k *making, m match) error { k.config.VerifyName = get[string](m, 0); return nil }},
	{"judges on DAY", func(k *making, m match) error { k.day = get[time.Time](m, 0); return nil }},
	{"leaves partial records", func(k *making, _ match) error { k.leavesPartial = true; return nil }},
}

// takeClauses takes one clause or more.
func takeClauses(c *cursor) (any, bool) {
	begin := c.at
	list, ok := takeAnyClauses(c)
	return list, ok && c.at > begin
}

// takeAnyClauses takes a connector and a clause, as often as they stand there.
func takeAnyClauses(c *cursor) (any, bool) {
	list := []clause{}
	for c.words("with") || c.words("that") || c.words("and") {
		next, ok := takeClause(c)
		if !ok {
			return nil, false
		}
		list = append(list, next)
	}
	return list, true
}

func takeClause(c *cursor) (clause, bool) {
	for _, form := range clauseForms {
		if m, ok := matchPattern(form.pattern, c); ok {
			return func(k *making) error { return form.do(k, m) }, true
		}
	}
	return nil, false
}

func (k *making) addLeaf(chain, key, password string) error {
	k.hasLeaf = true
	credential, err := support.Credential(chain, key, password)
	if err == nil {
		k.config.Credentials = append(k.config.Credentials, credential)
	}
	return err
}

func (k *making) trust(names ...string) error {
	k.hasTrust = true
	trust, err := support.Trust(names...)
	if err == nil {
		k.closeTrust()
		k.config.Trust = trust
	}
	return err
}

func (k *making) speak(least, most uint16) error {
	k.config.MinVersion, k.config.MaxVersion = least, most
	return nil
}

func (k *making) ask(kind securestream.ClientAuthType) error {
	k.asks, k.config.ClientAuth = true, kind
	return nil
}

func (k *making) report(kind securestream.EventKind) error {
	k.config.Report |= 1 << kind
	return nil
}

func (k *making) expect(name string) error {
	if k.role == securestream.RoleServer {
		return fmt.Errorf("a server expects no name")
	}
	k.hasName, k.config.ServerName = true, name
	return nil
}

func (k *making) closeTrust() {
	if k.config.Trust != nil {
		k.config.Trust.Close()
	}
}

// close lets the parts go: what was made of them keeps what it needs.
func (k *making) close() {
	k.closeTrust()
	for _, credential := range k.config.Credentials {
		credential.Close()
	}
}

// defaults says what no clause has said.
func (k *making) defaults() error {
	if k.role == securestream.RoleServer && !k.hasLeaf {
		if err := k.addLeaf("server-p256", "server-p256", ""); err != nil {
			return err
		}
	}
	if k.role == securestream.RoleClient && !k.hasName {
		k.config.ServerName = "server.test"
	}
	switch {
	case !k.hasTrust && k.role == securestream.RoleClient:
		return k.trust("root")
	case !k.hasTrust && k.asks:
		return k.trust("client-root")
	case k.role == securestream.RoleClient && k.config.Trust == nil && !k.config.InsecureSkipVerify:
		return k.trust() // a client without a trust has that of the system: this one has no anchor
	}
	return nil
}

// makeStream makes the config and the stream of role. Of a failure nothing is left. The config is for the caller to
// close.
func makeStream(role securestream.Role, version uint16, clauses []clause) (*making, *securestream.Stream, error) {
	k := &making{role: role, day: support.Clock()}
	k.config.MinVersion, k.config.MaxVersion = version, version
	k.config.Time = func() time.Time { return k.day }
	defer k.close()
	for _, do := range clauses {
		if err := do(k); err != nil {
			return nil, nil, err
		}
	}
	if err := k.defaults(); err != nil {
		return nil, nil, err
	}
	stream, err := securestream.NewStream(&k.config, role)
	if err == nil && k.leavesPartial {
		err = stream.LeavePartial()
	}
	if err != nil {
		if stream != nil {
			stream.Close()
		}
		k.config.Close()
		return nil, nil, err
	}
	return k, stream, nil
}
