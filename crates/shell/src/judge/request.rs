//! The names that a `curl` would look up, so that the gate can look them up before it.

use std::net::SocketAddr;

use super::address::{Url, is_metadata, parse_address};
use super::allow;
use super::redirect::host_and_port;
use crate::policy::{Check, Given, Policy, quote, shorten};

/// A name and a port that a request would be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestTarget {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// What curl would look up, and how it would choose among what it finds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Requests {
    /// Names alone: an address needs no look-up, and what `--resolve` says is none.
    pub(crate) asked: Vec<RequestTarget>,
    /// It takes addresses of this family alone.
    family: Option<Family>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Four,
    Six,
}

/// The result of a look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The value of `--resolve`, so that curl does not look the name up again: `NAME:PORT:ADDRESS,…`.
    At(String),
    /// Nothing that it would take.
    Nowhere,
    /// It leads to a metadata service: the value that `--resolve` would get, and why the command does not run.
    Metadata { pin: String, why: String },
}

impl Policy {
    /// Lists what a SAFE `curl` would look up; `None` for any other program.
    ///
    /// # Errors
    /// Fails where curl might read a name differently from the look-up that is done for it.
    pub(crate) fn requests(&self, argv: &[String]) -> Option<Result<Requests, String>> {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let peeled = allow::peel(self, &words).ok()?;
        let (program, arguments) = peeled.words.split_first()?;
        let entry =
            self.entries(allow::trusted(program)?).iter().find(|entry| entry.check == Some(Check::Curl))?;
        let given = entry.grammar.read(arguments, &self.files).ok()?;
        Some(requests(&given))
    }

    /// Judges what was found for a name.
    pub(crate) fn found(&self, asked: &RequestTarget, requests: &Requests, found: &[SocketAddr]) -> Lookup {
        let RequestTarget { host, port } = asked;
        let pin = |found: &[&SocketAddr]| {
            let addresses = found.iter().map(|found| match found.ip() {
                ip if ip.is_ipv6() => format!("[{ip}]"),
                ip => ip.to_string(),
            });
            format!("{host}:{port}:{}", addresses.collect::<Vec<_>>().join(","))
        };
        if let Some(metadata) = found.iter().find(|found| is_metadata(&found.ip().to_string(), &self.block)) {
            let why = format!("`{}` is at {}, a metadata service", shorten(host), metadata.ip());
            return Lookup::Metadata { pin: pin(&[metadata]), why };
        }
        let fits = |found: &&SocketAddr| requests.family.is_none_or(|family| family.has(found));
        let fitting: Vec<&SocketAddr> = found.iter().filter(fits).collect();
        if fitting.is_empty() { Lookup::Nowhere } else { Lookup::At(pin(&fitting)) }
    }

    /// Returns the line that says itself which address a name has, for whoever judges it.
    pub(crate) fn pinned_argv(argv: &[String], pin: &str) -> String {
        let words = argv.iter().map(String::as_str).chain(["--resolve", pin]);
        words.map(quote).collect::<Vec<_>>().join(" ")
    }
}

impl Family {
    fn has(self, address: &SocketAddr) -> bool {
        address.is_ipv6() == (self == Self::Six)
    }
}

fn requests(given: &Given<'_>) -> Result<Requests, String> {
    let values = |name: &str| {
        let of = given.options.iter().filter(move |(option, _)| option == name);
        of.map(|(_, value)| value.unwrap_or_default()).collect::<Vec<_>>()
    };
    let resolved = values("--resolve");
    // Given no value curl would forget this `--resolve`.
    if let Some(forgets) = resolved.iter().find(|value| value.starts_with('-')) {
        return Err(format!("`--resolve {}` makes it forget an address", shorten(forgets)));
    }
    let mut asked: Vec<RequestTarget> = Vec::new();
    for address in given.operands.iter().copied().chain(values("--url")) {
        let odd = || format!("nobody but curl can say which name `{}` holds", shorten(address));
        let target = match host_and_port(address) {
            Some((host, port)) => RequestTarget { host, port },
            None if Url::parse(address).authority.starts_with('[') => continue,
            None => return Err(odd()),
        };
        for detour in values("--connect-to") {
            let (host, port) = detoured(detour).ok_or_else(|| {
                format!("nobody but curl can say where `--connect-to {}` leads", shorten(detour))
            })?;
            asked.push(RequestTarget {
                host: host.unwrap_or_else(|| target.host.clone()),
                port: port.unwrap_or(target.port),
            });
        }
        asked.push(target);
    }
    asked.retain(|one| {
        let literal = one.host.contains(':') || parse_address(&one.host).is_some();
        !literal && !resolved.iter().any(|value| says(value, one))
    });
    asked.sort_by(|a, b| (&a.host, a.port).cmp(&(&b.host, b.port)));
    asked.dedup();
    // Of several the last one counts.
    let family = given.options.iter().rev().find_map(|(name, _)| match name.as_str() {
        "-4" | "--ipv4" => Some(Family::Four),
        "-6" | "--ipv6" => Some(Family::Six),
        _ => None,
    });
    Ok(Requests { asked, family })
}

