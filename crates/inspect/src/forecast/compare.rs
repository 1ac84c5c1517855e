//! Every flow before and after a change.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use serde::Serialize;

use super::admission::Admission;
use super::draft::Draft;
use super::edit::{Edit, Unread};
use super::flows::{About, Flows, INTERNET, Scope};
use crate::nsg::Ruleset;
use crate::path::{Bundle, Document, Estate, Flow, GuestDocument, Judgement, Kind, Missing};

/// What becomes of a flow in the network, whether or not somebody listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// It passes.
    Passes,
    /// It passes, slower, damaged or in part.
    Degraded,
    /// Something stops it, or nothing leads there.
    Blocked,
    /// It depends on what was not read.
    Indeterminate,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Passes => "passes",
            Self::Degraded => "is hurt",
            Self::Blocked => "is stopped",
            Self::Indeterminate => "is not known",
        })
    }
}

/// How a flow ends otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Anybody on the internet reaches what nobody reached.
    OpenedToInternet,
    /// It passed and is stopped.
    Cut,
    /// It passed unhurt and is slowed, damaged or stopped in part.
    Degraded,
    /// What became of it was known, and is not any more.
    Unknown,
    /// It was stopped and passes.
    Opened,
    /// It was slowed or damaged and passes unhurt.
    Eased,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OpenedToInternet => "opened to the internet",
            Self::Cut => "cut",
            Self::Degraded => "degraded",
            Self::Unknown => "not known",
            Self::Opened => "opened",
            Self::Eased => "eased",
        })
    }
}

/// A flow that ends otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The flow.
    pub flow: Flow,
    /// Who calls: a machine, `internet`, or an address.
    pub from: String,
    /// Who is called.
    pub to: String,
    /// How it differs.
    pub verdict: Verdict,
    /// As it is.
    pub before: Outcome,
    /// As it will be.
    pub after: Outcome,
    /// What decides: after the change where something stops or hurts it then, else before it.
    pub cause: Option<String>,
    /// The same as a sentence.
    pub reason: Option<String>,
    /// Whether somebody listens there, where that was read.
    pub listens: Option<bool>,
    /// Whether somebody named the flow.
    pub named: bool,
    /// What was not read inside the machines, and is taken not to stop it: the change does not touch it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
}

/// A rule that a change leaves in a state that nobody means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RuleNote {
    /// `dead`: it can match nothing any more; `open`: anybody reaches a port for management through it, or everything; `opened`: more
    /// networks than before may call a service of data, and not everybody.
    pub effect: &'static str,
    /// The rule, as findings name it.
    pub object: String,
    /// Why.
    pub why: String,
    /// A packet that shows it.
    pub packet: Option<String>,
}

/// What a change does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// The flows that end otherwise, the worst first.
    pub flows: Vec<Difference>,
    /// Rules that are dead or open, and were not.
    pub rules: Vec<RuleNote>,
    /// What could not be judged.
    pub unknown: Vec<Unread>,
    /// How many flows were compared.
    pub compared: usize,
    /// How many of them could not be decided, neither before nor after.
    pub undecided: usize,
    /// How many more there are.
    pub left_out: usize,
    /// What is expected of every flow that was compared.
    #[serde(skip)]
    pub expected: Vec<(Flow, Outcome)>,
}

/// A flow that ended otherwise than was expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// The flow.
    pub flow: Flow,
    /// Who calls: a machine, `internet`, or an address.
    pub from: String,
    /// Who is called.
    pub to: String,
    /// What was expected.
    pub expected: Outcome,
    /// What is so.
    pub found: Outcome,
}

/// What documents that were read after a change say to its forecast.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Confirmation {
    /// How many flows could be judged.
    pub judged: usize,
    /// How many of them were expected to end otherwise than before.
    pub changed: usize,
    /// Those that ended otherwise than was expected.
    pub contradictions: Vec<Contradiction>,
}

