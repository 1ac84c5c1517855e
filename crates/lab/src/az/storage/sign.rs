//! Requests that are signed with an account's key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::azure::{Request, signed};

/// Returns the `Authorization` for a request; nothing where the key is none.
pub(super) fn authorization(account: &str, key: &str, request: &Request) -> Option<String> {
    let key = STANDARD.decode(key.trim()).ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(signed(account, request).as_bytes());
    Some(format!("SharedKey {account}:{}", STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::azure::Verb;

    #[test]
    fn what_is_signed_has_its_order() {
        let headers = [
            ("x-ms-version", "1"),
            ("x-ms-date", "now"),
            ("content-length", "0"),
            ("range", "bytes=0-1"),
            ("date", "x"),
        ];
        let request = Request {
            verb: Verb::Put,
            base: "https://a.blob.core.windows.net".to_owned(),
            path: "/c/b%20d".to_owned(),
            query: vec![
                ("restype".to_owned(), "container".to_owned()),
                ("comp".to_owned(), "list".to_owned()),
            ],
            headers: headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect::<BTreeMap<_, _>>(),
            body: Vec::new(),
        };
        let expected = "PUT\n\n\n\n\n\n\n\n\n\n\nbytes=0-1\nx-ms-date:now\nx-ms-version:1\n/a/c/b%20d\ncomp:list\nrestype:container";
        assert_eq!(signed("a", &request), expected);
        assert!(authorization("a", "AAAA", &request).is_some_and(|told| told.starts_with("SharedKey a:")));
        assert_eq!(authorization("a", "!!", &request), None);
    }
}
