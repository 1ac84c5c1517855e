//! What the kernel and the services of a machine warned of, as evidence for what is odd: a line proves nothing by itself.

use serde::Deserialize;
use serde_json::Value;

use super::context::Context;
use super::fault::Fault;
use super::finding::{Evidence, Finding};
use super::gathered::Part;
use super::model::Host;
use super::object::Object;
use super::socket::short;

/// How far back lines count where nobody says when it began.
const WINDOW_SECONDS: i64 = 3600;
/// So many lines stand beside a finding.
const MAX_QUOTED: usize = 2;
const MICROSECONDS: i64 = 1_000_000;

/// Who wrote a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogSource {
    /// The kernel.
    Kernel,
    /// A service, by the name of its unit.
    Unit(String),
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When, in seconds since 1970 by the machine's own clock.
    pub at: i64,
    /// Who.
    pub by: LogSource,
    /// What.
    pub text: String,
}

/// Reads what `dmesg` printed on a machine that was started at a second.
pub(super) fn kernel(text: &str, started: i64) -> Vec<LogLine> {
    let line = |line: &str| {
        let (seconds, text) = line.strip_prefix('[')?.split_once(']')?;
        let since: i64 = seconds.trim().split('.').next()?.parse().ok()?;
        let text = short(text.trim());
        (!text.is_empty()).then(|| LogLine { at: started.saturating_add(since), by: LogSource::Kernel, text })
    };
    text.lines().filter_map(line).collect()
}

/// Reads what `journalctl -o json` printed; a message that is no text is passed over.
pub(super) fn units(text: &str) -> Vec<LogLine> {
    #[derive(Deserialize)]
    struct Entry {
        #[serde(rename = "__REALTIME_TIMESTAMP")]
        at: String,
        #[serde(rename = "MESSAGE")]
        message: Value,
        /// Of which service the manager speaks; a field that is there twice is a list.
        #[serde(rename = "UNIT")]
        about: Option<Value>,
        #[serde(rename = "_SYSTEMD_UNIT")]
        by: Option<Value>,
    }
    let line = |line: &str| {
        let entry: Entry = serde_json::from_str(line).ok()?;
        let at = entry.at.parse::<i64>().ok()? / MICROSECONDS;
        let unit = entry.about.as_ref().or(entry.by.as_ref())?.as_str()?.to_owned();
        let text = short(entry.message.as_str()?.trim());
        (!text.is_empty()).then_some(LogLine { at, by: LogSource::Unit(unit), text })
    };
    text.lines().filter_map(line).collect()
}

/// Puts beside a finding what the logs of its machine say of its object within the window.
pub(super) fn quote(hosts: &[Host], context: &Context, finding: &mut Finding) {
    let shown_by = || finding.evidence.first().map(|evidence| evidence.host.as_str());
    let machine = finding.object.host().or_else(shown_by);
    let Some(host) = machine.and_then(|name| hosts.iter().find(|host| host.name == name)) else { return };
    let Some(now) = host.now() else { return };
    let since = context.since.unwrap_or_else(|| now.saturating_sub(WINDOW_SECONDS));
    let said = host.log.iter().filter(|line| line.at >= since && speaks_of(line, finding));
    let mut quoted: Vec<&LogLine> = said.collect();
    quoted.sort_by_key(|line| line.at);
    // The last ones stand for a line that is said again and again.
    quoted.dedup_by(|one, other| (&one.by, &one.text) == (&other.by, &other.text));
    let skipped = quoted.len().saturating_sub(MAX_QUOTED);
    finding.evidence.extend(quoted.into_iter().skip(skipped).map(|line| {
        let (part, shows) = match &line.by {
            LogSource::Kernel => (Part::KernelLog, line.text.clone()),
            LogSource::Unit(unit) => (Part::UnitLog, format!("{unit}: {}", line.text)),
        };
        Evidence { host: host.name.clone(), part, shows }
    }));
}

/// Tells whether a line is about what is odd: it names the service, the device or the port.
fn speaks_of(line: &LogLine, finding: &Finding) -> bool {
    let text = line.text.as_str();
    let is_kernel = line.by == LogSource::Kernel;
    match &finding.object {
        Object::Unit { unit, .. } => line.by == LogSource::Unit(unit.clone()),
        Object::Link { device, .. } | Object::Address { device, .. } => has_word(text, device),
        Object::Service { port, .. } => names_port(text, *port),
        Object::Host { .. } if finding.fault == Fault::ConntrackFull => {
            is_kernel && text.contains("nf_conntrack") && text.contains("table full")
        }
        Object::Dhcp { .. } => !is_kernel && text.contains("no address"),
        Object::Neighbor { .. }
        | Object::Route { .. }
        | Object::Rule { .. }
        | Object::Sysctl { .. }
        | Object::Qdisc { .. }
        | Object::Chain { .. }
        | Object::FilterRule { .. }
        | Object::Bgp { .. }
        | Object::Ospf { .. }
        | Object::Resolver { .. }
        | Object::Dns { .. }
        | Object::Host { .. }
        | Object::Flow { .. } => false,
    }
}

