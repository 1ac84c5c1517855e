//! What is to be done next.

use std::time::Duration;

use super::name::{Origin, Role};
use super::request::SNAPLEN;
use super::step::{AnalysisJob, CaptureStep, Change, NextStep, StepKind};
use super::target::{CaptureTarget, Check, CloudObject, Phase, Removal, Stop};
use super::task::{CaptureTask, RequestedState, StorageCheck};
use crate::Name;
use crate::line::{self, Line};
use ghost_base::Timestamp;

/// How long after its time a capture may go on before it is ended.
const START_GRACE: Duration = Duration::from_secs(300);
/// After this many polls it is known whether a command to end it had an effect.
const MAX_POLLS_AFTER_STOP: u32 = 3;

/// What an end wants.
enum TargetAction {
    Now(StepKind),
    File(u64),
    At(Timestamp, String),
    /// The other end has to get there first.
    Other,
}

impl CaptureTask {
    /// Says what is to be done next. It changes nothing, and asking twice is asking once.
    #[must_use]
    pub fn next(&self, now: Timestamp) -> NextStep {
        let mut soonest: Option<(Timestamp, String)> = None;
        for (at, end) in self.ends.iter().enumerate().filter(|(_, end)| !end.settled()) {
            match self.want(end, now) {
                TargetAction::Now(what) => {
                    if let Some(step) = self.step(at, end, what) {
                        return NextStep::Run(Box::new(step));
                    }
                }
                TargetAction::File(bytes) => return NextStep::Verify { end: at, file: end.file(), bytes },
                TargetAction::At(until, why) => {
                    if soonest.as_ref().is_none_or(|(first, _)| until < *first) {
                        soonest = Some((until, why));
                    }
                }
                TargetAction::Other => {}
            }
        }
        match soonest {
            Some((until, why)) => NextStep::Wait { until, why },
            None => self.finish(now),
        }
    }

    /// Returns the commands that one consent covers, beginning with this one: those that change something for the same purpose.
    #[must_use]
    pub fn plan(&self, step: &CaptureStep) -> Vec<String> {
        let kinds: &[StepKind] = match step.what.change() {
            Some(Change::Begin) => &[StepKind::Create],
            Some(Change::CaptureTarget) => &[StepKind::Stop],
            Some(Change::Remove) => &[StepKind::Delete, StepKind::DeleteBlob],
            None => &[],
        };
        let mut lines = Vec::new();
        for (at, end) in self.ends.iter().enumerate() {
            for what in kinds {
                if self.covers(end, what)
                    && let Some(step) = self.step(at, end, what.clone())
                {
                    lines.push(step.command());
                }
            }
        }
        lines
    }

    fn covers(&self, end: &CaptureTarget, what: &StepKind) -> bool {
        let wanted = |thing: &CloudObject| self.is_busy(end, thing) && thing.removal == Removal::No;
        match what.change() {
            Some(Change::Begin) => end.phase == Phase::Ready,
            Some(Change::CaptureTarget) => {
                end.phase == Phase::Recording && self.want_stop(end, None) == Some(true)
            }
            Some(Change::Remove) => wanted(if *what == StepKind::Delete { &end.capture } else { &end.blob }),
            None => false,
        }
    }

    /// Returns every command that can come of the task, in order, for somebody who wants to see them before.
    #[must_use]
    pub fn foreseen(&self) -> Vec<CaptureStep> {
        let mut steps = Vec::new();
        let unknown = Name::parse("REGION").ok();
        let ends: Vec<CaptureTarget> = self
            .ends
            .iter()
            .map(|end| CaptureTarget {
                region: end.region.clone().or_else(|| unknown.clone()),
                ..end.clone()
            })
            .collect();
        let first = [StepKind::Machine, StepKind::Extensions];
        let once = [StepKind::Watchers, StepKind::Account, StepKind::Container];
        let before = [StepKind::Captures, StepKind::Taken];
        let after = [StepKind::Status, StepKind::Stop, StepKind::Size, StepKind::Fetch];
        let last = [StepKind::Delete, StepKind::DeleteBlob, StepKind::Confirm, StepKind::ConfirmBlob];
        for group in [&first[..], &once, &before, &[StepKind::Create], &after, &last] {
            // What all ends share is asked once.
            let ends = if group == &once[..] { ends.get(..1).unwrap_or_default() } else { &ends[..] };
            for (at, end) in ends.iter().enumerate() {
                steps.extend(group.iter().filter_map(|what| self.step(at, end, what.clone())));
            }
        }
        steps
    }

