//! What `forecast` says of a change, against what is read after the change was made in the lab.
//!
//! Twelve changes in the short run, 300 with `GHOST_LONG=1`; `GHOST_TEST_SEED` repeats a run.

use std::path::Path;

use ghost_inspect::forecast::{Outcome, Scope, command, forecast};
use ghost_inspect::path::{Bundle, Reading};
use serde_json::{Value, json};

use super::namespaces::skipped;
use super::stage::{DEST, GROUP, Lab};
use crate::random::{Random, is_long, seed};

/// After so many changes the lab begins anew.
const BETWEEN_RESETS: usize = 6;

/// Reads what `ghost path collect` wrote.
fn read(folder: &Path) -> Bundle {
    fn collect(top: &Path, folder: &Path, found: &mut Vec<(String, Reading)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(top, &path, found);
            } else {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
                found.push((name, Reading::Text(std::fs::read_to_string(&path).unwrap())));
            }
        }
    }
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    Bundle::from_files(found.iter().map(|(name, reading)| (name.as_str(), reading.clone()))).unwrap()
}

fn collected(lab: &Lab, home: &Path, number: usize) -> Bundle {
    let folder = home.join(format!("bundle-{number}"));
    let ran = lab.ghost(&["path", "collect", "-g", GROUP, "--out", folder.to_str().unwrap()]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    read(&folder)
}

fn rows(reading: Option<&Reading>) -> Vec<Value> {
    let Some(Reading::Text(text)) = reading else { return Vec::new() };
    serde_json::from_str(text).unwrap()
}

fn name(row: &Value) -> String {
    row["name"].as_str().unwrap().to_owned()
}

/// A command that changes the network of the lab, as somebody would type it.
fn drawn(bundle: &Bundle, random: &mut Random) -> Vec<String> {
    let (groups, tables) = (rows(bundle.cloud.groups.as_ref()), rows(bundle.cloud.route_tables.as_ref()));
    let (networks, nics) = (rows(bundle.cloud.networks.as_ref()), rows(bundle.cloud.interfaces.as_ref()));
    let machines: Vec<&String> = bundle.guests.keys().collect();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let port = *random.pick(&["22", "5001", "443", "80", "5432", "8000-9000", "*"]);
    let place = *random.pick(&[
        "*",
        "Internet",
        "VirtualNetwork",
        "10.0.1.0/24",
        "10.0.2.0/24",
        "10.0.0.0/8",
        "203.0.113.0/24",
    ]);
    let script = |machine: &str, line: &str| {
        let mut all = words(&format!(
            "az vm run-command invoke -g {GROUP} -n {machine} --command-id RunShellScript --scripts"
        ));
        all.push(line.to_owned());
        all
    };
    loop {
        match random.below(10) {
            0 | 1 if !groups.is_empty() => {
                let group = name(random.pick(&groups));
                let number = 100 + random.below(3_900);
                let access = *random.pick(&["Allow", "Deny", "Deny"]);
                let direction = *random.pick(&["Inbound", "Inbound", "Outbound"]);
                let protocol = *random.pick(&["Tcp", "*", "Icmp"]);
                return words(&format!(
                    "az network nsg rule create -g {GROUP} --nsg-name {group} -n drawn-{number} --priority {number} --access {access} \
                     --direction {direction} --protocol {protocol} --source-address-prefixes {place} \
                     --destination-address-prefixes * --destination-port-ranges {port}"
                ));
            }
            2 | 3 if !groups.is_empty() => {
                let group = random.pick(&groups).clone();
                let rules = group["securityRules"].as_array().cloned().unwrap_or_default();
                if rules.is_empty() {
                    continue;
                }
                let (group, rule) = (name(&group), name(random.pick(&rules)));
                return words(&if random.below(2) == 0 {
                    format!("az network nsg rule delete -g {GROUP} --nsg-name {group} -n {rule}")
                } else {
                    let access = *random.pick(&["Allow", "Deny"]);
                    format!(
                        "az network nsg rule update -g {GROUP} --nsg-name {group} -n {rule} --access {access}"
                    )
                });
            }
            4 if !tables.is_empty() => {
                let table = name(random.pick(&tables));
                let prefix =
                    *random.pick(&["0.0.0.0/0", "10.0.1.0/24", "10.0.2.0/24", "10.0.0.0/16", "10.1.0.0/16"]);
                let hop = *random.pick(&[
                    "None",
                    "VirtualAppliance --next-hop-ip-address 10.0.1.99",
                    "VnetLocal",
                    "Internet",
                ]);
                let number = random.below(1_000);
                return words(&format!(
                    "az network route-table route create -g {GROUP} --route-table-name {table} -n drawn-{number} \
                     --address-prefix {prefix} --next-hop-type {hop}"
                ));
            }
            5 if !tables.is_empty() => {
                let table = random.pick(&tables).clone();
                let routes = table["routes"].as_array().cloned().unwrap_or_default();
                if routes.is_empty() {
                    continue;
                }
                let (table, route) = (name(&table), name(random.pick(&routes)));
                return words(&format!(
                    "az network route-table route delete -g {GROUP} --route-table-name {table} -n {route}"
                ));
            }
            6 => {
                let network = random.pick(&networks).clone();
                let subnets = network["subnets"].as_array().cloned().unwrap_or_default();
                if subnets.is_empty() {
                    continue;
                }
                let (network, subnet) = (name(&network), name(random.pick(&subnets)));
                let mut all = words(&format!(
                    "az network vnet subnet update -g {GROUP} --vnet-name {network} -n {subnet}"
                ));
                let (option, of) = if random.below(2) == 0 || tables.is_empty() {
                    ("--network-security-group", &groups)
                } else {
                    ("--route-table", &tables)
                };
                let other =
                    if of.is_empty() || random.below(3) == 0 { String::new() } else { name(random.pick(of)) };
                all.extend([option.to_owned(), other]);
                return all;
            }
            7 => {
                let nic = name(random.pick(&nics));
                let forwards = *random.pick(&["true", "false"]);
                return words(&format!(
                    "az network nic update -g {GROUP} -n {nic} --ip-forwarding {forwards}"
                ));
            }
            // A machine whose agent was cut off is not read any more.
            8 if !machines.is_empty() => {
                let port = *random.pick(&["22", "5001", "443"]);
                let deed = *random.pick(&["-I INPUT 1", "-A INPUT", "-I OUTPUT 1", "-A OUTPUT"]);
                let target = *random.pick(&["DROP", "REJECT", "ACCEPT"]);
                let machine = random.pick(&machines).to_string();
                return script(&machine, &format!("iptables {deed} -p tcp --dport {port} -j {target}"));
            }
            9 if !machines.is_empty() => {
                let machine = random.pick(&machines).to_string();
                let policy = *random.pick(&["DROP", "ACCEPT"]);
                return script(&machine, &format!("iptables -P INPUT {policy}"));
            }
            _ => {}
        }
    }
}

#[test]
fn what_is_foreseen_of_a_change_is_what_is_read_after_it() {
    let mut random = Random::new(seed("forecasts"));
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::up("simulated", None);
    let count = if is_long() { 300 } else { 12 };
    let (mut foreseen, mut unknown, mut changed, mut wrong) = (0, 0, 0, Vec::new());
    let mut before = collected(&lab, home.path(), 0);
    let mut number = 0;
    while changed < count {
        number += 1;
        assert!(number < count * 4, "{changed} of {count} changes were made");
        if number % BETWEEN_RESETS == 0 {
            lab.order(&["reset"]);
            before = collected(&lab, home.path(), number * 2);
        }
        let words = drawn(&before, &mut random);
        let edits = command(&words, &before).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let found = forecast(&before, &edits, &Scope::default());
        let made: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        // What the platform refuses changes nothing: two rules of one priority, a table of another region.
        if lab.ordered(&[&["az", "--"], made.as_slice()].concat()).is_err() {
            continue;
        }
        changed += 1;
        let after = collected(&lab, home.path(), number * 2 + 1);
        let wrongs = found.contradictions(&after);
        if !wrongs.is_empty() {
            wrong.push(format!("{}\n  {:?}\n  {:?}", words.join(" "), wrongs.first(), found.flows.first()));
        }
        foreseen += found.compared;
        unknown += found.flows.iter().filter(|one| one.after == Outcome::Indeterminate).count();
        before = after;
    }
    assert!(wrong.is_empty(), "{} of {changed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unknown * 20 <= foreseen, "{unknown} of {foreseen} are unknown");
}

/// Lets a script investigate; who is asked approves. Returns the events, and what was printed beside them.
fn investigated(lab: &Lab, script: &Path, consent: &str) -> (Vec<Value>, String) {
    let words = [
        "investigate",
        "tf-source-vm cannot reach tf-dest-vm on tcp 22",
        "--brain",
        "scripted",
        "--json",
        "--approve",
        consent,
        "--script",
        script.to_str().unwrap(),
    ];
    let ran = lab.ghost_answered(&words, "approve");
    let text = String::from_utf8(ran.stdout).unwrap();
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (events, String::from_utf8_lossy(&ran.stderr).into_owned())
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["kind"] == json!(kind)).map(|event| &event["body"])
}

fn turn(tool: &str, arguments: Value) -> Value {
    json!({"text": "", "calls": [{"tool": tool, "arguments": arguments}]})
}

#[test]
fn after_an_approved_change_the_flows_are_looked_at_again_and_the_forecast_is_confirmed_once() {
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::up("simulated", None);
    lab.order(&["inject", "e"]);
    let change = |reasoning: &str| {
        let command = format!(
            "az network route-table route delete -g {GROUP} --route-table-name ghost-demo-blackhole-rt -n ghost-demo-nva-redirect"
        );
        turn("run_shell_cmd", json!({"command": command, "reasoning": reasoning, "hypothesis_id": "H1"}))
    };
    let turns = [
        turn("manage_hypotheses", json!({"add": [{"id": "H1", "description": "a route leads away"}]})),
        turn(
            "check_path",
            json!({"source": "tf-source-vm", "destination": "tf-dest-vm", "protocol": "tcp", "port": 22, "resource_group": GROUP, "reasoning": "to see", "hypothesis_id": "H1"}),
        ),
        change("it leads to an appliance that is gone"),
    ];
    let script = home.path().join("turns.jsonl");
    std::fs::write(&script, turns.map(|turn| turn.to_string()).join("\n")).unwrap();
    let (events, printed) = investigated(&lab, &script, "ask");
    let checked: Vec<&Value> = of_kind(&events, "forecast_checked").collect();
    let [checked] = checked.as_slice() else { panic!("{checked:?}: {printed}") };
    assert_eq!(checked["verdict"], json!("confirmed"), "{checked}: {printed}");
    assert!(checked["words"].as_str().unwrap().contains("8 of them otherwise than before"), "{checked}");
    // Only the cloud was read again, and nobody was asked about that.
    let at = events.iter().position(|event| {
        event["kind"] == json!("done") && event["body"]["action"] == json!("user_approved")
    });
    let after: Vec<&str> =
        of_kind(&events[at.unwrap()..], "proposed").map(|body| body["command"].as_str().unwrap()).collect();
    assert!(
        !after.is_empty()
            && after.iter().all(|line| line.starts_with("az ") && !line.contains("run-command")),
        "{after:?}"
    );
    assert_eq!(of_kind(&events, "approval_requested").count(), 1);
    let learned =
        of_kind(&events, "returned").find(|body| body["content"].as_str().unwrap().contains("confirmed"));
    assert!(learned.is_some(), "the model learns it");
    // Who was asked read what it would do, and the whole is decided the same once more.
    assert!(
        printed.contains(
            "Then: harmless, 8 of 10 flows end otherwise\n      opened: tf-source-vm -> tf-dest-vm tcp/22\n"
        ),
        "{printed}"
    );
    assert!(printed.contains("undone by: az network route-table route create"), "{printed}");
    let session = events[0]["session"].as_str().unwrap();
    let file = home.path().join("export.json");
    std::fs::write(&file, lab.ghost(&["sessions", "export", session]).stdout).unwrap();
    let replayed = lab.ghost(&["replay", file.to_str().unwrap()]);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stdout));
}

