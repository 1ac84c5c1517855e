//! A measurement between two machines that are reached by ssh: namespaces behind a router, each with a sshd of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use ghost_agent::base::{SystemClock, Timestamp};
use ghost_agent::cloud::errand::Gate;
use ghost_agent::cloud::guest::{Hop, Identity, Reach, Ssh};
use ghost_agent::meter::TestType;
use ghost_agent::meter::run::{Ask, Compare, Run, Seconds, State, Store, Way, carry_out};
use ghost_agent::shell::{Policy, Shell};
use rustix::process::getpid;
use tempfile::TempDir;

use super::place::{Human, Table, document};
use crate::netns::skipped;

const SOURCE: &str = "198.18.97.10";
const DESTINATION: &str = "198.18.97.20";

#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
fn program(name: &str) -> Command {
    Command::new(name)
}

/// Two machines behind a router that this machine is connected to. They go with the test.
struct Machines {
    name: String,
    folder: TempDir,
    servers: Vec<Child>,
}

impl Machines {
    fn up() -> Self {
        let name = format!("gst{}", getpid().as_raw_nonzero());
        let mut machines = Self { name, folder: tempfile::tempdir().unwrap(), servers: Vec::new() };
        let (name, router) = (&machines.name, format!("{}r", machines.name));
        for end in ["r", "a", "b"] {
            run("ip", &format!("netns add {name}{end}"));
        }
        let link = |near: &str, far: &str, end: &str| {
            run("ip", &format!("link add {name}{near} type veth peer name {name}{far}"));
            run("ip", &format!("link set {name}{far} netns {name}{end}"));
        };
        link("0", "1", "r");
        run("ip", &format!("addr add 198.18.97.1/30 dev {name}0"));
        run("ip", &format!("link set {name}0 up"));
        let within = |end: &str, words: &str| run("ip", &format!("-n {name}{end} {words}"));
        within("r", &format!("addr add 198.18.97.2/30 dev {name}1"));
        within("r", &format!("link set {name}1 up"));
        for (end, number, address, gate) in
            [("a", 2, SOURCE, "198.18.97.9"), ("b", 4, DESTINATION, "198.18.97.21")]
        {
            let (near, far) = (number.to_string(), (number + 1).to_string());
            link(&near, &far, end);
            run("ip", &format!("link set {name}{near} netns {router}"));
            within("r", &format!("addr add {gate}/30 dev {name}{near}"));
            within("r", &format!("link set {name}{near} up"));
            within(end, &format!("addr add {address}/30 dev {name}{far}"));
            within(end, &format!("link set {name}{far} up"));
            within(end, "link set lo up");
            within(end, &format!("route add default via {gate}"));
        }
        run("ip", &format!("netns exec {router} sysctl -qw net.ipv4.ip_forward=1"));
        run("ip", "route add 198.18.97.0/24 via 198.18.97.2");
        machines.serve();
        machines
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn serve(&mut self) {
        for name in ["user", SOURCE, DESTINATION] {
            run("ssh-keygen", &format!("-q -t ed25519 -N= -f {}", self.at(name).display()));
        }
        let key = |name: &str| std::fs::read_to_string(self.at(&format!("{name}.pub"))).unwrap();
        std::fs::write(self.at("authorized"), key("user")).unwrap();
        let known = [SOURCE, DESTINATION].map(|address| format!("{address} {}", key(address)));
        std::fs::write(self.at("known"), known.concat()).unwrap();
        // It insists on this folder, which the package's service makes.
        std::fs::create_dir_all("/run/sshd").unwrap();
        for (end, address) in [("a", SOURCE), ("b", DESTINATION)] {
            let config = self.at(&format!("{end}.config"));
            let (host, keys) = (self.at(address), self.at("authorized"));
            let text = format!(
                "ListenAddress {address}\nPort 22\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
                 PasswordAuthentication no\nPermitRootLogin prohibit-password\n",
                host.display(),
                keys.display()
            );
            std::fs::write(&config, text).unwrap();
            let mut server = program("ip");
            server.args([
                "netns",
                "exec",
                &format!("{}{end}", self.name),
                "/usr/sbin/sshd",
                "-D",
                "-e",
                "-f",
            ]);
            let log = std::fs::File::create(self.at(&format!("{end}.log"))).unwrap();
            self.servers.push(server.arg(config).stdin(Stdio::null()).stderr(log).spawn().unwrap());
            while std::net::TcpStream::connect((address, 22)).is_err() {
                std::thread::yield_now();
            }
        }
    }

    fn ssh(&self, address: &str) -> Box<Ssh> {
        let hop = Hop::new("root", address, 22, Identity::Key(self.at("user"))).unwrap();
        Box::new(Ssh::new(hop, None, &self.at("known")).unwrap())
    }

    fn listeners(&self) -> String {
        ["a", "b"].map(|end| run("ip", &format!("netns exec {}{end} ss -Hltn", self.name))).concat()
    }

    fn ask(&self, store: &Store, session: &str) -> Ask {
        let ask = Ask {
            session: session.parse().unwrap(),
            source: SOURCE.to_owned(),
            destination: DESTINATION.to_owned(),
            place: None,
            way: Way::Ssh(self.ssh(SOURCE), self.ssh(DESTINATION)),
            test_type: TestType::Both,
            iterations: 2,
            both_directions: true,
            seconds: Seconds { latency: 1, throughput: 1 },
            storage: None,
            folder: store.folder().display().to_string(),
            is_baseline: false,
            compare: Compare::Nothing,
            tolerance: 20.0,
            force: false,
        };
        ask.check().unwrap()
    }

    async fn measured(&self, data: &Path, session: &str, human: &Human) -> Run {
        let store = Store::open(data).unwrap();
        let ask = self.ask(&store, session);
        let known = [SOURCE, DESTINATION].map(|address| Reach::Ssh(self.ssh(address)).known().unwrap());
        let policy = Policy::builtin().unwrap().clone().carried_by(known);
        let shell = Shell::builder(session.parse().unwrap(), data)
            .approver(Arc::new(human.clone()))
            .policy(Arc::new(policy))
            .build()
            .unwrap();
        let gate = Gate::new(Arc::new(shell), data.join("evidence"));
        let table = Table { gate, dies_at: None, dead: Arc::default() };
        let mut run = Run::new(ask, Timestamp::from_millis(1_700_000_000_000));
        carry_out(&mut run, &table, &store, &SystemClock).await.unwrap();
        run
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for server in &mut self.servers {
            drop(server.kill());
            drop(server.wait());
        }
        // The links go with the namespaces, the route with its link.
        for end in ["a", "b", "r"] {
            drop(program("ip").args(["netns", "del", &format!("{}{end}", self.name)]).output());
        }
    }
}

/// Runs a line, which has to go well. `=` alone behind a letter stands for nothing at all.
fn run(name: &str, words: &str) -> String {
    let words = words.split(' ').flat_map(|word| match word.strip_suffix('=') {
        Some(option) if option.starts_with('-') => vec![option, ""],
        _ => vec![word],
    });
    let ran = program(name).args(words.collect::<Vec<_>>()).output().unwrap();
    assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[tokio::test]
async fn a_way_between_machines_that_are_reached_by_ssh_is_measured_both_ways() {
    if skipped() {
        return;
    }
    let machines = Machines::up();
    let data = machines.at("data");
    let human = Human::default();
    let run = machines.measured(&data, "pmeter_ssh", &human).await;
    let asked = human.asked.lock().unwrap().len();
    assert_eq!((run.state(), asked), (State::Success, 1), "{:?}", run.trouble());
    let result = document(&Store::open(&data).unwrap(), "pmeter_ssh", "result");
    assert_eq!(result["test_metadata"]["provider"], "ssh");
    for results in [&result["results"], &result["results"]["way_back"]] {
        let number = |name: &str| results[name].as_f64().unwrap_or_else(|| panic!("{result:#}"));
        assert!((1.0..10_000.0).contains(&number("latency_p90")), "{result:#}");
        assert!(number("throughput_p90") > 0.1, "{result:#}");
    }
    let left = machines.listeners();
    assert!(!left.contains(":5001 ") && !left.contains(":19765 "), "{left}");

    // Whoever is denied has started nothing.
    let human = Human { never: "iperf", ..Human::default() };
    let run = machines.measured(&data, "pmeter_denied", &human).await;
    assert_eq!(run.state(), State::Denied, "{:?}", run.trouble());
    assert_eq!(machines.listeners(), left);
}
