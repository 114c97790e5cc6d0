/*
 * The one table of errors: SST_ERROR(name, number, text, alert, sticky, hint). It makes names, texts, hints and alerts,
 * is compared with the public header by a test, and docs/errors.md is generated from it (script/errors_page).
 *
 * alert is what a stream that fails with the code sends, 0 - 255 or NONE. sticky: STICKY ends a stream; KEEPS changes
 * nothing; OBJECT is left on a config, credential, trust or session. hint says what to do, to the person who meets it.
 *
 * SST_ALERT_HINT(number, hint) is the same for alerts that the peer sent.
 */
/* clang-format off */
SST_ERROR(INVALID_ARGUMENT, -100, "an argument is NULL, too long, overlaps another, or is not a known constant",
          NONE, KEEPS, "read what the header says of the call's arguments; nothing was changed")
SST_ERROR(STATE, -101, "the object is not in a state, or not of the role, for this call", NONE, KEEPS,
          "look at the stream's state, finish what comes before this call (the handshake, a question), then call again")
SST_ERROR(BUSY, -102, "another thread is in a call on this stream that this one may not run beside", NONE, KEEPS,
          "wait until the other thread's call has returned: one thread may send and one may receive at a time")
SST_ERROR(FROZEN, -103, "the object is in use and cannot be changed any more; change a copy", NONE, KEEPS,
          "make a copy of the config, change that, and give it to new streams")
SST_ERROR(CLOSED, -104, "the stream was closed by this side", NONE, KEEPS,
          "make a new stream for more data; what the peer still sends can be read")
SST_ERROR(UNSUPPORTED, -105, "this version or this protocol does not have that", NONE, KEEPS,
          "look at the version, use one of the library or of TLS that has it, or do without")
SST_ERROR(FORKED, -106, "the stream belongs to the parent process", NONE, KEEPS,
          "use the stream in the parent only, and make a new one in the child")

SST_ERROR(NO_MEMORY, -200, "an allocation failed", 80, STICKY,
          "free memory or raise the limit of the process, then begin anew: the object holds nothing half done")
SST_ERROR(SYSTEM, -201, "a call of the system failed", 80, STICKY,
          "look up the system's error number in detail; the message names the call and the file")

SST_ERROR(PARSE, -300, "the bytes are not what they should be", NONE, OBJECT,
          "open the input at the place that the message names: is the file whole, and of the kind that is asked for?")
SST_ERROR(NO_CERTIFICATE, -301, "there is no certificate in the input", NONE, OBJECT,
          "give PEM with a CERTIFICATE block, or DER of a certificate; is it the right file?")
SST_ERROR(NO_PRIVATE_KEY, -302, "there is no private key in the input", NONE, OBJECT,
          "give the PEM block of the private key too, in the same input or in its own file")
SST_ERROR(KEY_MISMATCH, -303, "the private key does not belong to the leaf certificate", NONE, OBJECT,
          "load the key that the certificate was issued for; renewed certificates often come with a new key")
SST_ERROR(UNSUPPORTED_KEY, -304, "a key of this kind, size or usage is not accepted", NONE, OBJECT,
          "have a certificate issued for an accepted key: RSA of 2048 to 8192 bits, P-256, P-384, P-521, Ed25519")
SST_ERROR(PASSWORD_REQUIRED, -305, "the private key is encrypted and no password was given", NONE, OBJECT,
          "give the password together with the key: nobody is asked for it later")
SST_ERROR(BAD_PASSWORD, -306, "the password does not open the private key", NONE, OBJECT,
          "give the password that the key was encrypted with; mind a newline behind it")
SST_ERROR(UNSUPPORTED_CIPHER, -307, "encrypted by a cipher that is not accepted", NONE, OBJECT,
          "encrypt the key anew: openssl pkcs8 -topk8 -v2 aes-256-cbc")
