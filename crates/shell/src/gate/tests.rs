//! Facts about the gate, with real processes and a real audit file.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::{Action, Problem, Response, Shell, Status};
use crate::{
    Approver, CancelSignal, Choice, Decision, Impact, Known, Limits, Mask, Request, Reviewer, Sandbox,
    Support, Surroundings, Verdict, audit,
};

/// Answers from a list, and remembers what it was asked.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Choice>>,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Choice>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|request| request.command.clone()).collect()
    }
}

#[async_trait]
impl Approver for Scripted {
    async fn decide(&self, request: &Request) -> Decision {
        self.asked.lock().unwrap().push(request.clone());
        let choice =
            self.answers.lock().unwrap().pop_front().expect("asked more often than the script answers");
        Decision { choice, who: Reviewer::new("ana") }
    }
}

struct Panics;

#[async_trait]
impl Approver for Panics {
    async fn decide(&self, _request: &Request) -> Decision {
        panic!("the approver is broken")
    }
}

struct Silent;

#[async_trait]
impl Approver for Silent {
    async fn decide(&self, _request: &Request) -> Decision {
        std::future::pending().await
    }
}

fn shell(data: &Path, approver: Arc<dyn Approver>) -> Shell {
    Shell::builder("s1".parse().unwrap(), data).approver(approver).build().unwrap()
}

fn records(data: &Path) -> Vec<Value> {
    let path = data.join("audit/s1.jsonl");
    assert!(audit::verify(audit::for_reading(&path).unwrap(), None).unwrap().ok);
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn touched(data: &Path) -> (String, std::path::PathBuf) {
    let file = data.join("touched");
    (format!("touch {}", file.display()), file)
}

fn deny(reason: &str) -> Choice {
    Choice::Deny { reason: reason.to_owned() }
}

fn modify(command: &str) -> Choice {
    Choice::Modify { command: command.to_owned() }
}

#[track_caller]
fn check(response: &Response, status: Status, action: Action, problem: Option<Problem>) {
    assert_eq!((response.status, response.action, response.error), (status, action, problem), "{response:?}");
}

#[tokio::test]
async fn a_safe_command_runs_without_a_question() {
    let data = tempfile::tempdir().unwrap();
    let approver = Scripted::new([]);
    let response = shell(data.path(), approver.clone()).run("uname -s", "which system?").await;
    check(&response, Status::Completed, Action::AutoApproved, None);
    assert_eq!(
        (response.output.as_str(), response.exit_code, response.classification),
        ("Linux\n", Some(0), Verdict::Safe)
    );
    let kinds: Vec<Value> = records(data.path()).iter().map(|record| record["kind"].clone()).collect();
    assert_eq!(kinds, ["intent", "done"]);
}

#[tokio::test]
async fn a_risky_command_runs_once_approved_and_the_audit_names_who() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    let response = shell(data.path(), Scripted::new([Choice::Approve])).run(&command, "a mark").await;
    check(&response, Status::Completed, Action::UserApproved, None);
    assert!(file.exists());
    assert_eq!(records(data.path())[0]["approver"]["who"], "ana");
}

#[tokio::test]
async fn a_denied_command_does_not_run_and_the_reason_comes_back() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    let response = shell(data.path(), Scripted::new([deny("not now")])).run(&command, "a mark").await;
    check(&response, Status::Denied, Action::UserDenied, None);
    assert_eq!((file.exists(), response.reason.as_str()), (false, "not now"));
    assert_eq!(records(data.path())[0]["reason"], "not now");
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_blocked() {
    let data = tempfile::tempdir().unwrap();
    let approver = Scripted::new([]);
    let response = shell(data.path(), approver.clone()).run("sudo rm -rf /", "clean up").await;
    check(&response, Status::Error, Action::Blocked, Some(Problem::Blocked));
    assert_eq!((approver.asked().len(), records(data.path()).len()), (0, 1));
}

