//! The subcommands of `ghost route`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{audit, select};
use crate::global::Global;
use crate::knowledge::{Knowledge, parsed};
use ghost_inspect::net::{Inventory, Tags};
use ghost_inspect::route::Table;

/// The arguments of `ghost route`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says which route carries a packet to an address, and what it beat.
    Select(select::Arguments),
    /// Lists what a reviewer of a route table would want to know.
    Audit(audit::Arguments),
}

/// A file, or an interface of the cloud.
#[derive(Debug, Args)]
pub(super) struct RouteInput {
    /// The effective route table as `az` prints it; `-` is standard input. What `az network route-table show` or `route-table route
    /// list` prints is read, too: it lacks the platform's routes, so that nothing is certain from it.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["vm", "nic"], conflicts_with_all = ["vm", "nic"])]
    table: Option<PathBuf>,
    #[command(flatten)]
    live: crate::live::LiveQuery,
    #[command(flatten)]
    knowledge: Knowledge,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// What was read.
pub(super) struct Known {
    pub tags: Option<Tags>,
    pub inventory: Option<Inventory>,
    pub routes: Table,
}

impl RouteInput {
    /// Reads the table, or asks for it; `None` where only the plan was wanted.
    pub(super) fn read(&self, global: &Global) -> anyhow::Result<Option<Known>> {
        let (tags, inventory) = (self.knowledge.tags()?, self.knowledge.inventory()?);
        match &self.table {
            Some(path) => {
                let routes = table(path, tags.as_ref())?;
                Ok(Some(Known { tags, inventory, routes }))
            }
            None => self.ask(tags, inventory, global),
        }
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
        let Some(found) = self.live.look(&setup, &[EffectiveQuery::Routes], self.json)? else {
            return Ok(None);
        };
        let text = or_fail(found.looked.text(EffectiveQuery::Routes))?;
        let name = format!("the effective routes of {}", found.looked.interface.name);
        let routes = answered(text, &name, |text| Ok(Table::parse(text, tags.as_ref())?))?;
        let own = found.inventory.and_then(|text| Inventory::parse(&text).ok());
        Ok(Some(Known { tags, inventory: inventory.or(own), routes }))
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Select(arguments) => select::run(arguments, global),
        Sub::Audit(arguments) => audit::run(arguments, global),
    }
}

/// Reads an effective route table.
pub(super) fn table(path: &Path, tags: Option<&Tags>) -> anyhow::Result<Table> {
    let hint = "save what `az network nic show-effective-route-table -n NIC -g GROUP -o json` prints";
    parsed(path, hint, |text| Ok(Table::parse(text, tags)?))
}
