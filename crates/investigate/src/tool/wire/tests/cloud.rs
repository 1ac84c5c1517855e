//! A cloud that fits a test: captures, files, two machines, and what `az` says of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

#[derive(Default)]
pub(super) struct Cloud {
    pub(super) captures: BTreeMap<String, (String, String)>,
    pub(super) blobs: Vec<String>,
    /// What a human would not have.
    pub(super) denied: &'static str,
    /// The size of both machines.
    pub(super) size: &'static str,
    pub(super) up: bool,
    pub(super) log: String,
}

fn value(command: &str, option: &str) -> String {
    let mut words = command.split_whitespace().skip_while(|word| *word != option);
    words.nth(1).unwrap_or_default().trim_matches(['\'', '"']).to_owned()
}

impl Cloud {
    /// Says whether anything of ours is left.
    pub(super) fn is_clean(&self) -> bool {
        self.captures.is_empty() && self.blobs.is_empty()
    }

    /// Does what a command says, or what a human says to it.
    pub(super) fn run(&mut self, command: &str) -> Result<String, String> {
        if !self.denied.is_empty() && command.contains(self.denied) {
            return Err("not now".to_owned());
        }
        let name = value(command, "--name");
        let has = |word: &str| command.contains(word);
        let printed = if has("run-command") {
            let text = self.guest(command);
            json!({"value": [{"code": "ProvisioningState/succeeded",
                "message": format!("Enable succeeded: \n[stdout]\n{text}\n[stderr]\n")}]})
        } else if has("az vm show") {
            json!({"location": "eastus", "powerState": "VM running"})
        } else if has("extension list") {
            json!([{"publisher": "Microsoft.Azure.NetworkWatcher", "typePropertiesType": "NetworkWatcherAgentLinux",
                "provisioningState": "Succeeded"}])
        } else if has("az network watcher list") {
            json!([{"location": "eastus"}])
        } else if has("packet-capture list") {
            let all = self.captures.iter().map(|(name, (machine, path))| {
                json!({"name": name, "provisioningState": "Succeeded", "storageLocation": {"storagePath": path},
                    "target": format!("/subscriptions/x/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/{machine}")})
            });
            all.collect()
        } else if has("packet-capture show-status") {
            json!({"packetCaptureStatus": "Stopped", "packetCaptureError": []})
        } else if has("account show") {
            json!({"allowSharedKeyAccess": true, "networkRuleSet": {"defaultAction": "Allow"}})
        } else if has("container exists") {
            json!({"exists": true})
        } else if has("blob exists") {
            json!({"exists": self.blobs.contains(&name)})
        } else if has("packet-capture create") {
            self.captures.insert(name.clone(), (value(command, "--vm"), value(command, "--storage-path")));
            self.blobs.push(format!("{name}.cap"));
            json!({"provisioningState": "Succeeded"})
        } else if has("blob list") {
            self.blobs.iter().map(|blob| json!({"name": blob, "properties": {"contentLength": 24}})).collect()
        } else if has("packet-capture delete") {
            self.captures.remove(&name);
            Value::Null
        } else if has("blob delete") {
            self.blobs.retain(|blob| *blob != name);
            Value::Null
        } else if has("az vm list") {
            json!(
                ["web-1", "db-1"].map(|name| json!({"name": name, "hardwareProfile": {"vmSize": self.size}}))
            )
        } else if has("nic list ") {
            json!([("web-1", "10.0.1.4"), ("db-1", "10.0.1.5")].map(|(name, address)| json!({
                "name": format!("{name}-nic"), "id": "/subscriptions/x/resourceGroups/rg/x",
                "virtualMachine": {"id": format!("/subscriptions/x/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/{name}")},
                "ipConfigurations": [{"privateIPAddress": address,
                    "subnet": {"id": "/subscriptions/x/virtualNetworks/v1/subnets/default"}}]})))
        } else if has("list-effective-nsg") {
            let rule = |direction: &str| {
                json!({"name": "securityRules/all", "priority": 400, "direction": direction,
                "access": "Allow", "protocol": "All", "sourceAddressPrefix": "0.0.0.0/0",
                "destinationAddressPrefix": "0.0.0.0/0", "sourcePortRange": "0-65535", "destinationPortRange": "0-65535"})
            };
            json!({"value": [{"networkSecurityGroup": {"id": "/x/networkSecurityGroups/nsg"},
                "association": {"networkInterface": {"id": "/x/nic"}},
                "effectiveSecurityRules": [rule("Inbound"), rule("Outbound")]}]})
        } else {
            json!({})
        };
        Ok(printed.to_string())
    }

    fn guest(&mut self, command: &str) -> String {
        if command.contains("ghost-meter look") || command.contains("meter-look") {
            return "ghost-meter look\ntool qperf\ntool iperf\niperf iperf version 2.1.8 (12 August 2022) pthreads\nghost-meter end 0\n".to_owned();
        }
        if command.contains("kill -KILL") {
            self.up = false;
        } else if command.contains("setsid") {
            self.up = true;
        } else if command.contains("tcp_lat") {
            return "tcp_lat:\n    latency  =  124 us\nghost-meter end 0\n".to_owned();
        } else if command.contains("iperf -c") {
            self.log.push_str("[SUM] 0.0000-10.01 sec  2.27 GBytes  1.95 Gbits/sec\n");
            return "[SUM] 0.0-10.0 sec  2.4 GBytes  2.1 Gbits/sec\nghost-meter end 0\n".to_owned();
        } else if let Some((_, rest)) = command.split_once("ghost-meter report ") {
            let from: usize = rest.split(' ').next().unwrap().parse().unwrap();
            let (length, new) = (self.log.len(), &self.log[from..]);
            return format!("ghost-meter report {from} {length}\n{new}ghost-meter end 0\n");
        }
        "ghost-meter end 0\n".to_owned()
    }
}
