//! `az storage account …`.

use serde_json::{Map, Value, json};

use super::access::locate;
use crate::az::failure::Failure;
use crate::az::flatten::{group, grouped};
use crate::az::line::Line;
use crate::az::model::{Model, moments};
use crate::az::network::kind::tags;
use crate::az::reference::segment;
use crate::az::session::{Session, checked};
use crate::az::table::{Command, CommandResult};
use crate::azure::Verb;

/// The version of the interface.
pub(super) const VERSION: &str = "2025-08-01";

const RULES: &str = "--account-name,-n! --resource-group,-g --subnet --vnet-name --ip-address* --action";

pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::own("storage account list", "--resource-group,-g", list),
    Command::own("storage account show", "--name,-n! --resource-group,-g", show),
    Command::own(
        "storage account update",
        "--name,-n! --resource-group,-g --default-action --bypass* --public-network-access --https-only% --allow-shared-key-access,-k% --allow-blob-public-access% --min-tls-version --tags*",
        update,
    ),
    Command::own("storage account keys list", "--account-name,-n! --resource-group,-g", keys),
    Command::own("storage account network-rule list", "--account-name,-n! --resource-group,-g", rules),
    Command::own("storage account network-rule add", RULES, add),
    Command::own("storage account network-rule remove", RULES, remove),
];

const MODEL: Model = Model(
    r#"{"accessTier": null, "accountMigrationInProgress": null, "allowBlobPublicAccess": null, "allowCrossTenantReplication": null,
    "allowSharedKeyAccess": null, "allowSharedKeyAccessForServices": null, "allowedCopyScope": null,
    "azureFilesIdentityBasedAuthentication": null, "blobRestoreStatus": null, "creationTime": null, "customDomain": null,
    "dataCollaborationPolicyProperties": null, "defaultToOAuthAuthentication": null, "dnsEndpointType": null,
    "dualStackEndpointPreference": null, "enableExtendedGroups": null, "enableHttpsTrafficOnly": null, "enableNfsV3": null,
    "encryption": {"encryptionIdentity": null, "keySource": null, "keyVaultProperties": null, "requireInfrastructureEncryption": null,
        "services": {"blob": {"enabled": null, "keyType": null, "lastEnabledTime": null},
            "file": {"enabled": null, "keyType": null, "lastEnabledTime": null}, "queue": null, "table": null}},
    "extendedLocation": null, "failoverInProgress": null, "geoPriorityReplicationStatus": null, "geoReplicationStats": null, "id": null,
    "identity": null, "immutableStorageWithVersioning": null, "isHnsEnabled": null, "isLocalUserEnabled": null, "isSftpEnabled": null,
    "isSkuConversionBlocked": null, "keyCreationTime": {"key1": null, "key2": null}, "keyPolicy": null, "kind": null,
    "largeFileSharesState": null, "lastGeoFailoverTime": null, "location": null, "minimumTlsVersion": null, "name": null,
    "networkRuleSet": {"bypass": null, "defaultAction": null, "ipRules": [{"action": null, "ipAddressOrRange": null}],
        "ipv6Rules": [{"action": null, "ipAddressOrRange": null}], "resourceAccessRules": null,
        "virtualNetworkRules": [{"action": null, "state": null, "virtualNetworkResourceId": null}]},
    "placement": null,
    "primaryEndpoints": {"blob": null, "dfs": null, "file": null, "internetEndpoints": null, "ipv6Endpoints": null,
        "microsoftEndpoints": null, "queue": null, "table": null, "web": null},
    "primaryLocation": null, "privateEndpointConnections": null, "provisioningState": null, "publicNetworkAccess": null,
    "routingPreference": null, "sasPolicy": null, "secondaryEndpoints": null, "secondaryLocation": null,
    "sku": {"name": null, "tier": null}, "statusOfPrimary": null, "statusOfSecondary": null,
    "storageAccountSkuConversionStatus": null, "systemData": null, "tags": null, "type": null, "zones": null}"#,
);

/// What the service calls otherwise than the command.
const RENAMED: [(&str, &str); 4] = [
    ("networkAcls", "networkRuleSet"),
    ("supportsHttpsTrafficOnly", "enableHttpsTrafficOnly"),
    ("isNfsV3Enabled", "enableNfsV3"),
    ("immutableStorageWithVersioning", "immutableStorageWithVersioning"),
];

