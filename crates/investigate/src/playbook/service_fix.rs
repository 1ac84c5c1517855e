//! What to do about faults in the services of the platform.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

fn peerings(group: &str, network: &str) -> String {
    format!(
        "`az network vnet peering list -g {group} --vnet-name {network} -o table`, and the same for the other network"
    )
}

/// Makes a peering anew that lost its other side.
pub(super) fn peering_anew(context: &PlaybookContext<'_>, group: &str, network: &str, peering: &str) -> Fix {
    let named = format!("-g {group} --vnet-name {network} -n {peering}");
    Fix {
        what: format!(
            "Make the peering {peering} of {network} anew: delete what is left of it on both sides, and create both sides."
        ),
        check: format!(
            "{}; keep what they print: the settings of both sides are what to restore",
            peerings(group, network)
        ),
        command: format!(
            "`az network vnet peering delete {named}`, then `az network vnet peering create` on both sides with the settings that were kept"
        ),
        verify: verification(context, ""),
        risk: "a side that is not connected carries nothing, so that deleting it breaks nothing that works."
            .to_owned(),
    }
}

/// Peers two networks.
pub(super) fn peering_missing(context: &PlaybookContext<'_>, group: &str, network: &str, other: &str) -> Fix {
    Fix {
        what: format!(
            "Peer {network} and {other} in both directions, if their owners mean them to reach each other."
        ),
        check: peerings(group, network),
        command: format!(
            "`az network vnet peering create -g {group} --vnet-name {network} -n {network}-to-{other} --remote-vnet {other} --allow-vnet-access`, then the same from {other}"
        ),
        verify: verification(context, ""),
        risk: "whatever rules let in reaches the other network, too. Deleting both peerings takes it back."
            .to_owned(),
    }
}

/// Sets what a peering allows.
fn allowed(
    context: &PlaybookContext<'_>,
    (group, network, peering): (&str, &str, &str),
    flag: &str,
    (what, risk): (&str, &str),
) -> Fix {
    let named = format!("-g {group} --vnet-name {network} -n {peering}");
    Fix {
        what: format!("{what} the peering {peering} of {network}."),
        check: format!(
            "`az network vnet peering show {named} -o json`; keep what it prints, it is what to restore"
        ),
        command: format!("`az network vnet peering update {named} --set {flag}=true`"),
        verify: verification(context, ""),
        risk: format!("{risk} `az network vnet peering update {named} --set {flag}=false` takes it back."),
    }
}

/// Gives the other network access.
pub(super) fn peering_access(
    context: &PlaybookContext<'_>,
    group: &str,
    network: &str,
    peering: &str,
) -> Fix {
    let risk = "the whole other network is then part of what rules call the virtual network; a rule for this one caller opens less.";
    let words = ("Give the other network access over", risk);
    allowed(context, (group, network, peering), "allowVirtualNetworkAccess", words)
}

/// Lets in what others forward.
pub(super) fn peering_forwarding(
    context: &PlaybookContext<'_>,
    group: &str,
    network: &str,
    peering: &str,
) -> Fix {
    let risk = "whatever an appliance of the other network passes on may come in, as far as rules let it.";
    let words = ("Let in what others forward, over", risk);
    allowed(context, (group, network, peering), "allowForwardedTraffic", words)
}

/// Shares a gateway over a peering.
pub(super) fn peering_transit(
    context: &PlaybookContext<'_>,
    group: &str,
    network: &str,
    peering: &str,
) -> Fix {
    Fix {
        what: format!("Share the gateway over the peering {peering} of {network}: `allowGatewayTransit` on the side of the gateway, `useRemoteGateways` on the other."),
        check: peerings(group, network),
        command: String::new(),
        verify: verification(context, ""),
        risk: "the network learns every route of the gateway, and announces its own addresses to what lies behind it.".to_owned(),
    }
}

/// Brings both sides of a peering in step.
pub(super) fn peering_sync(context: &PlaybookContext<'_>, group: &str, network: &str, peering: &str) -> Fix {
    let named = format!("-g {group} --vnet-name {network} -n {peering}");
    Fix {
        what: format!(
            "Bring the peering {peering} of {network} in step with the addresses of the other network."
        ),
        check: format!("`az network vnet peering show {named} --query peeringSyncLevel`"),
        command: format!("`az network vnet peering sync {named}`"),
        verify: verification(context, ""),
        risk: "the new addresses become reachable, and routes for them change at once.".to_owned(),
    }
}

/// Starts a machine.
pub(super) fn machine(context: &PlaybookContext<'_>, group: &str, machine: &str) -> Fix {
    let named = format!("-g {group} -n {machine}");
    Fix {
        what: format!("Start {machine}, once it is known who stopped it and why."),
        check: format!(
            "`az vm get-instance-view {named} --query instanceView.statuses -o table`; the activity log names who stopped it"
        ),
        command: format!("`az vm start {named}`"),
        verify: verification(context, ""),
        risk: format!(
            "it costs money while it runs, and a schedule may stop it again. `az vm deallocate {named}` takes it back."
        ),
    }
}
