//! A Redis server of a test's own, on a free port and in a folder of its own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::PATIENCE;

/// The bus of a cluster listens this far above.
const BUS: u16 = 10_000;

pub(super) struct Server {
    child: Child,
    folder: TempDir,
    pub(super) port: u16,
    is_cluster: bool,
}

impl Server {
    /// Starts a server; nothing where the tests are told to go without.
    pub(super) fn start() -> Option<Self> {
        Self::of_kind(false)
    }

    /// Starts a cluster of one node, which refuses a script whose keys are in two slots.
    pub(super) fn cluster() -> Option<Self> {
        let server = Self::of_kind(true)?;
        assert!(server.say("CLUSTER ADDSLOTSRANGE 0 16383").starts_with("+OK"));
        server.wait_for("CLUSTER INFO", "cluster_state:ok");
        Some(server)
    }

    #[expect(clippy::disallowed_methods, reason = "how a tester says what is missing")]
    fn of_kind(is_cluster: bool) -> Option<Self> {
        let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
        if without.split([',', ' ']).any(|name| name == "redis-server") {
            return None;
        }
        let mut folder = tempfile::tempdir().unwrap();
        loop {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            if port.checked_add(BUS).is_none() {
                continue;
            }
            let mut server = Self { child: spawn(&folder, port, is_cluster), folder, port, is_cluster };
            if server.is_up() {
                return Some(server);
            }
            // Somebody else took the port in between.
            folder = tempfile::tempdir().unwrap();
        }
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Ends the server as a power cut does to a process.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on what is on the disk.
    pub(super) fn restart(&mut self) {
        self.child = spawn(&self.folder, self.port, self.is_cluster);
        assert!(self.is_up());
    }

    pub(super) fn pause(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
    }

    pub(super) fn resume(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    /// Sends one command and returns the beginning of the answer; nothing where nobody answers.
    pub(super) fn say(&self, command: &str) -> String {
        let answer = || {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
            stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
            stream.write_all(format!("{command}\r\n").as_bytes()).ok()?;
            let mut buffer = [0; 4096];
            let length = stream.read(&mut buffer).ok()?;
            Some(String::from_utf8_lossy(buffer.get(..length)?).into_owned())
        };
        answer().unwrap_or_default()
    }

    fn wait_for(&self, command: &str, part: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.say(command).contains(part) {
            assert!(Instant::now() < deadline, "{command}: no {part}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it answers, or says that it ended.
    fn is_up(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while !self.say("PING").starts_with("+PONG") {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(Instant::now() < deadline, "redis-server does not answer");
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "a real server is what the test is about")]
fn spawn(folder: &TempDir, port: u16, is_cluster: bool) -> Child {
    let yes_or_no = if is_cluster { "yes" } else { "no" };
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"])
        .args(["--appendfsync", "always", "--cluster-enabled", yes_or_no, "--dir"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("redis-server: {error} (install it, or set GHOST_TEST_WITHOUT=redis-server)")
        })
}
