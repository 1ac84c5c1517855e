//! Faults inside guests: commands as a person would type them.

use super::make::Maker;
use super::step::PlanAction;
use crate::case::fault::{Chain, Docker, Fail2ban, Family, Iptables, Nft, PathMtu, Policy, Verdict};

/// Writes commands for a machine.
fn run(vm: &str, commands: impl IntoIterator<Item = String>) -> Vec<PlanAction> {
    commands.into_iter().map(|command| PlanAction::Run { vm: vm.to_owned(), command }).collect()
}

/// Writes a call of `iptables`; the usual table goes without saying.
fn call(family: Family, table: &str, rest: &str) -> String {
    let table = if table == "filter" { String::new() } else { format!(" -t {table}") };
    format!("{}{table} {}", family.program(), rest.trim())
}

impl Maker {
    /// Shapes what a device sends. A second shaping of the same device stands behind the first.
    pub(super) fn shaping(&mut self, vm: &str, device: &str, also_ssh: bool, kind: &str, words: &str) {
        let key = format!("shaping {vm} {device}");
        let own = format!("{key} {kind} {also_ssh}");
        let other = format!("{key} {} {also_ssh}", if kind == "netem" { "tbf" } else { "netem" });
        if self.shared.contains_key(&key)
            && (!self.shared.contains_key(&other) || self.shared.contains_key(&own))
        {
            self.wrong(
                format!("{device} of {vm} is shaped twice"),
                "write all of netem into one fault; beside it one rate_limit with the same `also_ssh` is possible",
            );
            return;
        }
        self.shared.insert(own, usize::MAX);
        let what = format!("{device} of {vm}: {words}");
        let tc = |rest: String| format!("tc qdisc {rest}");
        if let Some(first) = self.shared.get(&key).copied() {
            let parent = if also_ssh { "1:1" } else { "30:1" };
            let add = tc(format!("add dev {device} parent {parent} handle 40: {words}"));
            let gone = tc(format!("del dev {device} parent {parent}"));
            // The first carries the second: it goes when both go.
            if let Some(step) = self.steps.get_mut(first) {
                step.faults.push(self.fault);
            }
            self.step(what, run(vm, [add]), run(vm, [gone]));
            return;
        }
        let commands = if also_ssh {
            vec![tc(format!("add dev {device} root handle 1: {words}"))]
        } else {
            let filter = |at: u8, matched: &str, band: &str| {
                format!(
                    "tc filter add dev {device} parent 1: protocol ip prio {at} u32 match {matched} flowid {band}"
                )
            };
            vec![
                tc(format!("add dev {device} root handle 1: prio bands 3")),
                tc(format!("add dev {device} parent 1:3 handle 30: {words}")),
                filter(1, "ip sport 22 0xffff", "1:1"),
                filter(1, "ip dport 22 0xffff", "1:1"),
                filter(2, "u32 0 0", "1:3"),
            ]
        };
        let gone = tc(format!("del dev {device} root"));
        self.share(key, what, run(vm, commands), run(vm, [gone]));
    }

    pub(super) fn iptables(&mut self, rule: &Iptables) {
        let (table, text) = (&rule.table, rule.rule());
        let add = match rule.position {
            Some(position) => format!("-I {} {position} {text}", rule.chain),
            None => format!("-A {} {text}", rule.chain),
        };
        let gone = format!("-D {} {text}", rule.chain);
        let what = format!("{}: {} {} {text}", rule.vm, rule.family.program(), rule.chain);
        let (add, gone) = (call(rule.family, table, &add), call(rule.family, table, &gone));
        self.step(what, run(&rule.vm, [add]), run(&rule.vm, [gone]));
    }

    pub(super) fn policy(&mut self, policy: &Policy) {
        let set = |word: &str| call(policy.family, &policy.table, &format!("-P {} {word}", policy.chain));
        // Whatever it was: a fresh machine accepts.
        let before = if policy.policy == Verdict::Drop { Verdict::Accept } else { Verdict::Drop };
        let what = format!("{}: the policy of {} is {}", policy.vm, policy.chain, policy.policy.name());
        self.step(what, run(&policy.vm, [set(policy.policy.name())]), run(&policy.vm, [set(before.name())]));
    }

    /// Adds a chain with rules, and the jump to it.
    fn jumped(&mut self, own: &Chain) {
        let Chain { vm, family, table, chain, rules, from, when } = own;
        let text = |rest: String| call(*family, table, &rest);
        let when = if when.is_empty() { String::new() } else { format!("{when} ") };
        let mut add = vec![text(format!("-N {chain}"))];
        add.extend(rules.iter().map(|rule| text(format!("-A {chain} {rule}"))));
        add.push(text(format!("-I {from} 1 {when}-j {chain}")));
        let gone = [
            text(format!("-D {from} {when}-j {chain}")),
            text(format!("-F {chain}")),
            text(format!("-X {chain}")),
        ];
        let key = format!("chain {vm} {family:?} {table} {chain}");
        self.share(key, format!("{vm}: the chain {chain} before {from}"), run(vm, add), run(vm, gone));
    }

    pub(super) fn chain(&mut self, own: &Chain) {
        let key = format!("chain {} {:?} {} {}", own.vm, own.family, own.table, own.chain);
        if self.shared.contains_key(&key) {
            let what = format!("the chain `{}` is made twice", own.chain);
            self.wrong(what, "write all its rules into one fault");
            return;
        }
        self.jumped(own);
    }

