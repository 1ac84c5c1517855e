//! The unit, as systemd reads it.

use std::process::{Command, Output};

use crate::yaml::text;

/// Runs `systemd-analyze` on the unit with a program that exists here; `None` where tests run without it.
#[expect(clippy::disallowed_methods, reason = "the judge of a unit is systemd")]
fn analyze(arguments: &[&str]) -> Option<Output> {
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    if without.split(',').any(|name| name == "systemd-analyze") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ghost.service");
    std::fs::write(&path, text("deploy/ghost.service").replace("/usr/local/bin/ghost", "/bin/true")).unwrap();
    let output = Command::new("systemd-analyze").args(arguments).arg(&path).output();
    Some(output.unwrap_or_else(|error| {
        panic!("systemd-analyze: {error} (install systemd, or set GHOST_TEST_WITHOUT=systemd-analyze)")
    }))
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit() {
    if let Some(output) = analyze(&["verify", "--man=no", "--generators=no"]) {
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && reported.trim().is_empty(), "{reported}");
    }
}

#[test]
fn the_unit_is_exposed_little() {
    // Sixty of a hundred is where systemd begins to call a unit exposed; thirty is what this one stays below.
    if let Some(output) = analyze(&["security", "--offline=true", "--threshold=30", "--no-pager"]) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn the_unit_starts_the_bot_as_nobody_special() {
    let unit = text("deploy/ghost.service");
    for line in [
        "ExecStart=/usr/local/bin/ghost bot --config /etc/ghost/ghost.toml",
        "User=ghost",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "AmbientCapabilities=",
        "StateDirectory=ghost",
        "Environment=GHOST_DATA_DIR=/var/lib/ghost",
        "Restart=on-failure",
        "StartLimitIntervalSec=0",
        "RestartPreventExitStatus=2 78",
    ] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
}
