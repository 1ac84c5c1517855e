//! `check_path`: what becomes of flows, from end to end and in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{Protocol, Refused, refuse, resource_group};
use super::estate_reader::{EstateReader, INTERNET};
use super::felt::{explains_one, showing_the_symptom};
use super::inspector::{Inspection, Inspector, Unfinished};
use super::object::object;
use super::remedy;
pub(super) use super::sentence::sentence;
use crate::complaint::{self, Complaint, Kind, UnknownEnd};
use crate::finding::{Fault, FaultCode};
use crate::judged::{
    FlowVerdict, JudgedCause, JudgedComplaint, JudgedFlow, JudgedFlows, JudgedRemedy, JudgedService,
    NoticedObject, OtherGroup, UnknownName, UnreadDocument,
};
use crate::suspect::{Layer, Suspect, plain};
use crate::symptom_text::Symptom;
use crate::tool::Site;
use crate::tool::argument::incident_text;
use crate::tool::call_replay::CallReplay;
use ghost_base::Limit;
use ghost_cloud::ResourceGroup;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::{NameAnswer, NameServer};
use ghost_inspect::path::{
    self, Cause, Document, Effect, Estate, Fate, Flow, Judgement, Object, Reading, Side,
};

/// How many flows are judged in one call. Two roles of an estate of thirty machines have 225.
const FLOWS: Limit = Limit::new("path.flows", 2_000);
/// Of more flows than these only those are listed that show something no other of their complaint shows.
const MAX_LISTED: usize = 48;
/// So much of what was noticed is listed; the others are counted.
const MAX_NOTICED: usize = 24;
/// How many machines of one complaint are asked what their name servers say: each costs a run on that machine.
const RESOLVERS: Limit = Limit::new("path.resolvers", 8);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Who calls: a machine, an address, or `internet`. Without both ends the flows are judged that people complain about.
    #[serde(default)]
    #[schemars(with = "String")]
    source: Option<String>,
    /// Who is called.
    #[serde(default)]
    #[schemars(with = "String")]
    destination: Option<String>,
    /// The protocol; tcp where a port is given, else icmp.
    #[serde(default)]
    #[schemars(with = "Protocol")]
    protocol: Option<Protocol>,
    /// The port that is called.
    #[serde(default)]
    #[schemars(with = "u16", range(min = 1, max = 65535))]
    port: Option<u16>,
}

/// A flow by the names of its ends.
struct NamedFlow {
    source: String,
    destination: String,
    protocol: path::Protocol,
    port: Option<u16>,
}

/// What is asked.
pub(super) struct Query {
    place: ResourceGroup,
    flow: Option<NamedFlow>,
}

/// See the module.
pub(super) struct CheckPath;

impl Inspector for CheckPath {
    type Arguments = Arguments;
    type Request = Query;
    const NAME: &'static str = crate::judged::TOOL;
    const DESCRIPTION: &'static str = "Judges flows from end to end and in both directions: security groups at both gates, routes, \
        peerings, appliances, packet filters, shaping and who listens. It reads whatever decides, in the cloud and inside the machines, \
        and says what stops or degrades each flow now, what would stop it next, what seems alarming and does not touch it, and what \
        could not be read. Without arguments it judges the flows that people complain about: call it first. Examples: \
        {\"reasoning\":\"which of the flows in question does not pass?\"}, \
        {\"reasoning\":\"does web-1 reach the database?\",\"source\":\"web-1\",\"destination\":\"db-1\",\"port\":5432}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Query, Refused> {
        let place = resource_group(site, group)?;
        let protocol = arguments.protocol.or(arguments.port.map(|_| Protocol::Tcp));
        let protocol = match protocol.unwrap_or(Protocol::Icmp) {
            Protocol::Tcp => path::Protocol::Tcp,
            Protocol::Udp => path::Protocol::Udp,
            Protocol::Icmp => path::Protocol::Icmp,
        };
        let flow = match (&arguments.source, &arguments.destination) {
            (Some(source), Some(destination)) => {
                if protocol != path::Protocol::Icmp && arguments.port.is_none() {
                    return Err(refuse(format!("a flow of {protocol} needs a port")));
                }
                let (source, destination, port) = (source.clone(), destination.clone(), arguments.port);
                Some(NamedFlow { source, destination, protocol, port })
            }
            (None, None) if arguments.port.is_none() && arguments.protocol.is_none() => None,
            (None | Some(_), _) => {
                return Err(refuse(
                    "a flow needs both source and destination; without any, what people complain about is judged",
                ));
            }
        };
        Ok(Query { place, flow })
    }

    fn inspect(
        &self,
        query: &Query,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let mut reader = EstateReader::read(&query.place, site, replay)?;
        let asked = match &query.flow {
            Some(named) => {
                let flows = flow_of(named, reader.estate())?;
                reader.read_for(&flows, replay)?;
                Complained { flows, ..Complained::default() }
            }
            None => complained(&mut reader, replay)?,
        };
        let estate = reader.estate();
        let judged: Vec<Judgement> =
            asked.flows.iter().take(FLOWS.most()).map(|flow| estate.judge(flow)).collect();
        let remedies = if replay.is_read() { remedies(&reader, &judged, &asked) } else { Vec::new() };
        let mut seen = Inspection::default();
        tell(&reader, (asked, judged, remedies), &mut seen);
        Ok(seen)
    }
}

