//! One fault: its lines in a case file, what is to be found, and what people notice.

use super::dice::Dice;
use super::kind::Kind;
use super::place::{ACCOUNT, DESTINATION, Machine, RESOLVER, SOURCE, SUBNET, Service, TCP, UDP};
use super::symptom::{Symptom, Told};
use crate::case::story::Pair;

/// A fault that was drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct Drawn {
    /// Its tables of the file.
    pub(super) text: String,
    pub(super) expected: Vec<Pair>,
    pub(super) may: Vec<Pair>,
    pub(super) told: Told,
}

/// What is taken already, so that no two faults are about the same thing.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken {
    ports: Vec<u16>,
    shaped: Vec<Machine>,
    names: usize,
    public: bool,
}

impl Taken {
    /// Draws a service of which nothing was said yet.
    pub(super) fn service(&mut self, dice: &mut Dice, from: &[Service]) -> Service {
        let free: Vec<Service> =
            from.iter().filter(|service| !self.ports.contains(&service.port)).copied().collect();
        let service = dice.one(&free);
        self.ports.push(service.port);
        service
    }

    /// Draws a priority before the rules of the estate, and none twice. Rules take it after their name.
    fn priority(&self, dice: &mut Dice) -> String {
        (110 + 10 * dice.below(80) + self.names).to_string()
    }