#[test]
fn whoever_is_asked_about_a_change_reads_what_it_does_to_flows_and_how_to_take_it_back() {
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::up("simulated", None);
    lab.order(&["inject", "e"]);
    let run = |command: &str| {
        turn(
            "run_shell_cmd",
            json!({"command": command, "reasoning": "to see what happens", "hypothesis_id": "H1"}),
        )
    };
    let table =
        format!("az network route-table route {{}} -g {GROUP} --route-table-name ghost-demo-blackhole-rt -n");
    let delete = format!("{} ghost-demo-nva-redirect", table.replace("{}", "delete"));
    let create = |name: &str| {
        format!("{} {name} --address-prefix 0.0.0.0/0 --next-hop-type None", table.replace("{}", "create"))
    };
    let turns = [
        turn("manage_hypotheses", json!({"add": [{"id": "H1", "description": "a route leads away"}]})),
        run(&create("first")),
        turn(
            "check_path",
            json!({"source": "tf-source-vm", "destination": "tf-dest-vm", "protocol": "tcp", "port": 22, "resource_group": GROUP, "reasoning": "to see", "hypothesis_id": "H1"}),
        ),
        run(&delete),
        run(&create("second")),
    ];
    let script = home.path().join("turns.jsonl");
    std::fs::write(&script, turns.map(|turn| turn.to_string()).join("\n")).unwrap();
    let (events, printed) = investigated(&lab, &script, "deny");
    let asked: Vec<Value> =
        of_kind(&events, "approval_requested").map(|body| body["forecast"].clone()).collect();
    let [unread, opens, cuts] = asked.as_slice() else { panic!("{asked:?}: {printed}") };
    // Nothing was read before the first one.
    assert_eq!(unread["verdict"], json!("unknown"));
    assert_eq!(opens["verdict"], json!("harmless"), "{opens}");
    assert!(opens["flows"].to_string().contains("opened: tf-source-vm → tf-dest-vm tcp/22"), "{opens}");
    let back = opens["undo"].as_str().unwrap();
    assert!(
        back.contains("route create") && back.contains("10.0.1.5/32") && back.contains("10.0.1.100"),
        "{back}"
    );
    assert_eq!(cuts["verdict"], json!("harmful"), "{cuts}");
    assert!(cuts["flows"].to_string().contains("internet"), "{cuts}");
}

