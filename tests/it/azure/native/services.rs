//! Services beside the estate, and a machine that is stopped: the unmodified `az` and the native reader say the same of them.

use ghost_cloud::sign_in::SignInMethod;
use ghost_cloud::{Name, ResourceGroup, line};
use serde_json::{Value, json};

use super::place::Native;
use super::same::{GROUP, differs, words};
use crate::azure::real_az::{az, program};
use crate::azure::stage::Stage;

/// Services beside the estate, as documents of the platform.
const SERVICES: [(&str, &str); 9] = [
    (
        "Microsoft.Network/natGateways/lab-nat",
        r#"{"location":"eastus","sku":{"name":"Standard"},"properties":{"idleTimeoutInMinutes":4,"publicIpAddresses":[{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Network/publicIPAddresses/tf-dest-vm-ip"}]}}"#,
    ),
    ("Microsoft.Network/natGateways/lab-nat/metrics/failed", r#"{"properties":{"failed":12}}"#),
    (
        "Microsoft.Network/loadBalancers/lab-lb",
        r#"{"location":"eastus","sku":{"name":"Standard"},"properties":{"frontendIPConfigurations":[{"name":"front","properties":{"privateIPAddress":"10.0.1.50","privateIPAllocationMethod":"Static"}}],"backendAddressPools":[{"name":"pool","properties":{}}],"probes":[{"name":"alive","properties":{"protocol":"Http","port":80,"requestPath":"/healthz","intervalInSeconds":5,"probeThreshold":2}}],"loadBalancingRules":[],"outboundRules":[]}}"#,
    ),
    (
        "Microsoft.Network/privateEndpoints/lab-pe",
        r#"{"location":"eastus","properties":{"subnet":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Network/virtualNetworks/forensics-vnet/subnets/default"},"privateLinkServiceConnections":[{"name":"lab-pe","properties":{"privateLinkServiceId":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Storage/storageAccounts/nwlogs080613","groupIds":["blob"],"privateLinkServiceConnectionState":{"status":"Approved","description":"","actionsRequired":"None"}}}],"customDnsConfigs":[]}}"#,
    ),
    (
        "Microsoft.Network/privateDnsZones/privatelink.blob.core.windows.net",
        r#"{"location":"global","properties":{}}"#,
    ),
    (
        "Microsoft.Network/privateDnsZones/privatelink.blob.core.windows.net/virtualNetworkLinks/lab-link",
        r#"{"location":"global","properties":{"registrationEnabled":false,"virtualNetwork":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Network/virtualNetworks/forensics-vnet"}}}"#,
    ),
    (
        "Microsoft.Network/privateDnsZones/privatelink.blob.core.windows.net/A/nwlogs080613",
        r#"{"properties":{"ttl":10,"aRecords":[{"ipv4Address":"10.0.1.60"}]}}"#,
    ),
    (
        "Microsoft.Network/virtualNetworks/lab-hub",
        r#"{"location":"eastus","properties":{"addressSpace":{"addressPrefixes":["10.9.0.0/16"]},"subnets":[{"name":"closed","properties":{"addressPrefix":"10.9.1.0/24","defaultOutboundAccess":false,"natGateway":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Network/natGateways/lab-nat"}}}]}}"#,
    ),
    (
        "Microsoft.Network/virtualNetworks/forensics-vnet/virtualNetworkPeerings/to-hub",
        r#"{"properties":{"remoteVirtualNetwork":{"id":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Network/virtualNetworks/lab-hub"},"allowVirtualNetworkAccess":true,"allowForwardedTraffic":false,"allowGatewayTransit":false,"useRemoteGateways":false}}"#,
    ),
];

/// What is read of the services. `@` stands for the group.
const OF_SERVICES: [&str; 12] = [
    "network nat gateway list -g @ -o json",
    "network nat gateway list",
    "network lb list -g @ -o json",
    "network lb show -g @ -n lab-lb",
    "network private-endpoint list -g @",
    "network private-dns zone list -g @ -o json",
    "network private-dns zone list",
    "network private-dns link vnet list -g @ -z privatelink.blob.core.windows.net",
    "network private-dns record-set a list -g @ --zone-name privatelink.blob.core.windows.net",
    "network vnet show -g @ -n lab-hub",
    "network vnet peering list -g @ --vnet-name forensics-vnet",
    "vm get-instance-view -g @ -n tf-source-vm",
];

#[tokio::test]
async fn services_and_a_machine_that_is_stopped_say_the_same_through_the_real_az_and_natively() {
    let Some(program) = program() else { return };
    let stage = Stage::quiet().await;
    let place =
        "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers";
    for (path, body) in SERVICES {
        let url = format!("{place}/{path}?api-version=2025-07-01");
        let asked = ["rest", "--method", "put", "--url", &url, "--body", body].map(str::to_owned);
        let done = az(&stage, &program, &asked).await;
        assert_eq!(done.exit, Some(0), "{path}: {done:?}");
    }
    let done = az(&stage, &program, &words("vm deallocate -g @ -n tf-source-vm")).await;
    assert_eq!(done.exit, Some(0), "{done:?}");
    let native = Native::approving(&stage, SignInMethod::Managed { client: None });
    let mut wrong = Vec::new();
    for line in OF_SERVICES {
        wrong.extend(differs(&stage, &native, line).await);
    }
    let cut = |text: &String| text.chars().take(2_000).collect::<String>();
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.iter().map(cut).collect::<Vec<_>>().join("\n"));
    // What translates counts what found no port; the line is the one that an investigation asks.
    let group = Name::parse(GROUP).unwrap();
    let subscription = Name::parse("00000000-0000-0000-0000-000000000001").unwrap();
    let place = ResourceGroup { group, subscription: None };
    let line =
        line::failed_connections(&place, &subscription, "natGateways", &Name::parse("lab-nat").unwrap());
    let counted = az(&stage, &program, &line.words()[1..]).await;
    let document: Value = serde_json::from_str(&counted.out).unwrap_or_else(|_| panic!("{counted:?}"));
    assert_eq!(document["value"][0]["timeseries"][0]["data"][0]["total"], json!(12.0), "{document}");
    let view = az(&stage, &program, &words("vm get-instance-view -g @ -n tf-source-vm")).await;
    assert!(view.out.contains("PowerState/deallocated"), "{view:?}");
    drop(native);
    stage.down().await;
}
