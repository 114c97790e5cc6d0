package securestream_test

import (
	"errors"
	"io"
	"reflect"
	"testing"

	"securestream.example/securestream"
)

// Every exported field is set to something, by its type.
func TestConfig_cloneHasEveryField(t *testing.T) {
	config := new(securestream.Config)
	from := reflect.ValueOf(config).Elem()
	for i := range from.NumField() {
		switch field := from.Field(i); {
		case !from.Type().Field(i).IsExported():
		case field.Kind() == reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case field.Kind() == reflect.String:
			field.SetString("x")
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.Kind() == reflect.Func:
			field.Set(reflect.MakeFunc(field.Type(), func([]reflect.Value) []reflect.Value { return nil }))
		case field.Type() == reflect.TypeFor[io.Writer]():
			config.KeyLogWriter = io.Discard
		case field.Type() == reflect.TypeFor[securestream.ClientSessionCache]():
			config.ClientSessionCache = securestream.NewLRUClientSessionCache(1)
		case field.CanInt():
			field.SetInt(1)
		case field.CanUint():
			field.SetUint(1)
		}
	}
	clone := reflect.ValueOf(config.Clone()).Elem()
	for i := range from.NumField() {
		if name := from.Type().Field(i); name.IsExported() && (from.Field(i).IsZero() || clone.Field(i).IsZero()) {
			t.Errorf("%s: %v became %v", name.Name, from.Field(i), clone.Field(i))
		}
	}
}

func TestConfig_minRSABits(t *testing.T) {
	server := serverConfig(t)
	server.Credentials = []*securestream.Credential{credential(t, "server-rsa2048")}
	client := clientConfig(t)
	client.MinRSABits = 2048
	openSides(t, client, server)

	client = clientConfig(t)
	client.MinRSABits = 3072
	c, s := newSides(t, client, server)
	_, _ = c.shake()
	_, _ = s.shake()
	if _, err := c.shake(); !errors.Is(err, securestream.ErrCertWeakKey) {
		t.Error(err)
	}
	for _, bits := range []int{-1, 1023, 8193, 1<<32 + 2048} {
		client = clientConfig(t)
		client.MinRSABits = bits
		if err := client.Check(securestream.RoleClient); !errors.Is(err, securestream.ErrInvalidArgument) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
}
