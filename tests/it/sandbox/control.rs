//! The proof can fail: what a human approved runs without a sandbox, and the same check flags it.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ghost_shell::{Approver, Choice, Decision, Profile, Request, Reviewer, Shell};

use super::place::{Place, lacking, setting, trace};
use super::proof::Allowed;
use super::trace::of_the_command;

const COMMAND: &str = "GHOST_TEST_APPROVED";
const DATA: &str = "GHOST_TEST_APPROVED_DATA";

struct Always;

#[async_trait::async_trait]
impl Approver for Always {
    async fn decide(&self, _: &Request) -> Decision {
        Decision { choice: Choice::Approve, who: Reviewer::new("the control") }
    }
}

#[test]
fn what_an_approved_command_does_is_flagged() {
    if let Some(reason) = lacking(&["strace", "unshare", "nsenter", "ip"]) {
        println!("skipped: {reason}");
        return;
    }
    let place = Place::new();
    check(&place, "touch made", &["\"/usr/bin/touch\"", "O_CREAT"]);
    check(&place, "sh -c 'true'", &["[\"sh\", \"-c\", \"true\"]"]);
    check(&place, "mkdir d && chmod 700 d && mv d e && rmdir e", &["mkdir(", "chmod", "rename", "rmdir("]);
}

#[track_caller]
fn check(place: &Place, command: &str, expected: &[&str]) {
    let own = std::env::current_exe().unwrap();
    let data = place.path("approved");
    #[expect(clippy::disallowed_methods, reason = "only a process of its own can be traced")]
    let mut program = Command::new(own);
    program.args([
        "--exact",
        "sandbox::control::an_approving_shell_that_the_other_test_starts",
        "--test-threads=1",
    ]);
    program.env(COMMAND, command).env(DATA, &data);
    let (output, calls) = trace(place, &program, &place.path("logs/control"));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    let found = Allowed::new(&Profile::default(), &data.join("scratch")).violations(&of_the_command(&calls));
    for what in expected {
        assert!(
            found.iter().any(|line| line.contains(what)),
            "{command}: {what} is not in {found:#?}\n{stdout}"
        );
    }
}

/// Runs what the other test starts this binary for; on its own it does nothing.
#[test]
fn an_approving_shell_that_the_other_test_starts() {
    let (command, data) = (setting(COMMAND), setting(DATA));
    if command.is_empty() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = "control".parse().unwrap();
        let shell = Shell::builder(session, Path::new(&data)).approver(Arc::new(Always)).build().unwrap();
        let response = shell.run(&command, "the control").await;
        println!("{response:?}");
    });
}
