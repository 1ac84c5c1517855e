//! A machine's packet filter, made ready once and asked for packets of a flow.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ghost_base::Limit;

use super::document::Reading;
use super::fault::Cause;
use super::flow::{Part, Protocol, Wire};
use super::hop::Effect;
use super::rule_name::{Target, cause, demands_nothing};
use super::ruleset_change::{PacketRole, placed, sharing, with_share, without};
use super::shaping::is_virtual;
use super::translate::{Translation, translates, translation};
use crate::netfilter::{
    Base, Body, Bundle, Carried, Compiled, Format, Hook, Host, Packet, Rule, Ruleset, Source, State, Verdict,
};

/// So many places of one hook are taken away one after another before the rest is left open.
const MAX_REMOVALS: usize = 64;

/// So many rules that take a share are tried one by one.
const MAX_SHARING_RULES: usize = 32;

/// How many devices are tried if it is not known by which one a packet comes or goes: a forwarded packet has a pair of them.
const DEVICES: Limit = Limit::new("filter.devices", 16);

/// The ports that Linux gives to callers.
const CALLER_PORTS: std::ops::RangeInclusive<u16> = 32_768..=60_999;

/// Stands for a caller's port that is not known.
pub(super) const CALLER_PORT: u16 = 45_678;

/// A name that no rule knows.
const UNNAMED: &str = "unnamed-device";

/// The packet filter of a machine: every backend that judges its packets.
#[derive(Debug)]
pub(super) struct Filters {
    backends: Vec<Backend>,
    /// What could not be read and may stop packets of IPv4 and of IPv6.
    gaps: [Vec<String>; 2],
}

#[derive(Debug)]
struct Backend {
    /// Whether it judges IPv6 alone, or IPv4 alone.
    six: Option<bool>,
    plain: Compiled<'static>,
    /// The same, knowing whose the packet's addresses are; absent where no rule asks.
    placed: Option<Box<[Compiled<'static>; 3]>>,
    /// Whether a rule writes marks, or says what the connection table makes of a packet.
    writes: bool,
    /// The hooks at which it may translate.
    translates_at: Vec<Hook>,
    /// Whether a rule tells some of the ports that callers have from others.
    splits_callers: bool,
    /// The hooks at which it judges anything.
    hooks: Vec<Hook>,
    /// The devices that its rules name and by which packets of others come and go.
    devices: Vec<String>,
    /// How many more there are, which are not tried.
    untried_devices: usize,
}

/// A packet in transit through hooks of one machine.
#[derive(Debug, Clone)]
pub(super) struct Passage<'a> {
    pub(super) machine: &'a str,
    pub(super) wire: Wire,
    pub(super) place: PacketRole,
    /// The device by which it came; where it is not known, any that is no loopback.
    pub(super) input: Option<String>,
    /// The device by which it leaves.
    pub(super) output: Option<String>,
    /// What is taken away.
    pub(super) gone: &'a [Cause],
    /// Its mark; nothing where it is not known.
    pub(super) mark: Option<u32>,
    /// What the connection table of the machine makes of it.
    pub(super) tracking: Tracking,
    /// What it made of the packet that began the connection.
    pub(super) opening: Tracking,
}

/// What the connection table of a machine makes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tracking {
    #[default]
    Tracked,
    /// A rule says that it is not tracked.
    Untracked,
    /// Whether it is, or in which zone, is not known.
    Open,
}

/// What hooks do to a packet.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pub(super) stops: Vec<Effect>,
    pub(super) shares: Vec<Effect>,
    pub(super) doubts: Vec<String>,
    pub(super) translation: Option<Translation>,
    /// The rule that lets it through, where one does.
    pub(super) allowed: Option<String>,
}