    pub(super) fn fail2ban(&mut self, ban: &Fail2ban) {
        let name = ban.chain();
        if !self.shares(&format!("chain {} {:?} filter {name}", ban.vm, ban.family)) {
            let ports: Vec<String> = ban.ports.iter().map(u16::to_string).collect();
            let when = match ports.as_slice() {
                [] => String::new(),
                ports => format!("-p tcp -m multiport --dports {}", ports.join(",")),
            };
            self.jumped(&Chain {
                vm: ban.vm.clone(),
                family: ban.family,
                table: "filter".to_owned(),
                chain: name.clone(),
                rules: vec!["-j RETURN".to_owned()],
                from: "INPUT".to_owned(),
                when,
            });
        }
        let with = match (ban.target.name(), ban.family) {
            ("REJECT", Family::Ipv4) => " --reject-with icmp-port-unreachable",
            ("REJECT", Family::Ipv6) => " --reject-with icmp6-port-unreachable",
            _ => "",
        };
        let rule = format!("-s {} -j {}{with}", ban.address, ban.target.name());
        let add = call(ban.family, "filter", &format!("-I {name} 1 {rule}"));
        let gone = call(ban.family, "filter", &format!("-D {name} {rule}"));
        let what = format!("{}: {} is banned from {}", ban.vm, ban.banned(), ban.jail);
        self.step(what, run(&ban.vm, [add]), run(&ban.vm, [gone]));
    }

    /// What the engine writes when it starts; with the rule too much, where one is named.
    pub(super) fn docker(&mut self, engine: &Docker) {
        let key = format!("docker {}", engine.vm);
        if self.shared.contains_key(&key) {
            self.wrong(format!("the container engine of {} starts twice", engine.vm), "a machine has one");
            return;
        }
        let (bridge, network) = (&engine.bridge, &engine.network);
        let filter = |rest: &str| format!("iptables {rest}");
        let mut add: Vec<String> =
            Docker::CHAINS.iter().map(|chain| filter(&format!("-N {chain}"))).collect();
        let inner = [
            ("DOCKER-ISOLATION-STAGE-1", format!("-i {bridge} ! -o {bridge} -j DOCKER-ISOLATION-STAGE-2")),
            ("DOCKER-ISOLATION-STAGE-1", "-j RETURN".to_owned()),
            ("DOCKER-ISOLATION-STAGE-2", "-j RETURN".to_owned()),
            ("DOCKER-USER", "-j RETURN".to_owned()),
        ];
        for (chain, rule) in &inner {
            if rule == "-j RETURN" && engine.drop_in.as_deref() == Some(chain) {
                add.push(filter(&format!("-A {chain} -j DROP")));
            }
            add.push(filter(&format!("-A {chain} {rule}")));
        }
        if engine.drop_in.as_deref() == Some("DOCKER") {
            add.push(filter("-A DOCKER -j DROP"));
        }
        let forward = [
            "-j DOCKER-USER".to_owned(),
            "-j DOCKER-ISOLATION-STAGE-1".to_owned(),
            format!("-o {bridge} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"),
            format!("-o {bridge} -j DOCKER"),
            format!("-i {bridge} ! -o {bridge} -j ACCEPT"),
            format!("-i {bridge} -o {bridge} -j ACCEPT"),
        ];
        add.extend(forward.iter().map(|rule| filter(&format!("-A FORWARD {rule}"))));
        let nat = format!("POSTROUTING -s {network} ! -o {bridge} -j MASQUERADE");
        add.push(format!("iptables -t nat -A {nat}"));
        let mut gone = vec![format!("iptables -t nat -D {nat}")];
        gone.extend(forward.iter().map(|rule| filter(&format!("-D FORWARD {rule}"))));
        gone.extend(Docker::CHAINS.iter().map(|chain| filter(&format!("-F {chain}"))));
        gone.extend(Docker::CHAINS.iter().map(|chain| filter(&format!("-X {chain}"))));
        let what = format!("{}: the chains of the container engine", engine.vm);
        self.share(key, what, run(&engine.vm, add), run(&engine.vm, gone));
    }

    pub(super) fn nft(&mut self, rule: &Nft) {
        let key = format!("nft {} {} {}", rule.vm, rule.family, rule.table);
        if self.shared.contains_key(&key) {
            let what = format!("the table `{} {}` of {} is made twice", rule.family, rule.table, rule.vm);
            self.wrong(what, "each nft fault has a table of its own");
            return;
        }
        let (family, table, chain) = (&rule.family, &rule.table, &rule.chain);
        let add = [
            format!("nft add table {family} {table}"),
            format!(
                "nft add chain {family} {table} {chain} '{{ type filter hook {} priority {} ; policy {} ; }}'",
                rule.hook,
                rule.priority,
                rule.policy.name()
            ),
            format!("nft add rule {family} {table} {chain} {}", rule.rule()),
        ];
        let gone = [format!("nft delete table {family} {table}")];
        let what = format!("{}: nft {family} {table} {chain}: {}", rule.vm, rule.rule());
        self.share(key, what, run(&rule.vm, add), run(&rule.vm, gone));
    }

    pub(super) fn path_mtu(&mut self, path: &PathMtu) {
        let set = |vm: &str, mtu: u32| run(vm, [format!("ip link set dev {} mtu {mtu}", path.device)]);
        let both = |mtu: u32| set(&path.from, mtu).into_iter().chain(set(&path.to, mtu)).collect();
        let what = format!(
            "{} of {} and {}: packets of {} bytes on a path for {}",
            path.device, path.from, path.to, path.device_mtu, path.path
        );
        // A fresh machine's devices carry 1,500 bytes.
        self.step(what, both(path.device_mtu), both(1_500));
    }
}