    fn name(&mut self, dice: &mut Dice, what: &[&str]) -> String {
        self.names += 1;
        format!("{}-{}{}", dice.one(what), 10 + dice.below(90), self.names)
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
pub(super) fn draw(kind: Kind, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let to = dice.one(&[DESTINATION, DESTINATION, SOURCE]);
    match kind {
        Kind::NsgInterface | Kind::NsgSubnet | Kind::NsgOut => security(kind, to, dice, taken),
        Kind::NsgInternet => internet_rule(to, dice, taken),
        Kind::Exposure => exposure(dice, taken),
        Kind::RouteNone | Kind::RouteDead | Kind::RouteDetour | Kind::Egress => route(kind, to, dice, taken),
        Kind::Endpoint | Kind::Storage => storage(kind, to),
        Kind::Loss | Kind::Delay | Kind::Corrupt | Kind::Duplicate | Kind::Reorder | Kind::Rate => {
            shape(kind, dice, taken)
        }
        Kind::Drop | Kind::Reject | Kind::DropOut | Kind::Native => filter(kind, to, dice, taken),
        Kind::Echo => echo(to),
        Kind::PolicyDrop => policy(to, dice, taken),
        Kind::Ban => ban(dice, taken),
        Kind::Docker => docker(to, dice),
        Kind::Closed | Kind::Silent => port(kind, to, dice, taken),
        Kind::Dns => dns(to, dice),
        Kind::Arp => arp(to, dice, taken),
        Kind::Mtu => mtu(to, dice, taken),
        Kind::Asymmetric => asymmetric(to, dice, taken),
    }
}

fn security(kind: Kind, to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let udp = kind != Kind::NsgOut && dice.percent(20);
    let service = taken.service(dice, if udp { &UDP } else { &TCP });
    let name = taken.name(dice, &["deny", "block", "tmp-lockdown", "sec-review", "chg-rule"]);
    let direction = if kind == Kind::NsgOut { "Outbound" } else { "Inbound" };
    let nsg = if kind == Kind::NsgSubnet {
        "subnet-guard-nsg".to_owned()
    } else {
        format!("{}-nsg", if kind == Kind::NsgOut { to.other().name } else { to.name })
    };
    let mut fields = vec![
        ("nsg", quoted(&nsg)),
        ("name", quoted(&name)),
        ("priority", taken.priority(dice)),
        ("direction", quoted(direction)),
        ("access", quoted("Deny")),
        ("protocol", quoted(dice.one(&[service.cloud_protocol(), service.cloud_protocol(), "*"]))),
        ("ports", format!("[\"{}\"]", service.port)),
    ];
    if kind == Kind::NsgSubnet {
        fields.push(("subnet", quoted(SUBNET)));
    }
    if direction == "Inbound" && dice.percent(60) {
        fields.push(("source", quoted(dice.one(&["10.0.1.0/24", to.other().address, "VirtualNetwork"]))));
    }
    Drawn {
        text: listens(to, service) + &fault("nsg_rule", &fields),
        expected: vec![Pair::new("nsg_deny", format!("nsg/{nsg}/{name}"))],
        told: Told::flow(Symptom::Unreachable, to.other(), to, service),
        ..Drawn::default()
    }
}

fn internet_rule(vm: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let name = taken.name(dice, &["deny-egress", "no-internet", "lockdown-out"]);
    let nsg = format!("{}-nsg", vm.name);
    let fields = [
        ("nsg", quoted(&nsg)),
        ("name", quoted(&name)),
        ("priority", taken.priority(dice)),
        ("direction", quoted("Outbound")),
        ("access", quoted("Deny")),
        ("destination", quoted("Internet")),
    ];
    Drawn {
        text: fault("nsg_rule", &fields),
        expected: vec![Pair::new("nsg_deny", format!("nsg/{nsg}/{name}"))],
        told: Told::at(Symptom::Internet, vm),
        ..Drawn::default()
    }
}

fn public(taken: &mut Taken) -> String {
    if std::mem::replace(&mut taken.public, true) {
        return String::new();
    }
    format!(
        "[[public]]\nvm = \"{}\"\nname = \"tf-dest-vm-ip\"\naddress = \"203.0.113.11\"\n\n",
        DESTINATION.name
    )
}

fn exposure(dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let name = taken.name(dice, &["temp-rdp", "vendor-access", "quick-fix"]);
    let fields = [
        ("nsg", quoted("tf-dest-vm-nsg")),
        ("name", quoted(&name)),
        ("priority", (200 + 10 * dice.below(70)).to_string()),
        ("access", quoted("Allow")),
        ("protocol", quoted("Tcp")),
        ("source", quoted(dice.one(&["*", "Internet", "0.0.0.0/0"]))),
        ("ports", dice.one(&["[\"3389\"]", "[\"3380-3400\"]"]).to_owned()),
    ];
    let rule = |name: &str| Pair::new("nsg_exposure", format!("nsg/tf-dest-vm-nsg/{name}"));
    Drawn {
        text: public(taken) + &fault("nsg_rule", &fields),
        expected: vec![rule(&name), rule("default-allow-ssh")],
        told: Told::at(Symptom::Audit, DESTINATION),
        ..Drawn::default()
    }
}

fn route(kind: Kind, to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let name = taken.name(dice, &["to-firewall", "redirect", "cleanup", "maintenance"]);
    let table = taken.name(dice, &["spoke-rt", "egress-rt", "default-rt"]);
    let none = kind == Kind::RouteNone || (kind == Kind::Egress && dice.percent(40));
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
            dice.percent(50)
        );
        fields.push(("address", quoted("10.0.1.30")));
        "route_detour"
    } else {
        fields.push(("address", quoted(dice.one(&["10.0.1.100", "10.0.1.253", "10.0.2.4"]))));
        "route_dead_nva"
    };
    let told = if kind == Kind::Egress {
        Told::at(Symptom::Internet, dice.one(&[SOURCE, DESTINATION]))
    } else {
        Told::between(Symptom::Lost, to.other(), to)
    };
    Drawn {
        text: text + &fault("route", &fields),
        expected: vec![Pair::new(code, format!("route/{table}/{name}"))],
        told,
        ..Drawn::default()
    }
}

fn storage(kind: Kind, from: Machine) -> Drawn {
    let wall = |subnets: &str| {
        let fields =
            [("account", quoted(ACCOUNT)), ("default", quoted("Deny")), ("subnets", subnets.to_owned())];
        fault("storage_firewall", &fields)
    };
    let denied = vec![Pair::new("storage_firewall_deny", format!("storage/{ACCOUNT}"))];
    let told = Told::at(Symptom::Storage, from);
    if kind == Kind::Storage {
        return Drawn { text: wall("[]"), expected: denied, told, ..Drawn::default() };
    }
    let service = "Microsoft.Storage";
    let fields = [
        ("subnet", quoted(SUBNET)),
        ("service", quoted(service)),
        ("left", "[\"Microsoft.Sql\"]".to_owned()),
    ];
    Drawn {
        text: wall(&format!("[\"{SUBNET}\"]")) + &fault("service_endpoint", &fields),
        expected: vec![Pair::new("service_endpoint_missing", format!("subnet/{SUBNET}/{service}"))],
        may: denied,
        told,
    }
}

