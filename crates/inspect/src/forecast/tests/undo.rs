//! What takes a change back: chains, scripts, and rules that get their number when they stand there.

use super::super::{guest, is_undone_later, undo, undo_read};
use super::{Draft, guarded, native, taken_back, words};
use crate::path::Bundle;

/// An estate in which a machine has rules of `iptables`.
fn saved(text: &str) -> Bundle {
    let mut bundle = Draft::two().bundle();
    let guest = guest::of(&mut bundle, "db").unwrap();
    guest.filters.clear();
    guest.filters.insert("iptables-nft".to_owned(), crate::path::Reading::Text(text.to_owned()));
    bundle
}

/// A script as it is sent into a machine.
fn sent(script: &str) -> Vec<String> {
    let mut all = words("az vm run-command invoke -g rg -n db --command-id RunShellScript --scripts");
    all.push(script.to_owned());
    all
}

#[test]
fn what_one_command_sets_at_once_is_set_back_at_once() {
    let bundle = guarded().bundle();
    let line = "az network vnet subnet update -g rg --vnet-name app --name db --network-security-group other --route-table other";
    let back = undo(&words(line), &bundle).unwrap();
    let one = |line: &str| undo(&words(line), &bundle).unwrap();
    let group =
        one("az network vnet subnet update -g rg --vnet-name app --name db --network-security-group other");
    let table = one("az network vnet subnet update -g rg --vnet-name app --name db --route-table other");
    assert_eq!(back[..group.len()], group);
    assert_eq!(back[group.len()..], table[table.len() - 2..]);
}

#[test]
fn a_chain_that_is_emptied_is_filled_again() {
    let text = "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 8080\nCOMMIT\n\
        *filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n\
        -A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n-A INPUT -p tcp -m tcp --dport 5432 -m comment --comment \"not now\" -j DROP\n\
        -A FORWARD -j DROP\nCOMMIT\n";
    let back = |script: &str| undo(&sent(script), &saved(text)).map(|words| words.last().unwrap().clone());
    assert_eq!(
        back("sudo iptables -F INPUT").as_deref(),
        Some(
            "sudo iptables -A INPUT -p tcp -m tcp --dport 22 -j ACCEPT; sudo iptables -A INPUT -p tcp -m tcp --dport 5432 -m comment --comment \"not now\" -j DROP"
        )
    );
    assert_eq!(back("iptables --flush").unwrap().matches("iptables -A ").count(), 3);
    assert_eq!(
        back("iptables -t nat -F").as_deref(),
        Some("iptables -t nat -A PREROUTING -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 8080")
    );
    // Nothing would change.
    assert_eq!(back("iptables -F OUTPUT"), None);
    taken_back(&saved(text), "ssh ops@10.0.2.4 sudo iptables -F INPUT");
    let odd = saved(&text.replace("not now", "$(reboot)"));
    assert_eq!(undo(&sent("iptables -F INPUT"), &odd), None);
    let rules = &[(3, 22, "accept"), (4, 5432, "drop")];
    taken_back(&native(rules), "ssh ops@10.0.2.4 nft flush chain inet f input");
}

#[test]
fn lines_of_a_script_are_taken_back_the_last_one_first() {
    let bundle = saved("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\nCOMMIT\n");
    let back = |script: &str| undo(&sent(script), &bundle).map(|words| words.last().unwrap().clone());
    assert_eq!(
        back("iptables -I INPUT 1 -s 10.0.0.9 -j DROP && sudo iptables -D INPUT 2; iptables -S").as_deref(),
        Some(
            "sudo iptables -I INPUT 2 -p tcp -m tcp --dport 22 -j ACCEPT; iptables -D INPUT -s 10.0.0.9 -j DROP"
        )
    );
    // What was one word stays one word: it would run in the shell otherwise.
    assert_eq!(
        back("iptables -A INPUT -m comment --comment '$(reboot) & x' -j DROP").as_deref(),
        Some("iptables -D INPUT -m comment --comment '$(reboot) & x' -j DROP")
    );
    for odd in
        ["iptables -A '$(reboot)' -j DROP", "'/$(x)/iptables' -A INPUT -j DROP", "iptables -P INPUT '$(x)'"]
    {
        assert_eq!(back(odd), None, "{odd}");
    }
    // One that cannot be taken back leaves nothing half taken back.
    assert_eq!(back("iptables -A INPUT -s 10.0.0.9 -j DROP; ufw reset"), None);
}

#[test]
fn a_rule_of_nft_is_deleted_by_the_number_that_it_got() {
    let before = native(&[(3, 22, "accept")]);
    let script = sent("sudo nft insert rule inet f input tcp dport 5432 drop");
    let read = |after: &[(u64, u16, &str)]| undo_read(&script, &before, &native(after));
    assert_eq!(undo(&script, &before), None);
    assert!(is_undone_later(&script, &before));
    assert_eq!(
        read(&[(7, 5432, "drop"), (3, 22, "accept")]),
        Some(sent("sudo nft delete rule inet f input handle 7"))
    );
    // It is not there, another one is, or two are new.
    assert_eq!(read(&[(3, 22, "accept")]), None);
    assert_eq!(read(&[(7, 5433, "drop"), (3, 22, "accept")]), None);
    assert_eq!(read(&[(7, 5432, "drop"), (8, 5432, "drop"), (3, 22, "accept")]), None);
}
