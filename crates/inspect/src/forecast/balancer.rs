//! Edits of load balancers: frontends, pools with their members, rules and probes.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use super::documents::{body, is_named, items, list_mut};
use super::draft::{Done, Draft, unread};
use super::edit::{Edit, Target};
use super::name::{last, part_after};
use crate::net::Fields as _;

/// A list of a load balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BalancerList {
    /// Addresses at which it takes connections.
    Frontends,
    /// Those among whom it chooses.
    Pools,
    /// What goes where.
    Rules,
    /// What goes to one machine.
    NatRules,
    /// How it asks whether a member answers.
    Probes,
    /// Who leaves by it.
    OutboundRules,
}

impl BalancerList {
    pub(super) const ALL: [Self; 6] =
        [Self::Frontends, Self::Pools, Self::Rules, Self::NatRules, Self::Probes, Self::OutboundRules];

    /// Returns its field in the platform's documents.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Frontends => "frontendIPConfigurations",
            Self::Pools => "backendAddressPools",
            Self::Rules => "loadBalancingRules",
            Self::NatRules => "inboundNatRules",
            Self::Probes => "probes",
            Self::OutboundRules => "outboundRules",
        }
    }
}

impl fmt::Display for BalancerList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Frontends => "frontend",
            Self::Pools => "pool",
            Self::Rules => "rule",
            Self::NatRules => "translation",
            Self::Probes => "probe",
            Self::OutboundRules => "outbound rule",
        })
    }
}

/// Returns the edit that gives a load balancer all lists of a document.
pub(super) fn whole(name: &str, row: &Value) -> Edit {
    let lists = BalancerList::ALL.map(|list| (list, items(row, list.field()).cloned().collect()));
    Edit::PutBalancer { balancer: name.to_owned(), lists: BTreeMap::from(lists) }
}

/// Returns the name of a part of a load balancer, and of the balancer, by the part's id.
pub(super) fn part_of(id: &str) -> Option<(String, String)> {
    Some((part_after(id, "loadBalancers")?, last(id)?))
}

/// Writes a reference to another part of the same load balancer.
pub(super) fn reference(balancer: &str, list: BalancerList, name: &str) -> Value {
    json!({"id": format!("/loadBalancers/{balancer}/{}/{name}", list.field())})
}

impl Draft {
    pub(super) fn put_balancer(
        &mut self,
        balancer: &str,
        lists: &BTreeMap<BalancerList, Vec<Value>>,
    ) -> Done {
        // A new one is beside what was read; of an old one nothing is known where nobody has read it.
        let Some(rows) = self.balancers.read_mut() else { return unread(target(balancer)) };
        if !rows.iter().any(|row| is_named(row, balancer)) {
            rows.push(
                json!({"name": balancer, "loadBalancingRules": [], "probes": [], "backendAddressPools": []}),
            );
        }
        let Some(row) = self.balancers.named_mut(balancer) else { return unread(target(balancer)) };
        for (list, parts) in lists {
            let Some(own) = list_mut(row, list.field()) else { return unread(target(balancer)) };
            *own = merged(*list, own, parts);
        }
        Ok(())
    }

    pub(super) fn delete_balancer(&mut self, balancer: &str) -> Done {
        let Some(rows) = self.balancers.read_mut() else { return unread(target(balancer)) };
        rows.retain(|row| !is_named(row, balancer));
        Ok(())
    }

    pub(super) fn put_part(&mut self, balancer: &str, list: BalancerList, part: &Value) -> Done {
        let name = part.text("name").unwrap_or_default().to_owned();
        let own = self.part_list(balancer, list)?;
        let known = merged(list, own, std::slice::from_ref(part));
        own.retain(|row| !is_named(row, &name));
        own.extend(known);
        Ok(())
    }

    pub(super) fn delete_part(&mut self, balancer: &str, list: BalancerList, name: &str) -> Done {
        self.part_list(balancer, list)?.retain(|row| !is_named(row, name));
        Ok(())
    }

    /// Puts an interface into a pool, or takes it out.
    pub(super) fn set_member(&mut self, balancer: &str, pool: &str, nic: &str, is_in: bool) -> Done {
        let pools = self.part_list(balancer, BalancerList::Pools)?;
        let Some(pool) = pools.iter_mut().find(|row| is_named(row, pool)) else {
            return Err((target(balancer), format!("the pool {pool} was not read")));
        };
        let is_own = |row: &Value| {
            let by = body(row).field("networkInterfaceIPConfiguration").unwrap_or(row);
            let id = by.text("id").and_then(|id| part_after(id, "networkInterfaces"));
            id.is_some_and(|own| own.eq_ignore_ascii_case(nic))
        };
        for field in ["loadBalancerBackendAddresses", "backendIPConfigurations"] {
            if let Some(list) = list_mut(pool, field) {
                list.retain(|row| !is_own(row));
            }
        }
        if let Some(list) = list_mut(pool, "backendIPConfigurations").filter(|_| is_in) {
            list.push(json!({"id": format!("/networkInterfaces/{nic}/ipConfigurations/1")}));
        }
        Ok(())
    }