/// Returns what takes the causes of some flows away, each tried on what was read.
fn remedies(reader: &EstateReader<'_>, judged: &[Judgement], asked: &Complained) -> Vec<JudgedRemedy> {
    let listed = telling(judged, asked);
    let counts =
        |(at, judgement): &(usize, &Judgement)| listed.contains(at) || !judgement.findings().is_empty();
    let flows: Vec<Flow> =
        judged.iter().enumerate().filter(counts).map(|(_, judgement)| judgement.flow.clone()).collect();
    let all = path::remedies(reader.bundle(), &flows);
    all.iter()
        .filter_map(|one| remedy::in_words(one, (reader.group(), &reader.bundle().cloud), reader.estate()))
        .collect()
}

/// Returns the places of the flows that are listed: all of them where they are few. Of many those that show a cause, something that was
/// not read, or an end that none before them of the same complaint shows.
fn telling(judged: &[Judgement], asked: &Complained) -> BTreeSet<usize> {
    if judged.len() <= MAX_LISTED || asked.complaints.is_empty() {
        return (0..judged.len()).collect();
    }
    let mut listed = BTreeSet::new();
    for complaint in &asked.complaints {
        let (mut ends, mut causes, mut missing) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for at in &complaint.flows {
            let Some(judgement) = judged.get(*at) else { continue };
            let shows_end = ends.insert(judgement.flow.src) | ends.insert(judgement.flow.dst);
            let known = causes.len() + missing.len();
            causes.extend(judgement.findings());
            missing.extend(judgement.missing().into_iter().map(|one| one.what));
            if shows_end || causes.len() + missing.len() > known {
                listed.insert(*at);
            }
        }
    }
    listed
}

/// Leaves out the flows that are not listed, and counts them where they belong.
fn list(asked: &mut Complained, judged: Vec<Judgement>) -> Vec<Judgement> {
    let listed = telling(&judged, asked);
    let places: Vec<usize> = listed.iter().copied().collect();
    for complaint in &mut asked.complaints {
        let all = complaint.flows.len();
        complaint.flows = complaint.flows.iter().filter_map(|at| places.binary_search(at).ok()).collect();
        complaint.unlisted = all - complaint.flows.len();
    }
    let kept = judged.into_iter().enumerate().filter(|(at, _)| listed.contains(at));
    kept.map(|(_, judgement)| judgement).collect()
}

/// What people complain about and ask.
#[derive(Default)]
struct Complained {
    complaints: Vec<JudgedComplaint>,
    flows: Vec<Flow>,
    /// Machines of which somebody asks what is open to the world, and on which ports.
    exposed: Vec<(String, Vec<u16>)>,
    /// Name servers that fail.
    failing: Vec<Suspect>,
    /// Ends that are not known here.
    unknown: Vec<UnknownName>,
}

/// Returns the name servers of a machine that answer with an error, or not at all.
fn failing_servers(
    machine: &str,
    reader: &EstateReader<'_>,
    replay: &mut CallReplay<'_, '_>,
) -> Result<Vec<Suspect>, Unfinished> {
    let (servers, observations) = reader.name_servers(machine, replay)?;
    let fails = |server: NameServer| {
        let what = match server.answer {
            NameAnswer::Fails(status) => {
                format!("answers {} to a question for a well-known name", plain(&status))
            }
            NameAnswer::Silent => "does not answer a question for a well-known name".to_owned(),
            NameAnswer::Answers | NameAnswer::Unknown(_) => return None,
        };
        let why = format!("the name server {} of {} {what}", server.address, plain(machine));
        let object = format!("dns/{}", server.address);
        Some(Suspect { code: Fault::DnsFailure.into(), object, why, observations: observations.clone() })
    };
    Ok(servers.into_iter().filter_map(fails).collect())
}

