//! Answering one call as a process: everything that goes wrong here ends in the one answer that stops every client.

use std::io;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::answer::{Answer, STOP, Written, stop};
use super::call::{self, Call, Client};
use super::command::AnswerArguments;
use super::decide::Deciding;
use crate::config::AskWhom;
use crate::global::Global;
use crate::print::Hinted;
use crate::setup::Setup;
use crate::wait::{drive, interrupted};
use ghost_shell::Cancel;

/// How long a client may take to send its call, and the call to be judged. It has to be less than what the client gives its hooks, which it
/// goes on after.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How much longer it may take where somebody is asked in Slack, in seconds, beside the wait itself: until a yes is used up and on record.
const SLACK_MARGIN_SECONDS: u64 = 30;

/// By how many seconds the answer may be later.
static MORE_SECONDS: AtomicU64 = AtomicU64::new(0);

/// Returns how long an answer may take, all in all.
pub(super) fn answer_timeout(setup: &Setup, whom: AskWhom) -> Duration {
    match whom {
        AskWhom::Slack => {
            ANSWER_TIMEOUT + Duration::from_secs(setup.config.hook.wait_seconds + SLACK_MARGIN_SECONDS)
        }
        AskWhom::Ask | AskWhom::Deny => ANSWER_TIMEOUT,
    }
}

/// Answers one call; the exit code is the client's.
pub(super) fn answer(client: Client, arguments: &AnswerArguments, global: &Global) -> u8 {
    refuse_on_panic();
    refuse_when_late();
    let written = attempt(client, arguments, global).unwrap_or_else(|error| stop(&explained(&error)));
    written.send(&mut io::stdout().lock(), &mut io::stderr().lock())
}

fn attempt(client: Client, arguments: &AnswerArguments, global: &Global) -> anyhow::Result<Written> {
    let call = call::read(client, io::stdin().lock());
    let setup = Setup::of_line(global)?;
    let whom = arguments.approve.map_or(setup.config.hook.approve, Into::into);
    let more = answer_timeout(&setup, whom).saturating_sub(ANSWER_TIMEOUT);
    MORE_SECONDS.store(more.as_secs(), Ordering::SeqCst);
    let deciding = Deciding { setup: &setup, client, whom };
    let written = drive(|| async {
        match &call {
            Ok(call) => one(&deciding, call).await,
            Err(error) => match deciding.refuse(error).await {
                Answer::Refuse { reason, .. } => stop(&reason),
                Answer::Allow { .. } | Answer::Pass { .. } | Answer::Ask { .. } => stop("no call"),
            },
        }
    });
    // The process ends at once: taking a whole policy apart would take a tenth of its time.
    std::mem::forget(setup);
    written
}

async fn one(deciding: &Deciding<'_>, call: &Call) -> Written {
    let (cancel, signal) = Cancel::new();
    let deciding_now = deciding.decide(call, signal);
    tokio::pin!(deciding_now);
    let answer = tokio::select! {
        answer = &mut deciding_now => answer,
        () = interrupted() => {
            // Whoever stops the hook waits no longer; what was asked is recorded as given up.
            cancel.cancel();
            deciding_now.await
        }
    };
    answer.written(deciding.client, call.event, &call.input)
}

/// Ends the process with a refusal where no answer comes in time: a client that waits in vain goes on.
fn refuse_when_late() {
    thread::spawn(|| {
        thread::sleep(ANSWER_TIMEOUT);
        let more = Duration::from_secs(MORE_SECONDS.load(Ordering::SeqCst));
        thread::sleep(more);
        let all = (ANSWER_TIMEOUT + more).as_secs();
        exit(&stop(&format!("no answer within {all} s; nothing ran")));
    });
}

/// Makes a panic a refusal: its usual exit code is consent.
fn refuse_on_panic() {
    std::panic::set_hook(Box::new(|about| {
        let place = about.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
        exit(&stop(&format!("a defect of Ghost's own{}; nothing ran", place.unwrap_or_default())));
    }));
}

fn exit(written: &Written) -> ! {
    // The locks may be held by whoever failed, and standard output has nothing to say.
    let _ = rustix::io::write(rustix::stdio::stderr(), written.stderr.as_bytes());
    process::exit(i32::from(STOP))
}

/// Says what failed, and what can be done about it.
pub(super) fn explained(error: &anyhow::Error) -> String {
    let hint = error.downcast_ref::<Hinted>().map(|hinted| format!(" (hint: {})", hinted.advice()));
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    format!("{}{}; nothing ran", causes.join(": "), hint.unwrap_or_default())
}

/// Tells whether a command line asks for an answer to a call.
pub fn answers(arguments: &super::Arguments) -> bool {
    arguments.answers()
}

/// Refuses where not even the log could be begun; returns the exit code.
pub fn refuse_to_start(error: &anyhow::Error) -> u8 {
    stop(&explained(error)).send(&mut io::stdout().lock(), &mut io::stderr().lock())
}
