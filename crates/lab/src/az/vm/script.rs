//! `az vm run-command …`: scripts on machines.

use serde_json::{Value, json};

use crate::az::failure::Failure;
use crate::az::flatten::flattened;
use crate::az::line::Line;
use crate::az::network::kind::{entries, path};
use crate::az::session::Session;
use crate::az::table::CommandResult;
use crate::az::update::put_in;
use crate::azure::Verb;

/// The options of `invoke`.
pub(super) const OPTIONS: &str =
    "--resource-group,-g!^ --name,-n,--vm-name!^ --command-id! --scripts* --parameters* --no-wait?";

/// Runs a script, and prints what it said.
pub(super) fn invoke(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let scripts = line.many("--scripts").unwrap_or_default();
    let script: Result<Vec<String>, Failure> = scripts.iter().map(|word| session.text(word)).collect();
    let script = script?;
    let mut nameless = 0;
    let parameter = |word: &String| match word.split_once('=') {
        Some((name, value)) => json!({"name": name, "value": value}),
        None => {
            nameless += 1;
            json!({"name": format!("arg{nameless}"), "value": word})
        }
    };
    let parameters: Vec<Value> =
        line.many("--parameters").unwrap_or_default().iter().map(parameter).collect();
    let mut body = json!({"commandId": line.need("--command-id")?, "parameters": parameters});
    if line.has("--scripts") {
        put_in(&mut body, "script", json!(script));
    }
    let path = path(session, line)?;
    let found = session.call(Verb::Post, &path, session.command.version, Some(&body))?;
    Ok(Some(found).filter(|found| !found.is_null()))
}

/// Lists the scripts that stay on a machine.
pub(super) fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let found = entries(session, line)?;
    Ok(Some(flattened(Value::Array(found))))
}
