//! Kinds of values: what may stand behind an option or as an operand.

use super::Files;

/// A label longer than this can carry data out of the network in a question to a name server.
const LONGEST_LABEL: usize = 50;
const LONGEST_NAME: usize = 150;

/// What a value has to look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::shell) enum Kind {
    /// One of the listed words.
    OneOf(Vec<String>),
    /// Anything.
    Text,
    /// A word without blanks that does not look like an option.
    Name,
    /// A name or address of a host.
    Host,
    /// Anything but a name long enough to carry data.
    Answer,
    /// A server, a type, a switch or a name for dig.
    Question,
    /// A socket address for lsof.
    Address,
    /// A network interface or one of its addresses.
    Interface,
    /// A port.
    Port,
    /// A whole number.
    Number,
    /// How often.
    Count,
    /// At most five.
    Retries,
    /// A size of at most 65,535.
    Packet,
    /// A traffic class or flow label.
    Flow,
    /// Seconds between two packets, not below 0.2.
    Interval,
    /// Seconds.
    Seconds,
    /// Seconds with a unit.
    Duration,
    /// A scheduling priority.
    Priority,
    /// A buffering mode.
    Buffering,
    /// A number of lines, with a sign.
    Lines,
    /// A byte range.
    Range,
    /// A capture file.
    Capture,
    /// A statistic of tshark.
    Statistic,
    /// A preference of tshark.
    Preference,
    /// A kernel setting.
    Setting,
    /// A format of a date.
    Moment,
    /// A request header that carries no credential.
    Header,
    /// A format that writes no file.
    Writeout,
    /// A file that is meant to be read.
    Readable,
}

impl Kind {
    /// Reads a kind by the name under which the policy files know it.
    pub(super) fn parse(name: &str) -> Option<Self> {
        if let Some(words) = name.strip_prefix('=') {
            return Some(Self::OneOf(words.split('|').map(str::to_owned).collect()));
        }
        Some(match name {
            "TEXT" | "AGENT" => Self::Text,
            "NAME" => Self::Name,
            "HOST" => Self::Host,
            "ANSWER" => Self::Answer,
            "QUESTION" => Self::Question,
            "ADDRESS" => Self::Address,
            "INTERFACE" => Self::Interface,
            "PORT" => Self::Port,
            "NUMBER" => Self::Number,
            "COUNT" => Self::Count,
            "RETRIES" => Self::Retries,
            "PACKET" => Self::Packet,
            "FLOW" => Self::Flow,
            "INTERVAL" => Self::Interval,
            "SECONDS" => Self::Seconds,
            "DURATION" => Self::Duration,
            "PRIORITY" => Self::Priority,
            "BUFFERING" => Self::Buffering,
            "LINES" => Self::Lines,
            "RANGE" => Self::Range,
            "CAPTURE" => Self::Capture,
            "STATISTIC" => Self::Statistic,
            "PREFERENCE" => Self::Preference,
            "SETTING" => Self::Setting,
            "MOMENT" => Self::Moment,
            "HEADER" => Self::Header,
            "WRITEOUT" => Self::Writeout,
            "READABLE" => Self::Readable,
            _ => return None,
        })
    }

    /// Tells whether a value is of this kind.
    pub(in crate::shell) fn accepts(&self, value: &str, files: &Files) -> bool {
        match self {
            Self::OneOf(words) => words.iter().any(|word| word == value),
            Self::Text => true,
            Self::Name => is_word(value),
            Self::Host => is_host(value),
            Self::Answer => value.starts_with(['-', '+']) || fits_name(value),
            Self::Question => is_question(value),
            Self::Address => is_word(value) && !value.contains('/'),
            Self::Interface => is_word(value) && value.len() <= 64 && !value.contains(['/', '!', '=', ',']),
            Self::Port => {
                value.len() <= 5 && value.parse::<u16>().is_ok_and(|port| port > 0) && digits(value)
            }
            Self::Number | Self::Count => value.len() <= 10 && digits(value),
            Self::Retries => matches!(value, "0" | "1" | "2" | "3" | "4" | "5"),
            Self::Packet => digits(value) && value.parse::<u16>().is_ok(),
            Self::Flow => {
                !value.is_empty()
                    && value.len() <= 10
                    && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
            Self::Interval => decimal(value) && value.parse::<f64>().is_ok_and(|seconds| seconds >= 0.2),
            Self::Seconds => decimal(value),
            Self::Duration => decimal(value.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(value)),
            Self::Priority => digits(value.strip_prefix(['-', '+']).unwrap_or(value)) && value.len() <= 4,
            Self::Buffering => value == "L" || digits(value.strip_suffix(['K', 'M', 'G']).unwrap_or(value)),
            Self::Lines => digits(value.strip_prefix(['-', '+']).unwrap_or(value)) && value.len() <= 10,
            Self::Range => {
                !value.is_empty()
                    && value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b','))
            }
            Self::Capture => is_capture(value),
            Self::Statistic => is_word(value) && !value.to_ascii_lowercase().contains("credential"),
            Self::Preference => is_preference(value),
            Self::Setting => {
                is_word(value) && !value.contains('=') && !value.contains("..") && !value.starts_with('/')
            }
            Self::Moment => value.starts_with('+'),
            Self::Header => is_plain_header(value),
            Self::Writeout => !value.starts_with('@') && !value.contains("%output"),
            Self::Readable => files.allows(value),
        }
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Accepts `5`, `0.5` and `.5`: no sign, no exponent, no infinity.
fn decimal(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    text.len() <= 12
        && (digits(whole) || (whole.is_empty() && text.len() > 1))
        && (part.is_empty() || digits(part))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.chars().any(char::is_whitespace)
}

fn fits_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME && text.split('.').all(|label| label.len() <= LONGEST_LABEL)
}

