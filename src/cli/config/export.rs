//! Whether post-mortems can be sent where the configuration says.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::finding::{Finding, State};
use ghost_tools::config::read_small;
use ghost_tools::setup::Setup;

const WHAT: &str = "export";

/// Says of each place what is sent there, and whether its token can be read. Nothing is sent.
pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let export = &setup.config.export;
    let mut found = Vec::new();
    if let Some(github) = &export.github {
        let repository = github.repository.as_deref().unwrap_or("the repository that --repository names");
        let text = format!("github: issues of {repository} at {}, when somebody sends one", github.url);
        found.extend(about("github", text, &github.token_file));
    }
    if let Some(pagerduty) = &export.pagerduty {
        let text =
            format!("pagerduty: notes by {} at {}, when somebody sends one", pagerduty.from, pagerduty.url);
        found.extend(about("pagerduty", text, &pagerduty.token_file));
    }
    found
}

fn about(name: &str, text: String, path: &Path) -> Vec<Finding> {
    let file = path.display();
    let found = match read_small(path) {
        Err(error) => Finding::new(State::Problem, WHAT, format!("{name}: token_file {file}: {error}")),
        Ok(token) if token.trim().is_empty() => {
            Finding::new(State::Problem, WHAT, format!("{name}: token_file {file} is empty"))
        }
        Ok(_) => Finding::new(State::Ok, WHAT, text),
    };
    let mode = std::fs::metadata(path).map(|about| about.permissions().mode());
    let open = mode.ok().filter(|mode| mode & 0o004 != 0).map(|_| {
        let what = format!("{name}: token_file {file} can be read by everybody on this machine");
        Finding::new(State::Warning, WHAT, what).hint("chmod 0600, or 0640 with a group of its own")
    });
    std::iter::once(found).chain(open).collect()
}
