//! What to do about each fault: the exact command, how to verify it, what it risks.
//!
//! Four rules: no list is replaced without what is in it; what belongs to a program is changed through that program; nothing is opened
//! wider than the fault; every fix has its verification.

use crate::agent::brief::Symptom;
use crate::agent::coverage::explains;
use crate::agent::playbook::agenda::Desk;
use crate::agent::playbook::pick::Fault;

/// Stands where only the owner knows.
const GROUP: &str = "RESOURCE_GROUP";

/// Returns what to do, in the order in which it is done.
pub(super) fn actions(desk: &Desk<'_>, faults: &[Fault]) -> Vec<String> {
    let mut actions: Vec<String> = Vec::new();
    let mut shaped: Vec<&str> = Vec::new();
    for fault in faults {
        let (code, object) = (fault.suspect.code.as_str(), fault.suspect.object.as_str());
        // One line of shaping may be several faults; it is taken away once.
        if explains(code, Symptom::Slow) && object.starts_with("qdisc/") {
            if shaped.contains(&object) {
                continue;
            }
            shaped.push(object);
        }
        let parts: Vec<&str> = object.split('/').collect();
        let at = |index: usize| parts.get(index).copied().unwrap_or_default();
        if let Some(action) = action(desk, code, &at) {
            actions.push(action);
        }
    }
    actions
}

fn action<'a>(desk: &Desk<'_>, code: &str, at: &dyn Fn(usize) -> &'a str) -> Option<String> {
    let group = desk.ground.group.as_deref().unwrap_or(GROUP);
    Some(match code {
        "nsg_deny" => rule(desk, group, at(1), at(2)),
        "nsg_exposure" => exposure(group, at(1), at(2)),
        "route_blackhole" | "route_dead_nva" | "route_detour" => route(desk, code, group, at(1), at(2)),
        "service_endpoint_missing" => endpoint(desk, group, at(1), at(2), at(3)),
        "storage_firewall_deny" => account(group, at(1)),
        "guest_firewall_drop" | "guest_firewall_reject" => packet_filter(desk, code, at),
        "guest_firewall_policy_drop" => policy(desk, at(1), at(2), at(3)),
        "fail2ban_ban" => ban(at(1), at(2), at(3)),
        "container_firewall_change" => containers(at(1), at(2), at(3)),
        "rate_limit" => shaping(at(1), at(2)),
        _ if code.starts_with("netem_") => shaping(at(1), at(2)),
        "pmtu_blackhole" => mtu(at(1), at(2)),
        "tcp_refused" => format!(
            "Nothing listens on {p}/{port} at {to}. On that machine: `sudo ss -ltnp 'sport = :{port}'`; start the service that belongs there, or take the call out of the program on {from}. Verify from {from}: `nc -vz -w 3 {to} {port}`. Risk: none from looking; a service that is started listens to everybody whom the rules let in.",
            p = at(3),
            port = at(4),
            to = at(2),
            from = at(1)
        ),
        "syn_unanswered" => format!(
            "{to} does not answer on {p}/{port}, and nothing that was looked at drops it. Record packets at {to} as well: if the first packet arrives there, the machine drops it; if not, the path does. Verify from {from}: `nc -vz -w 3 {to} {port}`. Risk: none, it only records.",
            p = at(3),
            port = at(4),
            to = at(2),
            from = at(1)
        ),
        "dns_failure" => format!(
            "Ask the name server {server} itself: `dig @{server} NAME` from the machine; mend the record or the server, or name another one in the network's settings beside those that are there. Verify: the same `dig` answers. Risk: other machines use the same server; tell their owners.",
            server = at(1)
        ),
        "arp_conflict" => format!(
            "Two interfaces claim {ip}. Find them with `ip neigh show {ip}` on a neighbour, and give the one that should not have it its own address. Verify: `arping -c 5 {ip}` is answered by one hardware address. Risk: whoever uses the wrong one loses its connections.",
            ip = at(1)
        ),
        "asymmetric_path" => format!(
            "Compare the routes of both ends for {from} and {to}, and make both ways lead through the same appliance. Verify: `az network nic show-effective-route-table` at both ends names the same next hop. Risk: connections that are open break once.",
            from = at(1),
            to = at(2)
        ),
        _ => return None,
    })
}

/// Returns a call that shows that it works again, from where it did not.
fn verification(desk: &Desk<'_>, port: &str) -> String {
    let to = desk.ground.destination.as_ref().and_then(|machine| machine.addresses.first()).cloned();
    let from = desk.ground.source.as_ref().map_or("the caller", |machine| machine.name.as_str());
    let asked = desk.brief.ports.first().map_or_else(|| "PORT".to_owned(), ToString::to_string);
    let port = if port.chars().all(|char| char.is_ascii_digit()) && !port.is_empty() {
        port.to_owned()
    } else {
        asked
    };
    match to {
        Some(to) => format!("from {from}, `nc -vz -w 3 {to} {port}` connects"),
        None => format!("the connection from {from} that failed works, on port {port}"),
    }
}

