//! Running what is permitted, as whom it has to run, signed in first where that takes it.

use std::sync::Arc;
use std::time::Duration;

use super::record::Case;
use super::response::{Problem, Response, Status};
use super::run::{Shell, audit_failed};
use crate::audit::Kind;
use crate::{CancelSignal, Errand, ExecError, Identity, Output, Permit, SignIn, Step, Verdict};

/// How long a sign-in may take: it asks two services, one after the other.
const ENTERING: Duration = Duration::from_secs(60);

/// What a run came to, and whether it failed because nobody is signed in.
struct Carried {
    response: Response,
    is_out: bool,
}

impl Shell {
    /// Returns as whom a command runs, or would.
    pub(super) fn identity<'a>(&'a self, case: &'a Case) -> Option<&'a Arc<Identity>> {
        let reads = case.ruling.only_reads();
        let verdict = if reads { Verdict::Safe } else { case.ruling.verdict };
        let by_verdict = || self.identities.as_ref()?.of(verdict);
        case.own.as_ref().or_else(by_verdict)
    }

    /// Runs what is permitted. Where nobody is signed in any more a reading command is tried once more after signing in; one that
    /// acts is not, because nobody knows how far it came.
    pub(super) async fn execute(&self, case: Case, permit: Permit, cancel: CancelSignal) -> Response {
        let door = self.identity(&case).filter(|_| speaks_to_cloud(&case.command)).cloned();
        let Some(identity) = door.filter(|identity| identity.door().is_some()) else {
            return self.carry(case, permit, cancel).await.response;
        };
        let entered = match self.enter(&identity, None, &cancel).await {
            Ok(entered) => entered,
            Err(told) => return self.shut_out(case, &identity, &told).await,
        };
        let again = Case {
            round: case.round,
            action: case.action,
            plan: case.plan,
            ..Case::new(&case.command, &case.reasoning, case.ruling.clone())
        };
        let Carried { mut response, is_out } = self.carry(case, permit, cancel.clone()).await;
        if !is_out {
            return response;
        }
        match self.enter(&identity, Some(entered), &cancel).await {
            Err(told) => response.hint = Some(format!("signing in as {} failed: {told}", identity.name())),
            Ok(_) => match Permit::for_safe(&again.ruling) {
                Some(permit) => return self.carry(again, permit, cancel).await.response,
                None => {
                    response.hint = Some(format!(
                        "{} is signed in again; what changes something is not tried again by itself",
                        identity.name()
                    ));
                }
            },
        }
        response
    }

    /// Records the intent, runs, records the end.
    async fn carry(&self, mut case: Case, permit: Permit, cancel: CancelSignal) -> Carried {
        let mut intent = case.entry(self, Kind::Intent);
        intent.argv_digest = Some(permit.digest());
        if let Err(error) = self.write(&mut case, intent).await {
            return Carried { response: audit_failed(&case, &error), is_out: false };
        }
        let identity = self.identity(&case).cloned();
        let mut setting = self.setting.clone();
        if let Some(identity) = &identity {
            setting.environment = identity.variables(&setting.environment);
        }
        if case.own.is_some() {
            setting.limits.timeout = setting.limits.timeout.max(ENTERING);
        }
        let ran = self.runner.run(permit, &setting, cancel).await;
        let is_out = identity.is_some_and(|identity| is_out(&identity, &ran));
        let modified = (case.round > 1).then(|| case.command.clone());
        let mut response = self.finish(case, ran).await;
        response.modified_command = modified;
        Carried { response, is_out }
    }

    /// Signs an identity in: once in this process, and anew where nobody did since `seen`. Returns how often it was by now.
    pub(super) async fn enter(
        &self,
        identity: &Arc<Identity>,
        seen: Option<u64>,
        cancel: &CancelSignal,
    ) -> Result<u64, String> {
        let Some(door) = identity.door() else { return Ok(0) };
        let mut entered = identity.entered().lock().await;
        match seen {
            Some(seen) if *entered != seen => return Ok(*entered),
            None if *entered > 0 => return Ok(*entered),
            None if door.is_in() => {}
            Some(_) | None => {
                let went = self.walk_in(identity, door.as_ref(), cancel).await;
                door.end(went.is_ok());
                went?;
            }
        }
        *entered += 1;
        Ok(*entered)
    }

