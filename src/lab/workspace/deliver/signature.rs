//! The signature by which an app knows that a request is from its workspace.

use crate::base::Digest;

/// The length of a block of SHA-256.
const BLOCK: usize = 64;

/// Signs the body of a request: `v0=` and the keyed digest of version, time and body.
pub(crate) fn signature(secret: &str, time: i64, body: &str) -> String {
    format!("v0={}", keyed(secret.as_bytes(), format!("v0:{time}:{body}").as_bytes()))
}

/// HMAC with SHA-256 (RFC 2104).
fn keyed(key: &[u8], message: &[u8]) -> Digest {
    let mut block = [0_u8; BLOCK];
    let long = Digest::of(key);
    let key = if key.len() > BLOCK { long.as_bytes().as_slice() } else { key };
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let pad = |with: u8, rest: &[u8]| {
        let mut bytes: Vec<u8> = block.iter().map(|byte| byte ^ with).collect();
        bytes.extend_from_slice(rest);
        Digest::of(bytes)
    };
    pad(0x5c, pad(0x36, message).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyed_digest_is_that_of_rfc_4231() {
        assert_eq!(
            keyed(b"Jefe", b"what do ya want for nothing?").to_string(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            keyed(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First").to_string(),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_signature_changes_with_time_and_body() {
        let one = signature("secret", 1, "a");
        assert!(one.starts_with("v0=") && one.len() == 67);
        assert_ne!(one, signature("secret", 2, "a"));
        assert_ne!(one, signature("secret", 1, "b"));
    }
}