    fn part_list(&mut self, balancer: &str, list: BalancerList) -> Result<&mut Vec<Value>, (Target, String)> {
        let lost = || (target(balancer), format!("{} was not read", target(balancer)));
        let row = self.balancers.named_mut(balancer).ok_or_else(lost)?;
        list_mut(row, list.field()).ok_or_else(lost)
    }

    /// Returns a part of a load balancer, where it was read.
    pub(super) fn part(&self, balancer: &str, list: BalancerList, name: &str) -> Option<&Value> {
        items(self.balancers.named(balancer)?, list.field()).find(|row| is_named(row, name))
    }
}

fn target(balancer: &str) -> Target {
    Target::Balancer(balancer.to_owned())
}

/// Returns the new parts of a list. Who is in a pool stands at the interfaces, so that whoever writes a pool anew leaves its members.
fn merged(list: BalancerList, old: &[Value], new: &[Value]) -> Vec<Value> {
    let with_members = |part: &Value| {
        let mut part = part.clone();
        let known = part.text("name").and_then(|name| old.iter().find(|row| is_named(row, name)));
        for field in ["backendIPConfigurations", "loadBalancerBackendAddresses"] {
            let kept: Vec<Value> =
                known.map(|known| items(known, field).cloned().collect()).unwrap_or_default();
            let is_bare = items(&part, field).next().is_none();
            if let Some(own) = list_mut(&mut part, field).filter(|_| is_bare) {
                *own = kept;
            }
        }
        part
    };
    match list {
        BalancerList::Pools => new.iter().map(with_members).collect(),
        BalancerList::Frontends
        | BalancerList::Rules
        | BalancerList::NatRules
        | BalancerList::Probes
        | BalancerList::OutboundRules => new.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::{Difference, Forecast, Scope, command, forecast, terraform, undo, what_if};
    use crate::path::Bundle;
    use crate::path::tests::draft::Draft as Estate;

    const FRONT: &str = "10.0.2.100";

    /// A caller, and two servers on 8443 behind a load balancer.
    fn shop() -> Bundle {
        let estate = Estate::default()
            .network("app", "10.0.0.0/16", &[("web", "10.0.1.0/24"), ("api", "10.0.2.0/24")])
            .machine("web", "10.0.1.4", "app/web")
            .machine("api-1", "10.0.2.4", "app/api")
            .machine("api-2", "10.0.2.5", "app/api");
        estate
            .listens("api-1", "0.0.0.0:8443")
            .listens("api-2", "0.0.0.0:8443")
            .balanced(FRONT, 8443, &["api-1", "api-2"])
            .bundle()
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn of_command(bundle: &Bundle, text: &str) -> Forecast {
        forecast(bundle, &command(&words(text), bundle).unwrap(), &Scope::default())
    }

    /// Lists what differs of the flows to the frontend.
    fn said(found: &Forecast) -> Vec<String> {
        let is_front = |one: &&Difference| one.to == FRONT;
        let one = |one: &Difference| {
            let port = one.flow.dst_port.unwrap_or_default();
            format!("{} {}:{port} {}", one.verdict, one.from, one.cause.clone().unwrap_or_default())
        };
        found.flows.iter().filter(is_front).map(one).collect()
    }

    #[test]
    fn a_rule_that_is_deleted_cuts_and_one_that_is_created_opens() {
        let gone = of_command(&shop(), "az network lb rule delete -g rg --lb-name lb -n in");
        assert!(
            said(&gone).contains(&"cut web:8443 lb_rule_missing lb/lb/front/tcp/8443".to_owned()),
            "{gone:?}"
        );
        assert!(gone.is_bad() && !gone.is_open(), "{:?}", gone.unknown);
        let line = "az network lb rule create -g rg --lb-name lb -n more --protocol Tcp --frontend-port 443 --backend-port 8443 \
                    --frontend-ip front --backend-pool-name pool --probe alive";
        let more = of_command(&shop(), line);
        assert!(said(&more).iter().any(|line| line.starts_with("opened web:443")), "{:?}", said(&more));
        assert!(!more.is_bad() && !more.is_open());
    }

    #[test]
    fn the_last_member_that_leaves_the_pool_cuts_and_the_command_is_taken_back() {
        let line = |nic: &str, verb: &str| {
            format!(
                "az network nic ip-config address-pool {verb} -g rg --nic-name {nic} --ip-config-name ip0 --lb-name lb --address-pool pool"
            )
        };
        let both = shop();
        assert_eq!(said(&of_command(&both, &line("api-1-nic", "remove"))), Vec::<String>::new());
        let one =
            crate::forecast::applied(&both, &command(&words(&line("api-1-nic", "remove")), &both).unwrap()).0;
        let last = of_command(&one, &line("api-2-nic", "remove"));
        assert!(
            said(&last).contains(&"cut web:8443 lb_backend_empty lb/lb/pool".to_owned()),
            "{:?}",
            said(&last)
        );
        assert_eq!(undo(&words(&line("api-1-nic", "remove")), &both), Some(words(&line("api-1-nic", "add"))));
        assert_eq!(undo(&words(&line("api-1-nic", "remove")), &one), None, "it is not in the pool");
    }

    #[test]
    fn what_nobody_carries_out_makes_the_load_balancer_unknown() {
        let found = of_command(&shop(), "az network lb probe update -g rg --lb-name lb -n alive --port 9");
        assert!(found.is_open() && !found.is_bad());
        assert!(said(&found).contains(&"not known web:8443 ".to_owned()), "{:?}", said(&found));
        let mut unread = shop();
        unread.cloud.load_balancers = None;
        let found = of_command(&unread, "az network lb rule delete -g rg --lb-name lb -n in");
        assert_eq!(found.unknown[0].why, "the load balancer lb was not read");
    }

    #[test]
    fn plans_of_both_kinds_move_a_probe_to_a_port_that_nobody_serves() {
        let id = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/lb";
        let probe =
            |port: u16| json!({"name": "alive", "loadbalancer_id": id, "protocol": "Tcp", "port": port});
        let plan = json!({"format_version": "1.2", "resource_changes": [
            {"address": "azurerm_lb_probe.alive", "type": "azurerm_lb_probe",
                "change": {"actions": ["update"], "before": probe(8443), "after": probe(9), "after_unknown": {}}}]});
        let edits = terraform(&plan.to_string()).unwrap().edits;
        let found = forecast(&shop(), &edits, &Scope::default());
        assert!(said(&found).contains(&"cut web:8443 lb_probe_mismatch lb/lb/alive".to_owned()), "{found:?}");
        let Some(crate::path::Reading::Text(text)) = shop().cloud.load_balancers else {
            panic!("no load balancers")
        };
        let mut rows: Vec<Value> = serde_json::from_str(&text).unwrap();
        *rows[0].pointer_mut("/properties/probes/0/properties/port").unwrap() = json!(9);
        let plan = json!({"changes": [{"resourceId": id, "changeType": "Modify", "after": rows[0]}]});
        let plan = what_if(&plan.to_string()).unwrap();
        assert!(plan.ignored.is_empty(), "{:?}", plan.ignored);
        let found = forecast(&shop(), &plan.edits, &Scope::default());
        assert!(said(&found).contains(&"cut web:8443 lb_probe_mismatch lb/lb/alive".to_owned()), "{found:?}");
    }

    #[test]
    fn what_is_not_judged_is_unknown_by_name_and_reason() {
        for (line, what) in [
            ("az network firewall update -g rg -n fw", "firewall update fw: what this change of a firewall"),
            ("az network vnet-gateway update -g rg -n gw", "vnet-gateway update gw: what a gateway"),
            ("az network nat gateway delete -g rg -n out", "nat gateway delete out: what a NAT gateway"),
            (
                "az network private-endpoint delete -g rg -n pe",
                "private-endpoint delete pe: what a private endpoint",
            ),
            ("az network public-ip update -g rg -n ip", "public-ip update ip: what a public address"),
        ] {
            let found = of_command(&shop(), line);
            assert!(found.is_open() && !found.is_bad() && found.flows.is_empty(), "{line}");
            let said = format!("{}: {}", found.unknown[0].what, found.unknown[0].why);
            assert!(said.contains(what) && said.ends_with("does to flows is not judged"), "{said}");
        }
        let change = |kind: &str| {
            json!({"address": format!("{kind}.x"), "type": kind,
                "change": {"actions": ["update"], "before": {"name": "x"}, "after": {"name": "x"}, "after_unknown": {}}})
        };
        for kind in [
            "azurerm_firewall",
            "azurerm_virtual_network_gateway",
            "azurerm_nat_gateway",
            "azurerm_public_ip",
            "azurerm_network_interface_application_security_group_association",
        ] {
            let plan = json!({"format_version": "1.2", "resource_changes": [change(kind)]});
            let plan = terraform(&plan.to_string()).unwrap();
            assert_eq!(plan.ignored, [format!("{kind}.x")]);
            assert!(forecast(&shop(), &plan.edits, &Scope::default()).is_open(), "{kind}");
        }
    }
}
