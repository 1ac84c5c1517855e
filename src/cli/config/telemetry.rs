//! Whether traces and metrics can be sent where the configuration says.

use super::finding::{Finding, State};
use ghost_tools::config::read_small;
use ghost_tools::setup::Setup;

const WHAT: &str = "telemetry";

/// Says where they go, and whether the token can be read. Nothing is sent.
pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let telemetry = &setup.config.telemetry;
    let Some(url) = &telemetry.otlp else { return Vec::new() };
    if let Some(file) = &telemetry.token_file {
        let problem = match read_small(file) {
            Err(error) => Some(error.to_string()),
            Ok(token) if token.trim().is_empty() => Some("is empty".to_owned()),
            Ok(_) => None,
        };
        if let Some(problem) = problem {
            let what = format!("token_file {}: {problem}", file.display());
            return vec![Finding::new(State::Problem, WHAT, what)];
        }
    }
    let metrics = match telemetry.metrics_every() {
        Some(every) => format!("metrics every {} s", every.as_secs()),
        None => "no metrics".to_owned(),
    };
    vec![Finding::new(State::Ok, WHAT, format!("traces of sessions and {metrics} go to {url}"))]
}
