//! `path`: whether a flow can pass, and what decides it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::cloud;
use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, list, object, text, words};
use crate::cli::mcp::workplace::Workplace;
use ghost_inspect::path::Protocol;
use ghost_tools::path::Question;
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "path",
    title: "Can this flow pass, and what decides it",
    description: "Judges one flow through everything on its path, in both directions: guests, security groups, routes, peerings, appliances, shaping, and who listens. It reads the resource group now, by commands that only read, or judges from a bundle that `ghost path collect` wrote. `causes` decide now, `behind` would still block once they are gone, `missing` says what was not read.",
    runs: Runs::Those(cloud::estate),
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Spoken {
    #[default]
    Tcp,
    Udp,
    Icmp,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The documents that were read: a JSON file, or a folder. Or `resource_group`.
    bundle: Option<String>,
    /// The resource group to read now.
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    subscription: Option<String>,
    /// Who calls: a machine, an address, or `internet`.
    from: String,
    /// Who is called, and on which port, as in `db-1:5432`.
    to: String,
    /// The protocol.
    #[serde(default)]
    protocol: Spoken,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let protocol = match input.protocol {
        Spoken::Tcp => Protocol::Tcp,
        Spoken::Udp => Protocol::Udp,
        Spoken::Icmp => Protocol::Icmp,
    };
    let question = Question { from: &input.from, to: &input.to, protocol, at: None };
    let judged = match (&input.bundle, &input.resource_group) {
        (Some(bundle), None) => question.judged_offline(&place.readable(bundle)?)?,
        (None, Some(group)) => question.judged_now(&place.setup, group, input.subscription.as_deref())?,
        (Some(_), Some(_)) | (None, None) => {
            let error = anyhow::anyhow!("either a bundle or a resource group is judged");
            return Err(Hinted::new(error, "give `bundle` or `resource_group`").into());
        }
    };
    Ok(serde_json::to_value(&judged.report)?.into())
}

fn output() -> Value {
    let cause = || object(&[("fault", text()), ("object", text())]);
    object(&[
        ("flow", any()),
        ("verdict", words(&["PASSES", "BLOCKED", "DEGRADED", "INDETERMINATE"])),
        ("forward", list(any())),
        ("return", list(any())),
        ("causes", list(cause())),
        ("behind", list(cause())),
        ("noticed", list(any())),
        ("missing", list(any())),
        ("warnings", list(text())),
    ])
}
