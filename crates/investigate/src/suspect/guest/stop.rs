//! The places of a host that stop packets.

use std::collections::BTreeSet;

use super::native::values;
use super::rule::{Does, RuleEffect};
use super::save::bare;
use crate::finding::Fault;
use crate::suspect::Suspect;
use crate::suspect::supported::plain;
use ghost_inspect::netfilter::{
    Chain, Document, Explanation, Format, Host, HostAnswer, Rule, Ruleset, Table, Verdict, explain,
};

/// A longer rule is not shown word for word.
const LONGEST_RULE: usize = 200;

/// A place that stops packets: a rule, or the policy of a chain where no rule is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Which tool shows it.
    pub(crate) source: String,
    /// The table, as it is printed.
    pub(crate) table: String,
    pub(crate) chain: String,
    /// The rule's place in it.
    pub(crate) position: Option<usize>,
    /// Which faults that is.
    pub(crate) suspects: Vec<Suspect>,
}

/// Lists the places of a machine that stop packets.
pub(crate) fn stops(machine: &str, host: &Host) -> Vec<Stop> {
    let explained = explain(&Document::Host(Box::new(host.clone())));
    let mut found = Vec::new();
    for (source, ruleset) in host.rulesets() {
        let dead = dead(&explained, source);
        let look = Look { machine, source, ruleset, host, dead: &dead };
        for table in ruleset.tables.iter().filter(|table| !table.dormant) {
            look.table(table, &mut found);
        }
    }
    found
}

/// Returns the places of rules that no packet meets.
fn dead(explained: &Explanation, source: &str) -> BTreeSet<String> {
    let own = explained.backends.iter().filter(|backend| backend.source == source);
    own.flat_map(|backend| &backend.dead).map(|dead| dead.at.clone()).collect()
}

/// Returns the faults of the place that decided over a packet: none where what decided is as it should be.
pub(crate) fn deciding(answer: &HostAnswer, stops: &[Stop]) -> Vec<Suspect> {
    if !matches!(answer.verdict, Verdict::Drop | Verdict::Reject) {
        return Vec::new();
    }
    let decided = answer.answers.iter().filter(|own| own.answer.verdict == answer.verdict);
    let mut found = Vec::new();
    for own in decided {
        let is = |stop: &&Stop| {
            let place = format!("{} {}", stop.table, stop.chain);
            let rule = own.answer.rule.as_ref();
            stop.source == own.source
                && match (rule, &own.answer.policy) {
                    (Some(rule), _) => {
                        (&rule.table, &rule.chain, Some(rule.position))
                            == (&stop.table, &stop.chain, stop.position)
                    }
                    (None, Some(policy)) => stop.position.is_none() && *policy == place,
                    (None, None) => false,
                }
        };
        found.extend(stops.iter().filter(is).flat_map(|stop| stop.suspects.clone()));
    }
    found
}

/// Who made a chain, where that decides what its rules mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    Jail,
    /// Docker: its rules name bridges, never protocols.
    Docker,
    /// Other engines, whose rules are left alone unless they stop everything.
    Engine,
    /// Programs of which even that is usual.
    Opaque,
    Somebody,
}

fn maker(table: &str, chain: &str) -> Maker {
    let starts = |names: &[&str]| names.iter().any(|name| chain.starts_with(name));
    if starts(&["f2b-", "fail2ban-"]) || table.contains("f2b-table") {
        Maker::Jail
    } else if starts(&["DOCKER"]) {
        Maker::Docker
    } else if starts(&["KUBE-", "CNI-", "NETAVARK", "PODMAN", "FLANNEL-", "WEAVE", "LIBVIRT_"]) {
        Maker::Engine
    } else if starts(&["cali-", "cali:", "cali_", "CILIUM_", "OLD_CILIUM_", "ISTIO_"]) {
        Maker::Opaque
    } else {
        Maker::Somebody
    }
}

