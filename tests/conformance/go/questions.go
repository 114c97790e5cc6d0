package main

import (
	"crypto/x509"
	"errors"
	"slices"

	"securestream.example/securestream"
	"securestream.example/tests/go/support"
)

// questionForms are about what a stream stops for, and the facts that it offers (README.md, section 7).
var questionForms = []form{
	{"ROLE stops for QUESTION", func(w *world, m match) {
		e := w.end(m.role())
		require(e.has(securestream.StateSuspended), "the state is %#x", e.stream.State())
		e.once(handshake, e.in.waiting)
		same("the status of handshake", e.progress.Status, get[securestream.Status](m, 1))
		same("bytes consumed", e.progress.Consumed, 0)
		same("bytes produced", e.progress.Produced, 0)
	}},
	{"ROLE answering ANSWER fails with CODE", func(w *world, m match) {
		wantCode("the answer", get[answer](m, 1)(w, w.end(m.role())), get[securestream.Code](m, 2))
	}},
	{"hello of ROLE lists versions LIST", helloLists(versions, func(h *hello) []uint16 { return h.SupportedVersions })},
	{"hello of ROLE lists suites LIST", helloLists(support.Suites, func(h *hello) []uint16 { return h.CipherSuites })},
	{"hello of ROLE lists groups LIST", helloLists(support.Groups, func(h *hello) []uint16 { return h.SupportedCurves })},
	{"hello of ROLE lists schemes LIST", helloLists(support.Schemes, func(h *hello) []uint16 { return h.SignatureSchemes })},
	{"hello of ROLE lists protocols LIST", func(w *world, m match) {
		got, want := w.end(m.role()).hello().SupportedProtos, get[[]string](m, 1)
		require(slices.Equal(got, want), "protocols: expected %q, got %q", want, got)
	}},
	{"hello of ROLE lists N protocols", func(w *world, m match) {
		same("protocols", len(w.end(m.role()).hello().SupportedProtos), get[int](m, 1))
	}},
	{"hello of ROLE has extension N", func(w *world, m match) {
		require(w.end(m.role()).hello().Extension(uint16(get[int](m, 1))) != nil, "there is no such extension")
	}},
	{"hello of ROLE has no extension N", func(w *world, m match) {
		sameBytes("the extension", w.end(m.role()).hello().Extension(uint16(get[int](m, 1))), nil)
	}},
	{"extension N in hello of ROLE is DATA", func(w *world, m match) {
		sameBytes("the extension", w.end(m.role()).hello().Extension(uint16(get[int](m, 0))), get[[]byte](m, 2))
	}},
	{"hello of ROLE is what was sent", func(w *world, m match) {
		e := w.end(m.role())
		whole, _ := records(e.in.all)
		var sent []byte
		for _, r := range whole {
			sent = append(sent, r[5:]...)
		}
		require(len(sent) > 4, "nothing was sent")
		size := int(sent[1])<<16 | int(sent[2])<<8 | int(sent[3])
		require(len(sent) >= 4+size, "only %d bytes were sent", len(sent))
		sameBytes("the hello", e.hello().Message, sent[4:4+size])
	}},
	{"hello of ROLE is gone", func(w *world, m match) {
		require(w.end(m.role()).stream.ClientHello() == nil, "there is a hello")
	}},
	{"peer of ROLE accepts schemes LIST", func(w *world, m match) {
		sameNumbers(support.Schemes, w.end(m.role()).stream.CertificateRequest().SignatureSchemes, get[[]string](m, 1))
	}},
	{"peer of ROLE accepts issuers LIST", acceptsIssuers},
	{"peer of ROLE accepts any issuer", func(w *world, m match) {
		same("issuers", len(w.end(m.role()).stream.CertificateRequest().AcceptableCAs), 0)
	}},
	{"verdict of ROLE is good", func(w *world, m match) {
		require(w.end(m.role()).peer().Verdict == nil, "the verdict is %v", w.end(m.role()).peer().Verdict)
	}},
	{"verdict of ROLE is CODE", func(w *world, m match) {
		wantCode("the verdict", w.end(m.role()).peer().Verdict, get[securestream.Code](m, 1))
	}},
	{"reasons of the verdict of ROLE are LIST", func(w *world, m match) {
		sameReasons(w.end(m.role()).verdict().Reasons, get[[]string](m, 1))
	}},
	{"verdict of ROLE says TEXT", func(w *world, m match) {
		contains("the message", w.end(m.role()).verdict().Message, get[string](m, 1))
	}},
	{"ROLE has no verdict", func(w *world, m match) {
		_, err := w.end(m.role()).stream.PeerCertificate()
		wantCode("the verdict", err, securestream.ErrState)
	}},
	{"ROLE is to sign by TEXT", func(w *world, m match) {
		scheme, _ := w.end(m.role()).operation()
		same("the scheme", securestream.SchemeName(scheme), get[string](m, 1))
	}},
	{"ROLE is to sign N bytes", func(w *world, m match) {
		_, message := w.end(m.role()).operation()
		same("bytes to sign", len(message), get[int](m, 1))
	}},
	{"what ROLE is to sign begins with DATA", func(w *world, m match) {
		_, message := w.end(m.role()).operation()
		head := get[[]byte](m, 1)
		sameBytes("what is to be signed", message[:min(len(message), len(head))], head)
	}},
	{"ROLE is to sign nothing", func(w *world, m match) {
		_, _, err := w.end(m.role()).stream.PrivateKeyOperation()
		wantCode("the operation", err, securestream.ErrState)
	}},
}

type hello = securestream.ClientHelloInfo

var versions = map[string]uint16{"1.2": securestream.VersionTLS12, "1.3": securestream.VersionTLS13}

func (e *end) hello() *hello {
	h := e.stream.ClientHello()
	require(h != nil, "there is no hello")
	return h
}

func helloLists(names map[string]uint16, of func(*hello) []uint16) func(*world, match) {
	return func(w *world, m match) { sameNumbers(names, of(w.end(m.role()).hello()), get[[]string](m, 1)) }
}

func sameNumbers(names map[string]uint16, got []uint16, list []string) {
	want, err := support.Numbers(names, list)
	require(err == nil, "%v", err)
	require(slices.Equal(got, want), "expected %#x, got %#x", want, got)
}

func acceptsIssuers(w *world, m match) {
	got, names := w.end(m.role()).stream.CertificateRequest().AcceptableCAs, get[[]string](m, 1)
	require(len(got) == len(names), "there are %d issuers", len(got))
	for i, name := range names {
		der, err := support.Certificate(name)
		require(err == nil, "%v", err)
		certificate, err := x509.ParseCertificate(der)
		require(err == nil, "%v", err)
		sameBytes("the issuer", got[i], certificate.RawSubject)
	}
}

func (e *end) peer() *securestream.PeerCertificateInfo {
	peer, err := e.stream.PeerCertificate()
	require(err == nil, "%v", err)
	return peer
}

// verdict is one that is not good.
func (e *end) verdict() *securestream.Error {
	var verdict *securestream.Error
	require(errors.As(e.peer().Verdict, &verdict), "the verdict is good")
	return verdict
}

func (e *end) operation() (scheme uint16, message []byte) {
	scheme, message, err := e.stream.PrivateKeyOperation()
	require(err == nil, "%v", err)
	return scheme, message
}
