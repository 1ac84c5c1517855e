//! Packets of machines that the session reaches by itself: recorded there with tcpdump, two at the same time, and analyzed here.
//!
//! A human is asked once for each machine. Nothing is left there: a recording ends by itself.

use serde_json::{Value, json};

use super::argument::malformed;
use super::capture::{analyzed, verified};
use super::capture_traffic::{
    Arguments, DEFAULT_SECONDS, MAX_SECONDS, MIN_SECONDS, Packets as Filter, machines,
};
use crate::event::{ObservationId, SessionHost};
use crate::suspect::{Layer, Looked, SupportedFaults, wire};
use crate::tool::call_replay::CallReplay;
use crate::tool::{CallContext, CallResult, FileTask, ToolAction};
use ghost_cloud::capture::{Analysis, Origin, Role};
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::{HostCapture, HostFilter, Packets};

/// Limits how much of the findings a result shows; the reports hold all.
const MAX_SHOWN_CHARS: usize = 6_000;

/// One end of it.
#[derive(Debug)]
struct HostEnd {
    machine: String,
    role: Role,
    /// The name of its file, without the ending.
    name: String,
    /// What became of it: packets and whether it ends within one.
    kept: Result<(u64, bool), Issue>,
    bytes: u64,
}

/// A capture on machines, as far as the record goes.
#[derive(Debug, Default)]
pub(super) struct CapturedHosts {
    ends: Vec<HostEnd>,
    analysis: Option<Analysis>,
    semantics: Vec<Option<String>>,
    seen: Vec<ObservationId>,
}

/// Returns the machines of a call that the session reaches by itself; nothing where one of them is not of that kind.
pub(super) fn hosts_of<'a>(target: &str, context: &'a CallContext<'_>) -> Option<Vec<&'a SessionHost>> {
    let all = &context.state.opened.hosts;
    let find = |name: &String| all.iter().find(|host| host.name.eq_ignore_ascii_case(name));
    let found: Vec<&SessionHost> = machines(target).iter().map(find).collect::<Option<_>>()?;
    (1..=2).contains(&found.len()).then_some(found)
}

