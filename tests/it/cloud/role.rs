//! The roles against what Ghost asks of Azure: each line of `az` finds its actions, and no action is there for nothing.

use std::collections::BTreeSet;

use ghost_cloud::line::{self, Line};
use ghost_cloud::{Name, ResourceGroup};

use serde_json::Value;

use super::judged::lines;

const NIC: &str = "Microsoft.Network/networkInterfaces/";
const WATCHER: &str = "Microsoft.Network/networkWatchers/";
const VM: &str = "Microsoft.Compute/virtualMachines/";
const FILES: &str = "Microsoft.Storage/storageAccounts/blobServices/containers/";

/// Returns everything that a role allows.
fn allowed(name: &str) -> BTreeSet<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("deploy/azure/{name}.json"));
    let role: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let lists =
        ["/Actions", "/DataActions"].map(|list| role.pointer(list).and_then(Value::as_array).unwrap());
    lists.into_iter().flatten().map(|action| action.as_str().unwrap().to_owned()).collect()
}

/// What each command takes.
fn takes(command: &str) -> Option<Vec<String>> {
    let join = |base: &str, ends: &[&str]| ends.iter().map(|end| format!("{base}{end}")).collect::<Vec<_>>();
    let network = |ends: &[&str]| join("Microsoft.Network/", ends);
    // A question to the watcher reads the machine and the watchers first, and its answer comes later.
    let watcher = |ends: &[&str]| {
        let mut all = join(WATCHER, ends);
        all.extend(join(WATCHER, &["read"]));
        all.extend(join(VM, &["read"]));
        all.extend(network(&["locations/operations/read", "locations/operationResults/read"]));
        all
    };
    let later = |mut all: Vec<String>| {
        all.extend(network(&["locations/operations/read", "locations/operationResults/read"]));
        all
    };
    Some(match command {
        "account show" => Vec::new(),
        // Events and states of machines.
        "rest" => join(
            "Microsoft.ResourceHealth/",
            &["events/read", "availabilityStatuses/read", "availabilityStatuses/current/read"],
        ),
        "vm show" => {
            [join(VM, &["read"]), join(NIC, &["read"]), network(&["publicIPAddresses/read"])].concat()
        }
        "vm list" => join(VM, &["read"]),
        "vm get-instance-view" => join(VM, &["read", "instanceView/read"]),
        "vm extension list" => join(VM, &["read", "extensions/read"]),
        "vm run-command invoke" => {
            let later = vec!["Microsoft.Compute/locations/operations/read".to_owned()];
            [join(VM, &["runCommand/action"]), later].concat()
        }
        "network nic list" | "network nic show" => join(NIC, &["read"]),
        "network nic show-effective-route-table" => later(join(NIC, &["effectiveRouteTable/action"])),
        "network nic list-effective-nsg" => later(join(NIC, &["effectiveNetworkSecurityGroups/action"])),
        "network nsg list" | "network nsg show" => network(&["networkSecurityGroups/read"]),
        "network route-table list" | "network route-table show" => network(&["routeTables/read"]),
        "network firewall list" => network(&["azureFirewalls/read"]),
        "network firewall policy show" => network(&["firewallPolicies/read"]),
        "network firewall policy rule-collection-group list" => {
            network(&["firewallPolicies/ruleCollectionGroups/read"])
        }
        "network ip-group list" => network(&["ipGroups/read"]),
        "network vnet-gateway list" => network(&["virtualNetworkGateways/read"]),
        "network vnet-gateway list-bgp-peer-status" => {
            later(network(&["virtualNetworkGateways/getBgpPeerStatus/action"]))
        }
        "network vnet-gateway list-learned-routes" => {
            later(network(&["virtualNetworkGateways/getLearnedRoutes/action"]))
        }
        "network vpn-connection list" => network(&["connections/read"]),
        "network vpn-connection show" => network(&["connections/read"]),
        "network local-gateway list" => network(&["localNetworkGateways/read"]),
        "network express-route list" => network(&["expressRouteCircuits/read"]),
        "network watcher troubleshooting show" => {
            [watcher(&["queryTroubleshootResult/action"]), network(&["connections/read"])].concat()
        }
        "network lb list" => network(&["loadBalancers/read"]),
        "network application-gateway list" => network(&["applicationGateways/read"]),
        "network application-gateway show-backend-health" => {
            later(network(&["applicationGateways/backendhealth/action"]))
        }
        "network nat gateway list" => network(&["natGateways/read"]),
        "monitor metrics list" => vec!["Microsoft.Insights/metrics/read".to_owned()],
        "network private-endpoint list" => network(&["privateEndpoints/read"]),
        "network private-dns zone list" => network(&["privateDnsZones/read"]),
        "network private-dns link vnet list" => network(&["privateDnsZones/virtualNetworkLinks/read"]),
        "network private-dns record-set a list" => network(&["privateDnsZones/A/read"]),
        "network bastion list" => network(&["bastionHosts/read"]),
        "aks list" => vec!["Microsoft.ContainerService/managedClusters/read".to_owned()],
        "network public-ip list" => network(&["publicIPAddresses/read"]),
        "network vnet list" | "network vnet show" => network(&["virtualNetworks/read"]),
        "network vnet subnet show" => network(&["virtualNetworks/subnets/read"]),
        "network list-service-tags" => network(&["locations/serviceTags/read"]),
        "network watcher list" => join(WATCHER, &["read"]),
        "network watcher show-next-hop" => watcher(&["nextHop/action"]),
        "network watcher test-ip-flow" => watcher(&["ipFlowVerify/action"]),
        "network watcher test-connectivity" => watcher(&["connectivityCheck/action"]),
        "network watcher show-topology" => [
            watcher(&["topology/action"]),
            vec!["Microsoft.Resources/subscriptions/resourceGroups/read".to_owned()],
        ]
        .concat(),
        "network watcher packet-capture create" => watcher(&["packetCaptures/write", "packetCaptures/read"]),
        "network watcher packet-capture show-status" => watcher(&["packetCaptures/queryStatus/action"]),
        "network watcher packet-capture stop" => watcher(&["packetCaptures/stop/action"]),
        "network watcher packet-capture delete" => watcher(&["packetCaptures/delete"]),
        "network watcher flow-log list" => join(WATCHER, &["read", "flowLogs/read"]),
        "network watcher packet-capture list" => watcher(&["packetCaptures/read"]),
        "monitor activity-log list" => vec!["Microsoft.Insights/eventtypes/values/read".to_owned()],
        "storage account show" | "storage account list" => {
            vec!["Microsoft.Storage/storageAccounts/read".to_owned()]
        }
        "storage container exists" => join(FILES, &["read"]),
        "storage blob list" | "storage blob exists" | "storage blob download" => join(FILES, &["blobs/read"]),
        "storage blob upload" => join(FILES, &["blobs/write"]),
        "storage blob delete" => join(FILES, &["blobs/delete"]),
        _ => return None,
    })
}

