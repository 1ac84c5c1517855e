//! Running a command as the gate would: its words, no shell, nothing of the user's settings.

use std::process::{Command, Stdio};

use crate::chance::setting;

/// True if the test run goes without a program.
#[expect(clippy::print_stdout, reason = "what was left out is said")]
pub(crate) fn is_left_out(program: &str) -> bool {
    let without = setting("GHOST_TEST_WITHOUT").split(',').any(|name| name.trim() == program);
    if without {
        println!("skipped: GHOST_TEST_WITHOUT names {program}");
    }
    without
}

#[expect(clippy::disallowed_methods, reason = "real programs are run")]
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", "/nonexistent");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs the words of a command to its end; false if the test run goes without its program.
pub(crate) fn run(argv: &[String]) -> bool {
    let (program, arguments) = argv.split_first().unwrap();
    if is_left_out(program) {
        return false;
    }
    let status = command("timeout").arg("2").arg(program).args(arguments).status().unwrap();
    assert_ne!(
        status.code(),
        Some(127),
        "{program} is missing: install it, or set GHOST_TEST_WITHOUT={program}"
    );
    true
}
