//! The watcher of a region.

use serde_json::Value;

use crate::az::failure::Failure;
use crate::az::flatten::group;
use crate::az::line::Line;
use crate::az::reference::{Id, identifier, segment};
use crate::az::session::Session;

/// The version of the interface.
pub(super) const VERSION: &str = "2022-01-01";

/// Returns all watchers.
pub(super) fn all(session: &mut Session<'_>) -> Result<Vec<Value>, Failure> {
    let path = session.place("/providers/Microsoft.Network/networkWatchers")?;
    session.list(&path, &[("api-version", VERSION)], None)
}

/// Returns the path of the watcher of a region.
pub(super) fn of(session: &mut Session<'_>, region: &str) -> Result<String, Failure> {
    let text = |watcher: &Value, field: &str| {
        watcher.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let all = all(session)?;
    let found = all.iter().find(|watcher| text(watcher, "location").eq_ignore_ascii_case(region));
    let none = || Failure::new(1, format!("network watcher is not enabled for region {region}."));
    let watcher = found.ok_or_else(none)?;
    let (id, name) = (text(watcher, "id"), text(watcher, "name"));
    let rest = format!("Microsoft.Network/networkWatchers/{}", segment(&name));
    session.inside(group(&id).unwrap_or_default(), &rest)
}

/// Returns the identifier of a machine that a line names, and where it is.
pub(super) fn machine(
    session: &mut Session<'_>,
    line: &Line,
    name: &str,
) -> Result<(String, String), Failure> {
    let id = identifier(session, line, "Microsoft.Compute/virtualMachines", name)?;
    let parsed = Id::parse(&id).ok_or_else(|| Failure::new(1, format!("invalid resource ID: {id}")))?;
    let rest = format!("{}/virtualMachines/{}", parsed.provider, segment(parsed.name()));
    let path = session.inside(parsed.group, &rest)?;
    let found = session.get(&path, VERSION)?;
    let location = found.get("location").and_then(Value::as_str).unwrap_or_default();
    Ok((id, location.to_lowercase()))
}