impl Forecast {
    /// Tells whether something that passed is cut, or something opens to the internet.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        let bad = |one: &Difference| matches!(one.verdict, Verdict::Cut | Verdict::OpenedToInternet);
        self.flows.iter().any(bad) || self.rules.iter().any(|note| note.effect == "open")
    }

    /// Compares what was expected with documents that were read after the change; what either of them leaves open contradicts nothing.
    #[must_use]
    pub fn contradictions(&self, now: &Bundle) -> Vec<Contradiction> {
        self.confirm(now).contradictions
    }

    /// Compares what was expected with documents that were read after the change, and counts what could be compared.
    #[must_use]
    pub fn confirm(&self, now: &Bundle) -> Confirmation {
        let estate = Estate::of(now);
        let names = Names([&estate, &estate]);
        let mut confirmation = Confirmation::default();
        let known = self.expected.iter().filter(|(_, expected)| *expected != Outcome::Indeterminate);
        for (flow, expected) in known {
            let judged = estate.judge(flow);
            let found = outcome(&judged, &guests_missing(&judged));
            if found == Outcome::Indeterminate {
                continue;
            }
            confirmation.judged += 1;
            if self.flows.iter().any(|one| one.flow == *flow) {
                confirmation.changed += 1;
            }
            if found != *expected {
                confirmation.contradictions.push(Contradiction {
                    flow: flow.clone(),
                    from: names.of(flow.src),
                    to: names.of(flow.dst),
                    expected: *expected,
                    found,
                });
            }
        }
        confirmation
    }

    /// Tells whether something could not be judged.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.unknown.is_empty() || self.flows.iter().any(|one| one.verdict == Verdict::Unknown)
    }
}

/// Returns the documents as they would be read after some edits, and what of it cannot be said.
#[must_use]
pub fn applied(bundle: &Bundle, edits: &[Edit]) -> (Bundle, BTreeSet<Unread>) {
    let mut draft = Draft::of(bundle);
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| edit.rank());
    let unknown = ordered.into_iter().filter_map(|edit| draft.apply(edit).err()).collect();
    (draft.into_bundle(), unknown)
}

/// Says what some edits do to the flows of an estate.
#[must_use]
pub fn forecast(bundle: &Bundle, edits: &[Edit], scope: &Scope) -> Forecast {
    let about = about(&Draft::of(bundle), edits);
    let (changed, unknown) = applied(bundle, edits);
    let (before, after) = (Estate::of(bundle), Estate::of(&changed));
    let flows = Flows::draw([&before, &after], &about, scope);
    let admitted = edits.iter().filter_map(Edit::admission).flat_map(Admission::notes);
    let mut forecast = Forecast {
        unknown: unknown.into_iter().collect(),
        compared: flows.all.len(),
        left_out: flows.left_out,
        rules: notes(&before, &after).into_iter().chain(admitted).collect(),
        ..Forecast::default()
    };
    let names = Names([&before, &after]);
    for flow in &flows.all {
        let (old, new) = (before.judge(flow), after.judge(flow));
        let alike = guests_missing(&old).intersection(&guests_missing(&new)).cloned().collect();
        let outcomes = (outcome(&old, &alike), outcome(&new, &alike));
        forecast.expected.push((flow.clone(), outcomes.1));
        if outcomes == (Outcome::Indeterminate, Outcome::Indeterminate) {
            forecast.undecided += 1;
        }
        let Some(verdict) = differs(outcomes, flow) else { continue };
        let decides = |judged: &Judgement| {
            let hops = judged.stops().into_iter().chain(judged.hurts());
            let own = hops.map(|(_, effect)| effect).find(|effect| !effect.cause.fault.is_refusal());
            own.map(|effect| (effect.cause.to_string(), effect.reason.clone()))
        };
        let lacks = || missing(&new, &alike).map(|one| (None, Some(format!("{}: {}", one.what, one.why))));
        let (cause, reason) = match decides(&new).or_else(|| decides(&old)) {
            Some((cause, reason)) if verdict != Verdict::Unknown => (Some(cause), Some(reason)),
            Some(_) | None => lacks().unwrap_or_default(),
        };
        forecast.flows.push(Difference {
            from: names.of(flow.src),
            to: names.of(flow.dst),
            verdict,
            before: outcomes.0,
            after: outcomes.1,
            cause,
            reason,
            listens: listens(&new).or_else(|| listens(&old)),
            named: scope.named.contains(flow),
            assumed: alike.iter().map(ToString::to_string).collect(),
            flow: flow.clone(),
        });
    }
    forecast.flows.sort_by(|a, b| {
        let key = |one: &Difference| (!one.named, one.verdict, one.listens != Some(true));
        key(a).cmp(&key(b)).then_with(|| a.flow.cmp(&b.flow))
    });
    forecast
}

