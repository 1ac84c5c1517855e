//! The subcommands of `ghost nsg`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{audit, reach, verdict};
use crate::global::Global;
use crate::knowledge::{Knowledge, parsed};
use crate::page::{Cell, Tone, plain};
use ghost_inspect::net::{Inventory, Tags, Warning};
use ghost_inspect::nsg::{self, Access, Ruleset};

/// The arguments of `ghost nsg`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says whether a packet gets through both gates, and which rule decides.
    Verdict(verdict::Arguments),
    /// Lists what a reviewer of the rules would want to know.
    Audit(audit::Arguments),
    /// Says who reaches what, as disjoint regions.
    Reach(reach::Arguments),
}

/// What every subcommand is given.
#[derive(Debug, Args)]
pub(super) struct RuleInput {
    /// The effective rules as `az` prints them; `-` is standard input. What `az network nsg show`, `nsg list` or `nsg rule list` prints
    /// is read, too: default rules that lack are added and named, and as the other gate is not known, only a deny is certain.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["vm", "nic"], conflicts_with_all = ["vm", "nic"])]
    rules: Option<PathBuf>,
    #[command(flatten)]
    live: crate::live::LiveQuery,
    #[command(flatten)]
    knowledge: Knowledge,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

impl RuleInput {
    /// Reads the rules, or asks for them; `None` where only the plan was wanted.
    pub(super) fn read(&self, global: &Global) -> anyhow::Result<Option<Known>> {
        let (tags, inventory) = (self.knowledge.tags()?, self.knowledge.inventory()?);
        let Some(path) = &self.rules else { return self.ask(tags, inventory, global) };
        let hint = "save what `az network nic list-effective-nsg -n NIC -g GROUP -o json` prints";
        let known = nsg::Knowledge { tags: tags.as_ref(), inventory: inventory.as_ref() };
        let rules = parsed(path, hint, |text| Ok(Ruleset::parse(text, known)?))?;
        Ok(Some(Known { rules, warnings: warnings(tags.as_ref(), inventory.as_ref()), address: None }))
    }

    fn ask(
        &self,
        tags: Option<Tags>,
        inventory: Option<Inventory>,
        global: &Global,
    ) -> anyhow::Result<Option<Known>> {
        use crate::knowledge::answered;
        use crate::live::or_fail;
        use ghost_cloud::probe::effective::EffectiveQuery;
        let setup = crate::setup::Setup::new(global)?;
        let what = [EffectiveQuery::Rules, EffectiveQuery::Itself];
        let Some(found) = self.live.look(&setup, &what, self.json)? else { return Ok(None) };
        let own = found.inventory.as_deref().and_then(|text| Inventory::parse(text).ok());
        let inventory = inventory.or(own);
        let text = or_fail(found.looked.text(EffectiveQuery::Rules))?;
        let name = format!("the effective rules of {}", found.looked.interface.name);
        let known = nsg::Knowledge { tags: tags.as_ref(), inventory: inventory.as_ref() };
        let rules = answered(text, &name, |text| Ok(Ruleset::parse(text, known)?))?;
        let warnings = warnings(tags.as_ref(), inventory.as_ref());
        Ok(Some(Known { rules, warnings, address: found.looked.address().ok() }))
    }
}

fn warnings(tags: Option<&Tags>, inventory: Option<&Inventory>) -> Vec<Warning> {
    let mut found = tags.map(|tags| tags.warnings().to_vec()).unwrap_or_default();
    found.extend(inventory.into_iter().flat_map(|inventory| inventory.warnings().to_vec()));
    found
}

/// What was read.
pub(super) struct Known {
    pub rules: Ruleset,
    /// What is wrong with the other documents.
    pub warnings: Vec<Warning>,
    /// The interface's own address, where it was asked for.
    pub address: Option<IpAddr>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Verdict(arguments) => verdict::run(arguments, global),
        Sub::Audit(arguments) => audit::run(arguments, global),
        Sub::Reach(arguments) => reach::run(arguments, global),
    }
}

/// Returns a rule as the cells of a table.
pub(super) fn row(gate: &str, priority: Option<u32>, access: Option<Access>, name: &str) -> Vec<Cell> {
    let priority = priority.map_or_else(|| "?".to_owned(), |priority| priority.to_string());
    let access = match access {
        Some(access @ (Access::Allow | Access::AlwaysAllow)) => (Tone::Good, format!("{access:?}")),
        Some(access @ Access::Deny) => (Tone::Bad, format!("{access:?}")),
        None => (Tone::Odd, "?".to_owned()),
    };
    vec![plain(gate), plain(format!("{priority:>5}")), access, plain(name)]
}