impl CapturedHosts {
    /// Goes along the record of a call, until somebody else has to act.
    ///
    /// # Errors
    /// Returns what is to be done next.
    pub(super) fn replayed(
        read: &Arguments,
        hosts: &[&SessionHost],
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Self, Box<ToolAction>> {
        let mut captured = Self::default();
        let result = captured.advance(read, hosts, replay);
        captured.seen = replay.observations();
        result.map(|()| captured)
    }

    fn advance(
        &mut self,
        read: &Arguments,
        hosts: &[&SessionHost],
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<(), Box<ToolAction>> {
        let seconds = read.duration_seconds.unwrap_or(DEFAULT_SECONDS);
        if !(MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
            return Err(malformed(format!(
                "duration_seconds is {seconds}, and has to lie between {MIN_SECONDS} and {MAX_SECONDS}"
            )));
        }
        let filter = filter(&read.filters)?;
        let make = |host: &&SessionHost| {
            HostCapture::by(&host.carrier, &host.name, seconds, &filter, read.purpose())
        };
        let mut recordings: Vec<HostCapture> = hosts.iter().map(make).collect();
        let recorded = replay.run_all(&mut recordings)?;
        let roles: &[Role] =
            if hosts.len() == 1 { &[Role::Only] } else { &[Role::Source, Role::Destination] };
        let (session, number) = (replay.context().state.session.clone(), number(replay.context()));
        let pair = Origin { session: session.clone(), number, role: Role::Only }.to_string();
        for ((host, role), (packets, _)) in hosts.iter().zip(roles).zip(recorded) {
            let name = Origin { session: session.clone(), number, role: *role }.to_string();
            let bytes = packets.as_ref().map_or(0, |packets| packets.bytes);
            let kept = match packets {
                Ok(packets) => keep(&name, packets, replay)?,
                Err(issue) => Err(issue),
            };
            self.ends.push(HostEnd { machine: host.name.clone(), role: *role, name, kept, bytes });
        }
        let word = |role: Role| match role {
            Role::Only => "only",
            Role::Source => "source",
            Role::Destination => "destination",
        };
        let kept = self.ends.iter().filter(|end| end.kept.is_ok());
        let work: Vec<(String, String, String)> =
            kept.map(|end| (word(end.role).to_owned(), end.name.clone(), pair.clone())).collect();
        if !work.is_empty() {
            let text = replay.file_task(FileTask::Analyze { work: work.clone() })?;
            let (analysis, semantics) = analyzed(&text, &work);
            (self.analysis, self.semantics) = (Some(analysis), semantics);
        }
        Ok(())
    }

    /// Returns what it supports: a machine was inspected where its packets are here whole, and there are any.
    pub(super) fn supported(&self) -> SupportedFaults {
        let documents: Vec<&str> = self.semantics.iter().flatten().map(String::as_str).collect();
        let Ok(suspects) = wire(&documents) else { return SupportedFaults::default() };
        let all = documents.len() == self.semantics.len() && !documents.is_empty();
        let whole = |end: &&HostEnd| matches!(end.kept, Ok((packets, false)) if packets > 0);
        let machines = self.ends.iter().filter(whole).filter(|_| all);
        let looked = machines.map(|end| Looked { layer: Layer::Wire, subject: end.machine.clone() });
        SupportedFaults { suspects, looked: looked.collect(), ..SupportedFaults::default() }
    }

    /// Writes the result of the call.
    pub(super) fn outcome(&self, context: &CallContext<'_>) -> CallResult {
        let supported = self.supported();
        let is_kept = self.ends.iter().any(|end| end.kept.is_ok());
        let is_denied = context.steps().any(crate::state::Step::is_denied);
        let status = match (is_kept, is_denied) {
            (true, _) => "completed",
            (false, true) => "denied",
            (false, false) => "failed",
        };
        let findings = self.analysis.as_ref().map(|own| own.findings.join("\n")).unwrap_or_default();
        let mut notes: Vec<String> = Vec::new();
        for end in &self.ends {
            match &end.kept {
                Err(issue) => notes.push(match &issue.hint {
                    Some(hint) => format!("{}: {} ({hint})", end.machine, issue.text),
                    None => format!("{}: {}", end.machine, issue.text),
                }),
                Ok((_, true)) => notes.push(format!("{}: its recording reached its limit", end.machine)),
                Ok((_, false)) => {}
            }
        }
        let trouble = self.analysis.as_ref().and_then(|analysis| analysis.trouble.as_ref());
        notes.extend(trouble.map(|trouble| trouble.text.clone()));
        let shown = |what: &str, text: &str| match text.is_empty() {
            true => String::new(),
            false => context.fence(what, &text.chars().take(MAX_SHOWN_CHARS).collect::<String>()),
        };
        let ends: Vec<Value> = self.ends.iter().map(end).collect();
        let mut content = json!({
            "status": status,
            // Nothing runs on, and nothing is left on the machines.
            "state": "done",
            "cleanup_status": "nothing_left",
            "observations": self.seen,
            "suspects": supported.suspects,
            "looked": supported.looked,
            "facts": {"ends": ends},
            "files": self.analysis.as_ref().map(|analysis| analysis.files.clone()).unwrap_or_default(),
            "findings": shown("findings", &findings),
            "notes": shown("notes", &notes.join("\n")),
        });
        if let Some(fields) = content.as_object_mut().filter(|_| !is_kept) {
            let (reason, hint) = match is_denied {
                true => ("a human said no", "find another test of the hypothesis"),
                false => (
                    "no packets came of it; the notes say why",
                    "mend what they name, or go on without packets",
                ),
            };
            fields.insert("reason".to_owned(), json!(reason));
            fields.insert("hint".to_owned(), json!(hint));
        }
        CallResult { is_error: !is_kept, ..CallResult::completed(content) }
    }
}

/// Stores the packets of an end in the captures folder, and reads them back.
fn keep(
    name: &str,
    packets: Packets,
    replay: &mut CallReplay<'_, '_>,
) -> Result<Result<(u64, bool), Issue>, Box<ToolAction>> {
    let file = format!("{name}.cap");
    let stored = replay.file_task(FileTask::Store { file: file.clone(), text: packets.text })?;
    let stored: Value = serde_json::from_str(&stored).unwrap_or_default();
    if let Some(error) = stored.get("error").and_then(Value::as_str) {
        return Ok(Err(Issue::new(format!("keeping {file}: {error}"))));
    }
    let text = replay.file_task(FileTask::Verify { file, bytes: packets.bytes })?;
    Ok(verified(&text).map_err(|problem| Issue::new(problem.to_string())))
}

/// Numbers the captures of a session.
fn number(context: &CallContext<'_>) -> u32 {
    let own = &context.call.call;
    let before = context.state.calls().take_while(|call| call.call.id != own.id);
    let earlier = before.filter(|call| call.call.tool == own.tool && !call.steps.is_empty()).count();
    u32::try_from(earlier).unwrap_or(u32::MAX).saturating_add(1)
}

/// Reads which packets are kept; tcpdump takes one selection here.
fn filter(filters: &[Filter]) -> Result<HostFilter, Box<ToolAction>> {
    let filter = match filters {
        [] => return Ok(HostFilter::default()),
        [one] => one,
        _ => return Err(malformed("on these machines one filter is taken, or none")),
    };
    let protocol = match filter.protocol.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("any") => None,
        Some("tcp") => Some("tcp"),
        Some("udp") => Some("udp"),
        Some("icmp") => Some("icmp"),
        Some(_) => return Err(malformed("filters: protocol is tcp, udp, icmp or any")),
    };
    let host = filter.ip.as_deref().map(str::parse).transpose();
    let host = host.map_err(|_| malformed("filters: ip is one address here"))?;
    Ok(HostFilter { protocol, host, port: filter.port.filter(|port| *port > 0) })
}

fn end(end: &HostEnd) -> Value {
    match &end.kept {
        Ok((packets, cut_off)) => json!({"machine": end.machine, "state": "kept",
            "file": format!("{}.cap", end.name), "bytes": end.bytes, "packets": packets, "cut_off": cut_off}),
        Err(_) => json!({"machine": end.machine, "state": "failed"}),
    }
}
