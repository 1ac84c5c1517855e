//! Machines.

use super::text::Line;
use crate::name::{Name, ResourceGroup};

/// Shows a machine with its state and addresses.
#[must_use]
pub fn machine(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("vm show").option("--name", name).within(place).flag("--show-details").json()
}

/// Lists the machines of a group.
#[must_use]
pub fn machines(place: &ResourceGroup) -> Line {
    Line::read("vm list").within(place).json()
}

/// Shows how a machine is.
#[must_use]
pub fn instance_view(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("vm get-instance-view").option("--name", name).within(place).json()
}

/// Lists the extensions of a machine.
#[must_use]
pub fn extensions(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("vm extension list").option("--vm-name", name).within(place).json()
}

/// Returns what carries a script of the policy to a machine: everything but its text.
#[must_use]
pub fn scripts_carrier(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("vm run-command invoke")
        .option("--name", name)
        .within(place)
        .option("--command-id", "RunShellScript")
        .json()
        .flag("--scripts")
}

/// Runs lines on a machine; what they are is the shell's to judge.
#[must_use]
pub fn run_script(place: &ResourceGroup, name: &Name, lines: &[String]) -> Line {
    Line::change("vm run-command invoke")
        .option("--name", name)
        .within(place)
        .option("--command-id", "RunShellScript")
        .json()
        .options("--scripts", lines)
}
