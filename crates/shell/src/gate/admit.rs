//! What somebody else will run: judged, asked about and recorded as a command of our own, and never started here.

use super::record::Case;
use super::response::{Action, Response};
use super::run::{Answer, Shell, audit_failed};
use crate::audit::{Approval, Kind};
use crate::{CancelSignal, Choice, Decision, Impact, Ruling, Verdict};
use ghost_base::Digest;

/// What came of something that somebody else wants to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Admission {
    /// It may be done, exactly as it stands there, once.
    Admitted(Box<Admitted>),
    /// It may not.
    Refused(Box<Response>),
}

/// What may be done, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The whole text that was judged last: where a human changed it, theirs.
    pub command: String,
    /// The verdict on it.
    pub verdict: Verdict,
    /// The deciding rule.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Who settled it: the policy, or a human.
    pub action: Action,
    /// The human who approved it, where one did.
    pub who: Option<String>,
    /// Names its records in the audit.
    pub audit_id: String,
}

impl Shell {
    /// Judges a command that the caller will run, asks if it must, and records what was decided. Nothing is started.
    ///
    /// The caller runs it in surroundings of their own: in their shell, without this sandbox, with their programs and their names. What is
    /// SAFE only because the gate runs words without a shell, or follows it from server to server, therefore asks.
    pub async fn admit(&self, command: &str, reasoning: &str, cancel: CancelSignal) -> Admission {
        let mut case = self.open(command, reasoning);
        // The caller runs the text with what stands around it.
        let mut text = self.unmasked(command);
        loop {
            case.ruling = self.for_caller(&text, case.ruling).await;
            if case.command.is_empty() {
                return Admission::Refused(Box::new(self.refuse_empty(case).await));
            }
            match case.ruling.verdict {
                Verdict::Blocked => return Admission::Refused(Box::new(self.block(case).await)),
                Verdict::Safe => return self.record_admission(case).await,
                Verdict::Risky => {}
            }
            match self.consent(case, &cancel).await {
                Ok((case, None)) => return self.record_admission(case).await,
                Ok((changed, Some(command))) => match self.modify(changed, &command).await {
                    Ok(next) => {
                        text.clone_from(&next.command);
                        case = next;
                    }
                    Err(response) => return Admission::Refused(response),
                },
                Err(response) => return Admission::Refused(response),
            }
        }
    }

    /// Does what [`Shell::admit`] does with something that is no command, such as a write to a file: the caller has judged it. It can be
    /// approved or denied, and not changed.
    pub async fn admit_as(
        &self,
        what: &str,
        reasoning: &str,
        ruling: Ruling,
        cancel: CancelSignal,
    ) -> Admission {
        let case = Case::new(what, reasoning, ruling);
        match case.ruling.verdict {
            Verdict::Blocked => return Admission::Refused(Box::new(self.block(case).await)),
            Verdict::Safe => return self.record_admission(case).await,
            Verdict::Risky => {}
        }
        match self.consent(case, &cancel).await {
            Ok((case, None)) => self.record_admission(case).await,
            Ok((case, Some(_))) => {
                let reason = "this can be approved or denied, not changed";
                Admission::Refused(Box::new(self.deny(case, Action::UserDenied, reason).await))
            }
            Err(response) => Admission::Refused(response),
        }
    }

    /// Judges a command as [`Shell::admit`] does. Nobody is asked and nothing is recorded.
    pub async fn examine(&self, command: &str) -> Ruling {
        self.for_caller(&self.unmasked(command), self.open(command, "").ruling).await
    }

    /// Records that somebody else asks a human about something RISKY, and returns the name of the record.
    ///
    /// # Errors
    /// Returns the response where it is BLOCKED, or where it cannot be recorded.
    pub async fn hand_over(
        &self,
        what: &str,
        reasoning: &str,
        ruling: Ruling,
        to: &str,
    ) -> Result<String, Box<Response>> {
        let mut case = Case::new(what, reasoning, ruling);
        if case.ruling.verdict == Verdict::Blocked {
            return Err(Box::new(self.block(case).await));
        }
        let mut entry = case.entry(self, Kind::Decided);
        entry.action = Some("handed_over".into());
        entry.identity = None;
        entry.approver = Some(Approval { who: to.to_owned(), at: self.clock.now().to_string() });
        match self.write(&mut case, entry).await {
            Ok(receipt) => Ok(receipt.audit_id),
            Err(error) => Err(Box::new(audit_failed(&case, &error))),
        }
    }

