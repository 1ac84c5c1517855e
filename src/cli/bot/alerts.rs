//! The sources of alerts, with their secrets.

use std::sync::Arc;

use anyhow::Context as _;

use super::tokens::Token;
use ghost_agent::bot::{AlertEndpoint, AlertSource};
use ghost_session::alert::MIN_SECRET_CHARS;
use ghost_tools::print::Hinted;
use ghost_tools::setup::Setup;

/// Returns everybody who may send alerts.
///
/// # Errors
/// Fails where a secret cannot be read, or is so short that it could be guessed.
pub(super) fn endpoints(setup: &Setup) -> anyhow::Result<Vec<AlertEndpoint>> {
    let mut endpoints = Vec::new();
    for (name, about) in &setup.config.alerts {
        // What cannot be used was refused when the configuration was read.
        let Some(sender) = about.sender(name) else { continue };
        let what = || format!("[alerts.{name}] secret_file {}", about.secret_file.display());
        let token = Token::of_file(&about.secret_file).with_context(what)?;
        if !is_usable(token.now().expose()) {
            let error = anyhow::anyhow!("{}: a secret has less than {MIN_SECRET_CHARS} characters", what());
            return Err(Hinted::new(error, "draw one: openssl rand -hex 24").into());
        }
        endpoints.push(AlertEndpoint {
            source: AlertSource {
                name: name.clone(),
                sender,
                channel: about.channel.clone(),
                maintenance: about.windows(),
            },
            secret: Arc::new(move || token.now()),
            per_minute: about.per_minute,
        });
    }
    Ok(endpoints)
}

/// Tells whether each line of a secret is long enough.
pub(in crate::cli) fn is_usable(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.chars().count() >= MIN_SECRET_CHARS)
}
