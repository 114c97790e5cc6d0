/* boringssl_peers.h - the peers of the program that links BoringSSL. */
#ifndef BENCH_BORINGSSL_PEERS_H
#define BENCH_BORINGSSL_PEERS_H

#include "peer.h"

extern const Peer securestream_peer, boringssl_peer, aead_peer;

#endif