SST_ERROR(NO_CREDENTIAL, -308, "there is no credential with a chain and a key", NONE, OBJECT,
          "load a certificate chain and its private key into a credential, and add that to the config")
SST_ERROR(NO_TRUST, -309, "verification is on and there is no trust anchor", NONE, OBJECT,
          "load the authorities that peers are verified against into a trust, and set that on the config")
SST_ERROR(BAD_HOST, -310, "not a host name in ASCII, nor an IP address", NONE, KEEPS,
          "give a name in ASCII (A-labels for IDNA), or an IP address, without port, scheme and brackets")
SST_ERROR(NO_EXPECTED_NAME, -311, "a verifying client has no name to expect", NONE, STICKY,
          "set the server name, or the name to verify, before the handshake")
SST_ERROR(BAD_ALPN, -312, "an ALPN name must have 1 to 255 bytes", NONE, OBJECT,
          "give each protocol name by itself: h2, http/1.1; no lengths, no empty name")
SST_ERROR(BAD_VERSION, -313, "not a range of TLS 1.2 and TLS 1.3", NONE, OBJECT,
          "use TLS 1.2 and TLS 1.3, the lower one first")
SST_ERROR(BAD_GROUP, -314, "an unknown or repeated group, or an empty list", NONE, OBJECT,
          "give numbers of the list of groups in the header, each one once")
SST_ERROR(BAD_SUITE, -315, "an unknown or repeated cipher suite, or an empty list", NONE, OBJECT,
          "give numbers of the list of cipher suites in the header, each one once")
SST_ERROR(BAD_SCHEME, -316, "an unknown or repeated signature scheme, or an empty list", NONE, OBJECT,
          "give numbers of the list of signature schemes in the header, each one once")
SST_ERROR(LIST_TOO_LONG, -317, "a list is too long for its message", NONE, OBJECT,
          "give fewer or shorter entries")
SST_ERROR(BAD_TICKET_KEYS, -318, "not a ring of ticket keys", NONE, OBJECT,
          "give a ring of keys in the form that the header describes; the first one encrypts")
SST_ERROR(BAD_SESSION, -319, "not the bytes of a session", NONE, OBJECT,
          "begin without a session; keep the bytes of one as they were given, for the same version of the library")

SST_ERROR(PROTOCOL, -400, "the peer broke the protocol", 40, STICKY,
          "look at the message for what was wrong; try the peer with another client or server, and report it there")
SST_ERROR(BAD_RECORD_MAC, -401, "a record does not open: damaged, forged, or not encrypted", 20, STICKY,
          "look for what changes bytes on the way (proxy, memory, a second writer on the socket); connect anew")
SST_ERROR(DECODE, -402, "a message does not parse", 50, STICKY,
          "look for what changes or mixes bytes on the way; if nothing does, the peer's TLS is at fault")
SST_ERROR(UNEXPECTED_MESSAGE, -403, "a message that does not belong here", 10, STICKY,
          "look whether bytes were lost, doubled or reordered on the way; if not, the peer's TLS is at fault")
SST_ERROR(RECORD_OVERFLOW, -404, "a record is longer than the protocol allows", 22, STICKY,
          "look whether all bytes of the transport were given in order; if so, the peer's TLS is at fault")
SST_ERROR(NO_SHARED_VERSION, -405, "no protocol version in common with the peer", 70, STICKY,
          "let the older side be updated to TLS 1.2 or 1.3, or widen the range of versions in the config")
SST_ERROR(NO_SHARED_SUITE, -406, "no cipher suite in common with the peer", 40, STICKY,
          "widen the list of cipher suites, or add a credential of the kind (RSA, ECDSA) that the peer can use")
SST_ERROR(NO_SHARED_GROUP, -407, "no key exchange group in common with the peer", 40, STICKY,
          "widen the list of groups on one side; nearly all peers know x25519 and secp256r1")
SST_ERROR(NO_COMMON_SCHEME, -408, "no signature scheme in common with the peer", 40, STICKY,
          "add a credential with a key of another kind, or widen the list of signature schemes")
