//! `az network vnet subnet …`.

use serde_json::{Map, Value, json};

use super::kind::{path, put};
use crate::az::failure::Failure;
use crate::az::line::Line;
use crate::az::reference::identifier;
use crate::az::session::{Session, checked};
use crate::az::table::{Command, CommandResult};
use crate::az::update::{change, writable};
use crate::azure::Verb;

const SUBNETS: &str = "Microsoft.Network/virtualNetworks/{--vnet-name}/subnets";
const SUBNET: &str = "Microsoft.Network/virtualNetworks/{--vnet-name}/subnets/{--name}";
const VERSION: &str = "2024-07-01";

/// The commands. The parts of an identifier stand in its order.
pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::list("network vnet subnet list", "--resource-group,-g! --vnet-name! --max-items#", SUBNETS, VERSION),
    Command::show("network vnet subnet show", "--vnet-name!^ -n,--name!^ --resource-group,-g!^", SUBNET, VERSION),
    Command::own(
        "network vnet subnet update",
        "--vnet-name!^ -n,--name!^ --resource-group,-g!^ --address-prefixes,--address-prefix* --network-security-group,--nsg --route-table --nat-gateway --service-endpoints* --no-wait% --set* --add* --remove*",
        update,
    )
    .at(SUBNET, VERSION),
];

/// What a subnet holds that nobody writes.
const OWN: [&str; 8] = [
    "ipConfigurations",
    "ipConfigurationProfiles",
    "privateEndpoints",
    "serviceAssociationLinks",
    "resourceNavigationLinks",
    "purpose",
    "provisioningState",
    "etag",
];

/// An option, its field, and the type of what it names.
const REFERENCES: [(&str, &str, &str); 3] = [
    ("--network-security-group", "networkSecurityGroup", "Microsoft.Network/networkSecurityGroups"),
    ("--route-table", "routeTable", "Microsoft.Network/routeTables"),
    ("--nat-gateway", "natGateway", "Microsoft.Network/natGateways"),
];

/// Reads a subnet, changes what was asked for, and sends all of it that can be written: what is absent then is detached.
fn update(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let place = path(session, line)?;
    let found = session.ask(Verb::Get, &place, &[("api-version", session.command.version)], None)?;
    let mut body = checked(&found)?;
    writable(&mut body);
    if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
        OWN.iter().for_each(|own| drop(properties.remove(*own)));
        set_properties(session, line, properties)?;
    }
    change(&mut body, line)?;
    put(session, line, &body)
}

fn set_properties(
    session: &Session<'_>,
    line: &Line,
    properties: &mut Map<String, Value>,
) -> Result<(), Failure> {
    match line.many("--address-prefixes") {
        Some([prefix]) => {
            properties.remove("addressPrefixes");
            properties.insert("addressPrefix".to_owned(), json!(prefix));
        }
        Some(prefixes) => {
            properties.remove("addressPrefix");
            properties.insert("addressPrefixes".to_owned(), json!(prefixes));
        }
        None => {}
    }
    if let Some(services) = line.many("--service-endpoints") {
        let named = services.iter().filter(|service| !matches!(service.as_str(), "[]" | "null" | ""));
        let services: Vec<Value> = named.map(|service| json!({"service": service})).collect();
        properties.insert("serviceEndpoints".to_owned(), json!(services));
    }
    for (option, field, kind) in REFERENCES {
        match line.one(option) {
            None => {}
            Some("null") => drop(properties.remove(field)),
            Some(name) => {
                let id = identifier(session, line, kind, name)?;
                properties.insert(field.to_owned(), json!({"id": id}));
            }
        }
    }
    Ok(())
}
