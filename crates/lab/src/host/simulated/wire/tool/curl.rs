//! `curl`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::nc::CONNECT_TIMEOUT;
use super::option::Options;
use super::web::{Page, Request, is_expired, page};
use crate::host::simulated::wire::conversation::Turn;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::world::{ProgramResult, World};

const KNOWN_OPTIONS: [&str; 62] = [
    "s",
    "S",
    "f",
    "L",
    "k",
    "v",
    "I",
    "i",
    "g",
    "N",
    "4",
    "6",
    "O",
    "n",
    "q",
    "#",
    "o=",
    "w=",
    "m=",
    "H=",
    "X=",
    "d=",
    "T=",
    "x=",
    "u=",
    "A=",
    "e=",
    "b=",
    "c=",
    "r=",
    "F=",
    "E=",
    "silent",
    "show-error",
    "fail",
    "location",
    "insecure",
    "verbose",
    "head",
    "include",
    "output=",
    "write-out=",
    "max-time=",
    "connect-timeout=",
    "header=",
    "request=",
    "data=",
    "data-binary=",
    "upload-file=",
    "retry=",
    "retry-delay=",
    "interface=",
    "resolve=",
    "noproxy=",
    "proxy=",
    "user=",
    "user-agent=",
    "http1.1",
    "no-progress-meter",
    "tlsv1.2",
    "cacert=",
    "ipv4",
];

/// Where something is.
struct Address<'a> {
    secure: bool,
    host: &'a str,
    port: u16,
    path: &'a str,
}

fn address(text: &str) -> Option<Address<'_>> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let secure = match scheme.to_ascii_lowercase().as_str() {
        "http" => false,
        "https" => true,
        _ => return None,
    };
    let cut = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (location, path) = rest.split_at_checked(cut)?;
    let location = location.rsplit('@').next().unwrap_or(location);
    let standard = if secure { 443 } else { 80 };
    let bare = location.starts_with('[') && location.ends_with(']');
    let (host, port) = match location.rsplit_once(':').filter(|_| !bare) {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (location, standard),
    };
    (!host.is_empty()).then_some(Address {
        secure,
        host,
        port,
        path: if path.is_empty() { "/" } else { path },
    })
}

/// How a request went; times are nanoseconds.
#[derive(Debug, Default)]
struct Transfer {
    named: u64,
    connected: u64,
    secured: u64,
    first: u64,
    total: u64,
    to: Option<IpAddr>,
    page: Option<Page>,
    code: u8,
    why: String,
}

/// Asks for pages.
pub(super) fn curl(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let options = Options::read(argv, &KNOWN_OPTIONS);
    if let Some(bad) = options.unknown.as_ref().or(options.incomplete.as_ref()) {
        return ProgramResult::failed(
            2,
            format!("curl: option -{bad}: is unknown\ncurl: try 'curl --help' for more information\n"),
        );
    }
    let Some(text) = options.rest.first() else {
        return ProgramResult::failed(2, "curl: try 'curl --help' or 'curl --manual' for more information\n");
    };
    let Some(location) = address(text) else {
        return ProgramResult::failed(3, "curl: (3) URL using bad/illegal format or missing URL\n");
    };
    let body = options.text(&["d", "data", "data-binary", "T", "upload-file"]);
    let method = options.text(&["X", "request"]).unwrap_or(match () {
        () if options.has(&["T", "upload-file"]) => "PUT",
        () if body.is_some() => "POST",
        () if options.has(&["I", "head"]) => "HEAD",
        () => "GET",
    });
    let headers: Vec<String> = [options.all("H"), options.all("header")].concat();
    let limits = Limits {
        all: options.seconds(&["m", "max-time"]).filter(|time| *time > 0),
        connect: options.seconds(&["connect-timeout"]).filter(|time| *time > 0),
        sends: body.map_or(0, |body| body.len() as u64),
        takes_any: options.has(&["k", "insecure"]),
    };
    let mut net = Net::new(world, machine, "curl");
    let transfer = fetch(&mut net, &location, (method, &headers), &limits);
    let mut out = String::new();
    let mut code = transfer.code;
    let mut why = transfer.why.clone();
    let kept = options.has(&["o", "output", "O"]);
    let mut size = 0;
    if let Some(page) = &transfer.page {
        let head = head(page);
        size = page.body.len();
        if options.has(&["i", "include", "I", "head"]) && !kept {
            out.push_str(&head);
        }
        let fails = options.has(&["f", "fail"]) && page.status >= 400;
        if fails {
            code = 22;
            why = format!("The requested URL returned error: {}", page.status);
        } else if !kept && method != "HEAD" {
            out.push_str(&page.body);
        }
        let file =
            options.text(&["o", "output"]).filter(|path| path.starts_with('/') && !path.starts_with("/dev/"));
        if let (Some(path), false) = (file, fails)
            && let Some(guest) = net.world.guests.get_mut(machine)
        {
            guest.files.write(path, page.body.clone().into_bytes());
        }
    }
    if let Some(format) = options.text(&["w", "write-out"]) {
        out.push_str(&write_out(format, &values(&transfer, text, size, code, &location)));
    }
    let loud = !options.has(&["s", "silent"]) || options.has(&["S", "show-error"]);
    let err = if code != 0 && loud { format!("curl: ({code}) {why}\n") } else { String::new() };
    ProgramResult { out, err, code, took: net.took() }
}

