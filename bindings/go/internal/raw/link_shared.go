//go:build securestream_shared

package raw

// #cgo pkg-config: securestream
import "C"
