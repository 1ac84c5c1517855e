//! An estate, looked at.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::case::model::Vm;

const NETWORK: &str = "Microsoft.Network";

/// The documents of an estate.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    group: String,
    documents: Vec<Value>,
}

impl View {
    /// Examines documents in the resource manager's form. The group is the one in which the first machine is.
    #[must_use]
    pub fn new(documents: Vec<Value>) -> Self {
        let id = |document: &Value| document.get("id").and_then(Value::as_str).map(str::to_owned);
        let first = documents.iter().find(|document| is(document, "Microsoft.Compute/virtualMachines"));
        let network = documents.iter().find(|document| is(document, "Microsoft.Network/virtualNetworks"));
        let group = first.or(network).and_then(id).unwrap_or_default();
        let end = group.find("/providers/").unwrap_or(group.len());
        Self { group: group.get(..end).unwrap_or_default().to_owned(), documents }
    }

    /// Returns the path of something below the group: `Microsoft.Network/routeTables/x`. What begins as an id is one.
    #[must_use]
    pub fn path(&self, rest: &str) -> String {
        if rest.starts_with("/subscriptions/") {
            rest.to_owned()
        } else {
            format!("{}/providers/{rest}", self.group)
        }
    }

    /// Returns the path of something that may be there already, in whichever group.
    pub(super) fn known(&self, kind: &str, name: &str) -> String {
        let known = self.named(kind, name).and_then(|document| text(document, "/id"));
        known.map_or_else(|| self.path(&format!("{kind}/{name}")), str::to_owned)
    }

    /// Returns a document of a kind by its name.
    pub(super) fn named(&self, kind: &str, name: &str) -> Option<&Value> {
        self.documents
            .iter()
            .filter(|document| is(document, kind))
            .find(|document| text(document, "/name").is_some_and(|found| found.eq_ignore_ascii_case(name)))
    }

    fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.documents.iter().filter(move |document| is(document, kind))
    }

    /// Returns the names of a kind.
    pub(super) fn names(&self, kind: &str) -> Vec<&str> {
        self.documents
            .iter()
            .filter(|document| is(document, kind))
            .filter_map(|document| text(document, "/name"))
            .collect()
    }

    pub(super) fn vm(&self, name: &str) -> Option<&Value> {
        self.named("Microsoft.Compute/virtualMachines", name)
    }

    /// Returns the names of a machine's interfaces.
    #[must_use]
    pub fn nics(&self, vm: &str) -> Vec<String> {
        let list = self.vm(vm).and_then(|vm| vm.pointer("/properties/networkProfile/networkInterfaces"));
        let ids = list.and_then(Value::as_array).into_iter().flatten().filter_map(|nic| text(nic, "/id"));
        ids.filter_map(|id| id.rsplit('/').next().map(str::to_owned)).collect()
    }

    pub(super) fn nic(&self, name: &str) -> Option<&Value> {
        self.named("Microsoft.Network/networkInterfaces", name)
    }

    /// Returns the first address of a machine.
    #[must_use]
    pub fn address(&self, vm: &str) -> Option<IpAddr> {
        let nic = self.nics(vm);
        let nic = self.nic(nic.first()?)?;
        text(nic, "/properties/ipConfigurations/0/properties/privateIPAddress")?.parse().ok()
    }

    /// Tells whether an interface has an address.
    #[must_use]
    pub fn owned(&self, address: IpAddr) -> bool {
        self.of("Microsoft.Network/networkInterfaces").any(|nic| {
            let list = nic.pointer("/properties/ipConfigurations").and_then(Value::as_array);
            list.into_iter().flatten().any(|configuration| {
                text(configuration, "/properties/privateIPAddress").and_then(|found| found.parse().ok())
                    == Some(address)
            })
        })
    }

    /// Returns a subnet that is written `VNET/SUBNET`, with its path.
    pub(super) fn subnet(&self, place: &str) -> Option<(String, &Value)> {
        let (vnet, subnet) = place.split_once('/')?;
        let vnet = self.named("Microsoft.Network/virtualNetworks", vnet)?;
        let list = vnet.pointer("/properties/subnets").and_then(Value::as_array)?;
        let found = list
            .iter()
            .find(|found| text(found, "/name").is_some_and(|name| name.eq_ignore_ascii_case(subnet)))?;
        Some((text(found, "/id")?.to_owned(), found))
    }

    /// Returns where most of it is.
    pub(super) fn location(&self) -> &str {
        let vnet = self.of("Microsoft.Network/virtualNetworks").next();
        vnet.and_then(|vnet| text(vnet, "/location")).unwrap_or("eastus")
    }

    /// Adds a document.
    pub(super) fn add(&mut self, kind: &str, path: &str, mut document: Value) {
        if let Some(map) = document.as_object_mut() {
            map.insert("type".to_owned(), json!(kind));
            map.insert("id".to_owned(), json!(path));
            map.insert("name".to_owned(), json!(path.rsplit('/').next()));
        }
        self.documents.push(document);
    }

    /// Returns the documents of a machine and its interface.
    pub(super) fn machine(&self, vm: &Vm) -> [(&'static str, String, Value); 2] {
        let nic = self.path(&format!("{NETWORK}/networkInterfaces/{}-nic", vm.name));
        let own = self.path(&format!("Microsoft.Compute/virtualMachines/{}", vm.name));
        let (vnet, subnet) = vm.subnet.split_once('/').unwrap_or_default();
        let subnet = self.path(&format!("{NETWORK}/virtualNetworks/{vnet}/subnets/{subnet}"));
        let family = if vm.address.is_ipv6() { "IPv6" } else { "IPv4" };
        let tail = match vm.address {
            IpAddr::V4(address) => address.octets(),
            IpAddr::V6(address) => {
                let [.., a, b, c, d] = address.octets();
                [a, b, c, d]
            }
        };
        let [_, b, c, d] = tail;
        let mac = format!("00-0D-3A-{b:02X}-{c:02X}-{d:02X}");
        let mut interface = json!({"location": self.location(), "tags": {}, "kind": "Regular", "properties": {
            "ipConfigurations": [{"name": "ipconfig1", "id": format!("{nic}/ipConfigurations/ipconfig1"),
                "type": "Microsoft.Network/networkInterfaces/ipConfigurations", "properties": {
                    "provisioningState": "Succeeded", "privateIPAddress": vm.address, "privateIPAllocationMethod": "Dynamic",
                    "subnet": {"id": subnet}, "primary": true, "privateIPAddressVersion": family}}],
            "dnsSettings": {"dnsServers": [], "appliedDnsServers": []}, "macAddress": mac,
            "enableAcceleratedNetworking": false, "enableIPForwarding": vm.forwards, "primary": true,
            "hostedWorkloads": [], "tapConfigurations": [], "nicType": "Standard"}});
        if let (Some(nsg), Some(properties)) =
            (&vm.nsg, interface.get_mut("properties").and_then(Value::as_object_mut))
        {
            let id = self.path(&format!("{NETWORK}/networkSecurityGroups/{nsg}"));
            properties.insert("networkSecurityGroup".to_owned(), json!({"id": id}));
        }
        let machine = json!({"location": self.location(), "tags": {}, "properties": {
            "hardwareProfile": {"vmSize": "Standard_B2s"},
            "osProfile": {"computerName": vm.name, "adminUsername": "azureuser"},
            "storageProfile": {"osDisk": {"osType": "Linux"}},
            "networkProfile": {"networkInterfaces": [{"id": nic, "properties": {"primary": true}}]}}});
        // The machine that lists an interface makes it its own.
        [
            ("Microsoft.Network/networkInterfaces", nic, interface),
            ("Microsoft.Compute/virtualMachines", own, machine),
        ]
    }
}

fn is(document: &Value, kind: &str) -> bool {
    text(document, "/type").is_some_and(|found| found.eq_ignore_ascii_case(kind))
}

/// Returns a text in a document.
pub(super) fn text<'a>(document: &'a Value, pointer: &str) -> Option<&'a str> {
    document.pointer(pointer).and_then(Value::as_str)
}
