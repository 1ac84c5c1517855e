//! Command lines that try to say more than one question.

use ghost_shell::quote;

use crate::chance::Chance;

/// Where the servers of a test listen.
pub(crate) struct Place {
    pub(crate) port: u16,
}

/// Names of headers: those that a request may carry, those that frame, switch or override, and lines of other protocols.
const NAMES: &[&str] = &[
    "Accept",
    "accept-encoding",
    "Accept-Language",
    "Cache-Control",
    "DNT",
    "Forwarded",
    "Host",
    "HOST",
    "If-Match",
    "If-Modified-Since",
    "If-Range",
    "Origin",
    "Pragma",
    "Range",
    "Referer",
    "traceparent",
    "User-Agent",
    "Via",
    "x-b3-traceid",
    "x-b3-sampled",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Real-IP",
    "X-Request-ID",
    "Content-Length",
    "Transfer-Encoding",
    "TE",
    "Trailer",
    "Connection",
    "Upgrade",
    "Expect",
    "HTTP2-Settings",
    "Keep-Alive",
    "Proxy-Connection",
    "Content-Type",
    "Content-Encoding",
    "X-HTTP-Method-Override",
    "X-Original-URL",
    "X-Rewrite-URL",
    "Destination",
    "Overwrite",
    "Depth",
    "SOAPAction",
    "Authorization",
    "Cookie",
    "Metadata",
    "X-Anything",
    "MSET k",
    "SET ghost",
    "FLUSHALL\t",
    "EVAL \"redis.call('FLUSHALL')--",
    "Accept ",
    " Accept",
    "Accept\r\nDELETE /victim.txt HTTP/1.1\r\nX",
    "DEL ghost ",
    "flush_all ",
    "@headers",
    "",
];

const VALUES: &[&str] = &[
    "a",
    "*/*",
    "gzip",
    "bytes=0-9",
    "no-cache",
    "127.0.0.1",
    "app.example:8080",
    "https://app.example/",
    "1",
    "91",
    "chunked",
    "close",
    "Upgrade, HTTP2-Settings",
    "h2c",
    "100-continue",
    "trailers",
    "DELETE",
    "DELETE /victim.txt HTTP/1.0",
    "v ghost:session:1 FORGED",
    "",
    " ",
    "\t",
    "a\tb",
    "a\r\nDELETE /victim.txt HTTP/1.1\r\nHost: a",
    "a\nFLUSHALL",
    "é",
    "\u{560a}flush_all",
    "\"q\"",
    "a;b,c=d",
];

const OPTIONS: &[&str] = &[
    "-s",
    "-S",
    "-v",
    "-i",
    "-I",
    "-k",
    "-4",
    "-f",
    "-g",
    "-N",
    "-#",
    "--compressed",
    "--path-as-is",
    "--http0.9",
    "-0",
    "--http1.0",
    "--http1.1",
    "--http2",
    "--http2-prior-knowledge",
    "--tlsv1.2",
    "-X GET",
    "-X HEAD",
    "-X OPTIONS",
    "-X DELETE",
    "-X 'GET /x HTTP/1.1'",
    "-XPUT",
    "-r 0-9",
    "-r 0-",
    "-r '0-9\nX: y'",
    "-A probe/1",
    "-A ''",
    "-A 'a\nFLUSHALL'",
    "-e http://a/",
    "-e 'a;auto'",
    "-L",
    "-L --max-redirs 2",
    "--retry 1",
    "-d x",
    "-G",
    "-T /etc/hosts",
    "-F a=b",
    "--json '{}'",
    "-u a:b",
    "-b a=b",
    "--oauth2-bearer x",
    "-x http://127.0.0.1:1",
    "--haproxy-protocol",
    "--request-target /x",
    "--raw",
    "--tr-encoding",
    "--no-keepalive",
    "--resolve app.example:80:127.0.0.1",
    "--connect-to ::127.0.0.1:",
    "--interface lo",
    "-w '%{http_code}'",
    "-o /dev/null",
    "-D -",
    "--no-progress-meter",
    "--expect100-timeout 1",
    "-Z",
    "--next",
];

const PATHS: &[&str] = &[
    "/",
    "/",
    "",
    "/index.html",
    "/a%20b",
    "/a%0d%0aX:%20y",
    "/%0aFLUSHALL",
    "/a/../b",
    "/x%00",
    "/%ff",
    "/é",
    "/\"q\"",
    "/'",
    "//",
    "/victim.txt",
    "/a#b",
    "/?a=b",
    "/SET",
    "/%250aFLUSHALL",
    "/*",
    "/{a,b}",
    "/[1-3]",
    "/~u",
    "/a;b",
    "/a|b",
    "/a\\b",
    "/ HTTP/1.1",
];

/// Names of which one part makes a line: behind a length of ten, or where a client turns an escape into a line end.
const LOOKED_UP: &[&str] = &[
    "a.example",
    "*.example",
    "_sip._tcp.a.example",
    "10.0.0.5",
    r"a\010flush_all\013\010b",
    r"a\.b",
    "aaaaaaaaaa.flush_all_.b",
    "aaaaaaaaaa.\"FLUSHALL\".aaaaaaaaaa",
    "flush_all",
    "MX",
    "+domain=a.example",
    r"+domain=a\010flush_all\010b",
    "+cookie=0a666c7573685f616c6c0d0a",
    "+nsid",
    "+ednsopt=65001:0a666c7573685f616c6c0d0a",
    "+subnet=10.0.0.0/8",
    "-t TXT",
    "+padding=8",
    "+edns=0",
];

