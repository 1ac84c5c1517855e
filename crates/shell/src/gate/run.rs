//! What the gate does with a command, from proposal to response.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::builder::Builder;
use super::judge::Judge;
use super::record::Case;
use super::resolve_names::about_times;
use super::response::{Action, Problem, Response, Status};
use crate::audit::{Anchor, Consent, Kind, Log, runs};
use crate::{
    Approver, CancelSignal, Choice, ClipLimits, Decision, FilledScript, Identities, Known, Mask, Permit,
    PlannedCommand, Policy, Request, Ruling, Runner, Scope, Setting, Verdict,
};
use ghost_base::{Clock, SessionId};

/// After so many modifications whoever modifies is not getting anywhere.
const MAX_MODIFICATIONS: u32 = 5;

/// Why a command does not run whose consent was used up.
const USED: &str = "the audit says that this consent was used before";

/// The gate between an agent and the machine, for one session.
pub struct Shell {
    pub(super) session: SessionId,
    pub(super) policy: Arc<Policy>,
    pub(super) scope: Option<Scope>,
    pub(super) known: Known,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) anchor: Arc<dyn Anchor>,
    pub(super) runner: Arc<dyn Runner>,
    pub(super) mask: Option<Mask>,
    pub(super) identities: Option<Arc<Identities>>,
    pub(super) expiry: Duration,
    pub(super) evidence: PathBuf,
    pub(super) clip: ClipLimits,
    pub(super) log: Arc<Mutex<Log>>,
    pub(super) setting: Setting,
    /// What only reads asks: this machine has no sandbox for it.
    pub(super) unconfined: bool,
}

/// What came of asking.
pub(super) enum Answer {
    Given(Decision),
    Late,
    Failed,
}

impl Shell {
    /// Starts putting a shell together for a session whose files lie in `data`.
    #[must_use]
    pub fn builder(session: SessionId, data: &Path) -> Builder {
        Builder::new(session, data)
    }

    /// Returns the policy by which commands are judged.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Judges a command, asks if it must, runs it if it may, and answers.
    pub async fn run(&self, command: &str, reasoning: &str) -> Response {
        self.run_until(command, reasoning, CancelSignal::never()).await
    }

    /// Does what [`Shell::run`] does, and stops the command when the signal comes.
    pub async fn run_until(&self, command: &str, reasoning: &str, cancel: CancelSignal) -> Response {
        self.pass(self.open(command, reasoning), cancel).await
    }

    /// Runs a declared script behind the words that carry it to a guest. The verdict is the declared one.
    pub async fn run_script(
        &self,
        carrier: &[String],
        script: &FilledScript,
        reasoning: &str,
        cancel: CancelSignal,
    ) -> Response {
        let ruling = self.judge_script(carrier, script);
        self.pass(Case::new(&script.line(carrier), reasoning, ruling), cancel).await
    }

    /// Writes down that a line does not run, for a reason that is not the policy's, and answers as for what is BLOCKED.
    pub async fn refuse(&self, command: &str, reasoning: &str, why: &str) -> Response {
        let ruling = self.policy.classify_as_refused(command, why);
        self.block(Case::new(command, reasoning, ruling)).await
    }

