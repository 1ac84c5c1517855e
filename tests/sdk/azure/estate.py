"""Drives a cloud with the management SDKs of Azure for Python: creates what an estate consists of, reads it back, asks what is in effect.

Prints one JSON object: what came of each step, as the SDK's models hold it, or the status and the code of what was refused."""

from client import GROUP, PLACE, ROOT, ZONE, compute, its, network, of, print_said, step, zones

SUBNET = its("virtualNetworks/sdk-vnet/subnets", "apps")
STANDARD = {"sku": {"name": "Standard"}}

step("security group", lambda: network.network_security_groups.begin_create_or_update(GROUP, "sdk-nsg", of()))
step("rule", lambda: network.security_rules.begin_create_or_update(GROUP, "sdk-nsg", "deny-5432", of(
    protocol="Tcp", access="Deny", direction="Inbound", priority=110, sourceAddressPrefix="*", sourcePortRange="*",
    destinationAddressPrefix="*", destinationPortRange="5432")))
step("rule without a priority", lambda: network.security_rules.begin_create_or_update(GROUP, "sdk-nsg", "odd", of(
    protocol="Tcp", access="Deny", direction="Inbound", sourceAddressPrefix="*", sourcePortRange="*",
    destinationAddressPrefix="*", destinationPortRange="1")))
step("table", lambda: network.route_tables.begin_create_or_update(GROUP, "sdk-rt", of()))
step("route", lambda: network.routes.begin_create_or_update(
    GROUP, "sdk-rt", "drop", of(addressPrefix="10.0.9.0/24", nextHopType="None")))
step("network", lambda: network.virtual_networks.begin_create_or_update(
    GROUP, "sdk-vnet", of(addressSpace={"addressPrefixes": ["10.60.0.0/16"]})))
step("subnet", lambda: network.subnets.begin_create_or_update(GROUP, "sdk-vnet", "apps", of(
    addressPrefix="10.60.1.0/24", networkSecurityGroup=its("networkSecurityGroups", "sdk-nsg"),
    routeTable=its("routeTables", "sdk-rt"))))
step("peering", lambda: network.virtual_network_peerings.begin_create_or_update(GROUP, "sdk-vnet", "to-forensics", of(
    remoteVirtualNetwork=its("virtualNetworks", "forensics-vnet"), allowVirtualNetworkAccess=True)))
step("public address", lambda: network.public_ip_addresses.begin_create_or_update(
    GROUP, "sdk-ip", of(publicIPAllocationMethod="Static") | STANDARD))
step("nat gateway", lambda: network.nat_gateways.begin_create_or_update(GROUP, "sdk-nat", of(
    publicIpAddresses=[its("publicIPAddresses", "sdk-ip")], idleTimeoutInMinutes=4) | STANDARD))
step("gateway", lambda: network.virtual_network_gateways.begin_create_or_update(GROUP, "sdk-gw", of(
    gatewayType="Vpn", vpnType="RouteBased", ipConfigurations=[{"name": "default", "properties": {"subnet": SUBNET}}])))
step("site", lambda: network.local_network_gateways.begin_create_or_update(GROUP, "sdk-site", of(
    gatewayIpAddress="198.51.100.7", localNetworkAddressSpace={"addressPrefixes": ["192.168.50.0/24"]})))
step("connection", lambda: network.virtual_network_gateway_connections.begin_create_or_update(GROUP, "sdk-tunnel", of(
    connectionType="IPsec", sharedKey="one", virtualNetworkGateway1=its("virtualNetworkGateways", "sdk-gw") | of(),
    localNetworkGateway2=its("localNetworkGateways", "sdk-site") | of())))
step("connection again", lambda: network.virtual_network_gateway_connections.get(GROUP, "sdk-tunnel"))
step("peers", lambda: network.virtual_network_gateways.begin_get_bgp_peer_status(GROUP, "sdk-gw"))
step("interface", lambda: network.network_interfaces.begin_create_or_update(GROUP, "sdk-nic", of(
    ipConfigurations=[{"name": "one", "properties": {"subnet": SUBNET}}])))
