//! What is known, and whether a place is among it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::place::{Destination, Prefix};
use super::{Surroundings, listed, name};
use crate::judge::parse_address;
use crate::{Ruling, Verdict};

/// The name of this machine on every machine. What else a distribution writes into `/etc/hosts` is a question to a resolver where it
/// did not.
const LOOPBACK_NAME: &str = "localhost";

/// Names and addresses that are no strangers. Empty: this machine and private networks are, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    addresses: BTreeSet<IpAddr>,
    prefixes: Vec<Prefix>,
    names: BTreeSet<String>,
    /// The domains that this machine puts behind a short name.
    search: BTreeSet<String>,
    /// Commands that were judged stricter than SAFE before: they stay so, whatever became known since.
    asked: BTreeMap<String, Ruling>,
    without_sandbox: bool,
}

impl Known {
    /// Begins with what the configuration and this machine know.
    #[must_use]
    pub fn of(surroundings: &Surroundings) -> Self {
        let mut known = Self { without_sandbox: surroundings.is_without_sandbox(), ..Self::default() };
        surroundings.destinations().for_each(|place| known.add(place));
        known.addresses.extend(surroundings.resolvers());
        for domain in surroundings.search() {
            known.search.extend(name::normal(domain));
            known.names.extend(name::normal(domain));
        }
        known
    }

    /// Tells whether the session was opened on a machine without a sandbox: what was asked about then goes on asking, wherever the
    /// session is driven now.
    pub(crate) fn is_without_sandbox(&self) -> bool {
        self.without_sandbox
    }

    fn add(&mut self, place: Destination) {
        match place {
            Destination::Address(address) => drop(self.addresses.insert(address)),
            Destination::Prefix(prefix) => self.prefixes.push(prefix),
            Destination::Name(name) => drop(self.names.insert(name)),
        }
    }

    /// Takes in what a person wrote: every name and address in it, exactly as it stands there.
    pub fn add_words(&mut self, text: &str) {
        let is_part = |char: char| char.is_alphanumeric() || "-_.:%[]".contains(char);
        for token in text.split(|char: char| !is_part(char)).filter(|token| !token.is_empty()) {
            let token = token.trim_end_matches(['.', ':', '-', '_']).trim_start_matches(['.', '-', '_']);
            if let Some(address) = parse_address(token).filter(|_| token.contains(['.', ':'])) {
                self.addresses.insert(address);
                continue;
            }
            // `[2001:db8::7]:443` and `web-1:8080`.
            if let Some((inside, _)) = token.strip_prefix('[').and_then(|token| token.split_once(']')) {
                self.addresses.extend(parse_address(inside));
            }
            for part in token.split([':', '[', ']', '%']) {
                match parse_address(part).filter(|_| part.contains('.')) {
                    Some(address) => drop(self.addresses.insert(address)),
                    None => self.names.extend(name::normal(part)),
                }
            }
        }
    }

    /// Takes in what the cloud listed: the addresses and names of its resources, and no text that somebody attached to them.
    pub fn add_listing(&mut self, output: &str) {
        listed::places(output).into_iter().for_each(|place| self.add(place));
    }

    /// Keeps a command asking, or BLOCKED, as it was judged before: by this rule and for this reason.
    pub fn add_asked(&mut self, command: &str, judged: Ruling) {
        self.asked.insert(command.to_owned(), judged);
    }

    /// Makes a command ask, or be BLOCKED, that was judged so before. What is found anew beside it stays.
    #[must_use]
    pub fn as_asked(&self, command: &str, ruling: Ruling) -> Ruling {
        let Some(asked) = self.asked.get(command) else { return ruling };
        let same_place = ruling.asks_for_destination() && asked.asks_for_destination();
        if ruling.verdict != Verdict::Safe && !same_place {
            return ruling;
        }
        let Ruling { verdict, rule, reason, impact, .. } = asked.clone();
        Ruling { verdict, rule, reason, impact, ..ruling }
    }

    /// Tells whether a place is known. That a metadata service lies in a local range says nothing for it.
    pub(crate) fn covers(&self, host: &str, is_metadata: bool) -> bool {
        if let Some(address) = parse_address(host) {
            return self.addresses.contains(&address)
                || self.prefixes.iter().any(|prefix| prefix.holds(address))
                || (!is_metadata && is_local(address));
        }
        let Some(name) = name::normal(host) else { return false };
        name == LOOPBACK_NAME || self.names.contains(&name) || self.is_searched(&name)
    }

