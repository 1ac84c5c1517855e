//! The same lines through the unmodified `az` and through the native reader, on the same lab: the same documents, the same failures.

use ghost_cloud::failure;
use ghost_cloud::sign_in::SignInMethod;
use ghost_shell::quote;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::place::Native;
use crate::azure::real_az::{az, program};
use crate::azure::stage::Stage;
use crate::random::{Random, is_long, seed};

pub(super) const GROUP: &str = "nw-forensics-rg";

/// Every kind of line that is read natively, on the estate of the lab. `@` stands for the group.
const LINES: &[&str] = &[
    "vm list -g @ -o json",
    "vm list",
    "vm list -g @ --show-details -o json",
    "vm list -d --query [].{name:name,power:powerState,ips:privateIps}",
    "vm show --name tf-dest-vm --resource-group @ --show-details --output json",
    "vm show -g @ -n tf-source-vm",
    "vm show -g @ -n nope-vm -o json",
    "vm show -g nope-rg -n nope-vm -d",
    "vm show -g @ -n tf-dest-vm -d --query powerState -o json",
    "vm get-instance-view -g @ -n tf-dest-vm -o json",
    "vm nic list -g @ --vm-name tf-dest-vm",
    "vm nic show -g @ --vm-name tf-dest-vm --nic tf-dest-vm-nic",
    "vm nic show -g @ --vm-name tf-dest-vm --nic nope",
    "vm list-ip-addresses",
    "vm list-ip-addresses -g @ -n tf-source-vm -o json",
    "vm list-ip-addresses -n nope",
    "vm extension list -g @ --vm-name tf-dest-vm -o json",
    "vm extension show -g @ --vm-name tf-dest-vm -n NetworkWatcherAgentLinux",
    "network nic list -g @ -o json",
    "network nic list --query [].ipConfigurations[].privateIPAddress",
    "network nic show -g @ -n tf-dest-vm-nic -o json",
    "network nic show -g @ -n nope",
    "network nic ip-config list -g @ --nic-name tf-dest-vm-nic",
    "network nic show-effective-route-table -g @ -n tf-source-vm-nic -o json",
    "network nic show-effective-route-table -g @ -n nope",
    "network nic list-effective-nsg -g @ -n tf-dest-vm-nic -o json",
    "network nic list-effective-nsg -g @ -n tf-dest-vm-nic --query value[].effectiveSecurityRules[].name",
    "network nsg list -g @ -o json",
    "network nsg list --subscription 00000000-0000-0000-0000-000000000001",
    "network nsg list --subscription nope",
    "network nsg show -g @ -n tf-dest-vm-nsg -o json",
    "network nsg rule list -g @ --nsg-name tf-dest-vm-nsg -o json",
    "network nsg rule list -g @ --nsg-name tf-dest-vm-nsg --include-default",
    "network nsg rule show -g @ --nsg-name tf-dest-vm-nsg -n allow-iperf",
    "network nsg rule show -g @ --nsg-name tf-dest-vm-nsg -n nope",
    "network route-table list -g @ -o json",
    "network route-table show -g @ -n lab-rt -o json",
    "network route-table show -g @ -n nope",
    "network route-table route list -g @ --route-table-name lab-rt",
    "network route-table route show -g @ --route-table-name lab-rt -n drop",
    "network vnet list -g @ -o json",
    "network vnet show -g @ -n forensics-vnet -o json",
    "network vnet subnet list -g @ --vnet-name forensics-vnet",
    "network vnet subnet show --vnet-name forensics-vnet --name default --resource-group @ --output json",
    "network vnet peering list -g @ --vnet-name forensics-vnet",
    "network public-ip list -g @ -o json",
    "network lb list -g @ -o json",
    "network lb show -g @ -n nope",
    "network application-gateway list -g @ -o json",
    "network application-gateway show -g @ -n lab-agw -o json",
    "network application-gateway show -g @ -n nope",
    "network application-gateway show-backend-health -g @ -n lab-agw -o json",
    "network application-gateway show-backend-health -g @ -n nope",
    "network private-endpoint list -g @",
    "network nat gateway list -g @ -o json",
    "rest --method get --url /subscriptions/{subscriptionId}/providers/Microsoft.ResourceHealth/events?api-version=2022-10-01 -o json",
    "rest --method get --url /subscriptions/{subscriptionId}/providers/Microsoft.ResourceHealth/events?api-version=2022-10-01 --subscription 00000000-0000-0000-0000-000000000001",
    "rest --method get --url /subscriptions/{subscriptionId}/resourceGroups/@/providers/Microsoft.Compute/virtualMachines/tf-dest-vm/providers/Microsoft.ResourceHealth/availabilityStatuses/current?api-version=2022-10-01 -o json",
    "network vnet-gateway list -g @ -o json",
    "network vpn-connection list -g @ -o json",
    "network vpn-connection show -g @ -n lab-tunnel -o json",
    "network vpn-connection show -g @ -n nope",
    "network local-gateway list -g @ -o json",
    "network express-route list -g @ -o json",
    "network vnet-gateway list-bgp-peer-status -g @ -n lab-gw -o json",
    "network vnet-gateway list-bgp-peer-status -g @ -n nope",
    "network vnet-gateway list-learned-routes -g @ -n lab-gw -o json",
    "network private-dns zone list -o json",
    "network private-dns link vnet list -g @ -z nope -o json",
    "network private-dns record-set a list -g @ -z nope -o json",
    "network watcher list -o json",
    "network watcher show-next-hop -g @ --vm tf-source-vm --source-ip 10.0.1.4 --dest-ip 10.0.1.5",
    "network watcher show-next-hop -g @ --vm tf-source-vm --source-ip 10.9.9.9 --dest-ip 10.0.1.5",
    "network watcher show-next-hop -g @ --vm nope --source-ip 10.0.1.4 --dest-ip 10.0.1.5",
    "network watcher test-ip-flow -g @ --vm tf-dest-vm --direction Inbound --protocol TCP --local 10.0.1.5:5001 --remote 10.0.1.4:40000",
    "network watcher test-ip-flow -g @ --vm tf-dest-vm --direction Outbound --protocol UDP --local 10.0.1.5:53 --remote 8.8.8.8:*",
    "network watcher show-topology -g @",
    "network watcher flow-log list -l eastus -o json",
    "network watcher flow-log list --location westus",
    "network watcher packet-capture list -l eastus",
    "network watcher packet-capture list --location westus",
    "network watcher packet-capture show -l eastus -n lab-capture",
    "network watcher packet-capture show -l eastus -n nope",
    "network watcher packet-capture show-status -l eastus -n lab-capture",
    "network watcher packet-capture show-status -l eastus -n nope",
    "network list-service-tags --location eastus -o json",
    "monitor activity-log list -g @ --start-time 2020-01-01T00:00:00.000Z --end-time 2040-01-01T00:00:00.000Z --max-events 200",
    "monitor activity-log list -g @ --offset 6h --max-events 1 --query [].operationName.value",
    "account show -o json",
    "account show --query [id,tenantId] -o tsv",
    "account list",
    "group exists -n @",
    "group exists -n nope-rg",
    "group exists -n @ -o tsv",
    "group list -o json",
    "group show -n @",
    "group show -n nope-rg",
    "storage account list -g @ -o json",
    "storage account show -n nwlogs080613 -g @ -o json",
    "storage account network-rule list --account-name nwlogs080613 -g @",
    "network nic list -g @ -o tsv",
    "network nic show -g @ -n tf-dest-vm-nic -o tsv",
    "network nic list -g @ --query [].[name,primary,macAddress,tags,ipConfigurations,gone] -o tsv",
    "network nic show -g @ -n tf-dest-vm-nic --query ipConfigurations[].privateIPAddress -o tsv",
    "network nic show -g @ -n tf-dest-vm-nic --query gone -o tsv",
    "network nsg rule list -g @ --nsg-name tf-dest-vm-nsg --query [].priority -o tsv",
    "network nsg rule list -g @ --nsg-name tf-dest-vm-nsg -o tsv",
    "storage account list -g @ -o tsv",
    "vm show -g @ -n tf-dest-vm -d --query powerState -o tsv",
];

