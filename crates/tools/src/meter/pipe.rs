//! Files of `KEY=VALUE` lines, as older pipe meters read them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

use crate::config::{Environment, read_small};
use crate::print::note;

/// Keys that mean something here.
const KNOWN: [&str; 22] = [
    "SOURCE_IP",
    "DEST_IP",
    "SOURCE_VM_NAME",
    "DEST_VM_NAME",
    "SOURCE_VM_PRIVATE_IP",
    "DEST_VM_PRIVATE_IP",
    "SOURCE_PUBLIC_IP",
    "SOURCE_VM_PUBLIC_IP",
    "SSH_USER",
    "SSH_SOURCE_VM_KEY_PATH",
    "SSH_DEST_VM_KEY_PATH",
    "SSH_KEY_PATH",
    "TEST_TYPE",
    "ITERATIONS",
    "STORAGE_ACCOUNT_NAME",
    "STORAGE_CONTAINER_NAME",
    "RESOURCE_GROUP",
    "SUBSCRIPTION_ID",
    "PROVIDER",
    "IS_BASELINE",
    "COMPARE_BASELINE",
    "SESSION_ID",
];
/// Keys that such files have, and that are not needed: what they say is looked up.
const NOT_NEEDED: [&str; 6] =
    ["LOCATION", "VNET_NAME", "SUBNET_NAME", "SOURCE_NSG_NAME", "DEST_NSG_NAME", "AUDIT_DIR"];

/// Reads such a file; `None` where it is another one.
pub(super) fn read(
    path: &Path,
    environment: &Environment,
) -> anyhow::Result<Option<BTreeMap<String, String>>> {
    let text = read_small(path)
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("reading the configuration {}", path.display()))?;
    let key = |line: &str| line.split_once('=').map(|(key, _)| key.trim().to_owned());
    let is_ours = text.lines().filter_map(key).any(|key| KNOWN.contains(&key.as_str()));
    Ok(is_ours.then(|| values(&text, environment)))
}

fn values(text: &str, environment: &Environment) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            note(&format!("warning: line {} is none of KEY=VALUE and is left out", at + 1));
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        if !KNOWN.contains(&key) {
            if !NOT_NEEDED.contains(&key) {
                note(&format!("warning: line {} has a key that is not known and is left out", at + 1));
            }
            continue;
        }
        let value = expanded(&unquoted(value), &values, environment);
        if !value.is_empty() {
            values.insert(key.to_owned(), value);
        }
    }
    values
}

/// Takes quotes off; without quotes a comment ends the value.
fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or_default().to_owned();
        }
    }
    value.split('#').next().unwrap_or_default().trim().to_owned()
}

/// Puts earlier values and the environment in the place of `$NAME` and `${NAME}`.
fn expanded(value: &str, earlier: &BTreeMap<String, String>, environment: &Environment) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (braced, inner) = match after.strip_prefix('{') {
            Some(inner) => (true, inner),
            None => (false, after),
        };
        let end =
            inner.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(inner.len());
        let (name, behind) = inner.split_at(end);
        rest = if braced { behind.strip_prefix('}').unwrap_or(behind) } else { behind };
        if name.is_empty() {
            out.push('$');
        } else {
            out.push_str(
                earlier.get(name).map(String::as_str).or_else(|| environment.text(name)).unwrap_or_default(),
            );
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_quotes_comments_and_variables() {
        let environment = Environment::from([("HOME", "/home/ops")]);
        let text = "# a pipe\nSOURCE_IP=10.0.1.4 # the source\nDEST_IP='10.0.1.5'\nSSH_USER=\"ops # really\"\nSSH_KEY_PATH=${HOME}/.ssh/id_$SSH_USER\nVNET_NAME=v\nno key\nIS_BASELINE=\n";
        let read = values(text, &environment);
        let expected = [
            ("DEST_IP", "10.0.1.5"),
            ("SOURCE_IP", "10.0.1.4"),
            ("SSH_KEY_PATH", "/home/ops/.ssh/id_ops # really"),
            ("SSH_USER", "ops # really"),
        ];
        let read: Vec<(&str, &str)> =
            read.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(read, expected);
    }
}
