// Hello says hello to an echo server: hello CA-FILE HOST:PORT
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"securestream.example/securestream"
)

func main() {
	trust, err := securestream.LoadTrust(os.Args[1]) // without a Trust: what the system trusts
	if err != nil {
		log.Fatal(err)
	}
	conn, err := securestream.Dial("tcp", os.Args[2], &securestream.Config{Trust: trust})
	if err != nil {
		log.Fatal(err) // names the reason: an expired certificate, another host, the peer's alert ...
	}
	defer conn.Close()
	fmt.Fprintln(conn, "hello")
	conn.CloseWrite() // we have said all; the peer may go on
	if _, err := io.Copy(os.Stdout, conn); err != nil {
		log.Fatal(err)
	}
}
