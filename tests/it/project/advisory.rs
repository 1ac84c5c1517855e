//! `tests/deny` without a network: it checks what it can, and says what it could not. A stand-in for cargo-deny notes how it is called.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::project::root;
use crate::yaml::text;

/// Puts a stand-in where the script keeps cargo-deny. It writes its words into `calls`.
fn stand_in(cache: &Path) {
    let script = text("tests/deny");
    let release = script.lines().find_map(|line| line.strip_prefix("release=")).unwrap();
    let program = cache.join(format!("ghost-tests/deny-{release}/bin/cargo-deny"));
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::write(&program, "#!/bin/sh\necho \"$@\" >>\"$XDG_CACHE_HOME/calls\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the script where the database is at another address. Returns what it printed, and the calls of cargo-deny.
#[expect(clippy::disallowed_methods, reason = "the test starts the script under test")]
fn deny(option: Option<&str>, database: &str) -> (Output, String) {
    let cache = tempfile::tempdir().unwrap();
    stand_in(cache.path());
    let output = Command::new(root().join("tests/deny"))
        .args(option)
        .env("XDG_CACHE_HOME", cache.path())
        .env_remove("GHOST_TEST_WITHOUT")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", format!("url.{database}.insteadOf"))
        .env("GIT_CONFIG_VALUE_0", "https://github.com/RustSec/advisory-db")
        .output()
        .unwrap();
    (output, std::fs::read_to_string(cache.path().join("calls")).unwrap_or_default())
}

const NOWHERE: &str = "file:///nonexistent/advisory-db";

#[test]
fn without_a_network_all_but_advisories_is_checked_and_that_is_said() {
    let (output, calls) = deny(None, NOWHERE);
    let reported = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && reported.contains("advisories: not checked"), "{output:?}");
    assert_eq!(calls, "--locked check licenses bans sources\n");
}

#[test]
fn advisories_alone_without_a_database_are_an_error() {
    let (output, calls) = deny(Some("--advisories"), NOWHERE);
    let reported = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), calls.as_str()), (Some(1), ""), "{reported}");
    assert!(reported.contains("is not reachable from here"), "{reported}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "git makes a database that can be reached")]
fn where_the_database_can_be_reached_advisories_are_checked() {
    let database = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let names =
            ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"];
        let done =
            Command::new("git").arg("-C").arg(database.path()).args(names).args(words).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "empty"]);
    let address = format!("file://{}", database.path().display());
    let (output, calls) = deny(None, &address);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(calls, "--locked check licenses bans sources\n--locked check advisories\n");
}