fn shape(kind: Kind, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let free: Vec<Machine> =
        [SOURCE, DESTINATION].into_iter().filter(|vm| !taken.shaped.contains(vm)).collect();
    let vm = dice.one(&free);
    taken.shaped.push(vm);
    let mut fields = vec![("vm", quoted(vm.name))];
    let share = |dice: &mut Dice, all: &[&'static str]| dice.one(all).to_owned();
    let (code, symptom) = if kind == Kind::Delay {
        fields.push(("delay", quoted(dice.one(&["30ms", "60ms", "100ms", "150ms"]))));
        ("netem_delay", Symptom::Slow)
    } else if kind == Kind::Corrupt {
        fields.push(("corrupt", share(dice, &["2.0", "4.0", "6.0"])));
        ("netem_corrupt", Symptom::Lossy)
    } else if kind == Kind::Duplicate {
        fields.push(("duplicate", share(dice, &["10.0", "20.0"])));
        ("netem_duplicate", Symptom::Lossy)
    } else if kind == Kind::Reorder {
        fields.push(("delay", quoted("20ms")));
        fields.push(("reorder", share(dice, &["25.0", "40.0"])));
        ("netem_reorder", Symptom::Lossy)
    } else if kind == Kind::Rate {
        fields.push(("rate", quoted(dice.one(&["2mbit", "5mbit", "10mbit"]))));
        ("rate_limit", Symptom::Throughput)
    } else {
        fields.push(("loss", share(dice, &["8.0", "12.0", "20.0"])));
        ("netem_loss", Symptom::Lossy)
    };
    let object = format!("qdisc/{}/eth0", vm.name);
    let mut expected = vec![Pair::new(code, object.clone())];
    if kind == Kind::Reorder {
        // Only what waits can be overtaken.
        expected.push(Pair::new("netem_delay", object));
    }
    let kind = if kind == Kind::Rate { "rate_limit" } else { "netem" };
    Drawn {
        text: fault(kind, &fields),
        expected,
        told: Told::between(symptom, vm, vm.other()),
        ..Drawn::default()
    }
}

fn filter(kind: Kind, to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let udp = kind == Kind::Drop && dice.percent(20);
    let service = taken.service(dice, if udp { &UDP } else { &TCP });
    let (protocol, port) = (service.protocol(), service.port);
    let text = listens(to, service);
    let flow = |symptom| Told::flow(symptom, to.other(), to, service);
    if kind == Kind::Native {
        let fields = [
            ("vm", quoted(to.name)),
            ("table", quoted("hardening")),
            ("protocol", quoted(protocol)),
            ("port", quoted(port.to_string())),
        ];
        let object = format!("netfilter/{}/inet:hardening/input/{protocol}/{port}", to.name);
        let expected = vec![Pair::new("guest_firewall_drop", object)];
        let told = flow(Symptom::Unreachable);
        return Drawn { text: text + &fault("nft", &fields), expected, told, ..Drawn::default() };
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
    if kind == Kind::Reject && dice.percent(50) {
        fields.push(("reject_with", quoted("tcp-reset")));
    }
    let object = format!("netfilter/{}/filter/{chain}/{protocol}/{port}", vm.name);
    Drawn {
        text: text + &fault("iptables", &fields),
        expected: vec![Pair::new(code, object)],
        told: flow(symptom),
        ..Drawn::default()
    }
}

fn echo(to: Machine) -> Drawn {
    let fields = [
        ("vm", quoted(to.name)),
        ("position", "1".to_owned()),
        ("protocol", quoted("icmp")),
        ("target", quoted("DROP")),
    ];
    let object = format!("netfilter/{}/filter/INPUT/icmp/any", to.name);
    Drawn {
        text: fault("iptables", &fields),
        expected: vec![Pair::new("guest_firewall_drop", object)],
        told: Told::between(Symptom::Ping, to.other(), to),
        ..Drawn::default()
    }
}

fn policy(to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let service = taken.service(dice, &TCP);
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
    Drawn {
        text: text.concat(),
        expected: vec![Pair::new("guest_firewall_policy_drop", object)],
        told: Told::flow(Symptom::Unreachable, to.other(), to, service),
        ..Drawn::default()
    }
}

fn ban(dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let partner = format!("203.0.113.{}", 40 + dice.below(60));
    let fields = [
        ("vm", quoted(DESTINATION.name)),
        ("jail", quoted("sshd")),
        ("address", quoted(format!("{partner}/32"))),
    ];
    let object = format!("netfilter/{}/f2b-sshd/{partner}", DESTINATION.name);
    Drawn {
        text: public(taken) + &fault("fail2ban", &fields),
        expected: vec![Pair::new("fail2ban_ban", object)],
        told: Told { partner, ..Told::at(Symptom::Partner, DESTINATION) },
        ..Drawn::default()
    }
}

fn docker(vm: Machine, dice: &mut Dice) -> Drawn {
    let chain = dice.one(&["DOCKER-ISOLATION-STAGE-2", "DOCKER-USER"]);
    let fields = [("vm", quoted(vm.name)), ("drop_in", quoted(chain))];
    let object = format!("netfilter/{}/filter/{chain}", vm.name);
    Drawn {
        text: fault("docker", &fields),
        expected: vec![Pair::new("container_firewall_change", object)],
        told: Told::at(Symptom::Container, vm),
        ..Drawn::default()
    }
}

fn port(kind: Kind, to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let service = taken.service(dice, &TCP);
    let from = to.other();
    let closed = kind == Kind::Closed;
    let (word, code) =
        if closed { ("port_closed", "tcp_refused") } else { ("port_silent", "syn_unanswered") };
    let fields = [("vm", quoted(to.name)), ("port", service.port.to_string()), ("from", quoted(from.name))];
    let object = format!("flow/{}/{}/tcp/{}", from.address, to.address, service.port);
    let symptom = if closed { Symptom::Refused } else { Symptom::Unreachable };
    Drawn {
        text: fault(word, &fields),
        expected: vec![Pair::new(code, object)],
        told: Told::flow(symptom, from, to, service),
        ..Drawn::default()
    }
}

fn dns(from: Machine, dice: &mut Dice) -> Drawn {
    let fields = [
        ("server", quoted(RESOLVER)),
        ("does", quoted(dice.one(&["silent", "servfail", "nxdomain"]))),
        ("from", quoted(from.name)),
    ];
    Drawn {
        text: fault("dns", &fields),
        expected: vec![Pair::new("dns_failure", format!("dns/{RESOLVER}"))],
        told: Told::at(Symptom::Names, from),
        ..Drawn::default()
    }
}

fn arp(to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let (from, service) = (to.other(), taken.service(dice, &TCP));
    let mac = format!("02:00:00:00:00:{:02x}", 16 + dice.below(200));
    let fields = [("address", quoted(to.address)), ("mac", quoted(mac))];
    Drawn {
        text: listens(to, service) + &traffic(from, to, service, 300) + &fault("arp_conflict", &fields),
        expected: vec![Pair::new("arp_conflict", format!("host/{}", to.address))],
        told: Told::between(Symptom::Flapping, from, to),
        ..Drawn::default()
    }
}

fn mtu(to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let (from, service) = (to.other(), taken.service(dice, &TCP));
    let fields = [
        ("from", quoted(from.name)),
        ("to", quoted(to.name)),
        ("port", service.port.to_string()),
        ("path", dice.one(&["1400", "1500"]).to_owned()),
        ("device_mtu", "9000".to_owned()),
    ];
    let traffic: String = [20_000, 300].map(|size| traffic(from, to, service, size)).concat();
    let object = format!("flow/{}/{}/tcp/{}", from.address, to.address, service.port);
    Drawn {
        text: listens(to, service) + &traffic + &fault("path_mtu", &fields),
        expected: vec![Pair::new("pmtu_blackhole", object)],
        told: Told::flow(Symptom::Large, from, to, service),
        ..Drawn::default()
    }
}

fn asymmetric(to: Machine, dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let (from, service) = (to.other(), taken.service(dice, &TCP));
    let fields = [
        ("vm", quoted(to.name)),
        ("to", quoted(from.name)),
        ("via", quoted("10.0.1.254")),
        ("port", service.port.to_string()),
    ];
    let object = format!("flow/{}/{}/tcp/{}", from.address, to.address, service.port);
    Drawn {
        text: listens(to, service) + &fault("asymmetric_path", &fields),
        expected: vec![Pair::new("asymmetric_path", object)],
        told: Told::flow(Symptom::Unreachable, from, to, service),
        ..Drawn::default()
    }
}
