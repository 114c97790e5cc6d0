package support

import (
	"bytes"
	"testing"

	"securestream.example/securestream"
)

func TestPattern_beginsAsSpecified(t *testing.T) {
	if got := Pattern(8); !bytes.Equal(got, []byte{0x3c, 0x5e, 0x81, 0xb4, 0x0c, 0x5e, 0xc6, 0x8e}) {
		t.Errorf("% x", got)
	}
}

func TestNames_areThoseOfTheLibrary(t *testing.T) {
	for _, kind := range []struct {
		numbers map[string]uint16
		name    func(uint16) string
	}{{Groups, securestream.GroupName}, {Suites, securestream.CipherSuiteName}, {Schemes, securestream.SchemeName}} {
		for name, number := range kind.numbers {
			if got := kind.name(number); got != name {
				t.Errorf("%d is %s, not %s", number, got, name)
			}
		}
	}
}
