//! What to do where a rule of its subnet's group keeps a service of the platform from whom it needs.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};
use ghost_inspect::nsg::Direction;
use ghost_inspect::path::{KeptOut, NeededPeer, PlatformService};

/// Lets it have what it does not work without.
pub(super) fn needed(
    context: &PlaybookContext<'_>,
    group: &str,
    (nsg, rule): (&str, &str),
    kept: &KeptOut,
) -> Fix {
    let tag = kept.peer.tag();
    let ports = match kept.ports {
        (0, u16::MAX) => "'*'".to_owned(),
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    let name = match kept.peer {
        NeededPeer::Manager => "allow-gateway-manager",
        NeededPeer::LoadBalancer => "allow-azure-load-balancer",
        NeededPeer::Users => "allow-bastion-users",
        NeededPeer::Cloud => "allow-azure-cloud",
    };
    let (source, destination) = match (kept.direction, kept.peer) {
        // Only who owns it knows from where people use it.
        (Direction::Inbound, NeededPeer::Users) => ("YOUR_USERS", "'*'"),
        (Direction::Inbound, NeededPeer::Manager | NeededPeer::LoadBalancer | NeededPeer::Cloud) => {
            (tag, "'*'")
        }
        (Direction::Outbound, _) => ("'*'", tag),
    };
    let direction = match kept.direction {
        Direction::Inbound => "Inbound",
        Direction::Outbound => "Outbound",
    };
    let (what, protocol, risk) = match kept.service {
        PlatformService::AppGateway(_) => (
            format!(
                "Let {} into the subnet of the gateway before {rule} of {nsg}: a gateway does not work without.",
                kept.whom()
            ),
            "'*'",
            "nobody but the platform comes in by it.",
        ),
        PlatformService::Bastion(_) => (
            format!(
                "Let {tag} on port {ports} pass before {rule} of {nsg}: a bastion host does not work without."
            ),
            "Tcp",
            "only the subnet of the bastion host is touched.",
        ),
    };
    Fix {
        what,
        check: format!(
            "`az network nsg rule list -g {group} --nsg-name {nsg} --query \"[].priority\" -o tsv`; choose a number that is free and lower than that of {rule}"
        ),
        command: format!(
            "`az network nsg rule create -g {group} --nsg-name {nsg} -n {name} --priority FREE_NUMBER --direction {direction} --access Allow --protocol {protocol} --source-address-prefixes {source} --destination-address-prefixes {destination} --destination-port-ranges {ports}`"
        ),
        verify: verification(context, ""),
        risk: format!("{risk} `az network nsg rule delete` with the same name takes it back."),
    }
}
