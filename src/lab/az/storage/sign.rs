//! Requests that are signed with an account's key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::lab::azure::Request;

/// What is signed before the service's own headers, each on a line.
const STANDARD_LINES: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// Returns the `Authorization` for a request; nothing where the key is none.
pub(super) fn authorization(account: &str, key: &str, request: &Request) -> Option<String> {
    let key = STANDARD.decode(key.trim()).ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(text(account, request).as_bytes());
    Some(format!("SharedKey {account}:{}", STANDARD.encode(mac.finalize().into_bytes())))
}

fn text(account: &str, request: &Request) -> String {
    let mut text = format!("{}\n", request.verb.name());
    let dated = request.header("x-ms-date").is_some();
    for name in STANDARD_LINES {
        let value = request.header(name).unwrap_or_default();
        let silent = (name == "content-length" && value == "0") || (name == "date" && dated);
        text.push_str(if silent { "" } else { value });
        text.push('\n');
    }
    // The map of headers is sorted by their names.
    for (name, value) in request.headers.iter().filter(|(name, _)| name.starts_with("x-ms-")) {
        text.push_str(&format!("{name}:{}\n", value.trim()));
    }
    text.push_str(&format!("/{account}{}", request.path));
    let mut query: Vec<(String, &str)> =
        request.query.iter().map(|(name, value)| (name.to_lowercase(), value.as_str())).collect();
    query.sort();
    for (name, value) in query {
        text.push_str(&format!("\n{name}:{value}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::lab::azure::Verb;

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
        assert_eq!(text("a", &request), expected);
        assert!(authorization("a", "AAAA", &request).is_some_and(|told| told.starts_with("SharedKey a:")));
        assert_eq!(authorization("a", "!!", &request), None);
    }
}
