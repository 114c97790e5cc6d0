package main

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var (
	errRevoked = errors.New("a certificate is revoked")
	errNoList  = errors.New("no usable revocation list")
)

// lists returns the revocation lists of the option crl=FILE,...
func lists(data, options string) ([]*x509.RevocationList, error) {
	var found []*x509.RevocationList
	for _, option := range strings.Fields(options) {
		names, is := strings.CutPrefix(option, "crl=")
		if !is {
			continue
		}
		for _, name := range strings.Split(names, ",") {
			blocks, err := listsOf(data, name)
			if err != nil {
				return nil, err
			}
			for _, der := range blocks {
				list, err := x509.ParseRevocationList(der)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				found = append(found, list)
			}
		}
	}
	return found, nil
}

func listsOf(data, name string) ([][]byte, error) {
	if strings.HasSuffix(name, ".der") {
		der, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			return nil, err
		}
		return elements(der)
	}
	text, err := os.ReadFile(filepath.Join(data, name+".pem"))
	if err != nil {
		return nil, err
	}
	var found [][]byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		found = append(found, block.Bytes)
	}
	return found, nil
}

// revocation looks for one of the chains whose certificates but the anchor are all covered, and none revoked. The
// standard library has the parts, but not this rule (RFC 5280, 6.3).
func revocation(chains [][]*x509.Certificate, given []*x509.RevocationList, now time.Time) error {
	worst := errNoList
	for _, chain := range chains {
		err := chainIsCovered(chain, given, now)
		if err == nil {
			return nil
		}
		if errors.Is(err, errRevoked) {
			worst = err
		}
	}
	return worst
}

func chainIsCovered(chain []*x509.Certificate, given []*x509.RevocationList, now time.Time) error {
	var all error
	for i, certificate := range chain[:len(chain)-1] {
		all = errors.Join(all, isCovered(certificate, chain[i+1], given, now))
	}
	return all
}

func isCovered(certificate, issuer *x509.Certificate, given []*x509.RevocationList, now time.Time) error {
	var newest *x509.RevocationList
	for _, list := range given {
		if list.CheckSignatureFrom(issuer) != nil || !isUsable(list, certificate, now) {
			continue
		}
		if newest == nil || list.ThisUpdate.After(newest.ThisUpdate) {
			newest = list
		}
	}
	if newest == nil {
		return errNoList
	}
	for _, entry := range newest.RevokedCertificateEntries {
		if entry.SerialNumber.Cmp(certificate.SerialNumber) == 0 {
			return errRevoked
		}
	}
	return nil
}

// isUsable: valid now, and without a critical extension but one: a scope that has the certificate in it.
func isUsable(list *x509.RevocationList, certificate *x509.Certificate, now time.Time) bool {
	if now.Before(list.ThisUpdate) || now.After(list.NextUpdate) {
		return false
	}
	for _, extension := range list.Extensions {
		if !extension.Critical {
			continue
		}
		// issuingDistributionPoint (RFC 5280, 5.2.5) with onlyContainsUserCerts or onlyContainsCACerts alone
		scope := extension.Value
		if extension.Id.String() != "2.5.29.28" || len(scope) != 5 || scope[4] != 0xff {
			return false
		}
		if scope[2] != 0x81 && scope[2] != 0x82 || (scope[2] == 0x82) != certificate.IsCA {
			return false
		}
	}
	return true
}