    /// Asks a human. Returns the command that they put in its place, where they did.
    async fn consent(
        &self,
        mut case: Case,
        cancel: &CancelSignal,
    ) -> Result<(Case, Option<String>), Box<Response>> {
        const LATE: &str = "nobody answered in time";
        let request = self.request(&case, Vec::new());
        let Decision { choice, who } = match self.ask(&request, cancel.clone()).await {
            Answer::Given(decision) => decision,
            Answer::Late => return Err(Box::new(self.deny(case, Action::Expired, LATE).await)),
            Answer::Failed => {
                let reason = "the approver failed or was interrupted";
                return Err(Box::new(self.deny(case, Action::UserAbandoned, reason).await));
            }
        };
        case.approval = Some((who, self.clock.now()));
        match choice {
            Choice::Approve => {
                case.action = if case.round > 1 { Action::UserModified } else { Action::UserApproved };
                Ok((case, None))
            }
            Choice::Deny { reason } => Err(Box::new(self.deny(case, Action::UserDenied, &reason).await)),
            Choice::Expired => Err(Box::new(self.deny(case, Action::Expired, LATE).await)),
            Choice::Modify { command } => Ok((case, Some(command))),
        }
    }

    /// Makes a command ask that is SAFE only because the gate runs it: the gate starts words without a shell, and follows from server to
    /// server with a judgement at each.
    async fn for_caller(&self, command: &str, ruling: Ruling) -> Ruling {
        let ruling = self.policy.for_caller(command, self.resolve_names(ruling).await);
        let redirected = ruling.profiles().iter().any(|profile| profile.redirected);
        if ruling.verdict != Verdict::Safe || !redirected {
            return ruling;
        }
        Ruling {
            verdict: Verdict::Risky,
            rule: Ruling::REDIRECTED.into(),
            reason: "it would go wherever the server sends it, and nobody judges that where it runs".into(),
            impact: Some(Impact::Change),
            ..ruling
        }
    }

