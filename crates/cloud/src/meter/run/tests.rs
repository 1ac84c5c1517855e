//! Facts about runs, with guests that answer as the real ones do.

use serde_json::{Value, json};

use super::progress::{Run, State};
use super::request::{AccessMethod, Compare, MeasurementRequest, TestSeconds};
use super::summary;
use crate::meter::TestType;
use crate::operation::{CommandKind, CommandOutcome, CommandRequest, Next, Operation as _};
use crate::{Account, Container, Name, ResourceGroup};
use ghost_base::Timestamp;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn ask() -> MeasurementRequest {
    MeasurementRequest {
        session: "pmeter_1".parse().unwrap(),
        source: "web-1".to_owned(),
        destination: "10.0.1.5".to_owned(),
        place: Some(ResourceGroup { subscription: None, group: Name::parse("prod").unwrap() }),
        access: AccessMethod::Platform,
        test_type: TestType::Both,
        iterations: 3,
        both_directions: false,
        seconds: TestSeconds::default(),
        storage: None,
        folder: "/data/meter".to_owned(),
        is_baseline: false,
        compare: Compare::Nothing,
        tolerance: 20.0,
        force: false,
    }
}

/// Two machines and what is between them.
struct World {
    rule: Option<Value>,
    tools: [bool; 2],
    listens: &'static str,
    latency: Vec<&'static str>,
    client: &'static str,
    /// In Gbit/s, an iteration each.
    throughput: Vec<&'static str>,
    up: [bool; 2],
    /// How many bytes were reported.
    log: String,
    installs: bool,
    asked: usize,
    grant: Vec<String>,
    denies: bool,
    ran: Vec<String>,
}

impl World {
    fn new() -> Self {
        Self {
            rule: None,
            tools: [true; 2],
            listens: "",
            latency: vec!["tcp_lat:\n    latency  =  124 us\nghost-meter end 0"; 8],
            client: "[SUM] 0.0-10.0 sec  18.1 GBytes  62.1 Gbits/sec\nghost-meter end 0",
            throughput: vec!["1.95 Gbits/sec"; 8],
            up: [false; 2],
            log: "head\n".to_owned(),
            installs: true,
            asked: 0,
            grant: Vec::new(),
            denies: false,
            ran: Vec::new(),
        }
    }

    fn answer(&mut self, order: &CommandRequest) -> CommandOutcome {
        let text = match &order.what {
            CommandKind::Line(line) => line.text(),
            CommandKind::Script { carrier, script, variables } => {
                format!("{} {script} {variables:?}", carrier.text())
            }
        };
        if !order.plan.is_empty() {
            match self.grant.iter().position(|one| *one == text) {
                Some(at) => drop(self.grant.drain(..=at)),
                None => {
                    self.asked += 1;
                    if self.denies {
                        return CommandOutcome::Denied { reason: "not now".to_owned(), all: true };
                    }
                    assert_eq!(order.plan.first(), Some(&text));
                    self.grant = order.plan.get(1..).unwrap().to_vec();
                }
            }
        }
        self.ran.push(text.clone());
        let stdout =
            if text.contains("run-command") { framed(&self.guest(&text)) } else { self.cloud(&text) };
        CommandOutcome::Ran { exit: Some(0), stdout, stderr: String::new() }
    }

