"""Makes services of a network with the management SDK of Azure for Python, and reads them back.

Prints one JSON object: what came of each step, as the SDK's models hold it. GHOST_TEST_ARM is the address of the resource manager."""

from client import GROUP, PLACE, ROOT, its, network, of, print_said, said, step

AREA = "AzureFirewallSubnet"
FIREWALL = its("virtualNetworks/sdk-hub/subnets", AREA)
BASTION = its("virtualNetworks/sdk-hub/subnets", "AzureBastionSubnet")
FRONT = its("virtualNetworks/forensics-vnet/subnets", "gateways")


def agw(kind, name):
    return its(f"applicationGateways/sdk-agw/{kind}", name)


step("hub", lambda: network.virtual_networks.begin_create_or_update(GROUP, "sdk-hub", of(
    addressSpace={"addressPrefixes": ["10.70.0.0/16"]}, subnets=[
        {"name": AREA, "properties": {"addressPrefix": "10.70.1.0/26"}},
        {"name": "AzureBastionSubnet", "properties": {"addressPrefix": "10.70.2.0/26"}}])))
step("subnet of gateways", lambda: network.subnets.begin_create_or_update(
    GROUP, "forensics-vnet", "gateways", of(addressPrefix="10.0.9.0/24")))
step("address", lambda: network.public_ip_addresses.begin_create_or_update(
    GROUP, "sdk-hub-ip", of(publicIPAllocationMethod="Static") | {"sku": {"name": "Standard"}}))
step("group of addresses", lambda: network.ip_groups.begin_create_or_update(
    GROUP, "sdk-branches", of(ipAddresses=["192.168.50.0/24", "192.168.60.7"])))
step("policy", lambda: network.firewall_policies.begin_create_or_update(
    GROUP, "sdk-policy", of(threatIntelMode="Alert", dnsSettings={"servers": ["10.70.9.4"], "enableProxy": True})))
step("rules", lambda: network.firewall_policy_rule_collection_groups.begin_create_or_update(GROUP, "sdk-policy", "main", {"properties": {
    "priority": 300, "ruleCollections": [{"ruleCollectionType": "FirewallPolicyFilterRuleCollection", "name": "web", "priority": 100,
        "action": {"type": "Allow"}, "rules": [{"ruleType": "NetworkRule", "name": "https", "ipProtocols": ["TCP"],
            "sourceIpGroups": [its("ipGroups", "sdk-branches")["id"]], "destinationAddresses": ["10.70.4.0/24"], "destinationPorts": ["443"]}]}]}}))
step("firewall", lambda: network.azure_firewalls.begin_create_or_update(GROUP, "sdk-fw", of(
    sku={"name": "AZFW_VNet", "tier": "Standard"}, firewallPolicy=its("firewallPolicies", "sdk-policy"),
    ipConfigurations=[{"name": "one", "properties": {"subnet": FIREWALL, "publicIPAddress": its("publicIPAddresses", "sdk-hub-ip"),
        "privateIPAddress": "10.70.1.4"}}])))
step("bastion", lambda: network.bastion_hosts.begin_create_or_update(GROUP, "sdk-bastion", of(
    ipConfigurations=[{"name": "one", "properties": {"subnet": BASTION, "publicIPAddress": its("publicIPAddresses", "sdk-hub-ip")}}])
    | {"sku": {"name": "Standard"}}))
step("circuit", lambda: network.express_route_circuits.begin_create_or_update(GROUP, "sdk-circuit", of(
    circuitProvisioningState="Enabled", serviceProviderProvisioningState="Provisioned",
    peerings=[{"name": "AzurePrivatePeering", "properties": {"peeringType": "AzurePrivatePeering", "state": "Enabled", "vlanId": 300}}])))
