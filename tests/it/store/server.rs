//! A Redis server of a test's own, on a free port and in a folder of its own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::PATIENCE;

/// The bus of a cluster listens this far above.
const BUS: u16 = 10_000;

/// More than all servers of a run keep.
const ROOM: u64 = 2 << 30;

pub(crate) struct Server {
    child: Child,
    folder: TempDir,
    pub(crate) port: u16,
    arguments: Vec<String>,
}

impl Server {
    /// Starts a server; nothing where the tests run without it.
    pub(crate) fn start() -> Option<Self> {
        Self::with(&[])
    }

    /// Starts a server with more arguments.
    pub(crate) fn with(more: &[&str]) -> Option<Self> {
        let mut arguments = vec!["--save", "", "--appendonly", "yes", "--appendfsync", "always"];
        arguments.extend(more);
        Self::of_kind(&arguments, None)
    }

    /// Starts a sentinel, which keeps what it learns in a file.
    pub(crate) fn sentinel(rules: &str) -> Option<Self> {
        Self::of_kind(&["--sentinel"], Some(rules))
    }

    fn of_kind(arguments: &[&str], rules: Option<&str>) -> Option<Self> {
        if is_without("redis-server") {
            return None;
        }
        for _ in 0..16 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            if port.checked_add(BUS).is_none() {
                continue;
            }
            let folder = folder();
            let mut all = Vec::new();
            if let Some(rules) = rules {
                let file = folder.path().join("sentinel.conf");
                std::fs::write(&file, rules).unwrap();
                all.push(file.to_str().unwrap().to_owned());
            }
            all.extend(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"].map(str::to_owned));
            all.push(folder.path().to_str().unwrap().to_owned());
            all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
            let mut server = Self { child: spawn(&all), folder, port, arguments: all };
            if server.is_up() {
                return Some(server);
            }
            // Somebody else took the port in between.
        }
        panic!("redis-server ends at once with {arguments:?}");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Ends the server as a power cut does to a process.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on what is on the disk.
    pub(crate) fn restart(&mut self) {
        assert!(self.folder.path().exists());
        self.child = spawn(&self.arguments);
        assert!(self.is_up());
    }

    /// Ends the server at once; it can be started again.
    pub(crate) fn strike(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }

    /// Copies what is on the disk now.
    pub(crate) fn copy(&self) -> TempDir {
        let copy = folder();
        copy_files(self.folder.path(), copy.path());
        copy
    }

    /// Ends the server, and starts it again on what an older copy holds.
    pub(crate) fn restart_on(&mut self, copy: &TempDir) {
        self.kill();
        std::fs::remove_dir_all(self.folder.path().join("appendonlydir")).unwrap();
        copy_files(copy.path(), self.folder.path());
        self.restart();
    }

    pub(crate) fn pause(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
    }

    pub(crate) fn resume(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    /// Sends one command and returns the beginning of the answer; nothing where nobody answers.
    pub(crate) fn say(&self, command: &str) -> String {
        let answer = || {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
            stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
            stream.write_all(format!("{command}\r\n").as_bytes()).ok()?;
            let mut buffer = [0; 16384];
            let length = stream.read(&mut buffer).ok()?;
            Some(String::from_utf8_lossy(buffer.get(..length)?).into_owned())
        };
        answer().unwrap_or_default()
    }

    pub(crate) fn wait_for(&self, command: &str, part: &str) {
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

/// Makes a folder in memory where there is room: a server that waits for a disk on which everybody else writes, too, answers nobody
/// meanwhile, and a sentinel takes it for dead. What it has kept outlives its process there as on a disk.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let has_room = rustix::fs::statvfs(memory).is_ok_and(|free| free.f_bavail * free.f_frsize > ROOM);
    if has_room { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn copy_files(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (here, there) = (entry.path(), to.join(entry.file_name()));
        if here.is_dir() {
            std::fs::create_dir_all(&there).unwrap();
            copy_files(&here, &there);
        } else {
            std::fs::copy(&here, &there).unwrap();
        }
    }
}

/// Whether the tests run without a program.
#[expect(clippy::disallowed_methods, reason = "how a tester says what is missing")]
pub(super) fn is_without(program: &str) -> bool {
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    without.split([',', ' ']).any(|name| name == program)
}

#[expect(clippy::disallowed_methods, reason = "a real server is what the test is about")]
fn spawn(arguments: &[String]) -> Child {
    // Another server, or another version, can be tried by hand.
    let program = std::env::var("GHOST_TEST_REDIS_SERVER").unwrap_or_else(|_| "redis-server".to_owned());
    Command::new(&program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap_or_else(
        |error| panic!("{program}: {error} (install it, or set GHOST_TEST_WITHOUT=redis-server)"),
    )
}
