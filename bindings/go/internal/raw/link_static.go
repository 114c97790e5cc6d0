//go:build !securestream_shared && !securestream_flags

package raw

// #cgo pkg-config: securestream-static
import "C"
