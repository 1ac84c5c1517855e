//! What is planned can be taken back, whatever is combined.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use ghost_lab::case::{Case, PlanAction, View, embedded, inject, plan, reset};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

use super::stage::Here;

/// Drives a future for so many polls, then lets it go; each poll ends with the next thing that is waited for.
pub(super) async fn in_steps<T>(work: impl Future<Output = T>, polls: usize) {
    let mut work = Box::pin(work);
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        match Pin::new(&mut work).poll(context) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await;
}

const HEAD: &str = "id = \"x\"\ntitle = \"x\"\nprompt = \"x\"\noutcome = [\"CONFIRMED\"]\n";

/// Faults that can be there together, each at most once.
pub(super) const FAULTS: [&str; 26] = [
    "kind = \"nsg_rule\"\nnsg = \"tf-dest-vm-nsg\"\nname = \"one\"\npriority = 110\nports = [\"80\", \"8000-8099\"]\n",
    "kind = \"nsg_rule\"\nnsg = \"tf-source-vm-nsg\"\nname = \"out\"\npriority = 110\ndirection = \"Outbound\"\nprotocol = \"Udp\"\ndestination = \"Internet\"\n",
    "kind = \"nsg_rule\"\nnsg = \"new-nsg\"\nsubnet = \"forensics-vnet/default\"\nname = \"two\"\npriority = 200\nprotocol = \"Tcp\"\nports = [\"5432\"]\n",
    "kind = \"nsg_rule\"\nnsg = \"new-nsg\"\nsubnet = \"forensics-vnet/default\"\nname = \"three\"\npriority = 210\nprotocol = \"Icmp\"\n",
    "kind = \"nsg_rule\"\nnsg = \"nic-nsg\"\nnic = \"tf-dest-vm-nic\"\nname = \"four\"\npriority = 100\naccess = \"Allow\"\nports = [\"3389\"]\n",
    "kind = \"route\"\ntable = \"rt\"\nname = \"dead\"\nprefix = \"10.0.1.5/32\"\nhop = \"VirtualAppliance\"\naddress = \"10.0.1.100\"\nsubnet = \"forensics-vnet/default\"\n",
    "kind = \"route\"\ntable = \"rt\"\nname = \"none\"\nprefix = \"192.0.2.0/24\"\nhop = \"None\"\nsubnet = \"forensics-vnet/default\"\n",
    "kind = \"route\"\ntable = \"rt\"\nname = \"detour\"\nprefix = \"0.0.0.0/0\"\nhop = \"VirtualAppliance\"\naddress = \"10.0.1.5\"\nsubnet = \"forensics-vnet/default\"\n",
    "kind = \"service_endpoint\"\nsubnet = \"forensics-vnet/default\"\nservice = \"Microsoft.Storage\"\nleft = [\"Microsoft.Sql\"]\n",
    "kind = \"storage_firewall\"\naccount = \"nwlogs080613\"\nsubnets = [\"forensics-vnet/default\"]\naddresses = [\"203.0.113.0/24\"]\n",
    "kind = \"netem\"\nvm = \"tf-source-vm\"\ndelay = \"30ms\"\njitter = \"5ms\"\nloss = 1.5\n",
    "kind = \"rate_limit\"\nvm = \"tf-source-vm\"\nrate = \"5mbit\"\n",
    "kind = \"iptables\"\nvm = \"tf-dest-vm\"\nposition = 1\nprotocol = \"udp\"\nport = \"53\"\ntarget = \"REJECT\"\n",
    "kind = \"iptables_policy\"\nvm = \"tf-dest-vm\"\nchain = \"FORWARD\"\npolicy = \"DROP\"\n",
    "kind = \"iptables_chain\"\nvm = \"tf-source-vm\"\nchain = \"mine\"\nrules = [\"-p tcp --dport 25 -j DROP\"]\nfrom = \"OUTPUT\"\n",
    "kind = \"fail2ban\"\nvm = \"tf-dest-vm\"\naddress = \"203.0.113.47\"\n",
    "kind = \"fail2ban\"\nvm = \"tf-dest-vm\"\naddress = \"203.0.113.48\"\n",
    "kind = \"docker\"\nvm = \"tf-source-vm\"\ndrop_in = \"DOCKER-USER\"\n",
    "kind = \"nft\"\nvm = \"tf-dest-vm\"\ntable = \"guard\"\nprotocol = \"tcp\"\nport = \"8080\"\n",
    "kind = \"port_closed\"\nvm = \"tf-dest-vm\"\nport = 9999\nfrom = \"tf-source-vm\"\n",
    "kind = \"port_silent\"\nvm = \"tf-dest-vm\"\nport = 9998\nfrom = \"tf-source-vm\"\n",
    "kind = \"dns\"\nserver = \"168.63.129.16\"\ndoes = \"servfail\"\nfrom = \"tf-source-vm\"\n",
    "kind = \"arp_conflict\"\naddress = \"10.0.1.5\"\nmac = \"02:00:00:00:00:99\"\n",
    "kind = \"path_mtu\"\nfrom = \"tf-source-vm\"\nto = \"tf-dest-vm\"\nport = 8080\npath = 1500\ndevice_mtu = 9000\n",
    "kind = \"asymmetric_path\"\nvm = \"tf-dest-vm\"\nto = \"tf-source-vm\"\nvia = \"10.0.1.100\"\nport = 8080\n",
    "kind = \"iptables\"\nvm = \"tf-dest-vm\"\nfamily = \"ipv6\"\nchain = \"OUTPUT\"\nprotocol = \"tcp\"\nport = \"443-445\"\ndestination = \"2001:db8::/32\"\n",
];