    fn cloud(&self, text: &str) -> String {
        let machine = |name: &str| json!({"id": format!("/subscriptions/s/resourceGroups/PROD/providers/Microsoft.Compute/virtualMachines/{name}")});
        let interface = |name: &str, address: &str| {
            json!({"name": format!("{name}-nic"), "id": "/subscriptions/s/resourceGroups/prod/x", "virtualMachine": machine(name),
                "ipConfigurations": [{"privateIPAddress": address}]})
        };
        if text.contains("nic list ") {
            return json!([interface("web-1", "10.0.1.4"), interface("db-1", "10.0.1.5")]).to_string();
        }
        if text.contains("list-effective-nsg") {
            let allow = json!({"name": "securityRules/all", "priority": 400, "direction": "Inbound", "access": "Allow", "protocol": "All",
                "sourceAddressPrefix": "0.0.0.0/0", "destinationAddressPrefix": "0.0.0.0/0", "sourcePortRange": "0-65535", "destinationPortRange": "0-65535"});
            let mut out = allow.clone();
            out["direction"] = json!("Outbound");
            let rules: Vec<Value> = self.rule.iter().cloned().chain([allow, out]).collect();
            return json!({"value": [{"networkSecurityGroup": {"id": "/x/networkSecurityGroups/db-nsg"},
                "association": {"networkInterface": {"id": "/x/nic"}}, "effectiveSecurityRules": rules}]})
            .to_string();
        }
        "{}".to_owned()
    }

    fn guest(&mut self, text: &str) -> String {
        let side = usize::from(text.contains("--name db-1"));
        let up = self.up.get_mut(side).unwrap();
        if text.contains("meter-look") {
            let tools = if self.tools[side] {
                "tool qperf\ntool iperf\niperf iperf version 2.1.8 (12 August 2022) pthreads\n"
            } else {
                "iperf sh: 1: iperf: not found\n"
            };
            let listens = if side == 1 { self.listens } else { "" };
            return format!("ghost-meter look\n{tools}{listens}ghost-meter end 0\n");
        }
        if text.contains("apt-get") {
            self.tools[side] |= self.installs;
        } else if text.contains("setsid") {
            *up = true;
        } else if text.contains("kill -KILL") {
            *up = false;
        } else if text.contains("tcp_lat") {
            return self.latency.remove(0).to_owned();
        } else if text.contains("iperf -c") {
            let rate = self.throughput.remove(0);
            self.log.push_str(&format!("[SUM] 0.0000-10.01 sec  2.27 GBytes  {rate}\n"));
            return self.client.to_owned();
        } else if text.contains("meter-report") {
            let from: usize =
                text.rsplit("\"from\", \"").next().unwrap().split('"').next().unwrap().parse().unwrap();
            return format!(
                "ghost-meter report {from} {}\n{}ghost-meter end 0\n",
                self.log.len(),
                &self.log[from..]
            );
        }
        "ghost-meter end 0\n".to_owned()
    }

    /// Drives a run to its end; every so many commands, something else may happen to the answer.
    fn drive(
        &mut self,
        ask: MeasurementRequest,
        mut odd: impl FnMut(usize, &mut Run, CommandOutcome) -> CommandOutcome,
    ) -> Run {
        let mut run = Run::new(ask.check().unwrap(), NOW);
        let mut now = NOW;
        for at in 0..200 {
            match run.next(now) {
                Next::Run(order) => {
                    let answer = self.answer(&order);
                    let answer = odd(at, &mut run, answer);
                    run.on_result(&answer, now);
                }
                Next::Wait { until, .. } => now = until,
                Next::Over(state) => {
                    assert_eq!(state, run.state());
                    return run;
                }
            }
        }
        panic!("it does not end: {:?}", run.doing());
    }

    fn healthy(&mut self, ask: MeasurementRequest) -> Run {
        self.drive(ask, |_, _, answer| answer)
    }
}

fn framed(text: &str) -> String {
    json!({"value": [{"code": "ProvisioningState/succeeded", "message": format!("Enable succeeded: \n[stdout]\n{text}\n[stderr]\n")}]}).to_string()
}

fn document(run: &Run, what: &str) -> Value {
    run.documents().into_iter().find(|(name, _)| *name == what).unwrap_or_else(|| panic!("no {what}")).1
}