fn rule(desk: &Desk<'_>, group: &str, nsg: &str, name: &str) -> String {
    let tables = ["DenyAllInBound", "DenyAllOutBound"];
    if tables.contains(&name) {
        return format!(
            "No rule of {nsg} lets this traffic in, so its default {name} denies it. Add one Allow for exactly this source, address and port: `az network nsg rule create -g {group} --nsg-name {nsg} -n allow-the-caller --priority FREE_NUMBER --access Allow --protocol Tcp --source-address-prefixes CALLER --destination-port-ranges PORT`. Verify: {}. Risk: whoever has that address gets in; name no wider range.",
            verification(desk, "")
        );
    }
    format!(
        "Take the rule {name} off {nsg}, once its owner agrees; keep a copy first. Copy: `az network nsg rule show -g {group} --nsg-name {nsg} -n {name} -o json`. Command: `az network nsg rule delete -g {group} --nsg-name {nsg} -n {name}`. Verify: {}. Risk: where the rule was meant, what it kept out comes in; the copy puts it back.",
        verification(desk, "")
    )
}

fn exposure(group: &str, nsg: &str, name: &str) -> String {
    format!(
        "Narrow the rule {name} of {nsg} to the networks that need it, or take it away if nobody does. See what it holds: `az network nsg rule show -g {group} --nsg-name {nsg} -n {name} -o json`. Command: `az network nsg rule update -g {group} --nsg-name {nsg} -n {name} --source-address-prefixes YOUR_NETWORKS`. Verify: the same `show` names only those networks, and your own way in still works in a second session. Risk: whoever comes from elsewhere is locked out; keep a way in open while you try."
    )
}

fn route(desk: &Desk<'_>, code: &str, group: &str, table: &str, name: &str) -> String {
    let show = format!(
        "`az network route-table route show -g {group} --route-table-name {table} -n {name} -o json`"
    );
    let delete =
        format!("`az network route-table route delete -g {group} --route-table-name {table} -n {name}`");
    let nic = desk.ground.source.iter().chain(&desk.ground.destination).map(|machine| machine.nic.as_str());
    let nic = nic.into_iter().find(|nic| !nic.is_empty()).unwrap_or("NIC");
    let seen = format!(
        "`az network nic show-effective-route-table -g {group} -n {nic} -o table` shows the next hop that you expect, and the connection works"
    );
    let (what, risk) = match code {
        "route_blackhole" => (
            "It sends the traffic to nowhere",
            "where the route was meant to keep something off, that comes through again",
        ),
        "route_detour" => ("It leads through an appliance", "what the appliance inspected goes uninspected"),
        _ => (
            "Its next hop is an appliance that is not there; bring the appliance back at that address, or take the route away",
            "what the appliance inspected goes uninspected until it is back",
        ),
    };
    format!(
        "{what}: route {name} of {table}. Keep a copy: {show}. Command: {delete}. Verify: {seen}. Risk: {risk}."
    )
}

fn endpoint(desk: &Desk<'_>, group: &str, network: &str, subnet: &str, service: &str) -> String {
    let show = format!(
        "`az network vnet subnet show -g {group} --vnet-name {network} -n {subnet} --query serviceEndpoints[].service -o tsv`"
    );
    let list = match desk.ground.endpoints(network, subnet) {
        Some(mut now) => {
            if !now.iter().any(|name| name.eq_ignore_ascii_case(service)) {
                now.push(service.to_owned());
            }
            now.join(" ")
        }
        None => format!("EVERY_ENDPOINT_THAT_IS_THERE {service}"),
    };
    format!(
        "Give the subnet {subnet} of {network} the endpoint {service} back, beside those that are there: the command replaces the whole list. See the list of now: {show}. Command: `az network vnet subnet update -g {group} --vnet-name {network} -n {subnet} --service-endpoints {list}`. Verify: the same `show` lists all of them, and a write from the machine succeeds. Risk: open connections from the subnet to that service break once."
    )
}

fn account(group: &str, name: &str) -> String {
    format!(
        "Let the subnet of the machine into the storage account {name}, and nobody else. See who may come in now: `az storage account network-rule list -g {group} --account-name {name} -o json`. Command: `az storage account network-rule add -g {group} --account-name {name} --vnet-name NETWORK --subnet SUBNET`. Verify: the same `list` holds the subnet, and a write from the machine succeeds. Risk: every machine of that subnet may reach the account."
    )
}

