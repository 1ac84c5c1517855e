//! What to do about faults inside a machine, through the program that owns what is changed.

use crate::finding::traffic;
use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

/// A rule as the words that show it tell it: where it stands, and how it is spelled.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown<'a> {
    position: Option<&'a str>,
    words: Option<&'a str>,
    handle: Option<&'a str>,
    six: bool,
}

impl<'a> Shown<'a> {
    fn read(why: &'a str) -> Self {
        let number = |text: &'a str| {
            let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
            text.get(..end).filter(|digits| !digits.is_empty())
        };
        let words =
            why.split_once(": `-A ").and_then(|(_, rest)| rest.split_once('`')).map(|(words, _)| words);
        Self {
            position: why.strip_prefix("rule ").and_then(number),
            // The chain is named first.
            words: words.and_then(|words| words.split_once(' ')).map(|(_, rest)| rest),
            handle: why.split_once(", handle ").and_then(|(_, rest)| number(rest)),
            six: why.contains("(IPv6)"),
        }
    }
}

/// Takes a rule away that stops traffic.
pub(super) fn packet_filter<'a>(
    context: &PlaybookContext<'_>,
    rejects: bool,
    why: &str,
    at: &dyn Fn(usize) -> &'a str,
) -> Fix {
    let (vm, table, chain, protocol, port) = (at(1), at(2), at(3), at(4), at(5));
    let verb = if rejects { "refuses" } else { "drops" };
    let what = format!("On {vm}, take away the rule in {chain} that {verb} {}.", traffic(protocol, port));
    let verify = works(context, vm, chain, protocol, port);
    let meant = "where the rule was meant, what it kept out comes in; other rules stay as they are.";
    let (check, command, back) = match table.split_once(':') {
        Some((family, name)) if name.contains("firewalld") || family.contains("firewalld") => (
            "`sudo firewall-cmd --list-all`".to_owned(),
            "remove the entry that it lists with the matching `sudo firewall-cmd --remove-…`, then `sudo firewall-cmd --runtime-to-permanent`".to_owned(),
            String::new(),
        ),
        Some((family, name)) => native(family, name, chain, why),
        None => save(vm, (table, chain, protocol, port), rejects, why),
    };
    Fix { what, check, command, verify, risk: format!("{meant}{back}") }
}

fn native(family: &str, table: &str, chain: &str, why: &str) -> (String, String, String) {
    let target = format!("{family} {table} {chain}");
    let handle = Shown::read(why).handle.unwrap_or("NUMBER").to_owned();
    (
        format!("`sudo nft -a list chain {target}`; keep what it prints, it is what to restore"),
        format!(
            "`sudo nft delete rule {target} handle {handle}`, and take it out of `/etc/nftables.conf` or whatever loads it"
        ),
        String::new(),
    )
}

fn save(
    vm: &str,
    (table, chain, protocol, port): (&str, &str, &str, &str),
    rejects: bool,
    why: &str,
) -> (String, String, String) {
    if chain.starts_with("ufw") {
        let check = "`sudo ufw status numbered`: the chain belongs to ufw, so go through it".to_owned();
        return (check, "`sudo ufw delete NUMBER`, with the number of that line".to_owned(), String::new());
    }
    if chain.starts_with("DOCKER") {
        let check = format!(
            "`sudo iptables -t {table} -S {chain}`: the chain belongs to Docker, which makes it anew"
        );
        return (
            check,
            "`sudo systemctl restart docker`".to_owned(),
            format!(" Containers on {vm} stop for the restart."),
        );
    }
    let shown = Shown::read(why);
    let program = if shown.six { "ip6tables" } else { "iptables" };
    let on = if table == "filter" { String::new() } else { format!(" -t {table}") };
    let check = format!("`sudo {program}{on} -S {chain}`");
    let brings = "take it out of the script or saved file (`/etc/iptables/rules.v4`) that brings it back";
    if let Some(words) = shown.words {
        let position = shown.position.unwrap_or("1");
        let back = format!(" `sudo {program}{on} -I {chain} {position} {words}` puts it back.");
        return (check, format!("`sudo {program}{on} -D {chain} {words}`, and {brings}"), back);
    }
    let target = if rejects { "REJECT" } else { "DROP" };
    let protocols =
        if matches!(protocol, "any" | "all" | "") { String::new() } else { format!(" -p {protocol}") };
    let ports = if matches!(port, "any" | "all" | "") { String::new() } else { format!(" --dport {port}") };
    let command = format!(
        "`sudo {program}{on} -D {chain}{protocols}{ports} -j {target}`, with every word that the rule above holds; and {brings}"
    );
    (check, command, String::new())
}

