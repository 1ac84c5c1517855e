//! How a machine finds names: servers, its own file, what servers answered.

use std::net::IpAddr;

/// What `/etc/resolv.conf` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolver {
    /// The servers, in the order in which they are asked.
    pub servers: Vec<IpAddr>,
    /// Domains behind short names.
    pub search: Vec<String>,
}

impl Resolver {
    /// Reads the file.
    pub(super) fn read(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => {
                    let plain = words.next().map(|word| word.split('%').next().unwrap_or(word));
                    found.servers.extend(plain.and_then(|word| word.parse::<IpAddr>().ok()));
                }
                Some("search" | "domain") => found.search = words.map(str::to_owned).collect(),
                Some(_) | None => {}
            }
        }
        found
    }
}

/// A line of `/etc/hosts`: a name and its address.
pub(super) fn hosts(text: &str) -> Vec<(String, IpAddr)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(ip) = words.next().and_then(|word| word.parse::<IpAddr>().ok()) else { continue };
        found.extend(words.map(|name| (name.to_ascii_lowercase(), ip)));
    }
    found
}

/// How a server answered one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerKind {
    /// It answered, with these addresses.
    Answered(Vec<IpAddr>),
    /// It answered that it will or can not, such as REFUSED or SERVFAIL.
    Status(String),
    /// Nobody listens there.
    Refused,
    /// Nothing came back.
    Silent,
    /// Nothing leads there.
    Unreachable,
}

/// A question to a server, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAnswer {
    /// The server.
    pub server: IpAddr,
    /// The name.
    pub name: String,
    /// What came back.
    pub kind: AnswerKind,
    /// How long it took.
    pub milliseconds: Option<u64>,
    /// Whether it was asked over TCP.
    pub over_tcp: bool,
}

/// Reads what the script printed about servers: `ask SERVER NAME`, then what `dig` said.
/// A question of which nobody can say what came of it is returned by itself: that `dig` failed is no silence of a server.
pub(super) fn answers(text: &str) -> (Vec<ServerAnswer>, Vec<String>) {
    let (mut found, mut odd) = (Vec::new(), Vec::new());
    for block in text.split("\nask ").map(|block| block.strip_prefix("ask ").unwrap_or(block)) {
        let (head, said) = block.split_once('\n').unwrap_or((block, ""));
        let mut words = head.split_whitespace();
        let (Some(server), Some(name)) = (words.next().and_then(|word| word.parse().ok()), words.next())
        else {
            continue;
        };
        let over_tcp = words.next() == Some("tcp");
        let Some(kind) = kind(said) else {
            let said = said.lines().next().unwrap_or_default();
            odd.push(super::socket::short(&format!("{server} {name}: {said}")));
            continue;
        };
        found.push(ServerAnswer { server, name: name.to_owned(), kind, milliseconds: time(said), over_tcp });
    }
    (found, odd)
}

fn kind(said: &str) -> Option<AnswerKind> {
    let status = said.split_once("status: ").and_then(|(_, rest)| rest.split(',').next());
    if let Some(status) = status {
        if status != "NOERROR" {
            return Some(AnswerKind::Status(status.chars().take(20).collect()));
        }
        let record = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_address = matches!(words.get(3), Some(&"A" | &"AAAA"));
            if is_address { words.get(4)?.parse().ok() } else { None }
        };
        let lines = said.lines().filter(|line| !line.starts_with(';'));
        return Some(AnswerKind::Answered(lines.filter_map(record).collect()));
    }
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["connection refused"]) {
        Some(AnswerKind::Refused)
    } else if says(&["unreachable"]) {
        Some(AnswerKind::Unreachable)
    } else {
        says(&["timed out", "no servers could be reached", "no response"]).then_some(AnswerKind::Silent)
    }
}

fn time(said: &str) -> Option<u64> {
    said.split_once("Query time: ")?.1.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_dig_are_understood() {
        let text = "ask 10.0.0.2 web.lab\n;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1\nweb.lab. 0 IN A 10.0.0.9\n;; Query time: 1008 msec\n\
            ask 10.0.0.3 web.lab\n;; communications error to 10.0.0.3#53: connection refused\nask 10.0.0.4 web.lab tcp\n;; no servers could be reached\n";
        let (found, odd) = answers(text);
        assert_eq!(odd, [""; 0]);
        assert_eq!(found[0].kind, AnswerKind::Answered(vec!["10.0.0.9".parse().unwrap()]));
        assert_eq!(found[0].milliseconds, Some(1008));
        assert_eq!(
            (&found[1].kind, &found[2].kind, found[2].over_tcp),
            (&AnswerKind::Refused, &AnswerKind::Silent, true)
        );
    }

    #[test]
    fn a_question_that_failed_on_the_machine_itself_is_no_silence_of_a_server() {
        let (found, odd) = answers("ask 10.0.0.2 web.lab\nSegmentation fault\nask 10.0.0.3 web.lab\n");
        assert_eq!(found, []);
        assert_eq!(odd, ["10.0.0.2 web.lab: Segmentation fault", "10.0.0.3 web.lab:"]);
    }

    #[test]
    fn files_are_read_as_the_library_reads_them() {
        assert_eq!(Resolver::read("# x\nnameserver fe80::1%eth0\nsearch a b\n").servers.len(), 1);
        assert_eq!(hosts("10.0.0.1 Web www # old\nx y\n").len(), 2);
    }
}
