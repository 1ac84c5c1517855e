//! An estate as a file describes it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::complete::{complete, view};
use super::documents::Estate;
use super::links;
use crate::azure::target::Target;

/// So large a file may be.
const MAX_FILE_BYTES: usize = 32 << 20;

/// The estate of the use cases.
const DEFAULT_ESTATE: &str = include_str!("../default.json");

/// The resources of an estate, in the resource manager's form, and what the platform knows beside them.
///
/// What follows may be missing: names and types, tags of documents, the rules that every group has, references from the other side, how
/// a machine is.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// The subscription, as `GET /subscriptions` tells it.
    pub subscription: Value,
    /// Other subscriptions of the tenant, in the same form.
    #[serde(default)]
    pub other_subscriptions: Vec<Value>,
    /// Management groups: `name`, `displayName`, and the ids of the `subscriptions` in each.
    #[serde(default)]
    pub management_groups: Vec<Value>,
    /// The subscriptions in which whoever is signed in has no role, by their ids.
    #[serde(default)]
    pub closed: Vec<String>,
    /// Who is signed in: `objectId`, `appId`.
    pub principal: Value,
    pub resource_groups: Vec<Value>,
    /// Everything in them.
    pub resources: Vec<Value>,
    /// How virtual machines are, by their names.
    #[serde(default)]
    pub instance_views: BTreeMap<String, Value>,
    /// What lies in the first storage account, by container: `name`, `contentType`, and `text`, `base64` or `bytes`: so many, as a capture begins.
    #[serde(default)]
    pub containers: BTreeMap<String, Vec<Value>>,
    /// The prefixes of service tags.
    #[serde(default)]
    pub service_tags: BTreeMap<String, Vec<String>>,
    /// The prefixes that stand for tags in effective rules.
    #[serde(default)]
    pub expansions: BTreeMap<String, Vec<String>>,
}

/// A description that describes nothing that can be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct EstateError {
    /// Where.
    pub place: String,
    /// What is wrong there.
    pub what: Cow<'static, str>,
}

impl EstateError {
    fn new(place: impl Into<String>, what: impl Into<Cow<'static, str>>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl Description {
    /// Returns the estate of the use cases.
    ///
    /// # Errors
    /// Never fails in a program that passed its tests.
    pub fn usual() -> Result<Self, EstateError> {
        Self::parse(DEFAULT_ESTATE.as_bytes())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Fails where the file is too large, cut off, no JSON or no estate; says where.
    pub fn parse(bytes: &[u8]) -> Result<Self, EstateError> {
        if bytes.len() > MAX_FILE_BYTES {
            return Err(EstateError::new("the file", "is larger than 32 MiB"));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(EstateError::new("the file", "is empty"));
        }
        let read: Self = serde_json::from_slice(bytes).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let what = if error.is_eof() { "the file is cut off".to_owned() } else { error.to_string() };
            EstateError::new(place, what)
        })?;
        read.estate()?;
        Ok(read)
    }

    /// Returns all subscriptions, the first one first.
    pub(in crate::azure) fn subscriptions(&self) -> impl Iterator<Item = &Value> {
        std::iter::once(&self.subscription).chain(&self.other_subscriptions)
    }

    /// Returns the subscriptions in which whoever is signed in has a role, the first one first.
    pub fn open_subscriptions(&self) -> impl Iterator<Item = &Value> {
        self.subscriptions().filter(|own| {
            let id = own.get("subscriptionId").and_then(Value::as_str).unwrap_or_default();
            !self.is_closed(id)
        })
    }

    /// Tells whether whoever is signed in has no role in a subscription.
    pub(in crate::azure) fn is_closed(&self, subscription: &str) -> bool {
        self.closed.iter().any(|own| own.eq_ignore_ascii_case(subscription))
    }

