//! rustls with aws-lc-rs, by its buffered and by its unbuffered API.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::crypto::aws_lc_rs::{self, cipher_suite::TLS13_AES_128_GCM_SHA256, kx_group::X25519};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, UnbufferedServerConnection};
use rustls::time_provider::TimeProvider;
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, CommonState, Connection, HandshakeKind, RootCertStore, ServerConfig,
    ServerConnection,
};

use crate::peer::{Configs, Data, Pair, Use, CLIENT, RECORD, SERVER};

#[derive(Debug)]
struct FixedClock;

impl TimeProvider for FixedClock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(crate::peer::CLOCK)))
    }
}

struct Both {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

pub struct Buffered(Both);
pub struct Unbuffered(Both);

fn name() -> ServerName<'static> {
    ServerName::try_from("server.test").unwrap()
}

/// One ticket, or none. rustls takes early data only with sessions that the server keeps, and then makes no tickets.
fn set_use(client: &mut ClientConfig, server: &mut ServerConfig, for_what: Use) {
    server.send_tls13_tickets = 1;
    match for_what {
        Use::Full => {
            client.resumption = Resumption::disabled();
            server.send_tls13_tickets = 0;
            server.session_storage = Arc::new(NoServerSessionStorage {});
        }
        Use::Resumed => server.ticketer = aws_lc_rs::Ticketer::new().unwrap(),
        Use::Early => {
            client.enable_early_data = true;
            server.max_early_data_size = RECORD as u32;
            server.session_storage = ServerSessionMemoryCache::new(256);
        }
    }
}

fn check_resumed(sides: [&CommonState; 2], resumed: bool) {
    let wanted = if resumed { HandshakeKind::Resumed } else { HandshakeKind::Full };
    assert!(sides.iter().all(|side| side.handshake_kind() == Some(wanted)));
}

fn configs(data: &Data, leaf: &str, for_what: Use) -> Both {
    let provider = Arc::new(CryptoProvider {
        cipher_suites: vec![TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![X25519],
        ..aws_lc_rs::default_provider()
    });
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(data.path("root.pem")).unwrap()).unwrap();
    let mut client = ClientConfig::builder_with_details(provider.clone(), Arc::new(FixedClock))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let chain = CertificateDer::pem_file_iter(data.path(&format!("{leaf}.pem"))).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(data.path(&format!("{leaf}.key"))).unwrap();
    let mut server = ServerConfig::builder_with_details(provider, Arc::new(FixedClock))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    set_use(&mut client, &mut server, for_what);
    Both { client: Arc::new(client), server: Arc::new(server) }
}

pub fn buffered(data: &Data, leaf: &str, for_what: Use) -> Box<dyn Configs> {
    Box::new(Buffered(configs(data, leaf, for_what)))
}

pub fn unbuffered(data: &Data, leaf: &str, for_what: Use) -> Box<dyn Configs> {
    Box::new(Unbuffered(configs(data, leaf, for_what)))
}

struct BufferedPair([Connection; 2]);

impl Configs for Buffered {
    fn pair(&self) -> Box<dyn Pair> {
        crate::heap::side(SERVER);
        let mut server = Connection::from(ServerConnection::new(self.0.server.clone()).unwrap());
        server.set_buffer_limit(None);
        crate::heap::side(CLIENT);
        let mut client = Connection::from(ClientConnection::new(self.0.client.clone(), name()).unwrap());
        client.set_buffer_limit(None);
        Box::new(BufferedPair([client, server]))
    }
}

fn write_all(connection: &mut Connection, out: &mut [u8]) -> usize {
    let mut used = 0;
    while connection.wants_write() {
        used += connection.write_tls(&mut &mut out[used..]).unwrap();
    }
    used
}

impl Pair for BufferedPair {
    fn handshake(&mut self, side: usize, input: &mut [u8], out: &mut [u8]) -> (usize, bool) {
        let connection = &mut self.0[side];
        let mut rest = &*input;
        while !rest.is_empty() {
            connection.read_tls(&mut rest).unwrap();
            connection.process_new_packets().unwrap();
        }
        (write_all(connection, out), !connection.is_handshaking())
    }

    fn seal(&mut self, side: usize, plain: &[u8], out: &mut [u8]) -> usize {
        self.0[side].writer().write_all(plain).unwrap();
        write_all(&mut self.0[side], out)
    }

    fn open(&mut self, side: usize, wire: &mut [u8], out: &mut [u8]) -> usize {
        let connection = &mut self.0[side];
        let (mut rest, mut produced) = (&*wire, 0);
        while !rest.is_empty() {
            connection.read_tls(&mut rest).unwrap();
            let mut ready = connection.process_new_packets().unwrap().plaintext_bytes_to_read();
            while ready > 0 {
                let came = connection.reader().read(&mut out[produced..]).unwrap();
                produced += came;
                ready -= came;
            }
        }
        produced
    }

    fn keep_session(&mut self, wire: &mut [u8], resumed: bool) {
        let [client, server] = &self.0;
        check_resumed([client, server], resumed);
        assert!(!wire.is_empty());
        assert_eq!(self.open(CLIENT, wire, &mut []), 0);
    }

    fn early_seal(&mut self, data: &[u8], out: &mut [u8]) -> usize {
        let Connection::Client(client) = &mut self.0[CLIENT] else { unreachable!() };
        client.early_data().expect("no early data").write_all(data).unwrap();
        write_all(&mut self.0[CLIENT], out)
    }

