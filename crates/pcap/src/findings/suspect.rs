//! Suspicious DNS: generated names, random subdomains, tunnels, amplification.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::finding::{FindingList, field};
use super::finding::{Rule, Severity};
use super::names::clipped;
use crate::analyze::Pass;
use crate::dns::{DnsStats, MIN_LONG_LABEL, ParentDomain};

/// A client asks for names that a program makes up.
const GENERATED: Rule = Rule {
    code: "dns_generated_names",
    severity: Severity::Warning,
    at_least: 5,
    percent: 0.0,
    when: "so many different names of two labels or more that look made up (36 of 85 points or more, see dns.suspicious) do not exist, says the server to one client",
    vantage: "Shows how names look; malware asks for such names to find its master, and a few programs do for reasons of their own.",
};

/// Many clients ask for made-up names below one domain.
const RANDOM: Rule = Rule {
    code: "dns_random_subdomains",
    severity: Severity::Warning,
    at_least: 30,
    percent: 0.0,
    when: "so many different names below one domain that seem generated do not exist, as servers answer several clients",
    vantage: "The servers of that domain may be meant to be flooded; forged sources look like many clients.",
};

/// Something travels in names.
const TUNNEL: Rule = Rule {
    code: "dns_tunnel",
    severity: Severity::Warning,
    at_least: 8,
    percent: 50.0,
    when: "so many different names below one domain, and so much of all questions for it, ask for text or raw bytes with labels of 16 letters and more in the mean, or, ten times as many, have labels of 45 letters and more",
    vantage: "Shows the form of questions and answers; some scanners for malware ask in the same form.",
};

/// Everything is asked for.
const ANY: Rule = Rule {
    code: "dns_any",
    severity: Severity::Warning,
    at_least: 10,
    percent: 0.0,
    when: "so many questions of one address are for everything there is (ANY)",
    vantage: "The source of a question can be forged: the answers may be meant to flood whoever it names.",
};

/// Somebody is flooded with answers.
const REFLECTION: Rule = Rule {
    code: "dns_reflection",
    severity: Severity::Critical,
    at_least: 50,
    percent: 0.0,
    when: "so many answers of 1000 bytes or more in the mean go to an address that asked nothing here",
    vantage: "The questions did not pass here: they were sent elsewhere in the name of this address, or take another path.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 5] = [REFLECTION, GENERATED, RANDOM, TUNNEL, ANY];

/// Longest labels of a tunnel that asks for text, in the mean.
const LETTERS: f64 = 16.0;
/// How large answers are that somebody is flooded with.
const LARGE: u64 = 1000;

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    generated(found, &pass.dns);
    random(found, &pass.dns);
    tunnels(found, &pass.dns);
    floods(found, &pass.dns);
}

/// Tells whether something travels in the names below a domain.
pub(crate) fn tunnel(parent: &ParentDomain) -> bool {
    let text = parent.text * 2 >= parent.odd && parent.mean() >= LETTERS;
    let long = parent.mean() >= MIN_LONG_LABEL as f64;
    let needed = if text { 1 } else { 10 };
    let much = parent.odd as f64 * 100.0 >= TUNNEL.percent * parent.queries as f64;
    (text || long) && much && parent.distinct() >= TUNNEL.at_least * needed
}

fn generated(found: &mut FindingList, tally: &DnsStats) {
    let mut worst: Vec<_> = tally.clients.all.iter().collect();
    worst.sort_by_key(|(address, client)| (std::cmp::Reverse(client.odd.len()), **address));
    for (address, client) in worst {
        let count = client.odd.len() as u64;
        if !GENERATED.meets(count, 0) {
            continue;
        }
        let mut names: Vec<_> = client.odd.iter().collect();
        names.sort_by_key(|(_, odd)| odd.frame);
        let shown: Vec<String> = names.iter().take(3).map(|(name, _)| clipped(name)).collect();
        let frames: Vec<u64> = names.iter().take(5).map(|(_, odd)| odd.frame).collect();
        let title = format!(
            "{address} asks for {count} names that look made up and do not exist: {}",
            shown.join(", ")
        );
        let share = client.nonexistent as f64 * 100.0 / client.answers.max(1) as f64;
        let mean = names.iter().map(|(_, odd)| odd.score_parts.score()).sum::<f64>() / count as f64;
        let numbers =
            [("names", count as f64), ("nxdomain_percent", share.round()), ("mean_score", mean.round())];
        found.add(&GENERATED, title, &frames, filter_for_client(*address), &numbers);
    }
}

