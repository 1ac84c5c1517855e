//! A server that records what it gets, and answers as a web server would.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

const MARK: &[u8] = b"the test asks for what came before";

/// A recording server on a port of its own.
pub(crate) struct Recorder {
    pub(crate) port: u16,
    records: Receiver<(usize, Vec<u8>)>,
    /// The number of the next connection.
    next: Cell<usize>,
}

impl Recorder {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, records) = channel();
        thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                let (stream, sender) = (stream.unwrap(), sender.clone());
                thread::spawn(move || record(stream, at, &sender));
            }
        });
        Self { port, records, next: Cell::new(0) }
    }

    /// Returns what every connection since the last call sent. All of them are closed: their programs have ended.
    pub(crate) fn received(&self) -> Vec<Vec<u8>> {
        let mut mark = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        mark.write_all(MARK).unwrap();
        drop(mark);
        let mut found: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        // Connections are numbered as they come. The mark is the last one, though its record may arrive before others.
        let first = self.next.get();
        let mut last = None;
        while last.is_none_or(|last: usize| found.len() <= last - first) {
            let (at, bytes) = self.records.recv().unwrap();
            last = last.or_else(|| (bytes == MARK).then_some(at));
            found.insert(at, bytes);
        }
        self.next.set(last.unwrap() + 1);
        found.into_values().filter(|bytes| bytes != MARK && !bytes.is_empty()).collect()
    }
}

fn record(mut stream: TcpStream, at: usize, sender: &Sender<(usize, Vec<u8>)>) {
    let mut all = Vec::new();
    let mut answered = 0;
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        all.extend_from_slice(&buffer[..count]);
        // No answer makes a handshake fail at once.
        if all.first() == Some(&0x16) || all.first() == Some(&0) {
            break;
        }
        let heads = all.windows(4).filter(|window| window == b"\r\n\r\n").count();
        for _ in answered..heads {
            let is_head = all.starts_with(b"HEAD");
            let body = if is_head { "" } else { "ok" };
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{body}");
            drop(stream.write_all(answer.as_bytes()));
        }
        answered = heads;
    }
    drop(sender.send((at, all)));
}