/// Tells whether a text has a word, and not only as a part of another one.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_inside =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(byte));
    let bytes = text.as_bytes();
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            let behind = bytes.get(at + word.len());
            // A full stop ends a sentence where nothing follows it.
            let ends = behind == Some(&b'.')
                && bytes.get(at + word.len() + 1).is_none_or(|next| !next.is_ascii_alphanumeric());
            !is_inside(before) && (!is_inside(behind) || ends)
        })
}

/// Tells whether a text names a port: behind a colon, or behind the word.
fn names_port(text: &str, port: u16) -> bool {
    let number = port.to_string();
    let is_whole = |rest: &str| {
        rest.strip_prefix(number.as_str()).is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_ascii_digit() || matches!(next, ':' | '.'))
                || rest.starts_with(". ")
        })
    };
    [":", "port "].iter().any(|before| {
        text.match_indices(before).any(|(at, _)| is_whole(text.get(at + before.len()..).unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::{gathered, read};
    use super::*;

    const ABOUT: &str = "name b\nkernel Linux 6.1.0\nuid 0\nsudo no\ntime 1795792300\nup 5000.25\n";
    const BIND: &str = r#"{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"1795792190000000","MESSAGE":"nginx: [emerg] bind() to 0.0.0.0:81 failed (98: Address already in use)","_SYSTEMD_UNIT":"nginx.service"}"#;
    const FAILED: &str = r#"{"__REALTIME_TIMESTAMP":"1795792191000000","MESSAGE":"nginx.service: Failed with result 'exit-code'.","_SYSTEMD_UNIT":"init.scope","UNIT":"nginx.service"}"#;
    const OLD: &str = r#"{"__REALTIME_TIMESTAMP":"1795700000000000","MESSAGE":"bind() to 0.0.0.0:81 failed","_SYSTEMD_UNIT":"nginx.service"}"#;

    /// What is quoted of the logs of `b`, beside every finding of a call to a port.
    fn quoted(port: u16, parts: &[(Part, &str)], since: Option<i64>) -> Vec<String> {
        let mut there = gathered("10.0.0.11/24", None).with(Part::About, ABOUT);
        for (part, text) in parts {
            there = there.with(*part, text);
        }
        let hosts = [read("a", &gathered("10.0.0.10/24", None)), read("b", &there)];
        let mut context = super::super::tests::flow("10.0.0.11", port);
        context.since = since;
        let findings = judge(&hosts, &context).findings;
        let logs = |one: &&Evidence| matches!(one.part, Part::KernelLog | Part::UnitLog);
        let evidence = findings.iter().flat_map(|found| found.evidence.iter().filter(logs));
        evidence.map(|one| format!("{} {}", one.part, one.shows)).collect()
    }

    #[test]
    fn what_a_service_said_of_its_port_stands_beside_it() {
        let said =
            "unit-log nginx.service: nginx: [emerg] bind() to 0.0.0.0:81 failed (98: Address already in use)";
        let journal = format!("{OLD}\n{BIND}\n{BIND}\n{FAILED}\n");
        assert_eq!(quoted(81, &[(Part::UnitLog, &journal)], None), [said]);
        assert_eq!(quoted(8, &[(Part::UnitLog, &journal)], None), [""; 0]);
        // From when on is what people say, not an hour.
        assert_eq!(quoted(81, &[(Part::UnitLog, &journal)], Some(1_795_792_195)), [""; 0]);
        assert_eq!(quoted(81, &[(Part::UnitLog, &journal)], Some(1_795_699_000)).len(), 2);
    }

    #[test]
    fn a_service_that_has_failed_is_quoted_and_another_one_is_not() {
        let other = BIND.replace("nginx.service", "other.service");
        let parts = [
            (Part::Units, "nginx.service loaded failed failed web\n"),
            (Part::UnitLog, &format!("{other}\n{FAILED}\n{{\"cut\n")),
        ];
        assert_eq!(
            quoted(80, &parts, None),
            ["unit-log nginx.service: nginx.service: Failed with result 'exit-code'."]
        );
    }

    #[test]
    fn lines_of_the_kernel_are_dated_from_its_start() {
        let flood = "[ 4990.123456] TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:81. Dropping request.\n";
        let old = flood.replace(" 4990", "    2");
        let said =
            "kernel-log TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:81. Dropping request.";
        assert_eq!(quoted(81, &[(Part::KernelLog, flood)], None), [said]);
        assert_eq!(quoted(81, &[(Part::KernelLog, &old)], None), [""; 0]);
    }

    #[test]
    fn words_and_ports_are_whole() {
        for (text, device) in
            [("eth0: Link is Down", "eth0"), ("bond: slave eth0.", "eth0"), ("(br-1)", "br-1")]
        {
            assert!(has_word(text, device), "{text}");
        }
        for (text, device) in [("veth0: x", "eth0"), ("eth0.5: x", "eth0"), ("eth01", "eth0"), ("x", "")] {
            assert!(!has_word(text, device), "{text}");
        }
        for text in ["on port 80", "0.0.0.0:80 failed", "[::]:80)", "port 0.0.0.0:80. Dropping", "at :80"] {
            assert!(names_port(text, 80), "{text}");
        }
        for text in ["port 8080", "10:80:33", ":80.1", "80", "port 180", "12:80:9"] {
            assert!(!names_port(text, 80), "{text}");
        }
    }
}
