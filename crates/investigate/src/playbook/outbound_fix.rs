//! What to do where machines do not leave to the internet.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

/// Gives a subnet a path to the internet.
pub(super) fn leave(context: &PlaybookContext<'_>, group: &str, network: &str, subnet: &str) -> Fix {
    let named = format!("-g {group} --vnet-name {network} -n {subnet}");
    Fix {
        what: format!(
            "Give the subnet {subnet} of {network} a NAT gateway, if its machines are meant to reach the internet."
        ),
        check: format!(
            "`az network vnet subnet show {named} --query \"[defaultOutboundAccess, natGateway]\"`, and whether an appliance is meant to take it"
        ),
        command: format!(
            "`az network public-ip create -g {group} -n {subnet}-out --sku Standard`, `az network nat gateway create -g {group} -n {subnet}-nat --public-ip-addresses {subnet}-out`, `az network vnet subnet update {named} --nat-gateway {subnet}-nat`"
        ),
        verify: verification(context, ""),
        risk: format!(
            "every machine of the subnet reaches the internet, as far as rules let it, and it costs money. `az network vnet subnet update {named} --remove natGateway` takes it back."
        ),
    }
}

/// Gives a NAT gateway an address.
pub(super) fn address(context: &PlaybookContext<'_>, group: &str, gateway: &str) -> Fix {
    Fix {
        what: format!("Give the NAT gateway {gateway} a public address."),
        check: format!(
            "`az network nat gateway show -g {group} -n {gateway} -o json`; keep what it prints, it is what to restore"
        ),
        command: format!(
            "`az network nat gateway update -g {group} -n {gateway} --public-ip-addresses ADDRESS`"
        ),
        verify: verification(context, ""),
        risk: "whoever lets in callers by their address has to let in the new one.".to_owned(),
    }
}

/// Gives more ports.
pub(super) fn ports(context: &PlaybookContext<'_>, group: &str, name: &str) -> Fix {
    Fix {
        what: format!("Give {name} more public addresses, or put a NAT gateway on the subnet; and let callers keep connections open and use them again."),
        check: "the metric of failed connections over the last hours, by destination: one destination that takes all of them is a caller to mend".to_owned(),
        command: format!("`az network nat gateway update -g {group} -n {name} --public-ip-addresses OLD NEW`, where it is a NAT gateway; `az network lb outbound-rule update` with more ports or addresses, where it is a load balancer"),
        verify: verification(context, ""),
        risk: "whoever lets in callers by their address has to let in the new one.".to_owned(),
    }
}