/// Collects the rules and prefixes that a change is about: those that it makes, and those that stood in their place.
fn about(draft: &Draft, edits: &[Edit]) -> About {
    let mut about = About::default();
    for edit in edits {
        match edit {
            Edit::PutRule { group, rule } => {
                about.rules.push(rule.clone());
                about.rules.extend(draft.rules_of(group, Some(&rule.name)));
            }
            Edit::DeleteRule { group, rule } => about.rules.extend(draft.rules_of(group, Some(rule))),
            Edit::PutGroup { group, rules } => {
                let old = draft.rules_of(group, None);
                let is_new = |rule: &&crate::forecast::SecurityRule| !old.contains(rule);
                about.rules.extend(rules.iter().filter(is_new).cloned());
                about.rules.extend(old.into_iter().filter(|rule| !rules.contains(rule)));
            }
            Edit::DeleteGroup { group }
            | Edit::SetSubnetGroup { group: Some(group), .. }
            | Edit::SetInterfaceGroup { group: Some(group), .. } => {
                about.rules.extend(draft.rules_of(group, None));
            }
            Edit::Firewall(edit) => about.rules.extend(draft.firewall_rules_of(edit)),
            Edit::PutRoute { route, .. } => about.prefixes.push(route.prefix.clone()),
            Edit::PutTable { routes, .. } => {
                about.prefixes.extend(routes.iter().map(|route| route.prefix.clone()));
            }
            Edit::DeleteRoute { table, route } => {
                about.prefixes.extend(draft.prefixes_of(table, Some(route)))
            }
            Edit::DeleteTable { table } | Edit::SetSubnetTable { table: Some(table), .. } => {
                about.prefixes.extend(draft.prefixes_of(table, None));
            }
            Edit::PutNetwork { .. }
            | Edit::PutSubnet { .. }
            | Edit::SetSubnetGroup { group: None, .. }
            | Edit::SetSubnetTable { table: None, .. }
            | Edit::PutPeering { .. }
            | Edit::DeletePeering { .. }
            | Edit::PutInterface(_)
            | Edit::DeleteInterface { .. }
            | Edit::SetInterfaceGroup { group: None, .. }
            | Edit::SetForwarding { .. }
            | Edit::Attach { .. }
            | Edit::SetPower { .. }
            | Edit::PutBalancer { .. }
            | Edit::DeleteBalancer { .. }
            | Edit::PutBalancerPart { .. }
            | Edit::DeleteBalancerPart { .. }
            | Edit::SetPoolMember { .. }
            | Edit::Filter { .. }
            | Edit::Shape { .. }
            | Edit::Admit(_)
            | Edit::Obscure { .. } => {}
        }
    }
    about
}

/// Returns what becomes of a flow before anybody listens or not. What was read of no machine, neither before nor after, is taken
/// not to stop it.
fn outcome(judged: &Judgement, alike: &BTreeSet<Document>) -> Outcome {
    let stops = judged.stops();
    if stops.iter().any(|(_, effect)| !effect.cause.fault.is_refusal()) {
        return Outcome::Blocked;
    }
    let doubt = missing(judged, alike).is_some() || judged.hops().any(|(_, hop)| !hop.possible.is_empty());
    if doubt {
        Outcome::Indeterminate
    } else if judged.hurts().is_empty() {
        Outcome::Passes
    } else {
        Outcome::Degraded
    }
}