fn works(context: &PlaybookContext<'_>, vm: &str, chain: &str, protocol: &str, port: &str) -> String {
    let out = chain.to_ascii_lowercase().contains("output");
    match protocol {
        "icmp" | "ipv6-icmp" | "icmpv6" => {
            let names = context.incident.machines();
            let other = names.iter().find(|machine| machine.name != vm);
            let own = names.iter().find(|machine| machine.name == vm).and_then(|own| own.addresses.first());
            match (other, own) {
                (Some(other), Some(own)) => format!("from {}, `ping -c 3 {own}` is answered.", other.name),
                _ => format!("`ping -c 3` to {vm} is answered."),
            }
        }
        "udp" if out && port == "53" => format!("on {vm}, `dig +time=2 example.com` is answered."),
        _ if out && !matches!(port, "any" | "all" | "") => {
            format!("on {vm}, `nc -vz -w 3 example.com {port}` connects.")
        }
        _ => verification(context, port),
    }
}

/// Lets in what a policy drops, service by service.
pub(super) fn policy(context: &PlaybookContext<'_>, why: &str, vm: &str, table: &str, chain: &str) -> Fix {
    let ports: Vec<String> = context.symptom_text.ports.iter().map(ToString::to_string).collect();
    let port = ports.first().map_or("PORT", String::as_str);
    let further = ports.get(1..).filter(|rest| !rest.is_empty());
    let further = further.map(|rest| format!(", and the same for {}", rest.join(", "))).unwrap_or_default();
    let caller = context.incident.source.as_ref().filter(|caller| caller.name != vm);
    let caller = caller.and_then(|caller| caller.addresses.first().cloned());
    let caller = caller.or_else(|| context.incident.partner.map(|address| address.to_string()));
    let caller = caller.unwrap_or_else(|| "CALLER".to_owned());
    let what = format!(
        "On {vm}, keep the policy of {chain}, which drops whatever no rule allows, and allow what is needed, service by service."
    );
    let back = "If the hardening as a whole was a mistake, its saved state goes back with `sudo iptables-restore --test FILE` first, then without `--test`.";
    let risk = format!("each rule opens one port to the callers that it names. {back}");
    let verify = verification(context, port);
    if let Some((family, name)) = table.split_once(':') {
        let target = format!("{family} {name} {chain}");
        return Fix {
            what,
            check: format!("`sudo ss -ltn` and `sudo nft list chain {target}`"),
            command: format!(
                "`sudo nft add rule {target} ip saddr {caller} tcp dport {port} accept`{further}; write it into whatever hardens the machine, or it is gone with the next run"
            ),
            verify,
            risk: "each rule opens one port to the callers that it names.".to_owned(),
        };
    }
    let program = if Shown::read(why).six { "ip6tables" } else { "iptables" };
    Fix {
        what,
        check: format!("`sudo ss -ltn` and `sudo {program} -t {table} -S {chain}`"),
        command: format!(
            "`sudo {program} -t {table} -A {chain} -p tcp -s {caller} --dport {port} -j ACCEPT`{further}; write it into the script that hardens the machine, or it is gone with the next run"
        ),
        verify,
        risk,
    }
}

/// Lifts a ban.
pub(super) fn ban(vm: &str, chain: &str, address: &str) -> Fix {
    let jail = chain.strip_prefix("f2b-").unwrap_or(chain);
    Fix {
        what: format!("On {vm}, lift the ban of {address} through fail2ban itself; a rule that is only deleted comes back."),
        check: format!("`sudo grep {address} /var/log/fail2ban.log` says why it was banned"),
        command: format!("`sudo fail2ban-client set {jail} unbanip {address}`"),
        verify: format!("`sudo fail2ban-client status {jail}` does not list {address}, and it connects."),
        risk: "if the address did try passwords, it may go on: ask its owner, and put it on the jail's `ignoreip` only if it is trusted.".to_owned(),
    }
}