pub(super) fn case(faults: &[usize]) -> String {
    let faults: Vec<String> =
        faults.iter().map(|at| format!("[[fault]]\nid = \"f{at}\"\n{}", FAULTS[*at])).collect();
    format!("{HEAD}{}", faults.join("\n"))
}

/// Says which command takes which back.
fn undone(command: &str) -> String {
    let mut words: Vec<&str> = command.split(' ').collect();
    let at = words.iter().position(|word| ["-A", "-I"].contains(word));
    if let Some(at) = at {
        words[at] = "-D";
        if words.get(at + 2).is_some_and(|place| place.parse::<u16>().is_ok()) {
            words.remove(at + 2);
        }
    }
    words.join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever is combined, in any order: taking the steps back one by one leaves the estate as it was, and so does a reset.
    #[test]
    fn combined_faults_leave_no_trace(chosen in subsequence((0..FAULTS.len()).collect::<Vec<_>>(), 0..10), order in any::<Index>()) {
        let here = Here::up();
        let mut chosen = chosen;
        if !chosen.is_empty() {
            let turn = order.index(chosen.len());
            chosen.rotate_left(turn);
        }
        let (estate, essence) = (here.estate(), here.essence());
        let fixes: Vec<String> = chosen.iter().map(|at| format!("\"f{at}\"")).collect();
        let text = format!("{}\n[phase.2]\nprompt = \"y\"\noutcome = [\"CONFIRMED\"]\nfixes = [{}]\n", case(&chosen), fixes.join(", "));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(inject(&here, here.path(), &text, None, 1)).unwrap();
        // All faults are taken away one by one.
        runtime.block_on(inject(&here, here.path(), &text, None, 2)).unwrap();
        prop_assert_eq!(here.essence(), essence);
        runtime.block_on(reset(&here, here.path())).unwrap();
        prop_assert_eq!(here.estate(), estate);
    }
}

#[test]
fn every_rule_that_is_added_is_taken_back_by_its_own_words() {
    let here = Here::up();
    use ghost_lab::case::LabAccess as _;
    let all: Vec<usize> = (0..FAULTS.len()).collect();
    let plan = plan(&Case::read(&case(&all)).unwrap(), &View::new(here.documents())).unwrap();
    for step in &plan.steps {
        let command = |act: &PlanAction| match act {
            PlanAction::Run { command, .. } => Some(command.clone()),
            _ => None,
        };
        let undo: BTreeSet<String> = step.undo.iter().filter_map(command).collect();
        let chains: Vec<String> = undo
            .iter()
            .filter_map(|line| line.split_once("-X ").map(|(_, chain)| format!(" {chain} ")))
            .collect();
        for add in step.acts.iter().filter_map(command).filter(|add| add.contains("tables ")) {
            // A chain that goes takes its rules with it.
            let inside = chains
                .iter()
                .any(|chain| add.contains(&format!("-A{chain}")) || add.contains(&format!("-I{chain}")));
            if (add.contains(" -A ") || add.contains(" -I ")) && !inside {
                assert!(undo.contains(&undone(&add)), "{add} is not taken back by {undo:?}");
            }
            if let Some((_, chain)) = add.split_once("-N ") {
                assert!(undo.iter().any(|line| line.ends_with(&format!("-X {chain}"))), "{add}");
            }
        }
    }
}