/// A machine with a rule of `nft`.
const GUARDED: &str = r#"
id = "guarded"
title = "guarded"
prompt = "tf-dest-vm drops"
outcome = ["CONFIRMED"]

[[fault]]
kind = "nft"
vm = "tf-dest-vm"
table = "guard"
protocol = "tcp"
port = "8081"
verdict = "drop"
"#;

#[test]
fn on_a_real_kernel_a_rule_that_was_put_in_and_a_chain_that_was_emptied_are_taken_back_by_what_is_offered() {
    if skipped("netns") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::up("netns", None);
    let case = home.path().join("guarded.toml");
    std::fs::write(&case, GUARDED).unwrap();
    lab.order(&["inject", case.to_str().unwrap()]);
    let approved = |command: &str| {
        let turns = [
            turn("manage_hypotheses", json!({"add": [{"id": "H1", "description": "a rule is wrong"}]})),
            turn(
                "check_path",
                json!({"source": "tf-source-vm", "destination": "tf-dest-vm", "protocol": "tcp", "port": 22, "resource_group": GROUP, "reasoning": "to see", "hypothesis_id": "H1"}),
            ),
            turn(
                "run_shell_cmd",
                json!({"command": command, "reasoning": "to change it", "hypothesis_id": "H1"}),
            ),
        ];
        let script = home.path().join("turns.jsonl");
        std::fs::write(&script, turns.map(|turn| turn.to_string()).join("\n")).unwrap();
        investigated(&lab, &script, "ask")
    };
    let rules = || lab.vm(&["netfilter", "inspect"], DEST).to_string();
    let inside = |line: &str| {
        format!(
            "az vm run-command invoke -g {GROUP} -n {DEST} --command-id RunShellScript --scripts '{line}'"
        )
    };
    let before = rules();
    assert!(before.contains("8081"), "{before}");

    let (events, printed) = approved(&inside("nft insert rule inet guard input tcp dport 9999 drop"));
    assert!(rules().contains("9999"), "{printed}");
    let asked = of_kind(&events, "approval_requested").next().unwrap();
    assert_eq!(
        (&asked["forecast"]["undo"], &asked["forecast"]["is_undone_later"]),
        (&Value::Null, &json!(true)),
        "{asked}"
    );
    let checked = of_kind(&events, "forecast_checked").next().unwrap_or_else(|| panic!("{printed}"));
    let back = checked["undo"].as_str().unwrap_or_else(|| panic!("{checked}"));
    assert!(back.contains("nft delete rule inet guard input handle "), "{back}");
    assert!(printed.contains("how it is undone is said after the run"), "{printed}");
    let (_, printed) = approved(back);
    assert!(!rules().contains("9999"), "{printed}");

    let (events, printed) = approved(&inside("nft flush chain inet guard input"));
    assert!(!rules().contains("8081"), "{printed}");
    let back = of_kind(&events, "approval_requested").next().unwrap()["forecast"]["undo"].as_str();
    let (_, printed) = approved(back.unwrap_or_else(|| panic!("{printed}")));
    assert!(rules().contains("8081"), "{back:?} {printed}");
}
