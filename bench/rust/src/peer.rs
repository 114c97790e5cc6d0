//! What a peer must do: as `bench/c/peer.h`. A call that gives something else than was expected panics.

use std::path::{Path, PathBuf};

/// 2026-01-01T00:00:00Z, the clock of tests/data.
pub const CLOCK: u64 = 1_767_225_600;
pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;
pub const RECORD: usize = 16384;
pub const ROOM: usize = 65536;
pub const EARLY_SIZE: usize = 1024;

/// What configs are for: no tickets; one ticket a handshake, and the client resumes with the newest session; 0-RTT too.
#[derive(Clone, Copy, PartialEq)]
pub enum Use {
    Full,
    Resumed,
    Early,
}

/// A client and a server that know each other.
pub trait Pair {
    /// Gives one side all of `input`; what it answers goes to `out`. Returns its length, and whether this side's handshake
    /// is over.
    fn handshake(&mut self, side: usize, input: &mut [u8], out: &mut [u8]) -> (usize, bool);
    fn seal(&mut self, side: usize, plain: &[u8], out: &mut [u8]) -> usize;
    /// Returns the bytes of plaintext: in `out`, or, where the API gives them so, in `wire`.
    fn open(&mut self, side: usize, wire: &mut [u8], out: &mut [u8]) -> usize;
    /// Whether `open` leaves the plaintext in `wire`.
    fn opens_in_place(&self) -> bool {
        false
    }
    /// The client reads what came behind its handshake. Both sides must say that they have resumed, or have not.
    fn keep_session(&mut self, wire: &mut [u8], resumed: bool);
    /// The client's first flight, with `data`.
    fn early_seal(&mut self, _data: &[u8], _out: &mut [u8]) -> usize {
        panic!("no 0-RTT")
    }
    /// The server takes all of it. Returns the length of what it answers; the data is appended to `read`.
    fn early_open(&mut self, _wire: &mut [u8], _out: &mut [u8], _read: &mut Vec<u8>) -> usize {
        panic!("no 0-RTT")
    }
}

/// What is made once, for a leaf of tests/data.
pub trait Configs {
    fn pair(&self) -> Box<dyn Pair>;
}

pub struct Data(pub PathBuf);

impl Data {
    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.0).join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}