/// Returns what would have to be read, who listens and who answers outside excepted.
fn missing(judged: &Judgement, alike: &BTreeSet<Document>) -> Option<Missing> {
    judged.missing().into_iter().find(|one| {
        let answers = matches!(
            one.what,
            Document::Guest { document: GuestDocument::Sockets, .. }
                | Document::Page { .. }
                | Document::Probe { .. }
        );
        !answers && !alike.contains(&one.what)
    })
}

/// Returns what was not read inside the machines.
fn guests_missing(judged: &Judgement) -> BTreeSet<Document> {
    let all = judged.missing().into_iter().map(|one| one.what);
    all.filter(|what| matches!(what, Document::Guest { .. } | Document::Page { .. })).collect()
}

/// Tells whether somebody listens, where that is known.
fn listens(judged: &Judgement) -> Option<bool> {
    let hop = judged.forward.iter().rev().find(|hop| hop.kind == Kind::Listener)?;
    let refused = hop.stops.iter().any(|effect| effect.cause.fault.is_refusal())
        || judged.masked.iter().any(|one| one.effect.cause.fault.is_refusal());
    if refused { Some(false) } else { hop.missing.is_empty().then_some(true) }
}

fn differs((before, after): (Outcome, Outcome), flow: &Flow) -> Option<Verdict> {
    use Outcome::{Blocked, Degraded, Indeterminate, Passes};
    match (before, after) {
        (Passes | Degraded, Blocked) => Some(Verdict::Cut),
        (Blocked, Passes | Degraded) if flow.src == INTERNET => Some(Verdict::OpenedToInternet),
        (Blocked, Passes | Degraded) => Some(Verdict::Opened),
        (Passes, Degraded) => Some(Verdict::Degraded),
        (Degraded, Passes) => Some(Verdict::Eased),
        (Passes | Degraded | Blocked, Indeterminate) => Some(Verdict::Unknown),
        (Passes, Passes)
        | (Degraded, Degraded)
        | (Blocked, Blocked)
        | (Indeterminate, Passes | Degraded | Blocked | Indeterminate) => None,
    }
}

struct Names<'a>([&'a Estate; 2]);

impl Names<'_> {
    fn of(&self, address: IpAddr) -> String {
        if address == INTERNET {
            return "internet".to_owned();
        }
        let own = self.0.iter().find_map(|estate| {
            let inside = estate.publics().find(|(_, public)| *public == address).map(|(own, _)| own);
            estate.machine_at(inside.unwrap_or(address))
        });
        own.map_or_else(|| address.to_string(), str::to_owned)
    }
}

/// Finds the rules that are dead or open after a change and were not before it.
fn notes(before: &Estate, after: &Estate) -> Vec<RuleNote> {
    let old = all_notes(before);
    all_notes(after)
        .into_iter()
        .filter(|note| !old.iter().any(|own| own.object == note.object && own.effect == note.effect))
        .collect()
}

fn all_notes(estate: &Estate) -> BTreeSet<RuleNote> {
    let mut found = BTreeSet::new();
    let mut seen: Vec<&Ruleset> = Vec::new();
    for (nic, rules) in estate.security_rules() {
        // Machines of one role have the same rules.
        if seen.contains(&rules) {
            continue;
        }
        seen.push(rules);
        let audit = rules.audit();
        let object = |rule: &crate::nsg::RuleRef| {
            format!("nsg/{}/{}", rule.nsg.as_deref().unwrap_or("unknown"), rule.rule)
        };
        for one in &audit.shadowed {
            let same = if one.redundant { ", which do the same" } else { "" };
            let why = format!("{} take all of its packets before it{same}", one.by.join(", "));
            found.insert(RuleNote { effect: "dead", object: object(&one.rule), why, packet: None });
        }
        let address = estate.first_address(nic).map_or_else(|| nic.to_owned(), |own| own.to_string());
        for one in audit.exposed.iter().filter(|one| one.through) {
            let ports: Vec<String> = one.ports.iter().map(ToString::to_string).collect();
            let why = format!("anybody reaches {}", ports.join(" and "));
            let packet = one.ports.first().map(|port| format!("tcp {INTERNET} -> {address}:{port}"));
            found.insert(RuleNote { effect: "open", object: object(&one.rule), why, packet });
        }
    }
    found
}
