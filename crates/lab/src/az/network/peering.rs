//! `az network vnet peering …`.

use serde_json::{Value, json};

use super::kind::{path, put};
use crate::az::line::Line;
use crate::az::reference::identifier;
use crate::az::session::{Session, checked};
use crate::az::table::{Command, Told};
use crate::az::update::{change, put_in, writable};
use crate::azure::Verb;

const PEERINGS: &str = "Microsoft.Network/virtualNetworks/{--vnet-name}/virtualNetworkPeerings";
const PEERING: &str = "Microsoft.Network/virtualNetworks/{--vnet-name}/virtualNetworkPeerings/{--name}";
const VERSION: &str = "2023-11-01";

/// The commands. The parts of an identifier stand in its order.
pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::list("network vnet peering list", "--resource-group,-g! --vnet-name! --max-items#", PEERINGS, VERSION),
    Command::show("network vnet peering show", "--vnet-name!^ -n,--name!^ --resource-group,-g!^", PEERING, VERSION),
    Command::delete("network vnet peering delete", "--vnet-name!^ -n,--name!^ --resource-group,-g!^ --no-wait%", PEERING, VERSION),
    Command::own(
        "network vnet peering create",
        "-n,--name! --remote-vnet! --resource-group,-g! --vnet-name! --allow-vnet-access% --allow-forwarded-traffic% --allow-gateway-transit% --use-remote-gateways% --no-wait%",
        create,
    )
    .at(PEERING, VERSION),
    Command::own(
        "network vnet peering update",
        "--vnet-name!^ -n,--name!^ --resource-group,-g!^ --no-wait% --set* --add* --remove*",
        update,
    )
    .at(PEERING, VERSION),
];

const FLAGS: [(&str, &str); 4] = [
    ("--allow-vnet-access", "allowVirtualNetworkAccess"),
    ("--allow-forwarded-traffic", "allowForwardedTraffic"),
    ("--allow-gateway-transit", "allowGatewayTransit"),
    ("--use-remote-gateways", "useRemoteGateways"),
];

fn create(session: &mut Session<'_>, line: &Line) -> Told {
    let remote = identifier(session, line, "Microsoft.Network/virtualNetworks", line.need("--remote-vnet")?)?;
    let mut properties = json!({"remoteVirtualNetwork": {"id": remote}});
    for (option, field) in FLAGS {
        put_in(&mut properties, field, json!(line.wants(option).unwrap_or(false)));
    }
    put(session, line, &json!({"name": line.need("--name")?, "properties": properties}))
}

fn update(session: &mut Session<'_>, line: &Line) -> Told {
    let place = path(session, line)?;
    let found = session.ask(Verb::Get, &place, &[("api-version", session.command.version)], None)?;
    let mut body: Value = checked(&found)?;
    writable(&mut body);
    change(&mut body, line)?;
    put(session, line, &body)
}
