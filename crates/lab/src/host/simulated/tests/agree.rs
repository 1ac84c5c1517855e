//! The model's tools beside the real ones, in a namespace of their own, where they are installed.

use std::net::IpAddr;
use std::sync::Arc;

use crate::LabClock;
use crate::host::fabric::{Fabric, Machine, Nic};
use crate::host::port::{Host as _, Script, ScriptTransport};
use crate::host::simulated::Simulated;
use ghost_base::{ManualClock, Timestamp};

/// Runs a script where the real tools are; nothing where they cannot be asked.
fn real(text: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the test asks the real tools")]
    let output = std::process::Command::new("unshare").args(["-n", "bash", "-c", text]).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

fn model(text: &str) -> String {
    let nic = Nic { addresses: vec![(IpAddr::from([10, 0, 1, 5]), 24)], ..Nic::default() };
    let machine = Machine { name: "dest".to_owned(), running: true, nics: vec![nic] };
    let clock = LabClock::new(Arc::new(ManualClock::new(Timestamp::from_millis(0))));
    let host = Simulated::new(Fabric { machines: vec![machine], ..Fabric::default() }, 1, clock);
    let script = Script {
        text: text.to_owned(),
        arguments: Vec::new(),
        variables: Vec::new(),
        transport: ScriptTransport::Ssh,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let ran = runtime.block_on(host.run("dest", &script)).expect("it runs");
    ran.out + &ran.err
}

/// Whether the real tools answer here at all.
fn there(program: &str) -> bool {
    real(&format!("{program} >/dev/null 2>&1 && echo yes")).is_some_and(|out| out.contains("yes"))
}

const RULES: [&str; 40] = [
    "-A INPUT -p tcp --dport 5001 -j DROP",
    "-A INPUT -p icmp -j DROP",
    "-I INPUT 1 -s 203.0.113.47 -j REJECT",
    "-A INPUT -m conntrack --ctstate ESTABLISHED,RELATED,NEW -j ACCEPT",
    "-A INPUT ! -i lo -p udp --sport 53 -m comment --comment 'a b' -j LOG --log-prefix 'x '",
    "-A INPUT -p tcp -m multiport --dports 80,443,1000:2000 -j ACCEPT",
    "-A INPUT -p tcp -m multiport ! --sports http,https -j ACCEPT",
    "-A INPUT -p tcp -m limit --limit 5/minute -j ACCEPT",
    "-A INPUT -m limit --limit 10/s --limit-burst 20 -j ACCEPT",
    "-A INPUT -p icmp --icmp-type echo-request -j ACCEPT",
    "-A INPUT -p icmp --icmp-type 3/4 -j ACCEPT",
    "-A INPUT -p tcp --syn --dport 22 -m state --state NEW -j ACCEPT",
    "-A INPUT -p tcp ! --syn -j DROP",
    "-A INPUT -p tcp --tcp-flags ALL NONE -j DROP",
    "-A INPUT -d 10.0.0.9/8 -i eth+ -p tcp --dport 1000:2000 -j REJECT --reject-with tcp-reset",
    "-A INPUT ! -s 10.1.2.3 -j REJECT --reject-with icmp-host-prohibited",
    "-N f2b-sshd",
    "-A f2b-sshd -s 203.0.113.47/32 -j REJECT --reject-with icmp-port-unreachable",
    "-A f2b-sshd -j RETURN",
    "-I INPUT -p tcp --dport ssh -j f2b-sshd",
    "-t nat -A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE",
    "-t nat -A PREROUTING -p tcp --dport 80 -j DNAT --to-destination 10.0.0.1:8080",
    "-t nat -A POSTROUTING -d 10.2.0.0/16 -j SNAT --to-source 10.0.1.5",
    "-t nat -A PREROUTING -p tcp --dport 81 -j REDIRECT --to-ports 8081",
    "-t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu",
    "-t mangle -A OUTPUT -j MARK --set-mark 5",
    "-A OUTPUT -m owner --uid-owner 0 -j ACCEPT",
    "-A OUTPUT -m mark --mark 5 -g f2b-sshd",
    "-A OUTPUT -m mark ! --mark 0x1/0xff -j ACCEPT",
    "-A INPUT -m addrtype --dst-type LOCAL -j ACCEPT",
    "-A INPUT -m statistic --mode random --probability 0.5 -j DROP",
    "-A INPUT -m length --length 100:200 -j DROP",
    "-A INPUT -m iprange --src-range 10.0.0.1-10.0.0.5 -j DROP",
    "-A INPUT -p 50 -j DROP",
    "-A INPUT -p udp ! --dport 53 -j DROP",
    "-A INPUT -j LOG --log-level debug --log-ip-options",
    "-P FORWARD DROP",
    "-A FORWARD -m comment --comment plain -j ACCEPT",
    "-D INPUT -p icmp -j DROP",
    "-R OUTPUT 1 -m owner --uid-owner 1000 -j DROP",
];

/// What differs between the releases of the tools is not compared: the version, and protocols as numbers.
fn plain(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let line =
            if line.starts_with('#') { continue } else { line.replace("v1.8.7", "v").replace("v1.8.9", "v") };
        out.push(line.trim_end().to_owned());
    }
    out
}

#[test]
fn rules_are_printed_as_the_real_tools_print_them() {
    if !there("iptables -S") {
        return;
    }
    let mut text = String::new();
    for rule in RULES {
        text.push_str(&format!("iptables {rule}\n"));
    }
    for (show, family) in [
        ("for t in filter nat mangle; do iptables -t $t -S; done", ""),
        (
            "iptables -L INPUT -n -v --line-numbers | sed -E 's/^([0-9]+ +0 +0 .{10}) ?[a-z0-9]+ +(--|-f|!f)/\\1 P \\2/'",
            "",
        ),
        ("iptables-save -c | grep -v '^#'", ""),
    ] {
        let script = format!("{text}{show}{family}\n");
        let expected = real(&script).unwrap_or_default();
        assert_eq!(plain(&model(&script)), plain(&expected), "{show}");
    }
}

#[test]
fn refusals_are_those_of_the_real_tools() {
    if !there("iptables -S") {
        return;
    }
    for script in [
        "iptables -D INPUT -p tcp --dport 1 -j DROP; echo $?",
        "iptables -D INPUT 5; echo $?",
        "iptables -D NOCHAIN -j DROP; echo $?",
        "iptables -A NOCHAIN -j DROP; echo $?",
        "iptables -A INPUT -j NOTARGET; echo $?",
        "iptables -N x; iptables -N x; iptables -A INPUT -j x; iptables -X x; iptables -E x y; iptables -S; echo $?",
        "iptables -F nochain; echo $?",
        "iptables -X nochain; echo $?",
        "iptables -P x DROP; iptables -P INPUT FOO; echo $?",
        "iptables -A INPUT --dport 80 -j DROP; echo $?",
        "iptables -A INPUT -p tcp --dport foo -j DROP; echo $?",
        "iptables -A INPUT -p tcp --dport 70000 -j DROP; echo $?",
        "iptables -A INPUT -s 1.2.3.400 -j DROP; echo $?",
        "iptables -A INPUT --nonsense; echo $?",
        "iptables; echo $?",
        "iptables -I INPUT 9 -j ACCEPT; iptables -R INPUT 9 -j ACCEPT; iptables-save; echo $?",
        "iptables -L nochain; echo $?",
        "iptables -t foo -L; echo $?",
        "iptables -C INPUT -j ACCEPT; echo $?",
        "iptables -N INPUT; echo $?",
        "iptables -A INPUT -m nosuch -j DROP; echo $?",
        "printf '*filter\\n-A INPUT -p tcp --dport 1 -j FOO\\nCOMMIT\\n' | iptables-restore; echo $?",
        "echo junk | iptables-restore; echo $?",
        "ip6tables -A INPUT -p ipv6-icmp -j ACCEPT; ip6tables -A INPUT -s fe80::1 -j REJECT; ip6tables -S",
    ] {
        let expected = real(script).unwrap_or_default();
        assert_eq!(plain(&model(script)), plain(&expected), "{script}");
    }
}

#[test]
fn native_rules_are_printed_as_nft_prints_them() {
    if !there("nft list ruleset") {
        return;
    }
    let script = "nft add table inet fw; nft 'add chain inet fw in { type filter hook input priority 0; policy drop; }'\n\
        nft 'add chain inet fw own'; nft add rule inet fw in ct state established,related accept\n\
        nft add rule inet fw in tcp dport '{ 22, 80 }' accept; nft add rule inet fw in ip saddr 10.0.0.0/8 counter drop\n\
        nft add rule inet fw in iifname lo accept; nft add rule inet fw in tcp dport 1000-2000 reject\n\
        nft add rule inet fw in jump own; nft insert rule inet fw own udp dport != 53 return; nft -a list ruleset";
    assert_eq!(plain(&model(script)), plain(&real(script).unwrap_or_default()));
}