/// Lets Docker make its chains anew.
pub(super) fn containers(vm: &str, table: &str, chain: &str) -> Fix {
    Fix {
        what: format!("On {vm}, let Docker make its chains anew."),
        check: "`sudo iptables-save`; keep what it prints".to_owned(),
        command: "`sudo systemctl restart docker`".to_owned(),
        verify: format!(
            "`sudo iptables -t {table} -S {chain}` holds no DROP for everything, and a container is reached from outside."
        ),
        risk: "containers stop for the restart unless `live-restore` is on; choose the moment.".to_owned(),
    }
}

/// Takes traffic shaping off.
pub(super) fn shaping(context: &PlaybookContext<'_>, vm: &str, device: &str) -> Fix {
    let pair = (&context.incident.source, &context.incident.destination);
    let again = match pair {
        (Some(source), Some(destination)) => {
            format!("a measurement between {} and {} is as before.", source.name, destination.name)
        }
        (Some(_), None) | (None, Some(_)) | (None, None) => "transfers are as quick as before.".to_owned(),
    };
    Fix {
        what: format!(
            "On {vm}, take the traffic shaping off {device}, and find what sets it (a unit, a cron job, a test that was left), or it comes back."
        ),
        check: format!(
            "`tc -s qdisc show dev {device}` and `tc filter show dev {device}`; keep what they print, it is what to restore"
        ),
        command: format!("`sudo tc qdisc del dev {device} root`"),
        verify: format!("`tc qdisc show dev {device}` shows the kernel's default, and {again}"),
        risk: "the link runs at full speed again; if the shaping was meant, put it back as it was printed."
            .to_owned(),
    }
}

/// Lowers the size for one destination.
pub(super) fn mtu(from: &str, to: &str) -> Fix {
    Fix {
        what: format!(
            "Large packets from {from} to {to} do not fit through the path, and the sender does not heed the notice. On {from}, lower the size for this destination alone; then let ICMP \"fragmentation needed\" in on that machine."
        ),
        check: format!(
            "`ip route get {to}` names the device and the gateway; `ping -M do -s 1372 -c 3 {to}` shows whether 1400 fits, else try less"
        ),
        command: format!("`sudo ip route add {to}/32 via GATEWAY dev DEVICE mtu 1400`"),
        verify: format!("`ping -M do -s 1372 -c 3 {to}` is answered, and a large request passes."),
        risk: format!(
            "slightly more packets to this one machine; gone after a restart unless written down. `sudo ip route del {to}/32` takes it back."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_taken_away_word_for_word() {
        let why = "rule 3 of INPUT drops tcp/5001: `-A INPUT -p tcp -m tcp --dport 5001 -j DROP`";
        let (check, command, back) = save("db-1", ("filter", "INPUT", "tcp", "5001"), false, why);
        assert_eq!(check, "`sudo iptables -S INPUT`");
        assert!(
            command.starts_with("`sudo iptables -D INPUT -p tcp -m tcp --dport 5001 -j DROP`"),
            "{command}"
        );
        assert!(back.contains("-I INPUT 3 -p tcp -m tcp --dport 5001 -j DROP"), "{back}");
    }

    #[test]
    fn a_rule_of_nft_goes_by_its_handle() {
        let (_, command, _) = native("inet", "filter", "input", "rule 2 of input drops tcp/22, handle 7");
        assert!(command.starts_with("`sudo nft delete rule inet filter input handle 7`"), "{command}");
    }

    #[test]
    fn a_chain_of_a_program_is_changed_through_it() {
        let (_, command, _) = save("db-1", ("filter", "ufw-user-input", "tcp", "22"), false, "");
        assert!(command.contains("ufw delete") && !command.contains("iptables"), "{command}");
    }
}
