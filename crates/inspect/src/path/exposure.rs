//! What the groups of an interface let in from anywhere: an answer only where exposure is the question.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::document::{Document, Missing};
use super::estate::Estate;
use super::fault::{Cause, Fault, Object};
use crate::nsg::{Direction, Packet, Verdict};

/// Stands for anybody on the Internet: an address that is kept for documents, so that no rule is about it alone.
const ANYBODY: [u8; 4] = [198, 51, 100, 201];

/// What is let in from anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exposure {
    /// The rules that let it in: one at each gate, and only where every gate lets it in.
    pub causes: BTreeSet<Cause>,
    /// Rules that would let it in, and another gate shuts it.
    pub moot: BTreeSet<Cause>,
    /// What would have to be read.
    pub missing: Vec<Missing>,
}

impl Estate {
    /// Says which rules let the world in to TCP ports of a machine. Its own packet filter does not count.
    #[must_use]
    pub fn exposure(&self, machine: &str, ports: &[u16]) -> Exposure {
        let mut found = Exposure::default();
        let own = self.machine_named(machine);
        let nics = own.into_iter().flat_map(|own| &own.nics).filter_map(|at| self.nics.get(*at));
        for nic in nics {
            let Some(rules) = nic.rules.read() else {
                let what = Document::Rules { nic: nic.name.clone() };
                found.missing.push(Missing { what, why: nic.rules.why_not() });
                continue;
            };
            for (address, port) in nic
                .addresses
                .iter()
                .filter(|own| own.is_ipv4())
                .flat_map(|own| ports.iter().map(move |port| (*own, *port)))
            {
                let from = IpAddr::from(ANYBODY);
                let Ok(packet) = Packet::new("inbound", "tcp", from, Some(40_000), address, port) else {
                    continue;
                };
                let ruling = rules.verdict(&packet);
                let open = ruling.gates.iter().filter(|gate| gate.verdict == Verdict::Allow);
                let causes = open.filter_map(|gate| {
                    let group = rules
                        .groups()
                        .iter()
                        .find(|own| own.gate == gate.gate && own.name.as_deref() == gate.nsg)?;
                    let rule = group.rules.iter().find(|rule| {
                        Some(rule.name.as_str()) == gate.rule && rule.may_apply(Direction::Inbound)
                    })?;
                    let object = Object::NsgRule { group: gate.nsg?.to_owned(), rule: rule.name.clone() };
                    rule.source.anybody.then(|| Cause::new(Fault::NsgExposure, object))
                });
                let causes: Vec<Cause> = causes.collect();
                match ruling.verdict {
                    Verdict::Allow | Verdict::Skipped | Verdict::Absent => found.causes.extend(causes),
                    Verdict::Deny => found.moot.extend(causes),
                    Verdict::Indeterminate => {
                        let what = Document::Rules { nic: nic.name.clone() };
                        let why = format!("the rules depend on {}", ruling.unresolved.join(", "));
                        found.missing.push(Missing { what, why });
                    }
                }
            }
        }
        found.missing.sort();
        found.missing.dedup();
        found.moot = found.moot.difference(&found.causes).cloned().collect();
        found
    }
}