#[test]
fn shaping_spares_ssh_and_a_rate_stands_behind_the_damage() {
    let here = Here::up();
    use ghost_lab::case::LabAccess as _;
    let plan = plan(&Case::read(&case(&[10, 11])).unwrap(), &View::new(here.documents())).unwrap();
    let commands: Vec<&str> = plan
        .steps
        .iter()
        .flat_map(|step| &step.acts)
        .filter_map(|act| match act {
            PlanAction::Run { command, .. } => Some(command.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        commands,
        [
            "tc qdisc add dev eth0 root handle 1: prio bands 3",
            "tc qdisc add dev eth0 parent 1:3 handle 30: netem delay 30ms 5ms loss 1.5%",
            "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip sport 22 0xffff flowid 1:1",
            "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 22 0xffff flowid 1:1",
            "tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match u32 0 0 flowid 1:3",
            "tc qdisc add dev eth0 parent 30:1 handle 40: tbf rate 5mbit burst 20kb latency 400ms",
        ]
    );
}

#[test]
fn what_does_not_go_together_is_reported_with_its_line() {
    let here = Here::up();
    use ghost_lab::case::LabAccess as _;
    let view = View::new(here.documents());
    let reported = |body: &str| plan(&Case::read(&format!("{HEAD}{body}")).unwrap(), &view).unwrap_err();
    let twice = |at: usize| reported(&format!("[[fault]]\n{0}[[fault]]\n{0}", FAULTS[at]));
    for at in [0, 2, 5, 8, 9, 10, 11, 14, 17, 18] {
        assert_eq!(twice(at).0[0].line, Some(5 + 1 + FAULTS[at].lines().count()), "{at}: {}", twice(at));
    }
    let same_priority = FAULTS[0].replace("\"one\"", "\"other\"");
    assert!(
        reported(&format!("[[fault]]\n{}[[fault]]\n{same_priority}", FAULTS[0])).to_string().contains("110")
    );
    let known = FAULTS[0].replace("110", "1000");
    assert!(reported(&format!("[[fault]]\n{known}")).to_string().contains("default-allow-ssh"));
    assert!(
        reported(&format!("[[fault]]\n{}", FAULTS[0].replace("tf-dest-vm-nsg", "nobodys")))
            .hint()
            .contains("tf-dest-vm-nsg")
    );
    assert!(reported("[[service]]\nvm = \"tf-dest-vm\"\nport = 9999\n[[fault]]\nkind = \"port_closed\"\nvm = \"tf-dest-vm\"\nport = 9999\nfrom = \"tf-source-vm\"\n").to_string().contains("9999"));
    assert!(
        reported("[[traffic]]\nfrom = \"tf-source-vm\"\nto = \"nowhere\"\n").to_string().contains("nowhere")
    );
    assert!(
        reported(
            "[[vm]]\nname = \"tf-dest-vm\"\naddress = \"10.0.1.9\"\nsubnet = \"forensics-vnet/default\"\n"
        )
        .to_string()
        .contains("already")
    );
    assert!(
        reported("[[vm]]\nname = \"nva\"\naddress = \"10.0.1.5\"\nsubnet = \"forensics-vnet/default\"\n")
            .to_string()
            .contains("taken")
    );
}

#[test]
fn an_appliance_of_ones_own_is_a_detour_and_goes_again() {
    let here = Here::up();
    let (estate, essence) = (here.estate(), here.essence());
    let nva = "[[vm]]\nname = \"nva\"\naddress = \"10.0.1.100\"\nsubnet = \"forensics-vnet/default\"\nforwards = true\n";
    let text = format!("{HEAD}{nva}[[fault]]\n{}", FAULTS[5]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(inject(&here, here.path(), &text, None, 1)).unwrap();
    use ghost_lab::case::LabAccess as _;
    let view = View::new(here.documents());
    let case = Case::read(&text).unwrap();
    let pairs = case.faults[0].fault.pairs(&|vm| view.address(vm), &|address| view.owned(address));
    assert_eq!(pairs[0].to_string(), "route_detour route/rt/dead");
    assert_eq!(view.address("nva").unwrap().to_string(), "10.0.1.100");
    assert_ne!(here.essence(), essence);
    runtime.block_on(reset(&here, here.path())).unwrap();
    assert_eq!(here.estate(), estate);
    assert!(embedded("e").is_some());
}
