//! What the platform says of a flow: the next hop, the rule, whether a connection comes up, what hangs together.

use serde_json::{Map, Value, json};

use crate::az::failure::Failure;
use crate::az::flatten::{flattened, group};
use crate::az::line::Line;
use crate::az::reference::{Id, identifier, segment};
use crate::az::session::Session;
use crate::az::table::{Command, CommandResult};
use crate::az::update::put_in;
use crate::azure::Verb;

pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::own("network watcher list", "", list),
    Command::own(
        "network watcher show-next-hop",
        "--resource-group,-g! --vm! --source-ip! --dest-ip! --nic --no-wait%",
        next_hop,
    ),
    Command::own(
        "network watcher test-ip-flow",
        "--resource-group,-g --direction! --protocol! --vm! --local! --remote! --nic --no-wait%",
        flow,
    ),
    Command::own(
        "network watcher test-connectivity",
        "--resource-group,-g --source-resource! --source-port# --dest-resource --dest-address --dest-port# --protocol --no-wait%",
        connectivity,
    ),
    Command::own(
        "network watcher troubleshooting show",
        "--resource! --resource-type --resource-group,-g --watcher-name --watcher-resource-group",
        troubleshooting,
    ),
    Command::own(
        "network watcher show-topology",
        "--resource-group,-g --location,-l --vnet --subnet",
        topology,
    ),
];

fn list(session: &mut Session<'_>, _line: &Line) -> CommandResult {
    Ok(Some(flattened(Value::Array(all(session)?))))
}

fn asked(session: &mut Session<'_>, region: &str, action: &str, body: &Value) -> CommandResult {
    let path = format!("{}/{action}", of(session, region)?);
    let found = session.call(Verb::Post, &path, VERSION, Some(body))?;
    Ok(Some(flattened(found)).filter(|found| !found.is_null()))
}

/// Adds the interface that is asked about, where one is named.
fn interface(session: &Session<'_>, line: &Line, body: &mut Value) -> Result<(), Failure> {
    if let Some(name) = line.one("--nic") {
        let id = identifier(session, line, "Microsoft.Network/networkInterfaces", name)?;
        put_in(body, "targetNicResourceId", json!(id));
    }
    Ok(())
}

fn next_hop(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let (id, region) = machine(session, line, line.need("--vm")?)?;
    let mut body = json!({"targetResourceId": id, "sourceIPAddress": line.need("--source-ip")?,
        "destinationIPAddress": line.need("--dest-ip")?});
    interface(session, line, &mut body)?;
    asked(session, &region, "nextHop", &body)
}

fn flow(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let end = |option: &str| -> Result<(String, String), Failure> {
        let wrong = || {
            Failure::new(
                1,
                "usage error: the format of the '--local' and '--remote' should be like x.x.x.x:port",
            )
        };
        let (address, port) = line.need(option)?.rsplit_once(':').ok_or_else(wrong)?;
        Ok((address.to_owned(), port.to_owned()))
    };
    let word = |option: &str, known: &[&'static str]| -> Result<&'static str, Failure> {
        let word = line.need(option)?;
        let found = known.iter().find(|known| known.eq_ignore_ascii_case(word)).copied();
        found.ok_or_else(|| Failure::choice(session.command.name, option, word, known))
    };
    let (direction, protocol) =
        (word("--direction", &["Inbound", "Outbound"])?, word("--protocol", &["TCP", "UDP"])?);
    let ((local, local_port), (remote, remote_port)) = (end("--local")?, end("--remote")?);
    let (id, region) = machine(session, line, line.need("--vm")?)?;
    let mut body = json!({"targetResourceId": id, "direction": direction, "protocol": protocol, "localIPAddress": local,
        "localPort": local_port, "remoteIPAddress": remote, "remotePort": remote_port});
    interface(session, line, &mut body)?;
    asked(session, &region, "ipFlowVerify", &body)
}

fn connectivity(session: &mut Session<'_>, line: &Line) -> CommandResult {
    const PREVIEW: &str = "This command is in preview and under development. Reference and support levels: https://aka.ms/CLI_refstatus";
    session.warnings.push(PREVIEW.to_owned());
    let (id, region) = machine(session, line, line.need("--source-resource")?)?;
    let mut source = Map::from_iter([("resourceId".to_owned(), json!(id))]);
    source.extend(line.number("--source-port").map(|port| ("port".to_owned(), json!(port))));
    let mut destination = Map::new();
    if let Some(name) = line.one("--dest-resource") {
        let id = identifier(session, line, "Microsoft.Compute/virtualMachines", name)?;
        destination.insert("resourceId".to_owned(), json!(id));
    }
    if let Some(address) = line.one("--dest-address") {
        destination.insert("address".to_owned(), json!(address));
    }
    if destination.is_empty() {
        return Err(Failure::new(1, "usage error: --dest-resource ID_OR_NAME | --dest-address ADDRESS"));
    }
    destination.extend(line.number("--dest-port").map(|port| ("port".to_owned(), json!(port))));
    let mut body = json!({"source": source, "destination": destination});
    if let Some(word) = line.one("--protocol") {
        let known =
            ["Tcp", "Http", "Https", "Icmp"].into_iter().find(|known| known.eq_ignore_ascii_case(word));
        put_in(&mut body, "protocol", json!(known.unwrap_or(word)));
    }
    asked(session, &region, "connectivityCheck", &body)
}

fn troubleshooting(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let kind = match line.one("--resource-type") {
        Some(kind) if kind.eq_ignore_ascii_case("vnetGateway") => "Microsoft.Network/virtualNetworkGateways",
        Some(_) | None => "Microsoft.Network/connections",
    };
    let id = identifier(session, line, kind, line.need("--resource")?)?;
    let parsed = Id::parse(&id).ok_or_else(|| Failure::new(1, format!("invalid resource ID: {id}")))?;
    let kind = kind.rsplit('/').next().unwrap_or_default();
    let path =
        session.inside(parsed.group, &format!("{}/{kind}/{}", parsed.provider, segment(parsed.name())))?;
    let found = session.get(&path, VERSION)?;
    let region = found.get("location").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    asked(session, &region, "queryTroubleshootResult", &json!({"targetResourceId": id}))
}

fn topology(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let mut body = Map::new();
    for (option, field, kind) in [
        ("--vnet", "targetVirtualNetwork", "Microsoft.Network/virtualNetworks"),
        ("--subnet", "targetSubnet", "Microsoft.Network/subnets"),
    ] {
        if let Some(name) = line.one(option) {
            body.insert(field.to_owned(), json!({"id": identifier(session, line, kind, name)?}));
        }
    }
    if let Some(group) = line.one("--resource-group").filter(|_| body.is_empty()) {
        body.insert("targetResourceGroupName".to_owned(), json!(group));
    }
    let region = match (line.one("--location"), line.one("--resource-group")) {
        (Some(location), _) => session.region(location)?,
        (None, Some(group)) => {
            let path = session.place(&format!("/resourcegroups/{}", segment(group)))?;
            let found = session.get(&path, "2024-11-01")?;
            found.get("location").and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        (None, None) => {
            return Err(Failure::new(1, "usage error: --resource-group NAME | --location NAME"));
        }
    };
    asked(session, &region, "topology", &Value::Object(body))
}

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
