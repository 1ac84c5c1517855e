//! Every live inspector on both machines of the use cases: what is wrong in a case is seen, and nothing where nothing is.

use std::io::{BufRead as _, BufReader};

use ghost_lab::case::{CASES, Case};
use serde_json::{Value, json};

use super::stage::{DEST, GROUP, Lab, SOURCE};
use crate::random::{Random, is_long, seed};

/// So many cases are looked at in the short run.
const SAMPLE: usize = 4;

/// What all inspectors say of a machine.
struct Seen {
    vm: &'static str,
    routes: Value,
    rules: Value,
    firewall: Value,
    shaping: Value,
}

fn look(lab: &Lab, vm: &'static str) -> Seen {
    Seen {
        vm,
        routes: lab.vm(&["route", "audit"], vm),
        rules: lab.vm(&["nsg", "audit"], vm),
        firewall: within(lab, "netfilter", vm),
        shaping: within(lab, "qdisc", vm),
    }
}

/// Probes a machine; `null` where its agent is cut off, which has to be reported with a hint.
fn within(lab: &Lab, what: &str, vm: &str) -> Value {
    let ran = lab.ghost(&[what, "inspect", "--vm", vm, "-g", GROUP, "--json"]);
    if ran.status.success() {
        return serde_json::from_slice(&ran.stdout).unwrap();
    }
    let reported = String::from_utf8_lossy(&ran.stderr);
    assert!(
        reported.contains("VMAgentStatusCommunicationError") && reported.contains("try ssh"),
        "{what} {vm}: {reported}"
    );
    Value::Null
}

fn holds(document: &Value, text: &str) -> bool {
    document.to_string().contains(text)
}

/// Says whether what was seen shows a fault; `None` where it is one of traffic, which no inspector can see, or on a machine that cannot be
/// looked into.
fn shown(seen: &[Seen], topology: &Value, fault: &str, object: &str) -> Option<bool> {
    let parts: Vec<&str> = object.split('/').collect();
    let of = |vm: &str| seen.iter().find(|seen| seen.vm == vm).unwrap();
    let last = parts.last().copied().unwrap();
    Some(match parts[0] {
        "nsg" => seen.iter().any(|seen| holds(&seen.rules, last)) && holds(topology, last),
        "route" => seen.iter().any(|seen| holds(&seen.routes, last)) && holds(topology, last),
        "subnet" => {
            let networks = topology["networks"].as_array().unwrap();
            let network = networks.iter().find(|one| one["name"] == parts[1]).unwrap();
            let subnets = network["subnets"].as_array().unwrap();
            let subnet = subnets.iter().find(|one| one["name"] == parts[2]).unwrap();
            !holds(&subnet["service_endpoints"], last)
        }
        "qdisc" => {
            let shaping = &of(parts[1]).shaping;
            if shaping.is_null() {
                return None;
            }
            let devices = shaping["devices"].as_array().unwrap();
            let key = match fault {
                "netem_loss" => "loss_pct",
                "netem_delay" => "delay_ms",
                "netem_corrupt" => "corrupt_pct",
                "rate_limit" => "rate_bps",
                other => panic!("{other} is new"),
            };
            devices
                .iter()
                .any(|one| one["dev"] == parts[2] && one[key].as_f64().is_some_and(|figure| figure > 0.0))
        }
        "netfilter" => {
            let firewall = &of(parts[1]).firewall;
            if firewall.is_null() {
                return None;
            }
            // The chain, or the port and what it leads to.
            match fault {
                "guest_firewall_policy_drop" => holds(firewall, "DROP"),
                "guest_firewall_drop" => holds(firewall, if last == "any" { parts[4] } else { last }),
                _ => holds(firewall, last),
            }
        }
        "flow" | "effective" | "storage" => return None,
        other => panic!("{other} is new"),
    })
}

