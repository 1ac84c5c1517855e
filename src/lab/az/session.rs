//! Requests of a command, and the waiting for what takes long.

use std::collections::BTreeMap;

use serde_json::Value;

use super::failure::Failure;
use crate::lab::azure::{Answer, Body, Request, Verb};

/// Who answers requests.
pub type Wire<'a> = dyn FnMut(Request) -> Answer + 'a;

/// So often an operation is asked about.
const POLLS: usize = 10_000;

/// A command that runs.
pub(super) struct Session<'a, 'b> {
    pub(super) wire: &'a mut Wire<'b>,
    /// Where the resource manager is.
    pub(super) base: &'a str,
    /// The subscription.
    pub(super) subscription: &'a str,
    /// The words of the command, for the activity log.
    pub(super) command: &'a str,
}

impl Session<'_, '_> {
    /// Returns the path of the subscription, or of something in it.
    pub(super) fn place(&self, rest: &str) -> String {
        format!("/subscriptions/{}{rest}", self.subscription)
    }

    /// Returns the path of something of the network provider in a group.
    pub(super) fn network(&self, group: &str, rest: &str) -> String {
        self.place(&format!("/resourceGroups/{group}/providers/Microsoft.Network/{rest}"))
    }

    /// Asks once.
    pub(super) fn ask(
        &mut self,
        verb: Verb,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answer {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut headers = BTreeMap::from([("commandname".to_owned(), self.command.to_owned())]);
        if body.is_some() {
            headers.insert("content-type".to_owned(), "application/json".to_owned());
        }
        (self.wire)(Request {
            verb,
            base: self.base.to_owned(),
            path: path.to_owned(),
            query: query.iter().map(owned).collect(),
            headers,
            body: body.map(|body| body.to_string().into_bytes()).unwrap_or_default(),
        })
    }

    /// Asks, and waits until it is done; returns what came of it.
    pub(super) fn call(&mut self, verb: Verb, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let answer = self.ask(verb, path, &[("api-version", "2024-07-01")], body);
        let told = checked(&answer)?;
        let header = |answer: &Answer, name: &str| {
            answer
                .headers
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.clone())
        };
        let (status, result) = (header(&answer, "Azure-AsyncOperation"), header(&answer, "Location"));
        if let Some(status) = status {
            self.wait(&status)?;
            return match (verb, result) {
                (Verb::Put, _) => self.call(Verb::Get, path, None),
                (_, Some(result)) => self.fetch(&result),
                (_, None) => Ok(told),
            };
        }
        Ok(told)
    }

    /// Reads all pages of a list.
    pub(super) fn list(&mut self, path: &str) -> Result<Vec<Value>, Failure> {
        let mut told = self.call(Verb::Get, path, None)?;
        let mut all = Vec::new();
        loop {
            if let Some(entries) = told.get_mut("value").and_then(Value::as_array_mut) {
                all.append(entries);
            }
            match told.get("nextLink").and_then(Value::as_str).map(str::to_owned) {
                Some(next) => told = self.fetch(&next)?,
                None => return Ok(all),
            }
        }
    }

    fn wait(&mut self, place: &str) -> Result<(), Failure> {
        for _ in 0..POLLS {
            let told = self.fetch(place)?;
            match told.get("status").and_then(Value::as_str) {
                Some("Succeeded") | None => return Ok(()),
                Some("Failed" | "Canceled") => return Err(Failure::service(200, &told)),
                Some(_) => {}
            }
        }
        Err(Failure::new(1, "ERROR: The operation does not end."))
    }

    /// Reads what an absolute address names.
    fn fetch(&mut self, place: &str) -> Result<Value, Failure> {
        let rest = place.strip_prefix(self.base).unwrap_or(place);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let decoded =
            |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (decoded(name), decoded(value)))
            .collect();
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let path = path.to_owned();
        checked(&self.ask(Verb::Get, &path, &pairs, None))
    }
}

fn checked(answer: &Answer) -> Result<Value, Failure> {
    let body = match &answer.body {
        Body::Json(document) => document.clone(),
        Body::Text(_, text) => Value::from(text.as_str()),
        Body::Empty | Body::Bytes(_) => Value::Null,
    };
    if answer.status >= 400 { Err(Failure::service(answer.status, &body)) } else { Ok(body) }
}
