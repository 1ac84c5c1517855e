//! The approver who sits at the terminal.
//!
//! Everything is shown on standard error, so that standard output stays a document. What was typed before the prompt
//! stood there was typed for something else and is thrown away.

use std::io::{self, IsTerminal as _, Write as _};

use async_trait::async_trait;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use rustyline::error::ReadlineError;

use crate::{Approver, Choice, Decision, Impact, Request, Reviewer, lookalikes, visible};

/// After so many answers that are none, nobody is answering.
const MAX_INVALID_ANSWERS: u32 = 20;

/// Asks whoever sits at the terminal.
#[derive(Debug, Clone)]
pub struct TerminalApprover {
    who: Reviewer,
    plain: bool,
    color: bool,
}

impl TerminalApprover {
    /// Names the human at the terminal for the audit.
    #[must_use]
    pub fn new(who: &str) -> Self {
        Self { who: Reviewer::new(who), plain: false, color: io::stderr().is_terminal() }
    }

    /// Says that the terminal knows no more than lines, so that a command cannot be edited in place.
    #[must_use]
    pub fn plain(self, plain: bool) -> Self {
        Self { plain, ..self }
    }

    /// Says whether colors are wanted where the terminal shows them.
    #[must_use]
    pub fn colored(self, wanted: bool) -> Self {
        Self { color: self.color && wanted, ..self }
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn decide(&self, request: &Request) -> Decision {
        let shown = request.clone();
        let (plain, color) = (self.plain, self.color);
        let choice = tokio::task::spawn_blocking(move || ask(&shown, plain, color)).await;
        let failed = |_| Choice::Deny { reason: "the terminal failed".to_owned() };
        Decision { choice: choice.unwrap_or_else(failed), who: self.who.clone() }
    }
}

fn ask(request: &Request, plain: bool, color: bool) -> Choice {
    let gone = || Choice::Deny { reason: "the input ended".to_owned() };
    if show(&render(request, color)).is_err() {
        return gone();
    }
    for _ in 0..MAX_INVALID_ANSWERS {
        discard_typed_ahead();
        if show("[A]pprove  [D]eny  [M]odify > ").is_err() {
            return gone();
        }
        let Some(answer) = read_line() else { return gone() };
        match answer.trim().to_ascii_lowercase().as_str() {
            "a" | "approve" => return Choice::Approve,
            "d" | "deny" => {
                let reason =
                    show("Reason, in one line > ").ok().and_then(|()| read_line()).unwrap_or_default();
                return Choice::Deny { reason: reason.trim().to_owned() };
            }
            "m" | "modify" => match edit(&request.command, plain) {
                EditOutcome::Command(command) if !command.trim().is_empty() => {
                    return Choice::Modify { command };
                }
                EditOutcome::Command(_) => drop(show("An empty command cannot run.\n")),
                EditOutcome::Left => drop(show("The command stays as it is.\n")),
                EditOutcome::Gone => return gone(),
            },
            _ => drop(show("Answer with a (approve), d (deny) or m (modify), then Enter.\n")),
        }
    }
    Choice::Deny { reason: "no answer could be understood".to_owned() }
}

/// Writes the question out: the whole command, wrapped by the terminal and never cut.
pub(super) fn render(request: &Request, color: bool) -> String {
    let codes = ("\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[0m");
    let (bold, red, yellow, off) = if color { codes } else { ("", "", "", "") };
    let mut text = String::new();
    let mut put = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    put("");
    put(&format!("{yellow}Approval needed{off} · {} · session {}", request.ruling.verdict, request.session));
    if request.outcome_unknown {
        put(&format!(
            "{red}outcome unknown{off}: an earlier run was cut off; it may or may not have taken effect, and may\nstill run"
        ));
    }
    if request.plan.is_empty() {
        put(&format!("\n  {bold}{}{off}\n", indented(&request.command)));
    } else {
        put(&format!(
            "\n  {} ({} commands, in this order, each once at most)",
            indented(&request.command),
            request.plan.len()
        ));
        let mut at = 1;
        // The same command over and over is one to read.
        for same in request.plan.chunk_by(|one, next| one.command == next.command) {
            let Some(step) = same.first() else { continue };
            let (verdict, command) = (step.ruling.verdict, indented(&step.command));
            let impact =
                step.ruling.impact.map(|impact| format!(", {}", impact.as_str())).unwrap_or_default();
            let times = if same.len() > 1 { format!(" {} times:", same.len()) } else { String::new() };
            put(&format!("  {at:>2}. [{verdict}{impact}]{times} {bold}{command}{off}"));
            at += same.len();
        }
        put("");
    }
    // What was said of a command before somebody changed it was not said of this one.
    let modified = request.round > 1;
    let why = if modified { "no reason was given for the command as it is now" } else { &request.reasoning };
    put(&format!("Why:  {}", indented(why)));
    for (line, at) in request.forecast.iter().zip(0..) {
        put(&format!("{}{}", if at == 0 { "Then: " } else { "      " }, visible(&line.replace('→', "->"))));
    }
    let impact = request.ruling.impact.unwrap_or(Impact::Change);
    // A measurement leaves the network as it is.
    let tone = if impact == Impact::Measurement { yellow } else { red };
    put(&format!("Risk: {tone}{}{off}: {}", impact.as_str(), impact.meaning()));
    put(&format!(
        "Rule: {} ({}, tier {})",
        indented(&request.ruling.reason),
        request.ruling.rule,
        request.ruling.tier.number()
    ));
    if let Some(identity) = &request.identity {
        put(&format!("As:   {}", indented(identity)));
    }
    let planned = request.plan.iter().map(|step| step.command.as_str());
    for note in lookalikes(&planned.chain([request.command.as_str()]).collect::<Vec<_>>().join(" ")) {
        put(&format!("{red}Look-alike{off}: {note}"));
    }
    if request.needs_shell() {
        put("Note: this text is given to `sh -c` exactly as it stands here");
    }
    if modified {
        put(&format!("Note: modified, round {}", request.round));
    }
    text
}

/// Returns a text with its later lines indented below the first.
fn indented(text: &str) -> String {
    visible(text).replace('\n', "\\n\n  ")
}

fn show(text: &str) -> io::Result<()> {
    let mut err = io::stderr().lock();
    err.write_all(text.as_bytes())?;
    err.flush()
}

/// Throws away what was typed before the question stood there.
fn discard_typed_ahead() {
    let input = io::stdin();
    if input.is_terminal() {
        // A terminal that cannot be flushed had nothing in it.
        tcflush(&input, QueueSelector::IFlush).unwrap_or_default();
        return;
    }
    let mut buffer = [0_u8; 4096];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        let waiting = poll(&mut ready, Some(&now)).is_ok_and(|count| count > 0);
        let readable = ready.iter().any(|entry| entry.revents().contains(PollFlags::IN));
        if !waiting || !readable || rustix::io::read(&input, &mut buffer).is_ok_and(|count| count == 0) {
            return;
        }
    }
}

