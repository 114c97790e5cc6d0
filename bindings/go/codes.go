package securestream

import (
	"errors"
	"io"
	"net"

	"securestream.example/securestream/internal/raw"
)

// Code is the number of a failure. It is an error itself, to be compared with: errors.Is(err, ErrCertExpired).
//
// Numbers are never used again, and new ones may come. The number of a failure by an alert n is ErrAlertReceived - n;
// errors.Is(err, ErrAlertReceived) is true for all of them.
type Code int32

// The codes.
const (
	ErrInvalidArgument        Code = raw.SST_ERR_INVALID_ARGUMENT   // NULL, a length too large, overlapping buffers, an unknown constant
	ErrState                  Code = raw.SST_ERR_STATE              // not in this state of the object, or not in this role
	ErrBusy                   Code = raw.SST_ERR_BUSY               // another thread is in a call that this one may not run beside
	ErrFrozen                 Code = raw.SST_ERR_FROZEN             // the object is in use and cannot be changed any more
	ErrClosed                 Code = raw.SST_ERR_CLOSED             // after Stream.CloseWrite
	ErrUnsupported            Code = raw.SST_ERR_UNSUPPORTED        // not built, or not possible with this protocol
	ErrForked                 Code = raw.SST_ERR_FORKED             // the stream belongs to the parent process
	ErrNoMemory               Code = raw.SST_ERR_NO_MEMORY          // an allocation failed
	ErrSystem                 Code = raw.SST_ERR_SYSTEM             // a call of the system failed; detail is errno
	ErrParse                  Code = raw.SST_ERR_PARSE              // the bytes are not what they should be; the message names the place
	ErrNoCertificate          Code = raw.SST_ERR_NO_CERTIFICATE     // no certificate in the input
	ErrNoPrivateKey           Code = raw.SST_ERR_NO_PRIVATE_KEY     // no private key in the input
	ErrKeyMismatch            Code = raw.SST_ERR_KEY_MISMATCH       // the private key does not belong to the leaf certificate
	ErrUnsupportedKey         Code = raw.SST_ERR_UNSUPPORTED_KEY    // a key of a kind or size that is not accepted
	ErrPasswordRequired       Code = raw.SST_ERR_PASSWORD_REQUIRED  // the key is encrypted and no password was given
	ErrBadPassword            Code = raw.SST_ERR_BAD_PASSWORD       // the password does not open it
	ErrUnsupportedCipher      Code = raw.SST_ERR_UNSUPPORTED_CIPHER // encrypted by a cipher that is not accepted
	ErrNoCredential           Code = raw.SST_ERR_NO_CREDENTIAL      // a server config without a credential, or one without a key
	ErrNoTrust                Code = raw.SST_ERR_NO_TRUST           // verification is on and there is no trust anchor
	ErrBadHost                Code = raw.SST_ERR_BAD_HOST           // not a host name in ASCII, nor an IP address
	ErrNoExpectedName         Code = raw.SST_ERR_NO_EXPECTED_NAME   // a verifying client without a name; sticky
	ErrBadALPN                Code = raw.SST_ERR_BAD_ALPN           // an empty protocol name, one over 255 bytes, or a list too long
	ErrBadVersion             Code = raw.SST_ERR_BAD_VERSION
	ErrBadGroup               Code = raw.SST_ERR_BAD_GROUP
	ErrBadSuite               Code = raw.SST_ERR_BAD_SUITE
	ErrBadScheme              Code = raw.SST_ERR_BAD_SCHEME
	ErrListTooLong            Code = raw.SST_ERR_LIST_TOO_LONG
	ErrBadTicketKeys          Code = raw.SST_ERR_BAD_TICKET_KEYS
	ErrBadSession             Code = raw.SST_ERR_BAD_SESSION
	ErrProtocol               Code = raw.SST_ERR_PROTOCOL                  // the peer broke the protocol in a way without a code of its own
	ErrBadRecordMAC           Code = raw.SST_ERR_BAD_RECORD_MAC            // a record does not open: damaged, forged, or not encrypted
	ErrDecode                 Code = raw.SST_ERR_DECODE                    // a message does not parse
	ErrUnexpectedMessage      Code = raw.SST_ERR_UNEXPECTED_MESSAGE        // a message that does not belong here
	ErrRecordOverflow         Code = raw.SST_ERR_RECORD_OVERFLOW           // a record longer than the protocol allows
	ErrNoSharedVersion        Code = raw.SST_ERR_NO_SHARED_VERSION         // no protocol version in common
	ErrNoSharedSuite          Code = raw.SST_ERR_NO_SHARED_SUITE           // no cipher suite in common
	ErrNoSharedGroup          Code = raw.SST_ERR_NO_SHARED_GROUP           // no key exchange group in common
	ErrNoCommonScheme         Code = raw.SST_ERR_NO_COMMON_SCHEME          // no signature scheme in common
	ErrNoApplicationProtocol  Code = raw.SST_ERR_NO_APPLICATION_PROTOCOL   // both sides use ALPN and have no protocol in common
	ErrPeerCertRequired       Code = raw.SST_ERR_PEER_CERT_REQUIRED        // the client sent no certificate, and one is required
	ErrRenegotiation          Code = raw.SST_ERR_RENEGOTIATION             // the peer asked to renegotiate
	ErrHandshakeEOF           Code = raw.SST_ERR_HANDSHAKE_EOF             // the transport, or the peer, ended inside the handshake
	ErrTruncated              Code = raw.SST_ERR_TRUNCATED                 // the transport ended without close_notify; sending goes on
	ErrNotTLS                 Code = raw.SST_ERR_NOT_TLS                   // the peer speaks something else
	ErrAborted                Code = raw.SST_ERR_ABORTED                   // Stream.Abort was called
	ErrRejected               Code = raw.SST_ERR_REJECTED                  // Stream.Reject was called
	ErrNoExtendedMasterSecret Code = raw.SST_ERR_NO_EXTENDED_MASTER_SECRET // a TLS 1.2 peer without RFC 7627
	ErrFlood                  Code = raw.SST_ERR_FLOOD                     // too many records or messages that carry nothing
	ErrKeyUsage               Code = raw.SST_ERR_KEY_USAGE                 // the peer's leaf must not be used for this key exchange or signature
	ErrIllegalParameter       Code = raw.SST_ERR_ILLEGAL_PARAMETER         // a message parses and says what it must not
	ErrPrivateKeyOperation    Code = raw.SST_ERR_PRIVATE_KEY_OPERATION     // signing failed
	ErrKeyExhausted           Code = raw.SST_ERR_KEY_EXHAUSTED             // the limit of records under one key is reached
	ErrECHRejected            Code = raw.SST_ERR_ECH_REJECTED
	ErrMessageTooLarge        Code = raw.SST_ERR_MESSAGE_TOO_LARGE // a handshake message over the limit
	ErrUnrecognizedName       Code = raw.SST_ERR_UNRECOGNIZED_NAME
	ErrCertIssuerNotFound     Code = raw.SST_ERR_CERT_ISSUER_NOT_FOUND // no path to a trust anchor
	ErrCertSelfSigned         Code = raw.SST_ERR_CERT_SELF_SIGNED      // a leaf; an unknown root above one is CERT_ISSUER_NOT_FOUND
	ErrCertBadSignature       Code = raw.SST_ERR_CERT_BAD_SIGNATURE
	ErrCertRevoked            Code = raw.SST_ERR_CERT_REVOKED
	ErrCertPurpose            Code = raw.SST_ERR_CERT_PURPOSE
	ErrCertWeakKey            Code = raw.SST_ERR_CERT_WEAK_KEY
	ErrCertWeakDigest         Code = raw.SST_ERR_CERT_WEAK_DIGEST
	ErrCertMalformed          Code = raw.SST_ERR_CERT_MALFORMED
	ErrCertChainTooLong       Code = raw.SST_ERR_CERT_CHAIN_TOO_LONG
	ErrCertNotCA              Code = raw.SST_ERR_CERT_NOT_CA
	ErrCertNameConstraint     Code = raw.SST_ERR_CERT_NAME_CONSTRAINT
	ErrCertCRL                Code = raw.SST_ERR_CERT_CRL // a CRL is missing, expired or unusable
	ErrCertExpired            Code = raw.SST_ERR_CERT_EXPIRED
	ErrCertNotYetValid        Code = raw.SST_ERR_CERT_NOT_YET_VALID
	ErrCertNameMismatch       Code = raw.SST_ERR_CERT_NAME_MISMATCH
	ErrCertStapleMissing      Code = raw.SST_ERR_CERT_STAPLE_MISSING
	ErrCertOther              Code = raw.SST_ERR_CERT_OTHER
	ErrNegotiate              Code = raw.SST_ERR_NEGOTIATE
	ErrFrameTooLarge          Code = raw.SST_ERR_FRAME_TOO_LARGE
	ErrTokenTooLarge          Code = raw.SST_ERR_TOKEN_TOO_LARGE
	ErrLevelMismatch          Code = raw.SST_ERR_LEVEL_MISMATCH
	ErrHandshakeIncomplete    Code = raw.SST_ERR_HANDSHAKE_INCOMPLETE
	ErrPeerRefused            Code = raw.SST_ERR_PEER_REFUSED
	ErrNoMechanism            Code = raw.SST_ERR_NO_MECHANISM
	ErrLogon                  Code = raw.SST_ERR_LOGON
	ErrBindingMismatch        Code = raw.SST_ERR_BINDING_MISMATCH
	ErrReplay                 Code = raw.SST_ERR_REPLAY
	ErrInternal               Code = raw.SST_ERR_INTERNAL       // a fault of the library: please report it with the message
	ErrAlertReceived          Code = raw.SST_ERR_ALERT_RECEIVED // minus the alert's number
)

