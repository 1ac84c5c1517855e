//! From what was remembered to what is wrong.

use std::net::{IpAddr, SocketAddr};

use super::finding::{Evidence, Finding};
use super::rule::{self, Rule};
use crate::pcap::analyze::Pass;
use crate::pcap::dns;
use crate::pcap::icmp::{Complaint, Heard};
use crate::pcap::label::Label;

/// How many findings are told, and how many of one rule.
const MOST: usize = 12;
const MOST_OF_ONE: usize = 3;
/// How much of a name is shown: what is longer was made to be long.
const NAME: usize = 80;
/// Hardware addresses that routers share on purpose (VRRP, HSRP, both versions).
const SHARED: [&[u8]; 3] = [&[0, 0, 0x5e, 0], &[0, 0, 0x0c, 7, 0xac], &[0, 0, 0x0c, 0x9f, 0xf0]];

/// Finds what is wrong, the worst first. Needs a pass whose waiting has ended.
pub(in crate::pcap) fn find(pass: &Pass) -> Vec<Finding> {
    let mut found = Found { most: if pass.scope.full { usize::MAX } else { MOST_OF_ONE }, list: Vec::new() };
    found.services(pass);
    found.resets(pass);
    found.segments(pass);
    found.names(&pass.dns);
    found.complaints(pass);
    found.claims(pass);
    found.list.sort_by_key(|finding| finding.severity);
    found.list.truncate(if pass.scope.full { usize::MAX } else { MOST });
    found.list
}

struct Found {
    most: usize,
    list: Vec<Finding>,
}

