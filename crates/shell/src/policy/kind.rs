//! Kinds of values: what may stand behind an option or as an operand.

use super::Files;

/// A label longer than this can carry data out of the network in a question to a name server.
const MAX_LABEL_LEN: usize = 50;
const MAX_NAME_LEN: usize = 150;
const MAX_LIST_LEN: usize = 2_000;

/// What a value has to look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of the listed words.
    OneOf(Vec<String>),
    /// Anything.
    Text,
    /// The value of a request's header: not empty, and on one line.
    HeaderValue,
    /// A word without blanks that does not look like an option.
    Name,
    /// A name or address of a host.
    Host,
    /// A host and a port: `example.com:443`, `[2001:db8::1]:443`.
    Endpoint,
    /// A server, a type, a switch or a name for dig.
    Question,
    /// A socket address for lsof.
    Address,
    /// A network interface or one of its addresses.
    Interface,
    /// A port.
    Port,
    /// A port or a range of ports.
    Ports,
    /// Names or endpoints between slashes.
    List,
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
    /// A time of at most a minute as Go writes it: `30s`, `1m`, `1m0s`.
    Minute,
    /// A scheduling priority.
    Priority,
    /// A buffering mode.
    Buffering,
    /// A number of lines, with a sign.
    Lines,
    /// A byte range.
    Range,
    /// A capture file, by its name.
    Capture,
    /// A capture file right inside the captures folder.
    OwnCapture,
    /// Any file that can be named.
    File,
    /// A value for `az` that names no local file.
    Value,
    /// A form of output that reads no local file.
    Form,
    /// A statistic of tshark.
    Statistic,
    /// A preference of tshark.
    Preference,
    /// The path of a page, without anything behind it.
    Page,
    /// Columns of `ps`, its letters without a dash, or process numbers: nothing that shows an environment.
    Columns,
    /// A kernel setting.
    Setting,
    /// Names of fields, with commas between them: none that holds an environment or a credential.
    Fields,
    /// What a routing daemon is asked: its sessions, neighbors and routes, never its configuration.
    Show,
    /// A format of a date.
    Moment,
    /// A header of a request, `NAME: VALUE`, with one of the listed names. A final `*` stands for any ending.
    Header(Vec<String>),
    /// A format that writes no file.
    Writeout,
    /// A file that is meant to be read.
    Readable,
    /// A packed log that is meant to be read.
    Packed,
    /// A folder whose files are meant to be read.
    Folder,
    /// A folder of logs.
    Logs,
}

impl Kind {
    /// Reads a kind by the name under which the policy files know it.
    pub(super) fn parse(name: &str) -> Option<Self> {
        if let Some(words) = name.strip_prefix('=') {
            return Some(Self::OneOf(words.split('|').map(str::to_owned).collect()));
        }
        if let Some(names) = name.strip_prefix(':') {
            return Some(Self::Header(names.split('|').map(str::to_owned).collect()));
        }
        Some(match name {
            "TEXT" => Self::Text,
            "HEADER-VALUE" => Self::HeaderValue,
            "NAME" => Self::Name,
            "HOST" => Self::Host,
            "ENDPOINT" => Self::Endpoint,
            "QUESTION" => Self::Question,
            "ADDRESS" => Self::Address,
            "INTERFACE" => Self::Interface,
            "PORT" => Self::Port,
            "PORTS" => Self::Ports,
            "LIST" => Self::List,
            "NUMBER" => Self::Number,
            "COUNT" => Self::Count,
            "RETRIES" => Self::Retries,
            "PACKET" => Self::Packet,
            "FLOW" => Self::Flow,
            "INTERVAL" => Self::Interval,
            "SECONDS" => Self::Seconds,
            "DURATION" => Self::Duration,
            "MINUTE" => Self::Minute,
            "PRIORITY" => Self::Priority,
            "BUFFERING" => Self::Buffering,
            "LINES" => Self::Lines,
            "RANGE" => Self::Range,
            "CAPTURE" => Self::Capture,
            "OWN-CAPTURE" => Self::OwnCapture,
            "FILE" => Self::File,
            "VALUE" => Self::Value,
            "FORM" => Self::Form,
            "STATISTIC" => Self::Statistic,
            "PREFERENCE" => Self::Preference,
            "PAGE" => Self::Page,
            "COLUMNS" => Self::Columns,
            "SETTING" => Self::Setting,
            "FIELDS" => Self::Fields,
            "SHOW" => Self::Show,
            "MOMENT" => Self::Moment,
            "WRITEOUT" => Self::Writeout,
            "READABLE" => Self::Readable,
            "PACKED" => Self::Packed,
            "FOLDER" => Self::Folder,
            "LOGS" => Self::Logs,
            _ => return None,
        })
    }

