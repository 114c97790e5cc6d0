// Package support has what the drivers in Go share: names, the pattern, and the files of tests/data.
package support

import (
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"securestream.example/securestream"
)

// Clock is the time at which certificates are judged.
func Clock() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// Groups, suites and schemes by their names (tests/conformance/README.md, section 3).
var (
	Groups = map[string]uint16{
		"x25519": 29, "secp256r1": 23, "secp384r1": 24, "secp521r1": 25, "X25519MLKEM768": 4588, "MLKEM1024": 514,
	}
	Suites = map[string]uint16{
		"TLS_AES_128_GCM_SHA256":                        0x1301,
		"TLS_AES_256_GCM_SHA384":                        0x1302,
		"TLS_CHACHA20_POLY1305_SHA256":                  0x1303,
		"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256":       0xc02b,
		"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384":       0xc02c,
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256":         0xc02f,
		"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384":         0xc030,
		"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256":   0xcca8,
		"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": 0xcca9,
	}
	Schemes = map[string]uint16{
		"ecdsa_secp256r1_sha256": 0x0403, "ecdsa_secp384r1_sha384": 0x0503, "ecdsa_secp521r1_sha512": 0x0603,
		"ed25519":             0x0807,
		"rsa_pss_rsae_sha256": 0x0804, "rsa_pss_rsae_sha384": 0x0805, "rsa_pss_rsae_sha512": 0x0806,
		"rsa_pkcs1_sha256": 0x0401, "rsa_pkcs1_sha384": 0x0501, "rsa_pkcs1_sha512": 0x0601,
	}
)

// Numbers looks names up.
func Numbers(in map[string]uint16, names []string) ([]uint16, error) {
	numbers := make([]uint16, len(names))
	for i, name := range names {
		number, known := in[name]
		if !known {
			return nil, fmt.Errorf("unknown name '%s'", name)
		}
		numbers[i] = number
	}
	return numbers, nil
}

// Pattern is n bytes of pattern.
func Pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = 1664525*x + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// File reads a file of tests/data. Programs run in the root of the repository.
func File(name string) ([]byte, error) { return os.ReadFile(filepath.Join("tests", "data", name)) }

// Credential loads a chain, and a key with its password.
func Credential(chain, key, password string) (*securestream.Credential, error) {
	chainPEM, err := File(chain + ".pem")
	if err != nil {
		return nil, err
	}
	keyPEM, err := File(key + ".key")
	if err != nil {
		return nil, err
	}
	return securestream.NewEncryptedCredential(chainPEM, keyPEM, password)
}

// Trust has the certificates of files as anchors.
func Trust(names ...string) (*securestream.Trust, error) {
	var bundles [][]byte
	for _, name := range names {
		bundle, err := File(name + ".pem")
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, bundle)
	}
	return securestream.NewTrust(bundles...)
}

// Certificate is the first certificate of a file, in DER.
func Certificate(name string) ([]byte, error) {
	text, err := File(name + ".pem")
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return block.Bytes, nil
		}
	}
	return nil, fmt.Errorf("%s.pem has no certificate", name)
}
