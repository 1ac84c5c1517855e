//! A resolver of the test's own: it stands in a network namespace, answers from a zone, and notes every question.

use std::fs;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::place::Place;

/// What a question is about, and whether it was asked before.
#[derive(Debug)]
pub(super) struct Question {
    /// The name without its last dot, as it was asked for.
    pub(super) name: String,
    /// The number of the type: 1 for an address.
    pub(super) kind: u8,
    pub(super) is_repeated: bool,
}

/// What the resolver says.
#[derive(Debug)]
pub(super) enum Reply {
    Address([u8; 4]),
    /// A name server, or the name behind an address.
    Name(&'static str),
    Text(&'static str),
    /// The name is there, but nothing of this type.
    Nothing,
    /// There is no such name.
    Missing,
}

/// The questions that a resolver was asked, each as `NAME TYPE`.
pub(super) struct Resolver {
    asked: Arc<Mutex<Vec<String>>>,
}

/// The type of an address, of a name server, of the name behind an address, and of a text.
pub(super) const ADDRESS: u8 = 1;
pub(super) const SERVER: u8 = 2;
pub(super) const POINTER: u8 = 12;
pub(super) const TEXT: u8 = 16;

/// Makes a place whose programs ask the resolver, prepared further by a line of a shell.
pub(super) fn place_with_names(prepare: &str) -> Place {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("resolv"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n").unwrap();
    fs::write(folder.path().join("switch"), "passwd: files\nhosts: files dns\nnetworks: files dns\n")
        .unwrap();
    let mounts =
        "mount --bind \"$1/resolv\" /etc/resolv.conf && mount --bind \"$1/switch\" /etc/nsswitch.conf";
    Place::with(folder, &format!("{mounts} && {prepare}"))
}

impl Resolver {
    /// Answers on port 53 of every address of the place until the test ends.
    pub(super) fn serve(place: &Place, zone: impl Fn(&Question) -> Reply + Send + 'static) -> Self {
        let socket = place.within(|| UdpSocket::bind(("0.0.0.0", 53)).unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok((length, from)) = socket.recv_from(&mut bytes) {
                if let Some(reply) = answer(&bytes[..length], &zone, &noted) {
                    let _ = socket.send_to(&reply, from);
                }
            }
        });
        Self { asked }
    }

    /// Returns what was asked since the last time, and forgets it.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// Answers one question; `None` if the bytes hold none.
fn answer(message: &[u8], zone: &impl Fn(&Question) -> Reply, asked: &Mutex<Vec<String>>) -> Option<Vec<u8>> {
    let (mut at, mut labels) = (12, Vec::new());
    while *message.get(at)? != 0 {
        let end = at + 1 + usize::from(message[at]);
        labels.push(String::from_utf8_lossy(message.get(at + 1..end)?).into_owned());
        at = end;
    }
    let end = at + 5;
    let (name, kind) = (labels.join("."), *message.get(at + 2)?);
    let line = format!("{name} {}", if kind == ADDRESS { "A".to_owned() } else { kind.to_string() });
    let is_repeated = {
        let mut asked = asked.lock().unwrap();
        let is_repeated = asked.contains(&line);
        asked.push(line);
        is_repeated
    };
    let reply = zone(&Question { name, kind, is_repeated });
    let (status, record) = match reply {
        Reply::Address(address) => (0, Some(address.to_vec())),
        Reply::Name(name) => (0, Some(encoded(name))),
        Reply::Text(text) => (0, Some([&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat())),
        Reply::Nothing => (0, None),
        Reply::Missing => (3, None),
    };
    let count = u8::from(record.is_some());
    let mut bytes = vec![message[0], message[1], 0x81, 0x80 | status, 0, 1, 0, count, 0, 0, 0, 0];
    bytes.extend_from_slice(message.get(12..end)?);
    if let Some(record) = record {
        bytes.extend([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0]);
        bytes.extend(u16::try_from(record.len()).unwrap().to_be_bytes());
        bytes.extend(record);
    }
    Some(bytes)
}

fn encoded(name: &str) -> Vec<u8> {
    let labels = name.split('.').flat_map(|label| {
        std::iter::once(u8::try_from(label.len()).unwrap()).chain(label.bytes()).collect::<Vec<_>>()
    });
    labels.chain([0]).collect()
}