    /// Tells whether a value is of this kind.
    pub(crate) fn accepts(&self, value: &str, files: &Files) -> bool {
        match self {
            Self::OneOf(words) => words.iter().any(|word| word == value),
            Self::Text => true,
            Self::HeaderValue => is_header_value(value),
            Self::Name => is_word(value),
            Self::Endpoint => is_endpoint(value),
            Self::List => value.len() <= MAX_LIST_LEN && value.split('/').all(is_item),
            Self::Host => is_host(value),
            Self::Question => is_question(value),
            Self::Address => is_word(value) && !value.contains('/'),
            Self::Interface => is_word(value) && value.len() <= 64 && !value.contains(['/', '!', '=', ',']),
            Self::Port => is_port(value),
            Self::Ports => ports(value).is_some(),
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
            Self::Minute => go_duration(value).is_some_and(|seconds| seconds <= 60.0),
            Self::Priority => digits(value.strip_prefix(['-', '+']).unwrap_or(value)) && value.len() <= 4,
            Self::Buffering => value == "L" || digits(value.strip_suffix(['K', 'M', 'G']).unwrap_or(value)),
            Self::Lines => digits(value.strip_prefix(['-', '+']).unwrap_or(value)) && value.len() <= 10,
            Self::Range => {
                !value.is_empty()
                    && value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b','))
            }
            Self::Capture => is_capture(value),
            Self::OwnCapture => files.is_capture(value),
            Self::File => !value.is_empty() && !value.starts_with('-') && !value.contains("://"),
            Self::Value => is_value(value),
            Self::Form => {
                // `go-template-file` and `templatefile` print a file; `-o=FORM` is taken for `-o FORM`.
                let form = value.trim_start_matches('=').split('=').next().unwrap_or_default();
                !form.to_ascii_lowercase().ends_with("file")
            }
            Self::Statistic => !value.starts_with('-') && !value.to_ascii_lowercase().contains("credential"),
            Self::Preference => is_preference(value),
            Self::Page => {
                value.starts_with('/') && value.len() <= MAX_LIST_LEN && value.split('/').all(is_part_of_page)
            }
            Self::Columns => !value.is_empty() && value.split([',', ' ']).all(is_column),
            Self::Setting => {
                is_word(value)
                    && !value.contains('=')
                    && !value.contains("..")
                    && !value.starts_with('/')
                    && !files.is_secret(value)
            }
            Self::Fields => is_open_fields(value),
            Self::Show => is_shown(value),
            Self::Moment => value.starts_with('+'),
            Self::Header(names) => is_header(value, names),
            Self::Writeout => !value.starts_with('@') && !value.contains("%output"),
            Self::Readable => files.allows(value),
            Self::Packed => files.allows_packed(value),
            Self::Folder => files.allows_folder(value),
            Self::Logs => files.allows_logs(value),
        }
    }
}

fn is_open_fields(value: &str) -> bool {
    const CLOSED: [&str; 2] = ["environ", "credential"];
    let folded = value.to_ascii_lowercase();
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    value.split(',').all(is_name) && !CLOSED.iter().any(|closed| folded.contains(closed))
}

/// Asks for what a routing daemon may say. Its words are whole: `show run` is short for the configuration, which holds passwords.
fn is_shown(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let plain = |word: &&str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:/".contains(&byte))
    };
    words.iter().all(plain)
        && matches!(
            words.as_slice(),
            ["show", "daemons" | "version"]
                | ["show", "bgp" | "bfd" | "evpn" | "interface" | "isis" | "vrf", ..]
                | ["show", "ip", "bgp" | "ospf" | "route", ..]
                | ["show", "ipv6", "route", ..]
        )
}

