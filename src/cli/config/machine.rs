//! Files, folders, programs and what the kernel offers.

use std::path::Path;

use rustix::fs::Access;

use super::finding::{Finding, State};
use ghost_shell::{Sandbox, Support};
use ghost_tools::setup::Setup;

/// Says where things lie.
pub(super) fn place(setup: &Setup) -> Vec<Finding> {
    let file =
        setup.file.as_ref().map_or_else(|| "none: defaults".to_owned(), |path| path.display().to_string());
    let data = match setup.data() {
        Ok(data) => match unwritable(data) {
            None => Finding::new(State::Ok, "data", data.display().to_string()),
            Some(why) => Finding::new(State::Problem, "data", format!("{}: {why}", data.display()))
                .hint("name a folder that can be written to with --data-dir or GHOST_DATA_DIR"),
        },
        Err(error) => {
            Finding::new(State::Problem, "data", error.to_string()).hint("name one with --data-dir")
        }
    };
    vec![Finding::new(State::Ok, "file", file), data]
}

/// Says why nothing can be written in a folder, which may still have to be made; nothing is made here.
fn unwritable(folder: &Path) -> Option<String> {
    let there = folder.ancestors().find(|folder| folder.exists())?;
    let found = rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK);
    found.err().map(|error| format!("{} cannot be written to: {error}", there.display()))
}

/// Says what the safety shell has to work with.
pub(super) fn shell(setup: &Setup) -> Vec<Finding> {
    use ghost_shell::{Programs, support};
    use ghost_tools::config::Anchoring;

    let mut found = Vec::new();
    for (name, path) in &setup.config.programs {
        found.push(match Programs::check(path) {
            Ok(()) => Finding::new(State::Ok, "program", format!("{name} = {}", path.display())),
            Err(error) => {
                Finding::new(State::Problem, "program", format!("{name}: {error}")).hint(error.hint())
            }
        });
    }
    found.push(match setup.judged_policy() {
        Ok(policy) => {
            let text = format!("{} examples hold, digest {}", policy.examples().len(), policy.digest());
            Finding::new(State::Ok, "policy", text)
        }
        Err(error) => Finding::new(State::Problem, "policy", format!("{error:#}")),
    });
    let data = setup.data().unwrap_or(Path::new("DATA"));
    let elsewhere = "[audit] anchor = \"syslog\", or a path on another disk";
    found.push(match setup.config.anchoring(data) {
        Anchoring::Nowhere => Finding::new(
            State::Warning,
            "anchor",
            "none: a chain on one disk proves nothing against its owner",
        )
        .hint(elsewhere),
        Anchoring::Syslog => Finding::new(State::Ok, "anchor", "syslog"),
        Anchoring::File(path) if path.starts_with(data) => {
            let text = format!("{}: on the disk of the chain itself", path.display());
            Finding::new(State::Warning, "anchor", text).hint(elsewhere)
        }
        Anchoring::File(path) => Finding::new(State::Ok, "anchor", path.display().to_string()),
    });
    let support = support();
    let offered = |there: bool| if there { State::Ok } else { State::Warning };
    let landlock = support.landlock.map_or_else(|| "absent".to_owned(), |abi| format!("ABI {abi}"));
    found.push(Finding::new(offered(support.landlock.is_some()), "landlock", landlock));
    let seccomp = if support.seccomp { "on" } else { "absent" };
    found.push(Finding::new(offered(support.seccomp), "seccomp", seccomp));
    found.extend(sandbox(&support, setup.sandbox()));
    found
}

/// Says what confining a command lacks here.
fn sandbox(support: &Support, wanted: Sandbox) -> Vec<Finding> {
    const REMEDY: &str = "use a kernel of 5.13 or later with `landlock` among its security modules (`lsm=`) and a container \
        profile that lets landlock_* and seccomp through";
    let warning = |text: String| Finding::new(State::Warning, "sandbox", text);
    let missing = support.missing().map(|missing| match wanted {
        Sandbox::Required => {
            let text = format!("{missing} missing: every command asks, also those that only read");
            warning(text).hint(format!("{REMEDY}; or say [shell] sandbox = \"best_effort\""))
        }
        Sandbox::BestEffort => {
            warning(format!("{missing} missing: a SAFE command runs without, and the audit says so"))
                .hint(REMEDY)
        }
    });
    missing.into_iter().chain(support.warnings().into_iter().map(warning)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn findings(landlock: Option<i32>, seccomp: bool, wanted: Sandbox) -> Vec<String> {
        let support = Support { landlock, seccomp, processes: true, ping_unconfined: false };
        sandbox(&support, wanted).iter().map(Finding::to_text).collect()
    }

    #[test]
    fn a_machine_that_confines_has_no_warning() {
        assert_eq!(findings(Some(7), true, Sandbox::Required), Vec::<String>::new());
    }

    #[test]
    fn a_machine_without_a_sandbox_gets_one_warning_with_a_remedy() {
        let lines = findings(None, false, Sandbox::Required);
        assert_eq!(lines.len(), 1, "{lines:?}");
        for part in ["Landlock and seccomp missing", "every command asks", "lsm=", "best_effort"] {
            assert!(lines[0].contains(part), "{part}: {lines:?}");
        }
        let lines = findings(None, true, Sandbox::BestEffort);
        assert!(lines.len() == 1 && lines[0].contains("Landlock missing: a SAFE command runs"), "{lines:?}");
    }
}
