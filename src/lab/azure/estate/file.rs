//! An estate as a file describes it.

use serde::Deserialize;
use serde_json::Value;

use super::documents::Estate;
use crate::lab::azure::target::Target;

/// The resources of an estate, in the resource manager's form, and what the platform knows beside them.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// The subscription, as `GET /subscriptions` tells it.
    pub subscription: Value,
    /// Who is signed in: `objectId`, `appId`.
    pub principal: Value,
    /// The resource groups.
    pub resource_groups: Vec<Value>,
    /// Everything in them.
    pub resources: Vec<Value>,
    /// How virtual machines are, by their names.
    #[serde(default)]
    pub instance_views: std::collections::BTreeMap<String, Value>,
    /// What lies in the storage account, by container.
    #[serde(default)]
    pub containers: std::collections::BTreeMap<String, Vec<Value>>,
    /// The prefixes of service tags.
    #[serde(default)]
    pub service_tags: std::collections::BTreeMap<String, Vec<String>>,
    /// The prefixes that stand for tags in effective rules.
    #[serde(default)]
    pub expansions: std::collections::BTreeMap<String, Vec<String>>,
}

/// A description that describes nothing that can be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Broken {
    /// Where.
    pub place: String,
    /// What is wrong there.
    pub what: &'static str,
}

impl Description {
    /// Returns the estate that is described.
    pub(in crate::lab::azure) fn estate(&self) -> Result<Estate, Broken> {
        let mut estate = Estate::default();
        let groups = self
            .resource_groups
            .iter()
            .enumerate()
            .map(|(at, group)| (format!("resourceGroups[{at}]"), group));
        let others = self.resources.iter().enumerate().map(|(at, other)| (format!("resources[{at}]"), other));
        for (place, document) in groups.chain(others) {
            let broken = |what| Broken { place: place.clone(), what };
            let id = document.get("id").and_then(Value::as_str).ok_or(broken("has no id"))?;
            let target = Target::parse(id).ok_or(broken("has an id that names no resource"))?;
            if !document.get("type").is_some_and(Value::is_string)
                || !document.get("name").is_some_and(Value::is_string)
            {
                return Err(broken("has no name or no type"));
            }
            if estate.get(&target).is_some() {
                return Err(broken("is there twice"));
            }
            estate.seed(&target, document.clone());
        }
        Ok(estate)
    }
}