const SPOKEN: &[&str] = &[
    "h2",
    "h2,http/1.1",
    "http/1.1",
    "aaaaaaaaaa,\"FLUSHALL\",aaaaaaaaaa",
    "aaaaaaaaaa,flush_all_,aaaaaaaaaa",
    "aaaaaaaaaa,flush_all\r,b",
    "",
];

/// Draws a command line.
pub(crate) fn attempts(chance: &mut Chance, place: &Place) -> String {
    match chance.below(20) {
        0 => looked_up(chance, place),
        1 => handshake(chance, place),
        _ => request(chance, place),
    }
}

fn request(chance: &mut Chance, place: &Place) -> String {
    // Half of them are made of what may pass, so that enough arrives.
    let tame = chance.below(2) == 0;
    let bound = |all: usize, first: usize| if tame { first } else { all };
    let mut words = vec!["curl -m 2".to_owned()];
    for _ in 0..chance.below(4) {
        words.push(OPTIONS[chance.below(bound(OPTIONS.len(), 12))].to_owned());
    }
    for _ in 0..chance.below(4) {
        let name = NAMES[chance.below(bound(NAMES.len(), 24))];
        let value = VALUES[chance.below(bound(VALUES.len(), 8))];
        let form = match chance.below(bound(6, 1)) {
            1 => format!("{name}:"),
            2 => format!("{name};"),
            3 => format!("{name}:{value}"),
            _ => format!("{name}: {value}"),
        };
        words.push(format!("{} {}", chance.pick(&["-H", "--header"]), quote(&form)));
    }
    for _ in 0..=chance.below(2) {
        let path = PATHS[chance.below(bound(PATHS.len(), 5))];
        let scheme = if chance.below(8) == 0 { "https" } else { "http" };
        words.push(quote(&format!("{scheme}://127.0.0.1:{}{path}", place.port)));
    }
    words.join(" ")
}

fn looked_up(chance: &mut Chance, place: &Place) -> String {
    let name = chance.pick(LOOKED_UP);
    let name = if name.starts_with("-t ") { name.to_owned() } else { quote(name) };
    let more = quote(chance.pick(&["a.example", r"b\010flush_all\010c", "+tries=1", "b"]));
    if chance.below(3) == 0 {
        format!("host -T -W 1 -R 1 -p {} {name} 127.0.0.1", place.port)
    } else {
        format!("dig +tcp +time=1 +tries=1 -p {} @127.0.0.1 {name} {more}", place.port)
    }
}

fn handshake(chance: &mut Chance, place: &Place) -> String {
    let server =
        quote(chance.pick(&["a.example", "flush_all_", "aaaaaaaaaa", "\"FLUSHALL\"", "a\nflush_all"]));
    let spoken = quote(chance.pick(SPOKEN));
    format!("openssl s_client -connect 127.0.0.1:{} -servername {server} -alpn {spoken}", place.port)
}

/// Commands that wrote, deleted or emptied on a real server, and their kin.
pub(crate) fn known_attacks(place: &Place) -> Vec<String> {
    let url = format!("http://127.0.0.1:{}/", place.port);
    // The body that the first request announces ends where the words of the second one's last header begin.
    let second = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUser-Agent: a\r\nAccept: */*\r\nContent-Length: 99\r\nX-A: ",
        place.port
    );
    let length = second.len();
    let mut all: Vec<String> = [
        "--http0.9 -H Host: -H 'MSET k: v ghost FORGED'",
        "-H Host: -H 'SET forged: 1'",
        "-H 'Host;' -H \"EVAL \\\"redis.call('FLUSHALL')--:\\\" 0\"",
        "-H Host: -H \"EVAL \\\"redis.call('FLUSHALL')--:\\\" 0\"",
        "-H Host: -H 'DEL ghost: x'",
        "-H Host: -A '' -H 'Accept:' -H 'FLUSHALL: x'",
        "-H 'Transfer-Encoding: chunked'",
        "-H 'Connection: Upgrade' -H 'Upgrade: websocket'",
        "-H 'X-HTTP-Method-Override: DELETE'",
        "-H 'Destination: /other.txt'",
        "-H @/etc/hosts",
        "-H @-",
        "--http0.9",
        "--http2",
        "--http2-prior-knowledge",
    ]
    .iter()
    .map(|options| format!("curl -s -m 1 {options} {url}"))
    .collect();
    all.push(format!(
        "curl -s -m 3 -A a -H 'Content-Length: {length}' -H 'X-A: DELETE /victim.txt HTTP/1.0' {url} {url}"
    ));
    all.push(format!("curl -s -m 1 {url}a%0d%0aDELETE%20/victim.txt%20HTTP/1.1"));
    let escaped = quote(r"a\010flush_all\013\010b");
    all.push(format!("dig +tcp +time=1 +tries=1 -p {} @127.0.0.1 {escaped}", place.port));
    all.push(format!(
        "dig +tcp +time=1 +tries=1 -p {} @127.0.0.1 +cookie=0a666c7573685f616c6c0d0a a",
        place.port
    ));
    all.push(format!("host -T -W 1 -R 1 -p {} {escaped} 127.0.0.1", place.port));
    all.push(format!(
        "openssl s_client -connect 127.0.0.1:{} -alpn 'aaaaaaaaaa,\"FLUSHALL\",aaaaaaaaaa'",
        place.port
    ));
    all
}