#[test]
fn a_healthy_path_is_measured_under_one_consent() {
    let mut world = World::new();
    let run = world.healthy(ask());
    assert_eq!((run.state(), world.asked, world.up), (State::Success, 1, [false; 2]), "{:?}", run.trouble());
    let result = document(&run, "result");
    assert_eq!(result["results"]["latency_p90"], 124.0);
    assert_eq!(result["results"]["throughput_p90"], 1.95, "the server's figure, not the client's");
    assert_eq!(result["results"]["is_stable"], true);
    assert_eq!(result["results"]["iteration_data"].as_array().unwrap().len(), 3);
    assert_eq!(result["test_metadata"]["destination"], "db-1");
    assert_eq!(result["preflight"]["ports_open"], true);
    let text = summary(&run, "/data/meter/pmeter_1_result.json");
    assert!(text.contains("124.0 µs") && text.contains("1.95 Gbps") && text.lines().count() < 24, "{text}");
}

#[test]
fn a_blocked_port_is_named_with_its_rule_and_nothing_is_changed() {
    let mut world = World::new();
    world.rule = Some(
        json!({"name": "securityRules/no-iperf", "priority": 200, "direction": "Inbound", "access": "Deny", "protocol": "Tcp",
        "sourceAddressPrefix": "0.0.0.0/0", "destinationAddressPrefix": "0.0.0.0/0", "sourcePortRange": "0-65535", "destinationPortRange": "5001-5001"}),
    );
    let run = world.healthy(ask());
    assert_eq!((run.state(), world.asked), (State::AbortedPreflight, 0));
    assert_eq!(
        run.trouble().unwrap().text,
        "TCP 5001 is blocked inbound at db-1: no-iperf of db-nsg, priority 200"
    );
    assert_eq!(document(&run, "preflight")["blocked_ports"], json!([5001]));
    let run = World { rule: world.rule, ..World::new() }.healthy(MeasurementRequest { force: true, ..ask() });
    assert_eq!(run.state(), State::Success);
}

#[test]
fn stale_servers_are_ended_and_other_programs_are_not() {
    let mut world = World {
        listens: "listen LISTEN 0 5 *:19765 *:* users:((\"qperf\",pid=4504,fd=4))\n",
        ..World::new()
    };
    let run = world.healthy(ask());
    assert_eq!((run.state(), world.asked), (State::Success, 1));
    assert_eq!(world.ran.iter().filter(|line| line.contains("kill -KILL")).count(), 2);
    let mut world =
        World { listens: "listen LISTEN 0 5 *:5001 *:* users:((\"nginx\",pid=9,fd=4))\n", ..World::new() };
    let run = world.healthy(ask());
    assert_eq!((run.state(), world.asked), (State::AbortedPreflight, 0));
    assert_eq!(run.trouble().unwrap().text, "port 5001 on db-1 is taken by nginx");
}

#[test]
fn missing_tools_are_installed_under_the_same_consent() {
    let mut world = World { tools: [true, false], ..World::new() };
    let run = world.healthy(ask());
    assert_eq!((run.state(), world.asked), (State::Success, 1));
    assert_eq!(document(&run, "preflight")["actions_taken"], json!(["install qperf and iperf on db-1"]));
    let mut world = World { tools: [false, true], installs: false, ..World::new() };
    let run = world.healthy(ask());
    assert_eq!(run.state(), State::AbortedPreflight);
    assert!(run.trouble().unwrap().text.contains("could not be installed on web-1"));
    assert!(!world.ran.iter().any(|line| line.contains("setsid")), "nothing was started");
}

#[test]
fn a_no_changes_nothing() {
    let mut world = World { denies: true, ..World::new() };
    let run = world.healthy(ask());
    assert_eq!((run.state(), world.asked), (State::Denied, 1), "nobody is asked twice");
    assert!(world.ran.iter().all(|line| !line.contains("setsid")));
}

