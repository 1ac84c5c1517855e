//! One act, done.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::access::LabAccess;
use super::baseline;
use crate::azure::{Answer, Body, Request, Verb};
use crate::case::plan::PlanAction;
use crate::host::{Script, ScriptOutput, ScriptTransport};

/// How often the result of something that takes long is asked for.
const MAX_POLLS: usize = 1_000;

/// Does one act. The error says what failed and what the other side said.
pub(super) async fn perform(lab: &dyn LabAccess, data: &Path, act: &PlanAction) -> Result<(), String> {
    match act {
        PlanAction::Put { path, body } => ask(lab, Verb::Put, path, Some(body)).await.map(drop),
        PlanAction::Patch { path, body } => ask(lab, Verb::Patch, path, Some(body)).await.map(drop),
        PlanAction::Post { path } => ask(lab, Verb::Post, path, None).await.map(drop),
        PlanAction::Delete { path } => ask(lab, Verb::Delete, path, None).await.map(drop),
        PlanAction::Set { path, field, value } => {
            let mut document = ask(lab, Verb::Get, path, None).await?;
            set(&mut document, field, value).ok_or_else(|| format!("{path} has no place for {field}"))?;
            ask(lab, Verb::Put, path, Some(&document)).await.map(drop)
        }
        PlanAction::Run { vm, command } => {
            let ran = run(lab, vm, command).await?;
            if ran.code == 0 {
                return Ok(());
            }
            let said = [ran.err.trim(), ran.out.trim()]
                .into_iter()
                .find(|said| !said.is_empty())
                .unwrap_or("nothing");
            Err(format!("`{command}` on {vm} ended with {}: {said}", ran.code))
        }
        PlanAction::Remember { baseline, nics } => baseline::remember(lab, data, baseline, nics).await,
    }
}

/// Runs a command on a machine, as somebody in its shell.
pub(super) async fn run(lab: &dyn LabAccess, vm: &str, command: &str) -> Result<ScriptOutput, String> {
    let script = Script {
        text: command.to_owned(),
        arguments: Vec::new(),
        variables: Vec::new(),
        transport: ScriptTransport::Ssh,
    };
    lab.host().run(vm, &script).await.map_err(|error| format!("`{command}` on {vm}: {error}"))
}

/// Asks the resource manager, and waits for the result.
pub(super) async fn ask(
    lab: &dyn LabAccess,
    verb: Verb,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    let mut answer = lab.manage(&request(verb, path, &[], body)).await;
    if verb == Verb::Post {
        for _ in 0..MAX_POLLS {
            let place = answer.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
            let (202, Some((_, place))) = (answer.status, place) else { break };
            let (path, query) = place.split_once('?').unwrap_or((place, ""));
            let pairs: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
            let request = request(Verb::Get, path, &pairs, None);
            answer = lab.manage(&request).await;
        }
    }
    let document = document(&answer);
    if answer.status < 300 {
        return Ok(document);
    }
    let error = document.get("error").unwrap_or(&document);
    let word = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
    Err(format!("{} {path}: {} {} {}", verb.name(), answer.status, word("code"), word("message")))
}

fn request(verb: Verb, path: &str, query: &[(&str, &str)], body: Option<&Value>) -> Request {
    let query = query.iter().filter(|(name, _)| *name != "api-version");
    let query = query.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let version = ("api-version".to_owned(), "2024-07-01".to_owned());
    let headers = BTreeMap::from([("content-type".to_owned(), "application/json".to_owned())]);
    Request {
        verb,
        base: String::new(),
        path: path.to_owned(),
        query: query.chain([version]).collect(),
        headers: if body.is_some() { headers } else { BTreeMap::new() },
        body: body.map(|body| body.to_string().into_bytes()).unwrap_or_default(),
    }
}

fn document(answer: &Answer) -> Value {
    match &answer.body {
        Body::Json(document) => document.clone(),
        Body::Text(_, text) => json!(text),
        Body::Empty | Body::Bytes(_) => Value::Null,
    }
}

/// Sets a field of a document; null takes it away. Nothing where the document has no place for it.
fn set(document: &mut Value, field: &str, value: &Value) -> Option<()> {
    let (parent, name) = field.rsplit_once('/')?;
    let parent = document.pointer_mut(parent)?.as_object_mut()?;
    if value.is_null() {
        parent.remove(name);
    } else {
        parent.insert(name.to_owned(), value.clone());
    }
    Some(())
}
