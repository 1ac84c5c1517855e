//! Facts about the sandbox, tried by programs inside it.
//!
//! `sh` and `perl` stand for programs that went wrong. The facts about Landlock need a kernel that has it.

mod probe;
mod unwatched;

use std::borrow::Cow;
use std::fs;
use std::time::Duration;

use rustix::process::{geteuid, getpid};

use crate::process::tests::{TestFolder, text};
use crate::{Output, ProcessBound, Profile, Socket, support};

const EPERM: &str = "1";
const EACCES: &str = "13";

/// Runs a script of the shell's own commands in the strictest sandbox.
async fn sh(place: &TestFolder, script: &str) -> Output {
    place.safe(&["sh", "-c", script], Profile::default()).await
}

/// Evaluates an expression; prints `ok`, or the error number where it is false.
async fn perl(place: &TestFolder, expression: &str, profile: Profile) -> String {
    let script = format!("$| = 1; $! = 0; print +({expression}) ? 'ok' : $! + 0");
    let output = place.safe(&["perl", "-e", &script], profile).await;
    assert_eq!(output.signal, None, "{}", output.confinement.summary());
    text(&output.stdout).to_owned()
}

async fn syscall(number: i64, arguments: &str) -> String {
    let expression = format!("syscall({number}{arguments}) != -1");
    perl(&TestFolder::new(), &expression, Profile::default()).await
}

fn with(sockets: &'static [Socket]) -> Profile {
    Profile { sockets: Cow::Borrowed(sockets), ..Profile::default() }
}

#[tokio::test]
async fn a_safe_command_writes_in_its_scratch_folder_alone() {
    let place = TestFolder::new();
    let output = sh(&place, "echo kept > $TMPDIR/x && read line < $HOME/x && echo $line").await;
    assert_eq!((text(&output.stdout), output.exit_code), ("kept", Some(0)), "{}", text(&output.stderr));
    for target in ["home/x", "work/x", "captures/x", "scratch/x", "x"] {
        let path = place.folder.path().join(target);
        let output = sh(&place, &format!("echo x > {}", path.display())).await;
        assert!(output.exit_code != Some(0) && !path.exists(), "{target}");
    }
    assert!(place.scratch_is_empty());
}

