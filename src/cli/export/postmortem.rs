//! `ghost export postmortem`.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::json;

use ghost_agent::export::{
    GitHubPlace, PagerDutyPlace, Prepared, SendError, github, is_incident, pagerduty, send,
};
use ghost_base::{Secret, SessionId, write_private};
use ghost_investigate::event::read;
use ghost_investigate::report::plain;
use ghost_investigate::report::postmortem::{Postmortem, postmortem};
use ghost_tools::config::{is_repository, read_small};
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::sessions::{missing, store_of};
use ghost_tools::setup::Setup;

/// The arguments of `ghost export postmortem`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The session.
    session: SessionId,
    /// The form, or where it is sent: github creates an issue, pagerduty adds a note to an incident.
    #[arg(long, value_enum, default_value_t = To::Markdown)]
    to: To,
    /// Write it to a file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The repository that gets the issue, instead of that of the configuration.
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    repository: Option<String>,
    /// The id of the incident that gets the note.
    #[arg(long, value_name = "ID", value_parser = incident, required_if_eq("to", "pagerduty"))]
    incident: Option<String>,
    /// Show what would be sent, and send nothing.
    #[arg(long)]
    print: bool,
    /// Print one JSON document: the post-mortem, or what came of sending it.
    #[arg(long)]
    json: bool,
}

/// In which form, or where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    Markdown,
    Json,
    Github,
    Pagerduty,
}

fn repository(text: &str) -> Result<String, String> {
    if is_repository(text) { Ok(text.to_owned()) } else { Err("it is OWNER/NAME".to_owned()) }
}

fn incident(text: &str) -> Result<String, String> {
    if is_incident(text) { Ok(text.to_owned()) } else { Err("it is an id such as Q1K2J3".to_owned()) }
}

/// Runs the subcommand.
pub(super) async fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<()> {
    let session = &arguments.session;
    let lines = store_of(setup, session).await?.read(session, 0).await?;
    if lines.is_empty() {
        return Err(missing(session));
    }
    let reading = || format!("reading session {session}");
    let recorded = read(session, lines.iter().map(String::as_str)).with_context(reading)?;
    let document = postmortem(session, &recorded, &BTreeMap::new()).with_context(reading)?;
    let (prepared, token_file) = match arguments.to {
        To::Markdown if arguments.json => return written(&as_json(&document)?, arguments.out.as_deref()),
        To::Markdown => return written(&document.markdown(), arguments.out.as_deref()),
        To::Json => return written(&as_json(&document)?, arguments.out.as_deref()),
        To::Github => for_github(arguments, setup, &document)?,
        To::Pagerduty => for_pagerduty(arguments, setup, &document)?,
    };
    if arguments.print {
        return shown(&prepared, arguments.json);
    }
    let token = read_small(&token_file)
        .with_context(|| format!("reading token_file {}", plain(&token_file.display().to_string())))?;
    let token = Secret::new(&token);
    if token.is_empty() {
        let what = format!("token_file {} is empty", plain(&token_file.display().to_string()));
        return Err(anyhow::Error::msg(what));
    }
    drop(rustls::crypto::ring::default_provider().install_default());
    let sent = send(&prepared, &token).await.map_err(explained)?;
    if arguments.json {
        let document = json!({ "sent": true, "service": prepared.service, "place": sent.place });
        return line(&document.to_string());
    }
    line(&plain(&format!("{}: written as {}", prepared.service, sent.place)))
}

impl Arguments {
    /// Returns what is wrong about it: options of another form.
    pub(super) fn wrong_usage(&self) -> Option<&'static str> {
        let sends = matches!(self.to, To::Github | To::Pagerduty);
        if self.repository.is_some() && self.to != To::Github {
            Some("--repository goes with --to github")
        } else if self.incident.is_some() && self.to != To::Pagerduty {
            Some("--incident goes with --to pagerduty")
        } else if self.print && !sends {
            Some("--print goes with --to github and --to pagerduty: anything else sends nothing")
        } else if self.out.is_some() && sends {
            Some("--out goes with --to markdown and --to json")
        } else {
            None
        }
    }
}

fn for_github(
    arguments: &Arguments,
    setup: &Setup,
    document: &Postmortem,
) -> anyhow::Result<(Prepared, PathBuf)> {
    let Some(config) = &setup.config.export.github else { return Err(unconfigured("[export.github]")) };
    let named = arguments.repository.clone().or_else(|| config.repository.clone());
    let Some(repository) = named else {
        let error = anyhow::Error::msg("no repository is named");
        return Err(Hinted::new(error, "--repository OWNER/NAME, or [export.github] repository").into());
    };
    let place = GitHubPlace { url: config.url.clone(), repository, labels: config.labels.clone() };
    Ok((github(&place, document).map_err(explained)?, config.token_file.clone()))
}

fn for_pagerduty(
    arguments: &Arguments,
    setup: &Setup,
    document: &Postmortem,
) -> anyhow::Result<(Prepared, PathBuf)> {
    let Some(config) = &setup.config.export.pagerduty else { return Err(unconfigured("[export.pagerduty]")) };
    let incident = arguments.incident.clone().unwrap_or_default();
    let place = PagerDutyPlace { url: config.url.clone(), from: config.from.clone(), incident };
    Ok((pagerduty(&place, document).map_err(explained)?, config.token_file.clone()))
}

fn unconfigured(section: &str) -> anyhow::Error {
    let error = anyhow::Error::msg(format!("{section} of the configuration says nothing"));
    Hinted::new(error, "docs/operations/configuration.md lists its keys").into()
}

fn explained(error: SendError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => Hinted::new(error, hint).into(),
        None => error.into(),
    }
}

fn as_json(document: &Postmortem) -> anyhow::Result<String> {
    Ok(serde_json::to_string(document)? + "\n")
}

fn shown(prepared: &Prepared, json: bool) -> anyhow::Result<()> {
    if json {
        let document =
            json!({ "sent": false, "service": prepared.service, "url": prepared.url, "body": prepared.body });
        return line(&document.to_string());
    }
    // JSON escapes what a terminal would obey.
    line(&prepared.shown())?;
    note("nothing was sent");
    Ok(())
}

fn written(text: &str, out: Option<&Path>) -> anyhow::Result<()> {
    match out {
        Some(path) => {
            write_private(path, text.as_bytes())
                .with_context(|| format!("writing {}", plain(&path.display().to_string())))?;
        }
        None => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(())
}
