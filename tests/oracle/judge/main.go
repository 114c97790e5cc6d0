// judge DATA: judges every row of DATA/verdicts.txt with crypto/x509, one line a row: NAME, a tab, "OK" or the error.
package main

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type row struct {
	name, trust, sent, role, host, time, options string
}

func rows(data string) []row {
	text, err := os.ReadFile(filepath.Join(data, "verdicts.txt"))
	if err != nil {
		log.Fatal(err)
	}
	var found []row
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		found = append(found, row{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]})
	}
	return found
}

// read returns what files hold, in DER. What does not parse is still there.
func read(data, names string) [][]byte {
	var found [][]byte
	for _, name := range strings.Fields(names) {
		if strings.HasSuffix(name, ".der") {
			der, err := os.ReadFile(filepath.Join(data, name))
			if err != nil {
				log.Fatal(err)
			}
			found = append(found, der)
			continue
		}
		text, err := os.ReadFile(filepath.Join(data, name+".pem"))
		if err != nil {
			log.Fatal(err)
		}
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if block.Type == "CERTIFICATE" {
				found = append(found, block.Bytes)
			}
		}
	}
	return found
}

// elements splits DER that stands one behind the other.
func elements(der []byte) ([][]byte, error) {
	var found [][]byte
	for len(der) > 0 {
		var one asn1.RawValue
		rest, err := asn1.Unmarshal(der, &one)
		if err != nil {
			return nil, err
		}
		found, der = append(found, one.FullBytes), rest
	}
	return found, nil
}

func anchors(data, names string) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for _, der := range read(data, names) {
		certificates, err := x509.ParseCertificates(der)
		if err != nil {
			return nil, fmt.Errorf("trust: %w", err)
		}
		for _, certificate := range certificates {
			pool.AddCert(certificate)
		}
	}
	return pool, nil
}

func judge(data string, r row) error {
	sent := read(data, r.sent)
	leaf, err := x509.ParseCertificate(sent[0])
	if err != nil {
		return err
	}
	options := x509.VerifyOptions{CurrentTime: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	options.KeyUsages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if r.role == "client" {
		options.KeyUsages[0] = x509.ExtKeyUsageClientAuth
	}
	if r.time != "-" {
		if options.CurrentTime, err = time.Parse(time.RFC3339, r.time); err != nil {
			return err
		}
	}
	if options.Roots, err = anchors(data, r.trust); err != nil {
		return err
	}
	options.Intermediates = x509.NewCertPool()
	for _, der := range sent[1:] {
		if certificate, err := x509.ParseCertificate(der); err == nil {
			options.Intermediates.AddCert(certificate)
		}
	}
	chains, err := leaf.Verify(options)
	given, unread := lists(data, r.options)
	if unread != nil {
		return unread
	}
	if err == nil && len(given) > 0 {
		err = revocation(chains, given, options.CurrentTime)
	}
	if r.host == "-" {
		return err
	}
	return errors.Join(err, leaf.VerifyHostname(r.host))
}

func main() {
	data := os.Args[1]
	var out bytes.Buffer
	for _, r := range rows(data) {
		verdict := "OK"
		if err := judge(data, r); err != nil {
			verdict = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		fmt.Fprintf(&out, "%s\t%s\n", r.name, verdict)
	}
	if _, err := out.WriteTo(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