impl Found {
    fn add(
        &mut self,
        rule: &Rule,
        title: String,
        frames: &[u64],
        filter: String,
        numbers: &[(&'static str, f64)],
    ) {
        if self.list.iter().filter(|finding| finding.code == rule.code).count() >= self.most {
            return;
        }
        self.list.push(Finding {
            code: rule.code,
            severity: rule.severity,
            title,
            evidence: Evidence {
                frames: frames.to_vec(),
                filter,
                numbers: numbers.iter().copied().collect(),
            },
            vantage: rule.vantage,
        });
    }

    fn services(&mut self, pass: &Pass) {
        let kinds = [(&rule::SYN_UNANSWERED, &pass.flows.silent), (&rule::TCP_REFUSED, &pass.flows.refused)];
        for (rule, services) in kinds {
            let mut worst: Vec<_> = services.iter().collect();
            worst.sort_by_key(|(_, failures)| std::cmp::Reverse(failures.flows));
            for (service, failures) in worst {
                let silent = rule.code == rule::SYN_UNANSWERED.code;
                let count = if silent { failures.syns } else { failures.flows };
                if !rule.meets(count, 0) {
                    continue;
                }
                let title = if silent {
                    format!(
                        "{service} did not answer {} SYNs of {} connections",
                        failures.syns, failures.flows
                    )
                } else {
                    format!("{service} refused {} connections", failures.flows)
                };
                let numbers = [("connections", failures.flows as f64), ("syns", failures.syns as f64)];
                self.add(rule, title, &failures.frames, syns_to(*service), &numbers);
            }
        }
    }

    fn resets(&mut self, pass: &Pass) {
        let (count, first) = &pass.flows.foreign;
        let Some(one) = first.first().filter(|_| rule::RESET_FOREIGN.meets(*count, 0)) else {
            return;
        };
        let title = format!(
            "{count} connections were reset by packets that took another way (time to live {} instead of {})",
            one.hops, one.usual
        );
        // One kind is shown: others have a time to live of their own.
        let frames: Vec<u64> =
            first.iter().filter(|other| other.hops == one.hops).map(|other| other.frame).collect();
        let filter = format!("tcp.flags.reset == 1 && (ip.ttl == {0} || ipv6.hlim == {0})", one.hops);
        let numbers = [
            ("connections", *count as f64),
            ("hops", f64::from(one.hops)),
            ("usual_hops", f64::from(one.usual)),
        ];
        self.add(&rule::RESET_FOREIGN, title, &frames, filter, &numbers);
    }

    fn segments(&mut self, pass: &Pass) {
        let flows = &pass.flows;
        let kinds = [
            (&rule::RETRANSMISSION, Label::Retransmission, "packets were sent again"),
            (&rule::ZERO_WINDOW, Label::ZeroWindow, "packets say that their sender takes nothing more"),
            (&rule::GAPS, Label::LostSegment, "segments follow a gap"),
        ];
        for (rule, label, what) in kinds {
            let count = pass.counts.of(label);
            if rule.meets(count, flows.carrying) {
                let part = crate::pcap::flow::percent(count, flows.carrying);
                let numbers = [("packets", count as f64), ("percent", part)];
                let filter = format!("tcp.analysis.{}", label.name());
                self.add(rule, format!("{count} {what}"), &pass.counts.first_frames(label), filter, &numbers);
            }
        }
    }

    fn names(&mut self, tally: &dns::Tally) {
        let kinds = [
            (
                &rule::DNS_FAILURE,
                &tally.failed,
                "SERVFAIL or REFUSED",
                "dns.flags.rcode == 2 || dns.flags.rcode == 5",
            ),
            (&rule::DNS_NXDOMAIN, &tally.missing, "that the name does not exist", "dns.flags.rcode == 3"),
        ];
        for (rule, failure, what, filter) in kinds {
            if !rule.meets(failure.count, tally.responses) {
                continue;
            }
            let most = failure.names.iter().max_by_key(|(_, count)| **count);
            let name =
                most.map(|(name, _)| format!(", most often about {}", clipped(name))).unwrap_or_default();
            let title = format!("{} of {} answers say {what}{name}", failure.count, tally.responses);
            let numbers = [
                ("answers", failure.count as f64),
                ("all_answers", tally.responses as f64),
                ("names", failure.names.len() as f64),
            ];
            self.add(rule, title, &failure.frames, filter.to_owned(), &numbers);
        }
        for (server, known) in &tally.servers {
            if rule::DNS_UNANSWERED.meets(known.unanswered, known.queries) {
                let title =
                    format!("{server} never answered {} of {} questions", known.unanswered, known.queries);
                let filter = format!("dns.flags.response == 0 && {} == {server}", field(*server, "dst"));
                let numbers = [("unanswered", known.unanswered as f64), ("questions", known.queries as f64)];
                self.add(&rule::DNS_UNANSWERED, title, &known.unanswered_frames, filter, &numbers);
            }
        }
    }

    fn complaints(&mut self, pass: &Pass) {
        let mut worst: Vec<(&Complaint, &Heard)> = pass.icmp.complaints.iter().collect();
        worst.sort_by_key(|(_, heard)| std::cmp::Reverse(heard.count));
        for (complaint, heard) in worst {
            let Some((rule, what)) = meaning(complaint).filter(|(rule, _)| rule.meets(heard.count, 0)) else {
                continue;
            };
            let about = complaint.port.map_or_else(
                || complaint.about.to_string(),
                |port| SocketAddr::new(complaint.about, port).to_string(),
            );
            let (kind, code) = (complaint.kind, complaint.code);
            let title = format!(
                "{} says {} times that {about} {what} (type {kind}, code {code})",
                complaint.from, heard.count
            );
            let name = if complaint.six { "icmpv6" } else { "icmp" };
            let filter = format!(
                "{name}.type == {kind} && {name}.code == {code} && {} == {}",
                field(complaint.from, "src"),
                complaint.from
            );
            let mut numbers = vec![("errors", heard.count as f64)];
            if heard.mtu > 0 {
                numbers.push(("mtu", f64::from(heard.mtu)));
            }
            self.add(rule, title, &heard.frames, filter, &numbers);
        }
    }

    fn claims(&mut self, pass: &Pass) {
        for (ip, address) in pass.arp.conflicts() {
            let shared = |mac: &[u8; 6]| SHARED.iter().any(|prefix| mac.starts_with(prefix));
            if address.claims.iter().any(|claim| shared(&claim.mac)) {
                continue;
            }
            let rule = if rule::ARP_CONFLICT.meets(address.flips, 0) {
                &rule::ARP_CONFLICT
            } else {
                &rule::ARP_MOVED
            };
            let macs: Vec<String> =
                address.claims.iter().map(|claim| crate::pcap::summary::mac(claim.mac)).collect();
            let frames: Vec<u64> = address.claims.iter().map(|claim| claim.frame).collect();
            let title = format!("{ip} is claimed by {}", macs.join(" and "));
            let numbers = [("claimants", macs.len() as f64), ("changes", address.flips as f64)];
            self.add(rule, title, &frames, format!("arp.src.proto_ipv4 == {ip}"), &numbers);
        }
        let mut silent: Vec<_> = pass
            .arp
            .addresses
            .iter()
            .filter(|(_, address)| rule::ARP_UNANSWERED.meets(address.waiting, 0))
            .collect();
        silent.sort_by_key(|(ip, address)| (std::cmp::Reverse(address.waiting), **ip));
        for (ip, address) in silent {
            let title = format!("nobody answered {} requests for {ip}", address.waiting);
            let filter = format!("arp.opcode == 1 && arp.dst.proto_ipv4 == {ip}");
            let numbers = [("requests", address.waiting as f64)];
            self.add(&rule::ARP_UNANSWERED, title, &address.waiting_frames, filter, &numbers);
        }
    }
}

/// Returns what a complaint says of the destination that it is about.
fn meaning(complaint: &Complaint) -> Option<(&'static Rule, &'static str)> {
    match (complaint.six, complaint.kind, complaint.code) {
        (false, 3, 4) | (true, 2, _) => Some((&rule::PMTU, "gets packets that are too large for the way")),
        (false, 3, _) | (true, 1, _) => Some((&rule::UNREACHABLE, "cannot be reached")),
        (false, 11, 0) | (true, 3, 0) => Some((&rule::LOOP, "is too far away")),
        (false, 5, _) => Some((&rule::REDIRECT, "is nearer by another router")),
        _ => None,
    }
}

/// Returns the beginning of a name.
fn clipped(name: &str) -> String {
    // Names are escaped: each byte is a character.
    name.get(..NAME).map_or_else(|| name.to_owned(), |start| format!("{start}…"))
}

/// Returns the name of a field of the address's family.
fn field(address: IpAddr, side: &str) -> String {
    format!("{}.{side}", if address.is_ipv4() { "ip" } else { "ipv6" })
}

fn syns_to(service: SocketAddr) -> String {
    let (address, port) = (service.ip(), service.port());
    format!("tcp.flags.syn == 1 && {} == {address} && tcp.dstport == {port}", field(address, "dst"))
}