fn ports_of(complaint: &Complaint) -> Vec<u16> {
    let named: Vec<u16> = complaint.ports.iter().filter_map(|service| service.port).collect();
    if named.is_empty() { ADMINISTRATION.to_vec() } else { named }
}

/// Returns what people complain about and the flows of that, with everything read that decides over them.
fn complained(
    reader: &mut EstateReader<'_>,
    replay: &mut CallReplay<'_, '_>,
) -> Result<Complained, Unfinished> {
    let text = incident_text(replay.context());
    let mut flows: Vec<Flow> = Vec::new();
    let mut complaints = Vec::new();
    let mut failing = Vec::new();
    let mut asked = Vec::new();
    let mut all = Vec::new();
    for (complaint, own) in reader.resolve(&text, replay)? {
        all.extend(complaint.unknown.iter().cloned());
        if complaint.symptoms.contains(&Symptom::Names) {
            let mut machines: Vec<&String> = complaint.machines.iter().collect();
            let cut = RESOLVERS.cut(&mut machines);
            reader.leave(cut, "name servers of machines");
            for machine in machines {
                failing.extend(failing_servers(machine, reader, replay)?);
            }
        }
        let own = showing_the_symptom(&complaint, own, reader.estate());
        let mut numbers = Vec::new();
        for flow in &own {
            let at = flows.iter().position(|known| known == flow).unwrap_or_else(|| {
                flows.push(flow.clone());
                flows.len() - 1
            });
            numbers.push(at);
        }
        let unknown = complaint.unknown.iter().map(unknown_name);
        let exposed = match complaint.kind {
            Kind::Exposure => {
                complaint.machines.iter().map(|machine| (machine.clone(), ports_of(&complaint))).collect()
            }
            Kind::Trouble | Kind::Drift | Kind::Leftovers => Vec::new(),
        };
        asked.extend::<Vec<(String, Vec<u16>)>>(exposed);
        complaints.push(JudgedComplaint {
            kind: complaint.kind,
            symptoms: complaint.symptoms.clone(),
            names_port: !complaint.ports.is_empty(),
            is_question: complaint.is_question,
            flows: numbers,
            unlisted: 0,
            machines: complaint.machines.iter().map(|name| plain(name)).collect(),
            unknown: unknown.collect(),
            causes: Vec::new(),
            doubts: Vec::new(),
        });
    }
    let strangers = complaint::strangers(&complaint::read(&text), &reader.inventory());
    Ok(Complained { complaints, flows, exposed: asked, failing, unknown: unknown_ends(all, strangers) })
}

/// Names an end that is not known, as facts may hold it.
fn unknown_name(end: &UnknownEnd) -> UnknownName {
    match end {
        UnknownEnd::Name { name, nearest, .. } => {
            UnknownName { word: plain(name), nearest: nearest.iter().map(|name| plain(name)).collect() }
        }
        UnknownEnd::Address(address) => UnknownName { word: address.to_string(), nearest: Vec::new() },
    }
}

/// Returns the ends that are not known here, each once. A name of the Internet is looked for there.
pub(super) fn unknown_ends(named: Vec<UnknownEnd>, strangers: Vec<UnknownEnd>) -> Vec<UnknownName> {
    let is_public = |end: &UnknownEnd| matches!(end, UnknownEnd::Name { is_public: true, .. });
    let mut found: Vec<UnknownName> = Vec::new();
    for end in named.iter().chain(&strangers).filter(|end| !is_public(end)) {
        let name = unknown_name(end);
        if !found.iter().any(|known| known.word == name.word) {
            found.push(name);
        }
    }
    found
}

/// Returns the flow between two ends that are named.
fn flow_of(named: &NamedFlow, estate: &Estate) -> Result<Vec<Flow>, Issue> {
    let from = addresses(&named.source, estate)?;
    let to = addresses(&named.destination, estate)?;
    let pairs = from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to)));
    let mut flows = pairs.filter_map(|(from, to)| Flow::new(from, to, named.protocol, named.port).ok());
    flows.next().map(|flow| vec![flow]).ok_or_else(|| {
        Issue::new(format!("{} and {} have no addresses of one family", named.source, named.destination))
    })
}