    fn want(&self, end: &CaptureTarget, now: Timestamp) -> TargetAction {
        let held = |until: Option<Timestamp>| until.filter(|until| *until > now);
        if end.phase == Phase::Recording && self.want_stop(end, Some(now)) == Some(true) {
            return TargetAction::Now(StepKind::Stop);
        }
        if let Some(until) = held(end.not_before) {
            return TargetAction::At(until, self.waiting(end));
        }
        match &end.phase {
            Phase::Checking { check } => self.check(check, now),
            Phase::Ready => {
                let waits = |other: &CaptureTarget| matches!(other.phase, Phase::Checking { .. });
                if self.ends.iter().any(waits) {
                    TargetAction::Other
                } else {
                    TargetAction::Now(StepKind::Create)
                }
            }
            // While it is in progress its result is not known.
            Phase::Creating | Phase::Looking { .. } => TargetAction::Now(StepKind::Look),
            Phase::Recording => TargetAction::Now(StepKind::Status),
            Phase::Sizing { .. } => TargetAction::Now(StepKind::Size),
            Phase::Fetching { .. } => TargetAction::Now(StepKind::Fetch),
            Phase::Verifying { bytes, .. } => TargetAction::File(*bytes),
            Phase::Kept { .. } | Phase::Failed => TargetAction::Other,
        }
    }

    fn check(&self, check: &Check, now: Timestamp) -> TargetAction {
        let shared = |what| match self.not_before.filter(|until| *until > now) {
            Some(until) => TargetAction::At(until, "trying a read again".to_owned()),
            None => TargetAction::Now(what),
        };
        match check {
            Check::Machine => TargetAction::Now(StepKind::Machine),
            Check::Extensions => TargetAction::Now(StepKind::Extensions),
            Check::Captures if self.regions.is_none() => shared(StepKind::Watchers),
            Check::Captures => TargetAction::Now(StepKind::Captures),
            Check::Rivals(names) => {
                TargetAction::Now(names.first().map_or(StepKind::Taken, |name| StepKind::Rival(name.clone())))
            }
            Check::Taken | Check::Passed => match self.shelf {
                StorageCheck::Account => shared(StepKind::Account),
                StorageCheck::Container => shared(StepKind::Container),
                StorageCheck::Good => TargetAction::Now(StepKind::Taken),
            },
        }
    }

    /// Tells whether a capture is to be ended now; `None` where nobody wants that.
    fn want_stop(&self, end: &CaptureTarget, now: Option<Timestamp>) -> Option<bool> {
        let overdue = now.is_some_and(|now| self.due(end).is_some_and(|due| now >= due.plus(START_GRACE)));
        if self.wish == RequestedState::GoOn && !overdue {
            return None;
        }
        Some(match end.stop {
            Stop::No => true,
            Stop::Sent(times) => times < 2 && end.polls >= MAX_POLLS_AFTER_STOP,
            Stop::Executing { .. } | Stop::Held => false,
        })
    }

    /// Returns when a capture should be over.
    pub(super) fn due(&self, end: &CaptureTarget) -> Option<Timestamp> {
        let length = Duration::from_secs(self.order.limits.seconds.into());
        end.since.map(|since| since.plus(length))
    }

    fn waiting(&self, end: &CaptureTarget) -> String {
        match &end.phase {
            Phase::Recording => match self.due(end) {
                Some(due) => format!("{} records until about {}", end.machine, clock_time(due)),
                None => format!("{} records", end.machine),
            },
            Phase::Looking { .. } => format!("whether the capture of {} began", end.machine),
            Phase::Sizing { .. } => format!("the file of {}", end.machine),
            Phase::Checking { .. } => format!("trying a read about {} again", end.machine),
            Phase::Ready
            | Phase::Creating
            | Phase::Fetching { .. }
            | Phase::Verifying { .. }
            | Phase::Kept { .. }
            | Phase::Failed => format!("trying again, {}", end.machine),
        }
    }

    /// What is left once every end has come to its own end.
    fn finish(&self, now: Timestamp) -> NextStep {
        let kept = || self.ends.iter().filter(|end| matches!(end.phase, Phase::Kept { .. }));
        if self.analysis.is_none() && kept().next().is_some() {
            let pair = Origin { session: self.session.clone(), number: self.number, role: Role::Only };
            let work = |end: &CaptureTarget| AnalysisJob {
                role: end.role,
                name: end.name.to_string(),
                pair: pair.to_string(),
            };
            return NextStep::Analyze(kept().map(work).collect());
        }
        for confirm in [true, false] {
            for (at, end) in self.ends.iter().enumerate() {
                let things = [
                    (&end.capture, StepKind::Delete, StepKind::Confirm),
                    (&end.blob, StepKind::DeleteBlob, StepKind::ConfirmBlob),
                ];
                for (thing, remove, look) in things {
                    let begun = matches!(thing.removal, Removal::Executing | Removal::Confirming);
                    if !self.is_busy(end, thing) || begun != confirm {
                        continue;
                    }
                    if let Some(until) = end.not_before.filter(|until| *until > now) {
                        let why = format!("whether what {} left is gone", end.machine);
                        return NextStep::Wait { until, why };
                    }
                    if let Some(step) = self.step(at, end, if confirm { look } else { remove }) {
                        return NextStep::Run(Box::new(step));
                    }
                }
            }
        }
        NextStep::Over
    }