fn packet_filter<'a>(desk: &Desk<'_>, code: &str, at: &dyn Fn(usize) -> &'a str) -> String {
    let (vm, table, chain, protocol, port) = (at(1), at(2), at(3), at(4), at(5));
    let target = if code == "guest_firewall_reject" { "REJECT" } else { "DROP" };
    let ports = if port == "any" || port.is_empty() { String::new() } else { format!(" --dport {port}") };
    let protocols =
        if matches!(protocol, "any" | "all" | "") { String::new() } else { format!(" -p {protocol}") };
    let show = format!("`sudo iptables -t {table} -S {chain}`");
    let owner = if chain.starts_with("ufw") {
        format!(
            "The chain belongs to ufw, so go through it: `sudo ufw status numbered`, then `sudo ufw delete NUMBER`. Compare: {show}"
        )
    } else if chain.starts_with("DOCKER") {
        format!(
            "The chain belongs to Docker, which makes it anew: `sudo systemctl restart docker`. Compare: {show}"
        )
    } else {
        format!(
            "See the rule as it stands: {show}. Command: `sudo iptables -t {table} -D {chain}{protocols}{ports} -j {target}`; where the rule holds more words, repeat them all. Take it out of whatever script or saved file (`/etc/iptables/rules.v4`) brings it back"
        )
    };
    let works = match protocol {
        "icmp" => "`ping -c 3` from the other machine is answered".to_owned(),
        _ if chain.contains("OUTPUT") => format!("on {vm}, a call to port {port} outside is answered"),
        _ => verification(desk, port),
    };
    format!(
        "On {vm}, take away the rule that stops {protocol}/{port} in {chain}. {owner}. Verify: {works}. Risk: where the rule was meant, what it kept out comes in; nothing else changes."
    )
}

fn policy(desk: &Desk<'_>, vm: &str, table: &str, chain: &str) -> String {
    let ports: Vec<String> = desk.brief.ports.iter().map(ToString::to_string).collect();
    let port = ports.first().map_or("PORT", String::as_str);
    format!(
        "On {vm}, the policy of {chain} drops whatever no rule allows. Keep it, and allow what is needed, service by service. See what listens: `sudo ss -ltn`. Command for each: `sudo iptables -t {table} -A {chain} -p tcp -s CALLERS --dport {port} -j ACCEPT`. Put it into the script that hardens the machine, or it is gone with the next run. Verify: {}. Risk: each rule opens one port to the callers that it names. If the hardening was a mistake as a whole, put its baseline back instead: `sudo iptables-restore --test FILE` first, then without `--test`.",
        verification(desk, port)
    )
}

fn ban(vm: &str, chain: &str, address: &str) -> String {
    let jail = chain.strip_prefix("f2b-").unwrap_or(chain);
    format!(
        "On {vm}, lift the ban through fail2ban itself, or it comes back: `sudo fail2ban-client set {jail} unbanip {address}`. First see why it was banned: `sudo grep {address} /var/log/fail2ban.log`. Verify: `sudo fail2ban-client status {jail}` does not list {address}, and the partner connects. Risk: if the address did try passwords, it may go on; ask its owner, and put it on the jail's `ignoreip` only if it is trusted."
    )
}

fn containers(vm: &str, table: &str, chain: &str) -> String {
    format!(
        "On {vm}, let Docker make its chains anew: `sudo systemctl restart docker`. Keep what is there first: `sudo iptables-save`. Verify: `sudo iptables -t {table} -S {chain}` ends with RETURN and holds no DROP for everything, and a container is reached from outside. Risk: containers stop for the restart unless `live-restore` is on; choose the moment."
    )
}

fn shaping(vm: &str, device: &str) -> String {
    format!(
        "On {vm}, take the shaping off {device}. Keep what is there: `tc -s qdisc show dev {device}` and `tc filter show dev {device}`. Command: `sudo tc qdisc del dev {device} root`. Find what sets it (a unit, a cron job, a test that was left), or it comes back. Verify: `tc qdisc show dev {device}` shows the kernel's default, and a measurement between the two machines is as before. Risk: the link runs at full speed again; if the limit was meant, put it back from the copy."
    )
}

fn mtu(from: &str, to: &str) -> String {
    format!(
        "Large packets from {from} to {to} do not fit through the path, and the sender does not heed the notice. On {from}, lower the size for this destination alone: `sudo ip route add {to}/32 dev eth0 mtu 1500`; see `ip route get {to}` first for the device and the gateway. Then let ICMP \"fragmentation needed\" in on that machine. Verify: `ping -M do -s 1472 -c 3 {to}` is answered, and a large request passes. Risk: slightly more packets to this one machine; gone after a restart unless written down."
    )
}
