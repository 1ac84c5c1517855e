//! Facts about commands that Landlock would keep from their work.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use rustix::process::{geteuid, getpid};

use super::{EACCES, EPERM, perl};
use crate::process::tests::{TestFolder, text};
use crate::{Policy, Profile, Socket, Verdict};

fn entering() -> Profile {
    Profile { namespace: true, ..Profile::default() }
}

fn looking() -> Profile {
    Profile { processes: true, sockets: (&[Socket::Netlink]).into(), ..Profile::default() }
}

/// What no command may do to a file, with the error that it gets.
fn changes(path: &str) -> Vec<(String, &'static str)> {
    let forbidden = [
        format!("open(F, '>', '{path}.new')"),
        format!("open(F, '>>', '{path}')"),
        format!("unlink '{path}'"),
        format!("rename '{path}', '{path}.moved'"),
        format!("link '{path}', '{path}.link'"),
        format!("symlink 'x', '{path}.link'"),
        format!("mkdir '{path}.d'"),
        format!("truncate '{path}', 0"),
        format!("syscall({}, -100, $ENV{{HOME}} . '/fifo', 0010600, 0) != -1", libc::SYS_mknodat),
        format!("kill 'TERM', {}", getpid()),
    ];
    // These are denied in every sandbox, by the filter that is loaded last.
    let metadata = [
        line_typed(),
        "socket(S, 1, 1, 0)".to_owned(),
        format!("chmod 0777, '{path}'"),
        format!("chown 1, 1, '{path}'"),
        format!("utime 1, 1, '{path}'"),
    ];
    let denied = forbidden.map(|expression| (expression, EACCES));
    denied.into_iter().chain(metadata.map(|expression| (expression, EPERM))).collect()
}

fn line_typed() -> String {
    "open(F, '<', '/dev/null') && ioctl(F, 0x5412, $_ = 'x')".to_owned()
}

#[tokio::test]
async fn a_command_that_landlock_does_not_watch_changes_nothing() {
    let place = TestFolder::new();
    let path = place.setting.cwd.join("x");
    fs::write(&path, "before").unwrap();
    let name = path.display().to_string();
    for profile in [entering(), looking()] {
        // Under Landlock, which those who are not root keep, a few of these are harmless.
        if profile.processes && !geteuid().is_root() {
            continue;
        }
        for (expression, error) in changes(&name) {
            assert_eq!(perl(&place, &expression, profile.clone()).await, error, "{expression}");
        }
        assert_eq!(perl(&place, &format!("open(F, '+<', '{name}')"), profile).await, EACCES);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(fs::read_dir(&place.setting.cwd).unwrap().count(), 1);
}

#[tokio::test]
async fn a_command_that_enters_a_namespace_mounts_as_ip_does_and_not_otherwise() {
    let remount = format!("syscall({}, 0, $ENV{{HOME}} . '', 0, 0x1020, 0) != -1", libc::SYS_mount);
    assert_eq!(perl(&TestFolder::new(), &remount, entering()).await, EACCES);
}

#[tokio::test]
async fn a_command_that_examines_processes_sees_them_and_cannot_touch_them() {
    let place = TestFolder::new();
    let look = format!("opendir(D, '/proc/{0}/fd') && readlink('/proc/{0}/fd/0')", getpid());
    let attach = format!("syscall({}, 16, {}, 0, 0) != -1", libc::SYS_ptrace, getpid());
    assert_eq!(perl(&place, &attach, looking()).await, EPERM);
    if geteuid().is_root() {
        assert_eq!(perl(&place, &look, looking()).await, "ok");
        assert_eq!(perl(&place, "open(F, '+<', '/dev/null')", looking()).await, "ok", "which lsof needs");
        let memory = format!("open(F, '+<', '/proc/{}/mem')", getpid());
        assert_eq!(perl(&place, &memory, looking()).await, EACCES);
    } else {
        assert_ne!(perl(&place, &look, looking()).await, "ok");
    }
}

#[tokio::test]
async fn the_account_says_whether_processes_were_seen() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!(":{} ", listener.local_addr().unwrap().port());
    let output = TestFolder::new().safe(&["netstat", "-tlnp"], looking()).await;
    let found = output.confinement;
    let line = text(&output.stdout).lines().find(|line| line.contains(&port)).unwrap();
    let named = line.contains(&format!(" {}/", getpid()));
    if geteuid().is_root() {
        assert_eq!(
            (found.landlock.as_str(), found.seccomp.as_str()),
            ("not used: processes", "on, no writes")
        );
        assert_eq!(found.capabilities, "dac_read_search sys_ptrace, as nobody");
        assert!(named, "{line}");
    } else {
        assert!(found.landlock.ends_with(", hides other processes"), "{}", found.landlock);
        assert!(!named, "{line}");
    }
}

