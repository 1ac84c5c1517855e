//! An approver of one's own: read-only commands run, everything else is decided by code that you write.
//!
//! `cargo run -p ghost-shell --example approver -- 'ip -br link'`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use ghost_shell::{Approver, Choice, Decision, Request, Reviewer, Shell};

/// Approves what touches the dummy interface and nothing else. A real one would ask a human.
struct OnlyTheDummy;

#[async_trait::async_trait]
impl Approver for OnlyTheDummy {
    async fn decide(&self, request: &Request) -> Decision {
        let choice = if request.command.contains("dummy0") {
            Choice::Approve
        } else {
            Choice::Deny { reason: "only dummy0 may be changed".to_owned() }
        };
        Decision { choice, who: Reviewer::new("example") }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let commands: Vec<String> = std::env::args().skip(1).collect();
    let commands = if commands.is_empty() {
        vec!["cat /proc/net/dev".to_owned(), "ip link set eth0 down".to_owned(), "rm -rf /".to_owned()]
    } else {
        commands
    };
    let data = std::env::temp_dir().join("ghost-shell-example");
    let shell = Shell::builder("example".parse()?, &data).approver(Arc::new(OnlyTheDummy)).build()?;
    for command in commands {
        let response = shell.run(&command, "looking at the interfaces").await;
        println!("$ {command}\n{:?}: {}\n{}", response.status, response.reason, response.output);
    }
    println!("audit log: {}", data.display());
    Ok(())
}
