package securestream

import (
	"bytes"
	"context"
	"crypto"
	"errors"

	"securestream.example/securestream/internal/raw"
)

// asksClient tells that the client's hello is wanted before the config.
func (c *Config) asksClient() bool { return c.GetConfigForClient != nil || c.GetCertificate != nil }

// answer asks who the config names, and posts the answer. When that fails the answer is no.
func (c *Conn) answer(ctx context.Context, want Status) error {
	err := c.ask(ctx, want)
	if err != nil {
		_ = c.stream.Reject(-1) // ErrState: it was answered, and the handshake knows why it fails
	}
	return err
}

func (c *Conn) ask(ctx context.Context, want Status) error {
	config := c.stream.config.Load()
	switch want {
	case StatusWantClientHello:
		return c.askForConfig(ctx, config)
	case StatusWantCertificate:
		return c.askForCertificate(ctx, config)
	case StatusWantCertificateVerify:
		return c.askWhetherGood(ctx, config)
	case StatusWantPrivateKeyOperation:
		return c.sign(config)
	case StatusWantSession:
		return c.findSession(config)
	case StatusWantTicketDecrypt:
		return c.openTicket(config)
	case StatusWantEarlyDataRetry:
		return c.stream.ContinueWithoutEarlyData()
	}
	return nobodyAnswers(want)
}

func nobodyAnswers(want Status) error {
	e := failure("handshake", raw.SST_ERR_UNSUPPORTED, nil)
	e.Message = "nobody answers " + want.String()
	return e
}

func (c *Conn) askForConfig(ctx context.Context, config *Config) error {
	c.hello = c.stream.ClientHello()
	if c.hello == nil || !config.asksClient() {
		return nobodyAnswers(StatusWantClientHello)
	}
	c.hello.Conn, c.hello.ctx = c.conn, ctx
	if config.GetConfigForClient != nil {
		chosen, err := config.GetConfigForClient(c.hello)
		if err != nil {
			return err
		}
		if chosen != nil {
			config = chosen
		}
	}
	return c.stream.SetConfig(config)
}

func (c *Conn) askForCertificate(ctx context.Context, config *Config) error {
	var credential *Credential
	var err error
	switch {
	case c.role == RoleServer && config.GetCertificate != nil && c.hello != nil:
		credential, err = config.GetCertificate(c.hello)
	case c.role == RoleClient && config.GetClientCertificate != nil:
		request := c.stream.CertificateRequest()
		request.ctx = ctx
		credential, err = config.GetClientCertificate(request)
	default:
		err = nobodyAnswers(StatusWantCertificate)
	}
	if err != nil {
		return err
	}
	return c.stream.SetCredential(credential)
}

func (c *Conn) askWhetherGood(ctx context.Context, config *Config) error {
	if config.VerifyPeer == nil {
		return nobodyAnswers(StatusWantCertificateVerify)
	}
	peer, err := c.stream.PeerCertificate()
	if err != nil {
		return err
	}
	peer.ctx = ctx
	verdict := peer.Verdict
	switch err := config.VerifyPeer(peer); {
	case err == nil:
		return c.stream.Accept()
	case verdict != nil && errors.Is(err, verdict):
		return c.stream.AcceptDefault()
	default:
		return err
	}
}

// sign asks the signer of the credential whose chain is sent.
func (c *Conn) sign(config *Config) error {
	scheme, message, err := c.stream.PrivateKeyOperation()
	if err != nil {
		return err
	}
	signer := c.signer(config, c.stream.LocalCertificate(0))
	if signer == nil {
		return nobodyAnswers(StatusWantPrivateKeyOperation)
	}
	signature, err := signWith(signer, scheme, message)
	if err != nil {
		return err
	}
	return c.stream.SetSignature(signature)
}

func (c *Conn) signer(config *Config, leaf []byte) crypto.Signer {
	if leaf == nil {
		return nil
	}
	credentials := config.Credentials
	if chosen := c.stream.chosen.Load(); chosen != nil {
		credentials = []*Credential{chosen}
	}
	for _, credential := range credentials {
		if credential.signer != nil && bytes.Equal(credential.leaf, leaf) {
			return credential.signer
		}
	}
	return nil
}

// answerError is an error of who answers a question.
type answerError struct{ error }
