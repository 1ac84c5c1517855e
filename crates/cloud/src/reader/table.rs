//! The lines that are read without `az`: their options, and what stands behind each.
//!
//! A line that has no row here, an option that its row does not name, and a value of another form are left to `az`.

use super::shape::Shape;

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A name that is a part of a path as it stands.
    Name,
    Number,
    /// A moment with its zone.
    Moment,
    /// A length of time, as in `1d6h`.
    Length,
    /// An address of version 4.
    Address,
    /// An address and a port, or any port.
    End,
    /// One of these words.
    Word(&'static [&'static str]),
    /// What `az rest` reads of the platform's health.
    Health,
    /// No value.
    Flag,
}

/// An option of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opt {
    /// What it is called in a path.
    pub(super) key: &'static str,
    pub(super) names: &'static [&'static str],
    pub(super) form: Form,
    pub(super) needed: bool,
}

const fn needed(key: &'static str, names: &'static [&'static str]) -> Opt {
    Opt { key, names, form: Form::Name, needed: true }
}

const fn maybe(key: &'static str, names: &'static [&'static str], form: Form) -> Opt {
    Opt { key, names, form, needed: false }
}

const GROUP: Opt = needed("group", &["--resource-group", "-g"]);
const ANY_GROUP: Opt = maybe("group", &["--resource-group", "-g"], Form::Name);
const NAME: Opt = needed("name", &["--name", "-n"]);
const VM: Opt = needed("vm", &["--vm-name"]);
const NIC: Opt = needed("nic", &["--nic-name"]);
const NSG: Opt = needed("nsg", &["--nsg-name"]);
const VNET: Opt = needed("vnet", &["--vnet-name"]);
const ZONE: Opt = needed("zone", &["--zone-name", "-z"]);
const TABLE: Opt = needed("table", &["--route-table-name"]);
const DETAILS: Opt = maybe("details", &["--show-details", "-d"], Form::Flag);
const DEFAULTS: Opt = maybe("defaults", &["--include-default"], Form::Flag);
const LOCATION: Opt = needed("location", &["--location", "-l"]);

const NAMED: &[Opt] = &[GROUP, NAME];
const LISTED: &[Opt] = &[ANY_GROUP];

/// The questions that the platform takes as a POST; they change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Routes,
    Rules,
    /// How far a capture is.
    Capture,
    /// Where a machine's packets to an address go.
    NextHop,
    /// Whether security rules let a packet pass.
    Flow,
    /// How a group's resources belong together.
    Topology,
    /// With whom a gateway speaks BGP.
    BgpPeers,
    /// Which routes a gateway learned.
    LearnedRoutes,
    /// How the servers behind an application gateway are.
    BackendHealth,
}

impl Question {
    /// Returns the last part of its path.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Routes => "effectiveRouteTable",
            Self::Rules => "effectiveNetworkSecurityGroups",
            Self::Capture => "queryStatus",
            Self::NextHop => "nextHop",
            Self::Flow => "ipFlowVerify",
            Self::Topology => "topology",
            Self::BgpPeers => "getBgpPeerStatus",
            Self::LearnedRoutes => "getLearnedRoutes",
            Self::BackendHealth => "backendhealth",
        }
    }
}