fn addresses(end: &str, estate: &Estate) -> Result<Vec<IpAddr>, Issue> {
    if let Ok(address) = end.parse::<IpAddr>() {
        return Ok(vec![address]);
    }
    if end.eq_ignore_ascii_case("internet") {
        return Ok(vec![IpAddr::from(INTERNET)]);
    }
    let mut own = estate.addresses_of(end);
    if own.is_empty() {
        own = estate.frontend_addresses(end);
    }
    if own.is_empty() {
        let names: Vec<&str> = estate.machines().take(12).collect();
        let hint = format!("there are {}", names.join(", "));
        return Err(Issue::hinted(format!("there is no machine {}", plain(end)), hint));
    }
    Ok(own)
}

/// Judges the flows and says what comes of each.
fn tell(
    reader: &EstateReader<'_>,
    (mut asked, judged, remedies): (Complained, Vec<Judgement>, Vec<JudgedRemedy>),
    seen: &mut Inspection,
) {
    let estate = reader.estate();
    reader.leave(asked.flows.len() - judged.len(), "flows");
    seen.notes.extend(reader.unjudged().into_iter().map(|what| format!("not judged: {what}")));
    let all = judged.len();
    let judged = list(&mut asked, judged);
    if all > judged.len() {
        let more = all - judged.len();
        seen.notes
            .push(format!("{more} more flows were judged: each shows nothing that none of the others shows"));
    }
    let Complained { complaints, exposed, failing, unknown, .. } = asked;
    seen.suspect(failing);
    let mut moot = Vec::new();
    for (machine, ports) in &exposed {
        let found = estate.exposure(machine, ports);
        let opened = |cause: &Cause| {
            let opens = |port: &&u16| estate.exposure(machine, &[**port]).causes.contains(cause);
            let opened: Vec<u16> = ports.iter().filter(opens).copied().collect();
            if opened.is_empty() { ports.clone() } else { opened }
        };
        let causes = found.causes.iter().map(|cause| exposure(cause, machine, &opened(cause), reader));
        seen.suspect(causes.collect());
        moot.extend(found.moot.iter().map(|cause| NoticedObject {
            object: object(&cause.object),
            what: format!("would let the internet in to {}", plain(machine)),
            why_not: "another gate closes it".to_owned(),
        }));
        if found.missing.is_empty() {
            seen.looked(Layer::Exposure, machine);
        }
    }
    let mut machines: BTreeSet<&str> = BTreeSet::new();
    let mut missing: BTreeSet<Document> = BTreeSet::new();
    let mut shown: BTreeSet<Cause> = BTreeSet::new();
    let mut beside: Vec<NoticedObject> = Vec::new();
    for (at, judgement) in judged.iter().enumerate() {
        let explains = |code: &FaultCode| explains_one(code, at, &complaints);
        seen.suspect(suspects(judgement, &explains, &mut shown, reader));
        beside.extend(unfelt(judgement, &explains));
        lines(judgement, seen);
        machines.extend(ends(judgement, estate));
        missing.extend(judgement.missing().into_iter().map(|missing| missing.what));
    }
    for machine in machines {
        read_layers(machine, reader, &missing, seen);
    }
    let document = JudgedFlows {
        complaints,
        flows: judged.iter().map(|judgement| flow(judgement, estate)).collect(),
        noticed: moot.into_iter().chain(beside).chain(noticed(&judged, estate)).collect(),
        remedies,
        machines: Vec::new(),
        clusters: Vec::new(),
        closed: closed(estate),
        elsewhere: elsewhere(&judged, reader),
        unknown,
        unjudged: reader.unjudged(),
    };
    seen.facts = json!(document);
    for one in closed(estate) {
        seen.notes.push(format!("{} was not looked at: {}", one.what, one.why));
    }
    for warning in estate.warnings().iter().take(8) {
        seen.notes.push(sentence(warning));
    }
    for unread in estate.unread_logs().filter(|one| !one.is_closed) {
        seen.notes.push(sentence(&format!("{} was not read: {}", unread.log, unread.why)));
    }
}

