//! The verdict that the gate of this machine will give, before anybody proposes the command.

use crate::session::{OpenShell, ShellError};
use ghost_investigate::known_of;
use ghost_investigate::state::State;
use ghost_investigate::tool::Evidence;
use ghost_shell::{Policy, Ruling};

/// Judges a command as the gate would in a session. Nothing runs, and nothing is recorded.
///
/// # Errors
/// Says why no gate can be made.
pub fn preview(
    state: &State,
    command: &str,
    open_shell: &OpenShell,
    policy: &Policy,
    evidence: &dyn Evidence,
) -> Result<Ruling, ShellError> {
    let known = known_of(state, policy, evidence, command);
    open_shell(state)?.known(known).judge(command).map_err(|error| error.to_string().into())
}
