//! Whether Slack takes the tokens, which scopes are missing and what for, and whether the groups of approvers can be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::timeout;

use super::finding::{Finding, PATIENCE, State};
use crate::cli::bot::{found, settings, swapped};
use ghost_agent::bot::{ChannelRules, SCOPES, reason};
use ghost_base::Secret;
use ghost_slack::web::{CallError, FixedTokens, Granted, Roots, Settings as WebSettings, Web};
use ghost_tools::config::Transport;
use ghost_tools::setup::Setup;

const BOT: &str = "slack bot";
const APP: &str = "slack app";
const SECRET: &str = "slack secret";
const SCOPE: &str = "slack scopes";
const APPROVERS: &str = "approvers";
const ALERTS: &str = "alerts";

/// Tries what the bot needs of Slack.
pub(super) async fn check(setup: &Setup, offline: bool) -> Vec<Finding> {
    let slack = &setup.config.slack;
    let bot = found(setup, "SLACK_BOT_TOKEN", slack.bot_token_file.as_deref());
    let app = found(setup, "SLACK_APP_TOKEN", slack.app_token_file.as_deref());
    let signing = found(setup, "SLACK_SIGNING_SECRET", slack.signing_secret_file.as_deref());
    if [&bot, &app, &signing].iter().all(|token| matches!(token, Ok(None))) {
        let none = Finding::new(State::Skipped, BOT, "there is no token: only `ghost bot` needs some");
        return vec![none.hint("set SLACK_BOT_TOKEN and SLACK_APP_TOKEN, or name files in [slack]")];
    }
    let mut findings = Vec::new();
    let mut present = |what, token: anyhow::Result<Option<Secret>>, wanted: bool, hint: &str| match token {
        Ok(Some(token)) => {
            let variable = if what == BOT { "SLACK_BOT_TOKEN" } else { "SLACK_APP_TOKEN" };
            match swapped(variable, &token).filter(|_| what != SECRET) {
                // Slack need not be asked about it.
                Some(wrong) => {
                    findings.push(Finding::new(State::Problem, what, wrong).hint(hint));
                    None
                }
                None => Some(token),
            }
        }
        Ok(None) if wanted => {
            findings.push(Finding::new(State::Problem, what, "there is none").hint(hint));
            None
        }
        Ok(None) => None,
        Err(error) => {
            findings.push(Finding::new(State::Problem, what, format!("{error:#}")).hint(hint));
            None
        }
    };
    let sockets = slack.transport == Transport::Socket;
    let bot = present(BOT, bot, true, "set SLACK_BOT_TOKEN, or [slack] bot_token_file");
    let app = present(APP, app, sockets, "set SLACK_APP_TOKEN, or [slack] app_token_file");
    let signing =
        present(SECRET, signing, !sockets, "set SLACK_SIGNING_SECRET, or [slack] signing_secret_file");
    if signing.is_some() && !sockets {
        findings.push(Finding::new(
            State::Ok,
            SECRET,
            "there is one; Slack's first request shows whether it is right",
        ));
    }
    findings.extend(nobody(setup));
    if offline {
        findings.push(Finding::new(State::Skipped, BOT, "Slack is not asked"));
        return findings;
    }
    let (ask_bot, ask_app) = (bot.is_some(), app.is_some() && sockets);
    let web = match web(setup, bot, app) {
        Ok(web) => web,
        Err(error) => {
            findings.push(Finding::new(State::Problem, BOT, format!("{error:#}")));
            return findings;
        }
    };
    let (identity, sockets, groups, channels) = tokio::join!(
        async { if ask_bot { bot_of(&web).await } else { Vec::new() } },
        async { if ask_app { vec![app_of(&web).await] } else { Vec::new() } },
        async { if ask_bot { groups_of(setup, &web).await } else { Vec::new() } },
        async { if ask_bot { channels_of(setup, &web).await } else { Vec::new() } },
    );
    [findings, identity, sockets, groups, channels].concat()
}

/// Says where nobody may approve.
fn nobody(setup: &Setup) -> Option<Finding> {
    let settings = settings(setup);
    let mut all_rules = settings.channels.values().chain([&settings.anywhere]);
    let none = all_rules.all(|ChannelRules { approvers, .. }| {
        [&approvers.measurement, &approvers.outage, &approvers.change].iter().all(|people| people.is_nobody())
    });
    none.then(|| {
        Finding::new(State::Warning, APPROVERS, "nobody is named: every card can only be denied")
            .hint("[approval.measurement], [approval.outage] and [approval.change] name users and groups")
    })
}

fn web(setup: &Setup, bot: Option<Secret>, app: Option<Secret>) -> anyhow::Result<Web> {
    drop(rustls::crypto::ring::default_provider().install_default());
    let said = setup.environment.text("SLACK_API_URL").map(str::to_owned);
    let url = said.or_else(|| setup.config.slack.api_url.clone());
    // A machine without certificates can still ask a workspace of its own.
    let plain = url.as_deref().is_some_and(|url| url.starts_with("http://"));
    let roots = if plain { Roots::none()? } else { Roots::load(None)? };
    let empty = || Secret::new("");
    let tokens = FixedTokens { bot: bot.unwrap_or_else(empty), app: app.unwrap_or_else(empty) };
    Ok(Web::new(WebSettings { url, limit: PATIENCE, ..WebSettings::new(roots) }, Arc::new(tokens)))
}