impl Filters {
    /// Reads what the tools of one machine printed.
    pub(super) fn read(readings: &BTreeMap<String, Reading>) -> Result<Self, String> {
        let mut sources = BTreeMap::new();
        for (name, reading) in readings {
            let source = match reading {
                Reading::Text(text) => Source::Text(text.clone()),
                Reading::Failed { error } => Source::Failed { error: error.clone() },
            };
            for name in backend_names(name, &source) {
                sources.entry(name).or_insert_with(|| source.clone());
            }
        }
        prove_empty(readings, &mut sources);
        if sources.values().all(|source| matches!(source, Source::Failed { .. })) {
            let first = sources.values().find_map(|source| match source {
                Source::Failed { error } => Some(error.clone()),
                Source::Text(_) => None,
            });
            return Err(first.unwrap_or_else(|| "nothing of it was read".to_owned()));
        }
        let host = Host::read(&Bundle { sources });
        let gaps = [false, true].map(|six| gaps(&host, six));
        let backends = host.backends.into_iter().filter_map(|backend| backend.ruleset).map(Backend::new);
        Ok(Self { backends: backends.collect(), gaps })
    }

    /// Returns the rulesets.
    pub(super) fn rulesets(&self) -> impl Iterator<Item = &Ruleset> {
        self.backends.iter().map(|backend| backend.plain.ruleset())
    }

    /// Takes a packet through one hook.
    pub(super) fn pass(&self, passage: &mut Passage<'_>, hook: Hook) -> Passed {
        let six = passage.wire.src.is_ipv6();
        let mut passed = Passed::default();
        let mut mark = passage.mark;
        let judging =
            |backend: &&Backend| backend.six.is_none_or(|own| own == six) && backend.hooks.contains(&hook);
        for backend in self.backends.iter().filter(judging) {
            let removed = backend.pass(passage, hook, &mut passed);
            let begins = passage.wire.part == Part::Opening;
            let translates = begins && backend.translates_at.contains(&hook);
            if backend.writes {
                let carried = backend.carried(passage, hook, &removed);
                mark = carried.mark;
                match carried {
                    Carried { untracked: None, .. } | Carried { zoned: true, .. } => {
                        passage.tracking = Tracking::Open
                    }
                    Carried { untracked: Some(true), .. } => passage.tracking = Tracking::Untracked,
                    Carried { untracked: Some(false), zoned: false, .. } => {}
                }
            }
            if !translates {
                continue;
            }
            let Some(trace) = backend.trace(passage, hook, &removed) else {
                if translates && passed.translation.is_none() {
                    let why = "whether it is translated is open".to_owned();
                    passed.translation = Some(Translation::Unknown(why));
                }
                continue;
            };
            if translates && passed.translation.is_none() {
                passed.translation = translation(&trace, hook, &passage.wire);
            }
        }
        passage.mark = mark;
        passed
    }

    /// Says what was not read and may stop packets of a family.
    pub(super) fn gaps(&self, six: bool) -> &[String] {
        let [four, other] = &self.gaps;
        if six { other } else { four }
    }
}

/// Gives the text of a tool of which the backend is not known to the backend that it speaks of itself.
fn backend_names(name: &str, source: &Source) -> Vec<String> {
    let (legacy, native) = match name {
        "iptables-save" => ("iptables-legacy", "iptables-nft"),
        "ip6tables-save" => ("ip6tables-legacy", "ip6tables-nft"),
        "nft.json" => return vec!["nft".to_owned()],
        other => return vec![other.to_owned()],
    };
    match source {
        Source::Text(text) if text.contains("(nf_tables)") => vec![native.to_owned()],
        // Without a word it has no rules in either.
        Source::Text(text) if text.trim().is_empty() => vec![legacy.to_owned(), native.to_owned()],
        Source::Text(_) | Source::Failed { .. } => vec![legacy.to_owned()],
    }
}

/// The tool of the new backend says where the old one holds rules, too: where it does not say so, the old one is empty.
fn prove_empty(readings: &BTreeMap<String, Reading>, sources: &mut BTreeMap<String, Source>) {
    for (name, tables) in [("iptables-save", "tables"), ("ip6tables-save", "tables6")] {
        let silent = matches!(readings.get(name), Some(Reading::Text(text))
            if text.contains("(nf_tables)") && !text.contains("legacy tables present"));
        if silent {
            sources.entry(tables.to_owned()).or_insert_with(|| Source::Text(String::new()));
        }
    }
}

