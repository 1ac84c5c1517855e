//! One consent for the commands of a task.

use super::record::Case;
use super::response::{Action, Response};
use super::run::{Answer, Shell, audit_failed};
use crate::audit::Kind;
use crate::{
    CancelSignal, Choice, Decision, Grant, Impact, Permit, PlannedCommand, Reviewer, Ruling, Verdict,
};

impl Shell {
    /// Asks once for the exact commands of a task. Those that the policy calls SAFE are shown too, but need no consent.
    ///
    /// # Errors
    /// Returns the response where a command of the plan is BLOCKED or a human did not approve.
    pub async fn ask_plan(
        &self,
        purpose: &str,
        commands: &[String],
        reasoning: &str,
    ) -> Result<Grant, Box<Response>> {
        let plan: Vec<PlannedCommand> = commands
            .iter()
            .map(|command| PlannedCommand { command: command.clone(), ruling: self.judge(command) })
            .collect();
        let Some(strictest) = plan.iter().max_by_key(|step| step.ruling.verdict) else {
            return Err(Box::new(self.refuse_empty(self.open("", reasoning)).await));
        };
        let asks = strictest.ruling.verdict == Verdict::Risky;
        let lines: Vec<&str> = commands.iter().map(String::as_str).collect();
        // What only reads and asks all the same is a change by itself, beside whatever.
        let impact = asks.then(|| match plan.iter().any(|step| step.ruling.only_reads()) {
            true => Impact::Change,
            false => self.policy.impact_of_plan(&lines),
        });
        let ruling = Ruling { argv: None, impact, ..strictest.ruling.clone() };
        let mut case = Case::new(purpose, reasoning, ruling);
        if case.ruling.verdict == Verdict::Blocked {
            return Err(Box::new(self.block(case).await));
        }
        let request = self.request(&case, plan);
        case.plan = Some(request.digest());
        let answer = if case.ruling.verdict == Verdict::Safe {
            Answer::Given(Decision { choice: Choice::Approve, who: Reviewer::new("policy") })
        } else {
            self.ask(&request, CancelSignal::never()).await
        };
        let Answer::Given(Decision { choice, who }) = answer else {
            return Err(Box::new(self.deny(case, Action::Expired, "nobody answered").await));
        };
        case.approval = Some((who.clone(), self.clock.now()));
        match choice {
            Choice::Approve => {
                case.action = Action::UserApproved;
                let entry = case.entry(self, Kind::Decided);
                if let Err(error) = self.write(&mut case, entry).await {
                    return Err(Box::new(audit_failed(&case, &error)));
                }
                Ok(Grant::new(request.digest(), who, commands.iter().cloned()))
            }
            Choice::Deny { reason } => Err(Box::new(self.deny(case, Action::UserDenied, &reason).await)),
            Choice::Expired => {
                Err(Box::new(self.deny(case, Action::Expired, "nobody answered in time").await))
            }
            Choice::Modify { .. } => {
                let reason = "a plan can be approved or denied as a whole, not changed";
                Err(Box::new(self.deny(case, Action::UserDenied, reason).await))
            }
        }
    }

    /// Runs a command under the consent to a plan. One that is not left of the plan is judged and asked for by itself.
    pub async fn run_planned(
        &self,
        grant: &mut Grant,
        command: &str,
        reasoning: &str,
        cancel: CancelSignal,
    ) -> Response {
        let mut case = self.open(command, reasoning);
        case.ruling = self.resolve_names(case.ruling).await;
        // What the look-up says nobody knew when the plan was shown, and what may be sent on is followed from place to place.
        let other = case.ruling.verdict == Verdict::Blocked
            || case.ruling.rule == Ruling::NAME_LOOKUP
            || case.ruling.profile.redirected;
        let covered = if other { None } else { grant.take(&case.command) };
        let permit = covered.and_then(|who| {
            case.plan = Some(grant.digest());
            if case.ruling.verdict == Verdict::Safe {
                return Permit::for_safe(&case.ruling);
            }
            case.action = Action::UserApproved;
            case.approval = Some((who.clone(), self.clock.now()));
            Permit::approved(who, &case.command, &case.ruling)
        });
        match permit {
            Some(permit) => self.execute(case, permit, cancel).await,
            None => self.run_until(command, reasoning, cancel).await,
        }
    }
}