struct Limits {
    all: Option<u64>,
    connect: Option<u64>,
    sends: u64,
    /// Whatever certificate is shown is taken.
    takes_any: bool,
}

fn fetch(
    net: &mut Net<'_>,
    location: &Address<'_>,
    (method, headers): (&str, &[String]),
    limits: &Limits,
) -> Transfer {
    let mut transfer = Transfer::default();
    let to = match net.resolve(location.host) {
        Ok(to) => to,
        Err(_) => {
            let host = location.host;
            transfer.code = 6;
            transfer.why = format!("Could not resolve host: {host}");
            if let Some(most) = limits.all.filter(|most| *most < net.passed) {
                net.passed = most;
                transfer.code = 28;
                transfer.why = format!("Resolving timed out after {} milliseconds", most / 1_000_000);
            }
            transfer.total = net.passed;
            return transfer;
        }
    };
    transfer.to = Some(to);
    transfer.named = net.passed;
    let request = Request { method, path: location.path, to, port: location.port, headers };
    let page = page(net.world, net.machine, &request);
    let is_refused = location.secure && !limits.takes_any && is_expired(net.world, to, location.port);
    let think = page.as_ref().map_or(1, |page| page.think) * 1_000_000;
    let asks = limits.sends + 90 + location.path.len() as u64;
    let answer = page.as_ref().map_or(0, |page| 120 + page.body.len() as u64);
    let mut turns = Vec::new();
    if location.secure {
        turns.push(Turn { request: 517, think: 700_000, answer: 3_900 });
        turns.push(Turn { request: 80, think: 100_000, answer: 51 });
    }
    turns.push(Turn { request: asks, think, answer });
    let most = limits.all.map_or(CONNECT_TIMEOUT, |most| most.saturating_sub(net.passed));
    let (_, transcript) = net.tcp(to, location.port, turns, most.min(CONNECT_TIMEOUT));
    let begun = net.passed;
    let outcome = transcript.outcome;
    let connect = limits.connect.unwrap_or(300 * SECOND);
    let up = outcome.connected.filter(|took| *took <= connect);
    match (up, outcome.refused) {
        (None, Some(took)) => {
            net.passed += took;
            transfer.code = 7;
            transfer.why = failed(location, net.passed, "Couldn't connect to server");
        }
        (None, None) => {
            let waited = connect.min(most).min(CONNECT_TIMEOUT);
            net.passed += waited;
            transfer.code = 28;
            let millis = net.passed / 1_000_000 + 1;
            transfer.why = if waited == CONNECT_TIMEOUT {
                failed(location, net.passed, "Couldn't connect to server")
            } else {
                format!("Connection timed out after {millis} milliseconds")
            };
        }
        (Some(took), _) => {
            transfer.connected = begun + took;
            transfer.secured = if location.secure { transfer.connected + took * 2 + 800_000 } else { 0 };
            match (outcome.done, page) {
                (Some(_), _) if is_refused => {
                    net.passed += took * 3;
                    transfer.code = 60;
                    transfer.why = "SSL certificate problem: certificate has expired".to_owned();
                }
                (Some(done), Some(page)) => {
                    net.passed += done;
                    transfer.first = begun + outcome.first.unwrap_or(done).max(took);
                    transfer.page = Some(page);
                }
                (Some(done), None) => {
                    net.passed += done;
                    transfer.code = if location.secure { 35 } else { 52 };
                    transfer.why =
                        if location.secure { "SSL connect error" } else { "Empty reply from server" }
                            .to_owned();
                }
                (None, _) => {
                    let waited = outcome.gave_up.unwrap_or(most).min(most);
                    net.passed += waited;
                    let reset = waited < most && limits.all.is_none_or(|all| net.passed < all);
                    transfer.code = if reset { 56 } else { 28 };
                    let millis = net.passed / 1_000_000 + 1;
                    transfer.why = if reset {
                        "Recv failure: Connection reset by peer".to_owned()
                    } else {
                        format!("Operation timed out after {millis} milliseconds with 0 bytes received")
                    };
                }
            }
        }
    }
    transfer.total = net.passed;
    transfer
}