/// Commands that `az` has only with an extension, which is none of its packages. They are compared with what the SDK for Python reads.
const OF_EXTENSIONS: [&str; 7] = [
    "network bastion list",
    "network bastion show",
    "network firewall list",
    "network firewall show",
    "network firewall policy show",
    "network firewall policy rule-collection-group list",
    "network ip-group list",
];

/// What is there beside the estate: something changed, so that the log of changes holds something, and a table with a route.
const BEFORE: [&str; 12] = [
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/NetworkWatcherRG/providers/Microsoft.Network/networkWatchers/NetworkWatcher_eastus/flowLogs/lab-flows?api-version=2022-01-01 --body {"location":"eastus","properties":{"targetResourceId":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/virtualNetworks/forensics-vnet","storageId":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Storage/storageAccounts/nwlogs080613","enabled":true,"format":{"type":"JSON","version":2}}}"#,
    "network watcher packet-capture create -g @ --vm tf-dest-vm -n lab-capture --storage-account nwlogs080613 --time-limit 60",
    "network route-table create -g @ -n lab-rt --location eastus",
    "network route-table route create -g @ --route-table-name lab-rt -n drop --address-prefix 10.0.9.0/24 --next-hop-type None",
    "network nsg rule create -g @ --nsg-name tf-dest-vm-nsg -n lab-rule --priority 3000 --access Deny --protocol Tcp",
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/virtualNetworkGateways/lab-gw?api-version=2025-01-01 --body {"location":"eastus","properties":{"gatewayType":"Vpn","enableBgp":true,"ipConfigurations":[{"name":"default","properties":{"subnet":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/virtualNetworks/forensics-vnet/subnets/GatewaySubnet"}}}]}}"#,
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/localNetworkGateways/lab-site?api-version=2021-08-01 --body {"location":"eastus","properties":{"gatewayIpAddress":"198.51.100.7","localNetworkAddressSpace":{"addressPrefixes":["172.31.0.1/32"]},"bgpSettings":{"asn":65050,"bgpPeeringAddress":"172.31.0.1"}}}"#,
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/localNetworkGateways/lab-site/site/far?api-version=2021-08-01 --body {"location":"eastus","properties":{"announces":["192.168.50.0/24"]}}"#,
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/connections/lab-tunnel?api-version=2025-01-01 --body {"location":"eastus","properties":{"connectionType":"IPsec","enableBgp":true,"sharedKey":"one","virtualNetworkGateway1":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/virtualNetworkGateways/lab-gw"},"localNetworkGateway2":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/localNetworkGateways/lab-site"}}}"#,
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/expressRouteCircuits/lab-circuit?api-version=2022-01-01 --body {"location":"eastus","properties":{"circuitProvisioningState":"Enabled","serviceProviderProvisioningState":"Provisioned","peerings":[{"name":"AzurePrivatePeering","properties":{"peeringType":"AzurePrivatePeering","state":"Enabled","vlanId":300}}]}}"#,
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/virtualNetworks/forensics-vnet/subnets/agw?api-version=2024-07-01 --body {"properties":{"addressPrefix":"10.0.9.0/24"}}"#,
    r#"rest --method put --url /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/applicationGateways/lab-agw?api-version=2025-07-01 --body {"location":"eastus","properties":{"sku":{"name":"Standard_v2","tier":"Standard_v2","capacity":2},"gatewayIPConfigurations":[{"name":"ip","properties":{"subnet":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/virtualNetworks/forensics-vnet/subnets/agw"}}}],"frontendIPConfigurations":[{"name":"front","properties":{"privateIPAddress":"10.0.9.10","subnet":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/virtualNetworks/forensics-vnet/subnets/agw"}}}],"frontendPorts":[{"name":"port","properties":{"port":80}}],"httpListeners":[{"name":"site","properties":{"frontendIPConfiguration":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/applicationGateways/lab-agw/frontendIPConfigurations/front"},"frontendPort":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/applicationGateways/lab-agw/frontendPorts/port"},"protocol":"Http"}}],"backendAddressPools":[{"name":"pool","properties":{"backendAddresses":[{"ipAddress":"10.0.1.5"}]}}],"probes":[{"name":"health","properties":{"protocol":"Http","path":"/","interval":30,"timeout":30,"unhealthyThreshold":3,"pickHostNameFromBackendHttpSettings":true}}],"backendHttpSettingsCollection":[{"name":"web","properties":{"port":22,"protocol":"Http","requestTimeout":20,"probe":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/applicationGateways/lab-agw/probes/health"}}}],"requestRoutingRules":[{"name":"rule","properties":{"ruleType":"Basic","priority":100,"httpListener":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/applicationGateways/lab-agw/httpListeners/site"},"backendAddressPool":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/applicationGateways/lab-agw/backendAddressPools/pool"},"backendHttpSettings":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/@/providers/Microsoft.Network/applicationGateways/lab-agw/backendHttpSettingsCollection/web"}}}]}}"#,
];

pub(super) fn words(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('@', GROUP)).collect()
}

/// Returns what differs of one line.
pub(super) async fn differs(stage: &Stage, native: &Native, line: &str) -> Option<String> {
    let words = words(line);
    let theirs = az(stage, &program()?, &words).await;
    let Some(ours) = native.read(&words).await else { return Some(format!("{line}: left to az")) };
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
    let shell: Vec<String> = words.iter().map(|word| quote(word)).collect();
    if ours.exit_code != theirs.exit || ours.stderr != theirs.err {
        return Some(format!("{shell:?}: {ours:?}\n  az: {theirs:?}"));
    }
    if ours.output.trim_end() == theirs.out.trim_end() {
        return None;
    }
    Some(format!("{shell:?}\n  ours   {}\n  theirs {}", read(&ours.output), read(&theirs.out)))
}

/// So many lines are compared in the short run: the real `az` waits long between its questions about an operation.
const LINES_OF_A_SHORT_RUN: usize = 30;

/// All lines with `GHOST_LONG=1`, else a seeded part of them.
#[tokio::test]
async fn every_line_says_the_same_through_the_real_az_and_natively() {
    let Some(program) = program() else { return };
    let stage = Stage::quiet().await;
    for line in BEFORE {
        let done = az(&stage, &program, &words(line)).await;
        assert_eq!(done.exit, Some(0), "{line}: {done:?}");
    }
    // An account is a place on the network: the gate asks about it.
    let native = Native::approving(&stage, SignInMethod::Managed { client: None });
    let mut wrong = Vec::new();
    let mut lines = LINES.to_vec();
    let mut random = Random::new(seed("every_line_says_the_same"));
    while !is_long() && lines.len() > LINES_OF_A_SHORT_RUN {
        lines.swap_remove(random.below(lines.len()));
    }
    for line in lines {
        wrong.extend(differs(&stage, &native, line).await);
    }
    let cut = |text: &String| text.chars().take(2_000).collect::<String>();
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.iter().map(cut).collect::<Vec<_>>().join("\n"));
    drop(native);
    stage.down().await;
}

/// What goes wrong on the other side, beside what is read then. What `az` itself gives up on is a failure of the same kind here.
fn troubles() -> [(&'static str, Value); 9] {
    [
        ("asked to wait", injected("tf-dest-vm-nsg|effectiveRouteTable", 429, 1)),
        ("a server error", injected("tf-dest-vm-nsg|effectiveRouteTable", 500, 1)),
        ("nobody there behind the gateway", injected("tf-dest-vm-nsg|effectiveRouteTable", 503, 2)),
        ("forbidden", injected("tf-dest-vm-nsg", 403, 99)),
        ("gone", injected("tf-dest-vm-nsg", 404, 99)),
        ("a server error without end", injected("tf-dest-vm-nsg", 500, 99)),
        ("one row a page", json!({"page_size": 1})),
        ("a slow operation", json!({"lro_polls": 3})),
        ("an expired token", json!({"token": "expired"})),
    ]
}

fn injected(pattern: &str, status: u16, times: u64) -> Value {
    json!({"fault": {"match": pattern, "status": status, "times": times, "headers": {"Retry-After": "1"},
        "body": {"error": {"code": "Injected", "message": "It was asked for."}}}})
}

/// So many of the faults are tried in the short run: the real `az` waits long between its own attempts.
const SAMPLE: usize = 4;

/// With every fault of the lab's control both read the same facts, or fail with a failure of the same kind: all with `GHOST_LONG=1`, else
/// a seeded few.
#[tokio::test]
async fn with_every_fault_both_say_the_same() {
    let Some(program) = program() else { return };
    let stage = Stage::quiet().await;
    let mut wrong = Vec::new();
    let mut troubles = troubles().to_vec();
    let mut random = Random::new(seed("with_every_fault_both_say_the_same"));
    while !is_long() && troubles.len() > SAMPLE {
        troubles.swap_remove(random.below(troubles.len()));
    }
    for (name, trouble) in troubles {
        for line in [
            "network nsg show -g @ -n tf-dest-vm-nsg -o json",
            "network nic list -o json",
            "network nic show-effective-route-table -g @ -n tf-source-vm-nic -o json",
        ] {
            let words = words(line);
            let set = json!([{"clear": true}, trouble]);
            stage.remote().order("set", &set).await.unwrap();
            let theirs = az(&stage, &program, &words).await;
            stage.remote().order("set", &set).await.unwrap();
            let ours = Native::over(&stage).read(&words).await.unwrap();
            stage.remote().order("set", &json!([{"clear": true}, {"token": "good"}])).await.unwrap();
            let class = |exit: Option<i32>, text: &str| (exit != Some(0)).then(|| failure(exit, text).class);
            let (here, there) = (class(ours.exit_code, &ours.stderr), class(theirs.exit, &theirs.err));
            if here != there || ours.output.trim_end() != theirs.out.trim_end() {
                wrong.push(format!("{name}, {line}: {here:?} {ours:?}\n  az: {there:?} {theirs:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    stage.down().await;
}

/// Every command that is read natively stands among the lines.
#[test]
fn every_command_is_compared() {
    let lacking: Vec<&str> = ghost_cloud::reader::commands()
        .filter(|command| !OF_EXTENSIONS.contains(command))
        .filter(|command| {
            !LINES.iter().any(|line| line.starts_with(&format!("{command} ")) || line == command)
        })
        .collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// Several sessions read at once, and nobody gets the answer of another one.
#[tokio::test]
async fn many_lines_at_once_say_what_each_says_alone() {
    let stage = Stage::quiet().await;
    let native = std::sync::Arc::new(Native::over(&stage));
    let lines: Vec<&str> = LINES.iter().copied().filter(|line| !line.starts_with("monitor")).collect();
    let mut alone = Vec::new();
    for line in &lines {
        alone.push(native.read(&words(line)).await.map(|response| response.output));
    }
    let mut running = JoinSet::new();
    for (at, line) in lines.iter().enumerate() {
        let (native, words) = (std::sync::Arc::clone(&native), words(line));
        running.spawn(async move { (at, native.read(&words).await.map(|response| response.output)) });
    }
    while let Some(done) = running.join_next().await {
        let (at, together) = done.unwrap();
        assert_eq!(together, alone[at], "{}", lines[at]);
    }
    stage.down().await;
}