fn gaps(host: &Host, six: bool) -> Vec<String> {
    let other = if six { "iptables" } else { "ip6tables" };
    let mine = |place: &str| !place.starts_with(&format!("{other}-"));
    let unread = host.unread.iter().filter(|warning| mine(&warning.place));
    let mut gaps: Vec<String> =
        unread.map(|warning| format!("{}: {}", warning.place, warning.what)).collect();
    let absent = host.absent.iter().filter(|source| mine(source));
    let absent = absent.filter(|source| !host.unread.iter().any(|warning| warning.place == **source));
    gaps.extend(absent.map(|source| format!("{source}: was not gathered")));
    let tables =
        host.backends.iter().filter_map(|backend| backend.ruleset.as_ref()).flat_map(|own| &own.tables);
    // Who cannot be asked for an address is not reached; IPv6 asks by packets that the other tables see.
    let frames = tables.filter(|table| table.may_drop_frames() && !(six && table.name.starts_with("arp ")));
    gaps.extend(frames.map(|table| format!("the table {} may drop it before it is routed", table.name)));
    gaps
}

/// What becomes of a packet at a hook.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Passes(Option<String>),
    Stops { target: Target, verdict: Verdict, rule: Option<String> },
    Open(Vec<String>),
}

impl Backend {
    fn new(ruleset: Ruleset) -> Self {
        let six = (ruleset.format == Format::Save).then(|| ruleset.family == "ipv6");
        let rules = || ruleset.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules);
        let chains = || ruleset.tables.iter().flat_map(|table| &table.chains);
        let bound = chains().filter_map(|chain| chain.base.as_ref()?.devices()).flatten();
        let bound = bound.map(|device| device.trim_end_matches('*').to_owned());
        let mut devices: Vec<String> =
            rules().flat_map(devices_of).chain(bound).filter(|device| !is_virtual(device)).collect();
        devices.sort_unstable();
        devices.dedup();
        let untried_devices = DEVICES.cut(&mut devices);
        let placed = [PacketRole::ToHost, PacketRole::FromHost, PacketRole::Through]
            .map(|place| placed(&ruleset, place));
        let placed = match placed {
            [Some(to), Some(from), Some(through)] => {
                Some(Box::new([to, from, through].map(Compiled::owning)))
            }
            _ => None,
        };
        Self {
            six,
            placed,
            writes: rules().any(writes),
            translates_at: Hook::ALL.into_iter().filter(|hook| asks_translation(&ruleset, *hook)).collect(),
            splits_callers: rules().any(splits_callers),
            hooks: Hook::ALL.into_iter().filter(|hook| judges(&ruleset, *hook)).collect(),
            devices,
            untried_devices,
            plain: Compiled::owning(ruleset),
        }
    }

    fn ready(&self, passage: &Passage<'_>) -> &Compiled<'static> {
        // Of what is sent to many it is not known whose address it is.
        let is_of_many = |address: IpAddr| match address {
            IpAddr::V4(address) => address.is_multicast() || matches!(address.octets(), [.., 0 | 255]),
            IpAddr::V6(address) => address.is_multicast(),
        };
        if is_of_many(passage.wire.src) || is_of_many(passage.wire.dst) {
            return &self.plain;
        }
        match (self.placed.as_deref(), passage.place) {
            (Some([to, ..]), PacketRole::ToHost) => to,
            (Some([_, from, _]), PacketRole::FromHost) => from,
            (Some([.., through]), PacketRole::Through) => through,
            (None, _) => &self.plain,
        }
    }

    /// Takes a packet through a hook; whatever stops it is taken away, and the rest is asked again. Returns what was taken away.
    fn pass(&self, passage: &Passage<'_>, hook: Hook, passed: &mut Passed) -> Vec<Target> {
        let packets = self.packets(passage, hook);
        let ready = self.ready(passage);
        if self.untried_devices > 0 && asks_for_device(passage, hook) {
            passed
                .doubts
                .push(format!("{} more devices that its rules name were not tried", self.untried_devices));
        }
        let mut removed: Vec<Target> = Vec::new();
        let mut closed: Vec<String> = Vec::new();
        loop {
            let owned;
            let compiled = if removed.is_empty() {
                ready
            } else {
                owned = Compiled::owning(without(ready.ruleset(), &removed));
                &owned
            };
            let (found, whole) = match ask(compiled, &packets) {
                Fate::Passes(rule) => {
                    passed.allowed = rule.filter(|_| removed.is_empty()).or(passed.allowed.take());
                    break;
                }
                Fate::Stops { target, verdict, rule } => (vec![(target, verdict, rule)], true),
                Fate::Open(why) => match by_share(compiled.ruleset(), &packets) {
                    Shares::Some(found) => (found, false),
                    Shares::Whole(found) => (vec![found], true),
                    Shares::Open => {
                        passed.doubts.extend(why);
                        break;
                    }
                },
            };
            let before = removed.len();
            for (target, verdict, raw) in found {
                if removed.contains(&target) {
                    continue;
                }
                let rule = rule_at(ready.ruleset(), &target);
                let cause = cause(passage.machine, &target, rule, &passage.wire, verdict);
                let catches_all = rule.is_none_or(demands_nothing);
                let neutral = catches_all && closed.contains(&target.table);
                if catches_all {
                    closed.push(target.table.clone());
                }
                let reason = said(passage, &target, verdict, rule, whole);
                removed.push(target);
                if neutral || passage.gone.contains(&cause) {
                    continue;
                }
                let effects = if whole { &mut passed.stops } else { &mut passed.shares };
                if !effects.iter().any(|effect| effect.cause == cause) {
                    effects.push(Effect { cause, rule: raw, reason, catches_all });
                }
            }
            if removed.len() == before || removed.len() > MAX_REMOVALS {
                passed.doubts.push("more rules stop it than can be distinguished".to_owned());
                break;
            }
        }
        removed
    }

    /// Returns what a packet carries to the next hook.
    fn carried(&self, passage: &Passage<'_>, hook: Hook, removed: &[Target]) -> Carried {
        let ready = self.ready(passage);
        let owned;
        let compiled = if removed.is_empty() {
            ready
        } else {
            owned = Compiled::owning(without(ready.ruleset(), removed));
            &owned
        };
        let packets = self.packets(passage, hook);
        let all = packets.iter().map(|packet| compiled.walk(packet).ok().and_then(|answer| answer.carried));
        let all = all.map(|carried| carried.unwrap_or(Carried { mark: None, untracked: None, zoned: true }));
        all.reduce(Carried::both).unwrap_or_default()
    }

    /// Returns the rules that a packet met at a hook; nothing where that is not certain.
    fn trace(&self, passage: &Passage<'_>, hook: Hook, removed: &[Target]) -> Option<Vec<Rule>> {
        let ready = self.ready(passage);
        let owned;
        let compiled = if removed.is_empty() {
            ready
        } else {
            owned = Compiled::owning(without(ready.ruleset(), removed));
            &owned
        };
        let mut met: Option<Vec<Target>> = None;
        for packet in self.packets(passage, hook) {
            let answer = compiled.trace(&packet).ok()?;
            let matched = answer.trace.iter().filter(|traced| traced.matched).map(|traced| Target {
                table: traced.rule.table.clone(),
                chain: traced.rule.chain.clone(),
                position: Some(traced.rule.position),
            });
            let matched: Vec<Target> = matched.collect();
            if answer.verdict == Verdict::Indeterminate || met.as_ref().is_some_and(|met| *met != matched) {
                return None;
            }
            met = Some(matched);
        }
        let rules = met?.into_iter().filter_map(|target| rule_at(compiled.ruleset(), &target).cloned());
        Some(rules.collect())
    }

    /// Describes the packet, once for each device and port that it may have.
    fn packets(&self, passage: &Passage<'_>, hook: Hook) -> Vec<Packet> {
        let wire = &passage.wire;
        let six = wire.src.is_ipv6();
        let (comes, leaves) = sides(hook);
        let devices = |used: bool, known: Option<&String>| -> Vec<Option<String>> {
            match known {
                _ if !used => vec![None],
                Some(device) => vec![Some(device.clone())],
                None => self.devices.iter().cloned().chain([UNNAMED.to_owned()]).map(Some).collect(),
            }
        };
        let ports = if self.splits_callers { vec![33_000, CALLER_PORT, 60_000] } else { vec![CALLER_PORT] };
        let caller = |own: Option<u16>, port: u16| own.map(|own| if own == CALLER_PORT { port } else { own });
        let stray = if wire.protocol == Protocol::Udp { State::New } else { State::Invalid };
        let (tracked, flags) = match wire.part {
            Part::Opening => (vec![State::New], 2),
            Part::Answer => match passage.opening {
                Tracking::Tracked => (vec![State::Established], 18),
                // The connection table knows nothing of what it answers.
                Tracking::Untracked => (vec![stray], 18),
                Tracking::Open => (vec![State::Established, stray], 18),
            },
            Part::StrayAnswer => (vec![stray], 18),
            Part::Later => (vec![State::Invalid], 16),
        };
        let states = match passage.tracking {
            Tracking::Tracked => tracked,
            Tracking::Untracked => vec![State::Untracked],
            Tracking::Open => tracked.into_iter().chain([State::Untracked]).collect(),
        };
        let answers = matches!(wire.part, Part::Answer | Part::StrayAnswer);
        let echo = match (answers, six) {
            (false, false) => 8,
            (true, false) => 0,
            (false, true) => 128,
            (true, true) => 129,
        };
        let mut packets = Vec::new();
        for input in devices(comes, passage.input.as_ref()) {
            for output in devices(leaves, passage.output.as_ref()) {
                for (port, state) in
                    ports.iter().flat_map(|port| states.iter().map(move |state| (port, *state)))
                {
                    packets.push(Packet {
                        hook,
                        protocol: wire.protocol.number(six),
                        src: wire.src,
                        dst: wire.dst,
                        sport: caller(wire.sport, *port),
                        dport: caller(wire.dport, *port),
                        input: input.clone(),
                        output: output.clone(),
                        state: Some(state),
                        icmp_type: (wire.protocol == Protocol::Icmp).then_some(echo),
                        tcp_flags: (wire.protocol == Protocol::Tcp).then_some(flags),
                        mark: passage.mark,
                    });
                }
            }
        }
        packets
    }
}

