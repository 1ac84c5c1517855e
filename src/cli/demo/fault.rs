//! What can be added to what is there, so that a visitor can try to fool whoever investigates.

use std::collections::BTreeSet;

use super::case::DemoCase;
use ghost_lab::case::{Case, Pair, Problems};

/// A fault that can be added.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extra {
    /// By what it is picked.
    pub(super) name: &'static str,
    /// What its button says.
    pub(super) title: &'static str,
    /// What a person who notices it could say.
    pub(super) prompt: &'static str,
    /// Who has to listen, so that it is noticed: machine, port, program.
    listens: Option<(&'static str, u16, &'static str)>,
    /// Its tables in a case file.
    text: &'static str,
    /// What is to be found: code and object.
    found: Option<(&'static str, &'static str)>,
}

/// Everything that can be added.
pub(super) const EXTRAS: [Extra; 9] = [
    Extra {
        name: "nsg",
        title: "Deny ssh in a security group",
        prompt: "ssh from tf-source-vm (10.0.1.4) to tf-dest-vm (10.0.1.5), port 22, times out since this morning. nw-forensics-rg.",
        listens: None,
        text: r#"
[[fault]]
kind = "nsg_rule"
nsg = "tf-dest-vm-nsg"
name = "visitor-block-ssh"
priority = 140
access = "Deny"
protocol = "Tcp"
ports = ["22"]
"#,
        found: Some(("nsg_deny", "nsg/tf-dest-vm-nsg/visitor-block-ssh")),
    },
    Extra {
        name: "route",
        title: "Send a route into a black hole",
        prompt: "tf-source-vm (10.0.1.4) reaches nothing on tf-dest-vm (10.0.1.5) any more, whatever the port. nw-forensics-rg.",
        listens: None,
        text: r#"
[[fault]]
kind = "route"
table = "visitor-rt"
name = "visitor-blackhole"
prefix = "10.0.1.5/32"
hop = "None"
subnet = "forensics-vnet/default"
"#,
        found: Some(("route_blackhole", "route/visitor-rt/visitor-blackhole")),
    },
    Extra {
        name: "iptables",
        title: "Drop 8080 with iptables",
        prompt: "8080 on tf-dest-vm (10.0.1.5) does not answer tf-source-vm (10.0.1.4): connections hang. The process is up. nw-forensics-rg.",
        listens: Some(("tf-dest-vm", 8080, "python3")),
        text: r#"
[[fault]]
kind = "iptables"
vm = "tf-dest-vm"
chain = "INPUT"
position = 1
protocol = "tcp"
port = "8080"
target = "DROP"
"#,
        found: Some(("guest_firewall_drop", "netfilter/tf-dest-vm/filter/INPUT/tcp/8080")),
    },
    Extra {
        name: "outbound",
        title: "Drop outbound 443",
        prompt: "https (443) on tf-dest-vm (10.0.1.5) times out when called from tf-source-vm (10.0.1.4), from elsewhere it works. nw-forensics-rg.",
        listens: Some(("tf-dest-vm", 443, "nginx")),
        text: r#"
[[fault]]
kind = "iptables"
vm = "tf-source-vm"
chain = "OUTPUT"
position = 1
protocol = "tcp"
port = "443"
target = "DROP"
"#,
        found: Some(("guest_firewall_drop", "netfilter/tf-source-vm/filter/OUTPUT/tcp/443")),
    },
    Extra {
        name: "tbf",
        title: "Throttle a machine to 5 Mbit/s",
        prompt: "Throughput from tf-source-vm (10.0.1.4) to tf-dest-vm (10.0.1.5) collapsed: copies take hours. nw-forensics-rg.",
        listens: None,
        text: r#"
[[fault]]
kind = "rate_limit"
vm = "tf-source-vm"
rate = "5mbit"
"#,
        found: Some(("rate_limit", "qdisc/tf-source-vm/eth0")),
    },
    Extra {
        name: "loss",
        title: "Lose 12 % of the packets",
        prompt: "Transfers between tf-source-vm (10.0.1.4) and tf-dest-vm (10.0.1.5) stall and go on again; we see retransmissions. nw-forensics-rg.",
        listens: None,
        text: r#"
[[fault]]
kind = "netem"
vm = "tf-dest-vm"
loss = 12.0
"#,
        found: Some(("netem_loss", "qdisc/tf-dest-vm/eth0")),
    },
    Extra {
        name: "mtu",
        title: "Shrink the MTU of the path",
        prompt: "Small requests from tf-source-vm (10.0.1.4) to 8443 on tf-dest-vm (10.0.1.5) work, large ones hang. Evidence from the wire, please. nw-forensics-rg.",
        listens: Some(("tf-dest-vm", 8443, "java")),
        text: r#"
[[traffic]]
from = "tf-source-vm"
to = "tf-dest-vm"
port = 8443
every_ms = 1000
request = 20000
answer = 200

[[traffic]]
from = "tf-source-vm"
to = "tf-dest-vm"
port = 8443
every_ms = 1000
request = 300
answer = 200

[[fault]]
kind = "path_mtu"
from = "tf-source-vm"
to = "tf-dest-vm"
port = 8443
path = 1400
device_mtu = 9000
"#,
        found: Some(("pmtu_blackhole", "flow/10.0.1.4/10.0.1.5/tcp/8443")),
    },
    Extra {
        name: "dns",
        title: "Silence the name server",
        prompt: "Name resolution fails on tf-source-vm (10.0.1.4), addresses work. nw-forensics-rg.",
        listens: None,
        text: r#"
[[fault]]
kind = "dns"
server = "168.63.129.16"
does = "silent"
from = "tf-source-vm"
"#,
        found: Some(("dns_failure", "dns/168.63.129.16")),
    },
    Extra {
        name: "nothing",
        title: "Nothing at all, and complain",
        prompt: "Responses from tf-dest-vm (10.0.1.5) to tf-source-vm (10.0.1.4) on 9443 are slow, I am sure that a firewall is to blame. nw-forensics-rg.",
        listens: Some(("tf-dest-vm", 9443, "envoy")),
        text: "",
        found: None,
    },
];

