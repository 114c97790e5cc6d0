package securestream

import (
	"os"
	"sync"

	"securestream.example/securestream/internal/raw"
)

// Trust is a set of trust anchors, and of revocation lists. It is parsed once, and many configs may have it.
//
// The Add methods and AllowPartialChain belong to one goroutine, before a config uses the trust: then they fail with
// [ErrFrozen]. One that fails has added nothing; those that load files fail with the error of os.ReadFile too.
type Trust struct {
	native native[raw.Trust]
	shared bool // the C object is that of the whole process
}

// NewTrust takes every certificate of PEM bundles as a trust anchor. Errors as of [Trust.AddPEM].
func NewTrust(bundles ...[]byte) (*Trust, error) {
	ptr := raw.Sst_trust_new()
	if ptr == nil {
		return nil, failure("make a trust", raw.SST_ERR_NO_MEMORY, nil)
	}
	t := new(Trust)
	t.native.own(ptr, raw.Sst_trust_free)
	for _, bundle := range bundles {
		if err := t.AddPEM(bundle); err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

// LoadTrust is NewTrust from files.
func LoadTrust(files ...string) (*Trust, error) {
	bundles := make([][]byte, len(files))
	for i, file := range files {
		var err error
		if bundles[i], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return NewTrust(bundles...)
}

var system struct {
	mu  sync.Mutex
	ptr *raw.Trust // lives as long as the process
}

// SystemTrust has the trust anchors of the system: the usual places of the distributions, or what SSL_CERT_FILE (a
// bundle in PEM) and SSL_CERT_DIR (folders) name. A client whose config has no trust uses it.
//
// The first call reads files; all share what it has parsed. Nothing can be added ([ErrFrozen]): for the system's
// anchors beside others see [Trust.AddSystem]. After a failure the next call tries again.
//
// It fails with [ErrSystem] if nothing could be read, [ErrNoCertificate] if that holds no certificate. The message says
// what to give instead.
func SystemTrust() (*Trust, error) {
	system.mu.Lock()
	defer system.mu.Unlock()
	if system.ptr == nil {
		t, err := NewTrust()
		if err != nil {
			return nil, err
		}
		defer t.Close()
		if err := t.AddSystem(); err != nil {
			return nil, err
		}
		system.ptr = raw.Sst_trust_ref(t.native.ptr)
	}
	t := &Trust{shared: true}
	t.native.own(raw.Sst_trust_ref(system.ptr), raw.Sst_trust_free)
	return t, nil
}

// AddPEM adds every certificate of a PEM bundle as a trust anchor, those that are there already not again. [ErrParse]:
// a block is damaged; the message says which and where. [ErrNoCertificate]: there is none. [ErrListTooLong]: more than
// 32,767 anchors.
func (t *Trust) AddPEM(bundle []byte) error {
	return t.add("load trust anchors", func() int32 { return raw.Sst_trust_load_pem(t.native.ptr, bundle) })
}

// AddDER adds certificates in DER, one behind the other, as trust anchors. Errors as of [Trust.AddPEM].
func (t *Trust) AddDER(certificates []byte) error {
	return t.add("load trust anchors", func() int32 { return raw.Sst_trust_load_der(t.native.ptr, certificates) })
}

// AddDERFile is AddDER from a file.
func (t *Trust) AddDERFile(file string) error { return addFile(file, t.AddDER) }

// AddSystem adds the trust anchors of the system. Errors as of [SystemTrust].
func (t *Trust) AddSystem() error {
	err := t.add("load the system's trust anchors", func() int32 { return raw.Sst_trust_load_system(t.native.ptr) })
	if failed, ok := err.(*Error); ok && (failed.Code == ErrSystem || failed.Code == ErrNoCertificate) {
		failed.Message += ": give Config.Trust, or let SSL_CERT_FILE name a bundle in PEM"
	}
	return err
}

// AddCRL adds certificate revocation lists (RFC 5280, 5): PEM, or DER. With one, every certificate of a path but its
// anchor must be covered by a valid list of its issuer, or the chain is refused with [ErrCertCRL]. For new lists make a
// new trust, and a config by [Config.Clone]. [ErrParse]: a list is damaged, or there is none; the message says which.
func (t *Trust) AddCRL(lists []byte) error {
	return t.add("load revocation lists", func() int32 { return raw.Sst_trust_load_crl(t.native.ptr, lists) })
}

// AddCRLFile is AddCRL from a file.
func (t *Trust) AddCRLFile(file string) error { return addFile(file, t.AddCRL) }

// AllowPartialChain lets a chain end at any certificate of the trust, self-signed or not.
func (t *Trust) AllowPartialChain() error {
	return t.add("allow partial chains", func() int32 { return raw.Sst_trust_set_partial_chain(t.native.ptr, 1) })
}

func addFile(file string, add func([]byte) error) error {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return add(bytes)
}

func (t *Trust) add(op string, do func() int32) error {
	if !t.native.enter() {
		return failure(op, raw.SST_ERR_CLOSED, nil)
	}
	defer t.native.leave()
	if t.shared {
		return failure(op, raw.SST_ERR_FROZEN, nil)
	}
	if status := do(); status != raw.SST_OK {
		return failure(op, status, func(e *raw.Error) int32 { return raw.Sst_trust_last_error(t.native.ptr, e) })
	}
	return nil
}

// NumAnchors is how many trust anchors there are.
func (t *Trust) NumAnchors() int {
	if !t.native.enter() {
		return 0
	}
	defer t.native.leave()
	return int(raw.Sst_trust_num_anchors(t.native.ptr))
}

// Close frees the trust, as far as no config needs it any more.
func (t *Trust) Close() error {
	t.native.close()
	return nil
}