#[tokio::test]
async fn a_modified_command_is_judged_from_the_start() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    let approver = Scripted::new([modify("touch /nonexistent/x"), modify("uname -s")]);
    let response = shell(data.path(), approver.clone()).run(&command, "a mark").await;
    check(&response, Status::Completed, Action::UserModified, None);
    assert_eq!(response.modified_command.as_deref(), Some("uname -s"));
    assert_eq!(approver.asked(), [command, "touch /nonexistent/x".to_owned()]);
    assert!(!file.exists());
    let rounds: Vec<String> =
        records(data.path()).iter().map(|record| format!("{} {}", record["kind"], record["round"])).collect();
    assert_eq!(rounds, [r#""decided" null"#, r#""decided" 2"#, r#""intent" 3"#, r#""done" 3"#]);
}

#[tokio::test]
async fn a_modification_into_something_blocked_is_blocked() {
    let data = tempfile::tempdir().unwrap();
    let (command, _) = touched(data.path());
    let response = shell(data.path(), Scripted::new([modify("reboot")])).run(&command, "a mark").await;
    check(&response, Status::Error, Action::Blocked, Some(Problem::Blocked));
}

#[tokio::test]
async fn an_empty_modification_runs_nothing_least_of_all_the_original() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    let response = shell(data.path(), Scripted::new([modify("  ")])).run(&command, "a mark").await;
    check(&response, Status::Error, Action::Blocked, Some(Problem::EmptyCommand));
    assert!(!file.exists());
}

#[tokio::test]
async fn modifying_without_end_ends_after_five_rounds() {
    let data = tempfile::tempdir().unwrap();
    let approver = Scripted::new((0..9).map(|round| modify(&format!("touch /nonexistent/{round}"))));
    let response = shell(data.path(), approver.clone()).run("touch /nonexistent/x", "a mark").await;
    check(&response, Status::Denied, Action::UserDenied, None);
    assert_eq!(approver.asked().len(), 5);
}

#[tokio::test]
async fn an_approver_that_panics_denies() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    let response = shell(data.path(), Arc::new(Panics)).run(&command, "a mark").await;
    check(&response, Status::Denied, Action::UserAbandoned, None);
    assert!(!file.exists());
}

#[tokio::test]
async fn silence_is_a_denial_once_the_request_expires() {
    let data = tempfile::tempdir().unwrap();
    let shell = Shell::builder("s1".parse().unwrap(), data.path())
        .approver(Arc::new(Silent))
        .expiry(Duration::from_millis(1))
        .build()
        .unwrap();
    check(&shell.run("touch /nonexistent/x", "a mark").await, Status::Denied, Action::Expired, None);
}

#[tokio::test]
async fn an_empty_command_is_an_error_of_its_own() {
    let data = tempfile::tempdir().unwrap();
    let response = shell(data.path(), Scripted::new([])).run(" \n", "nothing").await;
    check(&response, Status::Error, Action::Blocked, Some(Problem::EmptyCommand));
}

#[tokio::test]
async fn nothing_runs_when_its_intent_cannot_be_written() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    let shell = shell(data.path(), Scripted::new([Choice::Approve]));
    fs::remove_file(data.path().join("audit/s1.jsonl")).unwrap();
    let response = shell.run(&command, "a mark").await;
    check(&response, Status::Error, Action::UserApproved, Some(Problem::AuditFailed));
    assert!(!file.exists());
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_and_its_output_kept() {
    let data = tempfile::tempdir().unwrap();
    let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
    let shell = Shell::builder("s1".parse().unwrap(), data.path())
        .approver(Scripted::new([Choice::Approve]))
        .limits(limits)
        .build()
        .unwrap();
    let response = shell.run("echo before; sleep 60", "wait").await;
    check(&response, Status::Error, Action::UserApproved, Some(Problem::Timeout));
    assert_eq!(response.output, "before\n");
}

#[tokio::test]
async fn a_missing_program_is_exit_127_with_a_hint() {
    let data = tempfile::tempdir().unwrap();
    let response = shell(data.path(), Scripted::new([Choice::Approve])).run("nonexistent-tool", "try").await;
    check(&response, Status::Completed, Action::UserApproved, None);
    assert_eq!(response.exit_code, Some(127));
    assert!(response.hint.is_some());
}