/// Accepts a column of `ps` with its header or width, as in `pid`, `-pcpu`, `comm=NAME` and `args:40`.
///
/// Before the header an `E` is the letter that shows environments on macOS; no column of Linux has one.
fn is_column(text: &str) -> bool {
    const ENVIRONMENT: [&str; 3] = ["env", "environ", "environment"];
    let name = text.split(['=', ':']).next().unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_%+-".contains(&byte);
    name.bytes().all(plain)
        && !name.contains('E')
        && !ENVIRONMENT.contains(&name.trim_start_matches(['+', '-']))
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

/// Returns the seconds of `90s`, `1m30s` or `500ms`.
fn go_duration(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];
    let (mut rest, mut total) = (text, 0.0);
    loop {
        let end = rest.find(|char: char| !(char.is_ascii_digit() || char == '.'))?;
        let (number, behind) = rest.split_at(end);
        let (unit, seconds) = UNITS.iter().find(|(unit, _)| behind.starts_with(unit))?;
        let count = number.parse::<f64>().ok().filter(|_| decimal(number))?;
        total += count * seconds;
        rest = behind.strip_prefix(unit)?;
        if rest.is_empty() {
            return Some(total);
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.chars().any(char::is_whitespace)
}

fn fits_name(text: &str) -> bool {
    text.chars().count() <= MAX_NAME_LEN
        && text.split('.').all(|label| label.chars().count() <= MAX_LABEL_LEN)
}

/// Tells whether a word holds a label or a name so long that data can leave with it.
///
/// Every part of the word counts that could be a name, wherever it stands: behind an `@`, in an address, in a filter.
/// A line of nothing but dashes says nothing.
pub(crate) fn carries_data(word: &str) -> bool {
    if word.len() <= MAX_LABEL_LEN {
        return false;
    }
    let of_a_name =
        |char: char| char.is_alphanumeric() || matches!(char, '.' | '-' | '_' | '\\') || !char.is_ascii();
    word.split(|char: char| !of_a_name(char))
        .any(|name| !fits_name(name) && name.chars().any(char::is_alphanumeric))
}

fn is_port(text: &str) -> bool {
    text.len() <= 5 && digits(text) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Counts the ports of `443` and `8001-8100`.
pub(crate) fn ports(text: &str) -> Option<usize> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| text.parse::<usize>().ok().filter(|_| is_port(text));
    let (first, last) = (port(first)?, port(last)?);
    (first <= last).then(|| last - first + 1)
}

/// Something of a list: no option, nothing that a shell or a program reads as anything else, no name long enough to carry data.
fn is_item(item: &str) -> bool {
    let plain = item.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
    plain && !item.is_empty() && !item.starts_with('-') && fits_name(item)
}

/// A part of a path: no step upwards, no name long enough to carry data.
fn is_part_of_page(part: &str) -> bool {
    let plain = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
    plain && !matches!(part, "." | "..") && fits_name(part)
}

fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = match inside {
        Some(inside) => inside.contains(':').then_some(inside),
        None => (!host.contains(':')).then_some(host),
    };
    is_port(port) && host.is_some_and(|host| is_host(host) && !host.contains('/'))
}

/// `az` reads a local file for `@FILE` and for `NAME=@FILE`.
fn is_value(text: &str) -> bool {
    !text.starts_with(['@', '-']) && !text.contains("=@") && !text.contains(['\n', '\r'])
}

pub(crate) fn is_host(text: &str) -> bool {
    is_word(text)
        && fits_name(text)
        && text.chars().all(|char| {
            char.is_alphanumeric() || matches!(char, '.' | '-' | '_' | ':' | '%' | '/') || !char.is_ascii()
        })
}

fn is_question(text: &str) -> bool {
    match text.strip_prefix('@') {
        Some(server) => is_host(server),
        None if text.starts_with('+') => is_query_option(text),
        None => is_question_name(text),
    }
}

/// Accepts the letters of names, a `*`, and the `=` of `IXFR=1`. What dig reads as another byte (`\\010`), or sends as it stands there
/// (`"`), could make a line of its own for a server that reads lines.
fn is_question_name(text: &str) -> bool {
    !text.starts_with(['-', '=']) && is_host(&text.replace(['*', '='], "a"))
}

/// Accepts an option of dig that chooses neither the bytes that are sent nor a file, nor asks servers that only an answer names. Names
/// of options may be shortened.
fn is_query_option(text: &str) -> bool {
    let text = text.trim_start_matches('+').to_ascii_lowercase();
    let Some((name, value)) = text.split_once('=') else { return !text.starts_with("nss") };
    let name = name.strip_prefix("no").unwrap_or(name);
    let names_a_file = (name.starts_with("tls-c") && name != "tls-ca") || name.starts_with("tls-k");
    (value.is_empty() || is_question_name(value))
        && !(name.starts_with("nss")
            || name.starts_with("ednso")
            || name.starts_with("co")
            || name.starts_with("op")
            || name.starts_with("ht")
            || names_a_file)
}

/// Accepts a file that is named as captures are, but none that the kernel offers as a file.
fn is_capture(text: &str) -> bool {
    const KERNEL: [&str; 3] = ["dev", "proc", "sys"];
    const ENDINGS: [&str; 3] = [".pcap", ".pcapng", ".cap"];
    let name = text.rsplit('/').next().unwrap_or_default();
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let named = ENDINGS.iter().any(|ending| plain.len() > ending.len() && plain.ends_with(ending));
    let mut parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
    let special = if text.contains("..") {
        parts.any(|part| KERNEL.contains(&part))
    } else {
        text.starts_with('/') && parts.next().is_some_and(|first| KERNEL.contains(&first))
    };
    named && !text.starts_with('-') && !special
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

/// Accepts `NAME: VALUE` with a name from the list. curl reads `NAME:` as "remove this header", `NAME;` as "send it empty" and
/// `@FILE` as a file of headers: none of them has a name and a value.
fn is_header(text: &str, names: &[String]) -> bool {
    let Some((name, value)) = text.split_once(':') else { return false };
    let name = name.to_ascii_lowercase();
    let known = |known: &String| match known.strip_suffix('*') {
        Some(front) => name.strip_prefix(front).is_some_and(is_token),
        None => *known == name,
    };
    names.iter().any(known) && is_header_value(value)
}

/// Accepts visible ASCII and blanks: no byte of it ends a line, in whatever character set a server reads it.
fn is_header_value(text: &str) -> bool {
    !text.trim().is_empty()
        && text.len() <= MAX_LIST_LEN
        && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Accepts what HTTP calls a token.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
