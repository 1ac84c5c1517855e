//! A task: one order, from the first look to what is cleaned up. All that is known of it is in here, so that it can go on after any end.

use serde::{Deserialize, Serialize};

use super::name::Origin;
use super::request::{CaptureRequest, CaptureRequestError};
use super::step::{CaptureStep, Change, StepKind};
use super::target::{CaptureTarget, Check, Left, Phase, Removal, Stop};
use super::text;
use crate::Name;
use crate::operation::{Issue, RetryPolicy};
use ghost_base::{SessionId, Timestamp};

/// The format of a task that is kept.
const FORMAT: u32 = 1;

/// What somebody wants of a task that is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedState {
    /// That it goes on.
    GoOn,
    /// That it ends early, and what was recorded until then is kept.
    Stop,
    /// That it ends and nothing is kept.
    Cancel,
}

/// What the analysis brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// The files that were written, by their names in the captures folder.
    pub files: Vec<String>,
    /// What was found, most important first, a line each.
    pub findings: Vec<String>,
    /// How many of them are critical.
    pub critical: u64,
    /// What went wrong.
    pub trouble: Option<Issue>,
}

/// The storage account, as far as it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StorageCheck {
    Account,
    Container,
    Good,
}

/// One order, from the first look to what is cleaned up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureTask {
    format: u32,
    /// The session that it belongs to.
    #[serde(with = "text")]
    pub session: SessionId,
    /// Which of the session's tasks it is.
    pub number: u32,
    /// What was ordered.
    pub order: CaptureRequest,
    /// Since when it is there.
    #[serde(with = "text")]
    pub opened: Timestamp,
    /// Its ends; the source stands before the destination.
    pub ends: Vec<CaptureTarget>,
    /// What somebody wants of it.
    pub wish: RequestedState,
    /// Everything in the cloud goes, whether it was fetched or not.
    pub discard: bool,
    /// What the analysis brought.
    pub analysis: Option<Analysis>,
    pub(super) shelf: StorageCheck,
    pub(super) regions: Option<Vec<String>>,
    pub(super) patience: RetryPolicy,
    #[serde(with = "text::option")]
    pub(super) not_before: Option<Timestamp>,
}

/// Why a text is no task.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// It is no task, or was cut off.
    #[error("it is no task: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// A newer program wrote it.
    #[error("its format is {0}, and this program knows {FORMAT}")]
    Format(u32),
    /// Its parts do not belong together.
    #[error("its ends are not those of its order")]
    Mixed,
}

impl CaptureTask {
    /// Makes a task of an order that was checked.
    ///
    /// # Errors
    /// Fails where the session's id is too long for the platform, or a machine's name is none.
    pub fn new(
        session: SessionId,
        number: u32,
        order: CaptureRequest,
        now: Timestamp,
    ) -> Result<Self, CaptureRequestError> {
        let id = format!("{session}-{number}");
        if id.parse::<SessionId>().is_err() {
            return Err(CaptureRequestError::Id(id));
        }
        let ends = order.roles().iter().zip(&order.machines).map(|(&role, machine)| {
            let name = Origin { session: session.clone(), number, role }.name()?;
            Ok(CaptureTarget::new(role, Name::parse(machine)?, name))
        });
        Ok(Self {
            format: FORMAT,
            ends: ends.collect::<Result<_, CaptureRequestError>>()?,
            session,
            number,
            order,
            opened: now,
            wish: RequestedState::GoOn,
            discard: false,
            analysis: None,
            shelf: StorageCheck::Account,
            regions: None,
            patience: RetryPolicy::default(),
            not_before: None,
        })
    }

    /// Reads one that was kept.
    ///
    /// # Errors
    /// Says why it is none.
    pub fn from_json(text: &str) -> Result<Self, TaskError> {
        let task: Self = serde_json::from_str(text)?;
        if task.format != FORMAT {
            return Err(TaskError::Format(task.format));
        }
        let fresh = Self::new(task.session.clone(), task.number, task.order.clone(), task.opened);
        let same = fresh.is_ok_and(|fresh| {
            let own = |task: &Self| {
                task.ends
                    .iter()
                    .map(|end| (end.role, end.machine.clone(), end.name.clone()))
                    .collect::<Vec<_>>()
            };
            own(&fresh) == own(&task)
        });
        if same { Ok(task) } else { Err(TaskError::Mixed) }
    }

