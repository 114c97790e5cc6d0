package securestream

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"securestream.example/securestream/internal/raw"
)

const (
	sizeofError      = unsafe.Sizeof(raw.Error{})
	sizeofEvent      = unsafe.Sizeof(raw.Event{})
	sizeofStreamInfo = unsafe.Sizeof(raw.StreamInfo{})
)

// native owns one object of the C library. Calls on it stand between enter and leave; close frees the object when the
// last of them has left, so that it may come at any time. If nobody closes, the object is freed some time after the
// garbage collector has found the owner.
type native[T any] struct {
	ptr     *T
	uses    atomic.Int64 // calls in progress; below zero: closed
	freed   atomic.Bool
	free    func(*T)
	cleanup runtime.Cleanup
}

const closed = math.MinInt64

// own takes over ptr. n must be a part of an object of the heap that lives as long as ptr is wanted.
func (n *native[T]) own(ptr *T, free func(*T)) {
	n.ptr, n.free = ptr, free
	n.cleanup = runtime.AddCleanup(n, free, ptr)
}

// enter begins a call; false: closed.
func (n *native[T]) enter() bool {
	if n.uses.Add(1) > 0 {
		return true
	}
	n.leave()
	return false
}

// leave ends a call. It also keeps the owner alive up to here.
func (n *native[T]) leave() {
	if n.uses.Add(-1) == closed {
		n.release()
	}
}

// close forbids further calls; false: it was closed already.
func (n *native[T]) close() bool {
	for {
		uses := n.uses.Load()
		if uses < 0 {
			return false
		}
		if n.uses.CompareAndSwap(uses, uses+closed) {
			if uses == 0 {
				n.release()
			}
			return true
		}
	}
}

func (n *native[T]) release() {
	if n.ptr != nil && n.freed.CompareAndSwap(false, true) {
		n.cleanup.Stop()
		n.free(n.ptr)
	}
}

// LiveObjects is how many objects of the C library exist in this process: 0 when all are freed. It is for tests.
func LiveObjects() int { return int(raw.Sst_live_objects()) }

// AllocatedBytes is how much heap the C library holds now. It is for tests.
func AllocatedBytes() int { return int(raw.Sst_allocated_bytes()) }

// LibraryVersion is the version of the C library, for example "0.1.0".
func LibraryVersion() string { return raw.Sst_version_string() }
