//! A session in which everything happens that a report tells.

use serde_json::json;

use crate::Outcome;
use crate::event::Reply;
use crate::report::tests::Ledger;

/// Returns a whole session; its last event is the conclusion.
pub(crate) fn rich() -> Ledger {
    let mut ledger =
        Ledger::open("iperf from tf-source-vm to tf-dest-vm:5001 hangs\nsince the *hardening* run");
    for (id, what) in
        [("H1", "NSG denies 5001"), ("H2", "route detour"), ("H3", "guest firewall"), ("H4", "shaping | tc")]
    {
        ledger
            .json("hypothesis_set", json!({"id": id, "description": what, "state": "ACTIVE", "by": "model"}));
    }
    ledger.turn(0, &["c1", "c2"], Some(4_500));
    ledger.propose(1, "c1", "az network nic list-effective-nsg --name tf-dest-nic", "H1", "SAFE");
    ledger.run(1, None);
    ledger.done(1, "completed", "auto_approved", "");
    ledger.observe(1, "c1", Some(1), "effective NSG of tf-dest-nic");
    ledger.json("returned", json!({"call": "c1", "tool": "run_shell_cmd", "content": "…"}));
    ledger.json("hypothesis_set", json!({"id": "H1", "state": "REFUTED", "by": "model"}));

    let capture = "az network watcher packet-capture create --vm tf-dest-vm --name ghost-7k2f-1";
    ledger.propose(2, "c2", capture, "H3", "RISKY");
    ledger.ask("a1", 2, 1);
    ledger.wait(60);
    ledger.answer("a1", 2, "ben", Reply::Modify { command: format!("{capture} --time-limit 30") });
    ledger.judge(2, 2, &format!("{capture} --time-limit 30"), "RISKY");
    ledger.ask("a2", 2, 2);
    ledger.answer("a2", 2, "ben", Reply::Approve);
    ledger.run(2, Some("a2"));
    ledger.done(2, "completed", "user_modified", "");
    ledger.observe(2, "c2", Some(2), "12 SYN in, 0 SYN-ACK out");
    ledger.json("returned", json!({"call": "c2", "tool": "run_shell_cmd", "content": "…"}));
    ledger.json("said", json!({"who": "ana", "text": "also check the source VM", "wish": "steer"}));

    ledger.turn(1, &["c3", "c4", "c5", "c6", "c7"], None);
    ledger.propose(3, "c3", "tc qdisc del dev eth0 root", "H4", "RISKY");
    ledger.ask("a3", 3, 1);
    ledger.answer("a3", 3, "cleo", Reply::Deny { reason: "not during business hours".to_owned() });
    ledger.done(3, "denied", "user_denied", "not during business hours");
    ledger.propose(4, "c4", "ip route flush cache", "H2", "RISKY");
    ledger.ask("a4", 4, 1);
    ledger.wait(900);
    ledger.expire("a4", 4);
    ledger.done(4, "denied", "expired", "nobody answered in time");
    ledger.propose(5, "c5", "nft delete table inet hardening", "H3", "RISKY");
    ledger.ask("a5", 5, 1);
    ledger.answer("a5", 5, "ben", Reply::Approve);
    ledger.run(5, Some("a5"));
    ledger.wait(30);
    ledger.json("resumed", json!({"epoch": 2}));
    ledger.json("unknown", json!({"step": 5, "epoch": 1}));
    ledger.done(5, "error", "user_abandoned", "not run again");
    ledger.propose(6, "c6", "rm -rf /", "H3", "BLOCKED");
    ledger.done(6, "error", "blocked", "removes everything");
    ledger.propose(7, "c7", "iptables-save -t filter", "H3", "SAFE");
    ledger.run(7, None);
    ledger.done(7, "completed", "auto_approved", "");
    ledger.observe(3, "c7", Some(7), "filter table of tf-dest-vm");
    ledger.json("answer_failed", json!({"turn": 2, "problem": "models.example is not available"}));

    let found = json!([{"observation": "o3", "quote": "-A INPUT -p tcp --dport 5001 -j DROP"}, {"observation": "o2"}]);
    ledger.json(
        "finding_accepted",
        json!({"code": "guest_firewall_drop", "evidence": found,
        "object": "netfilter/tf-dest-vm/filter/INPUT/tcp/5001", "why": "rule 1 matches tcp/5001",
        "statement": "Rule 1 of INPUT drops tcp/5001."}),
    );
    ledger.json(
        "finding_rejected",
        json!({"code": "netem_delay", "object": "qdisc/tf-source-vm/eth0",
        "statement": "netem delays by 30 ms", "evidence": [{"observation": "o9"}], "why": "there is no o9"}),
    );
    ledger.json("hypothesis_set", json!({"id": "H3", "state": "CONFIRMED", "by": "model"}));
    ledger.json(
        "hypothesis_set",
        json!({"id": "H4", "state": "UNVERIFIABLE", "by": "code", "why": "denied by cleo"}),
    );
    ledger.json("hypothesis_set", json!({"id": "H2", "state": "WITHDRAWN", "by": "model"}));
    ledger.conclude(
        Outcome::Likely,
        "The guest firewall of tf-dest-vm drops tcp/5001.\n\nIt came with the hardening.",
    );
    ledger
}
