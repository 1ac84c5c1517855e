//! `nsg_verdict`: which security rule decides over a packet.

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
use ghost_inspect::nsg::{Knowledge, Packet, Ruleset};
use ghost_tools::knowledge::MAX_BYTES;
use ghost_tools::live::{LiveQuery, or_fail};
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "nsg_verdict",
    title: "Which security rule decides over a packet",
    description: "Says whether the effective security rules of an Azure network interface let a packet pass, and which rule decides at which gate. The rules are what `az network nic list-effective-nsg -o json` printed, or are read now from the interface that `live` names, by commands that only read.",
    runs: Runs::Those(cloud::interface),
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Inbound,
    Outbound,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Protocol {
    Tcp,
    Udp,
    Icmp,
    Any,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The effective rules; or `live`.
    rules: Option<Source>,
    /// The interface to read them from now.
    live: Option<CloudInterface>,
    /// The direction, seen from the network interface.
    direction: Direction,
    /// The protocol; `any` asks about tcp, udp and icmp together.
    protocol: Protocol,
    /// Where the packet comes from; with `live` and outbound the interface's own address unless said.
    src: Option<IpAddr>,
    /// The port that it comes from; unknown unless given.
    src_port: Option<u16>,
    /// Where the packet goes; with `live` and inbound the interface's own address unless said.
    dst: Option<IpAddr>,
    /// The port that it goes to; ICMP has none.
    dst_port: Option<u16>,
    /// What `az network list-service-tags -o json` printed.
    tags: Option<Source>,
    /// What `az network nic list -o json` printed.
    inventory: Option<Source>,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let read = |source: &Source| source.read(place, MAX_BYTES);
    if input.dst_port.is_none() && !matches!(input.protocol, Protocol::Icmp) {
        let error = anyhow::anyhow!("a packet of this protocol goes to a port");
        return Err(Hinted::new(error, "give `dst_port`").into());
    }
    let tags = input.tags.as_ref().map(|source| Ok::<_, anyhow::Error>(Tags::parse(&read(source)?)?));
    let tags = tags.transpose().context("reading the service tags")?;
    let named = input.inventory.as_ref();
    let named = named.map(|source| Ok::<_, anyhow::Error>(Inventory::parse(&read(source)?)?));
    let mut inventory = named.transpose().context("reading the inventory")?;
    let (text, name, address) = match (&input.rules, input.live) {
        (Some(source), None) => (read(source)?, source.name(), None),
        (None, Some(asked)) => {
            let what = [EffectiveQuery::Rules, EffectiveQuery::Itself];
            let found =
                LiveQuery::from(asked).look(&place.setup, &what, true)?.context("nothing was read")?;
            inventory = inventory.or_else(|| found.inventory.and_then(|text| Inventory::parse(&text).ok()));
            let text = or_fail(found.looked.text(EffectiveQuery::Rules))?.to_owned();
            (text, "the effective rules".to_owned(), found.looked.address().ok())
        }
        (Some(_), Some(_)) | (None, None) => {
            let error = anyhow::anyhow!("either `rules` or `live` says what the rules are");
            return Err(Hinted::new(error, "give one of the two").into());
        }
    };
    let knowledge = Knowledge { tags: tags.as_ref(), inventory: inventory.as_ref() };
    let parsed = Ruleset::parse(&text, knowledge).with_context(|| format!("reading {name}"));
    let rules = parsed.map_err(|error| {
        Hinted::new(error, "give what `az network nic list-effective-nsg -o json` prints")
    })?;
    let own = |said: Option<IpAddr>, name: &str| {
        let error = || anyhow::anyhow!("the interface's own address is not known");
        said.or(address).ok_or_else(|| Hinted::new(error(), format!("give `{name}`")))
    };
    let direction = match input.direction {
        Direction::Inbound => "inbound",
        Direction::Outbound => "outbound",
    };
    let protocol = match input.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Icmp => "icmp",
        Protocol::Any => "any",
    };
    let (src, dst) = (own(input.src, "src")?, own(input.dst, "dst")?);
    let port = input.dst_port.unwrap_or_default();
    let packet = Packet::new(direction, protocol, src, input.src_port, dst, port)
        .context("describing the packet")
        .map_err(|error| Hinted::new(error, "both addresses are IPv4, or both are IPv6"))?;
    let mut ruling = rules.verdict(&packet);
    let warnings = ruling.warnings.to_mut();
    warnings.extend(tags.iter().flat_map(|tags| tags.warnings().to_vec()));
    warnings.extend(inventory.iter().flat_map(|inventory| inventory.warnings().to_vec()));
    Ok(serde_json::to_value(&ruling)?.into())
}

fn output() -> Value {
    let gate = object(&[
        ("gate", words(&["subnet", "nic"])),
        ("verdict", words(&["ALLOW", "DENY", "INDETERMINATE", "SKIPPED", "ABSENT"])),
    ]);
    object(&[
        ("verdict", words(&["ALLOW", "DENY", "INDETERMINATE"])),
        ("gates", list(gate)),
        ("decisive", maybe(any())),
        ("unresolved", list(text())),
        ("shadowed", list(any())),
        ("warnings", list(any())),
    ])
}