#[tokio::test]
async fn a_safe_command_changes_no_file_that_is_there() {
    let place = TestFolder::new();
    let path = place.setting.cwd.join("x");
    fs::write(&path, "before").unwrap();
    let name = path.display();
    for expression in [
        format!("open(F, '>>', '{name}')"),
        format!("unlink '{name}'"),
        format!("rename '{name}', '{name}.moved'"),
        format!("link '{name}', '{name}.link'"),
        format!("symlink 'x', '{name}.link'"),
        format!("mkdir '{name}.d'"),
        format!("truncate '{name}', 0"),
    ] {
        assert_eq!(perl(&place, &expression, Profile::default()).await, EACCES, "{expression}");
    }
    for expression in
        [format!("chmod 0777, '{name}'"), format!("chown 1, 1, '{name}'"), format!("utime 1, 1, '{name}'")]
    {
        assert_eq!(perl(&place, &expression, Profile::default()).await, EPERM, "{expression}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(fs::read_dir(&place.setting.cwd).unwrap().count(), 1);
}

#[tokio::test]
async fn a_safe_command_makes_no_device_even_in_its_scratch_folder() {
    let make = format!("syscall({}, -100, $ENV{{HOME}} . '/disk', 0060600, 0x0800) != -1", libc::SYS_mknodat);
    assert_eq!(perl(&TestFolder::new(), &make, Profile::default()).await, EACCES);
}

#[tokio::test]
async fn a_safe_command_executes_its_own_programs_alone() {
    let place = TestFolder::new();
    let output = sh(&place, "ls /").await;
    assert_eq!(output.exit_code, Some(126), "{}", text(&output.stderr));
    let profile = Profile { helpers: Cow::Owned(vec!["ls".to_owned()]), ..Profile::default() };
    let output = place.safe(&["sh", "-c", "ls /"], profile).await;
    assert_eq!(output.exit_code, Some(0), "{}", text(&output.stderr));
}

#[tokio::test]
async fn a_safe_command_executes_nothing_that_it_wrote() {
    let output = sh(&TestFolder::new(), "echo 'echo ran' > $HOME/x; $HOME/x || . $HOME/x").await;
    assert_eq!(text(&output.stdout), "ran", "only the shell itself read it: {}", text(&output.stderr));
    assert!(text(&output.stderr).contains("ermission denied"));
}

#[tokio::test]
async fn a_wrapper_runs_the_program_that_it_wraps() {
    let profile = Profile { programs: vec!["echo".to_owned()], ..Profile::default() };
    let output = TestFolder::new().safe(&["timeout", "20", "echo", "hi"], profile).await;
    assert_eq!((text(&output.stdout), output.exit_code), ("hi", Some(0)), "{}", text(&output.stderr));
}

#[tokio::test]
async fn a_safe_command_sees_its_own_home_and_no_secret() {
    let place = TestFolder::new();
    let output = place.safe(&["env"], Profile::default()).await;
    let seen = text(&output.stdout);
    assert!(
        !seen.contains("xoxb") && seen.contains("HOME=") && seen.contains("/scratch/ghost-run-"),
        "{seen}"
    );
    let peek = format!("open(F, '<', '/proc/{}/environ') && <F>", getpid());
    assert_eq!(perl(&place, &peek, Profile::default()).await, EACCES);
}

#[tokio::test]
async fn a_safe_command_signals_nobody_outside() {
    let kill = format!("kill 0, {}", getpid());
    assert_eq!(perl(&TestFolder::new(), &kill, Profile::default()).await, EPERM);
}

#[tokio::test]
async fn dangerous_system_calls_fail() {
    for (name, number, arguments) in [
        ("ptrace", libc::SYS_ptrace, ", 0, 0, 0, 0"),
        ("setsid", libc::SYS_setsid, ""),
        ("mount", libc::SYS_mount, ", 0, 0, 0, 0, 0"),
        ("unshare", libc::SYS_unshare, ", 0x20000000"),
        ("setns", libc::SYS_setns, ", 0, 0"),
        ("clone", libc::SYS_clone, ", 0x10000000 | 17, 0, 0, 0, 0"),
        ("setpgid", libc::SYS_setpgid, ", 0, 1"),
        ("bpf", libc::SYS_bpf, ", 0, 0, 0"),
        ("keyctl", libc::SYS_keyctl, ", 0, 0, 0"),
        ("memfd_create", libc::SYS_memfd_create, ", 0, 0"),
        ("io_uring_setup", libc::SYS_io_uring_setup, ", 1, 0"),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, ", 0, 0, 0"),
        ("execveat", libc::SYS_execveat, ", 0, 0, 0, 0, 0x1000"),
        ("chroot", libc::SYS_chroot, ", 0"),
        ("syslog", libc::SYS_syslog, ", 3, 0, 0"),
        ("reboot", libc::SYS_reboot, ", 0, 0, 0, 0"),
    ] {
        assert_eq!(syscall(number, arguments).await, EPERM, "{name}");
    }
    assert_eq!(syscall(libc::SYS_clone3, ", 0, 0").await, libc::ENOSYS.to_string());
}

#[tokio::test]
async fn how_another_process_runs_is_not_changed() {
    let place = TestFolder::new();
    let other = getpid();
    let limit = format!("syscall({}, {other}, 7, 0, my $b = chr(0) x 16) != -1", libc::SYS_prlimit64);
    let nice = format!("syscall({}, 0, {other}, 0) != -1", libc::SYS_setpriority);
    let idle = format!("syscall({}, {other}, 0, my $p = chr(0) x 4) != -1", libc::SYS_sched_setscheduler);
    for call in [limit, nice, idle] {
        assert_eq!(perl(&place, &call, Profile::default()).await, EPERM, "{call}");
    }
    let own = format!("syscall({}, 0, 7, 0, my $b = chr(0) x 16) != -1", libc::SYS_prlimit64);
    assert_eq!(perl(&place, &own, Profile::default()).await, "ok", "its own limits are its own");
}

#[tokio::test]
async fn nothing_that_outlives_it_is_made_in_the_kernel() {
    for (name, number, arguments) in [
        ("shmget", libc::SYS_shmget, ", 0, 4096, 01600"),
        ("semget", libc::SYS_semget, ", 0, 1, 01600"),
        ("msgget", libc::SYS_msgget, ", 0, 01600"),
    ] {
        assert_eq!(syscall(number, arguments).await, EPERM, "{name}");
    }
}

#[tokio::test]
async fn flags_and_attributes_of_files_are_not_set() {
    let place = TestFolder::new();
    let path = place.setting.cwd.join("x");
    fs::write(&path, "before").unwrap();
    for (name, number) in [
        ("FS_IOC_SETFLAGS", "0x40086602"),
        ("FS_IOC_FSSETXATTR", "0x401c5820"),
        ("FS_IOC_SETVERSION", "0x40087602"),
        ("FIFREEZE", "0xc0045877"),
        ("FS_IOC_ENABLE_VERITY", "0x40806685"),
    ] {
        let set = format!("open(F, '<', '{}') && ioctl(F, {number}, my $b = chr(0) x 128)", path.display());
        assert_eq!(perl(&place, &set, Profile::default()).await, EPERM, "{name}");
    }
}

#[tokio::test]
async fn the_power_over_the_network_is_kept_by_who_declares_it_alone() {
    if !geteuid().is_root() {
        return;
    }
    // The filters' half of netlink answers nobody who has not that power: the message asks for all tables.
    const ASK: &str = "socket(S, 16, 3, 12) && bind(S, pack('SSLL', 16, 0, 0, 0)) && \
        syswrite(S, pack('LSSLLCCS', 20, 0xa01, 0x305, 1, 0, 2, 0, 0)) && sysread(S, $b, 9999) && do { \
        my ($l, $t, $f, $s, $p, $e) = unpack('LSSLLl', $b); $! = $t == 2 ? -$e : 0; $t != 2 || !$e }";
    let place = TestFolder::new();
    let profile = |net_admin| Profile { net_admin, ..with(&[Socket::Netlink]) };
    assert_eq!(perl(&place, ASK, profile(false)).await, EPERM);
    assert_ne!(perl(&place, ASK, profile(true)).await, EPERM);
    let kept = |net_admin| place.safe(&["true"], profile(net_admin));
    assert!(!kept(false).await.confinement.capabilities.contains("net_admin"));
    assert!(kept(true).await.confinement.capabilities.contains("net_admin"));
}

#[tokio::test]
async fn the_kernels_log_is_read_and_never_cleared() {
    let reads = || Profile { log: true, ..Profile::default() };
    let call = |action: i32| format!("syscall({}, {action}, 0, 0) != -1", libc::SYS_syslog);
    assert_eq!(perl(&TestFolder::new(), &call(5), reads()).await, EPERM);
    if geteuid().is_root() {
        assert_eq!(perl(&TestFolder::new(), &call(10), reads()).await, "ok");
    }
}

#[tokio::test]
async fn a_socket_opens_only_where_its_kind_is_declared() {
    const STREAM: &str = "socket(S, 2, 1 | 02000000, 0)";
    const STREAM_6: &str = "socket(S, 10, 1, 0)";
    const DATAGRAM: &str = "socket(S, 2, 2 | 04000, 0)";
    const RAW: &str = "socket(S, 2, 3, 1)";
    const FRAMES: &str = "socket(S, 17, 3, 0)";
    const OLD_FRAMES: &str = "socket(S, 2, 10, 0)";
    const NETLINK: &str = "socket(S, 16, 3, 0)";
    const BLUETOOTH: &str = "socket(S, 31, 3, 1)";
    const LOCAL: &str = "socket(S, 1, 1, 0)";
    let place = TestFolder::new();
    const PAIR: &str = "socketpair(S, T, 1, 1, 0)";
    for socket in [STREAM, STREAM_6, DATAGRAM, RAW, FRAMES, OLD_FRAMES, NETLINK, BLUETOOTH, LOCAL] {
        assert_eq!(perl(&place, socket, Profile::default()).await, EPERM, "{socket}");
    }
    assert_eq!(perl(&place, PAIR, Profile::default()).await, "ok");
    assert_eq!(perl(&place, LOCAL, with(&[Socket::Local])).await, "ok");
    assert_eq!(perl(&place, STREAM, with(&[Socket::Stream])).await, "ok");
    assert_eq!(perl(&place, DATAGRAM, with(&[Socket::Datagram])).await, "ok");
    assert_eq!(perl(&place, NETLINK, with(&[Socket::Netlink])).await, "ok");
    let all = [Socket::Stream, Socket::Datagram, Socket::Raw, Socket::Netlink, Socket::Packet];
    let all = || Profile { sockets: Cow::Owned(all.to_vec()), ..Profile::default() };
    for socket in [OLD_FRAMES, BLUETOOTH] {
        assert_eq!(perl(&place, socket, all()).await, EPERM, "{socket}");
    }
    for socket in [DATAGRAM, RAW, FRAMES, NETLINK] {
        assert_eq!(perl(&place, socket, with(&[Socket::Stream])).await, EPERM, "{socket}");
    }
}

#[tokio::test]
async fn the_number_of_processes_is_bounded_where_the_account_says_so() {
    const COUNT: &str =
        "while ($n < 200) { defined($p = fork) or last; $p or sleep 100, exit; $n++ } print $n";
    let mut place = TestFolder::new();
    place.setting.limits.processes = 20;
    let output = place.safe(&["perl", "-e", COUNT], Profile::default()).await;
    let forks: u32 = text(&output.stdout).parse().unwrap();
    if support().processes {
        assert_eq!(output.confinement.processes, "20 (cgroup)");
        assert!(forks <= 20, "{forks}");
    } else {
        assert_eq!(output.confinement.processes, "unbounded");
    }
    assert!(!output.still_open, "what it forked died with it");
    place.setting.bound = ProcessBound::Off;
    let output = place.safe(&["true"], Profile::default()).await;
    assert_eq!(output.confinement.processes, "unbounded");
}

#[tokio::test]
async fn what_a_safe_command_leaves_running_is_killed() {
    let output = sh(&TestFolder::new(), "(while :; do :; done) & echo $!").await;
    assert!(!output.still_open && output.exit_code == Some(0));
}

#[tokio::test]
async fn what_leaves_the_process_group_is_killed_with_the_control_group() {
    const LEAVE: &str =
        "if (!fork) { setpgrp(0, 0) or print 'stuck'; print qq($$ ); sleep 100 } else { wait }";
    let place = TestFolder::new().within(Duration::from_millis(500));
    let output = place.safe(&["perl", "-e", &format!("$| = 1; {LEAVE}")], Profile::default()).await;
    let process = text(&output.stdout).trim();
    assert!(output.timed_out && process.parse::<u32>().is_ok(), "{process}");
    if support().processes {
        let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_else(|_| ") Z".to_owned());
        assert!(state.contains(") Z") || state.contains(") X"), "{state}");
    }
}

#[tokio::test]
async fn a_safe_command_has_limits_that_it_cannot_raise() {
    // The last limit of all marks that the others are in force.
    let script =
        "until test $(ulimit -n) = 256; do :; done; ulimit -c; ulimit -v; ulimit -Hn 1000 || echo refused";
    let output = sh(&TestFolder::new(), script).await;
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), ["0", "2097152", "refused"]);
}

