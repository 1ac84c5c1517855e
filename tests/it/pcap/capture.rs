//! Frames and captures, made for tests.

/// One end of a conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// The last byte of its address.
    pub(super) host: u8,
    /// Its port.
    pub(super) port: u16,
}

/// A TCP segment.
#[derive(Debug, Clone, Default)]
pub(super) struct Segment {
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u8,
    pub(super) win: u16,
    pub(super) options: Vec<u8>,
    pub(super) len: usize,
}

/// Returns an Ethernet frame with a segment in `IPv4` or `IPv6`.
pub(super) fn tcp(six: bool, from: End, to: End, segment: &Segment) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(from.port.to_be_bytes());
    body.extend(to.port.to_be_bytes());
    body.extend(segment.seq.to_be_bytes());
    body.extend(segment.ack.to_be_bytes());
    let words = 5 + segment.options.len() / 4;
    body.push(u8::try_from(words << 4).unwrap());
    body.push(segment.flags);
    body.extend(segment.win.to_be_bytes());
    body.extend([0; 4]);
    body.extend(&segment.options);
    body.extend(std::iter::repeat_n(0, segment.len));
    ip(six, 6, from.host, to.host, &body)
}

/// Returns an Ethernet frame with a datagram.
pub(super) fn udp(from: End, to: End, payload: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(from.port.to_be_bytes());
    body.extend(to.port.to_be_bytes());
    body.extend(u16::try_from(8 + payload.len()).unwrap().to_be_bytes());
    body.extend([0, 0]);
    body.extend(payload);
    ip(false, 17, from.host, to.host, &body)
}

/// Returns an Ethernet frame with a packet of any protocol.
pub(super) fn ip(six: bool, protocol: u8, from: u8, to: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from];
    let size = u16::try_from(body.len()).unwrap();
    if six {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
        frame.extend(size.to_be_bytes());
        frame.extend([protocol, 64]);
        for host in [from, to] {
            frame.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
        }
    } else {
        frame.extend([0x08, 0x00, 0x45, 0]);
        frame.extend((size + 20).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
    }
    frame.extend(body);
    frame
}

/// A query or a response for a name in wire form.
pub(super) fn dns(id: u16, response: bool, rcode: u8, name: &[u8]) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend(if response { [0x81, 0x80 | rcode] } else { [1, 0] });
    message.extend([0, 1, 0, 0, 0, 0, 0, 0]);
    message.extend(name);
    message.extend([0, 0, 1, 0, 1]);
    message
}

/// A frame at a time in microseconds.
pub(super) type Timed = (u64, Vec<u8>);

/// Returns a classic capture in microseconds; of each frame at most `snap` bytes are there.
pub(super) fn pcap(frames: &[Timed], snap: usize) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xa1b2_c3d4_u32.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for (time, frame) in frames {
        let captured = frame.get(..snap).unwrap_or(frame);
        for word in [time / 1_000_000, time % 1_000_000, captured.len() as u64, frame.len() as u64] {
            file.extend(u32::try_from(word).unwrap().to_le_bytes());
        }
        file.extend(captured);
    }
    file
}
