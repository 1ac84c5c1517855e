//! What programs say, as bytes: enough of each protocol that whoever reads a capture reads no nonsense.

use crate::host::simulated::wire::conversation::Turn;

/// Ports where web servers are expected.
const WEB: [u16; 10] = [80, 3_000, 5_000, 7_070, 8_000, 8_008, 8_080, 8_081, 8_888, 9_090];
/// Beyond so many bytes only filler is sent.
const MAX_CONTENT_BYTES: u64 = 1 << 20;

/// Everything that one side says in a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    said: Vec<u8>,
}

impl Stream {
    /// Writes what a side says over a port.
    pub(super) fn new(port: u16, asks: bool, turns: &[Turn]) -> Self {
        let bytes = |turn: &Turn| if asks { turn.request } else { turn.answer };
        let mut said = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            let size = bytes(turn);
            if said.len() as u64 + size > MAX_CONTENT_BYTES {
                break;
            }
            let size = usize::try_from(size).unwrap_or(0);
            if size > 0 {
                said.extend(message(port, asks, at == 0, size));
            }
        }
        Self { said }
    }

    pub(super) fn bytes(&self, from: u64, len: u32) -> Vec<u8> {
        let filled =
            |at: u64| b"abcdefghijklmnopqrstuvwxyz012345".get((at % 32) as usize).copied().unwrap_or(b'.');
        (from..from + u64::from(len))
            .map(|at| {
                usize::try_from(at)
                    .ok()
                    .and_then(|at| self.said.get(at).copied())
                    .unwrap_or_else(|| filled(at))
            })
            .collect()
    }
}

fn message(port: u16, asks: bool, first: bool, size: usize) -> Vec<u8> {
    let made = match port {
        443 | 8_443 | 6_443 => Some(records(size)),
        22 => secure_shell(asks, first, size),
        5_432 => postgres(asks, first, size),
        6_379 => Some(redis(asks, size)),
        port if WEB.contains(&port) => web(asks, size),
        _ => None,
    };
    made.filter(|made| made.len() == size).unwrap_or_else(|| filler(size))
}

fn filler(size: usize) -> Vec<u8> {
    b"the quick brown fox jumps over the lazy dog\n".iter().copied().cycle().take(size).collect()
}

/// Fills a head that tells the length of what follows it.
fn with_body(size: usize, head: impl Fn(usize) -> String) -> Option<Vec<u8>> {
    let first = size.checked_sub(head(0).len())?;
    let found = (first.saturating_sub(8)..=first).rev().find(|body| head(*body).len() + body == size)?;
    let mut bytes = head(found).into_bytes();
    bytes.extend(filler(found));
    Some(bytes)
}

fn web(asks: bool, size: usize) -> Option<Vec<u8>> {
    if !asks {
        return with_body(size, |body| {
            format!(
                "HTTP/1.1 200 OK\r\nServer: lab\r\nContent-Type: text/plain\r\nContent-Length: {body}\r\n\r\n"
            )
        })
        .or_else(|| with_body(size, |body| format!("HTTP/1.1 200 OK\r\nContent-Length: {body}\r\n\r\n")));
    }
    if size > 700 {
        return with_body(size, |body| {
            format!("POST /upload HTTP/1.1\r\nHost: lab\r\nContent-Length: {body}\r\n\r\n")
        });
    }
    let plain = "GET / HTTP/1.1\r\nHost: lab\r\n\r\n";
    let room = size.checked_sub(plain.len())?;
    let pad = room.checked_sub("X-Pad: \r\n".len());
    match (room, pad) {
        (0, _) => Some(plain.into()),
        (_, Some(pad)) => {
            Some(format!("GET / HTTP/1.1\r\nHost: lab\r\nX-Pad: {}\r\n\r\n", "x".repeat(pad)).into_bytes())
        }
        (_, None) => Some(format!("GET /{} HTTP/1.1\r\nHost: lab\r\n\r\n", "x".repeat(room)).into_bytes()),
    }
}

/// Records of encrypted data.
fn records(size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() + 6 <= size {
        let mut body = (size - bytes.len() - 5).min(16_000);
        // What is left over has to be a record, too.
        if (1..6).contains(&(size - bytes.len() - 5 - body)) {
            body -= 6;
        }
        bytes.extend([0x17, 3, 3]);
        bytes.extend(u16::try_from(body).unwrap_or(0).to_be_bytes());
        bytes.extend((0..body).map(|at| u8::try_from(at * 151 % 251).unwrap_or(0)));
    }
    bytes
}

fn secure_shell(asks: bool, first: bool, size: usize) -> Option<Vec<u8>> {
    let banner: &[u8] =
        if asks { b"SSH-2.0-OpenSSH_8.9p1\r\n" } else { b"SSH-2.0-OpenSSH_8.9p1 Ubuntu-3\r\n" };
    let mut bytes = if first { banner.to_vec() } else { Vec::new() };
    if bytes.len() == size {
        return Some(bytes);
    }
    // A message that says nothing: its length, no padding but four bytes, its kind, a text.
    let text = size.checked_sub(bytes.len() + 14).filter(|text| *text < 30_000)?;
    bytes.extend(u32::try_from(text + 10).ok()?.to_be_bytes());
    bytes.extend([4, 2]);
    bytes.extend(u32::try_from(text).ok()?.to_be_bytes());
    bytes.extend(filler(text));
    bytes.extend([0; 4]);
    Some(bytes)
}

fn postgres(asks: bool, first: bool, size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if asks && first {
        let fixed = b"user\0lab\0application_name\0";
        let pad = size.checked_sub(8 + fixed.len() + 2)?;
        bytes.extend(u32::try_from(size).ok()?.to_be_bytes());
        bytes.extend([0, 3, 0, 0]);
        bytes.extend(fixed);
        bytes.extend(std::iter::repeat_n(b'x', pad));
        bytes.extend([0, 0]);
        return Some(bytes);
    }
    if asks {
        let text = size.checked_sub(6)?;
        bytes.push(b'Q');
        bytes.extend(u32::try_from(size - 1).ok()?.to_be_bytes());
        bytes.extend(std::iter::repeat_n(b' ', text));
        bytes.push(0);
        return Some(bytes);
    }
    bytes.extend([b'R', 0, 0, 0, 8, 0, 0, 0, 0]);
    if size == bytes.len() {
        return Some(bytes);
    }
    let pad = size.checked_sub(bytes.len() + 5 + 5 + 1)?;
    bytes.push(b'S');
    bytes.extend(u32::try_from(4 + 5 + pad + 1).ok()?.to_be_bytes());
    bytes.extend(b"note\0");
    bytes.extend(std::iter::repeat_n(b'x', pad));
    bytes.push(0);
    Some(bytes)
}

fn redis(asks: bool, size: usize) -> Vec<u8> {
    let whole = |head: &'static str| {
        let first = size.saturating_sub(head.len() + 5);
        (first.saturating_sub(8)..=first).rev().find_map(|body| {
            let text = format!("{head}${body}\r\n{}\r\n", "x".repeat(body));
            (text.len() == size).then(|| text.into_bytes())
        })
    };
    let short =
        |sign: &str| size.checked_sub(3).map(|room| format!("{sign}{}\r\n", "x".repeat(room)).into_bytes());
    let long = if asks { whole("*2\r\n$4\r\nECHO\r\n") } else { whole("") };
    long.or_else(|| short("+")).unwrap_or_default()
}
