//! `inspect_qdisc`: how a guest delays, loses and limits what it sends.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{self, Provider, Refused, place};
use super::guest::Guest;
use super::inspecting::Inspector;
use super::seen::{Halt, Seen};
use crate::suspect::{Layer, plain, shaped};
use crate::tool::Site;
use crate::tool::errand::Trail;
use ghost_cloud::probe::qdisc::WANTED;
use ghost_inspect::qdisc::Read;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The machine.
    vm_name: String,
    /// How it is reached; by the platform, where none is given.
    #[serde(default)]
    #[schemars(with = "Provider")]
    provider: Option<Provider>,
}

/// See the module.
pub(super) struct InspectQdisc;

impl Inspector for InspectQdisc {
    type Arguments = Arguments;
    type Wish = Guest;
    const NAME: &'static str = "inspect_qdisc";
    const ASKS_WHY: bool = false;
    const DESCRIPTION: &'static str = "Reads the queueing disciplines of a machine (tc): netem delay, loss, corruption, rate limits. They \
        work on what a machine sends, so ask both ends; the cloud knows nothing of them. Example: {\"reasoning\":\"latency is up and no \
        rule explains it\",\"vm_name\":\"web-1\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Guest, Refused> {
        let machine = argument::name("vm_name", &arguments.vm_name)?;
        let found = place(site, group);
        let by_ssh = arguments.provider == Some(Provider::Ssh);
        let place = if by_ssh { found.ok() } else { Some(found?) };
        Ok(Guest { machine, place, provider: arguments.provider })
    }

    fn look(&self, guest: &Guest, site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt> {
        let read = guest.gather(&WANTED, site, trail)?;
        Ok(told(guest.machine.as_str(), &read))
    }
}

fn told(machine: &str, read: &Read) -> Seen {
    let mut seen = Seen::default();
    seen.suspect(shaped(machine, read));
    let devices = read.devices.iter().map(|one| {
        json!({"dev": one.dev.as_deref().map(plain), "discipline": plain(&one.discipline), "impairs": one.impairs,
            "delay_ms": one.delay_ms, "jitter_ms": one.jitter_ms, "loss_pct": one.loss_pct, "corrupt_pct": one.corrupt_pct,
            "duplicate_pct": one.duplicate_pct, "reorder_pct": one.reorder_pct, "rate_bps": one.rate_bps, "drops": one.drops,
            "exempt": one.exempt.iter().map(|one| one.split('/').map(plain).collect::<Vec<_>>().join("/")).collect::<Vec<_>>()})
    });
    seen.fact("devices", devices.take(20).collect::<Vec<_>>());
    seen.fact("impaired", read.impaired);
    for warning in &read.warnings {
        seen.line(&warning.to_string());
    }
    if read.warnings.is_empty() {
        seen.looked(Layer::Shaping, machine);
    } else {
        seen.notes.push("not everything that tc printed was understood".to_owned());
    }
    seen
}