    /// Tells whether a name means a known one on this machine: a short name of which the long one is known, or the reverse.
    fn is_searched(&self, name: &str) -> bool {
        self.search.iter().any(|domain| {
            let short = name.strip_suffix(domain.as_str()).and_then(|front| front.strip_suffix('.'));
            self.names.contains(&format!("{name}.{domain}"))
                || short.is_some_and(|short| self.names.contains(short))
        })
    }
}

/// Tells whether an address belongs to this machine, its link or a private network.
fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(known: &Known, hosts: &[&str], strangers: &[&str]) {
        for host in hosts {
            assert!(known.covers(host, false), "{host} is not known");
        }
        for host in strangers {
            assert!(!known.covers(host, false), "{host} is known");
        }
    }

    fn said(text: &str) -> Known {
        let mut known = Known::default();
        known.add_words(text);
        known
    }

    #[test]
    fn this_machine_and_private_networks_are_known_without_a_word() {
        check(
            &Known::default(),
            &[
                "127.0.0.1",
                "10.1.2.3",
                "172.31.0.1",
                "192.168.0.1",
                "::1",
                "[::1]",
                "fe80::1%eth0",
                "fd12::1",
                "localhost",
                "LOCALHOST.",
                "::ffff:10.0.0.1",
                "10.1",
                "0x0a000001",
            ],
            &[
                "8.8.8.8",
                "172.32.0.1",
                "100.64.0.1",
                "2001:db8::1",
                "example.com",
                "web-1",
                "::ffff:8.8.8.8",
                "64:ff9b::a00:1",
                "2002:a00:1::",
                "",
                "localhost.evil.example",
                "localhost.localdomain",
                "ip6-localhost",
                "ip6-loopback",
            ],
        );
    }

    #[test]
    fn a_metadata_service_is_no_neighbor() {
        assert!(!Known::default().covers("169.254.169.254", true));
        assert!(said("169.254.169.254 does not answer").covers("169.254.169.254", true));
    }

    #[test]
    fn what_people_wrote_is_known_exactly_as_it_stands_there() {
        check(
            &said(
                "api.example.com:443 fails from web-1 (203.0.113.7), see <https://Status.Example.net/x?y|status> and [2001:db8::7]:80 or 2001:db8::8.",
            ),
            &[
                "api.example.com",
                "API.example.com.",
                "web-1",
                "203.0.113.7",
                "status.example.net",
                "2001:db8::7",
                "2001:db8:0::8",
                "203.0.28935",
            ],
            &[
                "x.api.example.com",
                "example.com",
                "api.example.com.evil.example",
                "203.0.113.8",
                "web-2",
                "2001:db8::9",
                "api-example.com",
            ],
        );
    }

    #[test]
    fn names_are_compared_whatever_their_spelling() {
        let known = said("münchen.example is slow");
        check(
            &known,
            &["MÜNCHEN.example", "xn--mnchen-3ya.example", "münchen.example."],
            &["munchen.example"],
        );
        check(&said("xn--mnchen-3ya.example"), &["münchen.example"], &["xn--mnchen-3yb.example"]);
    }

    #[test]
    fn a_number_in_a_sentence_is_no_address() {
        // `ping 3232235777` goes to 192.168.1.1 and `ping 134744072` to 8.8.8.8.
        check(&said("error 134744072, 8.8 seconds"), &[], &["8.8.8.8"]);
    }

    #[test]
    fn a_search_domain_lends_itself_to_known_names_only() {
        let surroundings =
            Surroundings::read(&[], "nameserver 198.51.100.53\nsearch corp.example internal.example\n")
                .unwrap();
        let mut known = Known::of(&surroundings);
        known.add_words("web-1 cannot reach db.internal.example");
        check(
            &known,
            &[
                "198.51.100.53",
                "corp.example",
                "web-1",
                "web-1.corp.example",
                "web-1.internal.example",
                "db",
                "db.internal.example",
            ],
            &["data.corp.example", "db.corp.example.evil.example", "198.51.100.54", "web-1.other.example"],
        );
    }

    #[test]
    fn the_configuration_names_addresses_prefixes_and_names() {
        let places =
            ["198.51.100.0/24", "2001:db8:1::/48", "203.0.113.9", "Status.example"].map(str::to_owned);
        let known = Known::of(&Surroundings::read(&places, "").unwrap());
        check(
            &known,
            &["198.51.100.77", "2001:db8:1::5", "203.0.113.9", "status.example"],
            &["198.51.101.1", "2001:db8:2::5", "203.0.113.10", "x.status.example"],
        );
        for wrong in ["", "a b", "10.0.0.0/33", "http://x.example/", "*.example", "x/24", "-x"] {
            assert!(Surroundings::read(&[wrong.to_owned()], "").is_err(), "{wrong:?}");
        }
    }
}
