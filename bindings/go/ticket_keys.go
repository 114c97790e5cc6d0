package securestream

import (
	"encoding/binary"
	"math"
	"time"

	"securestream.example/securestream/internal/raw"
)

// TicketKey is one key of a ring.
type TicketKey struct {
	Name    [16]byte
	Secret  [64]byte
	Expires time.Time // zero: never
}

// TicketKeys is a ring of keys for session tickets: the newest seals, all open. Configs that share a ring resume one
// another's sessions. Any goroutine may change it at any time; that holds from the next handshake on.
type TicketKeys struct{ native native[raw.TicketKeys] }

// NewTicketKeys makes a ring that makes and rotates its own keys; or, with keys, one of these keys alone, the one that
// seals first. Servers that share sessions beyond one process get their keys so, best changed daily: whoever has a key
// reads the tickets that it sealed. [ErrBadTicketKeys]: more than 256 keys, or a name twice.
func NewTicketKeys(keys ...TicketKey) (*TicketKeys, error) {
	ptr := raw.Sst_ticket_keys_new()
	if ptr == nil {
		return nil, failure("make ticket keys", raw.SST_ERR_NO_MEMORY, nil)
	}
	k := new(TicketKeys)
	k.native.own(ptr, raw.Sst_ticket_keys_free)
	if len(keys) == 0 {
		return k, nil
	}
	if err := k.Replace(keys...); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// Replace puts these keys in place of all; none: no ticket is made or opened. The ring makes no keys of its own any more.
// When it fails the ring is as it was.
func (k *TicketKeys) Replace(keys ...TicketKey) error {
	ring := make([]byte, 0, 88*len(keys))
	for i := range keys {
		expires := uint64(0)
		if !keys[i].Expires.IsZero() {
			expires = uint64(max(keys[i].Expires.Unix(), 1))
		}
		ring = append(append(ring, keys[i].Name[:]...), keys[i].Secret[:]...)
		ring = binary.BigEndian.AppendUint64(ring, expires)
	}
	err := k.call("replace ticket keys", func() int32 { return raw.Sst_ticket_keys_replace(k.native.ptr, ring) })
	clear(ring)
	return err
}

// Rotate makes a new key that seals from now on; older keys go on opening until they expire. The ring makes its own keys
// again.
func (k *TicketKeys) Rotate() error {
	return k.call("rotate ticket keys", func() int32 { return raw.Sst_ticket_keys_rotate(k.native.ptr) })
}

// Close gives up the ring. Configs that have it keep it alive.
func (k *TicketKeys) Close() error {
	if !k.native.close() {
		return failure("close", raw.SST_ERR_CLOSED, nil)
	}
	return nil
}

func (k *TicketKeys) call(op string, do func() int32) error {
	if !k.native.enter() {
		return failure(op, raw.SST_ERR_CLOSED, nil)
	}
	defer k.native.leave()
	if status := do(); status != raw.SST_OK {
		return failure(op, status, nil)
	}
	return nil
}

// share is another owner of the ring.
func (k *TicketKeys) share() *TicketKeys {
	if k == nil || !k.native.enter() {
		return nil
	}
	defer k.native.leave()
	other := new(TicketKeys)
	other.native.own(raw.Sst_ticket_keys_ref(k.native.ptr), raw.Sst_ticket_keys_free)
	return other
}

// addSessions gives a C object what the config says of sessions. A server without TicketKeys has a ring of its own, which
// clones share: a reloaded config resumes the sessions of the one before. c.mu is locked.
func (c *Config) addSessions(b *builtConfig, role Role) error {
	keys := c.TicketKeys
	if keys == nil && role == RoleServer {
		if c.ring == nil {
			ring, err := NewTicketKeys()
			if err != nil {
				return err
			}
			c.ring = ring
		}
		keys = c.ring
	}
	if keys != nil {
		err := keys.call("configure TicketKeys", func() int32 {
			return raw.Sst_config_set_ticket_keys(b.native.ptr, keys.native.ptr)
		})
		if err != nil {
			return err
		}
	}
	if c.SessionLifetime != 0 {
		seconds := uint32(min(max(c.SessionLifetime/time.Second, 0), math.MaxInt32))
		if status := raw.Sst_config_set_session_lifetime(b.native.ptr, seconds); status != raw.SST_OK {
			return failure("configure SessionLifetime", status, b.lastError)
		}
	}
	if c.EarlyData {
		if status := raw.Sst_config_set_early_data(b.native.ptr, 1); status != raw.SST_OK {
			return failure("configure EarlyData", status, b.lastError)
		}
	}
	return nil
}