    /// Writes a command; `None` where it cannot be written yet.
    fn step(&self, at: usize, end: &CaptureTarget, what: StepKind) -> Option<CaptureStep> {
        let place = self.order.group.place();
        let (storage, machine, name) = (&self.order.storage, &end.machine, &end.name);
        let shelf = (&storage.account, &storage.container);
        let region = || end.region.as_ref();
        let room = if let Phase::Fetching { bytes, .. } = end.phase { Some(bytes) } else { None };
        let (line, why): (Line, String) = match &what {
            StepKind::Machine => {
                (line::machine(&place, machine), format!("does {machine} run, and in which region?"))
            }
            StepKind::Extensions => (line::extensions(&place, machine), format!("can {machine} record?")),
            StepKind::Watchers => {
                (line::watchers(&place), "which regions have a network watcher?".to_owned())
            }
            StepKind::Captures => {
                (line::captures(&place, region()?), format!("does anything record on {machine}?"))
            }
            StepKind::Rival(rival) => {
                let rival = Name::parse(rival).ok()?;
                (
                    line::capture_status(&place, region()?, &rival),
                    format!("does {rival} still record on {machine}?"),
                )
            }
            StepKind::Account => (
                line::account(&self.order.storage_place(), shelf.0),
                format!("can the platform write to {}?", shelf.0),
            ),
            StepKind::Container => {
                (line::container_exists(shelf.0, shelf.1), format!("is {} there?", shelf.1))
            }
            StepKind::Taken => (
                line::blob_exists(shelf.0, shelf.1, &end.file()),
                format!("is the name {} free?", end.file()),
            ),
            StepKind::Create => {
                let elsewhere = self.order.account_id();
                let filters = self.order.filters_of(end.role);
                let to = (shelf.0, shelf.1, elsewhere.as_deref());
                let limits = self.order.cloud_limits();
                (
                    line::capture_create(&place, machine, name, to, limits, filters.as_deref()),
                    self.purpose(at, end),
                )
            }
            StepKind::Look => {
                (line::captures(&place, region()?), format!("did the capture of {machine} begin?"))
            }
            StepKind::Status => (
                line::capture_status(&place, region()?, name),
                format!("how far is the capture of {machine}?"),
            ),
            StepKind::Stop => {
                let why = if self.wish == RequestedState::GoOn {
                    "its time is over"
                } else {
                    "it was asked to end early"
                };
                (line::capture_stop(&place, region()?, name), format!("end the capture of {machine}: {why}"))
            }
            StepKind::Size => {
                (line::blobs(shelf.0, shelf.1, &end.file()), format!("how large is the file of {machine}?"))
            }
            StepKind::Fetch => (
                line::blob_download(shelf.0, shelf.1, &end.file(), &self.path(end)),
                format!("fetch the capture of {machine}"),
            ),
            StepKind::Delete => (line::capture_delete(&place, region()?, name), self.removal_reason(at, end)),
            StepKind::DeleteBlob => (
                line::blob_delete(shelf.0, shelf.1, name),
                format!("remove the file of {machine} from the storage account"),
            ),
            StepKind::Confirm => {
                (line::captures(&place, region()?), format!("is the capture of {machine} gone?"))
            }
            StepKind::ConfirmBlob => {
                (line::blob_exists(shelf.0, shelf.1, &end.file()), format!("is the file of {machine} gone?"))
            }
        };
        let room = room.filter(|_| what == StepKind::Fetch);
        Some(CaptureStep { what, end: at, line, why, room })
    }

    /// Says for a human why a capture is removed. The first of several is asked about for all of them.
    fn removal_reason(&self, at: usize, end: &CaptureTarget) -> String {
        match (at, self.ends.as_slice()) {
            (0, [first, .., last]) => format!(
                "the recordings of {} and {} are over: remove them and their files from the cloud",
                first.machine, last.machine
            ),
            _ => format!("the recording of {} is over: remove it and its file from the cloud", end.machine),
        }
    }

    /// Says for a human what a capture takes. The first of several is asked about for all of them.
    fn purpose(&self, at: usize, end: &CaptureTarget) -> String {
        let limits = self.order.limits;
        let kept = match limits.snaplen {
            0 => "WHOLE packets, payload included".to_owned(),
            more if more > SNAPLEN => format!("the first {more} bytes of each packet, payload included"),
            usual => format!("the first {usual} bytes of each packet"),
        };
        let which = if self.order.filters.is_empty() { "all packets" } else { "the filtered packets" };
        let (seconds, storage) = (limits.seconds, &self.order.storage);
        let megabytes = limits.bytes.div_ceil(1_000_000);
        let (machines, each) = match (at, self.ends.as_slice()) {
            (0, [first, .., last]) => (format!("{} and {}", first.machine, last.machine), " each"),
            _ => (end.machine.to_string(), ""),
        };
        format!(
            "record {which} of {machines} for {seconds} s, {kept}, up to {megabytes} MB{each}, to {}/{}",
            storage.account, storage.container
        )
    }

    fn path(&self, end: &CaptureTarget) -> String {
        format!("{}/{}", self.order.folder.trim_end_matches('/'), end.file())
    }
}

/// Returns the time of day, without the date.
fn clock_time(moment: Timestamp) -> String {
    let text = moment.to_string();
    text.get(11..19).map_or_else(|| text.clone(), |time| format!("{time} UTC"))
}
