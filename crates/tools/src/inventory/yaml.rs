//! An inventory of Ansible as YAML: groups within groups, hosts with variables.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};

use super::variables::Variables;
use super::{Entries, MAX_ENTRIES};

/// Groups within groups go no deeper.
const MAX_DEPTH: usize = 16;

/// Tells whether a text is one.
pub(super) fn is_one(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|first| first == "---" || first.ends_with(':') && !first.starts_with('['))
}

/// Reads one.
pub(super) fn parse(text: &str) -> anyhow::Result<Entries> {
    let documents = Yaml::load_from_str(text)?;
    let mut entries = Entries::new();
    for document in &documents {
        let Some(groups) = document.as_mapping() else { anyhow::bail!("it is no mapping of groups") };
        for (_, group) in groups {
            read(group, &Variables::default(), MAX_DEPTH, &mut entries)?;
        }
    }
    Ok(entries)
}

fn read(group: &Yaml<'_>, above: &Variables, depth: usize, entries: &mut Entries) -> anyhow::Result<()> {
    anyhow::ensure!(depth > 0, "its groups lie too deep in each other");
    let mut own = of(group.as_mapping_get("vars"));
    own.inherit(above);
    if let Some(hosts) = group.as_mapping_get("hosts").and_then(Yaml::as_mapping) {
        for (name, variables) in hosts {
            let Some(name) = name.as_str() else { continue };
            anyhow::ensure!(entries.len() < MAX_ENTRIES, "it names more than {MAX_ENTRIES} machines");
            let mut host = of(Some(variables));
            host.inherit(&own);
            // A host may stand in several groups; where it says something itself counts.
            let entry = host.entry();
            let known = entries.entry(name.to_owned()).or_insert_with(|| entry.clone());
            known.address = known.address.take().or(entry.address);
            known.user = known.user.take().or(entry.user);
            known.port = known.port.or(entry.port);
            known.key = known.key.take().or(entry.key);
        }
    }
    if let Some(children) = group.as_mapping_get("children").and_then(Yaml::as_mapping) {
        for (_, child) in children {
            read(child, &own, depth - 1, entries)?;
        }
    }
    Ok(())
}

/// Returns the variables that are plain values; what is locked away (`!vault`) is none.
fn of(node: Option<&Yaml<'_>>) -> Variables {
    let mut found = Variables::default();
    for (key, value) in node.and_then(Yaml::as_mapping).into_iter().flatten() {
        let Yaml::Value(scalar) = value else { continue };
        let text = match scalar {
            Scalar::String(text) => text.to_string(),
            Scalar::Integer(number) => number.to_string(),
            Scalar::Null | Scalar::Boolean(_) | Scalar::FloatingPoint(_) => continue,
        };
        if let Some(key) = key.as_str() {
            found.set(key, &text);
        }
    }
    found
}
