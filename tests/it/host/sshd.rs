//! A sshd with keys and a configuration of its own, in a namespace or on the loopback; it ends with the test.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::random::setting;

/// Tells whether nothing can be run here. Fails where a program is missing and nobody said that it may be.
#[expect(clippy::print_stdout, reason = "whoever runs it should see what was skipped")]
pub(super) fn skipped() -> bool {
    let without = setting("GHOST_TEST_WITHOUT").split(',').any(|word| word.trim() == "sshd");
    if without || !rustix::process::geteuid().is_root() {
        println!("skipped: {}", if without { "GHOST_TEST_WITHOUT names sshd" } else { "sshd needs root" });
        return true;
    }
    for program in ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"] {
        assert!(Path::new(program).exists(), "{program} is missing; GHOST_TEST_WITHOUT=sshd runs without");
    }
    false
}

#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
pub(super) fn program(path: &str) -> Command {
    Command::new(path)
}

/// Begins a program within a namespace, or here.
pub(super) fn within(space: Option<&str>, path: &str) -> Command {
    match space {
        Some(space) => {
            let mut command = program("ip");
            command.args(["netns", "exec", space, path]);
            command
        }
        None => program(path),
    }
}

/// Keys that hosts and users of one test share.
pub(super) struct Keys {
    folder: TempDir,
}

impl Keys {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["host", "user"] {
            let path = folder.path().join(name);
            let mut made = program("/usr/bin/ssh-keygen");
            made.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
            assert!(made.status().unwrap().success());
        }
        Self { folder }
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn public(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(&format!("{name}.pub"))).unwrap()
    }

    /// Writes the host key down for some machines, and returns where.
    pub(super) fn known(&self, machines: &[(&str, u16)]) -> PathBuf {
        let line = |(address, port): &(&str, u16)| format!("[{address}]:{port} {}", self.public("host"));
        let file = self.at("known");
        std::fs::write(&file, machines.iter().map(line).collect::<String>()).unwrap();
        file
    }
}

/// A server that takes ssh.
pub(super) struct Sshd {
    child: Child,
    pub(super) port: u16,
}

impl Sshd {
    /// Starts one at an address; `forced` runs in the place of whatever is asked for.
    pub(super) fn up(keys: &Keys, space: Option<&str>, address: &str, forced: Option<&str>) -> Self {
        let port = match space {
            Some(_) => 2222,
            None => free_port(),
        };
        Self::of_ports(keys, space, address, &[(port, forced)], "")
    }

    /// Starts one on the loopback that takes one sign-in at once, and refuses whoever comes meanwhile.
    pub(super) fn of_one_sign_in(keys: &Keys) -> Self {
        Self::of_ports(keys, None, "127.0.0.1", &[(free_port(), None)], "MaxStartups 1:100:1\n")
    }

    /// Starts one on the loopback with several ports, each with what runs there in the place of whatever is asked for.
    pub(super) fn of_many(keys: &Keys, forced: &[Option<&str>]) -> (Self, Vec<u16>) {
        let ports: Vec<(u16, Option<&str>)> = forced.iter().map(|line| (free_port(), *line)).collect();
        let server = Self::of_ports(keys, None, "127.0.0.1", &ports, "");
        (server, ports.into_iter().map(|(port, _)| port).collect())
    }

    fn of_ports(
        keys: &Keys,
        space: Option<&str>,
        address: &str,
        ports: &[(u16, Option<&str>)],
        more: &str,
    ) -> Self {
        // It insists on this folder, which the package's service makes.
        std::fs::create_dir_all("/run/sshd").unwrap();
        let port = ports.first().map_or(0, |(port, _)| *port);
        let name = format!("{}-{port}", space.unwrap_or("here"));
        std::fs::write(keys.at("authorized"), keys.public("user")).unwrap();
        let all: String = ports.iter().map(|(port, _)| format!("Port {port}\n")).collect();
        let forced = ports.iter().filter_map(|(port, line)| Some((port, (*line)?)));
        let forced: String =
            forced.map(|(port, line)| format!("Match LocalPort {port}\nForceCommand {line}\n")).collect();
        let config = format!(
            "ListenAddress {address}\n{all}HostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n{more}{forced}",
            keys.at("host").display(),
            keys.at("authorized").display(),
        );
        let file = keys.at(&format!("{name}.config"));
        std::fs::write(&file, config).unwrap();
        let log = keys.at(&format!("{name}.log"));
        let mut command = within(space, "/usr/sbin/sshd");
        command.args(["-D", "-e", "-f"]).arg(&file).stdin(Stdio::null());
        let mut child = command.stderr(std::fs::File::create(&log).unwrap()).spawn().unwrap();
        // Its log says when it listens.
        loop {
            let said = std::fs::read_to_string(&log).unwrap();
            if said.matches("Server listening").count() == ports.len() {
                break;
            }
            assert_eq!(child.try_wait().unwrap(), None, "{said}");
            std::thread::yield_now();
        }
        Self { child, port }
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

impl Drop for Sshd {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
