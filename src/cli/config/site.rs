//! Whether what a site has written about itself can be read.

use super::finding::{Finding, State};
use ghost_tools::runbooks;
use ghost_tools::setup::Setup;

const WHAT: &str = "runbooks";

/// Reads the folder, and says how much is there.
pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let Some(folder) = &setup.config.site.runbooks else { return Vec::new() };
    let read = match runbooks::read(folder) {
        Ok(read) => read,
        Err(error) => return vec![Finding::new(State::Problem, WHAT, format!("{error:#}"))],
    };
    let found = match read.notes.len() {
        0 => Finding::new(
            State::Warning,
            WHAT,
            format!("{}: no section of a Markdown file is there", folder.display()),
        ),
        sections => Finding::new(State::Ok, WHAT, format!("{}: {sections} sections", folder.display())),
    };
    let unread = read.unread.into_iter().map(|file| Finding::new(State::Warning, WHAT, file));
    std::iter::once(found).chain(unread).collect()
}