/// What is there where no case is.
const HEALTHY: &str = "id = \"own\"\ntitle = \"A healthy cloud\"\nprompt = \"Is anything wrong in nw-forensics-rg?\"\n\
                       outcome = [\"NO_FAULT_FOUND\", \"INCONCLUSIVE\"]\n";

impl Extra {
    /// Finds one by its name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        EXTRAS.iter().find(|extra| extra.name == name)
    }

    /// Returns what is to be found where it is there.
    pub(super) fn pair(&self) -> Option<Pair> {
        self.found.map(|(code, object)| Pair::new(code, object))
    }
}

/// Writes one case, where there is one, and every fault that was added.
pub(super) fn whole(case: Option<&DemoCase>, extras: &[&Extra]) -> Result<String, Problems> {
    let base = case.map_or(HEALTHY, |case| case.text);
    let case = Case::read(base)?;
    let mut bound: BTreeSet<(String, u16)> =
        case.services.iter().map(|service| (service.vm.clone(), service.port)).collect();
    let mut text = format!("{}\n", base.trim_end());
    for extra in extras {
        if let Some((vm, port, program)) = extra.listens
            && bound.insert((vm.to_owned(), port))
        {
            text.push_str(&format!("\n[[service]]\nvm = \"{vm}\"\nport = {port}\nprogram = \"{program}\"\n"));
        }
        text.push_str(extra.text);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn address(vm: &str) -> Option<IpAddr> {
        let found = [("tf-source-vm", "10.0.1.4"), ("tf-dest-vm", "10.0.1.5")];
        found.iter().find(|(name, _)| *name == vm).map(|(_, address)| address.parse().unwrap())
    }

    #[test]
    fn what_is_to_be_found_is_what_the_fault_itself_gives() {
        for extra in &EXTRAS {
            let case = Case::read(&whole(None, &[extra]).unwrap()).unwrap();
            let pairs: Vec<Pair> =
                case.faults.iter().flat_map(|placed| placed.fault.pairs(&address, &|_| false)).collect();
            assert_eq!(pairs, extra.pair().into_iter().collect::<Vec<_>>(), "{}", extra.name);
        }
    }

    #[test]
    fn every_fault_can_be_added_to_every_case_as_text() {
        for case in DemoCase::all().unwrap() {
            let all: Vec<&Extra> = EXTRAS.iter().collect();
            let read = Case::read(&whole(Some(&case), &all).unwrap());
            assert!(read.is_ok(), "{}: {:?}", case.name, read.err());
        }
    }

    #[test]
    fn names_are_given_once() {
        let names: BTreeSet<&str> = EXTRAS.iter().map(|extra| extra.name).collect();
        assert_eq!(names.len(), EXTRAS.len());
        assert_eq!(Extra::named("x"), None);
    }
}