pub(in crate::shell) fn is_host(text: &str) -> bool {
    is_word(text)
        && fits_name(text)
        && text.chars().all(|char| {
            char.is_alphanumeric() || matches!(char, '.' | '-' | '_' | ':' | '%' | '/') || !char.is_ascii()
        })
}

fn is_question(text: &str) -> bool {
    match text.strip_prefix('@') {
        Some(server) => is_host(server),
        None => text.starts_with('+') || (is_word(text) && fits_name(text)),
    }
}

/// Accepts a file by any name but standard input and what the kernel offers as files.
fn is_capture(text: &str) -> bool {
    const KERNEL: [&str; 3] = ["dev", "proc", "sys"];
    let mut parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
    let special = if text.contains("..") {
        parts.any(|part| KERNEL.contains(&part))
    } else {
        text.starts_with('/') && parts.next().is_some_and(|first| KERNEL.contains(&first))
    };
    !text.is_empty() && !text.starts_with('-') && !special
}

fn is_preference(text: &str) -> bool {
    const OWNERS: [&str; 9] = ["tcp", "udp", "ip", "ipv6", "icmp", "dns", "http", "frame", "gui"];
    const TELLING: [&str; 8] = ["file", "path", "dir", "key", "log", "lua", "command", "program"];
    let Some((name, value)) = text.split_once(':') else { return false };
    let Some((owner, setting)) = name.split_once('.') else { return false };
    let setting = setting.to_ascii_lowercase();
    OWNERS.contains(&owner)
        && !TELLING.iter().any(|word| setting.contains(word))
        && !value.contains(['/', '\\'])
}

fn is_plain_header(text: &str) -> bool {
    const CREDENTIALS: [&str; 2] = ["authorization", "cookie"];
    const PREFIXES: [&str; 5] = ["proxy-", "metadata", "x-aws-", "x-google-", "x-http-method"];
    let name = text.split([':', ';']).next().unwrap_or_default().trim().to_ascii_lowercase();
    !text.starts_with('@')
        && !CREDENTIALS.contains(&name.as_str())
        && !PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &Kind, good: &[&str], bad: &[&str]) {
        let files = Files::default();
        good.iter().for_each(|value| assert!(kind.accepts(value, &files), "{kind:?} refuses {value:?}"));
        bad.iter().for_each(|value| assert!(!kind.accepts(value, &files), "{kind:?} accepts {value:?}"));
    }

    #[test]
    fn an_interval_is_never_below_a_fifth_of_a_second() {
        check(
            &Kind::Interval,
            &["0.2", "1", ".5", "0.20", "3600"],
            &["0.1", "0", "1e-9", "nan", "inf", "-1", "0,5", "", "0.19999999"],
        );
    }

    #[test]
    fn a_port_is_one_port() {
        check(&Kind::Port, &["1", "443", "65535"], &["0", "65536", "1-9", "+80", "http", ""]);
    }

    #[test]
    fn a_name_that_could_carry_data_is_no_host() {
        let long = "a".repeat(51);
        let many = ["abcdefghij"; 15].join(".");
        check(
            &Kind::Host,
            &["a.example", "10.0.0.4", "fe80::1%eth0", "münchen.example"],
            &[&long, &many, "-x", "", "a b", "a@b"],
        );
    }

    #[test]
    fn a_capture_is_a_file() {
        check(
            &Kind::Capture,
            &["a.pcap", "/tmp/a b.pcap"],
            &["-", "", "/dev/sda", "//proc/1/mem", "/tmp/../dev/x", "-w"],
        );
    }

    #[test]
    fn a_preference_names_no_file() {
        check(
            &Kind::Preference,
            &["tcp.relative_sequence_numbers:FALSE", "gui.x:y"],
            &["tls.keylog_file:x", "tcp.log_file:x", "http.x:/tmp/y", "uat:x", "tcp.x"],
        );
    }

    #[test]
    fn a_header_carries_no_credential() {
        check(
            &Kind::Header,
            &["Host: a", "Accept: */*", "X-Api-Version: 1"],
            &[
                "authorization: x",
                " Cookie : a",
                "Metadata:true",
                "Proxy-Foo: x",
                "@file",
                "X-HTTP-Method-Override: DELETE",
                "Cookie;",
            ],
        );
    }
}