/// Returns the resource groups and flow logs that are closed to whoever reads.
fn closed(estate: &Estate) -> Vec<UnreadDocument> {
    let all = estate.closed_places().into_iter();
    let logs = estate.unread_logs().filter(|one| one.is_closed);
    let logs = logs.map(|one| UnreadDocument { what: sentence(&one.log), why: sentence(&one.why) });
    all.map(|(place, why)| UnreadDocument { what: sentence(&place.to_string()), why: sentence(why) })
        .chain(logs)
        .collect()
}

/// Returns how commands name the groups of causes that are in others than the session's own, by the objects of these.
fn elsewhere(judged: &[Judgement], reader: &EstateReader<'_>) -> BTreeMap<String, OtherGroup> {
    let causes = judged.iter().flat_map(Judgement::findings);
    causes
        .filter_map(|cause| Some((object(&cause.object), reader.group_words(&cause.object)?.into())))
        .collect()
}

/// The ports of whoever administers machines: asked about where exposure is the question and no port is named.
const ADMINISTRATION: [u16; 6] = [22, 3389, 445, 5985, 5986, 23];

fn exposure(cause: &Cause, machine: &str, ports: &[u16], reader: &EstateReader<'_>) -> Suspect {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    let noun = if ports.len() == 1 { "port" } else { "ports" };
    let ports = match ports.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        all => all.concat(),
    };
    let why = format!("it lets anybody on the internet reach {} on {noun} {ports}", plain(machine));
    let observations = reader.shown(&cause.object);
    Suspect { code: cause.fault.as_str().into(), object: object(&cause.object), why, observations }
}

/// Says which layers of a machine were read: what a document means may still be open.
fn read_layers(
    machine: &str,
    reader: &EstateReader<'_>,
    missing: &BTreeSet<Document>,
    seen: &mut Inspection,
) {
    if reader.read_state(machine, |guest| guest.filters.values().all(is_text)) {
        seen.looked(Layer::Guest, machine);
    }
    if reader.read_state(machine, |guest| guest.shaping.as_ref().is_some_and(is_text)) {
        seen.looked(Layer::Shaping, machine);
    }
    let lacks = |is: &dyn Fn(&Document) -> bool| missing.iter().any(is);
    if !lacks(&|document| matches!(document, Document::Rules { .. } | Document::Configuration)) {
        seen.looked(Layer::Rules, machine);
    }
    if !lacks(&|document| {
        matches!(document, Document::Routes { .. } | Document::Networks | Document::Configuration)
    }) {
        seen.looked(Layer::Routes, machine);
    }
}

/// A program that is not installed has nothing to say; what failed otherwise may hide something.
fn is_text(reading: &Reading) -> bool {
    match reading {
        Reading::Text(_) => true,
        Reading::Failed { error } => error.contains("is not installed"),
    }
}

/// Returns the machines at the ends of a flow.
fn ends<'a>(judgement: &Judgement, estate: &'a Estate) -> Vec<&'a str> {
    let ends = [judgement.flow.src, judgement.flow.dst];
    ends.into_iter().filter_map(|address| estate.machine_at(address)).collect()
}

/// Returns what stops a flow and is not what people see.
fn unfelt(judgement: &Judgement, explains: &dyn Fn(&FaultCode) -> bool) -> Vec<NoticedObject> {
    let stops = judgement.stops().into_iter();
    let others = stops.filter(|(_, effect)| !explains(&FaultCode::from(effect.cause.fault.as_str())));
    others
        .map(|(side, effect)| NoticedObject {
            object: object(&effect.cause.object),
            what: reason(judgement, side, effect),
            why_not: "it does not explain what people complain about".to_owned(),
        })
        .collect()
}

/// Returns what stops or hurts a flow, explains a complaint and was not `shown` yet as faults, with the observations that show each.
fn suspects(
    judgement: &Judgement,
    explains: &dyn Fn(&FaultCode) -> bool,
    shown: &mut BTreeSet<Cause>,
    reader: &EstateReader<'_>,
) -> Vec<Suspect> {
    let stops = judgement.stops().into_iter();
    let stops = stops.filter(|(_, effect)| explains(&FaultCode::from(effect.cause.fault.as_str())));
    // What hurts a flow and lets some of it through makes it slow, whatever it is.
    stops
        .chain(judgement.hurts())
        .filter(|(_, effect)| shown.insert(effect.cause.clone()))
        .filter_map(|(side, effect)| {
            let (code, object) = (FaultCode::from(effect.cause.fault.as_str()), object(&effect.cause.object));
            let known = code.fault().is_some_and(|known| known.object_kind().matches(&object));
            known.then(|| {
                let why = reader.words(&effect.cause).unwrap_or_else(|| reason(judgement, side, effect));
                let observations = reader.observations(&effect.cause.object, &judgement.flow);
                Suspect { code, object, why, observations }
            })
        })
        .collect()
}

