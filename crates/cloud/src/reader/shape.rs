//! From the platform's form of a document to the one that `az` prints.

use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// How deep a document is followed; what lies deeper stays as it is.
const MAX_DEPTH: usize = 100;

/// What `az` makes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// What lies below `properties` stands beside the name, at every level; nothing is left of what is null.
    Flat,
    /// As it came.
    Whole,
    /// As it came, without nulls.
    Event,
    /// All that the command knows of a group, absent fields as null.
    Group,
    /// All that the command knows of a storage account, absent fields as null.
    Account,
}

/// Fields that the models of commands do not know, so that `az` drops them: how a command begins, what the holder's id says of its type,
/// the field.
const DROPPED: &[(&str, &str, &str)] = &[
    ("network nic ", "networkinterfaces", "kind"),
    ("network nic ", "networkinterfaces", "allowPort25Out"),
    ("network nic show-effective-route-table", "", "hasBgpOverride"),
    ("vm nic show", "networkinterfaces", "kind"),
    ("vm nic show", "networkinterfaces", "allowPort25Out"),
    ("vm nic show", "networkinterfaces", "disableTcpStateTracking"),
    ("network watcher packet-capture ", "packetcaptures", "type"),
    ("network vnet-gateway list", "ipconfigurations", "type"),
    ("network express-route list", "expressroutecircuits", "resourceGuid"),
    ("network private-endpoint list", "privateendpoints", "resourceGuid"),
    ("network private-dns zone list", "privatednszones", "resourceGuid"),
    ("network private-dns record-set a list", "a", "provisioningState"),
    ("monitor activity-log list", "", "channels"),
    ("network list-service-tags", "", "networkFeatures"),
];

impl Shape {
    /// Returns what the command prints of a document.
    pub(super) fn apply(self, command: &str, document: Value) -> Value {
        let mut shaped = match self {
            Self::Flat => walk(document, true, MAX_DEPTH),
            Self::Whole => document,
            Self::Event => walk(without_nulls(document), false, MAX_DEPTH),
            Self::Group => each(document, &|group| known(&fields(GROUP), &group)),
            Self::Account => each(document, &account),
        };
        let rules: Vec<(&str, &str)> = DROPPED
            .iter()
            .filter(|(begin, ..)| command.starts_with(begin))
            .map(|(_, holder, field)| (*holder, *field))
            .collect();
        if !rules.is_empty() {
            drop_fields(&rules, &mut shaped);
        }
        shaped
    }
}

/// Changes a document, or each of a list.
fn each(document: Value, change: &dyn Fn(Value) -> Value) -> Value {
    match document {
        Value::Array(list) => Value::Array(list.into_iter().map(change).collect()),
        one @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            change(one)
        }
    }
}

