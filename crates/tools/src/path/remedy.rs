//! What takes the causes of a flow away, each command with the class that the gate gives it.

use serde::Serialize;

use ghost_inspect::path::{Bundle, Flow, Reading};
use ghost_investigate::tool::flow_remedies;
use ghost_shell::{Policy, Verdict};

/// Stands for the resource group, where no document names it.
const UNKNOWN_GROUP: &str = "GROUP";

/// What takes a cause away: it was tried on the documents.
#[derive(Debug, Serialize)]
pub(super) struct Remedy {
    fault: String,
    object: String,
    pub what: String,
    look: String,
    pub commands: Vec<ClassifiedCommand>,
    pub effect: String,
    risk: String,
}

/// A command, and what the gate says about it.
#[derive(Debug, Serialize)]
pub(super) struct ClassifiedCommand {
    pub command: String,
    pub class: String,
}

/// Finds what takes away what stops or hurts a flow. What the gate blocks is no advice.
pub(super) fn remedies(bundle: &Bundle, flow: &Flow, group: Option<&str>, policy: &Policy) -> Vec<Remedy> {
    let listed = group_of(bundle);
    let group = group.or(listed.as_deref()).unwrap_or(UNKNOWN_GROUP);
    let classified = |command: &String| {
        let ruling = policy.classify(command);
        let impact = ruling.impact.map(|impact| format!(" ({})", impact.as_str())).unwrap_or_default();
        let class = format!("{}{impact}", ruling.verdict.as_str());
        (ruling.verdict != Verdict::Blocked).then(|| ClassifiedCommand { command: command.clone(), class })
    };
    let all = flow_remedies(bundle, flow, group).into_iter();
    all.filter_map(|one| {
        let commands = one.commands.iter().map(classified).collect::<Option<Vec<_>>>()?;
        let (fault, object, what, look) = (one.fault, one.object, one.what, one.look);
        Some(Remedy { fault, object, what, look, commands, effect: one.effect, risk: one.risk })
    })
    .collect()
}

/// Returns the resource group that the ids of the interfaces name.
fn group_of(bundle: &Bundle) -> Option<String> {
    let Some(Reading::Text(text)) = &bundle.cloud.interfaces else { return None };
    let (_, behind) = text.split_once("/resourceGroups/")?;
    let name = behind.split('/').next()?;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    (!name.is_empty() && name.chars().all(is_plain)).then(|| name.to_owned())
}
