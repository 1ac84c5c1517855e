//! The bot's side of consent from outside, made of the configuration.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;

use super::tokens::Token;
use ghost_agent::bot::{SLACK, Settings};
use ghost_base::{Secret, SystemClock};
use ghost_investigate::event::Origin;
use ghost_session::outside::{Caller, Callers, MIN_TOKEN_CHARS, OutsideRoom, OutsideServer, Rates, routes};
use ghost_store::Store;
use ghost_tools::print::Hinted;
use ghost_tools::setup::Setup;

/// So many calls belong to one request: it is asked about, used up, and given up.
const CALLS_PER_REQUEST: usize = 40;

/// Says where requests are shown, and what holds there.
pub(super) fn room(setup: &Setup, settings: &Settings, team: Option<&str>) -> OutsideRoom {
    let channel = setup.config.outside.channel.as_deref();
    let rules = channel.and_then(|channel| Some((channel, settings.rules(channel)?)));
    OutsideRoom {
        origin: rules.map(|(channel, _)| Origin {
            place: SLACK.to_owned(),
            team: team.map(str::to_owned),
            channel: Some(channel.to_owned()),
            thread: None,
        }),
        scope: rules.and_then(|(_, rules)| rules.scope.clone()),
        limits: settings.limits,
        surroundings: settings.surroundings.clone(),
    }
}

/// Returns the routes for callers; none where nobody may ask.
///
/// # Errors
/// Fails where a token cannot be read, or is so short that it could be guessed.
pub(super) fn server(setup: &Setup, store: &Arc<dyn Store>) -> anyhow::Result<Router> {
    let outside = &setup.config.outside;
    let mut all = Vec::new();
    for (name, about) in &outside.callers {
        let what = || format!("[outside.callers.{name}] token_file {}", about.token_file.display());
        let token = Token::of_file(&about.token_file).with_context(what)?;
        if token.now().expose().chars().count() < MIN_TOKEN_CHARS {
            let error = anyhow::anyhow!("{}: the token has less than {MIN_TOKEN_CHARS} characters", what());
            return Err(Hinted::new(error, "draw one: openssl rand -hex 24").into());
        }
        let caller = Caller { name: name.clone(), owner: about.owner.clone() };
        let now: Arc<dyn Fn() -> Secret + Send + Sync> = Arc::new(move || token.now());
        all.push((caller, now));
    }
    if all.is_empty() {
        return Ok(Router::new());
    }
    let requests_per_minute = outside.requests_per_minute;
    let rates = Rates { requests_per_minute, calls_per_minute: requests_per_minute * CALLS_PER_REQUEST };
    let callers = Arc::new(Callers::new(all, rates, Arc::new(SystemClock)));
    Ok(routes(OutsideServer { store: Arc::clone(store), clock: Arc::new(SystemClock), callers }))
}
