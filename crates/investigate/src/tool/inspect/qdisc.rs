//! `inspect_qdisc`: how a guest delays, loses and limits what it sends.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{self, Guest, Provider, Refused, resource_group};
use super::inspector::{Inspection, Inspector, Unfinished};
use crate::suspect::{Layer, plain, shaped};
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
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
    type Request = Guest;
    const NAME: &'static str = "inspect_qdisc";
    const ASKS_WHY: bool = false;
    const DESCRIPTION: &'static str = "Reads the queueing disciplines of a machine (tc): netem delay, loss, corruption, rate limits. They \
        work on what a machine sends, so ask both ends; the cloud knows nothing of them. Example: {\"reasoning\":\"latency is up and no \
        rule explains it\",\"vm_name\":\"web-1\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Guest, Refused> {
        let machine = argument::name("vm_name", &arguments.vm_name)?;
        let found = resource_group(site, group);
        let by_ssh = arguments.provider == Some(Provider::Ssh);
        let resource_group = if by_ssh { found.ok() } else { Some(found?) };
        Ok(Guest { machine, resource_group, provider: arguments.provider })
    }

    fn inspect(
        &self,
        guest: &Guest,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let read = guest.gather(&WANTED, site, replay)?;
        Ok(inspection_of(guest.machine.as_str(), &read))
    }
}

fn inspection_of(machine: &str, read: &Read) -> Inspection {
    let mut inspection = Inspection::default();
    inspection.suspect(shaped(machine, read));
    let devices = read.devices.iter().map(|one| {
        json!({"dev": one.dev.as_deref().map(plain), "discipline": plain(&one.discipline), "impairs": one.impairs,
            "delay_ms": one.delay_ms, "jitter_ms": one.jitter_ms, "loss_pct": one.loss_pct, "corrupt_pct": one.corrupt_pct,
            "duplicate_pct": one.duplicate_pct, "reorder_pct": one.reorder_pct, "rate_bps": one.rate_bps, "drops": one.drops,
            "exempt": one.exempt.iter().map(|one| one.split('/').map(plain).collect::<Vec<_>>().join("/")).collect::<Vec<_>>()})
    });
    inspection.fact("devices", devices.take(20).collect::<Vec<_>>());
    inspection.fact("impaired", read.impaired);
    for warning in &read.warnings {
        inspection.line(&warning.to_string());
    }
    if read.warnings.is_empty() {
        inspection.looked(Layer::Shaping, machine);
    } else {
        inspection.notes.push("not everything that tc printed was understood".to_owned());
    }
    inspection
}