/// Names below a domain, clients that ask for them, and the first frames.
type Below = (u64, u64, Vec<u64>);

fn random(found: &mut FindingList, tally: &DnsStats) {
    let mut domains: BTreeMap<&str, Below> = BTreeMap::new();
    for client in tally.clients.all.values() {
        let mut met: BTreeSet<&str> = BTreeSet::new();
        for (name, odd) in &client.odd {
            let Some((_, domain)) = name.split_once('.').filter(|(_, domain)| domain.contains('.')) else {
                continue;
            };
            let (names, clients, frames) = domains.entry(domain).or_default();
            *names += 1;
            *clients += u64::from(met.insert(domain));
            frames.push(odd.frame);
        }
    }
    let mut worst: Vec<(&str, Below)> = domains.into_iter().collect();
    worst.sort_by_key(|(domain, (names, ..))| (std::cmp::Reverse(*names), *domain));
    for (domain, (names, clients, mut frames)) in worst {
        if clients < 2 || !RANDOM.meets(names, 0) {
            continue;
        }
        frames.sort_unstable();
        frames.truncate(5);
        let title = format!(
            "{names} names below {} that seem generated do not exist, as servers answer {clients} clients",
            clipped(domain)
        );
        let filter = if plain(domain) {
            format!("dns.flags.rcode == 3 && lower(dns.qry.name) contains \".{domain}\"")
        } else {
            "dns.flags.rcode == 3".to_owned()
        };
        let numbers = [("names", names as f64), ("clients", clients as f64)];
        found.add(&RANDOM, title, &frames, filter, &numbers);
    }
}

/// Returns a filter for answers to an address that say that a name does not exist.
fn filter_for_client(address: IpAddr) -> String {
    format!("dns.flags.rcode == 3 && {} == {address}", field(address, "dst"))
}

fn tunnels(found: &mut FindingList, tally: &DnsStats) {
    let mut worst: Vec<&ParentDomain> = tally.parents.all.values().filter(|parent| tunnel(parent)).collect();
    worst.sort_by_key(|parent| (std::cmp::Reverse(parent.up + parent.down), parent.frames.first().copied()));
    for parent in worst {
        let name = clipped(&parent.name);
        let distinct = parent.distinct();
        let title = format!(
            "about {distinct} names below {name} carry {} bytes up, their answers {} down",
            parent.up, parent.down
        );
        let numbers = [
            ("names", distinct as f64),
            ("questions", parent.queries as f64),
            ("text_or_raw", parent.text as f64),
            ("mean_label", parent.mean().round()),
            ("bytes_up", parent.up as f64),
            ("bytes_down", parent.down as f64),
        ];
        let filter = if plain(&parent.name) {
            format!("dns.flags.response == 0 && lower(dns.qry.name) contains \".{}\"", parent.name)
        } else {
            // A name with letters of its own kind does not go into a filter.
            "dns.flags.response == 0 && dns.qry.name.len >= 16".to_owned()
        };
        found.add(&TUNNEL, title, &parent.frames, filter, &numbers);
    }
}

fn plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte))
}

fn floods(found: &mut FindingList, tally: &DnsStats) {
    let mut all: Vec<_> = tally.clients.all.iter().collect();
    all.sort_by_key(|(address, client)| (std::cmp::Reverse((client.unasked.1, client.any)), **address));
    for (address, client) in all {
        let (answers, bytes) = client.unasked;
        if REFLECTION.meets(answers, 0) && bytes >= LARGE * answers {
            let title = format!(
                "{address} gets {answers} answers of {} bytes that it did not ask for",
                bytes / answers
            );
            let filter = format!("dns.flags.response == 1 && {} == {address}", field(*address, "dst"));
            let numbers = [("answers", answers as f64), ("bytes", bytes as f64)];
            found.add(&REFLECTION, title, &client.unasked_frames, filter, &numbers);
        }
        if ANY.meets(client.any, 0) {
            let title = format!("{address} asks {} times for everything there is", client.any);
            let filter = format!(
                "dns.flags.response == 0 && dns.qry.type == 255 && {} == {address}",
                field(*address, "src")
            );
            found.add(&ANY, title, &client.any_frames, filter, &[("questions", client.any as f64)]);
        }
    }
}
