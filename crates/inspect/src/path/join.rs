//! What was read of several resource groups, put together as if it were one.

use serde_json::Value;

use super::bundle::Cloud;
use super::distinct::OF_GROUP;
use super::document::Reading;
use super::topology::part_after;
use crate::net::Fields;

/// An identifier in small letters, and the name by which the resource is known from now on.
struct Renamed {
    id: String,
    name: String,
}

impl Cloud {
    /// Joins what was read of another resource group with it, and returns the documents of that one that could not be read. Of two
    /// resources of one name the other one is called `NAME@GROUP` from then on.
    pub fn join(&mut self, mut more: Self) -> Vec<&'static str> {
        let mut failed = Vec::new();
        let names: Vec<&'static str> = more.all().into_iter().map(|(name, _)| name).collect();
        let mut others: Vec<(&'static str, Vec<Value>)> = Vec::new();
        for name in names {
            match more.place(name).and_then(Option::take) {
                None => {}
                Some(Reading::Failed { .. }) => failed.push(name),
                Some(Reading::Text(text)) => match serde_json::from_str::<Vec<Value>>(&text) {
                    Ok(rows) => others.push((name, rows)),
                    Err(_) => failed.push(name),
                },
            }
        }
        let renamed = self.renamed(&others);
        if !renamed.is_empty() {
            self.rename(&renamed);
            others.iter_mut().flat_map(|(_, rows)| rows).for_each(|row| rename(row, &renamed));
        }
        for (name, rows) in others {
            let Some(own) = self.place(name) else { continue };
            match own {
                None => *own = Some(Reading::Text(Value::Array(rows).to_string())),
                Some(Reading::Text(text)) => {
                    // What cannot be read here says so itself.
                    if let Ok(mut all) = serde_json::from_str::<Vec<Value>>(text) {
                        all.extend(rows.into_iter().filter(|row| !row.is_null()));
                        *text = Value::Array(all).to_string();
                    }
                }
                Some(Reading::Failed { .. }) => {}
            }
        }
        failed
    }

    /// Puts the documents that were read in place of those that are there.
    pub fn replace(&mut self, mut found: Self) {
        let names: Vec<&'static str> = found.all().into_iter().map(|(name, _)| name).collect();
        for name in names {
            let read = found.place(name).and_then(Option::take);
            if let (Some(own), Some(read)) = (self.place(name), read) {
                *own = Some(read);
            }
        }
    }