#[tokio::test]
async fn secrets_reach_neither_the_caller_nor_the_audit() {
    let data = tempfile::tempdir().unwrap();
    let secret = ["hun", "ter2"].concat();
    let command = format!("echo password={secret}");
    let response = shell(data.path(), Scripted::new([Choice::Approve]))
        .run(&command, &format!("log in with --password {secret}"))
        .await;
    assert!(!serde_json::to_string(&response).unwrap().contains(&secret), "{response:?}");
    assert!(!fs::read_to_string(data.path().join("audit/s1.jsonl")).unwrap().contains(&secret));
    let evidence = response.output_metadata.unwrap().evidence.unwrap();
    assert!(
        !fs::read_to_string(data.path().join("evidence").join(format!("{evidence}.txt")))
            .unwrap()
            .contains(&secret)
    );
}

#[tokio::test]
async fn one_consent_covers_the_commands_of_a_plan_once_and_in_order() {
    let data = tempfile::tempdir().unwrap();
    let names: Vec<String> =
        ["a", "b", "c"].iter().map(|name| data.path().join(name).display().to_string()).collect();
    let touch = |at: usize| format!("touch {}", names[at]);
    let plan: Vec<String> = [touch(0), "uname -s".to_owned(), touch(1), touch(2)].into();
    let approver = Scripted::new([Choice::Approve, deny("already used"), deny("passed over")]);
    let shell = shell(data.path(), approver.clone());
    let mut grant = shell.ask_plan("three marks", &plan, "marks").await.unwrap();
    let (done, denied) = (Status::Completed, Status::Denied);
    for (command, status, action) in [
        (&plan[0], done, Action::UserApproved),
        (&plan[1], done, Action::AutoApproved),
        (&plan[0], denied, Action::UserDenied),
        (&plan[3], done, Action::UserApproved),
        (&plan[2], denied, Action::UserDenied),
    ] {
        check(
            &shell.run_planned(&mut grant, command, "because", CancelSignal::never()).await,
            status,
            action,
            None,
        );
    }
    assert_eq!((grant.left(), approver.asked().len()), (0, 3));
}

#[tokio::test]
async fn a_plan_with_something_blocked_is_never_shown() {
    let data = tempfile::tempdir().unwrap();
    let approver = Scripted::new([]);
    let refused = shell(data.path(), approver.clone())
        .ask_plan("p", &["uname".to_owned(), "reboot".to_owned()], "r")
        .await
        .unwrap_err();
    check(&refused, Status::Error, Action::Blocked, Some(Problem::Blocked));
}

#[tokio::test]
async fn a_masked_address_is_unmasked_before_it_is_judged_and_masked_again_in_the_answer() {
    let data = tempfile::tempdir().unwrap();
    let mask = || Mask::new([7; 32]);
    let shown = mask().mask("10.20.30.40");
    let approver = Scripted::new([Choice::Approve]);
    let shell = Shell::builder("s1".parse().unwrap(), data.path())
        .approver(approver.clone())
        .mask(mask())
        .build()
        .unwrap();
    let response = shell.run(&format!("expr {shown}"), "say it").await;
    assert_eq!(
        (approver.asked(), response.output),
        (vec!["expr 10.20.30.40".to_owned()], format!("{shown}\n"))
    );
    assert_ne!(shown, "10.20.30.40");
}

/// Cannot note anything.
struct NoRoom;

impl audit::Anchor for NoRoom {
    fn record(&self, _: &ghost_base::SessionId, _: u64, _: &ghost_base::Digest) -> std::io::Result<()> {
        Err(std::io::Error::other("no space left"))
    }
}

