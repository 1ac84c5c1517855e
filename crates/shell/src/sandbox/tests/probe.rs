//! A probe that tries one thing after the other which a SAFE command must not do, inside and outside: what fails in the sandbox
//! and works without it was kept from working by the sandbox.

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use rustix::process::{geteuid, getpid};

use super::{perl, with};
use crate::process::tests::{TestFolder, text};
use crate::sandbox::loader;
use crate::{Profile, Programs, Socket};

/// What is there to be reached.
struct Target {
    place: TestFolder,
    _listener: UnixListener,
    _mailbox: UnixDatagram,
}

impl Target {
    fn new() -> Self {
        let place = TestFolder::new();
        fs::write(place.setting.cwd.join("file"), "before").unwrap();
        let at = |name| place.folder.path().join(name);
        let (listener, mailbox) =
            (UnixListener::bind(at("listener")).unwrap(), UnixDatagram::bind(at("mailbox")).unwrap());
        Self { place, _listener: listener, _mailbox: mailbox }
    }

    fn path(&self, name: &str) -> String {
        self.place.folder.path().join(name).display().to_string()
    }

    /// Evaluates an expression without a sandbox; prints as [`perl`] does.
    async fn outside(&self, expression: &str) -> String {
        let script = format!("$| = 1; $! = 0; print +({expression}) ? 'ok' : $! + 0");
        text(&self.place.outside(&["perl", "-e", &script]).await.stdout).to_owned()
    }

    fn connecting(&self) -> String {
        format!("socket(S, 1, 1, 0) && connect(S, pack('Sa*', 1, '{}' . chr(0)))", self.path("listener"))
    }

    /// Lists what is tried, each an expression that prints `ok` where it succeeds.
    fn attempts(&self) -> Vec<(&'static str, String)> {
        let other = getpid();
        let made =
            |make: String, remove: String| format!("($i = syscall({make})) != -1 && syscall({remove}) != -1");
        let mail = format!(
            "socketpair(S, T, 1, 2, 0) && send(S, 'x', 0, pack('Sa*', 1, '{}' . chr(0)))",
            self.path("mailbox")
        );
        vec![
            (
                "the limits of another process",
                format!("syscall({}, {other}, 7, 0, my $b = chr(0) x 16) != -1", libc::SYS_prlimit64),
            ),
            (
                "shared memory",
                made(
                    format!("{}, 0, 4096, 01600", libc::SYS_shmget),
                    format!("{}, $i, 0, 0", libc::SYS_shmctl),
                ),
            ),
            (
                "semaphores",
                made(format!("{}, 0, 1, 01600", libc::SYS_semget), format!("{}, $i, 0, 0", libc::SYS_semctl)),
            ),
            (
                "messages",
                made(format!("{}, 0, 01600", libc::SYS_msgget), format!("{}, $i, 0, 0", libc::SYS_msgctl)),
            ),
            (
                "flags of a file",
                format!(
                    "open(F, '<', '{}') && ($b = chr(0) x 8) && ioctl(F, 0x80086601, $b) && ioctl(F, 0x40086602, $b)",
                    self.path("work/file")
                ),
            ),
            ("a socket with a path", self.connecting()),
            ("a datagram to a path", mail),
            (
                "another program through the loader",
                format!("exec('{}', '/bin/sh', '-c', 'printf ok')", loader()),
            ),
            ("the environment of another process", environ()),
        ]
    }
}

fn environ() -> String {
    format!("open(F, '<', '/proc/{}/environ') && length(<F>)", getpid())
}

/// Returns the loader of this machine's programs.
fn loader() -> String {
    let shell = Programs::default().find("sh").unwrap();
    let closure = loader::closure(&shell, &Programs::default());
    closure.iter().find(|path| **path != shell).unwrap().display().to_string()
}

#[tokio::test]
async fn what_works_outside_of_the_sandbox_fails_inside() {
    let target = Target::new();
    for (name, attempt) in target.attempts() {
        assert_eq!(
            target.outside(&attempt).await,
            "ok",
            "{name} is no proof of anything: it fails outside too"
        );
        let inside = perl(&target.place, &attempt, Profile::default()).await;
        assert_ne!(inside, "ok", "{name}");
    }
    assert_eq!(
        perl(&target.place, &target.connecting(), with(&[Socket::Local])).await,
        "ok",
        "it is declared"
    );
}

#[test]
fn what_works_outside_fails_inside_for_a_user_who_is_not_root() {
    const NOBODY: u32 = 65_534;
    if !geteuid().is_root() {
        return;
    }
    // The folders above this binary may be closed to that user, the binary itself is not.
    #[expect(clippy::disallowed_methods, reason = "only a process of its own can be another user")]
    let mut probe = std::process::Command::new("/proc/self/exe");
    probe.uid(NOBODY).gid(NOBODY).current_dir("/").args([
        "--exact",
        "sandbox::tests::probe::what_works_outside_of_the_sandbox_fails_inside",
        "--test-threads=1",
    ]);
    let output = probe.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

#[tokio::test]
async fn a_command_that_enters_a_namespace_reads_the_environment_of_nobody() {
    if !geteuid().is_root() {
        return;
    }
    let target = Target::new();
    for (namespace, processes) in [(true, false), (false, false)] {
        let profile = Profile { namespace, processes, ..Profile::default() };
        assert_eq!(perl(&target.place, &environ(), profile).await, super::EACCES, "{namespace} {processes}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_its_own_cannot_be_read() {
    let place = TestFolder::new();
    let read = |path: &str| format!("open(F, '<', '{path}') && defined(<F>)");
    let other = Programs::default().find("sh").unwrap();
    assert_eq!(perl(&place, &read(&other.display().to_string()), Profile::default()).await, super::EACCES);
    for path in ["/etc/passwd", "/proc/self/status", "/usr/bin/perl"] {
        let found = perl(&place, &read(path), Profile::default()).await;
        assert_eq!((found.as_str(), Path::new(path).exists()), ("ok", true), "{path}");
    }
}