    /// Returns the estate that is described.
    pub(in crate::azure) fn estate(&self) -> Result<Estate, EstateError> {
        let mut known = Vec::new();
        for subscription in self.subscriptions() {
            let id = subscription.get("subscriptionId").and_then(Value::as_str);
            let id = id.filter(|id| !id.is_empty() && !id.contains('/'));
            known.push(id.ok_or_else(|| EstateError::new("subscription", "has no subscriptionId"))?);
        }
        if !self.subscription.get("tenantId").is_some_and(Value::is_string) {
            return Err(EstateError::new("subscription", "has no tenantId"));
        }
        if !self.principal.get("objectId").is_some_and(Value::is_string) {
            return Err(EstateError::new("principal", "has no objectId"));
        }
        let mut estate = Estate::default();
        let named = |list: &'static str, all: &[Value]| -> Vec<(String, Value)> {
            all.iter().enumerate().map(|(at, one)| (format!("{list}[{at}]"), one.clone())).collect()
        };
        let groups = named("resourceGroups", &self.resource_groups);
        let others = named("resources", &self.resources);
        for (place, mut document) in groups.into_iter().chain(others) {
            let target = checked(&place, &document, &known)?;
            let around = Target { provider: None, chain: Vec::new(), ..target.clone() };
            if target.provider.is_some() && target.group.is_some() && estate.get(&around).is_none() {
                return Err(EstateError::new(place, "is in a resource group that is not described"));
            }
            complete(&target, &mut document);
            if !document.get("type").is_some_and(Value::is_string)
                || !document.get("name").is_some_and(Value::is_string)
                || !document.get("properties").is_some_and(Value::is_object)
            {
                return Err(EstateError::new(place, "has a name, a type or properties that are none"));
            }
            if estate.get(&target).is_some() {
                return Err(EstateError::new(place, "is there twice"));
            }
            estate.seed(&target, document);
        }
        let all: Vec<Value> = estate.all().cloned().collect();
        all.iter().for_each(|document| links::follow(&mut estate, None, Some(document)));
        Ok(estate)
    }

    /// Returns how machines are, those among them of which nothing is said.
    pub(in crate::azure) fn views(&self, estate: &Estate) -> BTreeMap<String, Value> {
        let mut views = self.instance_views.clone();
        for machine in estate.of("Microsoft.Compute/virtualMachines") {
            let word = |field: &str| machine.get(field).and_then(Value::as_str).unwrap_or_default();
            if views.keys().any(|known| known.eq_ignore_ascii_case(word("name"))) {
                continue;
            }
            let below = format!("{}/extensions/", word("id")).to_ascii_lowercase();
            let own = |found: &&Value| {
                let id = found.get("id").and_then(Value::as_str).unwrap_or_default();
                id.to_ascii_lowercase().starts_with(&below)
            };
            let extensions: Vec<&Value> = estate.all().filter(own).collect();
            views.insert(word("name").to_owned(), view(machine, &extensions));
        }
        views
    }
}

/// Reads the identifier of a document.
fn checked(place: &str, document: &Value, known: &[&str]) -> Result<Target, EstateError> {
    let id = document.get("id").and_then(Value::as_str);
    let id = id.ok_or_else(|| EstateError::new(place, "has no id"))?;
    let named = Target::parse(id).filter(|target| {
        target.tail.is_none()
            && (!target.chain.is_empty() || (target.provider.is_none() && target.group.is_some()))
    });
    let target = named.ok_or_else(|| EstateError::new(place, "has an id that names no resource"))?;
    let is_known = |own: &str| known.iter().any(|known| known.eq_ignore_ascii_case(own));
    if !target.subscription.as_deref().is_some_and(is_known) {
        return Err(EstateError::new(place, "is in another subscription"));
    }
    for part in ["properties", "tags"] {
        if document.get(part).is_some_and(|part| !part.is_object()) {
            return Err(EstateError::new(place, format!("has {part} that are no object")));
        }
    }
    Ok(target)
}