#[test]
fn what_is_refused_or_late_counts_as_nothing_and_what_is_unreadable_does_not_count() {
    let mut world = World::new();
    for (at, text) in
        [(1, "10.0.1.5: failed to connect\nghost-meter end 1"), (3, "tcp_lat:\nghost-meter end 137")]
    {
        world.latency[at] = text;
    }
    let run = world.healthy(MeasurementRequest { test_type: TestType::Latency, ..ask() });
    let results = &document(&run, "result")["results"];
    assert_eq!(
        (&results["anomaly_type"], &results["is_stable"]),
        (&json!("CONNECTIVITY_DROP"), &json!(false))
    );
    assert_eq!(
        results["iteration_data"][0],
        json!({"iteration": 1, "latency_us": 0.0, "throughput_gbps": null, "latency_error": "10.0.1.5: failed to connect"})
    );
    assert_eq!(results["iteration_data"][2]["latency_error"], "no end within 17 s");
    let mut world = World::new();
    world.latency[2] = "    latency  =  1";
    let run = world.healthy(MeasurementRequest { test_type: TestType::Latency, ..ask() });
    let results = &document(&run, "result")["results"];
    assert_eq!((&results["is_stable"], &results["latency_p90"]), (&Value::Null, &json!(124.0)));
    assert_eq!(results["iteration_data"][1]["latency_us"], Value::Null);
}

#[test]
fn two_dead_iterations_in_a_row_end_it_without_success() {
    let mut world =
        World { client: "tcp connect failed: Connection refused\nghost-meter end 137", ..World::new() };
    let run = world.healthy(MeasurementRequest { test_type: TestType::Throughput, iterations: 8, ..ask() });
    let result = document(&run, "result");
    assert_eq!((run.state(), &result["status"]), (State::Failed, &json!("failed")));
    assert_eq!(result["results"]["iteration_data"].as_array().map(Vec::len), Some(2));
    assert_eq!(result["results"]["anomaly_type"], "CONNECTIVITY_DROP");
    let trouble_text = run.trouble().unwrap().text.clone();
    assert!(
        trouble_text.contains("two iterations of throughput in a row failed")
            && trouble_text.contains("6 more were not run"),
        "{trouble_text}"
    );
    // Its servers are ended.
    assert!(run.left().is_empty());
}

#[test]
fn a_client_that_is_refused_needs_no_report() {
    let mut world =
        World { client: "tcp connect failed: Connection refused\nghost-meter end 137", ..World::new() };
    let run = world.healthy(MeasurementRequest { test_type: TestType::Throughput, ..ask() });
    let results = &document(&run, "result")["results"];
    assert_eq!(
        (&results["anomaly_type"], &results["throughput_p90"]),
        (&json!("CONNECTIVITY_DROP"), &json!(0.0))
    );
    assert!(!world.ran.iter().any(|line| line.contains("meter-report")));
}

#[test]
fn whenever_it_is_ended_its_servers_are_ended_without_another_question() {
    let whole = {
        let mut world = World::new();
        drop(world.healthy(MeasurementRequest { both_directions: true, ..ask() }));
        world.ran.len()
    };
    for end in 0..whole {
        let mut world = World::new();
        let mut begun = false;
        let mut run = Run::new(MeasurementRequest { both_directions: true, ..ask() }.check().unwrap(), NOW);
        for at in 0..200 {
            let Next::Run(order) = run.next(NOW) else { break };
            let answer = world.answer(&order);
            run.on_result(&answer, NOW);
            begun |= world.up.contains(&true);
            if at == end {
                run.cancel(NOW);
            }
        }
        assert_eq!(world.up, [false; 2], "ended after {end}");
        assert!(world.asked <= 1, "ended after {end}");
        let state = if end + 1 == whole { State::Success } else { State::Canceled };
        assert_eq!(run.state(), state, "ended after {end}, servers had been up: {begun}");
    }
}