SST_ERROR(NO_APPLICATION_PROTOCOL, -409, "no ALPN protocol in common with the peer", 120, STICKY,
          "let both sides name a common protocol, or have the server accept clients without one")
SST_ERROR(PEER_CERT_REQUIRED, -410, "the client sent no certificate, and one is required", 116, STICKY,
          "let the client load a certificate that the authorities which this server names have issued")
SST_ERROR(RENEGOTIATION, -411, "the peer asked to renegotiate, which is never done", 100, STICKY,
          "switch renegotiation off at the peer, or use TLS 1.3; a server should ask for a certificate at once")
SST_ERROR(HANDSHAKE_EOF, -412, "the transport or the peer ended inside the handshake", NONE, STICKY,
          "look into the peer's log: it ended the connection, or is no TLS server, or a proxy in between cut it")
SST_ERROR(TRUNCATED, -413, "the transport ended without close_notify", NONE, STICKY,
          "treat the data as incomplete; if the peer never sends close_notify, its protocol must tell the end itself")
SST_ERROR(NOT_TLS, -414, "the peer does not speak TLS", 70, STICKY,
          "look at host and port: another protocol answers there, or it wants STARTTLS or a proxy's CONNECT first")
SST_ERROR(ABORTED, -415, "the stream was aborted by this side", NONE, STICKY,
          "look where this program aborts the stream; the peer was told by the alert")
SST_ERROR(REJECTED, -416, "the question was answered with no", 40, STICKY,
          "look why this program's answer was no; the peer was told by the alert")
SST_ERROR(NO_EXTENDED_MASTER_SECRET, -417, "the TLS 1.2 peer does not support extended master secret", 40, STICKY,
          "update the peer or use TLS 1.3; the compat profile accepts such peers (RFC 7627, 5)")
SST_ERROR(FLOOD, -418, "too many records or messages that carry nothing", 10, STICKY,
          "end the connection; look for a peer at fault, or an attack, and limit connections from there")
SST_ERROR(KEY_USAGE, -419, "the key usage of the peer's leaf forbids this", 47, STICKY,
          "have the peer's certificate issued with digitalSignature in its key usage")
SST_ERROR(ILLEGAL_PARAMETER, -420, "a message says what it must not", 47, STICKY,
          "update the peer's TLS, or report the reason in the message there")
SST_ERROR(PRIVATE_KEY_OPERATION, -421, "signing with the private key failed", 80, STICKY,
          "look at the key's store (token, service): did it sign, with the scheme that was asked for?")
SST_ERROR(KEY_EXHAUSTED, -422, "the limit of records under one key is reached", 80, STICKY,
          "begin a new connection, or let TLS 1.3 update its keys")
SST_ERROR(ECH_REJECTED, -423, "the server rejected Encrypted Client Hello", 121, STICKY,
          "fetch the server's present ECH configuration (retry configs), and connect anew with it")
SST_ERROR(MESSAGE_TOO_LARGE, -424, "a handshake message is over the limit", 47, STICKY,
          "let the peer send a shorter certificate chain or list of authorities")
SST_ERROR(UNRECOGNIZED_NAME, -425, "the server name is not served here", 112, STICKY,
          "add a config for that name to the server, or correct the name that the client asks for")

SST_ERROR(CERT_ISSUER_NOT_FOUND, -500, "no path from the certificate to a trust anchor", 48, STICKY,
          "let the peer send its intermediate certificates, or load the authority that issued them into the trust")
SST_ERROR(CERT_SELF_SIGNED, -501, "the certificate is self-signed and not trusted", 48, STICKY,
          "load this very certificate into the trust, after comparing its fingerprint, or have one issued")
SST_ERROR(CERT_BAD_SIGNATURE, -502, "a signature in the chain is wrong", 51, STICKY,
          "let the peer send the chain that its authority issued; an issuer of the same name has another key")