async fn bot_of(web: &Web) -> Vec<Finding> {
    match web.granted().await {
        Ok(Granted { identity, scopes }) => {
            let team = identity.team_name.or(identity.team).unwrap_or_default();
            let text = format!("{} in {team}", identity.user);
            vec![Finding::new(State::Ok, BOT, text), scopes_of(scopes.as_ref())]
        }
        Err(error) => {
            vec![refused(BOT, &error, "is it the token of an app that is installed in the workspace?")]
        }
    }
}

/// Names every scope that is missing, and what it is needed for.
fn scopes_of(granted: Option<&BTreeSet<String>>) -> Finding {
    let Some(granted) = granted else {
        return Finding::new(State::Warning, SCOPE, "Slack does not say which were granted");
    };
    let missing: Vec<String> = SCOPES
        .iter()
        .filter(|scope| !granted.contains(**scope))
        .map(|scope| format!("{scope} ({})", reason(scope).unwrap_or("the bot uses it")))
        .collect();
    if missing.is_empty() {
        return Finding::new(State::Ok, SCOPE, format!("all {} of the manifest are granted", SCOPES.len()));
    }
    Finding::new(State::Problem, SCOPE, format!("missing: {}", missing.join("; ")))
        .hint("paste manifest.yaml into the app's settings, save, and install the app again")
}

/// Asks for the address of a socket, and opens none.
async fn app_of(web: &Web) -> Finding {
    let asked = timeout(PATIENCE, web.connections_open()).await;
    match asked {
        Ok(Ok(_)) => Finding::new(State::Ok, APP, "Slack offers a socket; none was opened"),
        Ok(Err(error)) => {
            refused(APP, &error, "an app-level token with the scope connections:write is wanted")
        }
        Err(_) => Finding::new(State::Problem, APP, format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

fn refused(what: &'static str, error: &CallError, hint: &str) -> Finding {
    let hint = if error.code().is_some() {
        hint
    } else {
        "is Slack reachable from here? SLACK_API_URL and [slack] api_url say where it is looked for"
    };
    Finding::new(State::Problem, what, error.to_string()).hint(hint)
}

/// Reads every group by which somebody may do something.
async fn groups_of(setup: &Setup, web: &Web) -> Vec<Finding> {
    let settings = settings(setup);
    let groups: BTreeSet<&str> = settings.groups().collect();
    let read = groups.into_iter().map(|group| async move {
        match timeout(PATIENCE, web.group_members(group)).await {
            Ok(Ok(members)) if members.is_empty() => {
                Finding::new(State::Warning, APPROVERS, format!("{group} has no members"))
            }
            Ok(Ok(members)) => {
                Finding::new(State::Ok, APPROVERS, format!("{group} has {} members", members.len()))
            }
            Ok(Err(error)) => Finding::new(State::Problem, APPROVERS, format!("{group}: {error}"))
                .hint("as long as it cannot be read, nobody of it may approve"),
            Err(_) => Finding::new(
                State::Problem,
                APPROVERS,
                format!("{group}: no answer within {} s", PATIENCE.as_secs()),
            ),
        }
    });
    futures_util::future::join_all(read).await
}

/// Finds out whether the bot can open threads where alerts want them.
async fn channels_of(setup: &Setup, web: &Web) -> Vec<Finding> {
    let channels: BTreeSet<&str> =
        setup.config.alerts.values().map(|source| source.channel.as_str()).collect();
    let asked = channels.into_iter().map(|channel| async move {
        match timeout(PATIENCE, web.conversation(channel)).await {
            Ok(Ok(about)) if about.archived => {
                Finding::new(State::Problem, ALERTS, format!("{channel} is archived"))
            }
            Ok(Ok(about)) if !about.member => {
                Finding::new(State::Problem, ALERTS, format!("the bot is not in {channel}"))
                    .hint("invite it there: alerts open no thread before")
            }
            Ok(Ok(_)) => Finding::new(State::Ok, ALERTS, format!("the bot is in {channel}")),
            Ok(Err(error)) => Finding::new(State::Problem, ALERTS, format!("{channel}: {error}"))
                .hint("a private channel is unknown to the bot until somebody invites it"),
            Err(_) => {
                let what = format!("{channel}: no answer within {} s", PATIENCE.as_secs());
                Finding::new(State::Problem, ALERTS, what)
            }
        }
    });
    futures_util::future::join_all(asked).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_scope_is_named_with_its_purpose() {
        let granted: BTreeSet<String> = SCOPES
            .iter()
            .filter(|scope| **scope != "usergroups:read")
            .map(|scope| (*scope).to_owned())
            .collect();
        let finding = scopes_of(Some(&granted));
        assert_eq!(finding.state, State::Problem);
        assert!(
            finding.detail.starts_with("missing: usergroups:read (who may approve"),
            "{}",
            finding.detail
        );
        let all: BTreeSet<String> = SCOPES.iter().map(|scope| (*scope).to_owned()).collect();
        assert_eq!(scopes_of(Some(&all)).state, State::Ok);
        assert_eq!(scopes_of(None).state, State::Warning);
    }
}
