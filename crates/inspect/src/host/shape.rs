//! The form of each part when it was read: a command that ends without an error may still have printed something else.
//!
//! Goes in: a part and its text. Comes out: nothing, or why the text is not an answer to that part's question. Never: a judgement of
//! what an answer says.

use super::gathered::Part;
use super::socket::short;

/// How the text of a part is recognized.
#[derive(Clone, Copy)]
enum Shape {
    /// A JSON document, which its reader checks; a text without any is not one.
    Json,
    /// The same; the kernel always lists something here, so that an empty list is no answer either.
    FilledJson,
    /// A JSON document, or nothing at all.
    MaybeJson,
    /// Lines, of which at least one has this form.
    Lines(fn(&str) -> bool),
    /// Lines of this form, or nothing at all.
    MaybeLines(fn(&str) -> bool),
    /// Lines that all have this form, or nothing at all: a line cut off in the middle is not one.
    WholeLines(fn(&str) -> bool),
    /// Nothing, or a text whose first line has this form.
    Begins(fn(&str) -> bool),
    /// Another reader checks it.
    Elsewhere,
}

/// Returns why a text is not what the command of a part prints; the beginning of what it printed in its place.
pub(super) fn objection(part: Part, text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    let Some(first) = lines.clone().next() else {
        let may_be_empty = match shape(part) {
            Shape::Json | Shape::FilledJson | Shape::Lines(_) => false,
            Shape::MaybeJson
            | Shape::MaybeLines(_)
            | Shape::WholeLines(_)
            | Shape::Begins(_)
            | Shape::Elsewhere => true,
        };
        return (!may_be_empty).then(|| "nothing".to_owned());
    };
    let fits = match shape(part) {
        Shape::Json | Shape::MaybeJson => text.trim_start().starts_with(['[', '{']),
        Shape::FilledJson => {
            let inner = text.trim();
            inner.starts_with('[') && inner.trim_start_matches('[').trim() != "]"
        }
        Shape::Lines(fits) | Shape::MaybeLines(fits) => lines.any(fits),
        Shape::WholeLines(fits) => lines.all(fits),
        Shape::Begins(fits) => fits(first),
        Shape::Elsewhere => true,
    };
    (!fits).then(|| short(first))
}

const fn shape(part: Part) -> Shape {
    match part {
        Part::About => Shape::Lines(about),
        Part::Counters | Part::CountersLater => Shape::Lines(counter),
        Part::Links | Part::LinksLater => Shape::FilledJson,
        Part::Addresses
        | Part::Routes
        | Part::Routes6
        | Part::Rules
        | Part::Rules6
        | Part::Neighbors
        | Part::NeighborsLater => Shape::Json,
        Part::Bridge | Part::Fdb => Shape::MaybeJson,
        // `qdisc::read` refuses what is not an answer of `tc`.
        Part::Qdiscs | Part::QdiscsLater => Shape::Elsewhere,
        Part::Softnet | Part::SoftnetLater => Shape::Lines(hexadecimal),
        Part::Conntrack | Part::ConntrackLater => Shape::MaybeLines(conntrack),
        Part::Listeners => Shape::MaybeLines(listener),
        Part::Connections => Shape::MaybeLines(connection),
        Part::Udp => Shape::Lines(udp),
        Part::Settings => Shape::Lines(setting),
        // What holds rules is refused by the reader of packet filters.
        Part::FilterNft
        | Part::FilterLegacy
        | Part::FilterLegacy6
        | Part::FilterIptables
        | Part::FilterIptables6 => Shape::Elsewhere,
        Part::FilterSets => Shape::MaybeLines(set),
        Part::FilterAlternatives => Shape::MaybeLines(alternative),
        Part::FilterTables | Part::FilterTables6 => Shape::WholeLines(word),
        Part::Resolver => Shape::MaybeLines(resolver),
        Part::Hosts => Shape::MaybeLines(host),
        Part::Nsswitch => Shape::MaybeLines(database),
        Part::Answers => Shape::Begins(question),
        Part::Proxy | Part::Clock => Shape::MaybeLines(assignment),
        Part::DhcpClient => Shape::Begins(client),
        Part::DhcpServer => Shape::Lines(server),
        Part::Wireguard => Shape::Begins(interface),
        Part::Routing => Shape::MaybeLines(daemon),
        Part::BgpPeers | Part::BgpRoutes | Part::BgpBlackholes | Part::OspfDevices | Part::OspfNeighbors => {
            Shape::MaybeJson
        }
        Part::KernelLog => Shape::MaybeLines(dated),
        Part::Units => Shape::WholeLines(unit),
        Part::UnitLog => Shape::MaybeLines(entry),
        Part::DockerNetworks => Shape::MaybeLines(assignment),
        Part::PodmanNetworks | Part::CniNetworks => Shape::Begins(file),
        Part::Processes => Shape::MaybeLines(counted),
        Part::Probes => Shape::Begins(destination),
    }
}

fn about(line: &str) -> bool {
    ["name ", "kernel ", "uid ", "sudo ", "time ", "up "].iter().any(|word| line.starts_with(word))
}