/// Tells whether a packet has come by a device, and whether it leaves by one.
const fn sides(hook: Hook) -> (bool, bool) {
    match hook {
        Hook::Prerouting | Hook::Input => (true, false),
        Hook::Forward => (true, true),
        Hook::Output | Hook::Postrouting => (false, true),
    }
}

/// Tells whether a device of a packet is not known at a hook.
fn asks_for_device(passage: &Passage<'_>, hook: Hook) -> bool {
    let (comes, leaves) = sides(hook);
    comes && passage.input.is_none() || leaves && passage.output.is_none()
}

/// Tells whether a ruleset may do anything at a hook: a chain stands there, or something in it could not be read.
fn judges(ruleset: &Ruleset, hook: Hook) -> bool {
    let chains =
        ruleset.tables.iter().flat_map(|table| &table.chains).filter_map(|chain| chain.base.as_ref());
    !ruleset.unread.is_empty()
        || chains.into_iter().any(|base| base.routed_hook().eq_ignore_ascii_case(hook.name()))
}

/// Tells whether a ruleset may translate at a hook: rules stand there, in a table of which some rule does.
fn asks_translation(ruleset: &Ruleset, hook: Hook) -> bool {
    ruleset.tables.iter().any(|table| {
        let at_hook = table.chains.iter().any(|chain| {
            let nat = |base: &Base| base.kind == "nat" && base.hook.eq_ignore_ascii_case(hook.name());
            chain.base.as_ref().is_some_and(nat) && (!chain.rules.is_empty() || !chain.unread.is_empty())
        });
        at_hook && table.chains.iter().flat_map(|chain| &chain.rules).any(translates)
    })
}

