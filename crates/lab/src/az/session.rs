//! Requests of a command: tokens, other tries, and the waiting for what takes long.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::environment::Environment;
use super::failure::Failure;
use super::profile::Profile;
use super::retry::{MAX_RETRIES, RetryPolicy, again, backoff, header, retry_after};
use super::table::Command;
use crate::azure::{Answer, Body, Request, Verb};

/// How often an operation is asked about.
const MAX_POLLS: usize = 10_000;

/// How long lies between two questions where nobody says.
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(30);

/// A command that runs.
pub(super) struct Session<'a> {
    pub(super) environment: &'a mut dyn Environment,
    pub(super) profile: &'a mut Profile,
    pub(super) command: &'static Command,
    /// The options that were used, for the log of the service.
    pub(super) options: String,
    /// Whether to return as soon as an operation has begun.
    pub(super) hurry: bool,
    /// The subscription, once it is known.
    pub(super) chosen: Option<Value>,
    /// What to warn of.
    pub(super) warnings: Vec<String>,
    /// Bytes for standard output that are no document.
    pub(super) bytes: Vec<u8>,
    /// Tokens that were fetched, by what they open.
    pub(super) tokens: BTreeMap<String, String>,
}

impl Session<'_> {
    /// Chooses a subscription by its name or identifier.
    pub(super) fn settle(&mut self, name: &str) -> Result<(), Failure> {
        let is = |entry: &&Value| {
            ["id", "name"]
                .iter()
                .filter_map(|field| entry.get(field).and_then(Value::as_str))
                .any(|page| page.eq_ignore_ascii_case(name))
        };
        let here = self.profile.here();
        if here.is_empty() {
            return Err(Failure::stranger());
        }
        let Some(found) = here.into_iter().find(is).cloned() else {
            self.warnings.push(format!("Subscription '{name}' not recognized."));
            let text =
                format!("Subscription '{name}' not found. Check the spelling and casing and try again.");
            return Err(Failure::new(1, text));
        };
        self.chosen = Some(found);
        Ok(())
    }

    /// Returns the entry of the subscription in use.
    pub(super) fn account(&self) -> Result<Value, Failure> {
        let first = || {
            let here = self.profile.here();
            here.into_iter().find(|entry| entry.get("isDefault") == Some(&Value::Bool(true))).cloned()
        };
        self.chosen.clone().or_else(first).ok_or_else(Failure::stranger)
    }

    /// Returns the identifier of the subscription in use.
    pub(super) fn subscription(&self) -> Result<String, Failure> {
        let account = self.account()?;
        account.get("id").and_then(Value::as_str).map(str::to_owned).ok_or_else(Failure::stranger)
    }

    /// Returns the path of something in the subscription.
    pub(super) fn place(&self, rest: &str) -> Result<String, Failure> {
        Ok(format!("/subscriptions/{}{rest}", self.subscription()?))
    }

    /// Returns the path of something in a group.
    pub(super) fn inside(&self, group: &str, rest: &str) -> Result<String, Failure> {
        self.place(&format!("/resourceGroups/{}/providers/{rest}", super::reference::segment(group)))
    }

    /// Returns where the resource manager is.
    pub(super) fn manager(&self) -> Result<String, Failure> {
        let none = || Failure::new(1, format!("The cloud '{}' is not registered.", self.profile.cloud()));
        self.profile.endpoint("endpoint_resource_manager").ok_or_else(none)
    }

    /// Sends a request, more than once where that helps.
    pub(super) fn send(&mut self, manner: RetryPolicy, request: &Request) -> Result<Answer, Failure> {
        let mut tried = 0;
        loop {
            match self.environment.ask(request.clone()) {
                Ok(answer) => match again(manner, request.verb, &answer, tried) {
                    Some(time) => self.environment.pause(time),
                    // What a blob holds stays as it came.
                    None if manner == RetryPolicy::Blob => return Ok(answer),
                    None => return Ok(understood(answer)),
                },
                Err(why) if tried >= MAX_RETRIES || manner == RetryPolicy::Never => {
                    return Err(Failure::new(1, why.to_string()));
                }
                Err(_) => self.environment.pause(backoff(tried)),
            }
            tried += 1;
        }
    }

    /// Asks the resource manager.
    pub(super) fn ask(
        &mut self,
        verb: Verb,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, Failure> {
        let base = self.manager()?;
        let audience =
            self.profile.endpoint("endpoint_active_directory_resource_id").unwrap_or_else(|| base.clone());
        let token = self.token(&format!("{audience}/"))?;
        let mut headers = BTreeMap::from([
            ("accept".to_owned(), "application/json".to_owned()),
            ("authorization".to_owned(), format!("Bearer {token}")),
            ("commandname".to_owned(), self.command.name.to_owned()),
            ("parametersetname".to_owned(), self.options.clone()),
        ]);
        if body.is_some() {
            headers.insert("content-type".to_owned(), "application/json".to_owned());
        }
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let request = Request {
            verb,
            base,
            path: path.to_owned(),
            query: query.iter().map(owned).collect(),
            headers,
            body: body.map(|body| body.to_string().into_bytes()).unwrap_or_default(),
        };
        self.send(RetryPolicy::Management, &request)
    }

    /// Reads something.
    pub(super) fn get(&mut self, path: &str, version: &str) -> Result<Value, Failure> {
        checked(&self.ask(Verb::Get, path, &[("api-version", version)], None)?)
    }

    /// Asks, and waits until it is done; returns its result.
    pub(super) fn call(
        &mut self,
        verb: Verb,
        path: &str,
        version: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let query = [("api-version", version)];
        let answer = self.ask(verb, path, &query, body)?;
        let mut begun = checked(&answer)?;
        if self.hurry {
            return Ok(Value::Null);
        }
        let place = |name: &str| header(&answer, name).map(str::to_owned);
        match (verb, place("azure-asyncoperation"), place("location")) {
            (Verb::Put | Verb::Patch, Some(status), _) => {
                self.wait(&status)?;
                self.get(path, version)
            }
            (_, Some(status), Some(result)) => {
                self.wait(&status)?;
                self.result(&result)
            }
            (_, Some(status), None) => self.wait(&status).map(|()| Value::Null),
            (_, None, Some(result)) if answer.status == 202 => self.result(&result),
            (Verb::Put | Verb::Patch, None, _) => {
                for _ in 0..MAX_POLLS {
                    let state = begun.pointer("/properties/provisioningState").and_then(Value::as_str);
                    match state {
                        Some("Updating" | "Creating" | "Accepted" | "Provisioning") => {}
                        Some("Failed" | "Canceled") => {
                            return Err(Failure::new(1, "Operation returned an invalid status 'OK'"));
                        }
                        Some(_) | None => break,
                    }
                    self.environment.pause(DEFAULT_POLL_INTERVAL);
                    begun = self.get(path, version)?;
                }
                Ok(begun)
            }
            (_, None, _) => Ok(begun),
        }
    }

    /// Reads all pages of a list, or so many entries of them.
    pub(super) fn list(
        &mut self,
        path: &str,
        query: &[(&str, &str)],
        most: Option<usize>,
    ) -> Result<Vec<Value>, Failure> {
        let mut page = checked(&self.ask(Verb::Get, path, query, None)?)?;
        let mut all = Vec::new();
        for _ in 0..MAX_POLLS {
            if let Some(entries) = page.get_mut("value").and_then(Value::as_array_mut) {
                all.append(entries);
            }
            let next = page
                .get("nextLink")
                .and_then(Value::as_str)
                .filter(|next| !next.is_empty())
                .map(str::to_owned);
            let (Some(next), true) = (next, most.is_none_or(|most| all.len() < most)) else { return Ok(all) };
            page = checked(&self.fetch(&next)?)?;
        }
        Err(Failure::new(1, "The list does not end."))
    }

    fn wait(&mut self, place: &str) -> Result<(), Failure> {
        for _ in 0..MAX_POLLS {
            let answer = self.fetch(place)?;
            let about = checked(&answer)?;
            match about.get("status").and_then(Value::as_str) {
                Some("Failed" | "Canceled") => return Err(Failure::from_answer(1, &about)),
                Some("Succeeded") | None => return Ok(()),
                Some(_) => self.environment.pause(retry_after(&answer).unwrap_or(DEFAULT_POLL_INTERVAL)),
            }
        }
        Err(Failure::new(1, "The operation does not end."))
    }

    fn result(&mut self, place: &str) -> Result<Value, Failure> {
        for _ in 0..MAX_POLLS {
            let answer = self.fetch(place)?;
            if answer.status != 202 {
                return checked(&answer);
            }
            self.environment.pause(retry_after(&answer).unwrap_or(DEFAULT_POLL_INTERVAL));
        }
        Err(Failure::new(1, "The operation does not end."))
    }

    /// Reads what an absolute address names. An address elsewhere gets no token: it would be somebody else's then.
    fn fetch(&mut self, place: &str) -> Result<Answer, Failure> {
        let base = self.manager()?;
        let Some(rest) = place.strip_prefix(&base).filter(|rest| rest.starts_with('/')) else {
            return Err(Failure::new(1, format!("The service points to another one: {place}")));
        };
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let pairs = pairs(query);
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let path = path.to_owned();
        self.ask(Verb::Get, &path, &pairs, None)
    }
}