/// Prints an account.
fn printed(mut account: Value) -> Value {
    if let Some(map) = account.as_object_mut() {
        if let Some(Value::Object(properties)) = map.remove("properties") {
            map.extend(properties);
        }
        for (theirs, ours) in RENAMED {
            if let Some(value) = map.remove(theirs) {
                map.insert(ours.to_owned(), value);
            }
        }
        if let Some(rules) = map.get_mut("networkRuleSet") {
            rename(rules, "virtualNetworkRules", "id", "virtualNetworkResourceId");
            rename(rules, "ipRules", "value", "ipAddressOrRange");
            rename(rules, "ipv6Rules", "value", "ipAddressOrRange");
        }
    }
    let mut account = MODEL.of(&account);
    moments(&mut account);
    if let Some(map) = account.get_mut("keyCreationTime") {
        for key in ["key1", "key2"] {
            let anew = map.get(key).and_then(Value::as_str).and_then(crate::az::model::moment);
            if let (Some(anew), Some(at)) = (anew, map.get_mut(key)) {
                *at = Value::from(anew);
            }
        }
    }
    grouped(account)
}

fn rename(rules: &mut Value, list: &str, theirs: &str, ours: &str) {
    for rule in rules.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(map) = rule.as_object_mut()
            && let Some(value) = map.remove(theirs)
        {
            map.insert(ours.to_owned(), value);
        }
    }
}

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = match line.one("--resource-group") {
        Some(group) => session.inside(group, "Microsoft.Storage/storageAccounts")?,
        None => session.place("/providers/Microsoft.Storage/storageAccounts")?,
    };
    let found = session.list(&path, &[("api-version", VERSION)], None)?;
    Ok(Some(found.into_iter().map(printed).collect()))
}

/// Returns the path of an account; without a group all are asked where it is.
fn place(session: &mut Session<'_>, line: &Line, option: &str) -> Result<String, Failure> {
    let name = line.need(option)?;
    let group = match line.one("--resource-group") {
        Some(group) => group.to_owned(),
        None => {
            let found = locate(session, name)?;
            let id = found.get("id").and_then(Value::as_str).unwrap_or_default();
            group(id).unwrap_or_default().to_owned()
        }
    };
    session.inside(&group, &format!("Microsoft.Storage/storageAccounts/{}", segment(name)))
}

fn show(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = place(session, line, "--name")?;
    session.get(&path, VERSION).map(|account| Some(printed(account)))
}

fn changed(session: &mut Session<'_>, path: &str, body: &Value) -> CommandResult {
    let answer = session.ask(Verb::Patch, path, &[("api-version", VERSION)], Some(body))?;
    checked(&answer).map(|account| Some(printed(account)))
}

fn update(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = place(session, line, "--name")?;
    let account = session.get(&path, VERSION)?;
    let property = |field: &str| account.pointer(&format!("/properties/{field}")).cloned();
    let mut properties = Map::new();
    for field in ["encryption", "accessTier", "supportsHttpsTrafficOnly", "networkAcls"] {
        properties.extend(property(field).map(|value| (field.to_owned(), value)));
    }
    // The time since when something is encrypted is nobody's to write.
    let services = properties.get_mut("encryption").and_then(|encryption| encryption.get_mut("services"));
    for service in services.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        if let Some(map) = service.as_object_mut() {
            map.remove("lastEnabledTime");
        }
    }
    let flags = [
        ("--https-only", "supportsHttpsTrafficOnly"),
        ("--allow-shared-key-access", "allowSharedKeyAccess"),
        ("--allow-blob-public-access", "allowBlobPublicAccess"),
    ];
    for (option, field) in flags {
        properties.extend(line.wants(option).map(|wanted| (field.to_owned(), json!(wanted))));
    }
    for (option, field) in
        [("--public-network-access", "publicNetworkAccess"), ("--min-tls-version", "minimumTlsVersion")]
    {
        properties.extend(line.one(option).map(|word| (field.to_owned(), json!(word))));
    }
    if let Some(rules) = properties.get_mut("networkAcls").and_then(Value::as_object_mut) {
        if let Some(word) = line.one("--default-action") {
            let known = ["Allow", "Deny"].into_iter().find(|known| known.eq_ignore_ascii_case(word));
            let wrong = || {
                Failure::usage(format!(
                    "az storage account update: '{word}' is not a valid value for '--default-action'. Allowed values: Allow, Deny."
                ))
            };
            rules.insert("defaultAction".to_owned(), json!(known.ok_or_else(wrong)?));
        }
        if let Some(words) = line.many("--bypass") {
            rules.insert("bypass".to_owned(), json!(words.join(", ")));
        }
    }
    let sku = account.pointer("/sku/name").cloned().unwrap_or_default();
    let tags = tags(line).or_else(|| account.get("tags").cloned()).unwrap_or_else(|| json!({}));
    changed(session, &path, &json!({"sku": {"name": sku}, "tags": tags, "properties": properties}))
}