#[test]
fn every_inspector_shows_what_is_wrong_in_a_case() {
    let mut random = Random::new(seed("live"));
    let lab = Lab::up("simulated", None);
    let names: Vec<&str> = match is_long() {
        true => CASES.iter().map(|(name, _)| *name).collect(),
        false => (0..SAMPLE).map(|_| random.pick(&CASES).0).chain(["e", "j"]).collect(),
    };
    let mut wrong = Vec::new();
    for name in names {
        lab.order(&["inject", name]);
        wrong.extend(missed(&lab, name));
        lab.order(&["reset"]);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Reads both machines with every inspector, and returns what of a case they do not show, and what they show that is not there.
pub(super) fn missed(lab: &Lab, name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let topology = lab.json(&["topology", "-g", GROUP]);
    let seen = [SOURCE, DEST].map(|vm| look(lab, vm));
    // Only where outbound plain HTTP is dropped the agent reaches nobody.
    let cut_off: Vec<&str> = seen.iter().filter(|seen| seen.firewall.is_null()).map(|seen| seen.vm).collect();
    let expected: &[&str] = if name == "t" { &[SOURCE] } else { &[] };
    if cut_off != expected {
        wrong.push(format!("{name}: {cut_off:?} cannot be looked into"));
    }
    let (_, text) = CASES.iter().find(|(known, _)| *known == name).unwrap();
    for pair in &Case::read(text).unwrap().phases[0].expected {
        let (fault, object) = (pair.fault.to_string(), pair.object.to_string());
        if shown(&seen, &topology, &fault, &object) == Some(false) {
            wrong.push(format!("{name}: {fault} {object}"));
        }
        if let Some(vm) = object.strip_prefix("qdisc/") {
            let other = seen.iter().find(|seen| !vm.starts_with(seen.vm)).unwrap();
            if other.shaping["impaired"] != false {
                wrong.push(format!("{name}: {} is impaired, too: {}", other.vm, other.shaping));
            }
        }
    }
    wrong
}

#[test]
fn the_answers_are_those_of_the_files() {
    let lab = Lab::up("simulated", None);
    lab.order(&["inject", "a"]);
    let verdict = ["nsg", "verdict", "--direction", "inbound", "--protocol", "tcp", "--src", "10.0.1.4"];
    let found = lab.vm(&[&verdict[..], &["--dst-port", "8080"]].concat(), DEST);
    assert_eq!((&found["verdict"], &found["decisive"]["nsg"]), (&"DENY".into(), &"tf-dest-vm-nsg".into()));
    let outbound = [
        "nsg",
        "verdict",
        "--direction",
        "outbound",
        "--protocol",
        "tcp",
        "--dst",
        "10.0.1.5",
        "--dst-port",
        "22",
    ];
    assert_eq!(lab.vm(&outbound, SOURCE)["verdict"], "ALLOW");
    let route = lab.vm(&["route", "select", "--to", "10.0.1.5"], SOURCE);
    assert_eq!(
        (&route["result"], &route["winner"]["next_hop_type"]),
        (&"WINNER".into(), &"VnetLocal".into())
    );
    let reach = lab.vm(&["nsg", "reach"], DEST);
    assert!(!reach["regions"].as_array().unwrap().is_empty());
    let owner = lab.json(&["topology", "-g", GROUP, "--owner", "10.0.1.5"]);
    assert_eq!(owner["machine"], DEST);
    // Without --json there is a text for people, and progress beside it.
    let ran = lab.ghost(&["netfilter", "inspect", "--vm", DEST, "-g", GROUP]);
    let (out, err) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert!(ran.status.success() && !out.is_empty() && err.contains("look at the packet filters"), "{err}");
}

#[test]
fn a_change_between_two_probes_is_drift() {
    let lab = Lab::up("simulated", None);
    let keep = ["--is-baseline", "--session-id", "before"];
    lab.json(&[&["netfilter", "inspect", "--vm", DEST, "-g", GROUP], &keep[..]].concat());
    lab.json(&[&["effective", "snapshot", "--vm-name", DEST, "-g", GROUP], &keep[..]].concat());
    let network = ["effective", "snapshot", "--vnet", "forensics-vnet", "-g", GROUP];
    assert!(lab.json(&network)["nics"].as_u64().unwrap() >= 2);
    let filters = || lab.vm(&["netfilter", "inspect", "--compare-baseline", "before"], DEST);
    let rules = || lab.vm(&["effective", "compare", "--baseline", "before"], DEST);
    assert_eq!((&filters()["drift"], &rules()["status"]), (&false.into(), &"CLEAN".into()));
    lab.order(&["inject", "p"]);
    assert_eq!((&filters()["critical"], &rules()["status"]), (&true.into(), &"DRIFT".into()));
}

#[test]
fn a_plan_runs_nothing() {
    let lab = Lab::up("simulated", None);
    let plans: [&[&str]; 6] = [
        &["route", "audit", "--vm", DEST, "-g", GROUP],
        &["nsg", "audit", "--nic", "nic-1", "-g", GROUP],
        &["effective", "snapshot", "--vm", DEST, "-g", GROUP],
        &["netfilter", "inspect", "--vm", DEST, "-g", GROUP, "--is-baseline"],
        &[
            "qdisc",
            "inspect",
            "--provider",
            "ssh",
            "--target-vm-ip",
            "10.0.1.5",
            "--target-ssh-key",
            "/k",
            "--known-hosts",
            "/h",
        ],
        &["topology", "-g", GROUP],
    ];
    for words in plans {
        let plan = lab.json(&[words, &["--plan"]].concat());
        let rows = plan["plan"].as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["verdict"] == "SAFE"), "{words:?}: {plan}");
    }
    assert!(!lab.data().join("audit").exists());
}