    /// Takes a judged command through consent to its end.
    async fn pass(&self, mut case: Case, cancel: CancelSignal) -> Response {
        loop {
            let begun = Instant::now();
            case.ruling = self.resolve_names(case.ruling).await;
            let about_times = about_times(&case, begun.elapsed());
            match case.ruling.verdict {
                Verdict::Blocked => return self.block(case).await,
                Verdict::Safe if case.ruling.profile.redirected => return self.follow(case, cancel).await,
                Verdict::Safe => {
                    return match Permit::for_safe(&case.ruling) {
                        Some(permit) => {
                            let response = self.execute(case, permit, cancel).await;
                            Response { hint: response.hint.or(about_times), ..response }
                        }
                        None => self.deny(case, Action::UserAbandoned, "a SAFE command has no words").await,
                    };
                }
                Verdict::Risky if case.command.is_empty() => return self.refuse_empty(case).await,
                Verdict::Risky => {}
            }
            let request = self.request(&case, Vec::new());
            let answer = self.ask(&request, cancel.clone()).await;
            let Decision { choice, who } = match answer {
                Answer::Given(decision) => decision,
                Answer::Late => return self.deny(case, Action::Expired, "nobody answered in time").await,
                Answer::Failed => {
                    return self
                        .deny(case, Action::UserAbandoned, "the approver failed or was interrupted")
                        .await;
                }
            };
            case.approval = Some((who.clone(), self.clock.now()));
            match choice {
                Choice::Approve => {
                    case.action = if case.round > 1 { Action::UserModified } else { Action::UserApproved };
                    case.consent = self
                        .approver
                        .question(&request)
                        .map(|question| Consent { question, digest: request.digest().to_string() });
                    match self.is_used(&case).await {
                        Ok(false) => {}
                        Ok(true) => return self.deny(case, Action::UserAbandoned, USED).await,
                        Err(error) => return audit_failed(&case, &error),
                    }
                    return match Permit::approved(who, &case.command, &case.ruling) {
                        Some(permit) => self.execute(case, permit, cancel).await,
                        None => self.block(case).await,
                    };
                }
                Choice::Deny { reason } => return self.deny(case, Action::UserDenied, &reason).await,
                Choice::Expired => return self.deny(case, Action::Expired, "nobody answered in time").await,
                Choice::Modify { command } => match self.modify(case, &command).await {
                    Ok(next) => case = next,
                    Err(response) => return *response,
                },
            }
        }
    }

    /// True if the audit holds a run with the same consent: a store that forgot the run may offer the consent again.
    async fn is_used(&self, case: &Case) -> Result<bool, String> {
        let Some(consent) = case.consent.clone() else { return Ok(false) };
        let path = self.log.lock().unwrap_or_else(PoisonError::into_inner).path().to_owned();
        let read = tokio::task::spawn_blocking(move || runs(&path));
        let runs = read.await.map_err(|_| "the audit log failed".to_owned())?;
        let runs = runs.map_err(|error| error.to_string())?;
        Ok(runs.iter().any(|run| run.consent == consent))
    }

    /// Sets to which places commands may send something unasked, from now on.
    pub fn set_known(&mut self, known: Known) {
        self.known = known;
    }

    /// Says in which turn of a session the commands that follow are asked for; in none where each of them has to see what is so now.
    pub fn begin_turn(&self, turn: Option<u64>) {
        self.runner.begin_turn(turn);
    }

    /// True if a pattern of file names, as searches take them, can stand for a credential file.
    #[must_use]
    pub fn may_name_credential(&self, pattern: &str) -> bool {
        self.policy.may_name_credential(pattern)
    }

    /// Judges a command as the gate would judge it.
    #[must_use]
    pub fn judge(&self, command: &str) -> Ruling {
        self.judging().command(command)
    }

    /// Judges a declared script behind the words that carry it to a guest.
    #[must_use]
    pub fn judge_script(&self, carrier: &[String], script: &FilledScript) -> Ruling {
        self.judging().script(carrier, script)
    }

