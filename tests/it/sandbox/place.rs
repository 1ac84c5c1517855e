//! Where commands run: an empty network namespace, a folder with a capture, the real binary under strace.

#![expect(
    clippy::disallowed_methods,
    reason = "the proof starts real programs, and reads its settings from the environment"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use ghost_shell::Policy;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;

use super::trace::{self, Call};

pub(super) const GHOST: &str = env!("CARGO_BIN_EXE_ghost");

/// Reads a setting of this test; empty where it is not set.
pub(super) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns the seed of this run: the given one, in the long run a new one each time, else always the same.
pub(super) fn seed() -> u64 {
    let each_time = !setting("GHOST_LONG").is_empty();
    let usual = if each_time { u64::from(std::process::id()) } else { 20_261_130 };
    setting("GHOST_TEST_SEED").parse().unwrap_or(usual)
}

/// Tells why a test has to be skipped. Fails where a program is missing and nobody said that it may be.
pub(super) fn lacking(programs: &[&str]) -> Option<String> {
    let without = setting("GHOST_TEST_WITHOUT");
    let excused = |name: &str| without.split(',').any(|word| word.trim() == name);
    if let Some(name) = programs.iter().find(|name| excused(name)) {
        return Some(format!("GHOST_TEST_WITHOUT names {name}"));
    }
    let present = |name: &str| {
        ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].iter().any(|dir| Path::new(dir).join(name).exists())
    };
    let missing: Vec<&&str> = programs.iter().filter(|name| !present(name)).collect();
    assert!(
        missing.is_empty(),
        "{missing:?} not installed; GHOST_TEST_WITHOUT=NAME,… runs the tests without"
    );
    None
}

/// A network namespace of its own, with nothing in it but `lo`, and folders to work in.
pub(super) struct Place {
    holder: Child,
    folder: TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        // Who lists a table of the old kind first registers it, so that the gate asks: here they are all there.
        const TABLES: &str = "for table in filter nat mangle raw security; do iptables-legacy -t $table -S; ip6tables-legacy -t $table -S; done >/run/tables 2>&1; true";
        Self::with(tempfile::tempdir().unwrap(), &format!("{{ {TABLES}; }}"))
    }

    /// Makes a place that a line of a shell prepares further, in its mounts and with its folder as `$1`.
    pub(super) fn with(folder: TempDir, prepare: &str) -> Self {
        for name in ["work", "logs"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("work/a.pcap"), capture()).unwrap();
        // Mounts of its own too, so that a namespace with a name is nobody else's.
        let prepare = format!(
            "ip link set lo up && mount -t tmpfs none /run && mkdir /run/netns && ip netns add blue && {prepare} && echo up && read end"
        );
        let mut holder = Command::new("unshare")
            .args(["--net", "--mount", "sh", "-c", &prepare, "sh"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "up\n", "no network namespace can be made: unshare has to be permitted");
        Self { holder, folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Prepares the binary for one command, with a data folder of its own.
    pub(super) fn ghost(&self, command: &str, timeout: u64, data: &Path) -> Command {
        let mut ghost = Command::new(GHOST);
        ghost
            .args(["shell", "run", "--reasoning", "the proof of the sandbox", "--json", "--data-dir"])
            .arg(data);
        ghost.arg("--config").arg(knowing(command, &data.with_extension("toml")));
        ghost.args(["--timeout", &timeout.to_string(), "--", command]);
        ghost
    }

    /// Prepares a program, with its arguments and environment, to run inside.
    pub(super) fn inside(&self, program: &Command) -> Command {
        self.behind(&[], program)
    }

    /// Prepares a program to run inside and under strace.
    pub(super) fn traced(&self, program: &Command, log: &Path, calls: &str) -> Command {
        let log = log.to_str().unwrap();
        let strace = [
            "timeout",
            "600",
            "strace",
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-y",
            "-s",
            "4096",
            "-e",
            "signal=none",
            "-e",
            calls,
            "-o",
            log,
        ];
        self.behind(&strace, program)
    }

    fn behind(&self, before: &[&str], program: &Command) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--mount", "--target", &self.holder.id().to_string()]);
        command.arg(format!("--wd={}", self.path("work").display())).args(before);
        command.arg(program.get_program()).args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::null());
        command
    }

    /// Runs a closure on a thread inside the network namespace: a socket that it opens stays there.
    pub(super) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let namespace = fs::File::open(format!("/proc/{}/ns/net", self.holder.id())).unwrap();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
                work()
            });
            thread.join().unwrap()
        })
    }

    /// Answers every connection to a port inside with one short page; returns the port.
    pub(super) fn serve(&self, port: u16) -> u16 {
        let listener = self.within(|| TcpListener::bind(("127.0.0.1", port)).unwrap());
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n");
            }
        });
        port
    }

    /// Describes everything that a SAFE command must leave as it is.
    pub(super) fn state(&self) -> String {
        const LOOK: &str = "ip address; ip route show table all; ip rule; ip netns; tc qdisc; nft list ruleset; iptables-legacy -S; ip6tables-legacy -S; \
            ipset save; sysctl net 2>/dev/null | grep -v -e conntrack_count -e random -e dentry; find . -printf '%p %s %m %U %T@\\n' | sort";
        let Output { stdout, .. } =
            self.inside(Command::new("sh").args(["-c", LOOK])).stderr(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&stdout).into_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// Runs a program under strace; returns its output and the calls that change something.
pub(super) fn trace(place: &Place, program: &Command, log: &Path) -> (Output, Vec<Call>) {
    traced(place, program, log, trace::CALLS)
}

/// Runs a program under strace; returns its output and the calls that look for a file, too.
pub(super) fn trace_reads(place: &Place, program: &Command, log: &Path) -> (Output, Vec<Call>) {
    traced(place, program, log, &format!("{},{}", trace::CALLS, trace::READS))
}

fn traced(place: &Place, program: &Command, log: &Path, calls: &str) -> (Output, Vec<Call>) {
    let output = place.traced(program, log, calls).output().unwrap();
    let calls = trace::read(&String::from_utf8_lossy(&fs::read(log).unwrap_or_default()));
    let _ = fs::remove_file(log);
    (output, calls)
}

/// Writes a configuration that knows every place that a command names: the proof is about what runs, not about whom it may ask.
fn knowing(command: &str, file: &Path) -> PathBuf {
    let places = Policy::builtin().unwrap().classify(command).destinations;
    fs::write(file, format!("[shell]\ndestinations = {}\n", serde_json::json!(places))).unwrap();
    file.to_owned()
}

/// Returns a capture of two datagrams from 127.0.0.1 to 127.0.0.1, port 53.
fn capture() -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    // The file's header: magic, version 2.4, longest packet, link type 101 (IP without a link layer).
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        bytes.extend(word.to_le_bytes());
    }
    for second in 1..=2_u32 {
        let packet = [
            0x45, 0, 0, 32, 0, 1, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1, 0x13, 0x88, 0, 53, 0, 12,
            0, 0, 1, 2, 3, 4,
        ];
        for word in [second, 0, 32, 32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(packet);
    }
    bytes
}