fn ask(compiled: &Compiled<'_>, packets: &[Packet]) -> Fate {
    let mut fates = packets.iter().map(|packet| fate(compiled, packet));
    let first = fates.next().unwrap_or(Fate::Passes(None));
    for other in fates {
        let both_pass = matches!((&other, &first), (Fate::Passes(_), Fate::Passes(_)));
        if other != first && !both_pass {
            let states =
                packets.first().is_some_and(|first| packets.iter().any(|other| other.state != first.state));
            let why = if states {
                "whether its connection is tracked, and in which zone"
            } else {
                "by which device or from which port it comes"
            };
            return Fate::Open(vec![why.to_owned()]);
        }
    }
    first
}

fn fate(compiled: &Compiled<'_>, packet: &Packet) -> Fate {
    let Ok(answer) = compiled.walk(packet) else { return Fate::Passes(None) };
    match answer.verdict {
        Verdict::Accept => Fate::Passes(answer.rule.map(|rule| rule.raw)),
        Verdict::Indeterminate => Fate::Open(answer.undecided),
        verdict @ (Verdict::Drop | Verdict::Reject) => match (answer.rule, answer.policy) {
            (Some(rule), _) => {
                let target = Target { table: rule.table, chain: rule.chain, position: Some(rule.position) };
                Fate::Stops { target, verdict, rule: Some(rule.raw) }
            }
            (None, Some(policy)) => match policy.rsplit_once(' ') {
                Some((table, chain)) => {
                    let target = Target { table: table.to_owned(), chain: chain.to_owned(), position: None };
                    Fate::Stops { target, verdict, rule: None }
                }
                None => Fate::Open(vec![format!("which chain `{policy}` is")]),
            },
            (None, None) => Fate::Open(vec!["what stops it is not reported".to_owned()]),
        },
    }
}

