//! One fault: its lines in a case file, what is to be found, and what people notice.

use super::kind::Kind;
use super::place::{ACCOUNT, DESTINATION, Machine, RESOLVER, SOURCE, SUBNET, Service, TCP, UDP};
use super::rng::Rng;
use super::symptom::{Symptom, SymptomReport};
use crate::case::model::Pair;

/// A fault that was drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct DrawnFault {
    /// Its tables of the file.
    pub(super) text: String,
    pub(super) expected: Vec<Pair>,
    pub(super) may: Vec<Pair>,
    pub(super) report: SymptomReport,
}

/// What is taken already, so that no two faults are about the same thing.
#[derive(Debug, Clone, Default)]
pub(super) struct UsedNames {
    ports: Vec<u16>,
    shaped: Vec<Machine>,
    names: usize,
    public: bool,
}

impl UsedNames {
    /// Draws a service of which nothing was said yet.
    pub(super) fn service(&mut self, rng: &mut Rng, from: &[Service]) -> Service {
        let free: Vec<Service> =
            from.iter().filter(|service| !self.ports.contains(&service.port)).copied().collect();
        let service = rng.one(&free);
        self.ports.push(service.port);
        service
    }

    /// Draws a priority before the rules of the estate, and none twice. Rules take it after their name.
    fn priority(&self, rng: &mut Rng) -> String {
        (110 + 10 * rng.below(80) + self.names).to_string()
    }

    fn name(&mut self, rng: &mut Rng, what: &[&str]) -> String {
        self.names += 1;
        format!("{}-{}{}", rng.one(what), 10 + rng.below(90), self.names)
    }
}

pub(super) fn listens(to: Machine, service: Service) -> String {
    format!(
        "[[service]]\nvm = \"{}\"\nprotocol = \"{}\"\nport = {}\nprogram = \"{}\"\n\n",
        to.name,
        service.protocol(),
        service.port,
        service.program
    )
}

fn traffic(from: Machine, to: Machine, service: Service, request: u32) -> String {
    format!(
        "[[traffic]]\nfrom = \"{}\"\nto = \"{}\"\nport = {}\nevery_ms = 1000\nrequest = {request}\nanswer = 200\n\n",
        from.name, to.name, service.port
    )
}

fn fault(kind: &str, fields: &[(&str, String)]) -> String {
    let fields: String = fields.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    format!("[[fault]]\nkind = \"{kind}\"\n{fields}\n")
}

fn quoted(text: impl AsRef<str>) -> String {
    format!("\"{}\"", text.as_ref())
}

/// Draws a fault of a kind.
pub(super) fn draw(kind: Kind, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let to = rng.one(&[DESTINATION, DESTINATION, SOURCE]);
    match kind {
        Kind::NsgInterface | Kind::NsgSubnet | Kind::NsgOut => security(kind, to, rng, taken),
        Kind::NsgInternet => internet_rule(to, rng, taken),
        Kind::Exposure => exposure(rng, taken),
        Kind::RouteNone | Kind::RouteDead | Kind::RouteDetour | Kind::Egress => route(kind, to, rng, taken),
        Kind::Endpoint | Kind::Storage => storage(kind, to),
        Kind::Loss | Kind::Delay | Kind::Corrupt | Kind::Duplicate | Kind::Reorder | Kind::Rate => {
            shape(kind, rng, taken)
        }
        Kind::Drop | Kind::Reject | Kind::DropOut | Kind::Native => filter(kind, to, rng, taken),
        Kind::Echo => echo(to),
        Kind::PolicyDrop => policy(to, rng, taken),
        Kind::Ban => ban(rng, taken),
        Kind::Docker => docker(to, rng),
        Kind::Closed | Kind::Silent => port(kind, to, rng, taken),
        Kind::Dns => dns(to, rng),
        Kind::Arp => arp(to, rng, taken),
        Kind::Mtu => mtu(to, rng, taken),
        Kind::Asymmetric => asymmetric(to, rng, taken),
    }
}

