//! Guests reached by ssh: a real sshd on the loopback, with keys and a configuration of its own.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use ghost_cloud::guest::{GuestAccess, Hop, Identity, Ssh, printed};
use ghost_cloud::operation::{CommandOutcome, ShellExecutor};
use ghost_shell::{Approver, CancelSignal, Choice, Decision, DenyAll, Policy, Request, Reviewer, Shell};
use tempfile::TempDir;

use crate::random::setting;

/// Tells why nothing can be run here. Fails where a program is missing and nobody said that it may be.
#[expect(clippy::print_stdout, reason = "whoever runs it should see what was skipped")]
fn skipped() -> bool {
    let without = setting("GHOST_TEST_WITHOUT").split(',').any(|word| word.trim() == "sshd");
    let root = rustix::process::geteuid().is_root();
    if without || !root {
        println!("skipped: {}", if without { "GHOST_TEST_WITHOUT names sshd" } else { "sshd needs root" });
        return true;
    }
    for program in ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"] {
        assert!(Path::new(program).exists(), "{program} is missing; GHOST_TEST_WITHOUT=sshd runs without");
    }
    false
}

#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
fn program(path: &str) -> Command {
    Command::new(path)
}

/// A sshd that ends with the test.
struct Sshd {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Sshd {
    fn up() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["host", "other", "user", "stranger"] {
            let made = program("/usr/bin/ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(at(name))
                .status()
                .unwrap();
            assert!(made.success());
        }
        // It insists on this folder, which the package's service makes.
        std::fs::create_dir_all("/run/sshd").unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let key = |name: &str| std::fs::read_to_string(at(&format!("{name}.pub"))).unwrap();
        for (file, name) in [("known", "host"), ("changed", "other")] {
            std::fs::write(at(file), format!("[127.0.0.1]:{port} {}", key(name))).unwrap();
        }
        std::fs::write(at("nobody"), "").unwrap();
        std::fs::write(at("authorized"), key("user")).unwrap();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n",
            at("host").display(),
            at("authorized").display(),
        );
        std::fs::write(at("config"), config).unwrap();
        let log = std::fs::File::create(at("log")).unwrap();
        let child = program("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(at("config"))
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut sshd = Self { child, port, folder };
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert_eq!(sshd.child.try_wait().unwrap(), None, "{}", sshd.log());
            std::thread::yield_now();
        }
        sshd
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.at("log")).unwrap()
    }

    /// Reads the queues of this machine by ssh.
    fn look(&self, key: &str, known: &str, more: &[&str]) -> Output {
        let mut command = ghost(&self.at("data"));
        command.args([
            "qdisc",
            "inspect",
            "--json",
            "--provider",
            "ssh",
            "--target-vm-ip",
            "127.0.0.1",
            "--ssh-user",
            "root",
        ]);
        command.args(["--ssh-port", &self.port.to_string()]).arg("--target-ssh-key").arg(self.at(key));
        command.arg("--known-hosts").arg(self.at(known)).args(more).output().unwrap()
    }

    /// Reads the network of this machine by ssh.
    fn host(&self, key: &str, known: &str) -> Output {
        let mut command = ghost(&self.at("data"));
        command.args(["host", "--json", "--host", "root@127.0.0.1", "--ssh-port", &self.port.to_string()]);
        command.arg("--ssh-key").arg(self.at(key)).arg("--known-hosts").arg(self.at(known));
        command.output().unwrap()
    }

    fn reach(&self) -> GuestAccess {
        let hop = Hop::new("root", "127.0.0.1", self.port, Identity::Key(self.at("user"))).unwrap();
        GuestAccess::Ssh(Box::new(Ssh::new(hop, None, &self.at("known")).unwrap()))
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn ghost(data: &Path) -> Command {
    let mut command = program(env!("CARGO_BIN_EXE_ghost"));
    command.env_clear().env("GHOST_DATA_DIR", data).stdin(Stdio::null());
    command
}

fn reported(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

#[test]
fn a_known_host_is_looked_at_without_a_click() {
    if skipped() {
        return;
    }
    let sshd = Sshd::up();
    let ran = sshd.look("user", "known", &[]);
    assert!(ran.status.success(), "{}\n{}", reported(&ran), sshd.log());
    let found: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(found["devices"].as_array().unwrap().iter().any(|one| one["dev"] == "lo"), "{found}");
}

#[test]
fn the_network_of_a_host_is_read_in_one_connection_and_only_by_a_known_key() {
    if skipped() {
        return;
    }
    let sshd = Sshd::up();
    let ran = sshd.host("user", "known");
    assert!(ran.status.success(), "{}\n{}", reported(&ran), sshd.log());
    let found: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let host = &found["hosts"][0];
    assert_eq!((&host["name"], &host["is_root"]), (&"127.0.0.1".into(), &true.into()), "{found:#}");
    assert_eq!(host["closed"], serde_json::json!([]), "{found:#}");
    assert_eq!(sshd.log().matches("Accepted publickey").count(), 1, "{}", sshd.log());
    for (key, known) in [("user", "nobody"), ("user", "changed"), ("stranger", "known")] {
        let ran = sshd.host(key, known);
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(1), 0), "{key} {known}: {}", reported(&ran));
        assert!(
            reported(&ran).contains("error: reading the network of root@127.0.0.1"),
            "{}",
            reported(&ran)
        );
    }
    assert_eq!(sshd.log().matches("Accepted publickey").count(), 1, "{}", sshd.log());
}

