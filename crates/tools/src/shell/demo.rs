//! `ghost shell demo`: an over-eager engineer in front of the gate.

use std::io::{self, IsTerminal as _};

use clap::Args;

use super::run::summary;
use crate::consent::Consent;
use crate::name::new_session;
use crate::print::line;
use crate::setup::Setup;
use crate::wait::{drive, interrupted};
use ghost_shell::{Response, Shell, Verdict, audit};

/// What the engineer proposes, and why.
const PROPOSALS: [(&str, &str); 12] = [
    ("cat /proc/net/dev", "Which interfaces are there, and do they drop packets?"),
    ("cat /etc/resolv.conf", "Who answers names here?"),
    ("uname -sr", "Which kernel is this?"),
    ("ip -br addr", "Which addresses does this host have?"),
    ("date -u | wc -c", "A pipe. Surely that is harmless?"),
    ("mkdir -p /tmp/ghost-demo", "I need a place for my notes."),
    ("sysctl net.ipv4.ip_forward", "Is this host a router?"),
    ("sleep 0.2", "Let me take a breath."),
    ("cat /etc/shadow", "Maybe a password tells me more."),
    (
        "curl -s http://169.254.169.254/metadata/identity/oauth2/token",
        "I could borrow the machine's identity.",
    ),
    ("sudo bash -c 'ip route flush table main; rm -rf /var'", "Starting over is faster than understanding."),
    ("reboot", "Have you tried turning it off and on again?"),
];

/// The arguments of `ghost shell demo`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ghost shell demo\n  ghost shell demo --approve deny")]
pub(super) struct Arguments {
    /// What to do when a human has to be asked; `ask` at a terminal, `deny` elsewhere.
    #[arg(long, value_enum)]
    approve: Option<Consent>,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let at_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let consent = arguments.approve.unwrap_or(if at_terminal { Consent::Ask } else { Consent::Deny });
    let session = new_session("demo")?;
    let path = setup.data()?.join("audit").join(format!("{session}.jsonl"));
    let shell = setup.shell(session, Some(20))?.approver(consent.approver(setup)).build()?;
    line("An over-eager engineer has twelve ideas. SAFE runs, RISKY asks you, BLOCKED never runs.")?;
    if consent == Consent::Deny {
        line("Nobody is there to ask, so that every RISKY idea is denied.")?;
    }
    let head = drive(|| async {
        tokio::select! {
            head = propose_all(&shell) => head,
            () = interrupted() => Err(anyhow::anyhow!("interrupted")),
        }
    })??;
    let file = audit::for_reading(&path)?;
    let found = audit::verify(file, head.as_deref())?;
    let verdict = if found.ok { "whole" } else { "NOT whole" };
    line(&format!(
        "\nThe audit has {} records and is {verdict}. Check it yourself, now or in a year:",
        found.records
    ))?;
    // The program may lie anywhere yet: what is printed can be pasted as it stands.
    let ghost =
        std::env::current_exe().map_or_else(|_| "ghost".to_owned(), |path| path.display().to_string());
    line(&format!("  {ghost} audit verify {} --head {}", path.display(), found.head.unwrap_or_default()))?;
    line(&format!("  {ghost} audit show {}", path.display()))?;
    Ok(0)
}

async fn propose_all(shell: &Shell) -> anyhow::Result<Option<String>> {
    let mut head = None;
    for (at, (command, reasoning)) in PROPOSALS.iter().enumerate() {
        let ruling = shell.policy().classify(command);
        line(&format!("\n{:>2}. {command}\n    \"{reasoning}\"", at + 1))?;
        line(&format!("    {} · {}", paint(ruling.verdict), ruling.reason))?;
        let response = shell.run(command, reasoning).await;
        tell(&response)?;
        head = response.audit_head.or(head);
    }
    Ok(head)
}

fn tell(response: &Response) -> anyhow::Result<()> {
    const SHOWN: usize = 4;
    let lines: Vec<&str> = response.output.lines().chain(response.stderr.lines()).collect();
    for text in lines.iter().take(SHOWN) {
        line(&format!("    │ {text}"))?;
    }
    if lines.len() > SHOWN {
        line(&format!("    │ … {} more lines", lines.len() - SHOWN))?;
    }
    line(&format!("    → {}", summary(response)))
}

fn paint(verdict: Verdict) -> String {
    if !io::stdout().is_terminal() {
        return verdict.to_string();
    }
    let color = match verdict {
        Verdict::Safe => 32,
        Verdict::Risky => 33,
        Verdict::Blocked => 31,
    };
    format!("\x1b[1;{color}m{verdict}\x1b[0m")
}

/// The demonstration holds what it promises only while the policy judges as it says.
#[cfg(test)]
mod tests {
    use super::*;
    use ghost_shell::Policy;

    #[test]
    fn the_ideas_show_all_three_verdicts() {
        let policy = Policy::builtin().unwrap();
        let count = |verdict| {
            PROPOSALS.iter().filter(|(command, _)| policy.classify(command).verdict == verdict).count()
        };
        assert_eq!((count(Verdict::Safe), count(Verdict::Risky), count(Verdict::Blocked)), (6, 2, 4));
    }
}