fn security(kind: Kind, to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let udp = kind != Kind::NsgOut && rng.percent(20);
    let service = taken.service(rng, if udp { &UDP } else { &TCP });
    let name = taken.name(rng, &["deny", "block", "tmp-lockdown", "sec-review", "chg-rule"]);
    let direction = if kind == Kind::NsgOut { "Outbound" } else { "Inbound" };
    let nsg = if kind == Kind::NsgSubnet {
        "subnet-guard-nsg".to_owned()
    } else {
        format!("{}-nsg", if kind == Kind::NsgOut { to.other().name } else { to.name })
    };
    let mut fields = vec![
        ("nsg", quoted(&nsg)),
        ("name", quoted(&name)),
        ("priority", taken.priority(rng)),
        ("direction", quoted(direction)),
        ("access", quoted("Deny")),
        ("protocol", quoted(rng.one(&[service.cloud_protocol(), service.cloud_protocol(), "*"]))),
        ("ports", format!("[\"{}\"]", service.port)),
    ];
    if kind == Kind::NsgSubnet {
        fields.push(("subnet", quoted(SUBNET)));
    }
    if direction == "Inbound" && rng.percent(60) {
        fields.push(("source", quoted(rng.one(&["10.0.1.0/24", to.other().address, "VirtualNetwork"]))));
    }
    DrawnFault {
        text: listens(to, service) + &fault("nsg_rule", &fields),
        expected: vec![Pair::new("nsg_deny", format!("nsg/{nsg}/{name}"))],
        report: SymptomReport::flow(Symptom::Unreachable, to.other(), to, service),
        ..DrawnFault::default()
    }
}

fn internet_rule(vm: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let name = taken.name(rng, &["deny-egress", "no-internet", "lockdown-out"]);
    let nsg = format!("{}-nsg", vm.name);
    let fields = [
        ("nsg", quoted(&nsg)),
        ("name", quoted(&name)),
        ("priority", taken.priority(rng)),
        ("direction", quoted("Outbound")),
        ("access", quoted("Deny")),
        ("destination", quoted("Internet")),
    ];
    DrawnFault {
        text: fault("nsg_rule", &fields),
        expected: vec![Pair::new("nsg_deny", format!("nsg/{nsg}/{name}"))],
        report: SymptomReport::at(Symptom::Internet, vm),
        ..DrawnFault::default()
    }
}

fn public(taken: &mut UsedNames) -> String {
    if std::mem::replace(&mut taken.public, true) {
        return String::new();
    }
    format!(
        "[[public]]\nvm = \"{}\"\nname = \"tf-dest-vm-ip\"\naddress = \"203.0.113.11\"\n\n",
        DESTINATION.name
    )
}

fn exposure(rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let name = taken.name(rng, &["temp-rdp", "vendor-access", "quick-fix"]);
    let fields = [
        ("nsg", quoted("tf-dest-vm-nsg")),
        ("name", quoted(&name)),
        ("priority", (200 + 10 * rng.below(70)).to_string()),
        ("access", quoted("Allow")),
        ("protocol", quoted("Tcp")),
        ("source", quoted(rng.one(&["*", "Internet", "0.0.0.0/0"]))),
        ("ports", rng.one(&["[\"3389\"]", "[\"3380-3400\"]"]).to_owned()),
    ];
    let rule = |name: &str| Pair::new("nsg_exposure", format!("nsg/tf-dest-vm-nsg/{name}"));
    DrawnFault {
        text: public(taken) + &fault("nsg_rule", &fields),
        expected: vec![rule(&name), rule("default-allow-ssh")],
        report: SymptomReport::at(Symptom::Audit, DESTINATION),
        ..DrawnFault::default()
    }
}

