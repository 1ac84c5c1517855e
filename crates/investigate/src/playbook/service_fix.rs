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

/// Waits for the platform, or asks it.
pub(super) fn platform(context: &PlaybookContext<'_>, event: &str) -> Fix {
    Fix {
        what: format!(
            "Nothing of yours is at fault here: follow the event {event} in Service Health, and ask the platform's support where it does not end. What can run in another region may be moved there until then."
        ),
        check: "`az rest --method get --url '/subscriptions/{subscriptionId}/providers/Microsoft.ResourceHealth/events?api-version=2022-10-01'`; it names services, regions and times".to_owned(),
        command: String::new(),
        verify: verification(context, ""),
        risk: "none from waiting; whoever moves to another region pays for both for a while.".to_owned(),
    }
}

fn balancer(group: &str, name: &str) -> String {
    format!("`az network lb show -g {group} -n {name} -o json`; keep what it prints, it is what to restore")
}

/// Corrects a probe.
pub(super) fn probe(context: &PlaybookContext<'_>, group: &str, name: &str, probe: &str) -> Fix {
    let named = format!("-g {group} --lb-name {name} -n {probe}");
    Fix {
        what: format!("Let the probe {probe} of {name} ask for what the members serve: the port of the rule, and a path that answers with 200."),
        check: balancer(group, name),
        command: format!("`az network lb probe update {named} --port PORT_THAT_IS_SERVED`"),
        verify: verification(context, ""),
        risk: "all members are judged anew, and are out until the probe answered twice. The same command with the port that was kept takes it back.".to_owned(),
    }
}

/// Lets the page of a probe answer with 200.
pub(super) fn probe_status(context: &PlaybookContext<'_>, group: &str, name: &str, probe: &str) -> Fix {
    let named = format!("-g {group} --lb-name {name} -n {probe}");
    Fix {
        what: format!("Let the application answer the page that the probe {probe} of {name} asks for with 200, or let the probe ask for one that does."),
        check: balancer(group, name),
        command: format!("`az network lb probe update {named} --path PATH_THAT_ANSWERS_200`"),
        verify: verification(context, ""),
        risk: "a page that answers 200 though the application is broken brings callers to broken members. The same command with the path that was kept takes it back.".to_owned(),
    }
}

/// Fills a pool.
pub(super) fn pool(context: &PlaybookContext<'_>, group: &str, name: &str, pool: &str) -> Fix {
    Fix {
        what: format!("Put the interfaces of the machines that serve it into the pool {pool} of {name}."),
        check: balancer(group, name),
        command: format!("`az network nic ip-config address-pool add -g {group} --lb-name {name} --address-pool {pool} --nic-name NIC --ip-config-name IP_CONFIGURATION`, once for each machine"),
        verify: verification(context, ""),
        risk: "a machine in the pool takes connections as soon as its probe answers. `address-pool remove` takes it back.".to_owned(),
    }
}

/// Adds a rule to a load balancer.
pub(super) fn balancer_rule(
    context: &PlaybookContext<'_>,
    group: &str,
    (name, frontend): (&str, &str),
    (protocol, port): (&str, &str),
) -> Fix {
    Fix {
        what: format!(
            "Add a rule for {protocol} port {port} at {frontend} of {name}, if that is meant to be served there."
        ),
        check: balancer(group, name),
        command: format!(
            "`az network lb rule create -g {group} --lb-name {name} -n {protocol}-{port} --protocol {protocol} --frontend-ip {frontend} --frontend-port {port} --backend-pool-name POOL --backend-port PORT --probe-name PROBE`"
        ),
        verify: verification(context, ""),
        risk: format!(
            "whoever reaches {frontend} reaches that port, as far as rules of the members let it. `az network lb rule delete` takes it back."
        ),
    }
}

/// Lets a rule write the member's own address into packets.
pub(super) fn floating(context: &PlaybookContext<'_>, group: &str, name: &str, rule: &str) -> Fix {
    let named = format!("-g {group} --lb-name {name} -n {rule}");
    Fix {
        what: format!(
            "Turn floating IP off in the rule {rule} of {name}, unless the members are meant to have the address themselves."
        ),
        check: balancer(group, name),
        command: format!("`az network lb rule update {named} --floating-ip false`"),
        verify: verification(context, ""),
        risk: format!(
            "a cluster that moves the address on its own needs it on. `az network lb rule update {named} --floating-ip true` takes it back."
        ),
    }
}

/// Puts a member back in use.
pub(super) fn drained(
    context: &PlaybookContext<'_>,
    group: &str,
    name: &str,
    pool: &str,
    address: &str,
) -> Fix {
    Fix {
        what: format!(
            "Set {address} in the pool {pool} of {name} back in use, once whoever drained it agrees."
        ),
        check: balancer(group, name),
        command: String::new(),
        verify: verification(context, ""),
        risk: "the machine takes connections at once; whatever was being done to it goes on under load."
            .to_owned(),
    }
}

/// Starts what a probe asks for.
pub(super) fn listener(context: &PlaybookContext<'_>, machine: &str, protocol: &str, port: &str) -> Fix {
    let option = if protocol == "udp" { "-lunp" } else { "-ltnp" };
    Fix {
        what: format!("Start the service on {machine} that serves {protocol} port {port}."),
        check: format!("`sudo ss {option} 'sport = :{port}'` on {machine}"),
        command: String::new(),
        verify: verification(context, ""),
        risk: "none from looking; the machine takes connections once its probe answers.".to_owned(),
    }
}