struct Look<'a> {
    machine: &'a str,
    source: &'a str,
    ruleset: &'a Ruleset,
    host: &'a Host,
    dead: &'a BTreeSet<String>,
}

impl Look<'_> {
    fn table(&self, table: &Table, found: &mut Vec<Stop>) {
        let reached = reached(table);
        for chain in table.chains.iter().filter(|chain| reached.contains(chain.name.as_str())) {
            let mut open = true;
            for rule in &chain.rules {
                let effect = RuleEffect::of(rule);
                let at = format!("{}/{} rule {}", table.name, chain.name, rule.position);
                if effect.does != Does::Other && !effect.sane && !self.dead.contains(&at) && open {
                    let suspects = self.rule(table, chain, (rule, &effect));
                    self.add(table, chain, Some(rule.position), suspects, found);
                }
                // Nothing comes past a rule that takes everything, whatever it does.
                open &= effect.demands || !ends(rule, &effect);
            }
            if open && let Some(suspect) = self.policy(table, chain) {
                self.add(table, chain, None, vec![suspect], found);
            }
        }
    }

    fn add(
        &self,
        table: &Table,
        chain: &Chain,
        position: Option<usize>,
        suspects: Vec<Suspect>,
        found: &mut Vec<Stop>,
    ) {
        if !suspects.is_empty() {
            let (source, table, chain) = (self.source.to_owned(), table.name.clone(), chain.name.clone());
            found.push(Stop { source, table, chain, position, suspects });
        }
    }

    fn place(&self, table: &Table, chain: &str) -> String {
        let native = self.ruleset.format == Format::Nft;
        let name = if native { table.name.replacen(' ', ":", 1) } else { table.name.clone() };
        format!("netfilter/{}/{}/{}", plain(self.machine), plain(&name), plain(chain))
    }

    fn family(&self) -> &'static str {
        if self.ruleset.format == Format::Save && self.ruleset.family == "ipv6" { " (IPv6)" } else { "" }
    }

    fn rule(&self, table: &Table, chain: &Chain, (rule, effect): (&Rule, &RuleEffect)) -> Vec<Suspect> {
        let (place, family) = (self.place(table, &chain.name), self.family());
        let (fault, does) = match effect.does {
            Does::Drop => (Fault::GuestFirewallDrop, "drops"),
            Does::Reject => (Fault::GuestFirewallReject, "refuses"),
            Does::Other => return Vec::new(),
        };
        let owner = maker(&table.name, &chain.name);
        let asks_jail = effect.set.as_deref().is_some_and(is_jail_set);
        if owner == Maker::Jail || asks_jail {
            return self.bans(table, chain, effect);
        }
        let walls = match owner {
            Maker::Docker => chain.name == "DOCKER-USER" || !effect.device || effect.protocol.is_some(),
            Maker::Engine => !effect.demands,
            Maker::Opaque => return Vec::new(),
            Maker::Jail | Maker::Somebody => false,
        };
        if walls {
            let what = effect.about().join(", ").replace("any/any", "everything");
            let why = format!(
                "{} {does} {what}, which the container engine does not do{family}",
                plain(&chain.name)
            );
            return vec![Suspect::new(Fault::ContainerFirewallChange, place, why)];
        }
        if owner != Maker::Somebody {
            return Vec::new();
        }
        let from = if effect.sources.is_empty() {
            String::new()
        } else {
            format!(" from {}", effect.sources.join(", "))
        };
        let each = |about: String| {
            let why = format!(
                "rule {} of {} {does} {about}{from}{family}{}",
                rule.position,
                plain(&chain.name),
                shown(rule)
            );
            Suspect::new(fault, format!("{place}/{about}"), why)
        };
        effect.about().into_iter().map(each).collect()
    }

    /// Returns who is banned by a rule: the addresses that it names, or those of its set.
    fn bans(&self, table: &Table, chain: &Chain, effect: &RuleEffect) -> Vec<Suspect> {
        let mut banned = effect.sources.clone();
        let mut jail = chain.name.clone();
        if let Some(name) = &effect.set {
            let own = self.host.ipsets.iter().filter(|set| set.name == *name);
            banned.extend(own.flat_map(|set| &set.members).map(|member| bare(&member.value)));
            let native = table.sets.iter().filter(|set| set.name == *name);
            banned.extend(native.flat_map(|set| &set.elements).flat_map(values));
            if maker(&table.name, &chain.name) == Maker::Somebody {
                jail.clone_from(name);
            }
        }
        let ban = |ip: String| {
            let object = format!("netfilter/{}/{}/{ip}", plain(self.machine), plain(&jail));
            Suspect::new(Fault::Fail2banBan, object, format!("the jail {} keeps {ip} out", plain(&jail)))
        };
        banned.into_iter().map(ban).collect()
    }

    fn policy(&self, table: &Table, chain: &Chain) -> Option<Suspect> {
        let base = chain.base.as_ref()?;
        let drops = chain.policy.as_deref().is_some_and(|policy| policy.eq_ignore_ascii_case("drop"));
        let hook = base.hook.to_ascii_lowercase();
        // Engines and firewalls of their own close forwarding; nobody who only talks to this machine notices.
        let forwards =
            hook == "forward" && table.chains.iter().any(|other| is_program(&table.name, &other.name));
        if !drops || forwards || hook == "postrouting" {
            return None;
        }
        let (place, family) = (self.place(table, &chain.name), self.family());
        let why =
            format!("the policy of {} is DROP: it stops what no rule allows{family}", plain(&chain.name));
        Some(Suspect::new(Fault::GuestFirewallPolicyDrop, place, why))
    }
}

