//! `az network watcher packet-capture …`.

use serde_json::{Value, json};

use super::probe::{VERSION, machine, of};
use crate::az::failure::Failure;
use crate::az::flatten::flattened;
use crate::az::line::Line;
use crate::az::reference::{identifier, segment};
use crate::az::session::Session;
use crate::az::table::{Command, CommandResult};
use crate::az::update::put_in;
use crate::azure::Verb;

const NAMED: &str = "-n,--name! --location,-l! --no-wait%";

pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::own(
        "network watcher packet-capture create",
        "-n,--name! --resource-group,-g! --vm --target --target-type --storage-account --storage-path --file-path --time-limit# --capture-size# --capture-limit# --filters --no-wait%",
        create,
    ),
    Command::own("network watcher flow-log list", "--location,-l!", flow_logs),
    Command::own("network watcher packet-capture list", "--location,-l!", list),
    Command::own("network watcher packet-capture show", NAMED, show),
    Command::own("network watcher packet-capture show-status", NAMED, status),
    Command::own("network watcher packet-capture stop", NAMED, stop),
    Command::own("network watcher packet-capture delete", NAMED, delete),
];

/// How fields of a filter may be spelled, and how the service spells them.
const FILTER: [&str; 5] = ["protocol", "localIPAddress", "localPort", "remoteIPAddress", "remotePort"];

fn create(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let Some(name) = line.one("--vm").or_else(|| line.one("--target")) else {
        return Err(Failure::new(1, "usage error: --vm NAME_OR_ID | --target NAME_OR_ID"));
    };
    let mut storage = serde_json::Map::new();
    if let Some(account) = line.one("--storage-account") {
        let id = identifier(session, line, "Microsoft.Storage/storageAccounts", account)?;
        storage.insert("storageId".to_owned(), json!(id));
    }
    for (option, field) in [("--storage-path", "storagePath"), ("--file-path", "filePath")] {
        storage.extend(line.one(option).map(|text| (field.to_owned(), json!(text))));
    }
    if storage.is_empty() {
        return Err(Failure::new(
            1,
            "usage error: --storage-account NAME_OR_ID [--storage-path PATH] [--file-path PATH] | --file-path PATH",
        ));
    }
    if line.one("--file-path").is_some_and(|path| !path.ends_with(".cap")) {
        return Err(Failure::new(1, "usage error: --file-path PATH must end with the '*.cap' extension"));
    }
    let filters = line.one("--filters").map(|text| filters(session, text)).transpose()?;
    let (id, region) = machine(session, line, name)?;
    let mut body = json!({"target": id, "targetType": line.one("--target-type").unwrap_or("AzureVM"), "storageLocation": storage,
        "timeLimitInSeconds": line.number("--time-limit").unwrap_or(18_000),
        "totalBytesPerSession": line.number("--capture-limit").unwrap_or(1_073_741_824),
        "bytesToCapturePerPacket": line.number("--capture-size").unwrap_or(0)});
    if let Some(filters) = filters {
        put_in(&mut body, "filters", filters);
    }
    let path = format!("{}/packetCaptures/{}", of(session, &region)?, segment(line.need("--name")?));
    let found = session.call(Verb::Put, &path, VERSION, Some(&json!({"properties": body})))?;
    Ok(Some(flattened(found)).filter(|found| !found.is_null()))
}

/// Reads filters: a list of objects whose fields may be spelled in any case, from the line or from a file.
fn filters(session: &mut Session<'_>, text: &str) -> Result<Value, Failure> {
    let text = session.text(text)?;
    let wrong = |why: String| Failure::new(1, format!("Failed to parse '--filters' argument: {why}"));
    let given: Vec<serde_json::Map<String, Value>> =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let filter = |filter: serde_json::Map<String, Value>| {
        let field = |(name, value): (String, Value)| {
            let bare: String = name.chars().filter(|letter| !matches!(letter, '-' | '_')).collect();
            let known = FILTER.iter().find(|known| known.eq_ignore_ascii_case(&bare));
            let known = known
                .ok_or_else(|| wrong(format!("Model 'PacketCaptureFilter' has no field named '{name}'")))?;
            let value = if value.is_number() { json!(value.to_string()) } else { value };
            Ok(((*known).to_owned(), value))
        };
        filter.into_iter().map(field).collect::<Result<_, _>>().map(Value::Object)
    };
    given.into_iter().map(filter).collect::<Result<Vec<_>, _>>().map(Value::Array)
}

/// Lists the flow logs of a region.
fn flow_logs(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let region = session.region(line.need("--location")?)?;
    let path = format!("{}/flowLogs", of(session, &region)?);
    let found = session.list(&path, &[("api-version", VERSION)], None)?;
    Ok(Some(flattened(Value::Array(found))))
}

fn all(session: &mut Session<'_>, line: &Line) -> Result<String, Failure> {
    let region = session.region(line.need("--location")?)?;
    Ok(format!("{}/packetCaptures", of(session, &region)?))
}

fn place(session: &mut Session<'_>, line: &Line) -> Result<String, Failure> {
    Ok(format!("{}/{}", all(session, line)?, segment(line.need("--name")?)))
}

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = all(session, line)?;
    let found = session.list(&path, &[("api-version", VERSION)], None)?;
    Ok(Some(flattened(Value::Array(found))))
}

fn show(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = place(session, line)?;
    session.get(&path, VERSION).map(|found| Some(flattened(found)))
}

fn status(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = format!("{}/queryStatus", place(session, line)?);
    let found = session.call(Verb::Post, &path, VERSION, None)?;
    Ok(Some(flattened(found)).filter(|found| !found.is_null()))
}

fn stop(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = format!("{}/stop", place(session, line)?);
    session.call(Verb::Post, &path, VERSION, None).map(|_| None)
}

fn delete(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = place(session, line)?;
    session.call(Verb::Delete, &path, VERSION, None).map(|_| None)
}