#[tokio::test]
async fn a_risky_command_does_not_run_where_its_record_cannot_be_noted_elsewhere() {
    let data = tempfile::tempdir().unwrap();
    let shell = |approver: Arc<dyn Approver>| {
        Shell::builder("s1".parse().unwrap(), data.path())
            .approver(approver)
            .anchor(Arc::new(NoRoom))
            .build()
            .unwrap()
    };
    let (command, file) = touched(data.path());
    let response = shell(Scripted::new([Choice::Approve])).run(&command, "r").await;
    check(&response, Status::Error, Action::UserApproved, Some(Problem::AuditFailed));
    assert!(response.reason.contains("noted elsewhere") && !file.exists(), "{}", response.reason);
    // What was begun in the record is ended there: nothing is left to be asked about.
    let kinds: Vec<Value> = records(data.path()).iter().map(|record| record["kind"].clone()).collect();
    assert_eq!(kinds, ["intent", "done"]);
    let response = shell(Scripted::new([])).run("uname", "r").await;
    check(&response, Status::Completed, Action::AutoApproved, None);
}

#[tokio::test]
async fn what_is_named_as_a_capture_and_is_none_asks_also_behind_a_pipe_and_in_a_plan() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("key.pcap"), "-----BEGIN PRIVATE KEY-----").unwrap();
    let key = data.path().join("key.pcap").display().to_string();
    let approver = Scripted::new((0..6).map(|_| deny("no")));
    let shell = shell(data.path(), approver.clone());
    let commands = [
        format!("tcpdump -nr{key}"),
        format!("tshark -r {key} -V -x"),
        format!("timeout 5 tshark -r /nonexistent/a.pcap -r {key}"),
        format!("capinfos /nonexistent/a.pcap {key}"),
        format!("uname; tcpdump -r {key} | head -1"),
    ];
    for command in &commands {
        assert_eq!(shell.policy().classify(command).verdict, Verdict::Safe, "{command}");
        let response = shell.run(command, "look").await;
        check(&response, Status::Denied, Action::UserDenied, None);
        assert_eq!((response.rule.as_str(), response.classification), ("file.capture", Verdict::Risky));
        assert!(response.hint.is_some_and(|hint| hint.contains("does not begin as one")));
    }
    let refused = shell.ask_plan("look", &commands[..1], "look").await.unwrap_err();
    check(&refused, Status::Denied, Action::UserDenied, None);
    assert!(approver.asked.lock().unwrap()[0].ruling.reason.contains("does not begin as one"));
}

#[tokio::test]
async fn a_file_that_is_a_link_to_another_one_asks() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("captures");
    fs::create_dir(&folder).unwrap();
    let mut policy = crate::Policy::builtin().unwrap().clone();
    policy.files.captures_in(folder.to_str().unwrap());
    let report = folder.join("x_comparison.md").display().to_string();
    std::os::unix::fs::symlink("/etc/shadow", &report).unwrap();
    let approver = Scripted::new((0..3).map(|_| deny("no")));
    let shell = Shell::builder("s1".parse().unwrap(), data.path())
        .approver(approver)
        .policy(Arc::new(policy))
        .build()
        .unwrap();
    for command in
        [format!("cat {report}"), format!("grep -c x {report}"), format!("cat /etc/hosts {report} | wc -l")]
    {
        let response = shell.run(&command, "look").await;
        check(&response, Status::Denied, Action::UserDenied, None);
        assert_eq!(response.rule, "file.link", "{command}");
    }
}

fn offering(landlock: Option<i32>, seccomp: bool) -> Support {
    Support { landlock, seccomp, processes: true, ping_unconfined: false }
}

