//! One digest of everything that a host's rules say, whatever was counted in between.

use super::view::Host;
use crate::netfilter::diff::key;
use crate::netfilter::ipset::content;
use crate::netfilter::ruleset::{Ruleset, Table};
use ghost_base::Digest;

impl Host {
    /// Digests the content: two hosts with the same rules in the same order have the same one, whatever packets were counted,
    /// whichever numbers `nft` gave, and in whatever order tables and elements were printed.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut fields: Vec<String> = Vec::new();
        for backend in &self.backends {
            fields.push(format!("source {}", backend.source));
            match &backend.ruleset {
                Some(ruleset) => rules(ruleset, &mut fields),
                None => fields.push("could not be read".to_owned()),
            }
        }
        let mut sets: Vec<_> = self.ipsets.iter().collect();
        sets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for set in sets {
            fields.push(format!("ipset {} {} {}", set.name, set.kind, set.options.join(" ")));
            let mut members: Vec<String> = set.members.iter().map(content).collect();
            members.sort_unstable();
            fields.append(&mut members);
        }
        Digest::of_fields(fields.iter().map(String::as_str))
    }
}

fn rules(ruleset: &Ruleset, fields: &mut Vec<String>) {
    let mut tables: Vec<&Table> = ruleset.tables.iter().collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    for table in tables {
        let flags = table.flags.as_ref().map(key::content).unwrap_or_default();
        fields.push(format!("table {} {} {flags}", table.name, table.dormant));
        let mut chains: Vec<_> = table.chains.iter().collect();
        chains.sort_by(|a, b| a.name.cmp(&b.name));
        for chain in chains {
            let policy = chain.policy.as_deref().unwrap_or("-").to_ascii_lowercase();
            let base = chain.base.as_ref().map(|base| {
                let device = base.device.as_ref().map(key::content).unwrap_or_default();
                format!("{} {} {} {device}", base.kind, base.hook, base.priority)
            });
            fields.push(format!("chain {} {policy} {}", chain.name, base.unwrap_or_default()));
            fields.extend(chain.rules.iter().map(key::rule));
        }
        for set in &table.sets {
            fields.push(format!("set {} {} {}", set.name, set.is_map, key::object(&set.about)));
            let mut elements: Vec<String> = set.elements.iter().map(key::member).collect();
            elements.sort_unstable();
            fields.append(&mut elements);
        }
        for object in &table.objects {
            fields.push(format!("{} {} {}", object.kind, object.name, key::object(&object.about)));
        }
    }
}
