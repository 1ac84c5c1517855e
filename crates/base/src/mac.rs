//! Digests with a key, and comparing them without telling where they differ.

use crate::Digest;

/// The length of a block of SHA-256.
const BLOCK: usize = 64;

/// Returns the HMAC with SHA-256 (RFC 2104) of a message.
#[must_use]
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> Digest {
    let long = Digest::of(key);
    let key = if key.len() > BLOCK { long.as_bytes().as_slice() } else { key };
    let padded = |with: u8, rest: &[u8]| {
        let mut bytes: Vec<u8> = key.iter().map(|byte| byte ^ with).collect();
        bytes.resize(BLOCK, with);
        bytes.extend_from_slice(rest);
        Digest::of(bytes)
    };
    padded(0x5c, padded(0x36, message).as_bytes())
}

/// Compares two texts in a time that depends on their lengths alone.
#[must_use]
pub fn same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0_u8, |seen, (one, other)| seen | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_rfc_4231() {
        assert_eq!(
            hmac_sha256(b"Jefe", b"what do ya want for nothing?").to_string(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hmac_sha256(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First").to_string(),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn only_equal_texts_are_the_same() {
        assert!(same("v0=ab", "v0=ab"));
        for other in ["", "v0=a", "v0=ac", "v0=abc"] {
            assert!(!same("v0=ab", other), "{other}");
        }
    }
}
