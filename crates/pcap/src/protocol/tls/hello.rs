//! What both hellos say, as far as they are there.

use crate::layers::View;

/// The random number by which a server asks for another hello.
const HELLO_RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
    0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hello<'a> {
    /// The version: the highest that is offered, or the one that was chosen; 0 where it is not known.
    pub(super) version: u16,
    /// The cipher that was chosen; of a client's hello nothing.
    pub(super) cipher: Option<u16>,
    /// The name that is asked for.
    pub(super) name: Option<&'a [u8]>,
    /// The first protocol above it.
    pub(super) protocol: Option<&'a [u8]>,
    /// The server asks for another hello.
    pub(super) again: bool,
}

/// Reads a client's hello.
pub(super) fn client(body: &[u8]) -> Hello<'_> {
    let mut hello = Hello { version: View::new(body, body.len()).u16(0).unwrap_or(0), ..Hello::default() };
    let _ = walk(body, &mut hello, true);
    hello
}

/// Reads a server's.
pub(super) fn server(body: &[u8]) -> Hello<'_> {
    let mut hello = Hello { version: View::new(body, body.len()).u16(0).unwrap_or(0), ..Hello::default() };
    hello.again = body.get(2..34).is_some_and(|random| random == HELLO_RETRY_RANDOM);
    let _ = walk(body, &mut hello, false);
    hello
}

/// Fills in what is there; nothing where the hello ends too early, which changes nothing.
fn walk<'a>(body: &'a [u8], hello: &mut Hello<'a>, client: bool) -> Option<()> {
    let view = View::new(body, body.len());
    let mut at = 35 + usize::from(view.u8(34)?);
    if client {
        at += 2 + usize::from(view.u16(at)?);
        at += 1 + usize::from(view.u8(at)?);
    } else {
        hello.cipher = Some(view.u16(at)?);
        at += 3;
    }
    let mut rest = view.skip(at + 2).limit(usize::from(view.u16(at)?));
    while let (Some(kind), Some(length)) = (rest.u16(0), rest.u16(2)) {
        let length = usize::from(length);
        extension(kind, rest.skip(4).limit(length).data, hello, client);
        rest = rest.skip(4 + length);
    }
    Some(())
}

fn extension<'a>(kind: u16, data: &'a [u8], hello: &mut Hello<'a>, client: bool) {
    let view = View::new(data, data.len());
    match kind {
        0 if client && view.u8(2) == Some(0) => {
            let length = usize::from(view.u16(3).unwrap_or(0));
            // A name that is there in part is none.
            hello.name = data.get(5..5 + length).filter(|name| !name.is_empty());
        }
        16 => {
            let length = usize::from(view.u8(2).unwrap_or(0));
            hello.protocol = data.get(3..3 + length).filter(|name| !name.is_empty());
        }
        43 if client => {
            let versions = data.get(1..).unwrap_or_default().chunks_exact(2);
            let offered =
                versions.filter_map(|pair| pair.first_chunk().map(|pair| u16::from_be_bytes(*pair)));
            // Values that only see to it that unknown ones are borne have equal halves.
            if let Some(highest) = offered.filter(|version| (0x0300..=0x03ff).contains(version)).max() {
                hello.version = highest;
            }
        }
        43 => hello.version = view.u16(0).unwrap_or(hello.version),
        _ => {}
    }
}

/// Returns the name of a version.
pub(crate) fn version_name(version: u16) -> String {
    match version {
        0x0002 => "SSL 2.0".to_owned(),
        0x0300 => "SSL 3.0".to_owned(),
        0x0301 => "TLS 1.0".to_owned(),
        0x0302 => "TLS 1.1".to_owned(),
        0x0303 => "TLS 1.2".to_owned(),
        0x0304 => "TLS 1.3".to_owned(),
        other => format!("0x{other:04x}"),
    }
}

/// Returns the name of a cipher that is common, and the number of another one.
pub(crate) fn cipher_name(cipher: u16) -> String {
    let known = match cipher {
        0x0004 => "RSA_WITH_RC4_128_MD5",
        0x0005 => "RSA_WITH_RC4_128_SHA",
        0x000a => "RSA_WITH_3DES_EDE_CBC_SHA",
        0x002f => "RSA_WITH_AES_128_CBC_SHA",
        0x0035 => "RSA_WITH_AES_256_CBC_SHA",
        0x003c => "RSA_WITH_AES_128_CBC_SHA256",
        0x009c => "RSA_WITH_AES_128_GCM_SHA256",
        0x009d => "RSA_WITH_AES_256_GCM_SHA384",
        0x1301 => "AES_128_GCM_SHA256",
        0x1302 => "AES_256_GCM_SHA384",
        0x1303 => "CHACHA20_POLY1305_SHA256",
        0xc009 => "ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
        0xc00a => "ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        0xc013 => "ECDHE_RSA_WITH_AES_128_CBC_SHA",
        0xc014 => "ECDHE_RSA_WITH_AES_256_CBC_SHA",
        0xc02b => "ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        0xc02c => "ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        0xc02f => "ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        0xc030 => "ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        0xcca8 => "ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        0xcca9 => "ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        other => return format!("0x{other:04x}"),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client's hello with a name, a protocol and versions, of which one is there for practice.
    fn hello() -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 1, 1, 0]);
        let extensions = b"\x00\x00\x00\x08\x00\x06\x00\x00\x03a.b\x00\x10\x00\x05\x00\x03\x02h2\x00\x2b\x00\x07\x06\x3a\x3a\x03\x04\x03\x03";
        body.extend(u16::try_from(extensions.len()).unwrap().to_be_bytes());
        body.extend(extensions);
        body
    }

    #[test]
    fn a_client_says_whom_it_wants_and_what_it_can() {
        let body = hello();
        let expected =
            Hello { version: 0x0304, name: Some(b"a.b"), protocol: Some(b"h2"), ..Hello::default() };
        assert_eq!(client(&body), expected);
    }

    #[test]
    fn a_hello_that_ends_anywhere_is_read_as_far_as_it_goes() {
        let body = hello();
        for end in 0..body.len() {
            let found = client(&body[..end]);
            assert!(found.name.is_none_or(|name| name == b"a.b"), "{end}");
            assert!(matches!(found.version, 0 | 0x0303 | 0x0304));
            server(&body[..end]);
        }
    }
}
