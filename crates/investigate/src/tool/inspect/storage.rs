//! `inspect_storage`: whom a storage account lets in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Refused, refuse, resource_group};
use super::inspector::{Inspection, Inspector, Unfinished};
use crate::suspect::{Layer, kept_out, plain};
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
use ghost_cloud::operation::{CommandRequest, Issue, ReadOperation};
use ghost_cloud::probe::topology::{Topology, TopologyOperation};
use ghost_cloud::{Account, Name, ResourceGroup, line};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The storage account.
    account: String,
    /// The machine that wants in; without it every subnet that the account names is looked at.
    #[serde(default)]
    #[schemars(with = "String")]
    vm_name: Option<String>,
}

/// The checked arguments.
pub(super) struct Request {
    resource_group: ResourceGroup,
    account: Account,
    machine: Option<Name>,
}

/// See the module.
pub(super) struct InspectStorage;

impl Inspector for InspectStorage {
    type Arguments = Arguments;
    type Request = Request;
    const NAME: &'static str = "inspect_storage";
    const ASKS_WHY: bool = false;
    const DESCRIPTION: &'static str = "Holds the network rules of a storage account against the subnet of a machine: is it let in, and \
        does it bring the service endpoint along that such a rule needs? Example: {\"reasoning\":\"writes time out since the subnet was \
        changed\",\"account\":\"nwlogs080613\",\"vm_name\":\"web-1\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Request, Refused> {
        Ok(Request {
            resource_group: resource_group(site, group)?,
            account: Account::parse(&arguments.account)
                .map_err(|error| refuse(format!("account: {error}")))?,
            machine: argument::some_name("vm_name", arguments.vm_name.as_deref())?,
        })
    }

    fn inspect(
        &self,
        request: &Request,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let account = &request.account;
        let command = CommandRequest::line(
            line::account(&request.resource_group, account),
            format!("look at the network rules of {account}"),
        );
        let document = replay.run(&mut ReadOperation::new(command, format!("looking at {account}")))??;
        let topology = replay.run(&mut TopologyOperation::new(&request.resource_group))??;
        let subnet = request.machine.as_ref().map(|machine| subnet(&topology, machine)).transpose()?;
        let found = kept_out(account.as_str(), &document, &topology, subnet.as_deref())
            .map_err(|why| Issue::new(format!("looking at {account}: {why}")))?;
        let mut inspection = Inspection::default();
        inspection.suspect(found);
        facts(&document, &topology, subnet.as_deref(), &mut inspection);
        if topology.unread.iter().any(|list| list.what == "networks") {
            inspection.notes.push("the subnets could not be read".to_owned());
        } else {
            inspection.looked(Layer::Storage, account.as_str());
        }
        Ok(inspection)
    }
}

fn subnet(topology: &Topology, machine: &Name) -> Result<String, Issue> {
    let mut subnets =
        topology.of(machine.as_str()).flat_map(|nic| &nic.addresses).filter_map(|one| one.subnet.clone());
    subnets.next().ok_or_else(|| {
        Issue::hinted(
            format!("no interface of {machine} is in a known subnet"),
            "look at the spelling with topology",
        )
    })
}

fn facts(document: &str, topology: &Topology, subnet: Option<&str>, inspection: &mut Inspection) {
    let value: Value = serde_json::from_str(document).unwrap_or_default();
    let rules = value.get("networkRuleSet").or_else(|| value.get("networkAcls")).cloned().unwrap_or_default();
    let word = |name: &str| rules.get(name).and_then(Value::as_str).map(plain);
    inspection.fact("default_action", word("defaultAction"));
    inspection.fact(
        "bypass",
        rules
            .get("bypass")
            .and_then(Value::as_str)
            .map(|text| text.replace(", ", ","))
            .map(|text| text.split(',').map(plain).collect::<Vec<_>>().join(",")),
    );
    if let Some(path) = subnet {
        let endpoints = topology
            .subnet(path)
            .map(|subnet| subnet.service_endpoints.iter().map(|one| plain(one)).collect());
        let endpoints: Vec<String> = endpoints.unwrap_or_default();
        let name: Vec<String> = path.split('/').map(plain).collect();
        inspection.fact("subnet", json!({"name": name.join("/"), "endpoints": endpoints}));
    }
    inspection.line(&rules.to_string());
}
