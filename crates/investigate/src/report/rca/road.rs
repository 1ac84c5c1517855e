//! The machines that a session read, and how their inside was read where there is more than one possibility: by ssh, or through the
//! platform.

use std::collections::BTreeSet;

use crate::event::DeclaredScript;
use crate::judged::{self, JudgedMachine};
use crate::report::amount::count;
use crate::report::markdown::text;
use crate::state::State;
use ghost_cloud::guest::{GuestAccess, HostAccess};

/// Returns the section with a line for each machine that was to be read itself; empty where it was one, which the rest is about.
pub(super) fn machines(state: &State) -> String {
    let Some((_, judged)) = judged::judged(state).filter(|(_, judged)| judged.machines.len() > 1) else {
        return String::new();
    };
    let line = |machine: &JudgedMachine| {
        let name = text(&machine.name);
        match (&machine.unread, machine.is_root, machine.closed.len()) {
            (Some(why), _, _) => format!("- {name}: not read: {}", text(why)),
            (None, Some(false), closed) => {
                format!(
                    "- {name}: read without root rights, {}",
                    count(u64::try_from(closed).unwrap_or(u64::MAX), "part") + " closed"
                )
            }
            (None, Some(true) | None, 0) => format!("- {name}: read"),
            (None, Some(true) | None, closed) => {
                format!("- {name}: read but for {}", count(u64::try_from(closed).unwrap_or(u64::MAX), "part"))
            }
        }
    };
    let lines: Vec<String> = judged.machines.iter().map(line).collect();
    format!("## Machines\n\n{}", lines.join("\n"))
}

/// Returns the section; empty where there is nothing to choose, or nothing was read inside of a machine.
pub(super) fn roads(state: &State) -> String {
    if !state.opened.cloud_too || state.opened.hosts.is_empty() {
        return String::new();
    }
    let read = state.steps.iter().filter(|step| step.is_completed());
    let lines: BTreeSet<String> =
        read.filter_map(|step| step.scripted()).filter_map(|script| road(state, script)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("## How the machines were read\n\n{}", lines.into_iter().collect::<Vec<_>>().join("\n"))
}

/// Says by what a script was carried to which machine; nothing of one that ran here.
fn road(state: &State, script: &DeclaredScript) -> Option<String> {
    let carrier = &script.carrier;
    if carrier.first().is_some_and(|word| word == "az") {
        let at = carrier.iter().position(|word| word == "--name" || word == "-n")?;
        return Some(format!(
            "- {}: inside of it through the platform's run-command",
            text(carrier.get(at + 1)?)
        ));
    }
    state.opened.hosts.iter().find_map(|host| {
        let HostAccess::Ssh(ssh) = HostAccess::of_carrier(&host.carrier)? else { return None };
        let is_own =
            *carrier == host.carrier || GuestAccess::Ssh(ssh.clone()).carrier().words() == carrier.as_slice();
        let target = ssh.target().to_string();
        is_own.then(|| format!("- {}: inside of it by ssh, as {}", text(&host.name), text(&target)))
    })
}
