package securestream

import (
	"os"

	"securestream.example/securestream/internal/raw"
)

// Trust is a set of trust anchors. It is parsed once, and many configs may have it.
type Trust struct{ native native[raw.Trust] }

// NewTrust takes every certificate of PEM bundles as a trust anchor.
func NewTrust(bundles ...[]byte) (*Trust, error) {
	t, err := emptyTrust()
	if err != nil {
		return nil, err
	}
	for _, bundle := range bundles {
		if status := raw.Sst_trust_load_pem(t.native.ptr, bundle); status != raw.SST_OK {
			defer t.Close()
			return nil, failure("load trust anchors", status, t.lastError)
		}
	}
	return t, nil
}

// LoadTrust is NewTrust from a file.
func LoadTrust(file string) (*Trust, error) {
	bundle, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return NewTrust(bundle)
}

// SystemTrust has the trust anchors of the system. It reads files. A client whose config has no trust uses it.
func SystemTrust() (*Trust, error) {
	t, err := emptyTrust()
	if err != nil {
		return nil, err
	}
	if status := raw.Sst_trust_load_system(t.native.ptr); status != raw.SST_OK {
		defer t.Close()
		return nil, failure("load the system's trust anchors", status, t.lastError)
	}
	return t, nil
}

func emptyTrust() (*Trust, error) {
	ptr := raw.Sst_trust_new()
	if ptr == nil {
		return nil, failure("make a trust", raw.SST_ERR_NO_MEMORY, nil)
	}
	t := new(Trust)
	t.native.own(ptr, raw.Sst_trust_free)
	return t, nil
}

func (t *Trust) lastError(e *raw.Error) int32 { return raw.Sst_trust_last_error(t.native.ptr, e) }

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
