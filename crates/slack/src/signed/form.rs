//! Forms in a body.

use serde_json::{Map, Value};

/// Reads a form; what is no escape stands for itself, and of a name that comes twice the first counts.
pub(crate) fn read(body: &[u8]) -> Value {
    let mut fields = Map::new();
    for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let mut halves = pair.splitn(2, |byte| *byte == b'=');
        let name = plain(halves.next().unwrap_or_default());
        let value = plain(halves.next().unwrap_or_default());
        fields.entry(name).or_insert(Value::String(value));
    }
    Value::Object(fields)
}

fn plain(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten().and_then(digits);
        match (first, escaped) {
            (_, Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', None) => bytes.push(b' '),
            (byte, None) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn digits(pair: &[u8]) -> Option<u8> {
    let pair =
        std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(pair, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_is_read_with_its_escapes() {
        assert_eq!(read(b"text=a+b%20c%26&x=%7B%22a%22%3A1%7D"), json!({"text": "a b c&", "x": "{\"a\":1}"}));
    }

    #[test]
    fn what_is_cut_off_or_no_escape_stands_for_itself() {
        assert_eq!(
            read(b"a=%&b=%4&c=%zz&d&=e&a=2&f=%+1&g=%ff"),
            json!({"a": "%", "b": "%4", "c": "%zz", "d": "", "": "e", "f": "% 1", "g": "\u{fffd}"})
        );
    }
}
