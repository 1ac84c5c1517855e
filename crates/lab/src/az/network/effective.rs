//! What holds at an interface in effect, what addresses it has, and which tags there are.

use serde_json::{Value, json};

use super::kind::path;
use crate::az::flatten::flattened;
use crate::az::line::Line;
use crate::az::reference::segment;
use crate::az::session::Session;
use crate::az::table::{Command, CommandResult};
use crate::azure::Verb;

const NAMED: &str = "-n,--name!^ --resource-group,-g!^ --no-wait%";

pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::own("network nic show-effective-route-table", NAMED, effective)
        .at("Microsoft.Network/networkInterfaces/{--name}/effectiveRouteTable", "2022-01-01")
        .rows_in("value", route),
    Command::own("network nic list-effective-nsg", NAMED, effective)
        .at("Microsoft.Network/networkInterfaces/{--name}/effectiveNetworkSecurityGroups", "2022-01-01"),
    Command::own(
        "network vnet-gateway list-bgp-peer-status",
        "-n,--name!^ --resource-group,-g!^ --peer --no-wait%",
        effective,
    )
    .at("Microsoft.Network/virtualNetworkGateways/{--name}/getBgpPeerStatus", "2023-09-01"),
    Command::own("network vnet-gateway list-learned-routes", NAMED, effective)
        .at("Microsoft.Network/virtualNetworkGateways/{--name}/getLearnedRoutes", "2022-01-01"),
    Command::own(
        "network vnet-gateway list-advertised-routes",
        "-n,--name!^ --resource-group,-g!^ --peer! --no-wait%",
        effective,
    )
    .at("Microsoft.Network/virtualNetworkGateways/{--name}/getAdvertisedRoutes", "2023-09-01"),
    Command::own("network application-gateway show-backend-health", NAMED, effective)
        .at("Microsoft.Network/applicationGateways/{--name}/backendhealth", "2023-11-01"),
    Command::own("network application-gateway start", NAMED, effective)
        .at("Microsoft.Network/applicationGateways/{--name}/start", "2023-11-01"),
    Command::own("network application-gateway stop", NAMED, effective)
        .at("Microsoft.Network/applicationGateways/{--name}/stop", "2023-11-01"),
    Command::own("network nic ip-config list", "--nic-name! --resource-group,-g!", addresses)
        .at("Microsoft.Network/networkInterfaces/{--nic-name}", "2023-11-01"),
    Command::own("network list-service-tags", "--location,-l!", tags).at("serviceTags", "2022-01-01"),
];

fn effective(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    let found = session.call(Verb::Post, &path, session.command.version, None)?;
    Ok(Some(flattened(found)).filter(|found| !found.is_null()))
}

fn addresses(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    let found = session.get(&path, session.command.version)?;
    let found = found.pointer("/properties/ipConfigurations").cloned().unwrap_or_else(|| json!([]));
    Ok(Some(flattened(found)))
}

fn tags(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let region = session.region(line.need("--location")?)?;
    let place = format!("/providers/Microsoft.Network/locations/{}/serviceTags", segment(&region));
    let path = session.place(&place)?;
    // Here the properties of an entry stay where they are.
    session.get(&path, session.command.version).map(Some)
}

/// A row of a table of routes.
fn route(route: &Value) -> Vec<(&'static str, Value)> {
    let joined = |field: &str| {
        let words = route.get(field).and_then(Value::as_array).into_iter().flatten();
        Value::from(words.filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
    };
    let own = |field: &str| route.get(field).cloned().unwrap_or_default();
    vec![
        ("Source", own("source")),
        ("State", own("state")),
        ("Address Prefix", joined("addressPrefix")),
        ("Next Hop Type", own("nextHopType")),
        ("Next Hop IP", joined("nextHopIpAddress")),
    ]
}