#[tokio::test]
async fn a_safe_command_asks_where_the_machine_has_no_sandbox() {
    for support in [offering(None, true), offering(Some(7), false), offering(None, false)] {
        let data = tempfile::tempdir().unwrap();
        let approver = Scripted::new([deny("not without"), deny("nor with a pipe")]);
        let builder = Shell::builder("s1".parse().unwrap(), data.path()).approver(approver.clone());
        let shell = builder.support(support).build().unwrap();
        for command in ["uname -s", "uname -s | wc -l"] {
            let response = shell.run(command, "which system?").await;
            check(&response, Status::Denied, Action::UserDenied, None);
            assert_eq!(response.classification, Verdict::Risky);
        }
        let asked = approver.asked.lock().unwrap();
        for request in asked.iter() {
            assert_eq!(request.ruling.rule, "sandbox.missing");
            assert_eq!(request.ruling.impact, Some(Impact::Change));
            assert!(request.ruling.reason.contains("no sandbox"), "{}", request.ruling.reason);
        }
        assert_eq!(asked.len(), 2);
    }
}

#[tokio::test]
async fn what_only_reads_is_confined_as_far_as_can_be_once_somebody_approved_it_without_a_sandbox() {
    let data = tempfile::tempdir().unwrap();
    let builder =
        Shell::builder("s1".parse().unwrap(), data.path()).approver(Scripted::new([Choice::Approve]));
    let shell = builder.support(offering(None, false)).build().unwrap();
    let response = shell.run("uname -s", "which system?").await;
    check(&response, Status::Completed, Action::UserApproved, None);
    let records = records(data.path());
    assert_eq!(records[0]["rule"], "sandbox.missing");
    assert!(!records[1].to_string().contains("not used: approved"), "{}", records[1]);
}

#[tokio::test]
async fn best_effort_runs_what_only_reads_without_a_sandbox_and_risky_commands_ask_as_ever() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    let approver = Scripted::new([deny("no")]);
    let builder = Shell::builder("s1".parse().unwrap(), data.path()).approver(approver.clone());
    let shell = builder.sandbox(Sandbox::BestEffort).support(offering(None, false)).build().unwrap();
    check(&shell.run("uname -s", "which?").await, Status::Completed, Action::AutoApproved, None);
    check(&shell.run(&command, "a mark").await, Status::Denied, Action::UserDenied, None);
    assert!(!file.exists() && approver.asked() == [command]);
}

#[tokio::test]
async fn a_session_that_began_without_a_sandbox_goes_on_asking_where_there_is_one() {
    let data = tempfile::tempdir().unwrap();
    let known = Known::of(&Surroundings::default().without_sandbox(true));
    let builder = Shell::builder("s1".parse().unwrap(), data.path()).approver(Scripted::new([deny("no")]));
    let shell = builder.support(offering(Some(7), true)).known(known).build().unwrap();
    check(&shell.run("uname -s", "which?").await, Status::Denied, Action::UserDenied, None);
}

/// Approves everything as the answer to one question.
struct OneQuestion;

#[async_trait]
impl Approver for OneQuestion {
    async fn decide(&self, _request: &Request) -> Decision {
        Decision { choice: Choice::Approve, who: Reviewer::new("ana") }
    }

    fn question(&self, _request: &Request) -> Option<String> {
        Some("q1".to_owned())
    }
}

#[tokio::test]
async fn a_consent_whose_use_the_audit_holds_runs_nothing_once_more() {
    let data = tempfile::tempdir().unwrap();
    let (command, file) = touched(data.path());
    assert_eq!(shell(data.path(), Arc::new(OneQuestion)).run(&command, "").await.exit_code, Some(0));
    fs::remove_file(&file).unwrap();
    // Another process, which a store that forgot the run tells the same.
    let again = shell(data.path(), Arc::new(OneQuestion)).run(&command, "").await;
    assert_eq!((again.status, again.action), (Status::Denied, Action::UserAbandoned), "{again:?}");
    assert!(again.reason.contains("used before") && !file.exists(), "{again:?}");
    let intents = records(data.path()).into_iter().filter(|record| record["kind"] == "intent");
    let consents: Vec<Value> = intents.map(|record| record["consent"]["question"].clone()).collect();
    assert_eq!(consents, ["q1"]);
    // The same question about another command is another consent.
    let other = shell(data.path(), Arc::new(OneQuestion)).run(&format!("{command}-2"), "").await;
    assert_eq!(other.exit_code, Some(0), "{other:?}");
}
