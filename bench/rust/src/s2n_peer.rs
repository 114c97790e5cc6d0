//! s2n-tls with send and receive callbacks over the caller's buffers.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use s2n_tls::callbacks::{SessionTicket, SessionTicketCallback, WallClock};
use s2n_tls::config::Config;
use s2n_tls::connection::Connection;
use s2n_tls::enums::{Blinding, Mode, Version};
use s2n_tls::security::Policy;

use crate::peer::{Configs, Data, Pair, Use, CLIENT, CLOCK, SERVER};

/// X25519, TLS 1.3 and TLS_AES_128_GCM_SHA256 come first in it: `check` looks at what was negotiated.
const POLICY: &str = "20240603";

struct FixedClock;

impl WallClock for FixedClock {
    fn get_time_since_epoch(&self) -> Duration {
        Duration::from_secs(CLOCK)
    }
}

/// The newest session of the clients of a config; empty: none yet.
#[derive(Clone, Default)]
struct Newest(Arc<Mutex<Vec<u8>>>);

impl SessionTicketCallback for Newest {
    fn on_session_ticket(&self, _connection: &mut Connection, ticket: &SessionTicket) {
        let mut newest = self.0.lock().unwrap();
        newest.resize(ticket.len().unwrap(), 0);
        ticket.data(&mut newest).unwrap();
    }
}

struct S2nConfigs {
    client: Config,
    server: Config,
    session: Newest,
}

/// The buffers of the call that runs.
struct Window {
    input: *const u8,
    left: usize,
    out: *mut u8,
    used: usize,
    room: usize,
}

struct S2nPair {
    connection: [Connection; 2],
    window: [Box<Window>; 2],
}

fn blocked() -> i32 {
    // SAFETY: errno belongs to this thread.
    unsafe { *libc::__errno_location() = libc::EWOULDBLOCK };
    -1
}

unsafe extern "C" fn receive(context: *mut c_void, out: *mut u8, len: u32) -> i32 {
    let window = &mut *context.cast::<Window>();
    let size = window.left.min(len as usize);
    if size == 0 {
        return blocked();
    }
    std::ptr::copy_nonoverlapping(window.input, out, size);
    window.input = window.input.add(size);
    window.left -= size;
    size as i32
}

unsafe extern "C" fn send(context: *mut c_void, data: *const u8, len: u32) -> i32 {
    let window = &mut *context.cast::<Window>();
    let size = len as usize;
    assert!(size <= window.room - window.used, "no room for output");
    std::ptr::copy_nonoverlapping(data, window.out.add(window.used), size);
    window.used += size;
    len as i32
}

pub fn configs(data: &Data, leaf: &str, for_what: Use) -> Box<dyn Configs> {
    let policy = Policy::from_version(POLICY).unwrap();
    let mut client = Config::builder();
    client.set_security_policy(&policy).unwrap().with_system_certs(false).unwrap();
    client.trust_pem(&data.read("root.pem")).unwrap().set_wall_clock(FixedClock).unwrap();
    let mut server = Config::builder();
    server.set_security_policy(&policy).unwrap().with_system_certs(false).unwrap();
    server.load_pem(&data.read(&format!("{leaf}.pem")), &data.read(&format!("{leaf}.key"))).unwrap();
    let session = Newest::default();
    if for_what != Use::Full {
        client.set_session_ticket_callback(session.clone()).unwrap();
        server.add_session_ticket_key(b"bench", &[7; 32], SystemTime::now()).unwrap();
    }
    Box::new(S2nConfigs { client: client.build().unwrap(), server: server.build().unwrap(), session })
}

fn connection(config: &Config, mode: Mode, window: &mut Window) -> Connection {
    let mut connection = Connection::new(mode);
    connection.set_config(config.clone()).unwrap().set_blinding(Blinding::SelfService).unwrap();
    connection.set_receive_callback(Some(receive)).unwrap().set_send_callback(Some(send)).unwrap();
    let context: *mut c_void = std::ptr::from_mut(window).cast();
    // SAFETY: the window is boxed, lives as long as the connection, and is used by its callbacks alone.
    unsafe {
        connection.set_receive_context(context).unwrap().set_send_context(context).unwrap();
    }
    connection
}

impl Configs for S2nConfigs {
    fn pair(&self) -> Box<dyn Pair> {
        let window =
            || Box::new(Window { input: std::ptr::null(), left: 0, out: std::ptr::null_mut(), used: 0, room: 0 });
        crate::heap::side(SERVER);
        let mut at_server = window();
        let server = connection(&self.server, Mode::Server, &mut at_server);
        crate::heap::side(CLIENT);
        let mut at_client = window();
        let mut client = connection(&self.client, Mode::Client, &mut at_client);
        client.set_server_name("server.test").unwrap();
        let session = self.session.0.lock().unwrap();
        if !session.is_empty() {
            client.set_session_ticket(&session).unwrap();
        }
        Box::new(S2nPair { connection: [client, server], window: [at_client, at_server] })
    }
}

impl S2nPair {
    fn windows(&mut self, side: usize, input: &[u8], out: &mut [u8]) {
        *self.window[side] =
            Window { input: input.as_ptr(), left: input.len(), out: out.as_mut_ptr(), used: 0, room: out.len() };
    }

    fn check(&self, side: usize) {
        let connection = &self.connection[side];
        assert_eq!(connection.actual_protocol_version().unwrap(), Version::TLS13);
        assert_eq!(connection.cipher_suite().unwrap(), "TLS_AES_128_GCM_SHA256");
        assert_eq!(connection.selected_curve().unwrap(), "x25519");
    }
}

impl Pair for S2nPair {
    fn handshake(&mut self, side: usize, input: &mut [u8], out: &mut [u8]) -> (usize, bool) {
        self.windows(side, input, out);
        let open = match self.connection[side].poll_negotiate() {
            Poll::Ready(result) => result.map(|_| true).unwrap(),
            Poll::Pending => false,
        };
        if open {
            self.check(side);
        }
        (self.window[side].used, open)
    }

    fn seal(&mut self, side: usize, plain: &[u8], out: &mut [u8]) -> usize {
        self.windows(side, &[], out);
        let mut sent = 0;
        while sent < plain.len() {
            match self.connection[side].poll_send(&plain[sent..]) {
                Poll::Ready(took) => sent += took.unwrap(),
                Poll::Pending => panic!("sending waits"),
            }
        }
        self.window[side].used
    }

    fn open(&mut self, side: usize, wire: &mut [u8], out: &mut [u8]) -> usize {
        self.windows(side, wire, &mut []);
        let mut produced = 0;
        while self.window[side].left > 0 || self.connection[side].peek_len() > 0 {
            match self.connection[side].poll_recv(&mut out[produced..]) {
                Poll::Ready(came) => produced += came.unwrap(),
                Poll::Pending => break,
            }
        }
        produced
    }

    fn keep_session(&mut self, wire: &mut [u8], resumed: bool) {
        assert!(!wire.is_empty() && self.connection.iter().all(|connection| connection.resumed() == resumed));
        self.windows(CLIENT, wire, &mut []);
        assert!(self.connection[CLIENT].poll_recv(&mut [0]).is_pending());
        assert_eq!(self.window[CLIENT].left, 0);
    }
}