type Found = (Target, Verdict, Option<String>);

/// What rules do that take a share.
enum Shares {
    /// These take a share.
    Some(Vec<Found>),
    /// This stops every packet, whatever share others take.
    Whole(Found),
    /// It is not known.
    Open,
}

/// Asks again with every rule that takes a share once taking nothing and once taking all.
fn by_share(ruleset: &Ruleset, packets: &[Packet]) -> Shares {
    let sharing = sharing(ruleset);
    if sharing.is_empty() || sharing.len() > MAX_SHARING_RULES {
        return Shares::Open;
    }
    let base = match ask(&Compiled::owning(without(ruleset, &sharing)), packets) {
        Fate::Open(_) => return Shares::Open,
        Fate::Passes(_) => None,
        Fate::Stops { target, verdict, rule } => Some((target, verdict, rule)),
    };
    let (mut found, mut some_pass): (Vec<Found>, bool) = (Vec::new(), false);
    for one in &sharing {
        match ask(&Compiled::owning(with_share(ruleset, &sharing, one)), packets) {
            Fate::Open(_) => return Shares::Open,
            Fate::Passes(_) => some_pass = true,
            Fate::Stops { target, verdict, rule } => {
                if base.is_none() && !found.iter().any(|(own, ..)| *own == target) {
                    found.push((target, verdict, rule));
                }
            }
        }
    }
    match base {
        Some(base) if some_pass => Shares::Some(vec![base]),
        Some(base) => Shares::Whole(base),
        None if found.is_empty() => Shares::Open,
        None => Shares::Some(found),
    }
}

fn rule_at<'a>(ruleset: &'a Ruleset, target: &Target) -> Option<&'a Rule> {
    let table = ruleset.tables.iter().find(|table| table.name == target.table)?;
    let chain = table.chains.iter().find(|chain| chain.name == target.chain)?;
    let position = target.position?;
    chain.rules.iter().find(|rule| rule.position == position)
}

