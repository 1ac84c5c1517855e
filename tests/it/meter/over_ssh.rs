//! A measurement between two machines that are reached by ssh: namespaces behind a router, each with a sshd of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use ghost_base::{SystemClock, Timestamp};
use ghost_cloud::guest::{GuestAccess, Hop, Identity, Ssh};
use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{
    AccessMethod, Compare, MeasurementRequest, Run, State, Store, TestSeconds, carry_out,
};
use ghost_cloud::operation::ShellExecutor;
use ghost_shell::{Policy, Shell};
use rustix::process::getpid;
use tempfile::TempDir;

use super::place::{Human, Table, document};
use crate::netns::skipped;

#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
fn program(name: &str) -> Command {
    Command::new(name)
}

/// Two machines behind a router that this machine is connected to. They go with the test.
struct Machines {
    name: String,
    /// The first three numbers of their addresses: two runs at once have two networks.
    network: String,
    folder: TempDir,
    servers: Vec<Child>,
}

impl Machines {
    fn up() -> Self {
        let process = getpid().as_raw_nonzero().get();
        let (name, network) = (format!("gst{process}"), format!("198.18.{}", process % 256));
        let mut machines = Self { name, network, folder: tempfile::tempdir().unwrap(), servers: Vec::new() };
        let (name, network, router) = (&machines.name, &machines.network, format!("{}r", machines.name));
        for end in ["r", "a", "b"] {
            run("ip", &format!("netns add {name}{end}"));
        }
        let link = |near: &str, far: &str, end: &str| {
            run("ip", &format!("link add {name}{near} type veth peer name {name}{far}"));
            run("ip", &format!("link set {name}{far} netns {name}{end}"));
        };
        link("0", "1", "r");
        run("ip", &format!("addr add {network}.1/30 dev {name}0"));
        run("ip", &format!("link set {name}0 up"));
        let within = |end: &str, words: &str| run("ip", &format!("-n {name}{end} {words}"));
        within("r", &format!("addr add {network}.2/30 dev {name}1"));
        within("r", &format!("link set {name}1 up"));
        for (end, number, address, gate) in
            [("a", 2, machines.source(), 9), ("b", 4, machines.destination(), 21)]
        {
            let (near, far) = (number.to_string(), (number + 1).to_string());
            link(&near, &far, end);
            run("ip", &format!("link set {name}{near} netns {router}"));
            within("r", &format!("addr add {network}.{gate}/30 dev {name}{near}"));
            within("r", &format!("link set {name}{near} up"));
            within(end, &format!("addr add {address}/30 dev {name}{far}"));
            within(end, &format!("link set {name}{far} up"));
            within(end, "link set lo up");
            within(end, &format!("route add default via {network}.{gate}"));
        }
        run("ip", &format!("netns exec {router} sysctl -qw net.ipv4.ip_forward=1"));
        run("ip", &format!("route add {network}.0/24 via {network}.2"));
        machines.serve();
        machines
    }

    fn source(&self) -> String {
        format!("{}.10", self.network)
    }

    fn destination(&self) -> String {
        format!("{}.20", self.network)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn serve(&mut self) {
        let (source, destination) = (self.source(), self.destination());
        for name in ["user", &source, &destination] {
            let mut keygen = program("ssh-keygen");
            done(keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(self.at(name)));
        }
        let key = |name: &str| std::fs::read_to_string(self.at(&format!("{name}.pub"))).unwrap();
        std::fs::write(self.at("authorized"), key("user")).unwrap();
        let known = [&source, &destination].map(|address| format!("{address} {}", key(address)));
        std::fs::write(self.at("known"), known.concat()).unwrap();
        // It insists on this folder, which the package's service makes.
        std::fs::create_dir_all("/run/sshd").unwrap();
        for (end, address) in [("a", &source), ("b", &destination)] {
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
            let log = self.at(&format!("{end}.log"));
            server.arg(config).stdin(Stdio::null()).stderr(std::fs::File::create(&log).unwrap());
            let mut server = server.spawn().unwrap();
            while std::net::TcpStream::connect((address.as_str(), 22)).is_err() {
                let ended = server.try_wait().unwrap();
                assert_eq!(ended, None, "{}", std::fs::read_to_string(&log).unwrap());
                std::thread::yield_now();
            }
            self.servers.push(server);
        }
    }

    fn ssh(&self, address: &str) -> Box<Ssh> {
        let hop = Hop::new("root", address, 22, Identity::Key(self.at("user"))).unwrap();
        Box::new(Ssh::new(hop, None, &self.at("known")).unwrap())
    }

    fn listeners(&self) -> String {
        ["a", "b"].map(|end| run("ip", &format!("netns exec {}{end} ss -Hltn", self.name))).concat()
    }

    fn ask(&self, store: &Store, session: &str) -> MeasurementRequest {
        let ask = MeasurementRequest {
            session: session.parse().unwrap(),
            source: self.source(),
            destination: self.destination(),
            place: None,
            access: AccessMethod::Ssh(self.ssh(&self.source()), self.ssh(&self.destination())),
            test_type: TestType::Both,
            iterations: 2,
            both_directions: true,
            seconds: TestSeconds { latency: 1, throughput: 1 },
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
        let known = [self.source(), self.destination()]
            .map(|address| GuestAccess::Ssh(self.ssh(&address)).known().unwrap());
        let policy = Policy::builtin().unwrap().clone().carried_by(known);
        let shell = Shell::builder(session.parse().unwrap(), data)
            .approver(Arc::new(human.clone()))
            .policy(Arc::new(policy))
            .build()
            .unwrap();
        let gate = ShellExecutor::new(Arc::new(shell), data.join("evidence"));
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

/// Runs a line, which has to go well.
fn run(name: &str, words: &str) -> String {
    done(program(name).args(words.split(' ')))
}

fn done(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[tokio::test]
async fn a_path_between_machines_that_are_reached_by_ssh_is_measured_in_both_directions() {
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