/// Reads a line byte by byte: nothing behind it may be taken from whoever reads next.
fn read_line() -> Option<String> {
    const MAX_INPUT_BYTES: usize = 256 * 1024;
    let input = io::stdin();
    let mut line = Vec::new();
    let mut byte = [0_u8; 1];
    while line.len() < MAX_INPUT_BYTES {
        match rustix::io::read(&input, &mut byte) {
            Ok(0) if line.is_empty() => return None,
            Ok(0) => break,
            Ok(_) if byte == [b'\n'] => break,
            Ok(_) => line.extend_from_slice(&byte),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(String::from_utf8_lossy(&line).into_owned())
}

/// What came of changing a command.
enum EditOutcome {
    /// The new command.
    Command(String),
    /// The human left the editor without one. That is no answer to the question.
    Left,
    /// Nobody is there any more.
    Gone,
}

/// Lets the human change the command; it stands there to begin with.
fn edit(command: &str, plain: bool) -> EditOutcome {
    if plain || !io::stdin().is_terminal() || command.contains('\n') {
        let asked = show(&format!("The command is:\n  {}\nNew command, in one line > ", indented(command)));
        return asked.ok().and_then(|()| read_line()).map_or(EditOutcome::Gone, EditOutcome::Command);
    }
    // The editor writes to the terminal itself, so that standard output stays free of it.
    let settings = rustyline::Config::builder().behavior(rustyline::Behavior::PreferTerm).build();
    let Ok(mut editor) = rustyline::DefaultEditor::with_config(settings) else { return EditOutcome::Gone };
    match editor.readline_with_initial("Command > ", (command, "")) {
        Ok(command) => EditOutcome::Command(command),
        // Where the input ended for good the next question finds out.
        Err(ReadlineError::Interrupted | ReadlineError::Eof) => EditOutcome::Left,
        Err(_) => EditOutcome::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use ghost_base::SessionId;

    fn request(command: &str) -> Request {
        Request {
            session: "s1".parse::<SessionId>().unwrap(),
            command: command.to_owned(),
            reasoning: "because".to_owned(),
            ruling: Policy::builtin().unwrap().classify(command),
            round: 1,
            plan: Vec::new(),
            outcome_unknown: false,
            identity: None,
            forecast: Vec::new(),
        }
    }

    #[test]
    fn the_whole_command_is_shown_however_long_it_is() {
        let command = format!("touch {} && rm -rf /tmp/x", "a".repeat(5000));
        assert!(render(&request(&command), false).contains(&command));
    }

    #[test]
    fn nothing_in_a_command_reaches_the_terminal_as_an_order() {
        let shown = render(&request("touch \u{1b}[2J\u{202e}x\r"), false);
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') && !shown.contains('\r'));
        assert!(shown.contains("\\u{1b}[2J\\u{202e}x\\u{d}"));
    }

    #[test]
    fn the_old_reason_is_not_shown_for_a_command_that_was_changed() {
        let shown = render(&Request { round: 2, ..request("az vm restart -g rg -n web-1") }, false);
        assert!(!shown.contains("because"), "{shown}");
        assert!(shown.contains("no reason was given for the command as it is now"), "{shown}");
        assert!(shown.contains("Risk: outage: stops or restarts something that others use"), "{shown}");
    }

    #[test]
    fn every_command_of_a_plan_is_shown_with_its_verdict_and_what_it_does() {
        let policy = Policy::builtin().unwrap();
        let planned = |command: &str| crate::PlannedCommand {
            command: command.to_owned(),
            ruling: policy.classify(command),
        };
        let plan = vec![planned("uname"), planned("az vm restart -g rg -n web-1"), planned("touch x")];
        let shown = render(&Request { plan, ..request("touch x") }, false);
        for line in ["1. [SAFE] uname", "2. [RISKY, outage] az vm restart", "3. [RISKY, change] touch x"] {
            assert!(shown.contains(line), "{shown}");
        }
    }

    #[test]
    fn what_a_command_hides_from_the_eye_is_said() {
        let shown = render(&request(&format!("echo p\u{430}ss\u{3164}{}; touch x", " ".repeat(3000))), false);
        assert!(shown.contains("ss\\u{3164} ⟨3000 spaces⟩ ; touch x"), "{shown}");
        assert!(shown.contains("Look-alike: `pаss"), "{shown}");
    }

    #[test]
    fn it_says_as_whom_the_command_will_run() {
        let request = Request { identity: Some("actor (managed identity)".to_owned()), ..request("touch x") };
        assert!(render(&request, false).contains("As:   actor (managed identity)"));
    }

    #[test]
    fn a_step_whose_fate_is_unknown_says_so() {
        let request = Request { outcome_unknown: true, ..request("touch x") };
        assert!(render(&request, false).contains("outcome unknown"));
    }
}
