//! Guests of the lab over ssh.

use std::sync::Arc;

use super::local::ProgramOutput;
use crate::control::Lab;
use crate::host::{HostError, Script, ScriptTransport};

/// Runs a text on the machine that has this name or address.
pub(super) async fn reply(lab: &Arc<Lab>, host: &str, text: &str) -> ProgramOutput {
    let trouble =
        |what: &str| ProgramOutput::failed(255, format!("ssh: connect to host {host} port 22: {what}"));
    let Some(machine) = machine(lab, host) else { return trouble("No route to host") };
    let script = Script {
        text: text.to_owned(),
        arguments: Vec::new(),
        variables: Vec::new(),
        transport: ScriptTransport::Ssh,
    };
    match lab.host().run(&machine, &script).await {
        Ok(ran) => ProgramOutput { out: ran.out.into_bytes(), err: ran.err, exit: i32::from(ran.code) },
        Err(HostError::Unknown(_)) => trouble("No route to host"),
        Err(HostError::Off(_) | HostError::Silent(_)) => trouble("Connection timed out"),
        Err(HostError::Lacking(why) | HostError::Failed { error: why, .. }) => {
            ProgramOutput::failed(255, why)
        }
    }
}

fn machine(lab: &Arc<Lab>, host: &str) -> Option<String> {
    let address = host.parse().ok();
    let fabric = lab.cloud().fabric();
    let found = fabric.machines.into_iter().find(|machine| {
        let has = |address| {
            machine.nics.iter().any(|nic| {
                nic.public == Some(address) || nic.addresses.iter().any(|(own, _)| *own == address)
            })
        };
        machine.name.eq_ignore_ascii_case(host) || address.is_some_and(has)
    });
    found.map(|machine| machine.name)
}
