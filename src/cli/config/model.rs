//! What investigates, who receives conversations, and whether the key is taken.

use std::sync::Arc;

use tokio::time::timeout;

use super::finding::{Finding, PATIENCE, State};
use crate::cli::investigate::ready;
use ghost_investigate::model::{Ask, Message, Model, ModelError, Silent};
use ghost_tools::config::Provider;
use ghost_tools::setup::Setup;

const WHAT: &str = "model";

/// Tries every model that is named.
pub(super) async fn check(setup: &Setup, offline: bool) -> Vec<Finding> {
    let config = &setup.config.model;
    let mut found = Vec::new();
    if config.brain.is_none() && config.fallback.is_empty() {
        let none = "none is configured: the playbook investigates, and nothing leaves this machine";
        found.push(Finding::new(State::Skipped, WHAT, none).hint("[model] brain names one"));
    }
    if config.brain == Some(Provider::Playbook) {
        let playbook = "the playbook investigates: no model is asked, and nothing leaves this machine";
        found.push(Finding::new(State::Ok, WHAT, playbook));
    }
    let named = config.brain.iter().chain(&config.fallback).copied();
    let named = named.filter(|provider| *provider != Provider::Playbook);
    let tried = named.map(|provider| async move {
        match ready(setup, provider) {
            Ok(model) if offline => {
                Finding::new(State::Skipped, WHAT, format!("{}: not asked", about(&model)))
            }
            Ok(model) => ask(&model).await,
            Err(error) => Finding::new(State::Problem, WHAT, format!("{error:#}"))
                .hint("[model.NAME] of the configuration, and the variable or the file with the key"),
        }
    });
    found.extend(futures_util::future::join_all(tried).await);
    if config.no_egress {
        let text = format!("none but this machine and {} listed", config.allowed.len());
        found.push(Finding::new(State::Ok, "egress", text));
    }
    found
}

fn about(model: &Arc<dyn Model>) -> String {
    let investigator = model.investigator();
    let host = investigator.host.unwrap_or_else(|| "this process".to_owned());
    let what = "symptoms, words of people and redacted output of commands";
    format!("{} {}: {host} receives {what}", investigator.provider, investigator.model)
}

/// Asks for a few tokens: that is the one call that every provider has, and it shows that the key may use the model.
async fn ask(model: &Arc<dyn Model>) -> Finding {
    let about = about(model);
    let ask = Ask {
        turn: 0,
        system: "This is a test of the connection.".to_owned(),
        tools: Vec::new(),
        messages: vec![Message::User { text: "Say ok.".to_owned() }],
        max_output_tokens: 16,
        fruitless: 0,
        shortened: 0,
    };
    match timeout(PATIENCE, model.answer(&ask, &Silent)).await {
        Ok(Ok(_)) => Finding::new(State::Ok, WHAT, format!("{about}; it answers")),
        Ok(Err(error @ ModelError::Unauthorized { .. })) => {
            Finding::new(State::Problem, WHAT, error.to_string())
                .hint("is it the key of this provider, and still valid?")
        }
        Ok(Err(
            error @ (ModelError::RateLimited { .. }
            | ModelError::TooLong { .. }
            | ModelError::Unreadable { .. }),
        )) => Finding::new(State::Warning, WHAT, format!("{about}; {error}")),
        Ok(Err(error)) => Finding::new(State::Problem, WHAT, error.to_string())
            .hint("is the host reachable from here, and the model's name right?"),
        Err(_) => {
            Finding::new(State::Problem, WHAT, format!("{about}; no answer within {} s", PATIENCE.as_secs()))
                .hint("is the host reachable from here?")
        }
    }
}