#[test]
fn a_host_behind_a_bastion_is_reached_and_both_keys_are_checked() {
    if skipped() {
        return;
    }
    let sshd = Sshd::up();
    let port = sshd.port.to_string();
    let bastion = ["--bastion-public-ip", "127.0.0.1", "--bastion-port", &port];
    let ran = sshd.look("user", "known", &bastion);
    assert!(ran.status.success(), "{}\n{}", reported(&ran), sshd.log());
    assert_eq!(sshd.log().matches("Accepted publickey").count(), 2, "{}", sshd.log());
    let ran = sshd.look("user", "changed", &bastion);
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(sshd.log().matches("Accepted publickey").count(), 2, "{}", sshd.log());
}

#[test]
fn a_host_whose_key_is_another_or_unknown_is_not_spoken_with() {
    if skipped() {
        return;
    }
    let sshd = Sshd::up();
    for known in ["changed", "nobody"] {
        let ran = sshd.look("user", known, &[]);
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(1), 0), "{known}");
        assert!(reported(&ran).contains("known hosts"), "{known}: {}", reported(&ran));
    }
    assert!(!sshd.log().contains("Accepted"), "{}", sshd.log());
    let ran = sshd.look("stranger", "known", &[]);
    assert!(ran.status.code() == Some(1) && reported(&ran).contains("authorized_keys"), "{}", reported(&ran));
}

/// Says yes, and holds what was asked against what it should be.
struct Yes;

#[async_trait]
impl Approver for Yes {
    async fn decide(&self, request: &Request) -> Decision {
        assert!(request.command.starts_with("ssh "), "{}", request.command);
        Decision { choice: Choice::Approve, who: Reviewer::new("ana") }
    }
}

#[tokio::test]
async fn lines_that_change_something_ask_and_arrive_as_they_are() {
    if skipped() {
        return;
    }
    let sshd = Sshd::up();
    let reach = sshd.reach();
    let file = sshd.at("it's there");
    let lines =
        [format!("echo 'a \"b\" $HOME' > \"{}\"", file.display()), "echo \"done: $((1 + 2))\"".to_owned()];
    let order = reach.lines(&lines, "leave a note");
    let run = async |approver: Arc<dyn Approver>| {
        let policy = Policy::builtin().unwrap().clone().carried_by(reach.known());
        let builder = Shell::builder("s1".parse().unwrap(), &sshd.at("data")).approver(approver);
        let shell = builder.policy(Arc::new(policy)).build().unwrap();
        let gate = ShellExecutor::new(Arc::new(shell), sshd.at("data").join("evidence"));
        gate.run(&order, CancelSignal::never()).await
    };
    assert!(matches!(run(Arc::new(DenyAll)).await, CommandOutcome::Denied { .. }));
    assert!(!file.exists());
    let CommandOutcome::Ran { exit, stdout, stderr } = run(Arc::new(Yes)).await else {
        panic!("it did not run")
    };
    assert_eq!((exit, printed(&reach, &stdout).unwrap().as_str()), (Some(0), "done: 3\n"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a \"b\" $HOME\n");
}
