//! Whether what a site has written about itself can be read.

use super::finding::{Finding, State};
use crate::cli::runbooks;
use crate::cli::setup::Setup;

const WHAT: &str = "runbooks";

/// Reads the folder, and says how much is there.
pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let Some(folder) = &setup.config.site.runbooks else { return Vec::new() };
    let found = match runbooks::read(folder) {
        Ok(notes) if notes.is_empty() => Finding::new(
            State::Warning,
            WHAT,
            format!("{}: no section of a Markdown file is there", folder.display()),
        ),
        Ok(notes) => Finding::new(State::Ok, WHAT, format!("{}: {} sections", folder.display(), notes.len())),
        Err(error) => Finding::new(State::Problem, WHAT, format!("{error:#}")),
    };
    vec![found]
}
