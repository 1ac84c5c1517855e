//! `az network route-table route …`.

use serde_json::{Map, json};

use super::kind::put;
use crate::az::failure::Failure;
use crate::az::line::Line;
use crate::az::session::Session;
use crate::az::table::{Command, CommandResult};

const ROUTES: &str = "Microsoft.Network/routeTables/{--route-table-name}/routes";
const ROUTE: &str = "Microsoft.Network/routeTables/{--route-table-name}/routes/{--name}";
const VERSION: &str = "2025-07-01";

/// The commands. The parts of an identifier stand in its order.
pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::list("network route-table route list", "--resource-group,-g! --route-table-name! --max-items#", ROUTES, VERSION),
    Command::show("network route-table route show", "--route-table-name!^ -n,--name!^ --resource-group,-g!^", ROUTE, VERSION),
    Command::delete(
        "network route-table route delete",
        "--route-table-name!^ -n,--name!^ --resource-group,-g!^ --no-wait%",
        ROUTE,
        VERSION,
    ),
    Command::own(
        "network route-table route create",
        "-n,--name! --resource-group,-g! --route-table-name! --address-prefix! --next-hop-type! --next-hop-ip-address --no-wait%",
        create,
    )
    .at(ROUTE, VERSION),
];

const HOPS: [&str; 6] =
    ["Internet", "None", "VirtualAppliance", "VirtualApplianceEcmp", "VirtualNetworkGateway", "VnetLocal"];

fn create(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let mut properties = Map::new();
    if let Some(prefix) = line.one("--address-prefix") {
        properties.insert("addressPrefix".to_owned(), json!(prefix));
    }
    if let Some(word) = line.one("--next-hop-type") {
        let Some(known) = HOPS.iter().find(|known| known.eq_ignore_ascii_case(word)) else {
            return Err(Failure::choice(session.command.name, "--next-hop-type", word, &HOPS));
        };
        properties.insert("nextHopType".to_owned(), json!(known));
    }
    if let Some(address) = line.one("--next-hop-ip-address") {
        properties.insert("nextHopIpAddress".to_owned(), json!(address));
    }
    put(session, line, &json!({"name": line.need("--name")?, "properties": properties}))
}
