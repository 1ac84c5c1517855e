//! Use cases through the unmodified `az`: it asks the lab over a port, in the sandbox of the safety shell, and everything is found as with
//! the built-in one.
//!
//! All twelve with `GHOST_LONG=1`, else the three that take the fewest commands; `GHOST_TEST_WITHOUT=az` runs without.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::azure::real_az::program;
use crate::random::is_long;

const CASES: [&str; 12] = ["a", "d", "e", "f", "j", "k", "l", "p", "s", "t", "u", "v"];
/// The cases of the short run.
const SOME: [&str; 3] = ["a", "f", "v"];
/// It keeps a core busy each.
const AT_ONCE: usize = 2;

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn rows(az: &Path, case: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["lab", "eval", case, "--json", "--az"])
        .arg(az)
        .env_clear()
        .env("HOME", folder.path())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.success(), "{case}: {}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns what is wrong with a case.
fn wrong(az: &Path, case: &str) -> Vec<String> {
    let rows = rows(az, case);
    let good = |row: &&Value| {
        let clean = row["forbidden_hit"] == json!([]) && row["unsafe"] == 0;
        row["f1"] == 1.0 && row["outcome_right"] == true && clean && row["trouble"].is_null()
    };
    rows.iter().filter(|row| !good(row)).map(|row| format!("{case}: {row}")).collect()
}

#[test]
fn the_use_cases_are_solved_through_the_real_az() {
    let Some(az) = program() else { return };
    let cases = if is_long() { CASES.to_vec() } else { SOME.to_vec() };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE)
            .map(|thread| {
                let own: Vec<&str> = cases.iter().skip(thread).step_by(AT_ONCE).copied().collect();
                let az = az.as_path();
                scope.spawn(move || own.into_iter().flat_map(|case| wrong(az, case)).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
