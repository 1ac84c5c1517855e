//! Reading what arrived, more strictly than any server does.

/// What a request may carry, curl's own headers among them.
const KNOWN: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "dnt",
    "forwarded",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "pragma",
    "range",
    "referer",
    "traceparent",
    "tracestate",
    "user-agent",
    "via",
    "x-correlation-id",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-real-ip",
    "x-request-id",
];

/// Counts the requests in some bytes; an error if there is anything but requests.
pub(crate) fn requests(bytes: &[u8]) -> Result<usize, String> {
    let text = str::from_utf8(bytes).map_err(|_| "bytes that are no text")?;
    if let Some(odd) = text.replace("\r\n", "").chars().find(|char| !matches!(char, ' '..='~')) {
        return Err(format!("{odd:?} in a request"));
    }
    let heads = text.strip_suffix("\r\n\r\n").ok_or("something behind the last request")?;
    let heads: Vec<&str> = heads.split("\r\n\r\n").collect();
    heads.iter().try_for_each(|head| check_head(head))?;
    Ok(heads.len())
}

fn check_head(head: &str) -> Result<(), String> {
    let mut lines = head.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    match first.as_slice() {
        ["GET" | "HEAD" | "OPTIONS", target, "HTTP/1.1" | "HTTP/1.0"] if target.starts_with('/') => {}
        _ => return Err(format!("{first:?} is no request that only reads")),
    }
    let mut names: Vec<String> = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(|| format!("{line:?} is no header"))?;
        let name = name.to_ascii_lowercase();
        let is_traced = name.strip_prefix("x-b3-").is_some_and(|rest| !rest.is_empty());
        if !is_traced && !KNOWN.contains(&name.as_str()) {
            return Err(format!("{name:?} is no known header"));
        }
        if value.trim().is_empty() || names.contains(&name) {
            return Err(format!("{name:?} is empty or stands twice"));
        }
        names.push(name);
    }
    if names.contains(&"host".to_owned()) { Ok(()) } else { Err("no Host".to_owned()) }
}