    /// Records that it may be done; only then does anybody learn so.
    async fn record_admission(&self, mut case: Case) -> Admission {
        let mut entry = case.entry(self, Kind::Admitted);
        entry.argv_digest = Some(Digest::of(&case.command));
        // It runs as whoever the caller is.
        entry.identity = None;
        if let Err(error) = self.write(&mut case, entry).await {
            return Admission::Refused(Box::new(audit_failed(&case, &error)));
        }
        Admission::Admitted(Box::new(Admitted {
            verdict: case.ruling.verdict,
            rule: case.ruling.rule.into_owned(),
            reason: case.ruling.reason.into_owned(),
            action: case.action,
            who: case.approval.map(|(who, _)| who.to_string()),
            audit_id: case.audit_id.unwrap_or_default(),
            command: case.command,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;

    use super::*;
    use crate::{Approver, Request, Reviewer, audit};

    struct Says(Mutex<Vec<Choice>>);

    #[async_trait]
    impl Approver for Says {
        async fn decide(&self, _request: &Request) -> Decision {
            Decision { choice: self.0.lock().unwrap().remove(0), who: Reviewer::new("ana") }
        }
    }

    fn shell(data: &Path, answers: impl IntoIterator<Item = Choice>) -> Shell {
        let approver = Arc::new(Says(Mutex::new(answers.into_iter().collect())));
        Shell::builder("s1".parse().unwrap(), data).approver(approver).build().unwrap()
    }

    fn kinds(data: &Path) -> Vec<String> {
        let path = data.join("audit/s1.jsonl");
        assert!(audit::verify(audit::for_reading(&path).unwrap(), None).unwrap().ok);
        let text = std::fs::read_to_string(path).unwrap();
        let word = |line: &str| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{} {}", record["kind"].as_str().unwrap(), record["action"].as_str().unwrap())
        };
        text.lines().map(word).collect()
    }

    async fn admit(data: &Path, command: &str, answers: impl IntoIterator<Item = Choice>) -> Admission {
        shell(data, answers).admit(command, "why", CancelSignal::never()).await
    }

    fn admitted(admission: Admission) -> Admitted {
        match admission {
            Admission::Admitted(admitted) => *admitted,
            Admission::Refused(response) => panic!("{response:?}"),
        }
    }

    fn refused(admission: Admission) -> Response {
        match admission {
            Admission::Refused(response) => *response,
            Admission::Admitted(admitted) => panic!("{admitted:?}"),
        }
    }

    #[tokio::test]
    async fn what_is_safe_is_admitted_and_not_started() {
        let data = tempfile::tempdir().unwrap();
        let answer = admitted(admit(data.path(), "ip -br link", []).await);
        assert_eq!((answer.action, answer.who), (Action::AutoApproved, None));
        assert_eq!(kinds(data.path()), ["admitted auto_approved"]);
    }

    #[tokio::test]
    async fn what_is_risky_is_admitted_as_a_human_left_it() {
        let data = tempfile::tempdir().unwrap();
        let modify = Choice::Modify { command: "touch /nonexistent/b".to_owned() };
        let answer = admitted(admit(data.path(), "touch /nonexistent/a", [modify, Choice::Approve]).await);
        assert_eq!((answer.command.as_str(), answer.action), ("touch /nonexistent/b", Action::UserModified));
        assert_eq!(answer.who.as_deref(), Some("ana"));
        assert_eq!(kinds(data.path()), ["decided user_modified", "admitted user_modified"]);
    }

    #[tokio::test]
    async fn what_is_blocked_or_denied_or_made_into_something_blocked_is_refused() {
        for (command, answers) in [
            ("sudo rm -rf /", vec![]),
            ("touch x", vec![Choice::Deny { reason: "no".to_owned() }]),
            ("touch x", vec![Choice::Expired]),
            ("touch x", vec![Choice::Modify { command: "reboot".to_owned() }]),
            ("  ", vec![]),
        ] {
            let data = tempfile::tempdir().unwrap();
            refused(admit(data.path(), command, answers).await);
            assert!(kinds(data.path()).iter().all(|kind| kind.starts_with("decided")), "{command}");
        }
    }

    #[tokio::test]
    async fn what_the_gate_would_follow_by_itself_asks() {
        let data = tempfile::tempdir().unwrap();
        let deny = Choice::Deny { reason: "no".to_owned() };
        let answer = refused(admit(data.path(), "curl -sL --max-redirs 2 http://127.0.0.1:1/", [deny]).await);
        assert_eq!(answer.rule, Ruling::REDIRECTED);
    }

    #[tokio::test]
    async fn what_the_shell_of_the_caller_reads_otherwise_asks() {
        for (command, rule) in [
            ("nft list ruleset ? flush ruleset", Ruling::EXPANDED),
            ("printf '%d' 'path[$(touch x)1]'", Ruling::BUILT_IN),
            ("ss -s\r", Ruling::EXPANDED),
        ] {
            let data = tempfile::tempdir().unwrap();
            let shell = shell(data.path(), [Choice::Expired]);
            assert_eq!(shell.judge(command.trim()).verdict, Verdict::Safe, "{command}");
            assert_eq!(shell.examine(command).await.rule, rule, "{command}");
            let answer = refused(shell.admit(command, "why", CancelSignal::never()).await);
            assert_eq!(answer.rule, rule, "{command}");
        }
    }

    #[tokio::test]
    async fn what_is_no_command_is_approved_or_denied_as_it_is() {
        let risky = || Ruling { verdict: Verdict::Risky, impact: Some(Impact::Change), ..Ruling::default() };
        let modify = Choice::Modify { command: "ls".to_owned() };
        for (answer, expected) in [(Choice::Approve, true), (modify, false), (Choice::Expired, false)] {
            let data = tempfile::tempdir().unwrap();
            let shell = shell(data.path(), [answer]);
            let came = shell.admit_as("Write /etc/x", "why", risky(), CancelSignal::never()).await;
            assert_eq!(matches!(came, Admission::Admitted(_)), expected);
        }
    }

    #[tokio::test]
    async fn what_cannot_be_recorded_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let shell = shell(data.path(), []);
        std::fs::remove_file(data.path().join("audit/s1.jsonl")).unwrap();
        let answer = refused(shell.admit("ip -br link", "why", CancelSignal::never()).await);
        assert!(answer.reason.contains("audit could not be written"), "{answer:?}");
    }
}
