//! What a refusal demands of the next token: the platform wants to be shown more than was shown when this one was given out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use serde_json::Value;

/// A longer demand is none.
const MAX_BYTES: usize = 8_192;

/// Returns what the next token has to be asked for with, as the authority takes it; nothing where a refusal demands nothing of the kind.
pub(super) fn claims(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(WWW_AUTHENTICATE).into_iter().filter_map(|value| value.to_str().ok());
    let texts = all.filter(|text| text.len() <= MAX_BYTES).filter_map(|text| parameter(text, "claims"));
    texts.filter_map(decoded).next()
}

/// Returns a parameter of a challenge that stands in quotes.
fn parameter<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once("=\"")?;
        let (value, next) = after.split_once('"')?;
        let own = before.rsplit([' ', ',', '\t']).next().unwrap_or_default();
        if own.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = next;
    }
}

/// Reads a demand: an object, in either alphabet of base64, padded or not.
fn decoded(text: &str) -> Option<String> {
    let plain: String = text
        .trim_end_matches('=')
        .chars()
        .map(|char| match char {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    let bytes = STANDARD_NO_PAD.decode(plain).ok()?;
    let document: Value = serde_json::from_slice(&bytes).ok()?;
    document.is_object().then(|| document.to_string())
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use reqwest::header::HeaderValue;

    use super::*;

    const DEMAND: &str = r#"{"access_token":{"nbf":{"essential":true,"value":"1764000000"}}}"#;

    fn read(values: &[String]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_str(value).unwrap());
        }
        claims(&headers)
    }

    #[test]
    fn a_demand_is_read_wherever_it_stands() {
        for text in [STANDARD.encode(DEMAND), URL_SAFE_NO_PAD.encode(DEMAND)] {
            let challenge = format!(
                "Bearer realm=\"\", authorization_uri=\"https://login/common\", error=\"insufficient_claims\", claims=\"{text}\""
            );
            assert_eq!(read(std::slice::from_ref(&challenge)).as_deref(), Some(DEMAND));
            assert_eq!(read(&["Basic realm=\"x\"".to_owned(), challenge]).as_deref(), Some(DEMAND));
            assert_eq!(read(&[format!("Bearer Claims=\"{text}\"")]).as_deref(), Some(DEMAND));
        }
    }

    #[test]
    fn what_demands_nothing_is_no_demand() {
        let list = STANDARD.encode("[1]");
        for value in [
            "Bearer".to_owned(),
            "Bearer error=\"invalid_token\"".to_owned(),
            "Bearer claims=\"%%%\"".to_owned(),
            "Bearer claims=\"".to_owned(),
            format!("Bearer claims=\"{list}\""),
            format!("Bearer other_claims=\"{}\"", STANDARD.encode(DEMAND)),
            format!("Bearer claims=\"{}\"", "A".repeat(MAX_BYTES)),
        ] {
            assert_eq!(read(std::slice::from_ref(&value)), None, "{value}");
        }
    }
}
