//! The commands by which tools read the cloud, as the policy judges them.

use anyhow::Context as _;

use ghost_cloud::Name;
use ghost_cloud::guest::GuestAccess;
use ghost_cloud::line::{self, Line};
use ghost_cloud::operation::CommandKind;
use ghost_cloud::probe::effective::EffectiveQuery;
use ghost_cloud::probe::{GuestProbe, STATE};
use ghost_shell::{Policy, Ruling};

use crate::cli::guest;
use crate::cli::live::foreseen;

/// Stands for every name: what is judged is the kind of command.
const SOME: &str = "NAME";

/// The commands by which the routes and rules of an interface are read.
pub(super) fn interface(policy: &Policy) -> anyhow::Result<Vec<Ruling>> {
    let (group, name) = (guest::place(SOME, None)?, Name::parse(SOME)?);
    let all = [EffectiveQuery::Routes, EffectiveQuery::Rules, EffectiveQuery::Itself];
    let requests = foreseen(&group, &name, &all);
    let lines = requests.iter().filter_map(|request| match &request.what {
        CommandKind::Line(line) => Some(line.text()),
        CommandKind::Script { .. } => None,
    });
    let lines = lines.chain([line::machine(&group, &name).text(), line::interfaces(&group).text()]);
    Ok(lines.map(|line| policy.classify(&line)).collect())
}

/// The commands by which an estate is read, its guests included.
pub(super) fn estate(policy: &Policy) -> anyhow::Result<Vec<Ruling>> {
    let (group, name) = (guest::place(SOME, None)?, Name::parse(SOME)?);
    let lists: [Line; 5] = [
        line::machines(&group),
        line::interfaces(&group),
        line::networks(&group),
        line::security_groups(&group),
        line::route_tables(&group),
    ];
    let mut rulings = interface(policy)?;
    rulings.extend(lists.iter().map(|line| policy.classify(&line.text())));
    let probe = GuestProbe::new(GuestAccess::Platform { place: group, machine: name }, &STATE).foreseen();
    match &probe.what {
        CommandKind::Line(line) => rulings.push(policy.classify(&line.text())),
        CommandKind::Script { carrier, script, variables } => {
            let values: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let script = policy.script(script).context("the policy declares no such script")?;
            rulings.push(policy.classify_script(carrier.words(), &script.fill(&values)?));
        }
    }
    Ok(rulings)
}
