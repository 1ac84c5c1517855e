//! Machines, their interfaces and extensions.

use serde_json::{Value, json};

use super::{detail, script};
use crate::az::failure::Failure;
use crate::az::flatten::flattened;
use crate::az::line::Line;
use crate::az::network::kind::{self, path};
use crate::az::reference::Id;
use crate::az::session::{Session, checked};
use crate::az::table::{Command, CommandResult};
use crate::azure::Verb;

const MACHINES: &str = "Microsoft.Compute/virtualMachines";
const MACHINE: &str = "Microsoft.Compute/virtualMachines/{--name}";
const OF: &str = "Microsoft.Compute/virtualMachines/{--vm-name}";
const VERSION: &str = "2026-04-01";

pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::own("vm list", "--resource-group,-g --show-details,-d?", list)
        .at(MACHINES, VERSION)
        .rows(detail::row),
    Command::own("vm show", "--resource-group,-g!^ --name,-n!^ --show-details,-d?", show)
        .at(MACHINE, VERSION)
        .rows(detail::row)
        .early(),
    Command::own("vm get-instance-view", "--resource-group,-g!^ --name,-n!^", view)
        .at(MACHINE, VERSION)
        .rows(detail::view_row)
        .early(),
    Command::own("vm list-ip-addresses", "--resource-group,-g --name,-n", detail::addresses)
        .rows(detail::address_row),
    Command::own("vm nic list", "--resource-group,-g! --vm-name!", nics).at(OF, VERSION),
    Command::own("vm nic show", "--resource-group,-g! --vm-name! --nic!", nic).at(OF, VERSION),
    Command::list(
        "vm extension list",
        "--resource-group,-g!^ --vm-name!^",
        "Microsoft.Compute/virtualMachines/{--vm-name}/extensions",
        "2024-11-01",
    )
    .rows(detail::extension_row)
    .early(),
    Command::show(
        "vm extension show",
        "--resource-group,-g!^ --vm-name!^ --name,-n!^",
        "Microsoft.Compute/virtualMachines/{--vm-name}/extensions/{--name}",
        "2024-11-01",
    )
    .rows(detail::extension_row)
    .early(),
    Command::own("vm run-command invoke", script::OPTIONS, script::invoke)
        .at("Microsoft.Compute/virtualMachines/{--name}/runCommand", "2024-11-01")
        .early(),
    Command::own("vm run-command list", "--resource-group,-g! --vm-name!", script::list)
        .at("Microsoft.Compute/virtualMachines/{--vm-name}/runCommands", "2024-11-01"),
    Command::own("vm start", "--resource-group,-g!^ --name,-n!^ --no-wait?", done)
        .at("Microsoft.Compute/virtualMachines/{--name}/start", VERSION)
        .early(),
    Command::own("vm stop", "--resource-group,-g!^ --name,-n!^ --no-wait?", done)
        .at("Microsoft.Compute/virtualMachines/{--name}/powerOff", VERSION)
        .early(),
    Command::own("vm deallocate", "--resource-group,-g!^ --name,-n!^ --no-wait?", done)
        .at("Microsoft.Compute/virtualMachines/{--name}/deallocate", VERSION)
        .early(),
    Command::own("vm restart", "--resource-group,-g!^ --name,-n!^ --no-wait?", done)
        .at("Microsoft.Compute/virtualMachines/{--name}/restart", VERSION)
        .early(),
];

/// Reads a machine with what it is like now.
fn viewed(session: &mut Session<'_>, path: &str) -> Result<Value, Failure> {
    let query = [("$expand", "instanceView"), ("api-version", VERSION)];
    checked(&session.ask(Verb::Get, path, &query, None)?)
}

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let found = kind::entries(session, line)?;
    if !line.has("--show-details") {
        return Ok(Some(flattened(Value::Array(found))));
    }
    let ids = found.iter().filter_map(|machine| machine.get("id").and_then(Value::as_str));
    let all: Result<Vec<Value>, Failure> = ids.map(|id| detailed(session, id)).collect();
    all.map(|all| Some(Value::Array(all)))
}

fn detailed(session: &mut Session<'_>, id: &str) -> Result<Value, Failure> {
    let machine = viewed(session, &asked(session, id)?)?;
    detail::detailed(session, flattened(machine))
}

/// Returns the path for an identifier: its group as it is spelled there.
pub(super) fn asked(session: &Session<'_>, id: &str) -> Result<String, Failure> {
    let parsed = Id::parse(id).ok_or_else(|| Failure::new(1, format!("invalid resource ID: {id}")))?;
    let pairs: String = parsed.pairs.iter().map(|(kind, name)| format!("/{kind}/{name}")).collect();
    session.inside(parsed.group, &format!("{}{pairs}", parsed.provider))
}

fn show(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    if line.has("--show-details") {
        let machine = viewed(session, &path)?;
        return detail::detailed(session, flattened(machine)).map(Some);
    }
    session.get(&path, VERSION).map(|found| Some(flattened(found)))
}

fn view(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    viewed(session, &path).map(|found| Some(flattened(found)))
}

/// Returns what a machine says of its interfaces.
fn interfaces(session: &mut Session<'_>, line: &Line) -> Result<Vec<Value>, Failure> {
    let path = path(session, line)?;
    let found = session.get(&path, VERSION)?;
    let attached = found.pointer("/properties/networkProfile/networkInterfaces").and_then(Value::as_array);
    Ok(attached.cloned().unwrap_or_default())
}

fn nics(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let found = interfaces(session, line)?;
    Ok(Some(flattened(Value::Array(found))))
}

fn nic(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let (wanted, machine) = (line.need("--nic")?.to_owned(), line.need("--vm-name")?.to_owned());
    let name = wanted.rsplit('/').next().unwrap_or_default();
    let all = interfaces(session, line)?;
    let is = |id: &&str| id.rsplit('/').next().is_some_and(|known| known.eq_ignore_ascii_case(name));
    let id = all.iter().filter_map(|nic| nic.get("id")?.as_str()).find(is);
    let none = || Failure::new(1, format!("NIC '{name}' not found on VM '{machine}'"));
    let path = asked(session, id.ok_or_else(none)?)?;
    session.get(&path, "2022-01-01").map(|found| Some(flattened(found)))
}

fn done(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    let found = session.call(Verb::Post, &path, VERSION, None)?;
    Ok(Some(found).filter(|found| *found != json!(null)).map(flattened))
}