    /// Returns which resources need another name: those that have one already, and those of the other group whose name is taken.
    fn renamed(&self, others: &[(&'static str, Vec<Value>)]) -> Vec<Renamed> {
        let mut found = Vec::new();
        for (name, reading) in self.all() {
            let Some(Reading::Text(text)) = reading else { continue };
            let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
            let mut known: Vec<(String, String)> = Vec::new();
            for (id, own) in rows.iter().filter_map(called) {
                if let Some((before, _)) = own.split_once(OF_GROUP) {
                    let whole = id.len() - own.len();
                    let id = id.get(..whole).map(|folder| format!("{folder}{before}").to_ascii_lowercase());
                    found.extend(id.map(|id| Renamed { id, name: own.to_owned() }));
                }
                known.push((own.to_ascii_lowercase(), id.to_ascii_lowercase()));
            }
            let rows = others.iter().filter(|(other, _)| *other == name).flat_map(|(_, rows)| rows);
            for (id, own) in rows.filter_map(called) {
                let (lower, small) = (id.to_ascii_lowercase(), own.to_ascii_lowercase());
                let is_taken = known.iter().any(|(name, id)| *name == small && *id != lower);
                let group = part_after(id, "resourceGroups").unwrap_or_default();
                if is_taken && !found.iter().any(|own: &Renamed| own.id == lower) {
                    found.push(Renamed { name: format!("{own}{OF_GROUP}{group}"), id: lower });
                }
            }
        }
        found
    }

    fn rename(&mut self, renamed: &[Renamed]) {
        let names: Vec<&'static str> = self.all().into_iter().map(|(name, _)| name).collect();
        for name in names {
            let Some(Some(Reading::Text(text))) = self.place(name) else { continue };
            let lower = text.to_ascii_lowercase();
            if !renamed.iter().any(|own| lower.contains(&own.id)) {
                continue;
            }
            if let Ok(mut value) = serde_json::from_str::<Value>(text) {
                rename(&mut value, renamed);
                *text = value.to_string();
            }
        }
    }
}

/// Returns the identifier and the name of a row that has both, where the one ends with the other.
fn called(row: &Value) -> Option<(&str, &str)> {
    let (id, name) = (row.text("id")?, row.text("name")?);
    let last = id.rsplit('/').next()?;
    last.eq_ignore_ascii_case(name).then_some((id, name))
}

/// Calls a resource by its other name, wherever a document names it.
fn rename(value: &mut Value, renamed: &[Renamed]) {
    match value {
        Value::String(text) => {
            let lower = text.to_ascii_lowercase();
            let is_it = |own: &&Renamed| {
                lower.strip_prefix(&own.id).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if let Some(own) = renamed.iter().find(is_it)
                && let (Some(folder), Some(rest)) = (own.id.rfind('/'), text.get(own.id.len()..))
            {
                *text = format!("{}/{}{rest}", text.get(..folder).unwrap_or_default(), own.name);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| rename(one, renamed)),
        Value::Object(map) => {
            let id = map.get("id").and_then(Value::as_str).map(str::to_ascii_lowercase);
            if let Some(own) = id.and_then(|id| renamed.iter().find(|own| own.id == id)) {
                map.insert("name".to_owned(), own.name.clone().into());
            }
            map.iter_mut().for_each(|(_, one)| rename(one, renamed));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn network(group: &str, name: &str, remote: Option<(&str, &str)>) -> Value {
        let id = |group: &str, name: &str| {
            format!(
                "/subscriptions/s/resourceGroups/{group}/providers/Microsoft.Network/virtualNetworks/{name}"
            )
        };
        let peerings: Vec<Value> = remote
            .map(|(group, name)| json!({"name": "to", "remoteVirtualNetwork": {"id": id(group, name)}}))
            .into_iter()
            .collect();
        json!({"id": id(group, name), "name": name, "virtualNetworkPeerings": peerings})
    }

    fn cloud(rows: &[Value]) -> Cloud {
        Cloud { networks: Some(Reading::Text(json!(rows).to_string())), ..Cloud::default() }
    }

    fn rows(cloud: &Cloud) -> Vec<Value> {
        let Some(Reading::Text(text)) = &cloud.networks else { panic!("nothing was read") };
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn lists_are_joined_and_what_failed_is_named() {
        let mut own = cloud(&[network("a", "one", None)]);
        let mut more = cloud(&[network("b", "two", None)]);
        more.machines = Some(Reading::Failed { error: "no".to_owned() });
        assert_eq!(own.join(more), ["machines"]);
        let names: Vec<String> =
            rows(&own).iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(own.machines.is_none());
    }

    #[test]
    fn two_of_one_name_are_kept_apart_wherever_they_are_named() {
        let mut own = cloud(&[network("a", "net", Some(("B", "net")))]);
        assert!(own.join(cloud(&[network("B", "net", Some(("a", "net")))])).is_empty());
        let found = rows(&own);
        let remote = |at: usize| found[at]["virtualNetworkPeerings"][0]["remoteVirtualNetwork"]["id"].clone();
        assert_eq!((&found[0]["name"], &found[1]["name"]), (&json!("net"), &json!("net@B")));
        assert!(remote(0).as_str().unwrap().ends_with("/net@B"), "{found:#?}");
        assert!(remote(1).as_str().unwrap().ends_with("/net"), "{found:#?}");
        // A third one names it later.
        own.join(cloud(&[network("c", "three", Some(("b", "net")))]));
        let third = rows(&own)[2]["virtualNetworkPeerings"][0]["remoteVirtualNetwork"]["id"].clone();
        assert!(third.as_str().unwrap().ends_with("/net@B"), "{third}");
    }
}
