//! The first line of a message, where a segment begins with one.

/// Methods with the space behind them.
const METHODS: [(&[u8], &str); 9] = [
    (b"GET ", "GET"),
    (b"POST ", "POST"),
    (b"HEAD ", "HEAD"),
    (b"PUT ", "PUT"),
    (b"DELETE ", "DELETE"),
    (b"OPTIONS ", "OPTIONS"),
    (b"PATCH ", "PATCH"),
    (b"CONNECT ", "CONNECT"),
    (b"TRACE ", "TRACE"),
];

/// What a message begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartLine<'a> {
    /// A request: its method, and the host where it was captured.
    Request(&'static str, Option<&'a [u8]>),
    /// An answer with its code.
    Status(u16),
}

/// Tells whether bytes begin a message.
pub(in crate::protocol) fn begins(data: &[u8]) -> bool {
    read(data).is_some()
}

/// Reads what bytes begin with.
pub(super) fn read(data: &[u8]) -> Option<StartLine<'_>> {
    if let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', a, b, c, rest @ ..] = data {
        let digits = [a, b, c].into_iter().try_fold(0_u16, |code, digit| {
            digit.is_ascii_digit().then(|| code * 10 + u16::from(digit - b'0'))
        });
        let ends = matches!(rest, [] | [b' ' | b'\r' | b'\n', ..]);
        return digits.filter(|code| ends && (100..600).contains(code)).map(StartLine::Status);
    }
    let (prefix, method) = METHODS.iter().find(|(prefix, _)| data.starts_with(prefix))?;
    let mut lines = data.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let whole = first.len() < data.len();
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let target = first.get(prefix.len()..).unwrap_or_default();
    let known = match first.strip_suffix(b"0").or_else(|| first.strip_suffix(b"1")) {
        Some(start) if whole => start.ends_with(b" HTTP/1."),
        // The line goes on in the next segment, or was not captured.
        _ => !whole && matches!(target, [b'/' | b'*', ..] | [b'h', b't', b't', b'p', ..]),
    };
    known.then(|| StartLine::Request(method, host(lines)))
}

/// Returns the host that a header names.
fn host<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    let mut last: Option<&[u8]> = None;
    for line in lines {
        // The last part may be incomplete: a line counts when another one follows.
        if let Some(value) = last.and_then(value) {
            return Some(value);
        }
        if line.is_empty() || line == b"\r" {
            return None;
        }
        last = Some(line);
    }
    None
}

fn value(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(5)?;
    name.eq_ignore_ascii_case(b"host:").then(|| value.trim_ascii()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_method_and_host() {
        let request = b"GET /secret?key=1 HTTP/1.1\r\nAccept: */*\r\nhOST: a.example \r\n\r\nHost: body\r\n";
        assert_eq!(read(request), Some(StartLine::Request("GET", Some(b"a.example"))));
        assert_eq!(read(b"GET / HTTP/1.0\r\n\r\nHost: body\r\n"), Some(StartLine::Request("GET", None)));
        assert_eq!(read(b"GET / HTTP/1.0\r\nHost: a.exam"), Some(StartLine::Request("GET", None)));
        assert_eq!(read(b"POST /a/long/path/that/goes"), Some(StartLine::Request("POST", None)));
    }

    #[test]
    fn a_status_line_is_strict() {
        assert_eq!(read(b"HTTP/1.1 503 Service Unavailable\r\n"), Some(StartLine::Status(503)));
        assert_eq!(read(b"HTTP/1.0 200"), Some(StartLine::Status(200)));
        for other in
            [&b"HTTP/1.1 999 x"[..], b"HTTP/1.1 2000", b"HTTP/2 200", b"HTTP/1.1 2x0 ", b"HTTP/1.1 2"]
        {
            assert_eq!(read(other), None);
        }
    }

    #[test]
    fn what_is_only_similar_is_none() {
        for other in [
            &b"GET it done\r\n"[..],
            b"OPTIONS rtsp://a RTSP/1.0\r\n",
            b"GETX / HTTP/1.1\r\n",
            b"GET it",
            b"",
        ] {
            assert_eq!(read(other), None);
        }
    }
}
