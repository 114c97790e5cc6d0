// Package securestream gives TLS 1.2 and 1.3 over any transport, by the C library of the same name.
//
// There are two layers:
//
//   - [Conn] is a net.Conn: [Dial], [Listen], [Client] and [Server] make one. Names are those of crypto/tls where the
//     meaning is the same.
//   - [Stream] is the state machine below it. It moves bytes between buffers of the caller and does no input or
//     output.
//
// A [Config] says what connections have in common. Its zero value is a safe client: TLS 1.2 and 1.3, chain and name
// verified. Failures are of type [*Error] and are asked with errors.Is and errors.As: see [Code].
//
// # Memory
//
// Native memory is freed by Close. What is dropped without it is freed some time after the garbage collector has found
// it. The library keeps no Go pointer, and nothing is pinned, after a call has returned.
//
// # Goroutines
//
// One goroutine may read while another writes. Configs, credentials and trusts may be shared by all.
package securestream
