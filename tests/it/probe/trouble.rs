//! What goes wrong between here and a guest.

use ghost_cloud::guest::GuestAccess;
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceScope, bundle};
use ghost_cloud::probe::firewall::WANTED;
use ghost_cloud::probe::{GuestProbe, Interfaces, topology::TopologyOperation};
use serde_json::json;

use super::stage::{DEST, GROUP, Lab, name, place};

fn reach() -> GuestAccess {
    GuestAccess::Platform { place: place(), machine: name(DEST) }
}

fn gathering() -> GuestProbe<ghost_inspect::netfilter::Bundle> {
    GuestProbe::new(reach(), &WANTED)
}

/// Answers the next run-commands with a message.
fn answered(lab: &Lab, message: &str, times: u32) {
    let body = json!({"value": [{"code": "ProvisioningState/succeeded", "message": message}]});
    let (body, times) = (format!("body={body}"), format!("times={times}"));
    lab.order(&["set", "fault=POST .*runCommand", "status=200", &body, &times]);
}

#[tokio::test]
async fn half_an_answer_is_asked_for_once_more_and_then_reported() {
    let lab = Lab::up("simulated", None);
    let cut = format!("Enable succeeded: \n[stdout]\n{}\nghost-parcel-end\n\n[stderr]\n", "A".repeat(4_000));
    for message in [cut.as_str(), "Enable succeeded: \n[stdout]\n\n[stderr]\n", "garbage"] {
        answered(&lab, message, 1);
        assert!(lab.drive(gathering()).await.0.is_ok(), "{message:.60}");
        answered(&lab, message, 2);
        let trouble = lab.drive(gathering()).await.0.unwrap_err();
        assert!(
            trouble.text.starts_with("looking at the packet filters of tf-dest-vm: "),
            "{}",
            trouble.text
        );
        assert!(trouble.hint.is_some());
    }
    // The same for who sits at a terminal: an error, its hint, and nothing on standard output.
    answered(&lab, "garbage", 2);
    let ran = lab.ghost(&["netfilter", "inspect", "--vm", DEST, "-g", GROUP, "--json"]);
    let err = String::from_utf8(ran.stderr).unwrap();
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(1), 0));
    assert!(err.contains("error: looking at") && err.contains("hint: "), "{err}");
}

#[tokio::test]
async fn throttling_is_waited_out_and_an_expired_token_is_reported_at_once() {
    let lab = Lab::up("simulated", None);
    let throttled = r#"body={"error":{"code":"TooManyRequests","message":"slow down"}}"#;
    lab.order(&["set", "fault=POST .*runCommand", "status=429", throttled, "times=2"]);
    let (bundle, waited) = lab.drive(gathering()).await;
    assert!(bundle.is_ok() && waited.len() == 2 && waited[0].contains("once more in 20 s"), "{waited:?}");
    lab.order(&["set", "token=expired"]);
    let (found, waited) = lab.drive(Interfaces::of_machine(&place(), &name(DEST))).await;
    let trouble = found.unwrap_err();
    assert!(waited.is_empty() && trouble.hint.unwrap().contains("sign in"), "{}", trouble.text);
    let ran = lab.ghost(&["route", "audit", "--vm", DEST, "-g", GROUP]);
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(1), 0));
}

#[tokio::test]
async fn what_may_not_be_read_is_named_and_does_not_hide_the_rest() {
    let lab = Lab::up("simulated", None);
    let forbidden = r#"body={"error":{"code":"AuthorizationFailed","message":"The client 'x' with object id 'y' does not have authorization to perform action 'Microsoft.Network/networkInterfaces/effectiveRouteTable/action' over scope '/s'"}}"#;
    lab.order(&["set", "fault=POST .*effectiveRouteTable", "status=403", forbidden, "times=1"]);
    let network = InterfaceScope::Network(name("forensics-vnet"));
    let operation = Effective::all(&place(), &network, &[EffectiveQuery::Routes, EffectiveQuery::Rules]);
    let bundle = bundle(&lab.drive(operation).await.0.unwrap());
    let failed: Vec<_> = bundle.nics.iter().filter_map(|nic| nic.error.as_deref()).collect();
    assert!(bundle.nics.len() >= 2 && failed.len() == 1, "{failed:?}");
    assert!(failed[0].contains("may not do Microsoft.Network/networkInterfaces/effectiveRouteTable/action"));
    lab.order(&["set", "fault=GET .*routeTables", "status=403", forbidden, "times=1"]);
    let topology = lab.drive(TopologyOperation::new(&place())).await.0.unwrap();
    let unread: Vec<&str> = topology.unread.iter().map(|one| one.what.as_str()).collect();
    assert!(unread == ["route_tables"] && topology.machines.len() == 2, "{topology:?}");
    let nobody = Effective::of_machine(&place(), &name(DEST), Some(&name("other")), &[EffectiveQuery::Rules]);
    assert!(lab.drive(nobody).await.0.unwrap_err().hint.unwrap().contains("nic"));
}

#[tokio::test]
async fn a_large_ruleset_comes_over_in_windows() {
    let lab = Lab::up("simulated", None);
    // Addresses that do not pack well.
    let rule = |at: u32| {
        let (a, b, c) = (at * 7 % 251, at * 31 % 241, at * 57 % 239);
        format!("iptables -A INPUT -s 10.{a}.{b}.{c} -p tcp --dport {} -j DROP", at * 37 + 11)
    };
    let script: Vec<String> = (1..=600).map(rule).collect();
    let script = script.join("\n");
    lab.order(&[
        "az",
        "--",
        "vm",
        "run-command",
        "invoke",
        "-g",
        GROUP,
        "-n",
        DEST,
        "--command-id",
        "RunShellScript",
        "--scripts",
        &script,
    ]);
    let bundle = lab.drive(gathering()).await.0.unwrap();
    let drops = bundle
        .sources
        .keys()
        .filter_map(|name| bundle.text(name))
        .map(|text| text.matches("-j DROP").count());
    assert!(drops.max() >= Some(600));
    let audit = std::fs::read_to_string(lab.data().join("audit/s1.jsonl")).unwrap();
    assert!(audit.matches("\"intent\"").count() > 2, "one answer carried it");
}