SST_ERROR(CERT_REVOKED, -503, "a certificate is revoked", 44, STICKY,
          "have a new certificate with a new key issued for the peer, and find out why this one was revoked")
SST_ERROR(CERT_PURPOSE, -504, "the certificate is not for this purpose", 43, STICKY,
          "have a certificate issued with the extended key usage serverAuth for servers, clientAuth for clients")
SST_ERROR(CERT_WEAK_KEY, -505, "a key in the chain is too small, or of a kind that is not accepted", 42, STICKY,
          "have the certificate issued anew for RSA of 2048 bits or more, P-256, P-384, P-521 or Ed25519")
SST_ERROR(CERT_WEAK_DIGEST, -506, "a signature in the chain uses a weak digest", 42, STICKY,
          "have the certificate issued anew with SHA-256 or better")
SST_ERROR(CERT_MALFORMED, -507, "a certificate does not parse", 42, STICKY,
          "have the certificate issued anew: it breaks the rules of X.509 (RFC 5280)")
SST_ERROR(CERT_CHAIN_TOO_LONG, -508, "the chain is too long", 48, STICKY,
          "let the peer send a shorter chain, or have its authority drop or raise pathLenConstraint")
SST_ERROR(CERT_NOT_CA, -509, "an issuer in the chain is no certificate authority", 48, STICKY,
          "let the peer send the right intermediates: an issuer needs CA:TRUE and keyCertSign")
SST_ERROR(CERT_NAME_CONSTRAINT, -510, "a name is outside what an issuer may certify", 42, STICKY,
          "have the certificate issued by an authority that may certify this name")
SST_ERROR(CERT_CRL, -511, "a revocation list is missing, expired or unusable", 48, STICKY,
          "load the present list of every issuer, signed by it; fetch it anew before its nextUpdate")
SST_ERROR(CERT_EXPIRED, -520, "a certificate has expired", 45, STICKY,
          "renew the certificate on the peer, or set this machine's clock")
SST_ERROR(CERT_NOT_YET_VALID, -521, "a certificate is not valid yet", 45, STICKY,
          "set this machine's clock, or wait until the certificate is valid")
SST_ERROR(CERT_NAME_MISMATCH, -530, "the certificate is for another name", 42, STICKY,
          "connect by a name that the certificate has, or have one issued for this name (SAN, not CN)")
SST_ERROR(CERT_STAPLE_MISSING, -540, "the certificate demands a stapled OCSP response", 113, STICKY,
          "switch OCSP stapling on at the server")
SST_ERROR(CERT_OTHER, -549, "the certificate was refused", 46, STICKY,
          "look at the message for the rule that the certificate breaks, and have it issued anew without that")

SST_ERROR(NEGOTIATE, -700, "the Negotiate handshake failed", NONE, STICKY,
          "look at the message and at detail for what the security package says, and into the peer's log")
SST_ERROR(FRAME_TOO_LARGE, -701, "a frame is longer than the protocol allows", NONE, STICKY,
          "look whether the peer speaks the Negotiate stream protocol at this port")
SST_ERROR(TOKEN_TOO_LARGE, -702, "a token is longer than the protocol allows", NONE, STICKY,
          "make the user's ticket smaller (fewer groups), or raise the limit of tokens")
SST_ERROR(LEVEL_MISMATCH, -703, "the peer's protection level is too low", NONE, STICKY,
          "raise the protection level at the peer")
SST_ERROR(HANDSHAKE_INCOMPLETE, -704, "the peer ended a handshake that is not complete", NONE, STICKY,
          "look into the peer's log: it ended before both sides agreed")
SST_ERROR(PEER_REFUSED, -705, "the peer refused", NONE, STICKY,
          "look at detail for the peer's error, and into its log: the account or its rights were refused")
SST_ERROR(NO_MECHANISM, -706, "no mechanism in common with the peer", NONE, STICKY,
          "allow a mechanism (Kerberos, NTLM) that both sides have")