#[test]
fn a_flow_is_judged_live_and_from_the_bundle_that_was_collected() {
    let lab = Lab::up("simulated", None);
    lab.order(&["inject", "j"]);
    let ends = ["--from", SOURCE, "--to", "tf-dest-vm:5001"];
    let live = lab.json(&[&["path", "-g", GROUP], &ends[..]].concat());
    let causes = |judged: &Value| {
        judged["causes"].as_array().unwrap().iter().map(|one| one["object"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(causes(&live), ["netfilter/tf-dest-vm/filter/INPUT/tcp/5001"], "{live}");
    // What slows the flow at its caller comes before what stops it.
    let mut remedies = live["remedies"].as_array().unwrap().iter();
    let remedy = remedies.find(|one| one["object"] == "netfilter/tf-dest-vm/filter/INPUT/tcp/5001").unwrap();
    let command = json!({"command": "sudo iptables -D INPUT -p tcp -m tcp --dport 5001 -j DROP", "class": "RISKY (change)"});
    assert_eq!(remedy["commands"], json!([command]), "{live}");
    assert!(remedy["effect"].as_str().unwrap().contains("tcp/5001"), "{remedy}");
    let folder = lab.data().join("estate");
    let out = folder.to_str().unwrap();
    assert!(lab.ghost(&["path", "collect", "-g", GROUP, "--out", out]).status.success());
    let offline = lab.json(&[&["path", "--bundle", out], &ends[..]].concat());
    assert_eq!((&offline["verdict"], causes(&offline)), (&live["verdict"], causes(&live)));
}

#[test]
fn a_flow_is_watched_and_asked_about_the_past() {
    let lab = Lab::up("simulated", None);
    let ends = ["--from", SOURCE, "--to", "tf-dest-vm.internal.contoso.com:22"];
    let mut watching =
        lab.started(&[&["path", "-g", GROUP], &ends[..], &["--watch", "--every", "1", "--json"]].concat());
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_ne!(next()["verdict"], "BLOCKED");
    let create = [
        "az",
        "--",
        "network",
        "nsg",
        "rule",
        "create",
        "-g",
        GROUP,
        "--nsg-name",
        "tf-dest-vm-nsg",
        "-n",
        "shut-22",
        "--priority",
        "101",
        "--access",
        "Deny",
        "--protocol",
        "Tcp",
        "--destination-port-ranges",
        "22",
    ];
    lab.order(&create);
    let after = next();
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert_eq!(
        (&after["verdict"], &after["causes"][0]["object"]),
        (&json!("BLOCKED"), &json!("nsg/tf-dest-vm-nsg/shut-22"))
    );
    // The rule is newer than the time that is asked about.
    let then = lab.json(&[&["path", "-g", GROUP], &ends[..], &["--at", "1h"]].concat());
    let missing = then["missing"].to_string();
    assert_eq!(then["verdict"], "INDETERMINATE", "{then}");
    assert!(
        missing.contains("networksecuritygroups/tf-dest-vm-nsg") && missing.contains("securityRules/write"),
        "{missing}"
    );
    // What was collected then is certain.
    let top = lab.data().join("estates");
    let out = top.join("2024-05-01T00-00-00Z");
    assert!(lab.ghost(&["path", "collect", "-g", GROUP, "--out", out.to_str().unwrap()]).status.success());
    let dated = |at: &str| {
        lab.ghost(&[&["path", "--bundle", top.to_str().unwrap(), "--json", "--at", at], &ends[..]].concat())
    };
    let judged: Value = serde_json::from_slice(&dated("2024-05-02").stdout).unwrap();
    assert_eq!(judged["verdict"], "BLOCKED", "{judged}");
    assert!(!dated("2024-04-30").status.success());
}
