//! `inspect_storage`: whom a storage account lets in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Refused, place, refuse};
use super::inspecting::Inspector;
use super::seen::{Halt, Seen};
use crate::suspect::{Layer, kept_out, plain};
use crate::tool::Site;
use crate::tool::errand::Trail;
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

/// What is asked.
pub(super) struct Wish {
    place: ResourceGroup,
    account: Account,
    machine: Option<Name>,
}

/// See the module.
pub(super) struct InspectStorage;

impl Inspector for InspectStorage {
    type Arguments = Arguments;
    type Wish = Wish;
    const NAME: &'static str = "inspect_storage";
    const ASKS_WHY: bool = false;
    const DESCRIPTION: &'static str = "Holds the network rules of a storage account against the subnet of a machine: is it let in, and \
        does it bring the service endpoint along that such a rule needs? Example: {\"reasoning\":\"writes time out since the subnet was \
        changed\",\"account\":\"nwlogs080613\",\"vm_name\":\"web-1\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Wish, Refused> {
        Ok(Wish {
            place: place(site, group)?,
            account: Account::parse(&arguments.account)
                .map_err(|error| refuse(format!("account: {error}")))?,
            machine: argument::some_name("vm_name", arguments.vm_name.as_deref())?,
        })
    }

    fn look(&self, wish: &Wish, _site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt> {
        let account = &wish.account;
        let order = CommandRequest::line(
            line::account(&wish.place, account),
            format!("look at the network rules of {account}"),
        );
        let document = trail.carry(&mut ReadOperation::new(order, format!("looking at {account}")))??;
        let ground = trail.carry(&mut TopologyOperation::new(&wish.place))??;
        let subnet = wish.machine.as_ref().map(|machine| subnet(&ground, machine)).transpose()?;
        let found = kept_out(account.as_str(), &document, &ground, subnet.as_deref())
            .map_err(|why| Issue::new(format!("looking at {account}: {why}")))?;
        let mut seen = Seen::default();
        seen.suspect(found);
        facts(&document, &ground, subnet.as_deref(), &mut seen);
        if ground.unread.iter().any(|list| list.what == "networks") {
            seen.notes.push("the subnets could not be read".to_owned());
        } else {
            seen.looked(Layer::Storage, account.as_str());
        }
        Ok(seen)
    }
}

fn subnet(ground: &Topology, machine: &Name) -> Result<String, Issue> {
    let mut subnets =
        ground.of(machine.as_str()).flat_map(|nic| &nic.addresses).filter_map(|one| one.subnet.clone());
    subnets.next().ok_or_else(|| {
        Issue::hinted(
            format!("no interface of {machine} is in a known subnet"),
            "look at the spelling with topology",
        )
    })
}

fn facts(document: &str, ground: &Topology, subnet: Option<&str>, seen: &mut Seen) {
    let value: Value = serde_json::from_str(document).unwrap_or_default();
    let rules = value.get("networkRuleSet").or_else(|| value.get("networkAcls")).cloned().unwrap_or_default();
    let word = |name: &str| rules.get(name).and_then(Value::as_str).map(plain);
    seen.fact("default_action", word("defaultAction"));
    seen.fact(
        "bypass",
        rules
            .get("bypass")
            .and_then(Value::as_str)
            .map(|text| text.replace(", ", ","))
            .map(|text| text.split(',').map(plain).collect::<Vec<_>>().join(",")),
    );
    if let Some(path) = subnet {
        let endpoints =
            ground.subnet(path).map(|subnet| subnet.service_endpoints.iter().map(|one| plain(one)).collect());
        let endpoints: Vec<String> = endpoints.unwrap_or_default();
        let name: Vec<String> = path.split('/').map(plain).collect();
        seen.fact("subnet", json!({"name": name.join("/"), "endpoints": endpoints}));
    }
    seen.line(&rules.to_string());
}
