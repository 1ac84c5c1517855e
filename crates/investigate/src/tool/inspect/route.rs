//! `effective_route_inspector`: where packets of a machine go.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{self, Refused, resource_group_within};
use super::inspector::{Inspection, Inspector, Unfinished};
use crate::suspect::{Layer, carried, plain};
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
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

/// The checked arguments.
pub(super) struct Request {
    resource_group: ResourceGroup,
    machine: Name,
    to: Option<IpAddr>,
}

/// See the module.
pub(super) struct EffectiveRouteInspector;

impl Inspector for EffectiveRouteInspector {
    type Arguments = Arguments;
    type Request = Request;
    const NAME: &'static str = "effective_route_inspector";
    const DESCRIPTION: &'static str = "Asks the effective routes of a machine which one carries packets to an address, and whether its \
        next hop is there: nowhere, an appliance whose address nobody owns, a detour. Ask it of the machine that sends; the return path \
        has routes of its own. Example: {\"reasoning\":\"where do packets to 10.0.1.5 go?\",\"vm_name\":\"web-1\",\"dst_ip\":\"10.0.1.5\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Request, Refused> {
        Ok(Request {
            resource_group: resource_group_within(site, group, arguments.subscription_id.as_deref())?,
            machine: argument::name("vm_name", &arguments.vm_name)?,
            to: argument::address("dst_ip", arguments.dst_ip.as_deref())?,
        })
    }

    fn inspect(
        &self,
        request: &Request,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let scope = InterfaceScope::Machine(request.machine.clone());
        let looked =
            replay.run(&mut Effective::all(&request.resource_group, &scope, &[EffectiveQuery::Routes]))??;
        // The owner of a next hop, and the table of a route.
        let topology = replay.run_or_reuse(&mut TopologyOperation::new(&request.resource_group))??;
        let mut inspection = Inspection::default();
        let mut whole = !looked.is_empty() && topology.unread.is_empty();
        for one in &looked {
            let nic = one.interface.name.as_str();
            let table = Table::parse(one.text(EffectiveQuery::Routes)?, None)
                .map_err(|error| Issue::new(format!("the effective routes of {nic}: {error}")))?;
            whole &= table.warnings().is_empty();
            inspection.suspect(carried(&table, &topology, nic, request.to));
            if let Some(to) = request.to {
                let selection = table.select(to);
                let winner = selection.winner.as_ref().or_else(|| selection.tied.first());
                let chosen = winner.map(|entry| {
                    let ips: Vec<String> = entry.next_hop_ips.iter().map(|ip| plain(ip)).collect();
                    json!({"prefix": entry.prefix.to_string(), "source": plain(entry.source), "name": entry.name.map(plain),
                        "next_hop_type": plain(entry.next_hop_type), "next_hop_ips": ips})
                });
                inspection.fact("result", selection.result.as_str());
                inspection.fact("winner", chosen);
                inspection.fact("reason", selection.reason.map(ghost_inspect::route::Reason::sentence));
                inspection.fact("dst_ip", to.to_string());
            }
            inspection.fact("nic", nic);
            for route in table.routes() {
                inspection.line(&format!("{nic} {} {}", route.row.state.as_str(), Entry::from(route)));
            }
        }
        if whole {
            inspection.looked(Layer::Routes, request.machine.as_str());
        } else {
            inspection.notes.push("not all routes, or not all owners of next hops, could be read".to_owned());
        }
        Ok(inspection)
    }
}
