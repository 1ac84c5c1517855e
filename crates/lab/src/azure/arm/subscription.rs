//! What lies above the providers: the subscription, its groups and regions, everything that is in it.

use serde_json::{Value, json};

use super::graph;
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::request::{Answer, Request, Verb};
use crate::azure::target::Target;

/// Answers what names no subscription.
pub(super) fn outside(cloud: &Cloud, request: &Request) -> Result<Answer, Refusal> {
    match request.path.trim_end_matches('/') {
        "/subscriptions" if request.verb == Verb::Get => {
            let whole = |subscription: &Value| {
                let mut subscription = subscription.clone();
                if let Some(map) = subscription.as_object_mut() {
                    map.entry("authorizationSource").or_insert(json!("RoleBased"));
                    map.entry("managedByTenants").or_insert(json!([]));
                    map.entry("subscriptionPolicies")
                        .or_insert(json!({"locationPlacementId": "Public_2014-09-01",
                        "quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off"}));
                }
                subscription
            };
            let all: Vec<Value> = cloud.about.open_subscriptions().map(whole).collect();
            let count = json!({"type": "Total", "value": all.len()});
            Ok(Answer::json(200, json!({"value": all, "count": count})))
        }
        "/tenants" if request.verb == Verb::Get => {
            let tenant = cloud.about.subscription.get("tenantId").cloned().unwrap_or_default();
            Ok(Answer::json(
                200,
                json!({"value": [{"id": format!("/tenants/{}", tenant.as_str().unwrap_or_default()), "tenantId": tenant}]}),
            ))
        }
        "/providers/Microsoft.Management/managementGroups" if request.verb == Verb::Get => {
            let tenant = cloud.about.subscription.get("tenantId").cloned().unwrap_or_default();
            let row = |group: &Value| {
                let name = group.get("name").and_then(Value::as_str).unwrap_or_default();
                let shown = group.get("displayName").and_then(Value::as_str).unwrap_or(name);
                json!({"id": format!("/providers/Microsoft.Management/managementGroups/{name}"), "name": name,
                    "type": "Microsoft.Management/managementGroups", "properties": {"displayName": shown, "tenantId": tenant}})
            };
            let all: Vec<Value> = cloud.about.management_groups.iter().map(row).collect();
            cloud.list(request, all)
        }
        "/providers/Microsoft.ResourceGraph/resources" if request.verb == Verb::Post => {
            graph::answer(cloud, request)
        }
        path if request.verb == Verb::Get && is_collection(path) => cloud.list(request, Vec::new()),
        _ => Err(Refusal::new(404, "NotFound", format!("The path '{}' was not found.", request.path))),
    }
}

/// Whether a path above all subscriptions names a collection: of a provider, or of the directory.
fn is_collection(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let inside = match parts.next() {
        Some("v1.0") => true,
        Some(first) if first.eq_ignore_ascii_case("providers") => parts.next().is_some(),
        Some(_) | None => false,
    };
    inside && parts.count() % 2 == 1
}

