//! Counters, read twice: only what grows is a fault of now.

use std::collections::BTreeMap;

/// Counters by name, such as `Tcp.InCsumErrors`.
pub type Counts = BTreeMap<String, u64>;

/// Counters at two moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// The first time.
    pub before: Counts,
    /// The second time; the same as the first where it was read once.
    pub after: Counts,
}

impl Counters {
    /// Returns by how much a counter grew between both moments.
    #[must_use]
    pub fn growth(&self, name: &str) -> u64 {
        self.now(name).saturating_sub(self.before.get(name).copied().unwrap_or(0))
    }

    /// Returns a counter.
    #[must_use]
    pub fn now(&self, name: &str) -> u64 {
        self.after.get(name).copied().unwrap_or(0)
    }
}

/// Reads `/proc/net/snmp` and `/proc/net/netstat` (two lines a protocol) and `/proc/net/snmp6` (a line a counter).
pub(super) fn protocols(text: &str) -> Counts {
    let mut counts = Counts::new();
    let mut heads: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        let Some(protocol) = first.strip_suffix(':') else {
            if let Some(count) = words.next().and_then(|count| count.parse().ok()) {
                counts.insert(first.to_owned(), count);
            }
            heads = None;
            continue;
        };
        match heads.take() {
            Some((of, names)) if of == protocol => {
                for (name, value) in names.into_iter().zip(words) {
                    // Some are -1 where there is no limit.
                    if let Ok(value) = value.parse() {
                        counts.insert(format!("{protocol}.{name}"), value);
                    }
                }
            }
            Some(_) | None => heads = Some((protocol, words.collect())),
        }
    }
    counts
}

/// Reads `/proc/net/softnet_stat`: what was dropped, and how often the time was over.
pub(super) fn softnet(text: &str) -> Counts {
    let column = |at: usize| {
        let read =
            |line: &str| line.split_whitespace().nth(at).and_then(|hex| u64::from_str_radix(hex, 16).ok());
        text.lines().filter_map(read).fold(0_u64, u64::saturating_add)
    };
    Counts::from([("dropped".to_owned(), column(1)), ("squeezed".to_owned(), column(2))])
}

/// Reads `NAME=VALUE` words, adding those of one name: what `conntrack -S` prints for every processor, and the limits.
pub(super) fn named(text: &str) -> Counts {
    let mut counts = Counts::new();
    for (name, value) in text.split_whitespace().filter_map(|word| word.split_once('=')) {
        if let Ok(value) = value.parse::<u64>() {
            let own = counts.entry(name.to_owned()).or_default();
            *own = own.saturating_add(value);
        }
    }
    counts
}

/// Reads `NAME=VALUE` words, and the kernel's own table: a line of names, and a line of hexadecimal numbers a processor.
pub(super) fn connections(text: &str) -> Counts {
    let mut counts = named(text);
    let mut names: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.contains('=')) {
        if line.starts_with("entries") {
            names = line.split_whitespace().collect();
            continue;
        }
        // The number of entries is that of the whole table, in every line.
        for (name, value) in names.iter().zip(line.split_whitespace()).skip(1) {
            if let Ok(value) = u64::from_str_radix(value, 16) {
                let own = counts.entry((*name).to_owned()).or_default();
                *own = own.saturating_add(value);
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_of_their_protocols() {
        let text = "Tcp: InSegs MaxConn InCsumErrors\nTcp: 5 -1 7\nIp6InReceives 9\nTcpExt: ListenDrops\nTcpExt: 3\n";
        let counts = protocols(text);
        assert_eq!(
            (counts["Tcp.InCsumErrors"], counts["Ip6InReceives"], counts["TcpExt.ListenDrops"]),
            (7, 9, 3)
        );
        assert!(!counts.contains_key("Tcp.MaxConn"));
    }

    #[test]
    fn processors_are_added() {
        assert_eq!(named("cpu=0 drop=1 \ncpu=1 drop=2")["drop"], 3);
        assert_eq!(softnet("0 0000000a 1\n0 1 1")["dropped"], 11);
        let text = "count=3 max=9\nentries  insert_failed drop\n00000003  0000000a 1\n00000003  1 0\n";
        let counts = connections(text);
        assert_eq!((counts["count"], counts["max"], counts["insert_failed"], counts["drop"]), (3, 9, 11, 1));
    }
}