    fn early_open(&mut self, wire: &mut [u8], out: &mut [u8], read: &mut Vec<u8>) -> usize {
        let (answer, _) = self.handshake(SERVER, wire, out);
        let Connection::Server(server) = &mut self.0[SERVER] else { unreachable!() };
        server.early_data().expect("no early data").read_to_end(read).unwrap();
        answer
    }
}

struct UnbufferedPair {
    client: UnbufferedClientConnection,
    server: UnbufferedServerConnection,
}

impl Configs for Unbuffered {
    fn pair(&self) -> Box<dyn Pair> {
        crate::heap::side(SERVER);
        let server = UnbufferedServerConnection::new(self.0.server.clone()).unwrap();
        crate::heap::side(CLIENT);
        let client = UnbufferedClientConnection::new(self.0.client.clone(), name()).unwrap();
        Box::new(UnbufferedPair { client, server })
    }
}

/// What one state of a handshake asks for. `None`: it waits, or is over.
fn step<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    out: &mut [u8],
    used: &mut usize,
    open: &mut bool,
) -> (usize, bool) {
    let discard = status.discard;
    let goes_on = match status.state.unwrap() {
        ConnectionState::EncodeTlsData(mut data) => {
            *used += data.encode(&mut out[*used..]).unwrap();
            true
        }
        ConnectionState::TransmitTlsData(data) => {
            data.done();
            true
        }
        ConnectionState::WriteTraffic(_) => {
            *open = true;
            false
        }
        ConnectionState::BlockedHandshake => false,
        _ => panic!("another state of the handshake"),
    };
    (discard, goes_on)
}

fn seal_now<Data>(status: UnbufferedStatus<'_, '_, Data>, plain: &[u8], out: &mut [u8]) -> usize {
    match status.state.unwrap() {
        ConnectionState::WriteTraffic(mut traffic) => traffic.encrypt(plain, out).unwrap(),
        _ => panic!("not ready to write"),
    }
}

/// The bytes that are used up, those of plaintext, and whether there was any record.
fn open_some<Data>(status: UnbufferedStatus<'_, '_, Data>) -> (usize, usize, bool) {
    let UnbufferedStatus { mut discard, state, .. } = status;
    match state.unwrap() {
        ConnectionState::ReadTraffic(mut traffic) => {
            let mut produced = 0;
            while let Some(record) = traffic.next_record() {
                let record = record.unwrap();
                discard += record.discard;
                produced += std::hint::black_box(record.payload).len();
            }
            (discard, produced, true)
        }
        _ => (discard, 0, false),
    }
}

impl Pair for UnbufferedPair {
    fn handshake(&mut self, side: usize, input: &mut [u8], out: &mut [u8]) -> (usize, bool) {
        let (mut at, mut used, mut open) = (0, 0, false);
        loop {
            let (discard, goes_on) = if side == CLIENT {
                step(self.client.process_tls_records(&mut input[at..]), out, &mut used, &mut open)
            } else {
                step(self.server.process_tls_records(&mut input[at..]), out, &mut used, &mut open)
            };
            at += discard;
            if !goes_on {
                return (used, open);
            }
        }
    }

    fn seal(&mut self, side: usize, plain: &[u8], out: &mut [u8]) -> usize {
        if side == CLIENT {
            seal_now(self.client.process_tls_records(&mut []), plain, out)
        } else {
            seal_now(self.server.process_tls_records(&mut []), plain, out)
        }
    }

    fn open(&mut self, side: usize, wire: &mut [u8], _out: &mut [u8]) -> usize {
        let (mut at, mut all) = (0, 0);
        while at < wire.len() {
            let (discard, produced, any) = if side == CLIENT {
                open_some(self.client.process_tls_records(&mut wire[at..]))
            } else {
                open_some(self.server.process_tls_records(&mut wire[at..]))
            };
            assert!(any || discard > 0, "no record opens");
            at += discard;
            all += produced;
        }
        all
    }

    fn opens_in_place(&self) -> bool {
        true
    }

    fn keep_session(&mut self, wire: &mut [u8], resumed: bool) {
        check_resumed([&self.client, &self.server], resumed);
        assert!(!wire.is_empty());
        assert_eq!(self.open(CLIENT, wire, &mut []), 0);
    }

    fn early_seal(&mut self, data: &[u8], out: &mut [u8]) -> usize {
        let mut used = 0;
        loop {
            match self.client.process_tls_records(&mut []).state.unwrap() {
                ConnectionState::EncodeTlsData(mut flight) => used += flight.encode(&mut out[used..]).unwrap(),
                ConnectionState::TransmitTlsData(mut transmit) => {
                    let mut early = transmit.may_encrypt_early_data().expect("no early data");
                    used += early.encrypt(data, &mut out[used..]).unwrap();
                    transmit.done();
                }
                ConnectionState::BlockedHandshake => return used,
                _ => panic!("another state of the handshake"),
            }
        }
    }

    fn early_open(&mut self, wire: &mut [u8], out: &mut [u8], read: &mut Vec<u8>) -> usize {
        let (mut at, mut used, mut open) = (0, 0, false);
        loop {
            let status = self.server.process_tls_records(&mut wire[at..]);
            let (discard, goes_on) = match status {
                UnbufferedStatus { mut discard, state: Ok(ConnectionState::ReadEarlyData(mut early)), .. } => {
                    while let Some(record) = early.next_record() {
                        let record = record.unwrap();
                        discard += record.discard;
                        read.extend_from_slice(record.payload);
                    }
                    (discard, true)
                }
                status => step(status, out, &mut used, &mut open),
            };
            at += discard;
            if !goes_on {
                return used;
            }
        }
    }
}
