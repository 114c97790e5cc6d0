//go:build securestream_flags && !securestream_shared

// With this tag CGO_CFLAGS and CGO_LDFLAGS say where the header and the library are.

package raw

import "C"