fn route(kind: Kind, to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let name = taken.name(rng, &["to-firewall", "redirect", "cleanup", "maintenance"]);
    let table = taken.name(rng, &["spoke-rt", "egress-rt", "default-rt"]);
    let none = kind == Kind::RouteNone || (kind == Kind::Egress && rng.percent(40));
    let prefix = if kind == Kind::Egress { "0.0.0.0/0".to_owned() } else { format!("{}/32", to.address) };
    let mut fields = vec![
        ("table", quoted(&table)),
        ("name", quoted(&name)),
        ("prefix", quoted(prefix)),
        ("hop", quoted(if none { "None" } else { "VirtualAppliance" })),
        ("subnet", quoted(SUBNET)),
    ];
    let mut text = String::new();
    let code = if none {
        "route_blackhole"
    } else if kind == Kind::RouteDetour {
        // An appliance that is there, and passes nothing on.
        text = format!(
            "[[vm]]\nname = \"nva-vm\"\naddress = \"10.0.1.30\"\nsubnet = \"{SUBNET}\"\nforwards = {}\n\n",
            rng.percent(50)
        );
        fields.push(("address", quoted("10.0.1.30")));
        "route_detour"
    } else {
        fields.push(("address", quoted(rng.one(&["10.0.1.100", "10.0.1.253", "10.0.2.4"]))));
        "route_dead_nva"
    };
    let report = if kind == Kind::Egress {
        SymptomReport::at(Symptom::Internet, rng.one(&[SOURCE, DESTINATION]))
    } else {
        SymptomReport::between(Symptom::Lost, to.other(), to)
    };
    DrawnFault {
        text: text + &fault("route", &fields),
        expected: vec![Pair::new(code, format!("route/{table}/{name}"))],
        report,
        ..DrawnFault::default()
    }
}

fn storage(kind: Kind, from: Machine) -> DrawnFault {
    let wall = |subnets: &str| {
        let fields =
            [("account", quoted(ACCOUNT)), ("default", quoted("Deny")), ("subnets", subnets.to_owned())];
        fault("storage_firewall", &fields)
    };
    let denied = vec![Pair::new("storage_firewall_deny", format!("storage/{ACCOUNT}"))];
    let report = SymptomReport::at(Symptom::Storage, from);
    if kind == Kind::Storage {
        return DrawnFault { text: wall("[]"), expected: denied, report, ..DrawnFault::default() };
    }
    let service = "Microsoft.Storage";
    let fields = [
        ("subnet", quoted(SUBNET)),
        ("service", quoted(service)),
        ("left", "[\"Microsoft.Sql\"]".to_owned()),
    ];
    DrawnFault {
        text: wall(&format!("[\"{SUBNET}\"]")) + &fault("service_endpoint", &fields),
        expected: vec![Pair::new("service_endpoint_missing", format!("subnet/{SUBNET}/{service}"))],
        may: denied,
        report,
    }
}