/// What is asked for. `{name}` in a path is the value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// Every page of a list, of a group or of the subscription.
    List(&'static str),
    One(&'static str),
    /// The lists at these places of a document, one behind the other; the second only where the option `defaults` is given.
    Parts(&'static str, &'static [&'static str]),
    /// A machine with how it is.
    View(&'static str),
    /// A machine, and with `details` its addresses.
    Machine,
    Machines,
    /// What holds at an interface.
    Effective(Question),
    /// What something at this path says of itself.
    About(&'static str, Question),
    Groups,
    Group,
    /// What changed.
    Activity,
    /// The prefixes of service tags.
    Tags,
    /// The watchers of the subscription.
    Watchers,
    /// What the watcher of a machine's region says of the machine.
    AboutMachine(Question),
    Topology,
    /// The captures of a region, or with `false` one of them.
    Captures(bool),
    CaptureStatus,
    /// The flow logs of a region.
    FlowLogs,
    /// One of a machine's interfaces.
    MachineNic,
    /// The addresses of machines.
    Addresses,
    /// Whether a group is there.
    Exists,
    /// The subscription that is asked.
    Account,
    /// All subscriptions that are enabled.
    Accounts,
    /// What an account lets in over the network.
    NetworkRules,
    /// What the platform says of itself, at the address that the line names.
    Health,
}

/// A command.
#[derive(Debug)]
pub(super) struct Row {
    /// Its words behind `az`.
    pub(super) name: &'static str,
    pub(super) options: &'static [Opt],
    pub(super) read: Read,
    /// The version of the interface that `az` asks for.
    pub(super) version: &'static str,
    pub(super) shape: Shape,
    /// Whoever asks wants to know how far something is by now: no answer is kept.
    pub(super) is_live: bool,
}

const fn row(name: &'static str, options: &'static [Opt], read: Read, version: &'static str) -> Row {
    Row { name, options, read, version, shape: Shape::Flat, is_live: false }
}

const fn shaped(row: Row, shape: Shape) -> Row {
    Row { shape, ..row }
}

const fn live(row: Row) -> Row {
    Row { is_live: true, ..row }
}

const fn formed(key: &'static str, names: &'static [&'static str], form: Form) -> Opt {
    Opt { key, names, form, needed: true }
}

const WATCHED: Opt = needed("vm", &["--vm"]);

/// These commands stand in extensions of `az`, whose version of the interface is their own.
const FIREWALL: &str = "2024-05-01";
const BASTION: &str = "2024-05-01";
const COMPUTE: &str = "2026-04-01";
pub(super) const MACHINES: &str = "Microsoft.Compute/virtualMachines";
pub(super) const MACHINE: &str = "Microsoft.Compute/virtualMachines/{name}";
const GATEWAY: &str = "Microsoft.Network/virtualNetworkGateways/{name}";
const APP_GATEWAY: &str = "Microsoft.Network/applicationGateways/{name}";
const SECURITY_GROUP: &str = "Microsoft.Network/networkSecurityGroups/{nsg}";

/// The version that is asked for where the platform says how it is.
pub(super) const HEALTH: &str = "2022-10-01";

pub(super) const ROWS: &[Row] = &[
    row("vm list", &[ANY_GROUP, DETAILS], Read::Machines, COMPUTE),
    row("vm show", &[GROUP, NAME, DETAILS], Read::Machine, COMPUTE),
    row("vm get-instance-view", NAMED, Read::View(MACHINE), COMPUTE),
    row(
        "vm nic list",
        &[GROUP, VM],
        Read::Parts(
            "Microsoft.Compute/virtualMachines/{vm}",
            &["/properties/networkProfile/networkInterfaces"],
        ),
        COMPUTE,
    ),
    row("vm nic show", &[GROUP, VM, needed("nic", &["--nic"])], Read::MachineNic, COMPUTE),
    shaped(
        row(
            "vm list-ip-addresses",
            &[ANY_GROUP, maybe("name", &["--name", "-n"], Form::Name)],
            Read::Addresses,
            "2022-01-01",
        ),
        Shape::Whole,
    ),
    row(
        "vm extension list",
        &[GROUP, VM],
        Read::List("Microsoft.Compute/virtualMachines/{vm}/extensions"),
        "2024-11-01",
    ),
    row(
        "vm extension show",
        &[GROUP, VM, NAME],
        Read::One("Microsoft.Compute/virtualMachines/{vm}/extensions/{name}"),
        "2024-11-01",
    ),
    row("network nic list", LISTED, Read::List("Microsoft.Network/networkInterfaces"), "2023-11-01"),
    row("network nic show", NAMED, Read::One("Microsoft.Network/networkInterfaces/{name}"), "2023-11-01"),
    row(
        "network nic ip-config list",
        &[GROUP, NIC],
        Read::Parts("Microsoft.Network/networkInterfaces/{nic}", &["/properties/ipConfigurations"]),
        "2023-11-01",
    ),
    row("network nic show-effective-route-table", NAMED, Read::Effective(Question::Routes), "2022-01-01"),
    row("network nic list-effective-nsg", NAMED, Read::Effective(Question::Rules), "2022-01-01"),
    row("network nsg list", LISTED, Read::List("Microsoft.Network/networkSecurityGroups"), "2022-01-01"),
    row("network nsg show", NAMED, Read::One("Microsoft.Network/networkSecurityGroups/{name}"), "2022-01-01"),
    row(
        "network nsg rule list",
        &[GROUP, NSG, DEFAULTS],
        Read::Parts(SECURITY_GROUP, &["/properties/securityRules", "/properties/defaultSecurityRules"]),
        "2022-01-01",
    ),
    row(
        "network nsg rule show",
        &[GROUP, NSG, NAME],
        Read::One("Microsoft.Network/networkSecurityGroups/{nsg}/securityRules/{name}"),
        "2022-01-01",
    ),
    row("network route-table list", &[GROUP], Read::List("Microsoft.Network/routeTables"), "2025-07-01"),
    row("network route-table show", NAMED, Read::One("Microsoft.Network/routeTables/{name}"), "2025-07-01"),
    row(
        "network route-table route list",
        &[GROUP, TABLE],
        Read::List("Microsoft.Network/routeTables/{table}/routes"),
        "2025-07-01",
    ),
    row(
        "network route-table route show",
        &[GROUP, TABLE, NAME],
        Read::One("Microsoft.Network/routeTables/{table}/routes/{name}"),
        "2025-07-01",
    ),
    row("network vnet list", LISTED, Read::List("Microsoft.Network/virtualNetworks"), "2025-07-01"),
    row("network vnet show", NAMED, Read::One("Microsoft.Network/virtualNetworks/{name}"), "2025-07-01"),
    row(
        "network vnet subnet list",
        &[GROUP, VNET],
        Read::List("Microsoft.Network/virtualNetworks/{vnet}/subnets"),
        "2024-07-01",
    ),
    row(
        "network vnet subnet show",
        &[GROUP, VNET, NAME],
        Read::One("Microsoft.Network/virtualNetworks/{vnet}/subnets/{name}"),
        "2024-07-01",
    ),
    row(
        "network vnet peering list",
        &[GROUP, VNET],
        Read::List("Microsoft.Network/virtualNetworks/{vnet}/virtualNetworkPeerings"),
        "2023-11-01",
    ),
    row("network public-ip list", LISTED, Read::List("Microsoft.Network/publicIPAddresses"), "2022-01-01"),
    row("network lb list", LISTED, Read::List("Microsoft.Network/loadBalancers"), "2025-07-01"),
    row("network lb show", NAMED, Read::One("Microsoft.Network/loadBalancers/{name}"), "2025-07-01"),
    row(
        "network application-gateway list",
        LISTED,
        Read::List("Microsoft.Network/applicationGateways"),
        "2025-07-01",
    ),
    row("network application-gateway show", NAMED, Read::One(APP_GATEWAY), "2025-07-01"),
    live(row(
        "network application-gateway show-backend-health",
        NAMED,
        Read::About(APP_GATEWAY, Question::BackendHealth),
        "2023-11-01",
    )),
    row(
        "network private-endpoint list",
        LISTED,
        Read::List("Microsoft.Network/privateEndpoints"),
        "2026-01-01",
    ),
    row("network bastion list", LISTED, Read::List("Microsoft.Network/bastionHosts"), BASTION),
    row("network bastion show", NAMED, Read::One("Microsoft.Network/bastionHosts/{name}"), BASTION),
    row("network firewall list", LISTED, Read::List("Microsoft.Network/azureFirewalls"), FIREWALL),
    row("network firewall show", NAMED, Read::One("Microsoft.Network/azureFirewalls/{name}"), FIREWALL),
    row(
        "network firewall policy show",
        NAMED,
        Read::One("Microsoft.Network/firewallPolicies/{name}"),
        FIREWALL,
    ),
    row(
        "network firewall policy rule-collection-group list",
        &[GROUP, needed("policy", &["--policy-name"])],
        Read::List("Microsoft.Network/firewallPolicies/{policy}/ruleCollectionGroups"),
        FIREWALL,
    ),
    row("network ip-group list", LISTED, Read::List("Microsoft.Network/ipGroups"), FIREWALL),
    row(
        "network vnet-gateway list",
        &[GROUP],
        Read::List("Microsoft.Network/virtualNetworkGateways"),
        "2025-01-01",
    ),
    row("network vpn-connection list", &[GROUP], Read::List("Microsoft.Network/connections"), "2025-01-01"),
    live(row(
        "network vpn-connection show",
        NAMED,
        Read::One("Microsoft.Network/connections/{name}"),
        "2025-01-01",
    )),
    row(
        "network local-gateway list",
        &[GROUP],
        Read::List("Microsoft.Network/localNetworkGateways"),
        "2021-08-01",
    ),
    row(
        "network express-route list",
        LISTED,
        Read::List("Microsoft.Network/expressRouteCircuits"),
        "2022-01-01",
    ),
    live(row(
        "network vnet-gateway list-bgp-peer-status",
        NAMED,
        Read::About(GATEWAY, Question::BgpPeers),
        "2023-09-01",
    )),
    live(row(
        "network vnet-gateway list-learned-routes",
        NAMED,
        Read::About(GATEWAY, Question::LearnedRoutes),
        "2022-01-01",
    )),
    row("network nat gateway list", LISTED, Read::List("Microsoft.Network/natGateways"), "2025-07-01"),
    row(
        "network private-dns zone list",
        LISTED,
        Read::List("Microsoft.Network/privateDnsZones"),
        "2018-09-01",
    ),
    row(
        "network private-dns link vnet list",
        &[GROUP, ZONE],
        Read::List("Microsoft.Network/privateDnsZones/{zone}/virtualNetworkLinks"),
        "2024-06-01",
    ),
    row(
        "network private-dns record-set a list",
        &[GROUP, ZONE],
        Read::List("Microsoft.Network/privateDnsZones/{zone}/A"),
        "2018-09-01",
    ),
    row("network watcher list", &[], Read::Watchers, "2022-01-01"),
    row(
        "network watcher show-next-hop",
        &[
            GROUP,
            WATCHED,
            formed("source", &["--source-ip"], Form::Address),
            formed("destination", &["--dest-ip"], Form::Address),
        ],
        Read::AboutMachine(Question::NextHop),
        COMPUTE,
    ),
    row(
        "network watcher test-ip-flow",
        &[
            GROUP,
            WATCHED,
            formed("direction", &["--direction"], Form::Word(&["Inbound", "Outbound"])),
            formed("protocol", &["--protocol"], Form::Word(&["TCP", "UDP"])),
            formed("local", &["--local"], Form::End),
            formed("remote", &["--remote"], Form::End),
        ],
        Read::AboutMachine(Question::Flow),
        COMPUTE,
    ),
    row("network watcher show-topology", &[GROUP], Read::Topology, "2022-01-01"),
    live(row("network watcher packet-capture list", &[LOCATION], Read::Captures(true), "2022-01-01")),
    live(row("network watcher flow-log list", &[LOCATION], Read::FlowLogs, "2022-01-01")),
    live(row("network watcher packet-capture show", &[LOCATION, NAME], Read::Captures(false), "2022-01-01")),
    live(row(
        "network watcher packet-capture show-status",
        &[LOCATION, NAME],
        Read::CaptureStatus,
        "2022-01-01",
    )),
    live(shaped(
        row(
            "rest",
            &[
                formed("method", &["--method"], Form::Word(&["get"])),
                formed("address", &["--url"], Form::Health),
            ],
            Read::Health,
            HEALTH,
        ),
        Shape::Whole,
    )),
    shaped(row("network list-service-tags", &[LOCATION], Read::Tags, "2022-01-01"), Shape::Whole),
    shaped(
        row(
            "monitor activity-log list",
            &[
                ANY_GROUP,
                maybe("events", &["--max-events"], Form::Number),
                maybe("offset", &["--offset"], Form::Length),
                maybe("start", &["--start-time"], Form::Moment),
                maybe("end", &["--end-time"], Form::Moment),
            ],
            Read::Activity,
            "2015-04-01",
        ),
        Shape::Event,
    ),
    shaped(row("account show", &[], Read::Account, "2022-12-01"), Shape::Whole),
    shaped(row("account list", &[], Read::Accounts, "2022-12-01"), Shape::Whole),
    shaped(
        row(
            "group exists",
            &[needed("name", &["--name", "-n", "--resource-group", "-g"])],
            Read::Exists,
            "2024-11-01",
        ),
        Shape::Whole,
    ),
    shaped(row("group list", &[], Read::Groups, "2024-11-01"), Shape::Group),
    shaped(
        row(
            "group show",
            &[needed("name", &["--name", "-n", "--resource-group", "-g"])],
            Read::Group,
            "2024-11-01",
        ),
        Shape::Group,
    ),
    shaped(
        row("storage account list", LISTED, Read::List("Microsoft.Storage/storageAccounts"), "2025-08-01"),
        Shape::Account,
    ),
    shaped(
        row(
            "storage account show",
            NAMED,
            Read::One("Microsoft.Storage/storageAccounts/{name}"),
            "2025-08-01",
        ),
        Shape::Account,
    ),
    shaped(
        row(
            "storage account network-rule list",
            &[GROUP, needed("name", &["--account-name", "-n"])],
            Read::NetworkRules,
            "2025-08-01",
        ),
        Shape::Whole,
    ),
];

/// Returns the words of every command that is read without `az`.
pub fn commands() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}