// Error explains the code in one line.
func (c Code) Error() string {
	return "securestream: " + raw.Sst_status_text(int32(c)) + " (" + c.String() + ")"
}

// String is the name that C has for the code, without SST_: "ERR_CERT_EXPIRED".
func (c Code) String() string { return raw.Sst_status_name(int32(c)) }

// Hint says in one line what to do about it, for the person who reads it: "renew the certificate, or correct the clock".
// Empty where there is nothing to do.
func (c Code) Hint() string { return raw.Sst_status_hint(int32(c)) }

// isCertificate: the peer's certificate was refused.
func (c Code) isCertificate() bool {
	return c == ErrKeyUsage || c <= ErrCertIssuerNotFound && c > ErrCertIssuerNotFound-100
}

// Is relates codes to the errors of the standard library: [ErrClosed] is net.ErrClosed, [ErrTruncated] and
// [ErrHandshakeEOF] are io.ErrUnexpectedEOF, [ErrUnsupported] is errors.ErrUnsupported.
func (c Code) Is(target error) bool {
	switch target {
	case net.ErrClosed:
		return c == ErrClosed
	case io.ErrUnexpectedEOF:
		return c == ErrTruncated || c == ErrHandshakeEOF
	case errors.ErrUnsupported:
		return c == ErrUnsupported
	case ErrAlertReceived:
		return c <= ErrAlertReceived && c >= ErrAlertReceived-255
	}
	return false
}