/// Answers what lies in the subscription, and below no provider.
pub(super) fn inside(cloud: &mut Cloud, request: &Request, target: &Target) -> Result<Answer, Refusal> {
    if let Some(group) = &target.group
        && target.chain.is_empty()
    {
        return match (request.verb, cloud.estate.get(&Target { tail: None, ..target.clone() })) {
            (Verb::Get, Some(_)) if target.last() == "resources" => {
                let found: Vec<Value> =
                    resources(cloud, target).into_iter().filter(|resource| within(resource, group)).collect();
                cloud.list(request, found)
            }
            (Verb::Get, Some(found)) if target.tail.is_none() => Ok(Answer::json(200, found.clone())),
            (Verb::Get, Some(_)) => cloud.list(request, Vec::new()),
            (Verb::Head, Some(_)) => Ok(Answer::empty(204)),
            (Verb::Head, None) => Ok(Answer::empty(404)),
            (_, None) => Err(Refusal::no_group(group)),
            (verb, Some(_)) => Err(not_here(verb)),
        };
    }
    match (request.verb, target.last().as_str()) {
        (Verb::Get, "") if target.chain.is_empty() => {
            let own = target.subscription.as_deref().and_then(|id| cloud.described(id));
            Ok(Answer::json(200, own.cloned().unwrap_or_default()))
        }
        (Verb::Get, "resourcegroups") => {
            let wanted = request.parameter("$filter").map(tag).unwrap_or_default();
            let groups = cloud.estate.of("Microsoft.Resources/resourceGroups").filter(|group| {
                is_of(group, target)
                    && wanted.as_ref().is_none_or(|(name, value)| {
                        let found = group.get("tags").and_then(|tags| tags.get(name)).and_then(Value::as_str);
                        found.is_some_and(|found| value.as_ref().is_none_or(|value| value == found))
                    })
            });
            cloud.list(request, groups.cloned().collect())
        }
        (Verb::Get, "locations") => {
            let own = target.subscription.as_deref().unwrap_or_default();
            let id = format!("/subscriptions/{own}/locations/eastus");
            Ok(Answer::json(
                200,
                json!({"value": [{"id": id, "name": "eastus", "type": "Region", "displayName": "East US",
                "regionalDisplayName": "(US) East US", "metadata": {"regionType": "Physical", "regionCategory": "Recommended",
                "geography": "United States", "geographyGroup": "US", "longitude": "-79.8164", "latitude": "37.3719",
                "physicalLocation": "Virginia", "pairedRegion": []}}]}),
            ))
        }
        (Verb::Get, "resources") => {
            let filter = request.parameter("$filter").unwrap_or_default();
            let wanted: Vec<(String, String)> = filter.split(" and ").filter_map(equation).collect();
            let found = resources(cloud, target).into_iter().filter(|resource| {
                wanted.iter().all(|(field, value)| match field.as_str() {
                    "resourceGroup" => within(resource, value),
                    "name" => is(resource, "name", value),
                    "resourceType" => is(resource, "type", value),
                    "location" => is(resource, "location", value),
                    _ => true,
                })
            });
            cloud.list(request, found.collect())
        }
        (Verb::Get, "providers") => {
            let all = NAMESPACES.iter().map(|namespace| provider_document(cloud, namespace)).collect();
            cloud.list(request, all)
        }
        // What nobody models holds nothing.
        (Verb::Get, _) if target.chain.is_empty() => cloud.list(request, Vec::new()),
        (Verb::Get, _) => {
            Err(Refusal::new(404, "NotFound", format!("The path '{}' was not found.", request.path)))
        }
        (verb, _) => Err(not_here(verb)),
    }
}

/// Types that providers tell of: clients look their versions up.
const TYPES: [&str; 12] = [
    "virtualNetworks",
    "networkInterfaces",
    "networkSecurityGroups",
    "publicIPAddresses",
    "routeTables",
    "networkWatchers",
    "virtualMachines",
    "disks",
    "storageAccounts",
    "privateEndpoints",
    "applicationSecurityGroups",
    "virtualMachineScaleSets",
];

/// The providers of which there is something.
const NAMESPACES: [&str; 5] = [
    "Microsoft.Compute",
    "Microsoft.Insights",
    "Microsoft.Network",
    "Microsoft.Resources",
    "Microsoft.Storage",
];

/// Answers what a provider says of itself; being asked to register, it is registered already.
pub(super) fn provider(cloud: &Cloud, request: &Request, target: &Target) -> Result<Answer, Refusal> {
    if request.verb != Verb::Get && target.tail.is_none() {
        return Err(not_here(request.verb));
    }
    Ok(Answer::json(200, provider_document(cloud, target.provider.as_deref().unwrap_or_default())))
}

/// Tells of a provider.
fn provider_document(cloud: &Cloud, namespace: &str) -> Value {
    let kind = |name: &&str| {
        json!({"resourceType": name, "locations": ["East US"], "defaultApiVersion": "2023-11-01",
        "apiVersions": ["2025-07-01", "2024-07-01", "2023-11-01", "2022-01-01"], "capabilities": "SupportsTags, SupportsLocation"})
    };
    let kinds: Vec<Value> = TYPES.iter().map(kind).collect();
    let id = format!("/subscriptions/{}/providers/{namespace}", cloud.subscription());
    json!({"id": id, "namespace": namespace, "registrationState": "Registered",
        "registrationPolicy": "RegistrationRequired", "resourceTypes": kinds})
}

