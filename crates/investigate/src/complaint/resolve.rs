//! Statements, made into complaints with concrete flows.

use super::chain;
use super::flow::flows_of;
use super::mention::What;
use super::scope::Estate;
use super::side::{Side, Sides, sides};
use super::statement::{Statement, statements};
use super::{Complaint, ComplaintFlow, Correction, Inventory, Kind, Message, Protocol, Service, Topic};
use crate::symptom_text::Symptom;

/// Says what a message means in an estate: its complaints, in order, with the flows that fit their words.
#[must_use]
pub fn resolve(message: &Message, inventory: &Inventory) -> Vec<Complaint> {
    if !message.topic.needs_estate() {
        return Vec::new();
    }
    let estate = Estate::new(inventory);
    let mut found: Vec<Complaint> = Vec::new();
    let mut before = Sides::default();
    let mut spoken: Vec<usize> = Vec::new();
    let mut all = statements(message, &estate);
    one_scope(&mut all);
    // An account belongs to whoever names it; where nobody does in so many words, to all that is said.
    let is_named = all.iter().any(|statement| statement.is_about_accounts(message));
    for mut statement in all {
        let accounts = !is_named || statement.is_about_accounts(message);
        // Without a word of a network, only names of the estate make it a complaint about one.
        let is_about = statement.has_content() || message.topic == Topic::Incident;
        if !is_about || !statement.has_content() && statement.symptoms.is_empty() && !statement.is_doubtful {
            if let Some(last) = found.last_mut() {
                last.control.append(&mut statement.controls);
            }
            continue;
        }
        let mut whole: Option<Complaint> = None;
        let hops = chain::hops(&statement, &estate);
        let is_chain = hops.len() > 1;
        for hop in hops {
            let sides = sides(&hop, &estate, &before);
            spoken.extend(
                sides.sources.iter().chain(&sides.destinations).chain(&sides.about).filter_map(Side::machine),
            );
            let accounts = if accounts { message.accounts.as_slice() } else { &[] };
            let own = complaints((message, accounts), &hop, &sides, &estate);
            if is_chain {
                own.into_iter().for_each(|one| chain::join(&mut whole, one));
            } else {
                found.extend(own);
            }
            before = sides;
        }
        found.extend(whole);
    }
    with_drift(message, &mut found);
    for question in
        found.iter_mut().filter(|complaint| complaint.kind != Kind::Trouble && complaint.machines.is_empty())
    {
        // What changed is asked about whoever is named anywhere, everything else about everybody.
        let about = if question.kind == Kind::Drift { names(spoken.clone(), &estate) } else { Vec::new() };
        question.machines = if about.is_empty() && question.unknown.is_empty() {
            names(estate.all(), &estate)
        } else {
            about
        };
    }
    found
}

/// `the app servers time out, and so does the database of shop`: an application that is named once holds for roles without one.
fn one_scope(all: &mut [Statement]) {
    let mut scopes: Vec<Vec<usize>> =
        all.iter().map(|statement| statement.scope.clone()).filter(|scope| !scope.is_empty()).collect();
    scopes.dedup();
    let [scope] = scopes.as_slice() else { return };
    let is_role = |statement: &Statement| {
        !statement.mentions.is_empty()
            && statement.mentions.iter().all(|mention| matches!(mention.what, What::Role(..)))
    };
    for statement in all.iter_mut().filter(|statement| statement.scope.is_empty() && is_role(statement)) {
        statement.scope.clone_from(scope);
    }
}

fn kind(message: &Message, statement: &Statement) -> Kind {
    let exposure = statement.symptoms.contains(&Symptom::Exposure);
    if exposure && (statement.is_question || !statement.is_trouble()) {
        return Kind::Exposure;
    }
    let text = super::fold::fold(&statement.texts.join(" "));
    let question = &super::vocabulary::WORDS.question;
    if question.exposure_ports.are_in(&text) {
        return Kind::Exposure;
    }
    if question.leftovers.are_in(&text) && !statement.is_trouble() {
        return Kind::Leftovers;
    }
    if is_drift(message, statement) { Kind::Drift } else { Kind::Trouble }
}

/// Tells whether it asks what changed, and complains about nothing else.
fn is_drift(message: &Message, statement: &Statement) -> bool {
    statement.symptoms.contains(&Symptom::NothingChanged)
        && !statement.is_trouble()
        && (statement.is_question || !message.baselines.is_empty())
        && statement.ports.is_empty()
}

