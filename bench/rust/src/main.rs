//! rustls and s2n-tls behind the line protocol of `bench/` (README.md): `bench_rust DATA`.

mod heap;
mod peer;
mod rustls_peers;
mod s2n_peer;

use std::collections::HashMap;
use std::io::{stdin, BufRead};

use peer::{Configs, Data, Pair, Use, CLIENT, EARLY_SIZE, RECORD, ROOM, SERVER};

fn configs(data: &Data, peer: &str, leaf: &str, for_what: Use) -> Box<dyn Configs> {
    match peer {
        "rustls" => rustls_peers::buffered(data, leaf, for_what),
        "rustls_unbuffered" => rustls_peers::unbuffered(data, leaf, for_what),
        "s2n" => s2n_peer::configs(data, leaf, for_what),
        _ => panic!("no peer {peer}"),
    }
}

/// The rooms of a handshake: what each side has not taken yet.
struct Wires([Vec<u8>; 2]);

impl Wires {
    fn new() -> Self {
        Wires([vec![0; ROOM], vec![0; ROOM]])
    }

    /// From here on, with `answer` bytes of the server's on the way, until both sides are open. Returns the bytes that
    /// came behind: the tickets.
    fn finish(&mut self, pair: &mut dyn Pair, answer: usize) -> usize {
        let (mut len, mut open) = ([answer, 0], [false; 2]);
        for _ in 0..8 {
            for side in [CLIENT, SERVER] {
                if open[side] {
                    continue;
                }
                heap::side(side);
                let [first, second] = &mut self.0;
                let (input, out) = if side == CLIENT { (first, second) } else { (second, first) };
                let (produced, finished) = pair.handshake(side, &mut input[..len[side]], out);
                (len[1 - side], open[side], len[side]) = (produced, finished, 0);
            }
            if open == [true; 2] {
                heap::side(2);
                return len[CLIENT];
            }
        }
        panic!("the handshake does not end");
    }

    /// The first flights, with data from the client. Returns what the server answers.
    fn send_early(&mut self, pair: &mut dyn Pair) -> usize {
        let (data, mut read) = ([b'e'; EARLY_SIZE], Vec::with_capacity(EARLY_SIZE));
        let [to_client, to_server] = &mut self.0;
        let sent = pair.early_seal(&data, to_server);
        let answer = pair.early_open(&mut to_server[..sent], to_client, &mut read);
        assert!(read == data, "other bytes came than were sent");
        answer
    }

    /// A connection that resumes the one before (the first does not).
    fn resume(&mut self, configs: &dyn Configs, for_what: Use, resumes: bool) {
        let mut pair = configs.pair();
        let early = resumes && for_what == Use::Early;
        let answer = if early { self.send_early(&mut *pair) } else { 0 };
        let behind = self.finish(&mut *pair, answer);
        pair.keep_session(&mut self.0[CLIENT][..behind], resumes);
    }
}

/// One direction of an open pair.
struct Lane {
    pair: Box<dyn Pair>,
    plain: Vec<u8>,
    wire: Vec<u8>,
    read: Vec<u8>,
}

impl Lane {
    fn new(configs: &dyn Configs, size: usize) -> Self {
        let mut pair = configs.pair();
        Wires::new().finish(&mut *pair, 0);
        echo(&mut *pair);
        let plain = (0..size).map(|i| (i * 31 + i / 251) as u8).collect();
        Lane { pair, plain, wire: vec![0; (size / RECORD + 1) * (RECORD + 512)], read: vec![0; size + RECORD + 512] }
    }

    fn pass(&mut self, n: u64) {
        let mut sealed = 0;
        for _ in 0..n {
            sealed = self.pair.seal(CLIENT, &self.plain, &mut self.wire);
            assert_eq!(self.pair.open(SERVER, &mut self.wire[..sealed], &mut self.read), self.plain.len());
        }
        assert!(sealed > self.plain.len());
        if !self.pair.opens_in_place() {
            assert!(self.read[..self.plain.len()] == self.plain[..], "other bytes came than were sent");
        }
    }
}

/// 16 KiB each way.
fn echo(pair: &mut dyn Pair) {
    let (plain, mut wire, mut read) = (vec![7; RECORD], vec![0; 2 * ROOM], vec![0; ROOM]);
    for side in [CLIENT, SERVER] {
        heap::side(side);
        let sealed = pair.seal(side, &plain, &mut wire);
        heap::side(1 - side);
        assert_eq!(pair.open(1 - side, &mut wire[..sealed], &mut read), RECORD);
        heap::side(2);
    }
}

enum Job {
    Move(Lane),
    Handshake(Box<dyn Configs>, Wires),
    Resume(Box<dyn Configs>, Wires, Use),
}

impl Job {
    fn new(data: &Data, peer: &str, kind: &str, argument: &str) -> Self {
        match kind {
            "move" => Job::Move(Lane::new(&*configs(data, peer, "server-p256", Use::Full), argument.parse().unwrap())),
            "handshake" => Job::Handshake(configs(data, peer, argument, Use::Full), Wires::new()),
            "resumed" => Job::resume(configs(data, peer, argument, Use::Resumed), Use::Resumed),
            "early" => Job::resume(configs(data, peer, argument, Use::Early), Use::Early),
            _ => panic!("no kind {kind}"),
        }
    }

    fn resume(configs: Box<dyn Configs>, for_what: Use) -> Self {
        let mut wires = Wires::new();
        wires.resume(&*configs, for_what, false);
        Job::Resume(configs, wires, for_what)
    }

    fn pass(&mut self, n: u64) -> u64 {
        let began = thread_ns();
        match self {
            Job::Move(lane) => lane.pass(n),
            Job::Handshake(configs, wires) => {
                for _ in 0..n {
                    wires.finish(&mut *configs.pair(), 0);
                }
            }
            Job::Resume(configs, wires, for_what) => {
                for _ in 0..n {
                    wires.resume(&**configs, *for_what, true);
                }
            }
        }
        thread_ns() - began
    }
}

fn thread_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: now is there to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Bytes per idle stream of n pairs after handshake and echo: client, server.
fn idle(configs: &dyn Configs, n: usize) -> (f64, f64) {
    let mut wires = Wires::new();
    let mut open = || {
        let mut pair = configs.pair();
        wires.finish(&mut *pair, 0);
        echo(&mut *pair);
        pair
    };
    let first = open(); // what is made once, is made now
    let mut pairs = Vec::with_capacity(n);
    let before = heap::now().1;
    pairs.extend((0..n).map(|_| open()));
    let after = heap::now().1;
    drop(first);
    let per = |side: usize| (after[side] - before[side]) as f64 / n as f64;
    (per(CLIENT), per(SERVER))
}

fn main() {
    let data = Data(std::env::args_os().nth(1).expect("usage: bench_rust DATA").into());
    let mut jobs: HashMap<String, Job> = HashMap::new();
    for line in stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [verb, peer, kind, argument, n] = words[..] else { panic!("not a request: {line}") };
        let n: u64 = n.parse().unwrap();
        if verb == "idle" {
            let (client, server) = idle(&*configs(&data, peer, argument, Use::Full), n as usize);
            println!("{client:.1} {server:.1}");
            continue;
        }
        let job =
            jobs.entry(format!("{peer} {kind} {argument}")).or_insert_with(|| Job::new(&data, peer, kind, argument));
        let took = job.pass(n);
        match verb {
            "pass" => println!("{took}"),
            "count" => {
                let before = heap::now().0;
                job.pass(n);
                println!("{:.4}", (heap::now().0 - before) as f64 / n as f64);
            }
            _ => panic!("not a request: {line}"),
        }
    }
}
