//! The signature by which an app knows that a request is from its workspace.

use ghost_base::keyed;

/// Signs the body of a request: `v0=` and the keyed digest of version, time and body.
pub(crate) fn signature(secret: &str, time: i64, body: &str) -> String {
    format!("v0={}", keyed(secret.as_bytes(), format!("v0:{time}:{body}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_changes_with_time_and_body() {
        let one = signature("secret", 1, "a");
        assert!(one.starts_with("v0=") && one.len() == 67);
        assert_ne!(one, signature("secret", 2, "a"));
        assert_ne!(one, signature("secret", 1, "b"));
    }
}
