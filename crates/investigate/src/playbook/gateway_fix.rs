//! What to do where a gateway does not lead to another site.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

/// Why a connection is down, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    Key,
    Proposals,
    Unreachable,
}

/// Brings a connection up.
pub(super) fn connection(context: &PlaybookContext<'_>, group: &str, name: &str, known: Known) -> Fix {
    let what = match known {
        Known::Nothing => format!(
            "Bring the connection {name} up with whoever runs the other side. Compare the addresses of both gateways, the keys, and what both propose for IKE and IPsec."
        ),
        Known::Key => format!("Set the same shared key on both sides of {name}."),
        Known::Proposals => format!("Let both sides of {name} propose the same for IKE and IPsec."),
        Known::Unreachable => format!(
            "Find out why the other side of {name} does not answer: whether its address in the local network gateway is right, and whether it lets UDP 500 and 4500 in."
        ),
    };
    let command = match known {
        Known::Key => format!(
            "`az network vpn-connection shared-key update -g {group} --connection-name {name} --value KEY`, with the key typed by whoever has it"
        ),
        Known::Proposals | Known::Unreachable | Known::Nothing => String::new(),
    };
    Fix {
        what,
        check: format!(
            "`az network vpn-connection show -g {group} -n {name} -o json`, and the log of the device at the other side"
        ),
        command,
        verify: verification(context, ""),
        risk: "everything that passes the connection is interrupted while it is made anew. A key stands in no chat and no log.".to_owned(),
    }
}

/// Adds addresses to a site.
pub(super) fn prefixes(context: &PlaybookContext<'_>, group: &str, site: &str) -> Fix {
    Fix {
        what: format!("Add the prefix that is called to the local network gateway {site}."),
        check: format!(
            "`az network local-gateway show -g {group} -n {site} --query localNetworkAddressSpace`; keep what it prints, the update takes the whole list"
        ),
        command: format!(
            "`az network local-gateway update -g {group} -n {site} --local-address-prefixes OLD NEW`"
        ),
        verify: verification(context, ""),
        risk: "the other side has to know a route back, and a prefix that another site has, too, is taken from it."
            .to_owned(),
    }
}

/// Parts addresses that two places have.
pub(super) fn overlap(context: &PlaybookContext<'_>, group: &str, site: &str) -> Fix {
    Fix {
        what: format!(
            "The network and the site {site} have the same addresses: renumber one of them, or translate addresses at the gateway."
        ),
        check: format!(
            "`az network local-gateway show -g {group} -n {site} --query localNetworkAddressSpace`"
        ),
        command: String::new(),
        verify: verification(context, ""),
        risk: "none from looking; renumbering is an outage of whoever is renumbered.".to_owned(),
    }
}

/// Brings BGP up.
pub(super) fn peer(context: &PlaybookContext<'_>, group: &str, gateway: &str, peer: &str) -> Fix {
    Fix {
        what: format!(
            "Bring BGP between {gateway} and {peer} up with whoever runs the other side. Compare the AS numbers and the addresses of both peers."
        ),
        check: format!(
            "`az network vnet-gateway list-bgp-peer-status -g {group} -n {gateway}`, and `--query bgpSettings` of the gateway and of the local network gateway"
        ),
        command: String::new(),
        verify: verification(context, ""),
        risk: "routes come back all at once; traffic that took another path in between moves.".to_owned(),
    }
}

/// Has a prefix announced.
pub(super) fn announce(context: &PlaybookContext<'_>, group: &str, gateway: &str, prefix: &str) -> Fix {
    Fix {
        what: format!("Have the other side announce the prefix that holds {prefix} to {gateway}."),
        check: format!("`az network vnet-gateway list-learned-routes -g {group} -n {gateway}`"),
        command: String::new(),
        verify: verification(context, ""),
        risk: "whatever the prefix holds goes to that site then.".to_owned(),
    }
}

/// Lets a route table take in what gateways know.
pub(super) fn propagation(context: &PlaybookContext<'_>, group: &str, table: &str) -> Fix {
    let named = format!("-g {group} -n {table}");
    Fix {
        what: format!(
            "Let the route table {table} take in what gateways know, if nobody meant to keep it out."
        ),
        check: format!("`az network route-table show {named} -o json`, and which subnets use it"),
        command: format!("`az network route-table update {named} --disable-bgp-route-propagation false`"),
        verify: verification(context, ""),
        risk: format!(
            "every subnet with this table gets all routes of the gateway, which may go before others. `az network route-table update {named} --disable-bgp-route-propagation true` takes it back."
        ),
    }
}

/// Brings a circuit or one of its peerings up.
pub(super) fn circuit(
    context: &PlaybookContext<'_>,
    group: &str,
    circuit: &str,
    peering: Option<&str>,
) -> Fix {
    let what = match peering {
        Some(peering) => format!("Turn the peering {peering} of the circuit {circuit} on."),
        None => format!("Bring the circuit {circuit} up: ask its provider."),
    };
    Fix {
        what,
        check: format!("`az network express-route show -g {group} -n {circuit} -o json`"),
        command: String::new(),
        verify: verification(context, ""),
        risk: "traffic that took another path in between moves.".to_owned(),
    }
}
