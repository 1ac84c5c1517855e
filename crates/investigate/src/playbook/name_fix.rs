//! What to do where names do not lead to private endpoints.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

fn zone_list(zone: &str) -> String {
    format!(
        "`az network private-dns zone list --query \"[?name=='{zone}']\" -o table` says in which group it is; `az network private-dns link vnet list -z {zone}` of that group says who sees it"
    )
}

/// Approves the connection of a private endpoint.
pub(super) fn approve(context: &PlaybookContext<'_>, group: &str, endpoint: &str) -> Fix {
    Fix {
        what: format!("Let whoever owns the service approve the connection of the private endpoint {endpoint}."),
        check: format!("`az network private-endpoint show -g {group} -n {endpoint} -o json`; it names the service and why it waits"),
        command: "`az network private-endpoint-connection approve --id CONNECTION_OF_THE_SERVICE`".to_owned(),
        verify: verification(context, ""),
        risk: "the whole network of the endpoint reaches the service, as far as rules let it. `az network private-endpoint-connection reject` takes it back.".to_owned(),
    }
}

/// Links a private zone to a network.
pub(super) fn link(context: &PlaybookContext<'_>, group: &str, zone: &str, network: &str) -> Fix {
    Fix {
        what: format!("Link the private zone {zone} to {network}."),
        check: zone_list(zone),
        command: format!(
            "`az network private-dns link vnet create -g {group} -z {zone} -n {network} -v {network} -e false`; with the group of the zone"
        ),
        verify: verification(context, ""),
        risk: format!(
            "from then on every name below {zone} is asked for in that zone. Names of other people's resources do not exist in it, unless the link says NxDomainRedirect. `az network private-dns link vnet delete` takes it back."
        ),
    }
}

/// Lets a link ask outside for what its zone does not hold.
pub(super) fn open(context: &PlaybookContext<'_>, group: &str, zone: &str, network: &str) -> Fix {
    Fix {
        what: format!("Let the link of {zone} to {network} ask outside for names that the zone does not hold."),
        check: zone_list(zone),
        command: format!(
            "`az network private-dns link vnet update -g {group} -z {zone} -n LINK --resolution-policy NxDomainRedirect`; with the group of the zone"
        ),
        verify: verification(context, ""),
        risk: "a record that is missing by mistake is then hidden by the public address. The same command with Default takes it back.".to_owned(),
    }
}

/// Sets a record of a private zone.
pub(super) fn record(context: &PlaybookContext<'_>, group: &str, zone: &str, record: &str) -> Fix {
    Fix {
        what: format!(
            "Let the record {record} of {zone} be the address of the private endpoint, best by a zone group of the endpoint: it follows the address from then on."
        ),
        check: format!(
            "`az network private-dns record-set a list -g {group} -z {zone} -o table` with the group of the zone; keep what it prints, it is what to restore"
        ),
        command: format!(
            "`az network private-endpoint dns-zone-group create -g {group} --endpoint-name ENDPOINT -n default --private-dns-zone ID_OF_{} --zone-name {}`",
            zone.to_ascii_uppercase(),
            zone.replace('.', "-")
        ),
        verify: verification(context, ""),
        risk: "machines keep the old answer until its time to live is over.".to_owned(),
    }
}

/// Corrects the name servers of a network.
pub(super) fn servers(context: &PlaybookContext<'_>, group: &str, network: &str) -> Fix {
    Fix {
        what: format!("Correct the name servers of {network}, or bring the one back that does not answer."),
        check: format!("`az network vnet show -g {group} -n {network} --query dhcpOptions`; keep what it prints, it is what to restore"),
        command: format!("`az network vnet update -g {group} -n {network} --dns-servers SERVER`"),
        verify: verification(context, ""),
        risk: "machines learn of it when they renew their lease, or are restarted. The same command with what was kept takes it back.".to_owned(),
    }
}

/// Lets a name server ask the platform.
pub(super) fn forward(context: &PlaybookContext<'_>, server: &str, zone: &str) -> Fix {
    Fix {
        what: format!(
            "Let the name server {server} forward {zone} to 168.63.129.16, from a network that is linked to the zone."
        ),
        check: format!(
            "`dig @{server} NAME` and `dig @168.63.129.16 NAME` on a machine of the same network: the second has to be right"
        ),
        command: String::new(),
        verify: verification(context, ""),
        risk:
            "the server answers for that zone as the platform does from then on, for everybody who asks it."
                .to_owned(),
    }
}