fn failed(location: &Address<'_>, passed: u64, why: &str) -> String {
    format!(
        "Failed to connect to {} port {} after {} ms: {why}",
        location.host,
        location.port,
        passed / 1_000_000
    )
}

fn head(page: &Page) -> String {
    let (status, reason, kind) = (page.status, page.reason, page.kind);
    let length = page.body.len();
    format!("HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n")
}

fn values<'a>(
    transfer: &Transfer,
    url: &str,
    size: usize,
    code: u8,
    location: &Address<'_>,
) -> BTreeMap<&'a str, String> {
    let seconds = |time: u64| format!("{}.{:06}", time / 1_000_000_000, time % 1_000_000_000 / 1_000);
    let status = format!("{:03}", transfer.page.as_ref().map_or(0, |page| page.status));
    BTreeMap::from([
        ("http_code", status.clone()),
        ("response_code", status),
        ("time_namelookup", seconds(transfer.named)),
        ("time_connect", seconds(transfer.connected)),
        ("time_appconnect", seconds(transfer.secured)),
        ("time_pretransfer", seconds(transfer.connected.max(transfer.secured))),
        ("time_starttransfer", seconds(transfer.first)),
        ("time_total", seconds(transfer.total)),
        ("size_download", size.to_string()),
        (
            "remote_ip",
            transfer.to.filter(|_| transfer.connected > 0).map(|to| to.to_string()).unwrap_or_default(),
        ),
        ("remote_port", location.port.to_string()),
        ("num_connects", u8::from(transfer.connected > 0).to_string()),
        ("exitcode", code.to_string()),
        ("errormsg", transfer.why.clone()),
        ("url_effective", url.to_owned()),
        ("content_type", transfer.page.as_ref().map(|page| page.kind.to_owned()).unwrap_or_default()),
        ("http_version", if transfer.page.is_some() { "1.1" } else { "0" }.to_owned()),
    ])
}

/// Fills a format: `%{name}`, `\n`, `\t`, `%%`.
pub(super) fn write_out(format: &str, values: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some(char) = rest.chars().next() {
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
        match char {
            '\\' => {
                let next = rest.chars().next();
                rest = rest.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                match next {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some(other) => out.extend(['\\', other]),
                    None => out.push('\\'),
                }
            }
            '%' if rest.starts_with('%') => {
                out.push('%');
                rest = rest.get(1..).unwrap_or_default();
            }
            '%' if rest.starts_with('{') => {
                let Some(end) = rest.find('}') else {
                    out.push('%');
                    continue;
                };
                let name = rest.get(1..end).unwrap_or_default();
                out.push_str(values.get(name).map_or("", String::as_str));
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod write_out_tests {
    use super::*;

    #[test]
    fn names_are_filled_and_the_rest_stays() {
        let values = BTreeMap::from([("http_code", "200".to_owned())]);
        assert_eq!(write_out("%{http_code} 100%% %{nothing}\\n%{", &values), "200 100% \n%{");
    }
}
