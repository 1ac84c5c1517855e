//! Running what is permitted, as whom it has to run, signed in first where that takes it.

use std::sync::Arc;
use std::time::Duration;

use super::record::Case;
use super::response::{Problem, Response, Status};
use super::run::{Shell, audit_failed};
use crate::audit::Kind;
use crate::{
    CancelSignal, ExecError, Identity, IdentityCommand, Output, Permit, Setting, SignIn, SignInStep, Verdict,
};

/// How long a sign-in may take: it asks two services, one after the other.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(60);

/// What a run came to, and whether it failed because nobody is signed in.
struct Executed {
    response: Response,
    is_signed_out: bool,
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
        let sign_in = self.identity(&case).filter(|_| speaks_to_cloud(&case.command)).cloned();
        let Some(identity) = sign_in.filter(|identity| identity.sign_in().is_some()) else {
            return self.run_permitted(case, permit, cancel).await.response;
        };
        if self.runner.brings_identity(&permit, &self.setting_of(&case)) {
            return self.run_permitted(case, permit, cancel).await.response;
        }
        let sign_ins = match self.ensure_signed_in(&identity, None, &cancel).await {
            Ok(sign_ins) => sign_ins,
            Err(problem) => return self.refuse_signed_out(case, &identity, &problem).await,
        };
        let again = Case {
            round: case.round,
            action: case.action,
            plan: case.plan,
            ..Case::new(&case.command, &case.reasoning, case.ruling.clone())
        };
        let Executed { mut response, is_signed_out } = self.run_permitted(case, permit, cancel.clone()).await;
        if !is_signed_out {
            return response;
        }
        match self.ensure_signed_in(&identity, Some(sign_ins), &cancel).await {
            Err(problem) => {
                response.hint = Some(format!("signing in as {} failed: {problem}", identity.name()))
            }
            Ok(_) => match Permit::for_safe(&again.ruling) {
                Some(permit) => return self.run_permitted(again, permit, cancel).await.response,
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

    /// Returns where and within which bounds a command runs, with what its identity may see.
    fn setting_of(&self, case: &Case) -> Setting {
        let mut setting = self.setting.clone();
        if let Some(identity) = self.identity(case) {
            setting.environment = identity.variables(&setting.environment);
        }
        if case.own.is_some() {
            setting.limits.timeout = setting.limits.timeout.max(SIGN_IN_TIMEOUT);
        }
        setting
    }

    /// Records the intent, runs, records the end.
    async fn run_permitted(&self, mut case: Case, permit: Permit, cancel: CancelSignal) -> Executed {
        let mut intent = case.entry(self, Kind::Intent);
        intent.argv_digest = Some(permit.digest());
        if let Err(error) = self.write(&mut case, intent).await {
            return Executed { response: audit_failed(&case, &error), is_signed_out: false };
        }
        let identity = self.identity(&case).cloned();
        let setting = self.setting_of(&case);
        let ran = self.runner.run(permit, &setting, cancel).await;
        let is_signed_out = identity.is_some_and(|identity| is_signed_out(&identity, &ran));
        let modified = (case.round > 1).then(|| case.command.clone());
        let mut response = self.finish(case, ran).await;
        response.modified_command = modified;
        Executed { response, is_signed_out }
    }

    /// Signs an identity in: once in this process, and anew where nobody did since `seen`. Returns how often it was by now.
    pub(super) async fn ensure_signed_in(
        &self,
        identity: &Arc<Identity>,
        seen: Option<u64>,
        cancel: &CancelSignal,
    ) -> Result<u64, String> {
        let Some(sign_in) = identity.sign_in() else { return Ok(0) };
        let mut sign_ins = identity.sign_ins().lock().await;
        match seen {
            Some(seen) if *sign_ins != seen => return Ok(*sign_ins),
            None if *sign_ins > 0 => return Ok(*sign_ins),
            None if sign_in.is_signed_in() => {}
            Some(_) | None => {
                let went = self.sign_in_with(identity, sign_in.as_ref(), cancel).await;
                sign_in.end(went.is_ok());
                went?;
            }
        }
        *sign_ins += 1;
        Ok(*sign_ins)
    }

    async fn sign_in_with(
        &self,
        identity: &Arc<Identity>,
        sign_in: &dyn SignIn,
        cancel: &CancelSignal,
    ) -> Result<(), String> {
        for step in sign_in.begin().map_err(|error| error.to_string())? {
            let response = self.run_step(identity, &step, cancel.clone()).await.response;
            if response.status != Status::Completed || response.exit_code != Some(0) {
                let problem = response.stderr.lines().find(|line| !line.trim().is_empty());
                return Err(problem.unwrap_or(&response.reason).trim().to_owned());
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
    pub async fn run_identity_command(&self, identity: &Arc<Identity>, command: IdentityCommand) -> Response {
        let cancel = CancelSignal::never();
        let step = SignInStep { command, expects: None };
        let sign_ins = match self.ensure_signed_in(identity, None, &cancel).await {
            Ok(sign_ins) => sign_ins,
            Err(problem) => return Self::sign_in_failed(identity, &step, &problem),
        };
        let Executed { response, is_signed_out } = self.run_step(identity, &step, cancel.clone()).await;
        if !is_signed_out {
            return response;
        }
        match self.ensure_signed_in(identity, Some(sign_ins), &cancel).await {
            Ok(_) => self.run_step(identity, &step, cancel).await.response,
            Err(problem) => Self::sign_in_failed(identity, &step, &problem),
        }
    }

    fn sign_in_failed(identity: &Identity, step: &SignInStep, problem: &str) -> Response {
        let case = Case::new(&step.command.text(), "", step.command.ruling());
        let reason = format!("signing in as {} failed: {problem}", identity.name());
        Self::settled(&case, Status::Error, Some(Problem::SpawnFailed), reason)
    }

    /// Runs a line of the program's own as an identity; it is on record as everything else.
    async fn run_step(&self, identity: &Arc<Identity>, step: &SignInStep, cancel: CancelSignal) -> Executed {
        let ruling = step.command.ruling();
        let why = format!("{} ({})", ruling.reason, identity.name());
        let case = Case { own: Some(Arc::clone(identity)), ..Case::new(&step.command.text(), &why, ruling) };
        match Permit::for_safe(&case.ruling) {
            Some(permit) => self.run_permitted(case, permit, cancel).await,
            None => {
                let response = Self::settled(&case, Status::Error, Some(Problem::Blocked), "it has no words");
                Executed { response, is_signed_out: false }
            }
        }
    }

    async fn refuse_signed_out(&self, case: Case, identity: &Identity, problem: &str) -> Response {
        let reason = format!("nothing ran, because signing in as {} failed: {problem}", identity.name());
        let mut response = self.decide(case, Status::Error, Some(Problem::SpawnFailed), Some(&reason)).await;
        response.hint =
            Some("`ghost config check` tries both identities; see [azure] of the configuration".to_owned());
        response
    }
}

/// Tells whether a run failed because nobody is signed in.
fn is_signed_out(identity: &Identity, ran: &Result<Output, ExecError>) -> bool {
    let (Some(sign_in), Ok(output)) = (identity.sign_in(), ran) else { return false };
    output.exit_code != Some(0)
        && sign_in.is_signed_out(output.exit_code, &String::from_utf8_lossy(&output.stderr))
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
