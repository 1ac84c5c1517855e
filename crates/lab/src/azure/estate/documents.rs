//! The documents.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::links::list_of;
use super::{complete, links};
use crate::azure::target::Target;

/// Everything that is there.
#[derive(Debug, Clone, Default)]
pub(in crate::azure) struct Estate {
    /// Where each document is, by its identifier in lower case.
    places: BTreeMap<String, u64>,
    /// Documents, in the order in which they came.
    documents: BTreeMap<u64, Value>,
    came: u64,
    /// How many changes there were: tags are made of it.
    changes: u64,
}

impl Estate {
    /// Returns a document, or one that lives inside another.
    pub(in crate::azure) fn get(&self, target: &Target) -> Option<&Value> {
        match self.nested(target) {
            Some((parent, list)) => {
                children(self.get(&parent)?, list).iter().find(|child| is_named(child, target.name()))
            }
            None => self.documents.get(self.places.get(&target.id().to_ascii_lowercase())?),
        }
    }

    /// Returns a document by its identifier.
    pub(in crate::azure) fn by_id(&self, id: &str) -> Option<&Value> {
        self.get(&Target::parse(id)?)
    }

    /// Returns all documents, in the order in which they came.
    pub(in crate::azure) fn all(&self) -> impl Iterator<Item = &Value> {
        self.documents.values()
    }

    /// Returns documents of a type, `Microsoft.Network/networkInterfaces` for instance.
    pub(in crate::azure) fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.all().filter(move |document| {
            document.get("type").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(kind))
        })
    }

    /// Tells whether children of this kind live inside their parent, and in which list.
    pub(in crate::azure) fn nested(&self, target: &Target) -> Option<(Target, &'static str)> {
        let parent = target.parent()?;
        let (kind, _) = target.chain.last()?;
        let list = list_of(&parent.kind(), &kind.to_ascii_lowercase())?;
        Some((parent, list))
    }

    /// Puts a document in, in place of the one that was there. Its tag is new, and so is its parent's.
    pub(in crate::azure) fn put(&mut self, target: &Target, mut document: Value) -> Value {
        self.changes += 1;
        let tag = format!("W/\"00000000-0000-4000-9000-{:012}\"", self.changes);
        set(&mut document, "etag", json!(tag));
        let before = self.get(target).cloned();
        if let Some((parent, list)) = self.nested(target) {
            if let Some(found) = self.get_mut(&parent) {
                set(found, "etag", json!(tag));
                if let Some(children) = list_mut(found, list) {
                    match children.iter_mut().find(|child| is_named(child, target.name())) {
                        Some(child) => *child = document.clone(),
                        None => children.push(document.clone()),
                    }
                }
            }
        } else {
            let key = target.id().to_ascii_lowercase();
            let place = *self.places.entry(key).or_insert_with(|| {
                self.came += 1;
                self.came
            });
            self.documents.insert(place, document.clone());
        }
        links::follow(self, before.as_ref(), Some(&document));
        complete::follow(self, before.as_ref(), Some(&document));
        self.get(target).cloned().unwrap_or(document)
    }

    /// Takes a document out, with everything below it.
    pub(in crate::azure) fn remove(&mut self, target: &Target) -> Option<Value> {
        let gone = self.get(target).cloned()?;
        self.changes += 1;
        if let Some((parent, list)) = self.nested(target) {
            list_mut(self.get_mut(&parent)?, list)?.retain(|child| !is_named(child, target.name()));
        } else {
            let key = target.id().to_ascii_lowercase();
            let below = format!("{key}/");
            let gone: Vec<String> =
                self.places.keys().filter(|id| **id == key || id.starts_with(&below)).cloned().collect();
            for id in gone {
                if let Some(place) = self.places.remove(&id) {
                    self.documents.remove(&place);
                }
            }
        }
        links::follow(self, Some(&gone), None);
        complete::follow(self, Some(&gone), None);
        Some(gone)
    }

    /// Changes a document where it stands: what follows from something else, and gives it no new tag.
    pub(super) fn get_mut(&mut self, target: &Target) -> Option<&mut Value> {
        match self.nested(target) {
            Some((parent, list)) => list_mut(self.get_mut(&parent)?, list)?
                .iter_mut()
                .find(|child| is_named(child, target.name())),
            None => self.documents.get_mut(self.places.get(&target.id().to_ascii_lowercase())?),
        }
    }

    /// Puts a document in as it is, with its own tag: how an estate begins.
    pub(super) fn seed(&mut self, target: &Target, document: Value) {
        self.came += 1;
        self.places.insert(target.id().to_ascii_lowercase(), self.came);
        self.documents.insert(self.came, document);
    }
}

/// Returns a list below `properties`; empty where there is none.
fn children<'a>(document: &'a Value, list: &str) -> &'a [Value] {
    let found = document.get("properties").and_then(|properties| properties.get(list));
    found.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a list below `properties`, made where there is none.
pub(super) fn list_mut<'a>(document: &'a mut Value, list: &str) -> Option<&'a mut Vec<Value>> {
    let properties = document.as_object_mut()?.entry("properties").or_insert_with(|| json!({}));
    properties.as_object_mut()?.entry(list).or_insert_with(|| json!([])).as_array_mut()
}

/// Sets a field of a document.
pub(super) fn set(document: &mut Value, field: &str, value: Value) {
    if let Some(map) = document.as_object_mut() {
        map.insert(field.to_owned(), value);
    }
}

fn is_named(child: &Value, name: &str) -> bool {
    child.get("name").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(name))
}
