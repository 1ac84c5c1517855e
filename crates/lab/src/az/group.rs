//! `az group …` and `az resource …`, regions, and files that a value names.

use serde_json::{Value, json};

use super::failure::Failure;
use super::flatten::grouped;
use super::line::Line;
use super::model::{Model, moments};
use super::reference::{Id, segment};
use super::session::{Session, checked};
use super::table::{Command, CommandResult};
use crate::azure::Verb;

const VERSION: &str = "2024-11-01";

const GROUP: Model = Model(
    r#"{"id": null, "location": null, "managedBy": null, "name": null, "properties": {"provisioningState": null}, "tags": null, "type": null}"#,
);

const LISTED: Model = Model(
    r#"{"changedTime": null, "createdTime": null, "extendedLocation": null, "id": null, "identity": null, "kind": null, "location": null,
    "managedBy": null, "name": null, "plan": null, "properties": null, "provisioningState": null,
    "sku": {"capacity": null, "family": null, "model": null, "name": null, "size": null, "tier": null}, "tags": null, "type": null}"#,
);

/// What is printed of a resource even where it is not there.
const SHOWN: [&str; 11] = [
    "extendedLocation",
    "id",
    "identity",
    "kind",
    "location",
    "managedBy",
    "name",
    "plan",
    "properties",
    "sku",
    "tags",
];

pub(super) const COMMANDS: &[Command] = &[
    Command::own("group list", "--tag", list).rows(group_row),
    Command::own("group show", "--name,-n,--resource-group,-g!", show),
    Command::own("group exists", "--name,-n,--resource-group,-g!", exists),
    Command::own(
        "resource list",
        "--resource-group,-g --name,-n --resource-type --namespace --location,-l --tag",
        resources,
    )
    .rows(row),
    Command::own(
        "resource show",
        "--resource-group,-g --name,-n --resource-type --namespace --parent --api-version --ids*",
        resource,
    ),
];

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = session.place("/resourcegroups")?;
    let filter = line.one("--tag").map(tag);
    let mut query = Vec::new();
    query.extend(filter.as_deref().map(|filter| ("$filter", filter)));
    query.push(("api-version", VERSION));
    let found = session.list(&path, &query, None)?;
    Ok(Some(found.iter().map(|group| GROUP.of(group)).collect()))
}

/// Writes a filter for a tag: `name=value`, or a name alone.
fn tag(word: &str) -> String {
    let quoted = |text: &str| text.replace('\'', "''");
    match word.split_once('=') {
        Some((name, value)) => format!("tagname eq '{}' and tagvalue eq '{}'", quoted(name), quoted(value)),
        None => format!("tagname eq '{}'", quoted(word)),
    }
}

fn show(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = session.place(&format!("/resourcegroups/{}", segment(line.need("--name")?)))?;
    session.get(&path, VERSION).map(|group| Some(GROUP.of(&group)))
}

fn exists(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = session.place(&format!("/resourcegroups/{}", segment(line.need("--name")?)))?;
    let answer = session.ask(Verb::Head, &path, &[("api-version", VERSION)], None)?;
    match answer.status {
        404 => Ok(Some(json!(false))),
        _ => checked(&answer).map(|_| Some(json!(true))),
    }
}

fn resources(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let quoted = |text: &str| text.replace('\'', "''");
    let mut filters = Vec::new();
    if let Some(group) = line.one("--resource-group") {
        let path = session.place(&format!("/resourcegroups/{}", segment(group)))?;
        session.get(&path, VERSION)?;
        filters.push(format!("resourceGroup eq '{}'", quoted(group)));
    }
    if let Some(name) = line.one("--name") {
        filters.push(format!("name eq '{}'", quoted(name)));
    }
    if let Some(location) = line.one("--location") {
        let region = session.region(location)?;
        filters.push(format!("location eq '{}'", quoted(&region)));
    }
    if let Some(kind) = line.one("--resource-type") {
        let kind = line.one("--namespace").map_or_else(|| kind.to_owned(), |space| format!("{space}/{kind}"));
        filters.push(format!("resourceType eq '{}'", quoted(&kind)));
    }
    if let Some(word) = line.one("--tag") {
        if !filters.is_empty() {
            return Err(Failure::new(
                1,
                "you cannot use '--tag' with '--resource-group', '--name', '--location' or '--resource-type'",
            ));
        }
        filters.push(tag(word));
    }
    let filter = filters.join(" and ");
    let mut query = Vec::new();
    if !filter.is_empty() {
        query.push(("$filter", filter.as_str()));
    }
    query.extend([("$expand", "createdTime,changedTime,provisioningState"), ("api-version", VERSION)]);
    let path = session.place("/resources")?;
    let mut found: Value =
        session.list(&path, &query, None)?.iter().map(|resource| LISTED.of(resource)).collect();
    moments(&mut found);
    Ok(Some(grouped(found)))
}

fn row(resource: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| resource.get(field).cloned().unwrap_or_default();
    vec![
        ("Name", own("name")),
        ("ResourceGroup", own("resourceGroup")),
        ("Location", own("location")),
        ("Type", own("type")),
        ("Status", own("provisioningState")),
    ]
}

