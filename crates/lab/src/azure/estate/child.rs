//! Resources that live inside the document of another one.

/// Returns the list below `properties` in which children of a kind stand; nothing where they are documents of their own.
pub(super) fn list_of(parent: &str, child: &str) -> Option<&'static str> {
    let parent = parent.rsplit('/').next().unwrap_or(parent);
    Some(match (parent, child) {
        ("networksecuritygroups", "securityrules") => "securityRules",
        ("networksecuritygroups", "defaultsecurityrules") => "defaultSecurityRules",
        ("virtualnetworks", "subnets") => "subnets",
        ("virtualnetworks", "virtualnetworkpeerings") => "virtualNetworkPeerings",
        ("routetables", "routes") => "routes",
        ("networkinterfaces", "ipconfigurations") => "ipConfigurations",
        _ => return None,
    })
}
