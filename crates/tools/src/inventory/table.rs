//! A table: name, address, user, port, key, jump; with those words as its first line in any order.

use super::Entries;
use crate::config::HostEntry;

const COLUMNS: [&str; 6] = ["name", "address", "user", "port", "key", "jump"];

/// Tells whether a text is one.
pub(super) fn is_one(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    fields(first).is_some_and(|fields| fields.len() > 1 && fields.iter().any(|field| field == "name"))
}

/// Reads one.
pub(super) fn parse(text: &str) -> anyhow::Result<Entries> {
    let mut entries = Entries::new();
    let mut columns: Vec<String> = COLUMNS.map(str::to_owned).to_vec();
    let lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    for (count, (at, line)) in lines.enumerate() {
        let row = fields(line).ok_or_else(|| anyhow::anyhow!("line {}: a quote is not closed", at + 1))?;
        let lower: Vec<String> = row.iter().map(|field| field.to_ascii_lowercase()).collect();
        if count == 0 && lower.iter().any(|field| field == "name" || field == "hostname") {
            columns = lower.into_iter().map(|field| known(&field)).collect();
            continue;
        }
        let value = |column: &str| {
            let at = columns.iter().position(|known| known == column)?;
            row.get(at).filter(|field| !field.is_empty()).cloned()
        };
        let Some(name) = value("name") else { anyhow::bail!("line {}: it has no name", at + 1) };
        let port = value("port").map(|port| port.parse::<u16>());
        let port = port.transpose().map_err(|_| anyhow::anyhow!("line {}: the port is none", at + 1))?;
        let entry = HostEntry {
            local: false,
            address: value("address"),
            user: value("user"),
            port,
            key: value("key").map(Into::into),
            jump: value("jump"),
        };
        entries.insert(name, entry);
    }
    Ok(entries)
}

/// Returns what other programs call a column by the name that it has here.
fn known(field: &str) -> String {
    match field {
        "hostname" | "host" => "name",
        "ip" | "ip address" | "ip_address" => "address",
        "login" | "username" => "user",
        "identity" | "identity_file" => "key",
        "bastion" | "proxyjump" => "jump",
        other => other,
    }
    .to_owned()
}

/// Splits a line at commas; quotes keep them. Nothing where a quote is not closed.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = vec![String::new()];
    let mut chars = line.trim_end_matches('\r').chars().peekable();
    let mut quoted = false;
    while let Some(char) = chars.next() {
        let last = fields.last_mut()?;
        match char {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                last.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => last.push(char),
        }
    }
    (!quoted).then(|| fields.into_iter().map(|field| field.trim().to_owned()).collect())
}
