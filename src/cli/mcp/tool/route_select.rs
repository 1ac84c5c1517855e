//! `route_select`: which effective route carries a packet.

use std::net::IpAddr;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::cloud;
use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, list, maybe, object, text, words};
use crate::cli::mcp::source::{CloudInterface, Source};
use crate::cli::mcp::workplace::Workplace;
use ghost_cloud::probe::effective::EffectiveQuery;
use ghost_inspect::net::{Inventory, Tags};
use ghost_inspect::route::Table;
use ghost_tools::knowledge::MAX_BYTES;
use ghost_tools::live::{LiveQuery, or_fail};
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "route_select",
    title: "Which route carries a packet",
    description: "Says which effective route of an Azure network interface carries a packet to an address, and what is odd about it. The table is what `az network nic show-effective-route-table -o json` printed, or is read now from the interface that `live` names, by commands that only read.",
    runs: Runs::Those(cloud::interface),
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The effective routes; or `live`.
    table: Option<Source>,
    /// The interface to read them from now.
    live: Option<CloudInterface>,
    /// The destination.
    to: IpAddr,
    /// The source: the destination of the return path.
    from: Option<IpAddr>,
    /// The other end's effective routes: says whether the return path is another one. Needs `from`.
    return_table: Option<Source>,
    /// What `az network list-service-tags -o json` printed.
    tags: Option<Source>,
    /// What `az network nic list -o json` printed.
    inventory: Option<Source>,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let read = |source: &Source| source.read(place, MAX_BYTES);
    let tags = input.tags.as_ref().map(|source| Ok::<_, anyhow::Error>(Tags::parse(&read(source)?)?));
    let tags = tags.transpose().context("reading the service tags")?;
    let named = input.inventory.as_ref();
    let named = named.map(|source| Ok::<_, anyhow::Error>(Inventory::parse(&read(source)?)?));
    let mut inventory = named.transpose().context("reading the inventory")?;
    let parsed = |text: &str, name: &str| {
        let table = Table::parse(text, tags.as_ref()).with_context(|| format!("reading {name}"));
        table.map_err(|error| {
            Hinted::new(error, "give what `az network nic show-effective-route-table -o json` prints")
        })
    };
    let routes = match (&input.table, input.live) {
        (Some(source), None) => parsed(&read(source)?, &source.name())?,
        (None, Some(asked)) => {
            let found = LiveQuery::from(asked).look(&place.setup, &[EffectiveQuery::Routes], true)?;
            let found = found.context("nothing was read")?;
            inventory = inventory.or_else(|| found.inventory.and_then(|text| Inventory::parse(&text).ok()));
            parsed(or_fail(found.looked.text(EffectiveQuery::Routes))?, "the effective routes")?
        }
        (Some(_), Some(_)) | (None, None) => {
            let error = anyhow::anyhow!("either `table` or `live` says what the routes are");
            return Err(Hinted::new(error, "give one of the two").into());
        }
    };
    let mut selection = routes.select_knowing(input.to, inventory.as_ref());
    let back = input.return_table.as_ref();
    let back =
        back.map(|source| Ok::<_, anyhow::Error>(parsed(&read(source)?, &source.name())?)).transpose()?;
    match (&back, input.from) {
        (Some(back), Some(from)) => {
            routes.compare_return(&mut selection, input.to, back, from);
            selection.warnings.to_mut().extend(back.warnings().iter().cloned());
        }
        (Some(_), None) => {
            let error = anyhow::anyhow!("a return table needs the source that the packet comes from");
            return Err(Hinted::new(error, "give `from`").into());
        }
        (None, _) => {}
    }
    let warnings = selection.warnings.to_mut();
    warnings.extend(tags.iter().flat_map(|tags| tags.warnings().to_vec()));
    warnings.extend(inventory.iter().flat_map(|inventory| inventory.warnings().to_vec()));
    Ok(serde_json::to_value(&selection)?.into())
}

fn output() -> Value {
    object(&[
        ("result", words(&["WINNER", "NO_ROUTE", "TIED", "INDETERMINATE"])),
        ("winner", maybe(any())),
        ("tied", list(any())),
        ("reason", maybe(text())),
        ("anomalies", list(object(&[("code", text()), ("detail", text())]))),
        ("shadowed", list(any())),
        ("warnings", list(any())),
    ])
}