/// Answers what a provider tells of a region: its service tags.
pub(super) fn of_location(cloud: &Cloud, target: &Target, kind: &str) -> Option<Answer> {
    let [(locations, _)] = target.chain.as_slice() else { return None };
    if !locations.eq_ignore_ascii_case("locations") {
        return None;
    }
    if !kind.eq_ignore_ascii_case("serviceTags") {
        return Some(Answer::json(200, json!({"value": []})));
    }
    Some(Answer::json(200, service_tags(cloud)))
}

/// Tells of the service tags.
pub(in crate::azure) fn service_tags(cloud: &Cloud) -> Value {
    let value = |(name, prefixes): (&String, &Vec<String>)| {
        let region = name.split_once('.').map_or("", |(_, region)| region).to_ascii_lowercase();
        let service = name.split('.').next().unwrap_or_default();
        json!({"name": name, "id": name, "properties": {"changeNumber": "12", "region": region, "state": "GA",
            "networkFeatures": ["API", "NSG", "UDR", "FW"], "systemService": format!("Azure{service}"), "addressPrefixes": prefixes}})
    };
    let values: Vec<Value> = cloud.about.service_tags.iter().map(value).collect();
    json!({"name": "Public", "type": "Microsoft.Network/serviceTags", "cloud": "Public", "changeNumber": "120",
        "id": format!("/subscriptions/{}/providers/Microsoft.Network/serviceTags/Public", cloud.subscription()), "values": values})
}

/// Everything that is in the subscription, in short.
fn resources(cloud: &Cloud, around: &Target) -> Vec<Value> {
    let own = |document: &&Value| {
        let id = document.get("id").and_then(Value::as_str).and_then(Target::parse);
        id.is_some_and(|id| id.chain.len() == 1) && is_of(document, around)
    };
    let short = |document: &Value| {
        let field = |name: &str| document.get(name).cloned().unwrap_or_default();
        let mut row = json!({"id": field("id"), "name": field("name"), "type": field("type"), "location": field("location"),
            "createdTime": "2025-05-20T08:00:00.0000000Z", "changedTime": "2025-06-02T09:00:00.0000000Z",
            "provisioningState": "Succeeded"});
        for name in ["tags", "kind", "sku", "zones", "managedBy"] {
            if let (Some(value), Some(map)) = (document.get(name), row.as_object_mut()) {
                map.insert(name.to_owned(), value.clone());
            }
        }
        row
    };
    cloud.estate.all().filter(own).map(short).collect()
}

/// Tells whether a document is of the subscription of a request.
fn is_of(document: &Value, around: &Target) -> bool {
    let id = document.get("id").and_then(Value::as_str).and_then(Target::parse);
    let own = id.and_then(|id| id.subscription).zip(around.subscription.as_ref());
    own.is_some_and(|(own, around)| own.eq_ignore_ascii_case(around))
}

fn within(resource: &Value, group: &str) -> bool {
    let id = resource.get("id").and_then(Value::as_str).and_then(Target::parse);
    id.and_then(|id| id.group).is_some_and(|found| found.eq_ignore_ascii_case(group))
}

fn is(resource: &Value, field: &str, value: &str) -> bool {
    resource.get(field).and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(value))
}

/// Reads `field eq 'value'`.
fn equation(text: &str) -> Option<(String, String)> {
    let (field, value) = text.trim().split_once(" eq ")?;
    Some((field.trim().to_owned(), value.trim().trim_matches('\'').to_owned()))
}

/// Reads `tagname eq 'k' and tagvalue eq 'v'`.
fn tag(filter: &str) -> Option<(String, Option<String>)> {
    let found: Vec<(String, String)> = filter.split(" and ").filter_map(equation).collect();
    let named =
        |wanted: &str| found.iter().find(|(field, _)| field == wanted).map(|(_, value)| value.clone());
    named("tagname").map(|name| (name, named("tagvalue")))
}

fn not_here(verb: Verb) -> Refusal {
    Refusal::new(405, "MethodNotAllowed", format!("The method {} is not allowed here.", verb.name()))
}