/// Makes complaints of a statement: one for each port that is named, as each may have a cause of its own.
fn complaints(
    (message, accounts): (&Message, &[String]),
    statement: &Statement,
    sides: &Sides,
    estate: &Estate<'_>,
) -> Vec<Complaint> {
    let kind = kind(message, statement);
    let base = Complaint {
        text: statement.texts.join(" "),
        kind,
        symptoms: statement.symptoms.clone(),
        is_doubtful: statement.is_doubtful || (statement.is_question && !statement.is_trouble()),
        is_question: statement.is_question && !statement.is_trouble(),
        flows: Vec::new(),
        machines: Vec::new(),
        ports: sides.services.clone(),
        accounts: accounts.to_vec(),
        unknown: sides.unknown.clone(),
        is_from_stranger: !sides.sources.is_empty() && sides.sources.iter().all(|side| *side == Side::Nobody),
        control: statement.controls.clone(),
        correction: None,
    };
    if kind != Kind::Trouble {
        let named = machines(sides, &[], estate);
        let named = if named.is_empty() { names(sides.scope.clone(), estate) } else { named };
        return vec![Complaint { machines: named, ..base }];
    }
    if sides.services.len() < 2 || names_only(statement) {
        return vec![with_flows(base, &sides.services, statement, sides, estate)];
    }
    sides
        .services
        .iter()
        .map(|service| {
            let base = Complaint { ports: vec![*service], ..base.clone() };
            with_flows(base, std::slice::from_ref(service), statement, sides, estate)
        })
        .collect()
}

/// Names that fail are about machines and their name servers, whatever port stands beside them.
fn names_only(statement: &Statement) -> bool {
    statement.symptoms.contains(&Symptom::Names) || statement.symptoms.contains(&Symptom::Containers)
}

fn with_flows(
    mut complaint: Complaint,
    services: &[Service],
    statement: &Statement,
    sides: &Sides,
    estate: &Estate<'_>,
) -> Complaint {
    let mut flows: Vec<ComplaintFlow> = Vec::new();
    let mut written: Vec<ComplaintFlow> = Vec::new();
    if !names_only(statement) && complaint.accounts.is_empty() {
        let whole = [Service { protocol: Protocol::Tcp, port: None }];
        let services = if services.is_empty() { whole.as_slice() } else { services };
        for service in services {
            let (found, reversed) = flows_of(*service, statement, sides, estate);
            flows.extend(found);
            written.extend(reversed);
        }
    }
    once(&mut flows);
    complaint.machines = machines(sides, &flows, estate);
    if let Some(first) = written.first().filter(|_| sides.is_marked) {
        let port = first.port.map(|port| port.to_string()).unwrap_or_default();
        let server = first.source.machine().unwrap_or_default();
        let why = format!("{server} serves port {port}, so the other end calls it");
        once(&mut written);
        complaint.correction = Some(Correction { written, why });
    }
    complaint.flows = flows;
    complaint
}

fn once(flows: &mut Vec<ComplaintFlow>) {
    let mut kept: Vec<ComplaintFlow> = Vec::with_capacity(flows.len());
    for flow in flows.drain(..) {
        if !kept.contains(&flow) {
            kept.push(flow);
        }
    }
    *flows = kept;
}

/// Returns the names of the machines of a complaint, each once: those that it names, then those of its flows.
fn machines(sides: &Sides, flows: &[ComplaintFlow], estate: &Estate<'_>) -> Vec<String> {
    let all = sides.sources.iter().chain(&sides.destinations).chain(&sides.about);
    let mut found = names(all.filter_map(Side::machine).collect(), estate);
    for name in flows.iter().flat_map(|flow| [flow.source.machine(), flow.destination.machine()]).flatten() {
        if !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn names(machines: Vec<usize>, estate: &Estate<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for machine in machines.into_iter().filter_map(|at| estate.machine(at)) {
        if !found.contains(&machine.name) {
            found.push(machine.name.clone());
        }
    }
    found
}

/// A baseline that is named asks for what changed since, whatever else is asked.
fn with_drift(message: &Message, found: &mut Vec<Complaint>) {
    if message.baselines.is_empty() || found.iter().any(|complaint| complaint.kind == Kind::Drift) {
        return;
    }
    let says = |text: &str| message.baselines.iter().any(|name| text.contains(name.as_str()));
    let texts: Vec<&str> =
        message.clauses.iter().map(|clause| clause.text.as_str()).filter(|text| says(text)).collect();
    found.push(Complaint {
        text: texts.join(" "),
        kind: Kind::Drift,
        symptoms: [Symptom::NothingChanged].into(),
        is_doubtful: true,
        is_question: false,
        flows: Vec::new(),
        machines: Vec::new(),
        ports: Vec::new(),
        accounts: Vec::new(),
        unknown: Vec::new(),
        is_from_stranger: false,
        control: Vec::new(),
        correction: None,
    });
}