    fn judging(&self) -> Judge<'_> {
        Judge {
            policy: &self.policy,
            scope: self.scope.as_ref(),
            known: &self.known,
            setting: &self.setting,
            unconfined: self.unconfined,
            is_here: self.runner.starts_processes(),
        }
    }

    /// Returns the text as it is meant, with the names behind a mask.
    pub(super) fn unmasked(&self, command: &str) -> String {
        self.mask.as_ref().map_or_else(|| command.to_owned(), |mask| mask.unmask(command))
    }

    pub(super) fn open(&self, command: &str, reasoning: &str) -> Case {
        let command = self.unmasked(command);
        let command = command.trim_matches([' ', '\t', '\n', '\r']);
        Case::new(command, reasoning, self.judge(command))
    }

    pub(super) fn request(&self, case: &Case, plan: Vec<PlannedCommand>) -> Request {
        Request {
            session: self.session.clone(),
            command: case.command.clone(),
            reasoning: case.reasoning.clone(),
            ruling: case.ruling.clone(),
            round: case.round,
            plan,
            outcome_unknown: false,
            identity: self.identity(case).map(|identity| identity.name().to_owned()),
            forecast: Vec::new(),
        }
    }

    /// Asks on a task of its own, so that an approver that panics or never answers is a denial and nothing more.
    pub(super) async fn ask(&self, request: &Request, mut cancel: CancelSignal) -> Answer {
        let (approver, request) = (Arc::clone(&self.approver), request.clone());
        let mut asking = JoinSet::new();
        asking.spawn(async move { approver.decide(&request).await });
        let answer = tokio::time::timeout(self.expiry, asking.join_next());
        tokio::select! {
            biased;
            () = cancel.canceled() => Answer::Failed,
            answer = answer => match answer {
                Ok(Some(Ok(decision))) => Answer::Given(decision),
                Ok(Some(Err(_)) | None) => Answer::Failed,
                Err(_) => Answer::Late,
            },
        }
    }

    /// Records a modification and judges the new command from the start.
    pub(super) async fn modify(&self, mut case: Case, command: &str) -> Result<Case, Box<Response>> {
        if case.round >= MAX_MODIFICATIONS {
            return Err(Box::new(self.deny(case, Action::UserDenied, "it was modified too often").await));
        }
        case.action = Action::UserModified;
        let entry = case.entry(self, Kind::Decided);
        if let Err(error) = self.write(&mut case, entry).await {
            return Err(Box::new(audit_failed(&case, &error)));
        }
        let command = command.trim_matches([' ', '\t', '\n', '\r']);
        let next = Case {
            round: case.round + 1,
            action: Action::UserModified,
            ..Case::new(command, &case.reasoning, self.judge(command))
        };
        let next = Case { audit_id: case.audit_id, head: case.head, approval: case.approval, ..next };
        if next.command.is_empty() { Err(Box::new(self.refuse_empty(next).await)) } else { Ok(next) }
    }

    pub(super) async fn block(&self, mut case: Case) -> Response {
        case.action = Action::Blocked;
        self.decide(case, Status::Error, Some(Problem::Blocked), None).await
    }

    pub(super) async fn refuse_empty(&self, mut case: Case) -> Response {
        case.action = Action::Blocked;
        self.decide(case, Status::Error, Some(Problem::EmptyCommand), None).await
    }

    pub(super) async fn deny(&self, mut case: Case, action: Action, reason: &str) -> Response {
        case.action = action;
        // Whoever proposed it read the policy's words as SAFE, and has not seen why it asked.
        let hint = case.ruling.asks_for_machine().then(|| case.ruling.reason.clone().into_owned());
        let response = self.decide(case, Status::Denied, None, Some(reason)).await;
        Response { hint, ..response }
    }

    pub(super) async fn decide(
        &self,
        mut case: Case,
        status: Status,
        problem: Option<Problem>,
        reason: Option<&str>,
    ) -> Response {
        let mut entry = case.entry(self, Kind::Decided);
        if let Some(reason) = reason {
            entry.reason = Some(crate::redact(reason).into_string().into());
        }
        entry.error = problem.map(|problem| problem.as_str().into());
        let text = reason.map_or_else(|| case.ruling.reason.clone().into_owned(), str::to_owned);
        match self.write(&mut case, entry).await {
            Ok(_) => Self::settled(&case, status, problem, text),
            Err(error) => audit_failed(&case, &error),
        }
    }
}

pub(super) fn audit_failed(case: &Case, error: &str) -> Response {
    let reason = format!("nothing ran, because the audit could not be written: {error}");
    Shell::settled(case, Status::Error, Some(Problem::AuditFailed), reason)
}
