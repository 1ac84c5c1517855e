//! A small cloud in namespaces.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use ghost_base::SystemClock;
use ghost_lab::LabClock;
use ghost_lab::host::{Fabric, Host as _, Machine, Netns, Nic, Script, ScriptOutput, ScriptTransport};
use serde_json::{Value, json};

use crate::random::setting;

/// Tells why nothing can be run here. Fails where a program is missing and nobody said that it may be.
#[expect(clippy::print_stdout, reason = "whoever runs it should see what was skipped")]
pub(crate) fn skipped() -> bool {
    let without = setting("GHOST_TEST_WITHOUT");
    let reason = if without.split(',').any(|word| word.trim() == "netns") {
        Some("GHOST_TEST_WITHOUT names netns")
    } else if !rustix::process::geteuid().is_root() {
        Some("network namespaces need root")
    } else {
        None
    };
    if let Some(reason) = reason {
        println!("skipped: {reason}");
        return true;
    }
    let there = |name: &str| {
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().any(|at| Path::new(at).join(name).exists())
    };
    let needed = ["ip", "tc", "nft", "iptables", "ping", "iperf", "qperf", "tcpdump", "conntrack"];
    let missing: Vec<&str> = needed.into_iter().filter(|name| !there(name)).collect();
    assert!(missing.is_empty(), "{missing:?} not installed; GHOST_TEST_WITHOUT=netns runs the tests without");
    false
}

/// The two machines of the use cases.
pub(super) const SOURCE: &str = "tf-source-vm";
pub(super) const DEST: &str = "tf-dest-vm";
pub(super) const DEST_ADDRESS: &str = "10.0.1.5";

/// A rule as the platform shows it in force.
#[expect(clippy::too_many_arguments, reason = "a rule is a row of eight columns")]
pub(super) fn rule(
    name: &str,
    priority: u32,
    direction: &str,
    access: &str,
    protocol: &str,
    from: &str,
    to: &str,
    port: &str,
) -> Value {
    json!({"name": name, "priority": priority, "direction": direction, "access": access, "protocol": protocol,
        "sourceAddressPrefix": from, "destinationAddressPrefix": to, "sourcePortRange": "0-65535", "destinationPortRange": port})
}

/// The rules that the platform adds to every group.
pub(super) fn defaults() -> Vec<Value> {
    let (net, all) = ("10.0.0.0/16", "0.0.0.0/0");
    vec![
        rule("defaultSecurityRules/AllowVnetInBound", 65_000, "Inbound", "Allow", "All", net, net, "0-65535"),
        rule("defaultSecurityRules/DenyAllInBound", 65_500, "Inbound", "Deny", "All", all, all, "0-65535"),
        rule(
            "defaultSecurityRules/AllowVnetOutBound",
            65_000,
            "Outbound",
            "Allow",
            "All",
            net,
            net,
            "0-65535",
        ),
        rule(
            "defaultSecurityRules/AllowInternetOutBound",
            65_001,
            "Outbound",
            "Allow",
            "All",
            all,
            all,
            "0-65535",
        ),
        rule("defaultSecurityRules/DenyAllOutBound", 65_500, "Outbound", "Deny", "All", all, all, "0-65535"),
    ]
}

/// Gates in the platform's form, the subnet's first.
pub(super) fn gates(subnet: Option<Vec<Value>>, nic: Option<Vec<Value>>) -> Value {
    let gate = |side: &str, rules: Vec<Value>| {
        let all = [rules, defaults()].concat();
        json!({"networkSecurityGroup": {"id": format!("/x/networkSecurityGroups/{side}")},
            "association": {side: {"id": format!("/x/{side}")}}, "effectiveSecurityRules": all})
    };
    let gates = [subnet.map(|rules| gate("subnet", rules)), nic.map(|rules| gate("networkInterface", rules))];
    json!({"value": gates.into_iter().flatten().collect::<Vec<_>>()})
}

/// A route in force.
pub(super) fn route(source: &str, prefix: &str, hop: &str, address: Option<&str>) -> Value {
    json!({"source": source, "state": "Active", "addressPrefix": [prefix], "nextHopType": hop,
        "nextHopIpAddress": address.into_iter().collect::<Vec<_>>()})
}

/// The platform's routes, and others before them.
pub(super) fn routes(user: Vec<Value>) -> Value {
    let own = [
        route("Default", "10.0.0.0/16", "VnetLocal", None),
        route("Default", "0.0.0.0/0", "Internet", None),
        route("Default", "10.0.0.0/8", "None", None),
    ];
    let all = [user, own.to_vec()].concat();
    json!({"value": all})
}

/// A machine with one interface.
pub(super) fn machine(name: &str, last: u8) -> Machine {
    let nic = Nic {
        name: format!("{name}-nic"),
        mac: format!("00:0d:3a:1b:01:{last:02x}"),
        addresses: vec![(IpAddr::from([10, 0, 1, last]), 24)],
        public: Some(IpAddr::from([20, 0, 1, last])),
        rules: gates(None, Some(Vec::new())),
        routes: routes(Vec::new()),
        ..Nic::default()
    };
    Machine { name: name.to_owned(), running: true, nics: vec![nic] }
}

/// The estate of the use cases.
pub(super) fn fabric() -> Fabric {
    Fabric { machines: vec![machine(SOURCE, 4), machine(DEST, 5)], ..Fabric::default() }
}

/// A lab, and the folder in which it writes.
pub(super) struct Place {
    pub(super) host: Netns,
    pub(super) folder: tempfile::TempDir,
}

impl Place {
    pub(super) async fn new(fabric: Fabric) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = LabClock::new(Arc::new(SystemClock));
        let host = Netns::open(folder.path().to_owned(), fabric, clock).await.unwrap();
        Self { host, folder }
    }

    /// Runs lines on a machine, as a person would.
    pub(super) async fn run(&self, machine: &str, text: &str) -> ScriptOutput {
        self.host.run(machine, &script(text, ScriptTransport::Ssh)).await.unwrap()
    }

    /// Lets a machine refuse each packet with a word. By itself a kernel says it to a sender about once a second, and not to many at once.
    pub(super) async fn outspoken(&self, machine: &str) {
        let all = "net.ipv4.icmp_ratelimit=0 net.ipv4.icmp_msgs_burst=10000 net.ipv4.icmp_msgs_per_sec=10000";
        self.ask(machine, &format!("sysctl -q -e -w {all}")).await;
    }

    /// Runs lines that have to succeed; returns what they print.
    pub(super) async fn ask(&self, machine: &str, text: &str) -> String {
        let ran = self.run(machine, text).await;
        assert_eq!(ran.code, 0, "{text}: {ran:#?}");
        ran.out
    }
}

/// A script without arguments.
pub(super) fn script(text: &str, transport: ScriptTransport) -> Script {
    Script { text: text.to_owned(), arguments: Vec::new(), variables: Vec::new(), transport }
}

/// Returns the namespaces of this machine that a lab of this process holds.
pub(super) fn held() -> Vec<String> {
    let own = format!("-{}-", std::process::id());
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.contains(&own))
        .collect()
}