/// Reads the bytes of an answer: a document where they are one, else a text.
fn understood(answer: Answer) -> Answer {
    let body = match answer.body {
        Body::Bytes(bytes) => match serde_json::from_slice(&bytes) {
            Ok(document) => Body::Json(document),
            Err(_) => Body::Text("text/plain", String::from_utf8_lossy(&bytes).into_owned()),
        },
        other @ (Body::Empty | Body::Json(_) | Body::Text(..)) => other,
    };
    Answer { body, ..answer }
}

/// Takes a query apart.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        let blank = text.replace('+', " ");
        percent_encoding::percent_decode_str(&blank).decode_utf8_lossy().into_owned()
    };
    let pairs = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// Returns the document of an answer, or how it fails.
pub(super) fn checked(answer: &Answer) -> Result<Value, Failure> {
    if answer.status >= 400 {
        return Err(Failure::service(answer));
    }
    match &answer.body {
        Body::Json(document) => Ok(document.clone()),
        Body::Empty => Ok(Value::Null),
        Body::Bytes(bytes) => read(&String::from_utf8_lossy(bytes)),
        Body::Text(_, text) => read(text),
    }
}

fn read(text: &str) -> Result<Value, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column().max(1));
        let before: usize =
            text.lines().take(line.saturating_sub(1)).map(|line| line.chars().count() + 1).sum();
        let what = if text.trim_start().starts_with('{') && error.is_syntax() {
            "Expecting property name enclosed in double quotes"
        } else {
            "Expecting value"
        };
        let at = before + column - 1;
        Failure::new(1, format!("JSON is invalid: {what}: line {line} column {column} (char {at})"))
    })
}