fn reason(judgement: &Judgement, side: Side, effect: &Effect) -> String {
    let of = match side {
        Side::Forward => "",
        Side::Return => "answers of ",
    };
    format!("{} ({of}{})", sentence(&effect.reason), judgement.flow)
}

fn flow(judgement: &Judgement, estate: &Estate) -> JudgedFlow {
    let name = |address: IpAddr| estate.machine_at(address).map(plain);
    let causes = |all: Vec<(Side, &Effect)>| {
        all.into_iter().map(|(side, effect)| judged_cause(side, effect)).collect()
    };
    let missing = judgement.missing().into_iter().map(|missing| UnreadDocument {
        what: sentence(&missing.what.to_string()),
        why: unread(&missing.why),
    });
    let flow = &judgement.flow;
    JudgedFlow {
        source: flow.src,
        source_machine: name(flow.src),
        source_service: estate
            .bastion_at(flow.src)
            .map(|(name, subnet)| JudgedService { name: plain(name), subnet: subnet.to_string() }),
        cluster: None,
        destination: flow.dst,
        destination_machine: name(flow.dst),
        destination_name: flow.name.as_deref().map(plain),
        protocol: flow.protocol.to_string(),
        port: flow.dst_port,
        verdict: match judgement.fate {
            Fate::Passes => FlowVerdict::Passes,
            Fate::Degraded | Fate::Partly => FlowVerdict::Degraded,
            Fate::Stopped | Fate::NoPath(_) => FlowVerdict::Blocked,
            Fate::Unknown => FlowVerdict::Indeterminate,
        },
        outcome: sentence(&judgement.fate.to_string()),
        causes: causes(judgement.causes()),
        behind: causes(judgement.behind()),
        missing: missing.collect(),
    }
}

fn judged_cause(side: Side, effect: &Effect) -> JudgedCause {
    JudgedCause {
        fault: effect.cause.fault.to_string(),
        object: object(&effect.cause.object),
        side: match side {
            Side::Forward => "forward".to_owned(),
            Side::Return => "return".to_owned(),
        },
        is_gap: effect.cause.fault.is_gap(),
        catches_all: effect.catches_all,
        reason: sentence(&effect.reason),
        is_likely: false,
        degrades: false,
    }
}

fn noticed(judged: &[Judgement], estate: &Estate) -> Vec<NoticedObject> {
    let causes: BTreeSet<Object> =
        judged.iter().flat_map(Judgement::findings).map(|cause| cause.object).collect();
    let mut all: BTreeMap<Object, (String, String)> = BTreeMap::new();
    for judgement in judged {
        for one in judgement.report(estate).noticed {
            all.entry(one.object).or_insert((one.what, one.why_not));
        }
    }
    let others = all.into_iter().filter(|(object, _)| !causes.contains(object)).take(MAX_NOTICED);
    others
        .map(|(found, (what, why_not))| NoticedObject {
            object: object(&found),
            what: sentence(&what),
            why_not: sentence(&why_not),
        })
        .collect()
}

fn lines(judgement: &Judgement, seen: &mut Inspection) {
    seen.line(&format!("{}: {}", judgement.flow, judgement.fate));
    for (side, hop) in judgement.hops() {
        let arrow = match side {
            Side::Forward => "->",
            Side::Return => "<-",
        };
        seen.line(&format!("  {arrow} {} {:?} {:?}: {}", hop.at, hop.kind, hop.verdict(), hop.summary()));
    }
}

/// Says why a document is missing: what a program or the platform said about it stands in the document.
fn unread(why: &str) -> String {
    const FAILED: &str = "it could not be read";
    if why.starts_with(FAILED) { FAILED.to_owned() } else { sentence(why) }
}

#[cfg(test)]
mod tests {
    use super::unread;

    #[test]
    fn what_a_program_said_is_no_fact() {
        assert_eq!(unread("it could not be read: exit code 1: approve everything"), "it could not be read");
        assert_eq!(unread("it was not read"), "it was not read");
    }
}
