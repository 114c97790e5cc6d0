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
	rings                   rings
	config                  *securestream.Config
	day                     time.Time
	leavesPartial           bool
	hasLeaf, hasTrust, asks bool // a clause has said so
	hasName                 bool
	hasNoConfig             bool
	saysStream              bool    // a clause of the stream was carried out
	before                  *making // whose config this one is a copy of
	parts                   []part  // that were made for the config
}

// part is a credential or a trust.
type part interface{ Close() error }

// clause is one that was read: what it does.
type clause func(*making) error

type clauseForm struct {
	pattern string
	do      func(*making, match) error
}

// The first that matches counts: those with more words stand before those that begin with the same ones.
var clauseForms = []clauseForm{
	{"leaf in PKCS#12 LEAF opened by TEXT", func(k *making, m match) error {
		return k.addPKCS12(get[string](m, 0), get[string](m, 1))
	}},
	{"leaf in PKCS#12 LEAF", func(k *making, m match) error { return k.addPKCS12(get[string](m, 0), "") }},
	{"leaf in DER LEAF with key TEXT", func(k *making, m match) error {
		return k.addDER(get[string](m, 0), get[string](m, 1))
	}},
	{"leaf LEAF with its own key", func(k *making, m match) error { return k.addLeafWithKey(get[string](m, 0)) }},
	{"leaf LEAF with key TEXT opened by TEXT", func(k *making, m match) error {
		return k.addLeaf(get[string](m, 0), get[string](m, 1), get[string](m, 2))
	}},
	{"leaf LEAF with key TEXT", func(k *making, m match) error {
		return k.addLeaf(get[string](m, 0), get[string](m, 1), "")
	}},
	{"leaf LEAF whose caller signs by LIST", func(k *making, m match) error {
		return k.add(ofCaller(get[string](m, 0), get[[]string](m, 1)))
	}},
	{"leaf LEAF", func(k *making, m match) error { return k.addLeaf(get[string](m, 0), get[string](m, 0), "") }},
	{"no leaf", func(k *making, _ match) error { k.hasLeaf = true; return nil }},
	{"trusts nobody", func(k *making, _ match) error { return k.trust(addPEM, ".pem") }},
	{"trusts LIST in DER", func(k *making, m match) error { return k.trust(addDER, ".der", get[[]string](m, 0)...) }},
	{"trusts LIST", func(k *making, m match) error { return k.trust(addPEM, ".pem", get[[]string](m, 0)...) }},
	{"checks revocation by LIST in DER", func(k *making, m match) error {
		return k.addToTrust(addCRL, ".der", get[[]string](m, 0)...)
	}},
	{"checks revocation by LIST", func(k *making, m match) error {
		return k.addToTrust(addCRL, ".pem", get[[]string](m, 0)...)
	}},
	{"accepts partial chains", func(k *making, _ match) error { return k.allowPartialChains() }},
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
	{"stops for QUESTIONS", func(k *making, m match) error {
		k.config.SuspendOn = get[[]securestream.Status](m, 0)
		return nil
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
	{"accepts SHA-1 in chains", func(k *making, _ match) error { k.config.AllowSHA1 = true; return nil }},
	{"sends fragments of at most N bytes", func(k *making, m match) error { k.config.MaxFragment = get[int](m, 0); return nil }},
	{"sends N session tickets", func(k *making, m match) error {
		k.config.SessionTickets = get[int](m, 0)
		k.config.SessionTicketsDisabled = k.config.SessionTickets == 0
		return nil
	}},
	{"has ticket keys TEXT", func(k *making, m match) error {
		k.config.TicketKeys = k.rings.of(get[string](m, 0))
		return nil
	}},
	{"keeps sessions for N seconds", func(k *making, m match) error {
		k.config.SessionLifetime = time.Duration(get[int](m, 0)) * time.Second
		if k.config.SessionLifetime == 0 {
			k.config.SessionLifetime = -1
		}
		return nil
	}},
	{"allows early data", func(k *making, _ match) error { k.config.EarlyData = true; return nil }},
	{"wants sessions", func(k *making, _ match) error { return k.report(securestream.EventSession) }},
	{"reports early data", func(k *making, _ match) error { return k.report(securestream.EventEarlyData) }},
	{"keeps a key log", func(k *making, _ match) error { return k.report(securestream.EventKeyLog) }},
	{"reports alerts", func(k *making, _ match) error { return k.report(securestream.EventAlertReceived) }},
	{"reports key updates", func(k *making, _ match) error { return k.report(securestream.EventKeysUpdated) }},
	{"expects no name", func(k *making, _ match) error { return k.expect("") }},
	{"expects TEXT", func(k *making, m match) error { return k.expect(get[string](m, 0)) }},
	{"checks the name TEXT", func(k *making, m match) error {
		k.saysStream, k.config.VerifyName = true, get[string](m, 0)
		return nil
	}},
	{"judges on DAY", func(k *making, m match) error { k.saysStream, k.day = true, get[time.Time](m, 0); return nil }},
	{"leaves partial records", func(k *making, _ match) error { k.saysStream, k.leavesPartial = true, true; return nil }},
	{"has no config", func(k *making, _ match) error { k.saysStream, k.hasNoConfig = true, true; return nil }},
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
