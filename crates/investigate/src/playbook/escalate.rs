//! What needs consent: measurements and packets, where nothing that was read explains what people see.

use serde_json::{Value, json};

use crate::coverage;
use crate::judged::{JudgedComplaint, JudgedFlow};
use crate::playbook::agenda::{PlaybookContext, is_measured};
use crate::playbook::findings::{self, CitedFault};
use crate::playbook::planned_call::{CallProgress, PlannedCall};
use crate::suspect::{Layer, Looked};
use crate::symptom_text::{Complaint, Mention, Symptom};

/// Words that ask for packets, behind which a machine may be named.
const CAPTURED: [&str; 6] = ["capture", "tcpdump", "pcap", "mitschnitt", "aufzeich", "captura"];

/// Nothing comes back: one end alone cannot tell where it was lost.
const SILENT: [Symptom; 4] = [Symptom::Unreachable, Symptom::Hanging, Symptom::Lossy, Symptom::OneProtocol];

/// What packets may explain where nothing that was read does.
const UNSETTLED: [Symptom; 5] =
    [Symptom::Lossy, Symptom::Slow, Symptom::Hanging, Symptom::Unreachable, Symptom::OneProtocol];

/// The port of name servers.
const NAMES: u16 = 53;

impl PlaybookContext<'_> {
    /// Returns the last calls: what is measured, then what is recorded.
    pub(super) fn settling(&self) -> Vec<PlannedCall> {
        let faults = findings::faults(self.symptom_text, self.incident, self.conversation);
        let codes: Vec<&str> = faults.iter().map(|fault| fault.suspect.code.as_str()).collect();
        let missing =
            coverage::missing(self.symptom_text, &self.incident.names(), &self.conversation.looked(), &codes);
        let needs = |layer: Layer| missing.iter().any(|gap: &Looked| gap.layer == layer);
        let slow = self.symptom_text.symptoms.contains(&Symptom::Slow)
            && !codes.iter().any(|code| coverage::explains(code, Symptom::Slow));
        let open: Vec<&Complaint> = self
            .symptom_text
            .complaints
            .iter()
            .filter(|complaint| self.is_open(complaint, &faults))
            .collect();
        let mut calls = Vec::new();
        if needs(Layer::Measure) || slow {
            calls.extend(self.measure());
        }
        if calls.iter().all(|call| call.progress(self.conversation) == CallProgress::Over)
            && (needs(Layer::Wire) || !open.is_empty() || self.symptom_text.wants_capture)
        {
            calls.extend(self.capture(&open));
        }
        calls
    }

    fn measure(&self) -> Option<PlannedCall> {
        let known = || {
            let (source, destination) = (self.incident.source.as_ref()?, self.incident.destination.as_ref()?);
            Some((source.name.clone(), destination.name.clone()))
        };
        let (source, destination) = self.unexplained(&[Symptom::Slow, Symptom::Lossy]).or_else(known)?;
        let mut arguments =
            self.with(json!({"source": source, "destination": destination, "test_type": "both"}));
        let kept = self.symptom_text.baselines.iter().find(|name| is_measured(name));
        if let Some(kept) = kept {
            arguments.insert("compare_baseline".to_owned(), Value::from(kept.clone()));
        }
        let why = format!(
            "Rules, routes, packet filters and shaping do not explain slowness, so I measure latency and throughput from {source} to {destination}. It sends test traffic for a short time."
        );
        Some(PlannedCall::once("run_pipe_meter", Layer::Measure, arguments, why))
    }

    /// Returns the ends of a flow that nothing found so far explains, of the first complaint that shows one of some symptoms.
    fn unexplained(&self, symptoms: &[Symptom]) -> Option<(String, String)> {
        let shows = |complaint: &&JudgedComplaint| {
            symptoms.iter().any(|symptom| complaint.symptoms.contains(symptom))
        };
        self.judged.complaints.iter().filter(shows).find_map(|complaint| {
            let flows = || complaint.flows.iter().filter_map(|at| self.judged.flows.get(*at));
            let ends =
                |flow: &JudgedFlow| Some((flow.source_machine.clone()?, flow.destination_machine.clone()?));
            if flows().any(JudgedFlow::is_explained) { None } else { flows().find_map(ends) }
        })
    }

    fn capture(&self, open: &[&Complaint]) -> Option<PlannedCall> {
        // It is decided once: what is found later does not make another question of it.
        let named =
            self.conversation.calls("capture_traffic").next().and_then(|finished| finished.text("target"));
        let target = match named {
            Some(target) => target.to_owned(),
            None => self.target(open)?,
        };
        let asked = if self.symptom_text.wants_capture {
            "You asked for evidence from the wire"
        } else {
            "Everything that can be read without asking is clean or explains only a part"
        };
        let why = format!(
            "{asked}, so I record packets for half a minute: {target}. The file is kept apart and taken away from the machine afterwards."
        );
        let arguments = self.with(json!({"target": target, "duration_seconds": 30}));
        Some(PlannedCall::once("capture_traffic", Layer::Wire, arguments, why))
    }

    /// Returns where packets are recorded: where somebody wants it, else where it can decide what is open.
    fn target(&self, open: &[&Complaint]) -> Option<String> {
        let names = self.incident.names();
        let pair = match (self.unexplained(&UNSETTLED), names.as_slice()) {
            (Some((source, destination)), _) => Some(format!("{source} to {destination}")),
            (None, [one, two, ..]) => Some(format!("{one} to {two}")),
            (None, _) => None,
        };
        if self.symptom_text.both_ends && pair.is_some() {
            return pair;
        }
        if let Some(named) = self.captured() {
            return Some(named);
        }
        let silent = open.iter().any(|one| SILENT.iter().any(|symptom| one.symptoms.contains(symptom)));
        match (pair, open) {
            (Some(pair), open) if silent || open.len() > 1 => Some(pair),
            (_, [one]) => self.first_of(one).or_else(|| names.first().cloned()),
            (_, _) => names.first().cloned(),
        }
    }

    /// Returns the machine that a complaint names first.
    fn first_of(&self, complaint: &Complaint) -> Option<String> {
        complaint.mentions.iter().find_map(|mention| {
            let machines = self.incident.machines();
            let mut machines = machines.into_iter();
            let found = match mention {
                Mention::Word(word) => machines.find(|machine| machine.name.eq_ignore_ascii_case(word)),
                Mention::Address(address) => {
                    let address = address.to_string();
                    machines.find(|machine| machine.addresses.contains(&address))
                }
            };
            found.map(|machine| machine.name.clone())
        })
    }

    /// Returns the machine that is named behind the wish for a capture, before the sentence ends.
    fn captured(&self) -> Option<String> {
        let text = self.conversation.user_text.to_lowercase();
        let at = CAPTURED.iter().filter_map(|word| text.find(word)).min()?;
        let behind = text.get(at..)?;
        let end = ['!', '?', '\n'].iter().filter_map(|mark| behind.find(*mark));
        let end = end.chain(behind.find(". ")).min().unwrap_or(behind.len());
        let behind = behind.get(..end)?;
        let position = |name: &String| Some((behind.find(&name.to_lowercase())?, name.clone()));
        self.incident.names().iter().filter_map(position).min().map(|(_, name)| name)
    }

    /// Tells whether nothing that was found explains a complaint that the wire may explain.
    fn is_open(&self, complaint: &Complaint, faults: &[CitedFault]) -> bool {
        let symptoms = &complaint.symptoms;
        if !coverage::settling(symptoms).contains(&Layer::Wire) {
            return false;
        }
        let about_ports = [Symptom::Unreachable, Symptom::Hanging, Symptom::Refused, Symptom::OneProtocol]
            .iter()
            .any(|symptom| symptoms.contains(symptom));
        if about_ports && !complaint.ports.is_empty() {
            // What works badly is explained by what delays and loses, on whichever port; what is refused is not.
            let works_badly = symptoms.contains(&Symptom::Slow) || symptoms.contains(&Symptom::Lossy);
            let impaired = works_badly
                && !symptoms.contains(&Symptom::Refused)
                && faults.iter().any(|fault| coverage::explains(&fault.suspect.code, Symptom::Slow));
            // A port that people name and that nothing found so far keeps shut is a complaint of its own. Where calls on it were judged, that
            // says so; words about a fault are asked only where none was.
            let blocked = |port: &u16| {
                let mut judged = self.judged.flows.iter().filter(|flow| flow.port == Some(*port)).peekable();
                match judged.peek() {
                    Some(_) => judged.all(JudgedFlow::is_explained),
                    None => faults.iter().any(|fault| findings::blocks_port(&fault.suspect, *port)),
                }
            };
            return !impaired && !complaint.ports.iter().all(blocked);
        }
        let explained = |symptom: &Symptom, fault: &CitedFault| {
            let names = *symptom == Symptom::Names && findings::blocks_port(&fault.suspect, NAMES);
            names || coverage::explains(&fault.suspect.code, *symptom)
        };
        !symptoms
            .iter()
            .any(|symptom| *symptom != Symptom::Slow && faults.iter().any(|fault| explained(symptom, fault)))
    }
}
