//! Resources by their ids.

/// A resource: what it belongs to, and what it is within that. Names keep their letters; comparisons do not see them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// The id, as the log writes it.
    pub id: String,
    /// The resource group, where it is in one.
    pub group: Option<String>,
    /// Its kind and name, behind those of what it is part of: `networkSecurityGroups a`, `securityRules r`.
    pub chain: Vec<(String, String)>,
}

/// Longer ids are none.
const MAX_ID_CHARS: usize = 2048;

impl Resource {
    /// Reads an id.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        let id = id.trim();
        if id.is_empty() || id.len() > MAX_ID_CHARS || id.chars().any(char::is_control) {
            return None;
        }
        let parts: Vec<&str> = id.split('/').filter(|part| !part.is_empty()).collect();
        let (mut group, mut chain, mut at) = (None, Vec::new(), 0);
        while let Some(kind) = parts.get(at) {
            let name = parts.get(at + 1).copied();
            match kind.to_ascii_lowercase().as_str() {
                "subscriptions" | "providers" => {}
                "resourcegroups" => group = name.map(str::to_owned),
                _ => chain.push(((*kind).to_owned(), name.unwrap_or_default().to_owned())),
            }
            at += 2;
        }
        Some(Self { id: id.to_owned(), group, chain })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.chain.last().map_or_else(|| self.group.as_deref().unwrap_or(&self.id), |(_, name)| name)
    }

    /// Returns what it is called as the object of a finding, where such an object can be at fault: `nsg/a/r`.
    #[must_use]
    pub fn object(&self) -> Option<String> {
        let chain: Vec<(String, &str)> =
            self.chain.iter().map(|(kind, name)| (kind.to_ascii_lowercase(), name.as_str())).collect();
        let parts: Vec<(&str, &str)> = chain.iter().map(|(kind, name)| (kind.as_str(), *name)).collect();
        Some(match parts.as_slice() {
            [("networksecuritygroups", nsg), ("securityrules", rule)] => format!("nsg/{nsg}/{rule}"),
            [("routetables", table), ("routes", route)] => format!("route/{table}/{route}"),
            [("virtualnetworks", network), ("virtualnetworkpeerings", peering)] => {
                format!("peering/{network}/{peering}")
            }
            [("virtualnetworks", network), ("subnets", subnet)] => format!("subnet/{network}/{subnet}"),
            [("virtualmachines", machine), ..] => format!("machine/{machine}"),
            [("storageaccounts", account)] => format!("storage/{account}"),
            _ => return None,
        })
    }

    /// Returns its name as people say it: `rule r of a`.
    #[must_use]
    pub fn words(&self) -> String {
        let Some(((kind, name), before)) = self.chain.split_last() else {
            return match &self.group {
                Some(group) => format!("resource group {group}"),
                None => self.id.clone(),
            };
        };
        let noun = noun(kind);
        match before.last() {
            Some((_, parent)) => format!("{noun} {name} of {parent}"),
            None => format!("{noun} {name}"),
        }
    }
}

/// Returns what a kind is called; one that is not known by its own name.
fn noun(kind: &str) -> String {
    let known = match kind.to_ascii_lowercase().as_str() {
        "networksecuritygroups" => "security group",
        "securityrules" => "rule",
        "routetables" => "route table",
        "routes" => "route",
        "virtualnetworks" => "network",
        "virtualnetworkpeerings" => "peering",
        "subnets" => "subnet",
        "networkinterfaces" => "interface",
        "virtualmachines" => "machine",
        "storageaccounts" => "storage account",
        "loadbalancers" => "load balancer",
        "publicipaddresses" => "public address",
        "privateendpoints" => "private endpoint",
        "privatednszones" => "private zone",
        "natgateways" => "NAT gateway",
        "azurefirewalls" => "firewall",
        "connections" => "connection",
        "localnetworkgateways" => "local network gateway",
        "expressroutecircuits" => "circuit",
        "applicationgateways" => "application gateway",
        _ => return kind.to_owned(),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/app-nsg/securityRules/deny-db";

    #[test]
    fn an_id_names_what_it_is_part_of() {
        let rule = Resource::parse(RULE).unwrap();
        assert_eq!((rule.name(), rule.group.as_deref()), ("deny-db", Some("g")));
        assert_eq!(rule.words(), "rule deny-db of app-nsg");
        assert_eq!(rule.object().as_deref(), Some("nsg/app-nsg/deny-db"));
        assert_eq!(
            Resource::parse(&RULE.to_lowercase()).unwrap().object().as_deref(),
            Some("nsg/app-nsg/deny-db")
        );
    }

    #[test]
    fn an_odd_id_is_kept_or_none() {
        assert_eq!(Resource::parse("/subscriptions/s/resourceGroups/g").unwrap().words(), "resource group g");
        assert_eq!(Resource::parse("/subscriptions/s").unwrap().words(), "/subscriptions/s");
        assert_eq!(Resource::parse("/x/y/z").unwrap().name(), "");
        assert!(Resource::parse("").is_none() && Resource::parse("/a\nb").is_none());
        assert!(Resource::parse(&"/a".repeat(5000)).is_none());
    }
}