fn shape(kind: Kind, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let free: Vec<Machine> =
        [SOURCE, DESTINATION].into_iter().filter(|vm| !taken.shaped.contains(vm)).collect();
    let vm = rng.one(&free);
    taken.shaped.push(vm);
    let mut fields = vec![("vm", quoted(vm.name))];
    let share = |rng: &mut Rng, all: &[&'static str]| rng.one(all).to_owned();
    let (code, symptom) = if kind == Kind::Delay {
        fields.push(("delay", quoted(rng.one(&["30ms", "60ms", "100ms", "150ms"]))));
        ("netem_delay", Symptom::Slow)
    } else if kind == Kind::Corrupt {
        fields.push(("corrupt", share(rng, &["2.0", "4.0", "6.0"])));
        ("netem_corrupt", Symptom::Lossy)
    } else if kind == Kind::Duplicate {
        fields.push(("duplicate", share(rng, &["10.0", "20.0"])));
        ("netem_duplicate", Symptom::Lossy)
    } else if kind == Kind::Reorder {
        fields.push(("delay", quoted("20ms")));
        fields.push(("reorder", share(rng, &["25.0", "40.0"])));
        ("netem_reorder", Symptom::Lossy)
    } else if kind == Kind::Rate {
        fields.push(("rate", quoted(rng.one(&["2mbit", "5mbit", "10mbit"]))));
        ("rate_limit", Symptom::Throughput)
    } else {
        fields.push(("loss", share(rng, &["8.0", "12.0", "20.0"])));
        ("netem_loss", Symptom::Lossy)
    };
    let object = format!("qdisc/{}/eth0", vm.name);
    let mut expected = vec![Pair::new(code, object.clone())];
    if kind == Kind::Reorder {
        // Only what waits can be overtaken.
        expected.push(Pair::new("netem_delay", object));
    }
    let kind = if kind == Kind::Rate { "rate_limit" } else { "netem" };
    DrawnFault {
        text: fault(kind, &fields),
        expected,
        report: SymptomReport::between(symptom, vm, vm.other()),
        ..DrawnFault::default()
    }
}

fn filter(kind: Kind, to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let udp = kind == Kind::Drop && rng.percent(20);
    let service = taken.service(rng, if udp { &UDP } else { &TCP });
    let (protocol, port) = (service.protocol(), service.port);
    let text = listens(to, service);
    let flow = |symptom| SymptomReport::flow(symptom, to.other(), to, service);
    if kind == Kind::Native {
        let fields = [
            ("vm", quoted(to.name)),
            ("table", quoted("hardening")),
            ("protocol", quoted(protocol)),
            ("port", quoted(port.to_string())),
        ];
        let object = format!("netfilter/{}/inet:hardening/input/{protocol}/{port}", to.name);
        let expected = vec![Pair::new("guest_firewall_drop", object)];
        let report = flow(Symptom::Unreachable);
        return DrawnFault { text: text + &fault("nft", &fields), expected, report, ..DrawnFault::default() };
    }
    let (vm, chain) = if kind == Kind::DropOut { (to.other(), "OUTPUT") } else { (to, "INPUT") };
    let (target, code, symptom) = if kind == Kind::Reject {
        ("REJECT", "guest_firewall_reject", Symptom::Refused)
    } else {
        ("DROP", "guest_firewall_drop", Symptom::Unreachable)
    };
    let mut fields = vec![
        ("vm", quoted(vm.name)),
        ("chain", quoted(chain)),
        ("position", "1".to_owned()),
        ("protocol", quoted(protocol)),
        ("port", quoted(port.to_string())),
        ("target", quoted(target)),
    ];
    if kind == Kind::Reject && rng.percent(50) {
        fields.push(("reject_with", quoted("tcp-reset")));
    }
    let object = format!("netfilter/{}/filter/{chain}/{protocol}/{port}", vm.name);
    DrawnFault {
        text: text + &fault("iptables", &fields),
        expected: vec![Pair::new(code, object)],
        report: flow(symptom),
        ..DrawnFault::default()
    }
}

fn echo(to: Machine) -> DrawnFault {
    let fields = [
        ("vm", quoted(to.name)),
        ("position", "1".to_owned()),
        ("protocol", quoted("icmp")),
        ("target", quoted("DROP")),
    ];
    let object = format!("netfilter/{}/filter/INPUT/icmp/any", to.name);
    DrawnFault {
        text: fault("iptables", &fields),
        expected: vec![Pair::new("guest_firewall_drop", object)],
        report: SymptomReport::between(Symptom::Ping, to.other(), to),
        ..DrawnFault::default()
    }
}

fn policy(to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let service = taken.service(rng, &TCP);
    let vm = || ("vm", quoted(to.name));
    let accept = || ("target", quoted("ACCEPT"));
    let text = [
        listens(to, service),
        fault("iptables", &[vm(), ("source", quoted(RESOLVER)), accept()]),
        fault("iptables", &[vm(), ("state", quoted("RELATED,ESTABLISHED")), accept()]),
        fault("iptables", &[vm(), ("protocol", quoted("tcp")), ("port", quoted("22")), accept()]),
        fault("iptables_policy", &[vm(), ("chain", quoted("INPUT")), ("policy", quoted("DROP"))]),
    ];
    let object = format!("netfilter/{}/filter/INPUT", to.name);
    DrawnFault {
        text: text.concat(),
        expected: vec![Pair::new("guest_firewall_policy_drop", object)],
        report: SymptomReport::flow(Symptom::Unreachable, to.other(), to, service),
        ..DrawnFault::default()
    }
}

fn ban(rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let partner = format!("203.0.113.{}", 40 + rng.below(60));
    let fields = [
        ("vm", quoted(DESTINATION.name)),
        ("jail", quoted("sshd")),
        ("address", quoted(format!("{partner}/32"))),
    ];
    let object = format!("netfilter/{}/f2b-sshd/{partner}", DESTINATION.name);
    DrawnFault {
        text: public(taken) + &fault("fail2ban", &fields),
        expected: vec![Pair::new("fail2ban_ban", object)],
        report: SymptomReport { partner, ..SymptomReport::at(Symptom::Partner, DESTINATION) },
        ..DrawnFault::default()
    }
}

fn docker(vm: Machine, rng: &mut Rng) -> DrawnFault {
    let chain = rng.one(&["DOCKER-ISOLATION-STAGE-2", "DOCKER-USER"]);
    let fields = [("vm", quoted(vm.name)), ("drop_in", quoted(chain))];
    let object = format!("netfilter/{}/filter/{chain}", vm.name);
    DrawnFault {
        text: fault("docker", &fields),
        expected: vec![Pair::new("container_firewall_change", object)],
        report: SymptomReport::at(Symptom::Container, vm),
        ..DrawnFault::default()
    }
}

fn port(kind: Kind, to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let service = taken.service(rng, &TCP);
    let from = to.other();
    let closed = kind == Kind::Closed;
    let (word, code) =
        if closed { ("port_closed", "tcp_refused") } else { ("port_silent", "syn_unanswered") };
    let fields = [("vm", quoted(to.name)), ("port", service.port.to_string()), ("from", quoted(from.name))];
    let object = format!("flow/{}/{}/tcp/{}", from.address, to.address, service.port);
    let symptom = if closed { Symptom::Refused } else { Symptom::Unreachable };
    DrawnFault {
        text: fault(word, &fields),
        expected: vec![Pair::new(code, object)],
        report: SymptomReport::flow(symptom, from, to, service),
        ..DrawnFault::default()
    }
}

fn dns(from: Machine, rng: &mut Rng) -> DrawnFault {
    let fields = [
        ("server", quoted(RESOLVER)),
        ("does", quoted(rng.one(&["silent", "servfail", "nxdomain"]))),
        ("from", quoted(from.name)),
    ];
    DrawnFault {
        text: fault("dns", &fields),
        expected: vec![Pair::new("dns_failure", format!("dns/{RESOLVER}"))],
        report: SymptomReport::at(Symptom::Names, from),
        ..DrawnFault::default()
    }
}

fn arp(to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let (from, service) = (to.other(), taken.service(rng, &TCP));
    let mac = format!("02:00:00:00:00:{:02x}", 16 + rng.below(200));
    let fields = [("address", quoted(to.address)), ("mac", quoted(mac))];
    DrawnFault {
        text: listens(to, service) + &traffic(from, to, service, 300) + &fault("arp_conflict", &fields),
        expected: vec![Pair::new("arp_conflict", format!("host/{}", to.address))],
        report: SymptomReport::between(Symptom::Flapping, from, to),
        ..DrawnFault::default()
    }
}

fn mtu(to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let (from, service) = (to.other(), taken.service(rng, &TCP));
    let fields = [
        ("from", quoted(from.name)),
        ("to", quoted(to.name)),
        ("port", service.port.to_string()),
        ("path", rng.one(&["1400", "1500"]).to_owned()),
        ("device_mtu", "9000".to_owned()),
    ];
    let traffic: String = [20_000, 300].map(|size| traffic(from, to, service, size)).concat();
    let object = format!("flow/{}/{}/tcp/{}", from.address, to.address, service.port);
    DrawnFault {
        text: listens(to, service) + &traffic + &fault("path_mtu", &fields),
        expected: vec![Pair::new("pmtu_blackhole", object)],
        report: SymptomReport::flow(Symptom::Large, from, to, service),
        ..DrawnFault::default()
    }
}

fn asymmetric(to: Machine, rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let (from, service) = (to.other(), taken.service(rng, &TCP));
    let fields = [
        ("vm", quoted(to.name)),
        ("to", quoted(from.name)),
        ("via", quoted("10.0.1.254")),
        ("port", service.port.to_string()),
    ];
    let object = format!("flow/{}/{}/tcp/{}", from.address, to.address, service.port);
    DrawnFault {
        text: listens(to, service) + &fault("asymmetric_path", &fields),
        expected: vec![Pair::new("asymmetric_path", object)],
        report: SymptomReport::flow(Symptom::Unreachable, from, to, service),
        ..DrawnFault::default()
    }
}
