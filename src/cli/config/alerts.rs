//! Whether the sources of alerts can prove themselves, and what becomes of what they send.

use std::os::unix::fs::PermissionsExt as _;

use super::finding::{Finding, State};
use crate::cli::bot::is_usable;
use ghost_session::alert::MIN_SECRET_CHARS;
use ghost_tools::config::{AlertSource, read_small};
use ghost_tools::setup::Setup;

const WHAT: &str = "alerts";

/// Says of each source where its alerts arrive and where they are shown.
pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    setup.config.alerts.iter().flat_map(|(name, source)| about(name, source)).collect()
}

fn about(name: &str, source: &AlertSource) -> Vec<Finding> {
    let file = source.secret_file.display();
    let problem = |what: String| vec![Finding::new(State::Problem, WHAT, format!("{name}: {what}"))];
    let hint = "draw one: openssl rand -hex 24; PagerDuty shows its own when the webhook is made";
    let found = match read_small(&source.secret_file) {
        Err(error) => return problem(format!("secret_file {file}: {error}")),
        Ok(text) if !is_usable(&text) => {
            let what = format!("secret_file {file}: a secret has less than {MIN_SECRET_CHARS} characters");
            return problem(what).into_iter().map(|finding| finding.hint(hint)).collect();
        }
        Ok(_) => {
            let sender = source.sender(name).map_or("?", ghost_session::alert::Sender::word);
            let text = format!("{name}: POST /alerts/{name} ({sender}) opens threads in {}", source.channel);
            Finding::new(State::Ok, WHAT, text)
        }
    };
    let mode = std::fs::metadata(&source.secret_file).map(|about| about.permissions().mode());
    let open = mode.ok().filter(|mode| mode & 0o004 != 0).map(|_| {
        let what = format!("{name}: secret_file {file} can be read by everybody on this machine");
        Finding::new(State::Warning, WHAT, what).hint("chmod 0640, with the group of the bot")
    });
    std::iter::once(found).chain(open).collect()
}