/// Adds its group to whatever has an id; with `lift`, brings up what lies below `properties`.
fn walk(document: Value, lift: bool, left: usize) -> Value {
    if left == 0 {
        return document;
    }
    match document {
        Value::Array(list) => {
            Value::Array(list.into_iter().map(|entry| walk(entry, lift, left - 1)).collect())
        }
        Value::Object(map) => Value::Object(object(map, lift, left - 1)),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

fn object(map: Map<String, Value>, lift: bool, left: usize) -> Map<String, Value> {
    let (mut out, mut below) = (Map::new(), Map::new());
    for (name, value) in map {
        match value {
            Value::Null if lift => {}
            Value::Object(inner) if lift && left > 0 && name == "properties" => {
                below = object(inner, lift, left - 1);
            }
            value @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => drop(out.insert(name, walk(value, lift, left))),
        }
    }
    for (name, value) in below {
        if !out.contains_key(&name) {
            out.insert(name, value);
        } else if name == "type" {
            out.insert("typePropertiesType".to_owned(), value);
        }
    }
    let group = out.get("id").and_then(Value::as_str).and_then(group_of).map(str::to_owned);
    if let Some(group) = group {
        out.insert("resourceGroup".to_owned(), json!(group));
    }
    out
}

/// Returns the group of an id.
pub(super) fn group_of(id: &str) -> Option<&str> {
    let mut parts = id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case("resourceGroups"))?;
    parts.next().filter(|group| !group.is_empty())
}

fn without_nulls(document: Value) -> Value {
    match document {
        Value::Array(list) => Value::Array(list.into_iter().map(without_nulls).collect()),
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

fn drop_fields(rules: &[(&str, &str)], document: &mut Value) {
    match document {
        Value::Array(list) => list.iter_mut().for_each(|entry| drop_fields(rules, entry)),
        Value::Object(map) => {
            let id = map.get("id").and_then(Value::as_str).unwrap_or_default();
            let kind = id.rsplit('/').nth(1).unwrap_or_default().to_ascii_lowercase();
            let is_dropped =
                |name: &String| rules.iter().any(|(holder, field)| name == field && kind.ends_with(holder));
            map.retain(|name, _| !is_dropped(name));
            map.values_mut().for_each(|value| drop_fields(rules, value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// All fields of a group. An object stands for the fields of one, a list of one for the fields of its entries.
const GROUP: &str =
    r#"{"id":0,"location":0,"managedBy":0,"name":0,"properties":{"provisioningState":0},"tags":0,"type":0}"#;

/// All fields of a storage account.
const ACCOUNT: &str = r#"{"accessTier":0,"accountMigrationInProgress":0,"allowBlobPublicAccess":0,"allowCrossTenantReplication":0,
"allowSharedKeyAccess":0,"allowSharedKeyAccessForServices":0,"allowedCopyScope":0,"azureFilesIdentityBasedAuthentication":0,
"blobRestoreStatus":0,"creationTime":0,"customDomain":0,"dataCollaborationPolicyProperties":0,"defaultToOAuthAuthentication":0,
"dnsEndpointType":0,"dualStackEndpointPreference":0,"enableExtendedGroups":0,"enableHttpsTrafficOnly":0,"enableNfsV3":0,
"encryption":{"encryptionIdentity":0,"keySource":0,"keyVaultProperties":0,"requireInfrastructureEncryption":0,
"services":{"blob":{"enabled":0,"keyType":0,"lastEnabledTime":0},"file":{"enabled":0,"keyType":0,"lastEnabledTime":0},"queue":0,"table":0}},
"extendedLocation":0,"failoverInProgress":0,"geoPriorityReplicationStatus":0,"geoReplicationStats":0,"id":0,"identity":0,
"immutableStorageWithVersioning":0,"isHnsEnabled":0,"isLocalUserEnabled":0,"isSftpEnabled":0,"isSkuConversionBlocked":0,
"keyCreationTime":{"key1":0,"key2":0},"keyPolicy":0,"kind":0,"largeFileSharesState":0,"lastGeoFailoverTime":0,"location":0,
"minimumTlsVersion":0,"name":0,"networkRuleSet":{"bypass":0,"defaultAction":0,"ipRules":[{"action":0,"ipAddressOrRange":0}],
"ipv6Rules":[{"action":0,"ipAddressOrRange":0}],"resourceAccessRules":0,
"virtualNetworkRules":[{"action":0,"state":0,"virtualNetworkResourceId":0}]},"placement":0,
"primaryEndpoints":{"blob":0,"dfs":0,"file":0,"internetEndpoints":0,"ipv6Endpoints":0,"microsoftEndpoints":0,"queue":0,"table":0,"web":0},
"primaryLocation":0,"privateEndpointConnections":0,"provisioningState":0,"publicNetworkAccess":0,"routingPreference":0,"sasPolicy":0,
"secondaryEndpoints":0,"secondaryLocation":0,"sku":{"name":0,"tier":0},"statusOfPrimary":0,"statusOfSecondary":0,
"storageAccountSkuConversionStatus":0,"systemData":0,"tags":0,"type":0,"zones":0}"#;

/// What the platform calls otherwise than the command: of an account, and of the entries of its network rules.
const RENAMED: [(&str, &str); 3] = [
    ("networkAcls", "networkRuleSet"),
    ("supportsHttpsTrafficOnly", "enableHttpsTrafficOnly"),
    ("isNfsV3Enabled", "enableNfsV3"),
];
const RENAMED_RULES: [(&str, &str, &str); 3] = [
    ("virtualNetworkRules", "id", "virtualNetworkResourceId"),
    ("ipRules", "value", "ipAddressOrRange"),
    ("ipv6Rules", "value", "ipAddressOrRange"),
];

fn fields(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn known(fields: &Value, document: &Value) -> Value {
    match (fields, document) {
        (Value::Object(fields), Value::Object(found)) => {
            let field = |(name, below): (&String, &Value)| {
                let value = found.get(name).map_or(Value::Null, |value| known(below, value));
                (name.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        (Value::Array(fields), Value::Array(found)) => {
            let below = fields.first().cloned().unwrap_or_default();
            Value::Array(found.iter().map(|entry| known(&below, entry)).collect())
        }
        (_, found) => found.clone(),
    }
}

fn account(mut account: Value) -> Value {
    if let Some(map) = account.as_object_mut() {
        if let Some(Value::Object(properties)) = map.remove("properties") {
            map.extend(properties);
        }
        RENAMED.iter().for_each(|(theirs, ours)| rename(map, theirs, ours));
        for (list, theirs, ours) in RENAMED_RULES {
            let rules = map.get_mut("networkRuleSet").and_then(|rules| rules.get_mut(list));
            for rule in
                rules.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
            {
                rename(rule, theirs, ours);
            }
        }
    }
    let mut account = known(&fields(ACCOUNT), &account);
    moments(false, &mut account);
    walk(account, false, MAX_DEPTH)
}

fn rename(map: &mut Map<String, Value>, theirs: &str, ours: &str) {
    if let Some(value) = map.remove(theirs) {
        map.insert(ours.to_owned(), value);
    }
}

/// Writes all moments anew: texts below a name that ends in `Time`.
fn moments(is_time: bool, document: &mut Value) {
    match document {
        Value::String(text) if is_time => {
            if let Some(anew) = moment(text) {
                *text = anew;
            }
        }
        Value::Object(map) => {
            for (name, value) in map {
                moments(is_time || name.ends_with("Time"), value);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|entry| moments(is_time, entry)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Writes a moment as `az` writes those that it has read: without a fraction that is zero, with an offset.
fn moment(text: &str) -> Option<String> {
    let read = OffsetDateTime::parse(text, &Rfc3339).ok()?.to_offset(UtcOffset::UTC);
    let fraction = match read.microsecond() {
        0 => String::new(),
        micros => format!(".{micros:06}"),
    };
    let (date, clock) = (read.date(), read.time());
    Some(format!("{date}T{:02}:{:02}:{:02}{fraction}+00:00", clock.hour(), clock.minute(), clock.second()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_properties_comes_up_at_every_level() {
        let id = "/subscriptions/s/resourceGroups/g/providers/P/t/n";
        let body = json!({"id": id, "type": "P/t", "gone": null, "properties": {"type": "inner",
            "list": [{"properties": {"a": 1}}], "ref": {"id": "/x/resourcegroups/h/y"}}});
        let printed = json!({"id": id, "type": "P/t", "resourceGroup": "g", "typePropertiesType": "inner",
            "list": [{"a": 1}], "ref": {"id": "/x/resourcegroups/h/y", "resourceGroup": "h"}});
        assert_eq!(Shape::Flat.apply("network vnet show", body), printed);
    }

    #[test]
    fn odd_documents_do_no_harm() {
        let deep = (0..120).fold(json!(1), |inner, _| json!({"properties": inner}));
        for odd in [
            json!(null),
            json!([]),
            json!(7),
            json!({"id": 7, "properties": 5}),
            json!({"properties": null}),
            deep,
        ] {
            for shape in [Shape::Flat, Shape::Whole, Shape::Event, Shape::Group, Shape::Account] {
                drop(shape.apply("network nic list", odd.clone()));
            }
        }
    }

    #[test]
    fn moments_lose_a_fraction_that_is_zero() {
        assert_eq!(moment("2025-05-20T08:00:00.0000000Z").as_deref(), Some("2025-05-20T08:00:00+00:00"));
        assert_eq!(
            moment("2025-05-20T10:00:00.5+02:00").as_deref(),
            Some("2025-05-20T08:00:00.500000+00:00")
        );
    }
}