/// A row of a table of groups.
fn group_row(group: &Value) -> Vec<(&'static str, Value)> {
    let own = |place: &str| group.pointer(place).cloned().unwrap_or_default();
    vec![
        ("Name", own("/name")),
        ("Location", own("/location")),
        ("Status", own("/properties/provisioningState")),
    ]
}

fn resource(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let Some(ids) = line.many("--ids") else {
        let (Some(group), Some(kind), Some(name)) =
            (line.one("--resource-group"), line.one("--resource-type"), line.one("--name"))
        else {
            return Err(Failure::new(1, "(--resource-group --name --resource-type | --ids) are required"));
        };
        let kind = line.one("--namespace").map_or_else(|| kind.to_owned(), |space| format!("{space}/{kind}"));
        let (space, kind) = kind
            .split_once('/')
            .ok_or_else(|| Failure::new(1, "Resource type must be in the form NAMESPACE/TYPE"))?;
        let parent = line.one("--parent").map(|parent| format!("{parent}/")).unwrap_or_default();
        let id =
            session.place(&format!("/resourceGroups/{group}/providers/{space}/{parent}{kind}/{name}"))?;
        return one(session, line, &id).map(Some);
    };
    let all: Result<Vec<Value>, Failure> = ids.iter().map(|id| one(session, line, id)).collect();
    let mut all = all?;
    Ok(if all.len() == 1 { all.pop() } else { Some(Value::Array(all)) })
}

fn one(session: &mut Session<'_>, line: &Line, id: &str) -> Result<Value, Failure> {
    let parsed = Id::parse(id).ok_or_else(|| Failure::new(1, format!("invalid resource ID: {id}")))?;
    session.settle(parsed.subscription)?;
    let version = match line.one("--api-version") {
        Some(version) => version.to_owned(),
        None => newest(session, &parsed)?,
    };
    let names: String =
        parsed.pairs.iter().map(|(kind, name)| format!("/{kind}/{}", segment(name))).collect();
    let path = session.inside(parsed.group, &format!("{}{names}", parsed.provider))?;
    let mut found = session.get(&path, &version)?;
    if let Some(map) = found.as_object_mut() {
        for field in SHOWN {
            map.entry(field).or_insert(Value::Null);
        }
    }
    Ok(grouped(found))
}

/// Returns the newest version of a type's interface that is no preview.
fn newest(session: &mut Session<'_>, id: &Id<'_>) -> Result<String, Failure> {
    let path = session.place(&format!("/providers/{}", segment(id.provider)))?;
    let document = session.get(&path, VERSION)?;
    let kind: Vec<&str> = id.pairs.iter().map(|(kind, _)| *kind).collect();
    let kind = kind.join("/");
    let is = |entry: &&Value| {
        entry
            .get("resourceType")
            .and_then(Value::as_str)
            .is_some_and(|known| known.eq_ignore_ascii_case(&kind))
    };
    let found =
        document.get("resourceTypes").and_then(Value::as_array).and_then(|kinds| kinds.iter().find(is));
    let Some(found) = found else {
        return Err(Failure::new(1, format!("Resource type {kind} not found.")));
    };
    let versions =
        found.get("apiVersions").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let versions: Vec<&str> = versions.collect();
    let stable = versions.iter().find(|version| !version.contains("preview")).or(versions.first());
    stable.map(|version| (*version).to_owned()).ok_or_else(|| {
        Failure::new(
            1,
            format!("API version is required and could not be resolved for resource {}/{kind}", id.provider),
        )
    })
}

impl Session<'_> {
    pub(super) fn regions(&mut self) -> Result<Vec<Value>, Failure> {
        let path = self.place("/locations")?;
        self.list(&path, &[("api-version", "2022-12-01")], None)
    }

    /// Returns the name of a region, which may be given as it is displayed.
    pub(super) fn region(&mut self, word: &str) -> Result<String, Failure> {
        if !word.contains(' ') {
            return Ok(word.to_owned());
        }
        let all = self.regions()?;
        let is = |entry: &&Value| {
            entry
                .get("displayName")
                .and_then(Value::as_str)
                .is_some_and(|known| known.eq_ignore_ascii_case(word))
        };
        let found = all.iter().find(is).and_then(|entry| entry.get("name")).and_then(Value::as_str);
        Ok(found.map_or_else(|| word.to_lowercase().replace(' ', ""), str::to_owned))
    }

    /// Returns a value, or what the file holds that it names: `@name`. A line end at the end of a file goes.
    pub(super) fn text(&mut self, word: &str) -> Result<String, Failure> {
        let Some(path) = word.strip_prefix('@').filter(|path| !path.is_empty()) else {
            return Ok(word.to_owned());
        };
        let bytes = self
            .environment
            .read(path)
            .map_err(|error| Failure::new(1, format!("Failed to read file '{path}': {error}")))?;
        let text =
            String::from_utf8(bytes).map_err(|_| Failure::new(1, format!("Failed to decode file {path}")))?;
        Ok(text
            .strip_suffix('\n')
            .map(|text| text.strip_suffix('\r').unwrap_or(text))
            .unwrap_or(&text)
            .to_owned())
    }
}
