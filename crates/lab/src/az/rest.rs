//! `az rest`: one request as given, one answer as it comes.

use std::collections::BTreeMap;

use serde_json::Value;

use super::failure::{Failure, phrase};
use super::line::Line;
use super::retry::RetryPolicy;
use super::session::{Session, pairs};
use super::sign_in::split;
use super::table::{Command, CommandResult};
use crate::azure::{Body, Request, Verb};

pub(super) const COMMANDS: &[Command] = &[Command::own(
    "rest",
    "--method,-m --uri,-u,--url! --headers* --body,-b --uri-parameters,--url-parameters* --resource --skip-authorization-header? --output-file",
    rest,
)];

fn rest(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let method = line.one("--method").unwrap_or("get").to_uppercase();
    let verb = Verb::of(&method).ok_or_else(|| {
        Failure::usage(format!("az rest: '{}' is not a valid value for '--method'. Allowed values: head, get, put, post, delete, options, patch.", method.to_lowercase()))
    })?;
    let manager = session.manager()?;
    let mut place = line.need("--uri")?.to_owned();
    if place.contains("{subscriptionId}") {
        place = place.replace("{subscriptionId}", &session.subscription()?);
    }
    if place.starts_with('/') {
        place = format!("{manager}{place}");
    }
    let (base, rest) = split(&place);
    if !base.contains("://") {
        return Err(Failure::new(
            1,
            format!("Invalid URL '{place}': No scheme supplied. Perhaps you meant https://{place}?"),
        ));
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest.as_str(), ""));
    let mut query = pairs(query);
    query.extend(words(session, line, "--uri-parameters")?);
    let mut headers: BTreeMap<String, String> = words(session, line, "--headers")?
        .into_iter()
        .map(|(name, value)| (name.to_lowercase(), value))
        .collect();
    let body = line.one("--body").map(|body| session.text(body)).transpose()?.unwrap_or_default();
    if !body.is_empty() {
        headers.entry("content-type".to_owned()).or_insert_with(|| "application/json".to_owned());
    }
    authorize(session, line, (&base, &manager), &mut headers)?;
    headers.insert("commandname".to_owned(), "rest".to_owned());
    let request = Request { verb, base, path: path.to_owned(), query, headers, body: body.into_bytes() };
    let answer = session.send(RetryPolicy::Never, &request)?;
    let text = match &answer.body {
        Body::Empty => String::new(),
        Body::Json(document) => document.to_string(),
        Body::Text(_, text) => text.clone(),
        Body::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    if answer.status >= 400 {
        return Err(Failure::new(1, format!("{}({text})", phrase(answer.status))));
    }
    if let Some(path) = line.one("--output-file") {
        session
            .environment
            .write(path, text.as_bytes())
            .map_err(|error| Failure::new(1, error.to_string()))?;
        return Ok(None);
    }
    if let Body::Json(document) = answer.body {
        return Ok(Some(document));
    }
    Ok(Some(text)
        .filter(|text| !text.is_empty())
        .map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

/// Adds a token for the resource manager, or for what is named. Anybody else gets none.
fn authorize(
    session: &mut Session<'_>,
    line: &Line,
    (base, manager): (&str, &str),
    headers: &mut BTreeMap<String, String>,
) -> Result<(), Failure> {
    if line.has("--skip-authorization-header") || headers.contains_key("authorization") {
        return Ok(());
    }
    let audience = session.profile.endpoint("endpoint_active_directory_resource_id").unwrap_or_default();
    let own = base.eq_ignore_ascii_case(manager).then(|| format!("{audience}/"));
    match line.one("--resource").map(str::to_owned).or(own) {
        Some(resource) => {
            let token = session.token(&resource)?;
            headers.insert("authorization".to_owned(), format!("Bearer {token}"));
        }
        None => session.warnings.push("Can't derive appropriate Azure AD resource from --url to acquire an access token. If access token is required, use --resource to specify the resource".to_owned()),
    }
    Ok(())
}

/// Reads pairs: `name=value` each, or one object.
fn words(session: &mut Session<'_>, line: &Line, option: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut all = Vec::new();
    for word in line.many(option).into_iter().flatten() {
        let text = session.text(word)?;
        if let Ok(Value::Object(map)) = serde_json::from_str::<Value>(&text) {
            let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            all.extend(map.into_iter().map(|(name, value)| (name, text(value))));
        } else if let Some((name, value)) = text.split_once('=') {
            all.push((name.to_owned(), value.to_owned()));
        } else {
            return Err(Failure::new(1, format!("Value {text} for {option} is not in the form name=value.")));
        }
    }
    Ok(all)
}