#[test]
fn whatever_a_guest_prints_the_run_ends_and_leaves_no_server() {
    let cut = |answer: &CommandOutcome| match answer {
        CommandOutcome::Ran { stdout, .. } => CommandOutcome::Ran {
            exit: Some(0),
            stdout: stdout.get(..stdout.len() / 2).unwrap_or_default().to_owned(),
            stderr: String::new(),
        },
        other @ (CommandOutcome::Denied { .. }
        | CommandOutcome::Refused { .. }
        | CommandOutcome::NotRun { .. }
        | CommandOutcome::Unknown { .. }) => other.clone(),
    };
    let oddities: [fn(&CommandOutcome) -> CommandOutcome; 4] = [
        |_| CommandOutcome::Ran {
            exit: Some(0),
            stdout: framed("Segmentation fault\n"),
            stderr: String::new(),
        },
        |_| CommandOutcome::Ran {
            exit: Some(1),
            stdout: String::new(),
            stderr: "ERROR: (VMAgentStatusCommunicationError) x".to_owned(),
        },
        |_| CommandOutcome::Unknown { reason: "it took too long".to_owned() },
        |_| CommandOutcome::Ran { exit: Some(0), stdout: "\u{0}".to_owned(), stderr: String::new() },
    ];
    for odd in 0..=oddities.len() {
        for victim in 0..22 {
            let mut world = World::new();
            let run = world.drive(ask(), |at, _, answer| match oddities.get(odd) {
                _ if at != victim => answer,
                Some(odd) => odd(&answer),
                None => cut(&answer),
            });
            assert!(world.up == [false; 2], "oddity {odd} at {victim}: {:?}", run.trouble());
            assert!(world.asked <= 1, "oddity {odd} at {victim}");
            let counted = run.judged()[0].is_some_and(|judged| judged.anomaly().is_some());
            assert!(!counted, "oddity {odd} at {victim}: what cannot be read is no drop");
        }
    }
}

#[test]
fn a_return_path_is_reported_beside_the_forward_path() {
    let mut world = World::new();
    let run =
        world.healthy(MeasurementRequest { both_directions: true, test_type: TestType::Latency, ..ask() });
    let results = &document(&run, "result")["results"];
    assert_eq!(results["way_back"]["latency_p90"], 124.0);
    let clients = |machine: &str| {
        let own = |line: &&String| line.contains("tcp_lat") && line.contains(&format!("--name {machine}"));
        world.ran.iter().filter(own).count()
    };
    assert_eq!((clients("web-1"), clients("db-1")), (4, 4));
}

#[test]
fn a_baseline_is_compared_with_and_a_failed_upload_is_a_warning() {
    let storage = (Account::parse("logs1").unwrap(), Container::parse("results").unwrap());
    let base = MeasurementRequest { storage: Some(storage), test_type: TestType::Latency, ..ask() };
    let mut world = World::new();
    let pair = MeasurementRequest { compare: Compare::Pair(Vec::new()), is_baseline: true, ..base };
    let run = world.drive(pair, |_, _, answer| answer);
    assert!(run.is_baseline() && world.asked == 1, "{:?}", world.ran);
    let fetched = world.ran.iter().find(|line| line.contains("blob download")).unwrap();
    assert!(fetched.contains("10_0_1_4_10_0_1_5_baseline.json"), "{fetched}");
    assert_eq!(world.ran.iter().filter(|line| line.contains("blob upload")).count(), 2);
    let last = super::baseline::Baseline::parse(&run.result().to_string()).unwrap();
    let mut world = World::new();
    world.latency = vec!["    latency  =  200 us\nghost-meter end 0"; 8];
    let name = "10_0_1_4_10_0_1_5_baseline.json".to_owned();
    let storage = (Account::parse("logs1").unwrap(), Container::parse("results").unwrap());
    let compared = MeasurementRequest {
        compare: Compare::Pair(vec![(name, last)]),
        storage: Some(storage),
        test_type: TestType::Latency,
        ..ask()
    };
    let run = world.drive(compared, |_, run, answer| match run.doing() {
        Some(doing) if doing.contains("upload") => CommandOutcome::Ran {
            exit: Some(1),
            stdout: String::new(),
            stderr: "ERROR: (AuthorizationFailed) no".to_owned(),
        },
        _ => answer,
    });
    let comparison = run.comparison().unwrap();
    assert!(comparison.is_regression() && (comparison.latency.unwrap() - 61.290).abs() < 0.01);
    assert_eq!(run.state(), State::Success);
    assert!(summary(&run, "x").contains("upload failed"));
}