/// A network namespace with an address of its own, which is deleted with this value.
struct Namespace(String);

impl Namespace {
    fn new() -> Self {
        let name = format!("ghost-{}", getpid());
        let space = Self(name);
        space.ip("netns add NS");
        space.ip("-n NS address add 10.99.0.1/32 dev lo");
        space.ip("-n NS link set lo up");
        space
    }

    fn ip(&self, words: &str) {
        assert!(ip(&words.replace("NS", &self.0)), "ip {words}");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        ip(&format!("netns del {}", self.0));
    }
}

#[expect(clippy::disallowed_methods, reason = "makes the namespace that the sandboxed command enters")]
fn ip(words: &str) -> bool {
    Command::new("ip").args(words.split(' ')).status().is_ok_and(|status| status.success())
}

/// Only root can enter a namespace.
#[tokio::test]
async fn a_command_behind_ip_netns_exec_runs_in_that_namespace_and_changes_nothing() {
    if !geteuid().is_root() {
        return;
    }
    let space = Namespace::new();
    let place = TestFolder::new();
    let run = async |command: &str| {
        let ruling = Policy::builtin().unwrap().classify(&command.replace("NS", &space.0));
        assert_eq!(ruling.verdict, Verdict::Safe, "{command}: {}", ruling.reason);
        let words = ruling.argv.unwrap();
        place.safe(&words.iter().map(String::as_str).collect::<Vec<_>>(), ruling.profile).await
    };
    for command in [
        "ip netns exec NS ip -br address",
        "ip netns exec NS ping -c 1 -W 2 10.99.0.1",
        "timeout 9 ip netns exec NS ip route get 10.99.0.1",
        "ip netns exec NS ss -tan src 10.99.0.1",
        "ip netns exec NS cat /proc/net/fib_trie",
    ] {
        let output = run(command).await;
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.exit_code, Some(0), "{command}: {said}");
        let has_address = said.contains("10.99.0.1") || command.contains(" ss ");
        assert!(has_address, "{command}: {said}");
        assert_eq!(output.confinement.seccomp, "on, no writes", "{command}");
    }
    // The same profile keeps what is judged by the words from writing, should the words lie.
    let profile = Policy::builtin().unwrap().classify("ip netns exec x ip a").profile;
    let touch = place.setting.cwd.join("x").display().to_string();
    let output = place.safe(&["ip", "netns", "exec", &space.0, "touch", &touch], profile).await;
    assert_ne!(output.exit_code, Some(0), "{}", text(&output.stderr));
    assert!(!place.setting.cwd.join("x").exists());
}

fn naming(namespace: bool) -> Profile {
    Profile { socket_owners: true, namespace, sockets: (&[Socket::Netlink]).into(), ..Profile::default() }
}

#[tokio::test]
async fn ss_names_who_holds_a_socket_and_reads_nothing_else_of_others() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!(":{} ", listener.local_addr().unwrap().port());
    for options in ["-tlnp", "-tlnpT"] {
        let output = TestFolder::new().safe(&["ss", options], naming(false)).await;
        let line = text(&output.stdout).lines().find(|line| line.contains(&port)).unwrap();
        assert!(line.contains(&format!("pid={}", getpid())), "{line}");
        assert!(!output.confinement.landlock.starts_with("not used"), "{}", output.confinement.landlock);
    }
    let output = TestFolder::new().safe(&["ss", "-tlnp"], naming(false)).await;
    assert!(!output.confinement.capabilities.contains("sys_ptrace"), "{}", output.confinement.capabilities);
}

/// Landlock keeps this; where a namespace is entered, the command is nobody and has no right over processes.
#[tokio::test]
async fn nothing_of_another_process_is_read_by_what_names_who_holds_a_socket() {
    let place = TestFolder::new();
    for namespace in [false, true] {
        if namespace && !geteuid().is_root() {
            continue;
        }
        for what in ["environ", "mem", "auxv"] {
            let open = format!("open(F, '<', '/proc/{}/{what}') && sysread(F, $x, 1)", getpid());
            assert_ne!(perl(&place, &open, naming(namespace)).await, "ok", "{what}");
        }
        let look = format!("readlink('/proc/{}/fd/0')", getpid());
        assert_ne!(perl(&place, &look, naming(namespace)).await, "ok", "{namespace}");
        let list = "opendir(D, $ENV{PROC_ROOT}) && -d \"$ENV{PROC_ROOT}/\" . getppid() . '/fd'";
        assert_eq!(perl(&place, list, naming(namespace)).await, "ok", "{namespace}");
    }
}