fn keys(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = format!("{}/listKeys", place(session, line, "--account-name")?);
    let query = [("api-version", VERSION), ("$expand", "kerb")];
    let mut answer = checked(&session.ask(Verb::Post, &path, &query, None)?)?;
    moments(&mut answer);
    Ok(answer.get("keys").cloned())
}

fn rules(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = place(session, line, "--account-name")?;
    let account = printed(session.get(&path, VERSION)?);
    let mut rules = account.get("networkRuleSet").cloned().unwrap_or_default();
    // The real one shows the rules alone.
    if let Some(map) = rules.as_object_mut() {
        map.insert("bypass".to_owned(), Value::Null);
        map.insert("defaultAction".to_owned(), Value::Null);
    }
    Ok(Some(rules).filter(|rules| !rules.is_null()))
}

/// Rules as a line names them: the list they are in, the field that tells them apart, its values.
type Named = Vec<(&'static str, &'static str, Vec<String>)>;

fn named(session: &Session<'_>, line: &Line) -> Result<Named, Failure> {
    let subnet = match (line.one("--subnet"), line.one("--vnet-name")) {
        (Some(id), _) if id.starts_with('/') => Some(id.to_owned()),
        (Some(name), Some(network)) => {
            let kind = "Microsoft.Network/virtualNetworks";
            let id = crate::az::reference::identifier(session, line, kind, network)?;
            Some(format!("{id}/subnets/{name}"))
        }
        (Some(_), None) => {
            return Err(Failure::new(1, "usage error: --subnet ID | --subnet NAME --vnet-name NAME"));
        }
        (None, _) => None,
    };
    let addresses = line.many("--ip-address").unwrap_or_default();
    let addresses: Vec<String> =
        addresses.iter().flat_map(|word| word.split_whitespace().map(str::to_owned)).collect();
    if subnet.is_none() && addresses.is_empty() {
        return Err(Failure::new(1, "usage error: --subnet ID | --ip-address ADDRESS"));
    }
    Ok(vec![("virtualNetworkRules", "id", subnet.into_iter().collect()), ("ipRules", "value", addresses)])
}

/// Reads the rules of an account, changes them, and sends all of them.
fn ruled(
    session: &mut Session<'_>,
    line: &Line,
    change: fn(&mut Vec<Value>, &str, &str, &str),
) -> CommandResult {
    let named = named(session, line)?;
    let path = place(session, line, "--account-name")?;
    let account = session.get(&path, VERSION)?;
    let acls = account.pointer("/properties/networkAcls").and_then(Value::as_object);
    let mut rules = acls.cloned().unwrap_or_default();
    // The state of a rule is nobody's to write.
    for rule in rules.get_mut("virtualNetworkRules").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(map) = rule.as_object_mut() {
            map.remove("state");
        }
    }
    let action = line.one("--action").unwrap_or("Allow");
    for (list, field, values) in named {
        if let Some(entries) = rules.entry(list).or_insert_with(|| json!([])).as_array_mut() {
            values.iter().for_each(|value| change(entries, field, value, action));
        }
    }
    changed(session, &path, &json!({"properties": {"networkAcls": rules}}))
}

fn is(rule: &Value, field: &str, value: &str) -> bool {
    rule.get(field).and_then(Value::as_str).is_some_and(|known| known.eq_ignore_ascii_case(value))
}

fn add(session: &mut Session<'_>, line: &Line) -> CommandResult {
    ruled(session, line, |entries, field, value, action| {
        entries.retain(|rule| !is(rule, field, value));
        entries.push(json!({field: value, "action": action}));
    })
}

fn remove(session: &mut Session<'_>, line: &Line) -> CommandResult {
    ruled(session, line, |entries, field, value, _| entries.retain(|rule| !is(rule, field, value)))
}
