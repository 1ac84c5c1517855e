//! What is added to the estate before anything goes wrong.

use serde_json::{Value, json};

use super::make::Maker;
use super::step::{PlanAction, PlanStep};
use crate::case::model::Case;

impl Maker {
    /// Adds machines, public addresses and documents.
    pub(super) fn estate(&mut self, case: &Case) {
        for change in &case.changes {
            let path = self.view.path(&change.put);
            let undo = vec![PlanAction::Delete { path: path.clone() }];
            let parts: Vec<&str> = change.below().split('/').collect();
            let kind: Vec<&str> = parts
                .iter()
                .enumerate()
                .filter(|(at, _)| *at == 0 || at % 2 == 1)
                .map(|(_, part)| *part)
                .collect();
            self.view.add(&kind.join("/"), &path, change.body.clone());
            self.prepare(
                format!("{} is put", change.put),
                vec![PlanAction::Put { path, body: change.body.clone() }],
                undo,
            );
        }
        for vm in &case.vms {
            if self.view.vm(&vm.name).is_some() {
                self.wrong(format!("there is a machine `{}` already", vm.name), "choose another name");
                continue;
            }
            if self.view.subnet(&vm.subnet).is_none() {
                self.wrong(
                    format!("there is no subnet `{}`", vm.subnet),
                    "write VNET/SUBNET of one that is there",
                );
            }
            if self.view.owned(vm.address) {
                self.wrong(format!("{} is taken", vm.address), "choose an address that no interface has");
            }
            let (mut acts, mut undo) = (Vec::new(), Vec::new());
            for (kind, path, body) in self.view.machine(vm) {
                self.view.add(kind, &path, body.clone());
                undo.push(PlanAction::Delete { path: path.clone() });
                acts.push(PlanAction::Put { path, body });
            }
            // The interface goes first: its machine uses it.
            undo.reverse();
            self.prepare(format!("the machine {} at {}", vm.name, vm.address), acts, undo);
        }
        for public in &case.publics {
            let Some(nic) = self.view.nics(&public.vm).into_iter().next() else {
                self.absent("machine", &public.vm, "Microsoft.Compute/virtualMachines");
                continue;
            };
            let path = self.view.path(&format!("Microsoft.Network/publicIPAddresses/{}", public.name));
            let nic = self.view.path(&format!("Microsoft.Network/networkInterfaces/{nic}"));
            let family = if public.address.is_ipv6() { "IPv6" } else { "IPv4" };
            let body = json!({"location": self.view.location(), "sku": {"name": "Standard", "tier": "Regional"}, "properties": {
                "ipAddress": public.address, "publicIPAllocationMethod": "Static", "publicIPAddressVersion": family,
                "idleTimeoutInMinutes": 4, "ipTags": [],
                "ipConfiguration": {"id": format!("{nic}/ipConfigurations/ipconfig1")}}});
            let field = "/properties/ipConfigurations/0/properties/publicIPAddress".to_owned();
            let set = |value: Value| PlanAction::Set { path: nic.clone(), field: field.clone(), value };
            let acts = vec![PlanAction::Put { path: path.clone(), body }, set(json!({"id": path}))];
            let undo = vec![set(Value::Null), PlanAction::Delete { path: path.clone() }];
            self.prepare(format!("the public address {} of {}", public.address, public.vm), acts, undo);
        }
    }

    fn prepare(&mut self, what: String, acts: Vec<PlanAction>, undo: Vec<PlanAction>) {
        self.steps.push(PlanStep { what, faults: Vec::new(), acts, undo });
    }
}