#[tokio::test]
async fn a_scratch_file_has_a_largest_size() {
    let mut place = TestFolder::new();
    place.setting.limits.file_size = 4096;
    let output = place
        .safe(
            &["perl", "-e", "open F, '>', qq($ENV{HOME}/x); syswrite F, 'x' x 4096 while 1"],
            Profile::default(),
        )
        .await;
    assert_eq!(output.signal, Some(libc::SIGXFSZ));
    assert!(place.scratch_is_empty());
}

#[tokio::test]
async fn a_download_writes_to_the_captures_and_to_its_configuration_alone() {
    let mut place = TestFolder::new();
    let azure = place.folder.path().join("azure");
    place.setting.environment.insert("AZURE_CONFIG_DIR".to_owned(), azure.clone().into());
    let profile = || Profile { cloud: true, captures: true, ..Profile::default() };
    let script = format!(
        "echo x > {captures}/x && echo x > $AZURE_CONFIG_DIR/x && chmod 600 $AZURE_CONFIG_DIR/x && echo done",
        captures = place.setting.captures.display()
    );
    let output = place.safe(&["sh", "-c", &script], profile()).await;
    assert_eq!(text(&output.stdout), "done", "{}", text(&output.stderr));
    assert!(place.setting.captures.join("x").exists() && azure.join("x").exists());
    let output = place.safe(&["sh", "-c", "echo x > $HOME/x"], profile()).await;
    assert_ne!(output.exit_code, Some(0));
}

