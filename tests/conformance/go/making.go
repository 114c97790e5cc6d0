package main

import (
	"time"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// Credentials

func (k *making) add(credential *securestream.Credential, err error) error {
	k.hasLeaf = true
	if err == nil {
		k.parts = append(k.parts, credential)
		k.config.Credentials = append(k.config.Credentials, credential)
	}
	return err
}

func (k *making) addLeaf(chain, key, password string) error {
	return k.add(support.Credential(chain, key, password))
}

func (k *making) addLeafWithKey(name string) error {
	both, err := support.File(name + ".pem")
	if err != nil {
		return err
	}
	return k.add(securestream.NewCredential(both, nil))
}

func (k *making) addDER(name, keyName string) error {
	chain, err := support.File(name + ".der")
	if err != nil {
		return err
	}
	key, err := support.File(keyName + ".key.der")
	if err != nil {
		return err
	}
	return k.add(securestream.NewCredentialDER(chain, key))
}

func (k *making) addPKCS12(name, password string) error {
	pfx, err := support.File(name + ".p12")
	if err != nil {
		return err
	}
	return k.add(securestream.NewCredentialPKCS12(pfx, password))
}

// ofCaller is a chain whose key is elsewhere.
func ofCaller(name string, schemes []string) (*securestream.Credential, error) {
	chain, err := support.File(name + ".pem")
	if err != nil {
		return nil, err
	}
	numbers, err := support.Numbers(support.Schemes, schemes)
	if err != nil {
		return nil, err
	}
	return securestream.NewCredentialCallerSigns(chain, numbers)
}

// Trust

type loader = func(*securestream.Trust, []byte) error

var (
	addPEM loader = (*securestream.Trust).AddPEM
	addDER loader = (*securestream.Trust).AddDER
	addCRL loader = (*securestream.Trust).AddCRL
)

// begin makes an empty trust; of an older one nothing is left.
func (k *making) begin() error {
	trust, err := securestream.NewTrust()
	if err == nil {
		k.parts = append(k.parts, trust)
		k.config.Trust = trust
	}
	return err
}

// trust begins a trust of these files. Without files it has no anchor, where none at all would be that of the system.
func (k *making) trust(load loader, ending string, names ...string) error {
	k.hasTrust = true
	if err := k.begin(); err != nil {
		return err
	}
	return k.addToTrust(load, ending, names...)
}

// need begins a trust where no clause has: what is added goes to the default one.
func (k *making) need() error {
	if k.config.Trust != nil {
		return nil
	}
	require(k.before == nil, "a reload says whom it trusts first")
	return k.begin()
}

func (k *making) addToTrust(load loader, ending string, names ...string) error {
	if err := k.need(); err != nil {
		return err
	}
	for _, name := range names {
		file, err := support.File(name + ending)
		if err == nil {
			err = load(k.config.Trust, file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *making) allowPartialChains() error {
	if err := k.need(); err != nil {
		return err
	}
	return k.config.Trust.AllowPartialChain()
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
		return k.addToTrust(addPEM, ".pem", "root")
	case !k.hasTrust && k.asks:
		return k.addToTrust(addPEM, ".pem", "client-root")
	}
	return nil
}

// newMaking carries out the clauses. The caller closes what it returns, with an error too.
func newMaking(role securestream.Role, version uint16, rings rings, clauses []clause) (*making, error) {
	k := &making{role: role, rings: rings, day: support.Clock(), config: &securestream.Config{SessionTicketsDisabled: true}}
	k.config.MinVersion, k.config.MaxVersion = version, version
	k.config.Time = func() time.Time { return k.day }
	for _, do := range clauses {
		if err := do(k); err != nil {
			return k, err
		}
	}
	return k, k.defaults()
}

// newStream makes a stream of the config.
func (k *making) newStream() (*securestream.Stream, error) {
	config := k.config
	if k.hasNoConfig {
		config = nil
	}
	stream, err := securestream.NewStream(config, k.role)
	if err == nil && k.hasNoConfig {
		err = stream.SetVerifyTime(k.day)
	}
	if err == nil && k.leavesPartial {
		err = stream.LeavePartial()
	}
	if err != nil && stream != nil {
		stream.Close()
		stream = nil
	}
	return stream, err
}

// reload carries out the clauses on a copy of the config without its credentials.
func (k *making) reload(clauses []clause) (*making, error) {
	next := new(making)
	*next = *k
	next.before, next.parts = k, nil
	next.config = k.config.Clone()
	next.config.Credentials = nil
	next.config.Time = func() time.Time { return next.day }
	trust := next.config.Trust
	next.config.Trust = nil // a trust that is in use cannot be added to
	for _, do := range clauses {
		if err := do(next); err != nil {
			return next, err
		}
	}
	if next.config.Trust == nil {
		next.config.Trust = trust
	}
	return next, nil
}

// close lets the config and its parts go, and those that it was copied from.
func (k *making) close() {
	for ; k != nil; k = k.before {
		k.config.Close()
		for _, p := range k.parts {
			p.Close()
		}
	}
}