SST_ERROR(LOGON, -707, "the credentials cannot be used", NONE, STICKY,
          "get a ticket (kinit), or look at the name, the keytab and the password")
SST_ERROR(BINDING_MISMATCH, -708, "the channel bindings differ", NONE, STICKY,
          "look for a proxy that ends TLS in between, or use the same binding policy on both sides")
SST_ERROR(REPLAY, -709, "a frame came twice or out of order", NONE, STICKY,
          "look for what doubles or reorders bytes on the way; if nothing does, take it for an attack")

SST_ERROR(INTERNAL, -900, "a fault inside the library", 80, STICKY,
          "report it with the message and the steps that led there; a new stream may work")

#ifdef SST_ALERT_HINT
SST_ALERT_HINT(10, "the peer's TLS met a message out of turn: look for what loses, doubles or mixes bytes on the way")
SST_ALERT_HINT(20, "the peer could not open a record: look for what changes bytes on the way")
SST_ALERT_HINT(21, "the peer could not open a record: look for what changes bytes on the way")
SST_ALERT_HINT(22, "the peer met a record that is too long: look for what changes bytes on the way")
SST_ALERT_HINT(40, "no parameters in common: compare suites, groups, schemes, versions; the peer's log tells which")
SST_ALERT_HINT(41, "an old peer wants a certificate of this side: add a credential that its authorities issued")
SST_ALERT_HINT(42, "the peer refused this side's certificate as corrupt or as not for this name: look into its log")
SST_ALERT_HINT(43, "the peer cannot use this kind of certificate: add one with another key or with the right purpose")
SST_ALERT_HINT(44, "the peer says that this side's certificate is revoked: have a new one issued")
SST_ALERT_HINT(45, "the peer takes this side's certificate for expired or not valid yet: renew it, or set its clock")
SST_ALERT_HINT(46, "the peer refused this side's certificate for a reason that only its log tells")
SST_ALERT_HINT(47, "the peer says that a value is illegal: look into its log, and update the older side")
SST_ALERT_HINT(48, "the peer does not trust the issuer: send the intermediates, or add the authority to its trust")
SST_ALERT_HINT(49, "the certificate is good, but its holder may not do this: give it the right at the peer")
SST_ALERT_HINT(50, "the peer could not parse a message: look for what changes bytes on the way; update the older side")
SST_ALERT_HINT(51, "the peer found a signature or Finished wrong: look for who is in between, and at this side's key")
SST_ALERT_HINT(60, "an old peer allows export ciphers only: update it")
SST_ALERT_HINT(70, "the peer does not speak this side's versions: compare both ranges, update the older side")
SST_ALERT_HINT(71, "the peer demands stronger parameters: widen suites and groups, or use a larger key")
SST_ALERT_HINT(80, "a fault inside the peer: look into its log")
SST_ALERT_HINT(86, "the peer supports a higher version than was tried: do not retry with lower versions")
SST_ALERT_HINT(90, "the peer's user ended the handshake")
SST_ALERT_HINT(100, "the peer does not renegotiate: make a new connection")
SST_ALERT_HINT(109, "the peer misses an extension that this version demands: update the older side")
SST_ALERT_HINT(110, "the peer got an extension that it did not ask for: update the older side")
SST_ALERT_HINT(112, "the server does not serve this name: correct the server name, or add the name there")
SST_ALERT_HINT(113, "the peer wants a stapled OCSP response, or refused the one it got: give the credential a new one")
SST_ALERT_HINT(115, "the peer does not know the key that was offered: give both sides the same one")
SST_ALERT_HINT(116, "the server wants a client certificate: add a credential that its authorities issued")
SST_ALERT_HINT(120, "no application protocol in common: compare the ALPN lists of both sides")
SST_ALERT_HINT(121, "the server demands Encrypted Client Hello: fetch its present configuration")
#endif
/* clang-format on */
