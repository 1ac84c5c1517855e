//! `effective_route_inspector`: where packets of a machine go.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{self, Refused, place_within};
use super::inspecting::Inspector;
use super::seen::{Halt, Seen};
use crate::suspect::{Layer, carried, plain};
use crate::tool::Site;
use crate::tool::errand::Trail;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceScope};
use ghost_cloud::probe::topology::TopologyOperation;
use ghost_cloud::{Name, ResourceGroup};
use ghost_inspect::route::{Entry, Table};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The machine that sends.
    vm_name: String,
    /// Where the packets go; without it every route that somebody put there is judged.
    #[serde(default)]
    #[schemars(with = "String")]
    dst_ip: Option<String>,
    /// The machine's subscription; the configured one, where none is given.
    #[serde(default)]
    #[schemars(with = "String")]
    subscription_id: Option<String>,
}

/// What is asked.
pub(super) struct Wish {
    place: ResourceGroup,
    machine: Name,
    to: Option<IpAddr>,
}

/// See the module.
pub(super) struct EffectiveRouteInspector;

impl Inspector for EffectiveRouteInspector {
    type Arguments = Arguments;
    type Wish = Wish;
    const NAME: &'static str = "effective_route_inspector";
    const DESCRIPTION: &'static str = "Asks the effective routes of a machine which one carries packets to an address, and whether its \
        next hop is there: nowhere, an appliance whose address nobody owns, a way around. Ask it of the machine that sends; the way back \
        has routes of its own. Example: {\"reasoning\":\"where do packets to 10.0.1.5 go?\",\"vm_name\":\"web-1\",\"dst_ip\":\"10.0.1.5\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Wish, Refused> {
        Ok(Wish {
            place: place_within(site, group, arguments.subscription_id.as_deref())?,
            machine: argument::name("vm_name", &arguments.vm_name)?,
            to: argument::address("dst_ip", arguments.dst_ip.as_deref())?,
        })
    }

    fn look(&self, wish: &Wish, _site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt> {
        let scope = InterfaceScope::Machine(wish.machine.clone());
        let looked = trail.carry(&mut Effective::all(&wish.place, &scope, &[EffectiveQuery::Routes]))??;
        // Whose a next hop is, and in which table a route stands.
        let ground = trail.around(&mut TopologyOperation::new(&wish.place))??;
        let mut seen = Seen::default();
        let mut whole = !looked.is_empty() && ground.unread.is_empty();
        for one in &looked {
            let nic = one.interface.name.as_str();
            let table = Table::parse(one.text(EffectiveQuery::Routes)?, None)
                .map_err(|error| Issue::new(format!("the effective routes of {nic}: {error}")))?;
            whole &= table.warnings().is_empty();
            seen.suspect(carried(&table, &ground, nic, wish.to));
            if let Some(to) = wish.to {
                let selection = table.select(to);
                let winner = selection.winner.as_ref().or_else(|| selection.tied.first());
                let told = winner.map(|entry| {
                    let ips: Vec<String> = entry.next_hop_ips.iter().map(|ip| plain(ip)).collect();
                    json!({"prefix": entry.prefix.to_string(), "source": plain(entry.source), "name": entry.name.map(plain),
                        "next_hop_type": plain(entry.next_hop_type), "next_hop_ips": ips})
                });
                seen.fact("result", selection.result.as_str());
                seen.fact("winner", told);
                seen.fact("reason", selection.reason.map(ghost_inspect::route::Reason::sentence));
                seen.fact("dst_ip", to.to_string());
            }
            seen.fact("nic", nic);
            for route in table.routes() {
                seen.line(&format!("{nic} {} {}", route.row.state.as_str(), Entry::from(route)));
            }
        }
        if whole {
            seen.looked(Layer::Routes, wish.machine.as_str());
        } else {
            seen.notes.push("not all routes, or not all owners of next hops, could be read".to_owned());
        }
        Ok(seen)
    }
}