/// Returns a rule as it was printed, where nothing in it could be read as more than a rule.
fn shown(rule: &Rule) -> String {
    let fits = |char: char| char.is_ascii_alphanumeric() || " ._/:,!=-".contains(char);
    let raw = rule.raw.trim();
    let plain = raw.starts_with("-A ") && raw.chars().all(fits) && !raw.contains("--comment");
    match rule.handle {
        _ if plain && raw.len() <= LONGEST_RULE => format!(": `{raw}`"),
        Some(handle) => format!(", handle {handle}"),
        None => String::new(),
    }
}

fn is_program(table: &str, chain: &str) -> bool {
    let own = ["ufw-", "ufw6-", "FORWARD_", "FWDI_", "FWDO_"].iter().any(|name| chain.starts_with(name));
    own || !matches!(maker(table, chain), Maker::Jail | Maker::Somebody)
}

fn is_jail_set(name: &str) -> bool {
    ["f2b-", "fail2ban-", "addr-set-", "addr6-set-"].iter().any(|start| name.starts_with(start))
}

/// Says whether a rule without demands lets nothing past it.
fn ends(rule: &Rule, effect: &RuleEffect) -> bool {
    let accepts = match &rule.body {
        ghost_inspect::netfilter::Body::Save(_) => {
            matches!(effect.leads.as_deref(), Some("ACCEPT" | "RETURN"))
        }
        ghost_inspect::netfilter::Body::Nft(all) => {
            all.iter().any(|one| one.get("accept").is_some() || one.get("return").is_some())
        }
    };
    accepts || effect.does != Does::Other
}

/// Returns the chains that packets come to: those at a hook, and those that they lead to.
fn reached(table: &Table) -> BTreeSet<&str> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&Chain> = table.chains.iter().filter(|chain| chain.base.is_some()).collect();
    while let Some(chain) = open.pop() {
        if !reached.insert(&chain.name) {
            continue;
        }
        for name in chain.rules.iter().filter_map(|rule| RuleEffect::of(rule).leads) {
            open.extend(table.chains.iter().find(|other| other.name == name));
        }
    }
    reached
}