/// Tells whether `--resolve HOST:PORT:ADDRESS` says where a name is.
fn says(value: &str, asked: &RequestTarget) -> bool {
    let mut parts = value.strip_prefix('+').unwrap_or(value).splitn(3, ':');
    let (Some(host), Some(port), Some(address)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let named = host == "*" || host.eq_ignore_ascii_case(&asked.host);
    named && port.parse() == Ok(asked.port) && !address.is_empty()
}

/// Reads where `--connect-to HOST1:PORT1:HOST2:PORT2` leads: a host and a port, each where it stands there. With less than two
/// colons it leads nowhere else.
fn detoured(value: &str) -> Option<(Option<String>, Option<u16>)> {
    let (_, rest) = host(value)?;
    let Some((_, rest)) = rest.strip_prefix(':').and_then(|rest| rest.split_once(':')) else {
        return Some((None, None));
    };
    let (to, rest) = host(rest)?;
    let port = match rest.strip_prefix(':') {
        None if !rest.is_empty() => return None,
        None | Some("") => None,
        Some(port) => Some(port.parse().ok()?),
    };
    let plain = to.is_ascii() && !to.contains(['%', '@', '/']);
    plain.then(|| ((!to.is_empty()).then(|| to.to_owned()), port))
}

/// Parts a host, which may stand in brackets, from what follows.
fn host(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('[') {
        Some(inside) => inside.split_once(']'),
        None => Some(text.split_at(text.find(':').unwrap_or(text.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn requests(command: &str) -> Option<Result<Vec<String>, String>> {
        let policy = Policy::builtin().unwrap();
        let ruling = policy.classify(command);
        assert_eq!(ruling.verdict, Verdict::Safe, "{command}: {}", ruling.reason);
        let found = policy.requests(&ruling.argv.unwrap())?;
        Some(
            found.map(|found| {
                found.asked.iter().map(|asked| format!("{}:{}", asked.host, asked.port)).collect()
            }),
        )
    }

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        assert_eq!(
            requests(command),
            Some(Ok(expected.iter().map(|&one| one.to_owned()).collect())),
            "{command}"
        );
    }

    #[test]
    fn every_name_that_curl_would_look_up_is_listed_once() {
        check("curl http://a/", &["a:80"]);
        check("timeout 5 /usr/bin/curl -s https://a/x https://b:8443/ --url a", &["a:80", "a:443", "b:8443"]);
        check("curl http://a/1 http://a/2", &["a:80"]);
        check("curl http://10.0.0.5/ http://[2001:db8::1]/ http://0x7f.1/", &[]);
        check("curl 'http://[fe80::1%25eth0]/'", &[]);
        check("curl -L --max-redirs 2 http://a/", &["a:80"]);
    }

    #[test]
    fn a_detour_counts_and_what_is_said_does_not() {
        check("curl --connect-to a:443:b:8443 https://a/", &["a:443", "b:8443"]);
        check("curl --connect-to ::b: https://a/", &["a:443", "b:443"]);
        check("curl --connect-to a:80:b http://a/", &["a:80", "b:80"]);
        check("curl --connect-to a http://a/", &["a:80"]);
        check("curl --connect-to ::10.0.0.5:80 https://a/", &["a:443"]);
        check("curl --connect-to '[::1]:80:[2001:db8::1]:80' http://a/", &["a:80"]);
        check("curl --resolve a:443:10.0.0.5 https://a/ http://a/", &["a:80"]);
        check("curl --resolve '*:443:10.0.0.5' https://A/ https://b/", &[]);
        check("curl --resolve +a:80:10.0.0.5 http://a/", &[]);
    }

    #[test]
    fn what_only_curl_understands_is_an_error_and_another_program_is_none() {
        for command in [
            "curl http://a%2eexample/",
            "curl http://münchen.example/",
            "curl --resolve=-a:80 http://a/",
            "curl --connect-to a:80:b:x http://a/",
            "curl --connect-to a:80:b%63:80 http://a/",
        ] {
            assert!(requests(command).unwrap().is_err(), "{command}");
        }
        assert_eq!(requests("ping -c 1 a"), None);
    }

    #[test]
    fn what_was_found_is_judged() {
        let policy = Policy::builtin().unwrap();
        let found = |command: &str, found: &[&str]| {
            let requests = policy.requests(&policy.classify(command).argv.unwrap()).unwrap().unwrap();
            let at: Vec<SocketAddr> =
                found.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 80)).collect();
            policy.found(&requests.asked[0], &requests, &at)
        };
        let both = ["10.0.0.5", "2001:db8::1"];
        assert_eq!(found("curl http://a/", &both), Lookup::At("a:80:10.0.0.5,[2001:db8::1]".to_owned()));
        assert_eq!(found("curl -6 http://a/", &both), Lookup::At("a:80:[2001:db8::1]".to_owned()));
        assert_eq!(found("curl -6 --ipv4 http://a/", &both), Lookup::At("a:80:10.0.0.5".to_owned()));
        assert_eq!(found("curl -6 http://a/", &both[..1]), Lookup::Nowhere);
        assert_eq!(found("curl http://a/", &[]), Lookup::Nowhere);
        for metadata in ["169.254.169.254", "168.63.129.16", "fd00:ec2::254", "::ffff:169.254.169.254"] {
            let Lookup::Metadata { why, .. } = found("curl -6 http://a/", &["10.0.0.5", metadata]) else {
                panic!("{metadata} is let through");
            };
            assert!(why.contains("metadata"), "{why}");
        }
    }
}
