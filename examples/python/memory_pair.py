"""A client and a server in one process, without a socket: the program carries the bytes.

usage: memory_pair.py CHAIN KEY CA NAME      PEM files of the server, its issuer, and the server's name
"""

import sys

import securestream as ss


def carry(client: ss.Stream, server: ss.Stream) -> None:
    """Perform the handshake: what one side wants sent goes to the other, until both are open."""
    to_server, to_client = b"", b""
    while not (client.is_open and server.is_open):
        output, taken = client.handshake(to_client)
        to_client, to_server = to_client[taken:], to_server + output
        output, taken = server.handshake(to_server)
        to_server, to_client = to_server[taken:], to_client + output


def main(chain: str, key: str, ca: str, name: str) -> None:
    server = ss.Stream(ss.Config(credentials=ss.Credential.from_files(chain, key)), ss.Role.SERVER)
    client = ss.Stream(ss.Config(trust=ss.TrustStore.from_files(ca)), ss.Role.CLIENT, server_name=name)
    carry(client, server)
    print(client.description)

    wire = client.encrypt(b"hello over memory") + client.close()
    print(f"{len(wire)} bytes on the wire")
    plaintext, _ = server.decrypt(wire)
    print("server reads:", plaintext.decode())

    plaintext, _ = client.decrypt(server.encrypt(plaintext.upper()) + server.close())
    print("client reads:", plaintext.decode())


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
