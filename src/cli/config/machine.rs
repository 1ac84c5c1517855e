//! Files, folders, programs and what the kernel offers.

use super::finding::{Finding, State};
use crate::cli::setup::Setup;

/// Says where things lie.
pub(super) fn place(setup: &Setup) -> Vec<Finding> {
    let file =
        setup.file.as_ref().map_or_else(|| "none: defaults".to_owned(), |path| path.display().to_string());
    let data = match setup.data() {
        Ok(data) => Finding::new(State::Ok, "data", data.display().to_string()),
        Err(error) => {
            Finding::new(State::Problem, "data", error.to_string()).hint("name one with --data-dir")
        }
    };
    vec![Finding::new(State::Ok, "file", file), data]
}

/// Says what the safety shell has to work with.
#[cfg(feature = "shell")]
pub(super) fn shell(setup: &Setup) -> Vec<Finding> {
    use crate::config::Anchoring;
    use crate::shell::{Programs, support};

    let mut found = Vec::new();
    for (name, path) in &setup.config.programs {
        found.push(match Programs::check(path) {
            Ok(()) => Finding::new(State::Ok, "program", format!("{name} = {}", path.display())),
            Err(error) => {
                Finding::new(State::Problem, "program", format!("{name}: {error}")).hint(error.hint())
            }
        });
    }
    found.push(match setup.policy() {
        Ok(policy) => {
            let told = format!("{} examples hold, digest {}", policy.examples().len(), policy.digest());
            Finding::new(State::Ok, "policy", told)
        }
        Err(error) => Finding::new(State::Problem, "policy", format!("{error:#}")),
    });
    let data = setup.data().unwrap_or(std::path::Path::new("DATA"));
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
            let told = format!("{}: on the disk of the chain itself", path.display());
            Finding::new(State::Warning, "anchor", told).hint(elsewhere)
        }
        Anchoring::File(path) => Finding::new(State::Ok, "anchor", path.display().to_string()),
    });
    let support = support();
    let offered = |there: bool| if there { State::Ok } else { State::Warning };
    let landlock = support.landlock.map_or_else(|| "absent".to_owned(), |abi| format!("ABI {abi}"));
    found.push(Finding::new(offered(support.landlock.is_some()), "landlock", landlock));
    let seccomp = if support.seccomp { "on" } else { "absent" };
    found.push(Finding::new(offered(support.seccomp), "seccomp", seccomp));
    found.extend(
        support.warnings().into_iter().map(|warning| Finding::new(State::Warning, "sandbox", warning)),
    );
    found
}