/// `Tcp: InSegs …`, or `Ip6InReceives 9`.
fn counter(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    first.ends_with(':') || second.parse::<u64>().is_ok()
}

fn hexadecimal(line: &str) -> bool {
    let mut words = line.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| u64::from_str_radix(word, 16).is_ok())
}

fn conntrack(line: &str) -> bool {
    line.contains("count=") || line.starts_with("entries") || hexadecimal(line)
}

fn listener(line: &str) -> bool {
    super::socket::listeners(line).1.is_empty()
}

fn connection(line: &str) -> bool {
    !line.starts_with([' ', '\t']) && super::socket::connections(line).1.is_empty()
}

/// The line of headings, or a socket.
fn udp(line: &str) -> bool {
    line.trim_start().starts_with("sl ") || !super::socket::udp(line).is_empty()
}

/// `net.ipv4.ip_forward = 1`; names of devices may hold slashes in place of dots.
fn setting(line: &str) -> bool {
    line.split_once('=').is_some_and(|(name, _)| name.trim().starts_with("net."))
}

fn set(line: &str) -> bool {
    ["create ", "add ", "-N ", "-A ", "#"].iter().any(|word| line.starts_with(word))
}

fn alternative(line: &str) -> bool {
    line.contains("tables")
}

fn word(line: &str) -> bool {
    line.split_whitespace().count() == 1
}

fn resolver(line: &str) -> bool {
    const WORDS: [&str; 8] =
        ["nameserver", "search", "domain", "options", "sortlist", "lookup", "family", "trust-ad"];
    let line = line.trim_start();
    line.starts_with(['#', ';']) || line.split_whitespace().next().is_some_and(|word| WORDS.contains(&word))
}

fn host(line: &str) -> bool {
    line.trim_start().starts_with('#') || !super::resolver::hosts(line).is_empty()
}

fn database(line: &str) -> bool {
    line.trim_start().starts_with('#')
        || line.split_whitespace().next().is_some_and(|word| word.contains(':'))
}

fn question(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("ask") && words.next().is_some_and(|word| word.parse::<std::net::IpAddr>().is_ok())
}

fn assignment(line: &str) -> bool {
    line.contains('=')
}

fn client(line: &str) -> bool {
    line.starts_with("client ") || line.starts_with("file ")
}

fn server(line: &str) -> bool {
    line.strip_prefix("now ").is_some_and(|seconds| seconds.trim().parse::<u64>().is_ok())
}

fn interface(line: &str) -> bool {
    line.starts_with("interface: ")
}

fn daemon(line: &str) -> bool {
    line.starts_with("enabled ") || line == "running" || line.starts_with("running ")
}

fn dated(line: &str) -> bool {
    line.starts_with('[')
}

/// `nginx.service loaded failed failed …`, perhaps behind a mark.
fn unit(line: &str) -> bool {
    const KINDS: [&str; 11] = [
        ".service",
        ".socket",
        ".mount",
        ".target",
        ".timer",
        ".path",
        ".swap",
        ".slice",
        ".scope",
        ".device",
        ".automount",
    ];
    let name = line.split_whitespace().find(|word| word.len() > 1).unwrap_or_default();
    KINDS.iter().any(|kind| name.ends_with(kind))
}

fn entry(line: &str) -> bool {
    line.starts_with('{')
}

fn file(line: &str) -> bool {
    line.starts_with("file ") || line.starts_with("given ")
}

fn counted(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|count| count.parse::<u32>().is_ok())
}

fn destination(line: &str) -> bool {
    line.starts_with("to ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_crashed_program_printed_is_an_answer_to_no_question() {
        let text = "Segmentation fault\n";
        let taken = Part::ALL.iter().filter(|part| objection(**part, text).is_none());
        let taken: Vec<Part> =
            taken.copied().filter(|part| !matches!(shape(*part), Shape::Elsewhere)).collect();
        assert_eq!(taken, []);
    }

    #[test]
    fn the_beginning_of_a_list_of_services_accuses_no_service_of_another_name() {
        let whole = "nginx.service loaded failed failed web\nbind9.service loaded failed failed names\n";
        assert_eq!(objection(Part::Units, whole), None);
        assert!(objection(Part::Units, "nginx.service loaded failed failed web\nbin").is_some());
    }

    #[test]
    fn a_kernel_without_any_device_was_not_read() {
        assert_eq!(objection(Part::Links, "[ ]\n").as_deref(), Some("[ ]"));
        assert_eq!(objection(Part::Links, "").as_deref(), Some("nothing"));
        assert_eq!(objection(Part::Neighbors, "[ ]\n"), None);
        assert!(objection(Part::Routes, "default via 10.0.0.1 dev eth0").is_some());
    }

    #[test]
    fn empty_answers_are_answers_where_a_machine_may_have_nothing_to_list() {
        for part in [Part::Listeners, Part::Units, Part::Answers, Part::Resolver, Part::Conntrack] {
            assert_eq!(objection(part, "\n"), None, "{part}");
        }
    }
}