#[tokio::test]
async fn the_account_names_every_layer() {
    let place = TestFolder::new();
    let found = place.safe(&["true"], Profile::default()).await.confinement;
    let abi = support().landlock.unwrap();
    assert_eq!((found.landlock, found.seccomp.as_str()), (format!("full ABI {abi}"), "on"));
    assert!(!found.new_privileges && found.limits.len() == 7, "{:?}", found.limits);
    let entering = Profile { namespace: true, ..Profile::default() };
    let found = place.safe(&["true"], entering).await.confinement;
    assert_eq!((found.landlock.as_str(), found.seccomp.as_str()), ("not used: namespace", "on, no writes"));
}

#[tokio::test]
async fn a_command_that_enters_a_namespace_may() {
    let profile = Profile { namespace: true, ..Profile::default() };
    let unshare = format!("syscall({}, 0x20000) != -1 or $! == 1 && $>", libc::SYS_unshare);
    assert_eq!(perl(&TestFolder::new(), &unshare, profile.clone()).await, "ok");
    let other = format!("syscall({}, 0x40000000) != -1", libc::SYS_unshare);
    assert_eq!(perl(&TestFolder::new(), &other, profile).await, EPERM, "into no new one");
}

#[tokio::test]
async fn ping_leaves_the_sandbox_only_where_it_cannot_work_inside() {
    let pinging = Profile { programs: vec!["ping".to_owned()], ..Profile::default() };
    let found = TestFolder::new().safe(&["true"], pinging).await.confinement;
    let outside = support().ping_unconfined;
    assert_eq!((found.landlock.starts_with("not used: ping"), found.new_privileges), (outside, outside));
    assert!(found.limits.iter().any(|limit| limit.starts_with("open files")), "{:?}", found.limits);
}
