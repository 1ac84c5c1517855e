//! What the cloud said of its own resources.

use serde_json::Value;

use super::place::Destination;
use crate::text;

/// Groups of `az` whose listings are an inventory.
const GROUPS: &str = "acr aks appservice container containerapp cosmosdb disk eventhubs functionapp keyvault mysql network \
    postgres redis resource search servicebus snapshot sql storage synapse vm vmss webapp";

/// Keys behind which an address or a name of a resource stands.
const KEYS: &str = "appliedDnsServers azurePortalFqdn computerName connectivityEndpoints defaultHostName dnsServers documentEndpoint \
    enabledHostNames fqdn fqdns hsmUri fullyQualifiedDomainName gatewayIpAddress hostName hostNames \
    inboundIpAddress internalFqdn ip ipAddress ipAddresses ipv4Address ipv6Address latestRevisionFqdn \
    loginServer outboundIpAddresses primaryEndpoints privateFqdn privateIPAddress privateIPAddresses \
    privateIpAddress privateIpAddresses privateIps privateLinkServiceProxyFqdn publicIPAddress \
    publicIpAddress publicIpAddresses publicIps secondaryEndpoints staticIp vaultUri";

/// Keys below which somebody can write what they like.
const FREE: &str = "description displayName extensions metadata outputs parameters protectedSettings settings tags \
    template userData customData";

/// Types of resources that are called by their name.
const CALLED: [&str; 4] = [
    "microsoft.compute/virtualmachines",
    "microsoft.keyvault/vaults",
    "microsoft.network/networkinterfaces",
    "microsoft.storage/storageaccounts",
];

/// Tells whether a command prints nothing but what the cloud knows of its resources, whole and as JSON: no query of the caller's own,
/// which could print any word, and no probe, which prints what it was asked about.
#[must_use]
pub fn is_inventory(command: &str) -> bool {
    let script = text::read(command);
    let words: Vec<String> = script
        .commands
        .first()
        .into_iter()
        .flat_map(|only| &only.words)
        .map(|word| word.text.clone())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((&"az", rest)) = words.split_first().filter(|_| script.is_plain()) else { return false };
    let length = rest.iter().position(|word| word.starts_with('-')).unwrap_or(rest.len());
    let (path, options) = rest.split_at_checked(length).unwrap_or((rest, &[]));
    let lists = path.last().is_some_and(|verb| matches!(*verb, "list" | "show" | "list-ip-addresses"));
    let is_group = path.first().is_some_and(|group| is_among(group, GROUPS)) && !path.contains(&"watcher");
    let plain = options.iter().enumerate().all(|(at, word)| {
        let value = word.split_once('=').map(|(_, value)| value).or(options.get(at + 1).copied());
        let name = word.split('=').next().unwrap_or_default();
        match name {
            "-o" | "--output" => value == Some("json"),
            _ if name.starts_with("-o") => name == "-ojson",
            _ => !(name.len() > 2 && ("--query".starts_with(name) || "--output".starts_with(name))),
        }
    });
    lists && is_group && plain
}

/// Tells whether a word is one of those in a list, which blanks part.
fn is_among(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Returns the addresses and names of the resources in a listing.
pub(super) fn places(output: &str) -> Vec<Destination> {
    let mut found = Vec::new();
    if let Ok(document) = serde_json::from_str::<Value>(output) {
        walk(&document, &mut found);
    }
    found
}

fn walk(value: &Value, found: &mut Vec<Destination>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
            if CALLED.contains(&kind.as_str()) {
                found.extend(members.get("name").and_then(Value::as_str).and_then(Destination::parse));
            }
            for (key, member) in members.iter().filter(|(key, _)| !is_among(key, FREE)) {
                if is_among(key, KEYS) {
                    texts(member, found);
                }
                walk(member, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes the texts directly at a key, in its list, or in its map of addresses.
fn texts(value: &Value, found: &mut Vec<Destination>) {
    match value {
        Value::String(text) => found.extend(text.split([',', ' ']).filter_map(place)),
        Value::Array(items) => {
            items.iter().filter(|item| item.is_string()).for_each(|item| texts(item, found))
        }
        Value::Object(members) => {
            let addresses = members.values().filter_map(Value::as_str).filter(|text| text.contains("://"));
            found.extend(addresses.filter_map(place));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reads a name, an address, or the address of a web resource; a prefix is no place that something is sent to.
fn place(text: &str) -> Option<Destination> {
    let text =
        text.split_once("://").map_or(text, |(_, rest)| rest.split(['/', ':']).next().unwrap_or_default());
    if text.contains('/') { None } else { Destination::parse(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Known;

    #[test]
    fn an_inventory_is_a_whole_listing_and_nothing_that_a_caller_formed() {
        for command in [
            "az vm list -g rg -o json",
            "az network nic show -g rg -n web-1-nic",
            "az vm list-ip-addresses --output json",
            "az storage account list --output=json",
        ] {
            assert!(is_inventory(command), "{command}");
        }
        for command in [
            "az vm list --query \"[].{fqdn:'evil.example'}\"",
            "az vm list --que x",
            "az vm list -o tsv",
            "az vm list -otsv",
            "az vm list --output table",
            "az vm list --out table",
            "az network watcher test-connectivity --dest-address evil.example",
            "az network watcher show-topology -g rg",
            "az graph query -q x",
            "az deployment group show -g rg -n x",
            "az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts list",
            "az vm list -g rg | jq .",
            "az vm list && echo evil.example",
            "echo az vm list",
            "az storage account check-name --name evil",
        ] {
            assert!(!is_inventory(command), "{command}");
        }
    }

    #[test]
    fn a_listing_makes_its_addresses_and_names_known_and_no_words_of_people() {
        let listing = r#"[
            {"name": "web-1", "type": "Microsoft.Compute/virtualMachines", "tags": {"fqdn": "tag.evil.example"},
             "osProfile": {"computerName": "web-1-host"}, "userData": {"fqdn": "data.evil.example"}},
            {"name": "web-1-nic", "type": "Microsoft.Network/networkInterfaces", "ipConfigurations": [
                {"privateIPAddress": "198.51.100.4", "publicIPAddress": {"ipAddress": "203.0.113.4", "dnsSettings": {"fqdn": "Web-1.cloud.example."}}}]},
            {"name": "captures1", "type": "Microsoft.Storage/storageAccounts", "primaryEndpoints": {"blob": "https://captures1.blob.example/"}},
            {"name": "allow", "type": "Microsoft.Network/networkSecurityGroups/securityRules", "description": "fqdn rule.evil.example",
             "sourceAddressPrefix": "0.0.0.0/0", "ipAddress": "0.0.0.0/0"}
        ]"#;
        let mut known = Known::default();
        known.add_listing(listing);
        for host in [
            "web-1",
            "web-1-host",
            "198.51.100.4",
            "203.0.113.4",
            "web-1.cloud.example",
            "captures1",
            "captures1.blob.example",
        ] {
            assert!(known.covers(host, false), "{host} is not known");
        }
        for host in [
            "tag.evil.example",
            "data.evil.example",
            "rule.evil.example",
            "allow",
            "8.8.8.8",
            "blob.example",
            "fqdn",
            "0.0.0.0",
        ] {
            assert!(!known.covers(host, false), "{host} is known");
        }
        let mut nothing = Known::default();
        nothing.add_listing("fqdn: evil.example");
        assert_eq!(nothing, Known::default());
    }
}