    /// Writes it as it is kept.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Returns its id: what a person names it by.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}-{}", self.session, self.number)
    }

    /// Asks it to end early; what was recorded until then is kept.
    pub fn stop(&mut self) {
        if self.state().is_over() {
            return;
        }
        if self.wish == RequestedState::GoOn {
            self.wish = RequestedState::Stop;
        }
        self.unbegun();
    }

    /// Asks it to end; nothing is kept.
    pub fn cancel(&mut self) {
        if self.state().is_over() {
            return;
        }
        self.wish = RequestedState::Cancel;
        self.unbegun();
        for end in &mut self.ends {
            if matches!(end.phase, Phase::Sizing { .. } | Phase::Fetching { .. } | Phase::Verifying { .. }) {
                end.fail(Issue::new("it was canceled"));
            }
        }
    }

    fn unbegun(&mut self) {
        for end in &mut self.ends {
            if matches!(end.phase, Phase::Checking { .. } | Phase::Ready) {
                end.fail(Issue::new("it was canceled before it began"));
            }
        }
    }

    /// Goes on with ends whose evidence may still be had.
    pub fn resume(&mut self) {
        if self.discard {
            return;
        }
        for end in self.ends.iter_mut().filter(|end| end.resumable) {
            end.turn(Phase::Recording);
            (end.resumable, end.trouble, end.polls) = (false, None, 0);
            self.analysis = None;
        }
    }

    /// Asks for everything to be removed that is, or may be, left, whether it was fetched or not.
    pub fn clean_up(&mut self) {
        self.discard = true;
        for end in &mut self.ends {
            for thing in [&mut end.capture, &mut end.blob] {
                if thing.remains() && matches!(thing.removal, Removal::Held(_)) {
                    thing.removal = Removal::No;
                }
            }
        }
    }

    /// Notes that a command is in progress. What may change something is begun once: a second time it says no, and nothing may run.
    #[must_use]
    pub fn begin(&mut self, step: &CaptureStep) -> bool {
        let settled = self.ends.iter().all(CaptureTarget::settled);
        let discard = self.discard;
        let Some(end) = self.ends.get_mut(step.end) else { return false };
        match step.what.change() {
            Some(Change::Begin) => {
                let ready = end.phase == Phase::Ready && end.capture.left == Left::Never;
                if ready {
                    end.turn(Phase::Creating);
                    (end.capture.left, end.blob.left) = (Left::Perhaps, Left::Perhaps);
                }
                ready
            }
            Some(Change::CaptureTarget) => {
                let before = match end.stop {
                    Stop::No => 0,
                    Stop::Sent(before) => before,
                    Stop::Executing { .. } | Stop::Held => return false,
                };
                let runs = end.phase == Phase::Recording;
                if runs {
                    end.stop = Stop::Executing { before };
                }
                runs
            }
            Some(Change::Remove) => {
                let wanted = settled && (!end.resumable || discard);
                let thing = if step.what == StepKind::Delete { &mut end.capture } else { &mut end.blob };
                let may = wanted && thing.remains() && thing.removal == Removal::No;
                if may {
                    thing.removal = Removal::Executing;
                }
                may
            }
            None => true,
        }
    }

    /// Fails every end that has not begun.
    pub(super) fn fail_checks(&mut self, trouble: &Issue) {
        for end in &mut self.ends {
            if matches!(end.phase, Phase::Checking { .. } | Phase::Ready) {
                end.fail(trouble.clone());
            }
        }
    }

    /// Moves an end to its next check.
    pub(super) fn passed(&mut self, at: usize, next: Check) {
        if let Some(end) = self.ends.get_mut(at) {
            end.turn(if next == Check::Passed { Phase::Ready } else { Phase::Checking { check: next } });
        }
    }
}
