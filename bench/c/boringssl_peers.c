#include "boringssl_peers.h"

const Peer *const peers[] = {&securestream_peer, &boringssl_peer, &aead_peer, NULL};