step("load balancer", lambda: network.load_balancers.begin_create_or_update(GROUP, "sdk-lb", of(
    frontendIPConfigurations=[{"name": "front", "properties": {"subnet": SUBNET}}], backendAddressPools=[{"name": "pool"}],
    probes=[{"name": "probe", "properties": {"protocol": "Tcp", "port": 80, "intervalInSeconds": 5}}]) | STANDARD))
step("private endpoint", lambda: network.private_endpoints.begin_create_or_update(GROUP, "sdk-pe", of(
    subnet=SUBNET, privateLinkServiceConnections=[{"name": "one", "properties": {
        "privateLinkServiceId": f"{ROOT}/Microsoft.Storage/storageAccounts/nwlogs080613", "groupIds": ["blob"]}}])))
step("zone", lambda: zones.private_zones.begin_create_or_update(GROUP, ZONE, {"location": "global"}))
step("link", lambda: zones.virtual_network_links.begin_create_or_update(GROUP, ZONE, "sdk-link", {
    "location": "global", "properties": {"registrationEnabled": False, "virtualNetwork": its("virtualNetworks", "sdk-vnet")}}))
step("record", lambda: zones.record_sets.create_or_update(
    GROUP, ZONE, "A", "nwlogs080613", {"properties": {"ttl": 10, "aRecords": [{"ipv4Address": "10.60.1.7"}]}}))

for kind in ("azure_firewalls", "firewall_policies", "load_balancers", "nat_gateways", "network_interfaces", "network_security_groups",
             "network_watchers", "public_ip_addresses", "route_tables", "virtual_networks"):
    step(f"all {kind}", lambda: [one.name for one in getattr(network, kind).list_all()])
step("all private_endpoints", lambda: [one.name for one in network.private_endpoints.list(GROUP)])
step("all zones", lambda: [one.name for one in zones.private_zones.list()])
step("all links", lambda: [one.name for one in zones.virtual_network_links.list(GROUP, ZONE)])
step("all machines", lambda: [one.name for one in compute.virtual_machines.list_all()])

step("effective routes", lambda: network.network_interfaces.begin_get_effective_route_table(GROUP, "tf-source-vm-nic"))
step("effective rules", lambda: network.network_interfaces.begin_list_effective_network_security_groups(GROUP, "tf-dest-vm-nic"))
watcher = next(iter(network.network_watchers.list_all()))
watcher = (watcher.id.split("/")[4], watcher.name)
machine = f"{ROOT}/Microsoft.Compute/virtualMachines"
step("next hop", lambda: network.network_watchers.begin_get_next_hop(*watcher, {
    "targetResourceId": f"{machine}/tf-source-vm", "sourceIPAddress": "10.0.1.4", "destinationIPAddress": "10.0.1.5"}))
step("test of rules", lambda: network.network_watchers.begin_verify_ip_flow(*watcher, {
    "targetResourceId": f"{machine}/tf-dest-vm", "direction": "Inbound", "protocol": "TCP", "localPort": "5432",
    "remotePort": "40000", "localIPAddress": "10.0.1.5", "remoteIPAddress": "203.0.113.9"}))
step("topology", lambda: network.network_watchers.get_topology(*watcher, {"targetResourceGroupName": GROUP}))
step("machine", lambda: compute.virtual_machines.instance_view(GROUP, "tf-dest-vm"))
step("script", lambda: compute.virtual_machines.begin_run_command(
    GROUP, "tf-dest-vm", {"commandId": "RunShellScript", "script": ["ip route"]}))
step("deallocation", lambda: compute.virtual_machines.begin_deallocate(GROUP, "tf-dest-vm"))
step("deallocated machine", lambda: compute.virtual_machines.instance_view(GROUP, "tf-dest-vm"))
step("start", lambda: compute.virtual_machines.begin_start(GROUP, "tf-dest-vm"))
step("started machine", lambda: compute.virtual_machines.instance_view(GROUP, "tf-dest-vm"))
step("tags", lambda: network.service_tags.list(PLACE).name)

step("rule is deleted", lambda: network.security_rules.begin_delete(GROUP, "sdk-nsg", "deny-5432"))
step("deleted rule", lambda: network.security_rules.get(GROUP, "sdk-nsg", "deny-5432"))
step("subnet in use is deleted", lambda: network.subnets.begin_delete(GROUP, "sdk-vnet", "apps"))
step("absent network", lambda: network.virtual_networks.get(GROUP, "absent"))
print_said()