/// What models ask beside the lines of tools, and `config check` of its own.
const ASKED: [(&str, &str); 5] = [
    ("az network nsg rule show", "Microsoft.Network/networkSecurityGroups/securityRules/read"),
    (
        "az network nsg rule list --include-default",
        "Microsoft.Network/networkSecurityGroups/defaultSecurityRules/read",
    ),
    ("az network route-table route list", "Microsoft.Network/routeTables/routes/read"),
    ("az network vnet peering list", "Microsoft.Network/virtualNetworks/virtualNetworkPeerings/read"),
    ("ghost config check", "Microsoft.Authorization/permissions/read"),
];

fn all() -> Vec<Line> {
    let place = ResourceGroup { group: Name::parse("rg").unwrap(), subscription: None };
    let mut all = lines(&place);
    all.push(line::scripts_carrier(&place, &Name::parse("vm").unwrap()));
    all
}

fn actions(line: &Line) -> Vec<String> {
    let words = line.words().iter().skip(1).take_while(|word| !word.starts_with('-'));
    let command = words.cloned().collect::<Vec<_>>().join(" ");
    takes(&command).unwrap_or_else(|| panic!("nobody said what `az {command}` takes"))
}

#[test]
fn every_line_finds_its_actions_in_the_roles_of_whoever_runs_it() {
    let reader: BTreeSet<String> =
        ["reader", "prober", "files"].iter().flat_map(|name| allowed(name)).collect();
    let actor: BTreeSet<String> =
        ["reader", "files", "actor"].iter().flat_map(|name| allowed(name)).collect();
    for line in all() {
        let may = if line.changes() { &actor } else { &reader };
        for action in actions(&line) {
            assert!(may.contains(&action), "{}: {action}", line.text());
        }
    }
}

#[test]
fn no_action_is_there_for_nothing() {
    let asked = ASKED.iter().map(|(_, action)| (*action).to_owned());
    let wanted = |changes: bool| {
        all().iter().filter(move |line| line.changes() == changes).flat_map(actions).collect::<BTreeSet<_>>()
    };
    let reads: BTreeSet<String> = wanted(false).into_iter().chain(asked).collect();
    for role in ["reader", "prober", "files"] {
        let idle: Vec<String> = allowed(role).difference(&reads).cloned().collect();
        assert!(idle.is_empty(), "{role}: {idle:?}");
    }
    let idle: Vec<String> = allowed("actor").difference(&wanted(true)).cloned().collect();
    assert!(idle.is_empty(), "actor: {idle:?}");
}

#[test]
fn the_account_in_a_cluster_may_list_what_is_listed_and_nothing_else() {
    let objects = crate::yaml::documents("deploy/clusters/reader.yaml");
    let role = objects.iter().find(|object| object["kind"] == "ClusterRole").unwrap();
    let words = |list: &Value| {
        let list = list.as_array().unwrap().iter();
        list.map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rules = role["rules"].as_array().unwrap().iter();
    let allowed: BTreeSet<String> = rules
        .flat_map(|rule| {
            let verbs = words(&rule["verbs"]);
            let kinds = words(&rule["resources"]).into_iter();
            kinds.flat_map(move |kind| verbs.clone().into_iter().map(move |verb| format!("{verb} {kind}")))
        })
        .collect();
    let asked: BTreeSet<String> = [line::cluster_objects("shop"), line::cluster_policies("shop")]
        .iter()
        .flat_map(|line| {
            let kinds = line.words().iter().skip_while(|word| *word != "get").nth(1).unwrap();
            kinds.split(',').map(|kind| format!("list {kind}")).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(allowed, asked);
}
