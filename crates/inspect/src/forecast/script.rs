//! The lines of a script that runs in a machine, as edits.

use super::command::{CommandError, some};
use super::edit::{Edit, Target};

/// Programs inside a machine that change what becomes of packets.
const CHANGING: [&str; 16] = [
    "iptables",
    "ip6tables",
    "iptables-restore",
    "ip6tables-restore",
    "nft",
    "ufw",
    "firewall-cmd",
    "fail2ban-client",
    "ipset",
    "tc",
    "ip",
    "sysctl",
    "ifconfig",
    "route",
    "systemctl",
    "service",
];

/// Programs inside a machine that change nothing of what becomes of packets.
const QUIET: &[&str] = &[
    "awk",
    "cat",
    "cut",
    "date",
    "df",
    "dig",
    "dmesg",
    "du",
    "echo",
    "env",
    "false",
    "file",
    "find",
    "free",
    "getent",
    "grep",
    "head",
    "host",
    "hostname",
    "id",
    "iperf",
    "iperf3",
    "journalctl",
    "ls",
    "lsof",
    "lsmod",
    "md5sum",
    "mtr",
    "nc",
    "netstat",
    "nslookup",
    "ping",
    "ping6",
    "printf",
    "ps",
    "pwd",
    "qperf",
    "sha256sum",
    "sleep",
    "sort",
    "ss",
    "stat",
    "tail",
    "tcpdump",
    "test",
    "timeout",
    "top",
    "tr",
    "traceroute",
    "tracepath",
    "true",
    "uname",
    "uniq",
    "uptime",
    "wc",
    "which",
    "who",
    "whoami",
    "iptables-save",
    "ip6tables-save",
    "conntrack",
];

/// Returns the commands of a script, in order.
pub(super) fn segments(script: &str) -> impl Iterator<Item = &str> {
    let all = script.split(['\n', ';']).flat_map(|line| line.split("&&")).map(str::trim);
    all.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Reads the lines of a script that runs in a machine.
pub(super) fn guest(machine: &str, script: &str) -> Result<Vec<Edit>, CommandError> {
    let mut edits = Vec::new();
    for line in segments(script) {
        let machine = machine.to_owned();
        let Some((_, words)) = bare(line) else {
            let why = format!("`{line}` needs a shell");
            edits.push(Edit::Obscure { target: Target::Machine(machine), why });
            continue;
        };
        let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default().to_owned();
        let reads = words
            .iter()
            .any(|word| matches!(word.as_str(), "show" | "-L" | "-S" | "list" | "status" | "--list"));
        match program.as_str() {
            "iptables" | "ip6tables" | "iptables-legacy" | "iptables-nft" | "ip6tables-legacy"
            | "ip6tables-nft" | "nft"
                if !reads =>
            {
                edits.push(Edit::Filter { machine, words })
            }
            "tc" if !reads => edits.push(Edit::Shape { machine, words }),
            program if CHANGING.contains(&program) && !reads => {
                let why = format!("nobody carries out a line of {program} here");
                edits.push(Edit::Obscure { target: Target::Machine(machine), why });
            }
            program if reads || QUIET.contains(&program) => {}
            program => {
                let why = format!("what `{program}` does to packets is not known");
                edits.push(Edit::Obscure { target: Target::Machine(machine), why });
            }
        }
    }
    some(edits)
}

/// Splits a line into what it runs as and what it runs; nothing where it would need a shell.
pub(super) fn bare(line: &str) -> Option<(Vec<String>, Vec<String>)> {
    let mut head = words(line)?;
    let at = head.iter().position(|word| word != "sudo" && word != "-n").unwrap_or(head.len());
    let rest = head.split_off(at);
    Some((head, rest))
}

/// Splits a line into words; nothing where it would need a shell.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut begun, mut quote) = (Vec::new(), String::new(), false, None);
    for char in line.chars() {
        match (quote, char) {
            (Some(open), char) if char == open => quote = None,
            (Some('"'), '$' | '`' | '\\') => return None,
            (Some(_), char) => word.push(char),
            (None, '\'' | '"') => {
                quote = Some(char);
                begun = true;
            }
            (None, '$' | '`' | '|' | '<' | '>' | '&' | '(' | ')' | '{' | '}' | '*' | '?' | '\\') => {
                return None;
            }
            (None, char) if char.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, char) => word.push(char),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    quote.is_none().then_some(words)
}
