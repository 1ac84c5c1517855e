//! Documents in the making.

use serde_json::Value;

/// Sets a member of an object.
pub(super) fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}