    async fn walk_in(
        &self,
        identity: &Arc<Identity>,
        door: &dyn SignIn,
        cancel: &CancelSignal,
    ) -> Result<(), String> {
        for step in door.begin()? {
            let response = self.walk(identity, &step, cancel.clone()).await.response;
            if response.status != Status::Completed || response.exit_code != Some(0) {
                let told = response.stderr.lines().find(|line| !line.trim().is_empty());
                return Err(told.unwrap_or(&response.reason).trim().to_owned());
            }
            if let Some(wanted) = &step.expects
                && !response.output.trim().eq_ignore_ascii_case(wanted)
            {
                return Err(format!(
                    "it is signed in to another subscription than {wanted}, to which it is pinned"
                ));
            }
        }
        Ok(())
    }

    /// Runs one of the program's own lines as an identity, signed in first where that takes it. Nobody is asked: such a line changes
    /// nothing, and no other one has its form.
    pub async fn errand(&self, identity: &Arc<Identity>, errand: Errand) -> Response {
        let cancel = CancelSignal::never();
        let step = Step { errand, expects: None };
        let entered = match self.enter(identity, None, &cancel).await {
            Ok(entered) => entered,
            Err(told) => return Self::not_entered(identity, &step, &told),
        };
        let Carried { response, is_out } = self.walk(identity, &step, cancel.clone()).await;
        if !is_out {
            return response;
        }
        match self.enter(identity, Some(entered), &cancel).await {
            Ok(_) => self.walk(identity, &step, cancel).await.response,
            Err(told) => Self::not_entered(identity, &step, &told),
        }
    }

    fn not_entered(identity: &Identity, step: &Step, told: &str) -> Response {
        let case = Case::new(&step.errand.text(), "", step.errand.ruling());
        let reason = format!("signing in as {} failed: {told}", identity.name());
        Self::settled(&case, Status::Error, Some(Problem::SpawnFailed), reason)
    }

    /// Runs a line of the program's own as an identity; it is on record as everything else.
    async fn walk(&self, identity: &Arc<Identity>, step: &Step, cancel: CancelSignal) -> Carried {
        let ruling = step.errand.ruling();
        let why = format!("{} ({})", ruling.reason, identity.name());
        let case = Case { own: Some(Arc::clone(identity)), ..Case::new(&step.errand.text(), &why, ruling) };
        match Permit::for_safe(&case.ruling) {
            Some(permit) => self.carry(case, permit, cancel).await,
            None => {
                let response = Self::settled(&case, Status::Error, Some(Problem::Blocked), "it has no words");
                Carried { response, is_out: false }
            }
        }
    }

    async fn shut_out(&self, case: Case, identity: &Identity, told: &str) -> Response {
        let reason = format!("nothing ran, because signing in as {} failed: {told}", identity.name());
        let mut response = self.decide(case, Status::Error, Some(Problem::SpawnFailed), Some(&reason)).await;
        response.hint =
            Some("`ghost config check` tries both identities; see [azure] of the configuration".to_owned());
        response
    }
}

/// Tells whether a run failed because nobody is signed in.
fn is_out(identity: &Identity, ran: &Result<Output, ExecError>) -> bool {
    let (Some(door), Ok(output)) = (identity.door(), ran) else { return false };
    output.exit_code != Some(0) && door.is_out(output.exit_code, &String::from_utf8_lossy(&output.stderr))
}

/// Tells whether `az` stands anywhere in a text.
fn speaks_to_cloud(command: &str) -> bool {
    let part = |char: char| !(char.is_alphanumeric() || char == '_' || char == '-' || char == '.');
    command.split(part).any(|word| word == "az")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn az_is_found_wherever_it_stands_as_a_word() {
        for text in
            ["az vm list", "/usr/bin/az vm list", "ls;az group show", "sudo 'az' login", "x=$(az vm list)"]
        {
            assert!(speaks_to_cloud(text), "{text}");
        }
        for text in ["jazz", "ip -br a", "az-cli", "cat x.az", "gaz vm"] {
            assert!(!speaks_to_cloud(text), "{text}");
        }
    }
}