fn said(
    passage: &Passage<'_>,
    target: &Target,
    verdict: Verdict,
    rule: Option<&Rule>,
    whole: bool,
) -> String {
    let does = match verdict {
        Verdict::Reject => "refuses",
        Verdict::Drop | Verdict::Accept | Verdict::Indeterminate => "drops",
    };
    let share = if whole { "it" } else { "a share of it" };
    let (machine, chain) = (passage.machine, &target.chain);
    match (rule, target.position) {
        (Some(_), Some(position)) => format!("rule {position} of {chain} on {machine} {does} {share}"),
        _ => format!("the policy of {chain} on {machine} {does} {share}: no rule lets it in"),
    }
}

/// Tells whether a rule writes a mark, or says what the connection table makes of a packet.
fn writes(rule: &Rule) -> bool {
    let writing = ["MARK", "CONNMARK", "HMARK", "CT", "NOTRACK", "TPROXY", "NFQUEUE"];
    match &rule.body {
        Body::Save(parts) => parts.iter().any(|part| {
            matches!(part.name.as_str(), "-j" | "-g")
                && part.values.first().is_some_and(|target| writing.contains(&target.as_str()))
        }),
        Body::Nft(expressions) => expressions.iter().any(|expression| {
            let name = |body: &crate::netfilter::Json, key| {
                body.get(key).and_then(crate::netfilter::Json::as_str).map(str::to_owned)
            };
            let key = expression.get("mangle").and_then(|body| body.get("key"));
            let meta = key.and_then(|key| key.get("meta")).and_then(|meta| name(meta, "key"));
            let ct = key.and_then(|key| key.get("ct")).and_then(|ct| name(ct, "key"));
            let xt = expression.get("xt").and_then(|xt| name(xt, "name"));
            meta.as_deref() == Some("mark")
                || ct.as_deref() == Some("zone")
                || expression.get("notrack").is_some()
                || expression.get("queue").is_some()
                || xt.is_some_and(|xt| writing.contains(&xt.as_str()))
        }),
    }
}

fn devices_of(rule: &Rule) -> Vec<String> {
    let mut found = Vec::new();
    match &rule.body {
        Body::Save(parts) => {
            let named = parts.iter().filter(|part| matches!(part.name.as_str(), "-i" | "-o"));
            found.extend(
                named
                    .filter_map(|part| part.values.first())
                    .map(|text| text.trim_end_matches('+').to_owned()),
            );
        }
        Body::Nft(expressions) => {
            for body in expressions.iter().filter_map(|expression| expression.get("match")) {
                let key = body.get("left").and_then(|left| left.get("meta")).and_then(|meta| meta.get("key"));
                let about = key.and_then(crate::netfilter::Json::as_str);
                if about.is_some_and(|key| matches!(key, "iif" | "oif" | "iifname" | "oifname"))
                    && let Some(right) = body.get("right")
                {
                    let members =
                        right.get("set").and_then(crate::netfilter::Json::as_array).unwrap_or_default();
                    let names =
                        right.as_str().into_iter().chain(members.iter().filter_map(|one| one.as_str()));
                    found.extend(names.map(|name| name.trim_end_matches('*').to_owned()));
                }
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// Tells whether a rule names a port among those that callers have, or ends a range there.
fn splits_callers(rule: &Rule) -> bool {
    let inside = |number: u64| u16::try_from(number).is_ok_and(|port| CALLER_PORTS.contains(&port));
    match &rule.body {
        Body::Save(parts) => parts.iter().filter(|part| part.name.as_str().contains("port")).any(|part| {
            let numbers = part.values.iter().flat_map(|text| text.as_str().split([',', ':']));
            numbers.filter_map(|text| text.parse::<u64>().ok()).any(inside)
        }),
        Body::Nft(expressions) => expressions
            .iter()
            .filter(|expression| expression.get("match").or_else(|| expression.get("vmap")).is_some())
            .any(|expression| {
                let text = expression.to_string();
                let digits = text.split(|char: char| !char.is_ascii_digit());
                digits.filter_map(|text| text.parse::<u64>().ok()).any(inside)
            }),
    }
}