step("application gateway", lambda: network.application_gateways.begin_create_or_update(GROUP, "sdk-agw", of(
    sku={"name": "Standard_v2", "tier": "Standard_v2", "capacity": 2},
    gatewayIPConfigurations=[{"name": "ip", "properties": {"subnet": FRONT}}],
    frontendIPConfigurations=[{"name": "front", "properties": {"privateIPAddress": "10.0.9.10", "subnet": FRONT}}],
    frontendPorts=[{"name": "port", "properties": {"port": 80}}],
    httpListeners=[{"name": "site", "properties": {"frontendIPConfiguration": agw("frontendIPConfigurations", "front"),
        "frontendPort": agw("frontendPorts", "port"), "protocol": "Http"}}],
    backendAddressPools=[{"name": "pool", "properties": {"backendAddresses": [{"ipAddress": "10.0.1.5"}]}}],
    backendHttpSettingsCollection=[{"name": "web", "properties": {"port": 22, "protocol": "Http", "requestTimeout": 20}}],
    requestRoutingRules=[{"name": "rule", "properties": {"ruleType": "Basic", "priority": 100, "httpListener": agw("httpListeners", "site"),
        "backendAddressPool": agw("backendAddressPools", "pool"), "backendHttpSettings": agw("backendHttpSettingsCollection", "web")}}])))
watcher = next(iter(network.network_watchers.list_all()))
watcher = (watcher.id.split("/")[4], watcher.name)
account = f"{ROOT}/Microsoft.Storage/storageAccounts/nwlogs080613"
step("flow log", lambda: network.flow_logs.begin_create_or_update(*watcher, "sdk-flows", of(
    targetResourceId=its("virtualNetworks", "sdk-hub")["id"], storageId=account, enabled=True, format={"type": "JSON", "version": 2})))
step("capture", lambda: network.packet_captures.begin_create(*watcher, "sdk-capture", {"properties": {
    "target": f"{ROOT}/Microsoft.Compute/virtualMachines/tf-dest-vm", "timeLimitInSeconds": 60, "storageLocation": {"storageId": account}}}))

step("network firewall list", lambda: network.azure_firewalls.list(GROUP))
step("network firewall show -n sdk-fw", lambda: network.azure_firewalls.get(GROUP, "sdk-fw"))
step("network firewall policy show -n sdk-policy", lambda: network.firewall_policies.get(GROUP, "sdk-policy"))
step("network firewall policy rule-collection-group list --policy-name sdk-policy",
     lambda: network.firewall_policy_rule_collection_groups.list(GROUP, "sdk-policy"))
step("network ip-group list", lambda: network.ip_groups.list_by_resource_group(GROUP))
step("network bastion list", lambda: network.bastion_hosts.list_by_resource_group(GROUP))
step("network bastion show -n sdk-bastion", lambda: network.bastion_hosts.get(GROUP, "sdk-bastion"))
step("network express-route list", lambda: network.express_route_circuits.list(GROUP))
step("network application-gateway list", lambda: network.application_gateways.list(GROUP))
step("network application-gateway show-backend-health -n sdk-agw", lambda: network.application_gateways.begin_backend_health(GROUP, "sdk-agw"))
step(f"network watcher flow-log list -l {PLACE}", lambda: network.flow_logs.list(*watcher))
step(f"network watcher packet-capture list -l {PLACE}", lambda: network.packet_captures.list(*watcher))
step("network vnet list", lambda: network.virtual_networks.list(GROUP))
step("network nic list", lambda: network.network_interfaces.list(GROUP))
step("network nsg list", lambda: network.network_security_groups.list(GROUP))
step("network public-ip list", lambda: network.public_ip_addresses.list(GROUP))
step("network route-table list", lambda: network.route_tables.list(GROUP))
step("network lb list", lambda: network.load_balancers.list(GROUP))
step("network nat gateway list", lambda: network.nat_gateways.list(GROUP))
step("network private-endpoint list", lambda: network.private_endpoints.list(GROUP))
step("network vnet-gateway list", lambda: network.virtual_network_gateways.list(GROUP))
step("network local-gateway list", lambda: network.local_network_gateways.list(GROUP))
step("network vpn-connection list", lambda: network.virtual_network_gateway_connections.list(GROUP))
print_said()
