//! Edits of route tables, as they are configured and as they are in effect at an interface.

use serde_json::{Value, json};

use super::documents::{Rows, body, body_mut, is_named, items, list_mut, set, texts};
use super::draft::{Done, Draft, none, unread};
use super::edit::{RouteRow, Target};
use crate::net::{Fields as _, parse_prefix};
use crate::path::Reading;

impl Draft {
    /// Returns where the routes of a table lead: one of them, or all.
    pub(super) fn prefixes_of(&self, table: &str, name: Option<&str>) -> Vec<String> {
        let rows = self.tables.named(table).into_iter().flat_map(|row| items(row, "routes"));
        let own = rows.filter(|row| name.is_none_or(|name| is_named(row, name)));
        own.flat_map(|row| texts(body(row), &["addressPrefix"])).collect()
    }

    pub(super) fn put_route(&mut self, table: &str, route: &RouteRow) -> Done {
        self.edit_table(
            table,
            &|routes| {
                routes.retain(|row| !is_named(row, &route.name));
                routes.push(configured(route));
            },
            &|rows, old| {
                take_out(rows, old);
                put(rows, route);
            },
            Some(&route.name),
        )
    }

    pub(super) fn delete_route(&mut self, table: &str, route: &str) -> Done {
        let change = |routes: &mut Vec<Value>| routes.retain(|row| !is_named(row, route));
        self.edit_table(table, &change, &take_out, Some(route))
    }

    pub(super) fn put_table(&mut self, table: &str, routes: &[RouteRow]) -> Done {
        if self.tables.named(table).is_none() && self.nics_with_table(table).is_empty() {
            let Some(rows) = self.tables.begun() else { return unread(Target::Table(table.to_owned())) };
            let routes: Vec<Value> = routes.iter().map(configured).collect();
            rows.push(json!({"name": table, "routes": routes}));
            return Ok(());
        }
        self.edit_table(
            table,
            &|list| *list = routes.iter().map(configured).collect(),
            &|rows, _| replace_users(rows, routes),
            None,
        )
    }

    pub(super) fn delete_table(&mut self, table: &str) -> Done {
        let Some(rows) = self.tables.read_mut() else { return unread(Target::Table(table.to_owned())) };
        rows.retain(|row| !is_named(row, table));
        Ok(())
    }

    pub(super) fn set_subnet_table(&mut self, network: &str, subnet: &str, table: Option<&str>) -> Done {
        let Some(map) = self.subnet_mut(network, subnet).and_then(body_mut) else {
            return unread(Target::Network(network.to_owned()));
        };
        let id = table.map(|table| json!({"id": format!("/routeTables/{table}")}));
        set(map, "routeTable", json!(id));
        let routes: Option<Vec<RouteRow>> = match table {
            None => Some(Vec::new()),
            Some(table) => {
                self.tables.named(table).map(|row| items(row, "routes").filter_map(route_of).collect())
            }
        };
        for nic in self.nics_in(network, Some(subnet)) {
            let Some((rows, _)) = self.nics.get_mut(&nic) else { continue };
            match (&routes, rows.read_mut()) {
                (Some(routes), Some(rows)) => replace_users(rows, routes),
                (None, Some(_)) => {
                    let error = "the route table that its subnet gets was not read".to_owned();
                    *rows = Rows::Unread(Some(Reading::Failed { error }));
                }
                (Some(_) | None, None) => {}
            }
        }
        Ok(())
    }

    /// Edits a table wherever it stands: what is configured, and for each interface the rows in effect, with the prefixes that the
    /// route of that name had.
    fn edit_table(
        &mut self,
        table: &str,
        configured: &dyn Fn(&mut Vec<Value>),
        in_effect: &dyn Fn(&mut Vec<Value>, &[String]),
        route: Option<&str>,
    ) -> Done {
        let row = self.tables.named(table);
        let old = row.into_iter().flat_map(|row| items(row, "routes"));
        let old = old.filter(|row| route.is_some_and(|name| is_named(row, name)));
        let listed: Vec<String> = old.flat_map(|row| texts(body(row), &["addressPrefix"])).collect();
        let mut touched = false;
        if let Some(list) = self.tables.named_mut(table).and_then(|row| list_mut(row, "routes")) {
            configured(list);
            touched = true;
        }
        for nic in self.nics_with_table(table) {
            let (rows, _) = self.nics.entry(nic).or_insert_with(none);
            let Some(rows) = rows.read_mut() else { continue };
            let mut old = listed.clone();
            for row in rows.iter().filter(|row| is_users(row)) {
                if route.is_some_and(|name| is_named(row, name)) {
                    old.extend(texts(row, &["addressPrefix"]));
                }
            }
            in_effect(rows, &old);
            touched = true;
        }
        if touched { Ok(()) } else { unread(Target::Table(table.to_owned())) }
    }
}

fn configured(route: &RouteRow) -> Value {
    let RouteRow { name, prefix, hop_type, hop } = route;
    json!({"name": name, "addressPrefix": prefix, "nextHopType": hop_type, "nextHopIpAddress": hop})
}

/// Reads a route as it is configured.
pub(super) fn route_of(row: &Value) -> Option<RouteRow> {
    let inner = body(row);
    Some(RouteRow {
        name: row.text("name")?.to_owned(),
        prefix: inner.text("addressPrefix")?.to_owned(),
        hop_type: inner.text("nextHopType")?.to_owned(),
        hop: inner.text("nextHopIpAddress").map(str::to_owned),
    })
}

fn is_users(row: &Value) -> bool {
    row.text("source").is_some_and(|source| source.eq_ignore_ascii_case("user"))
}

fn same(a: &str, b: &str) -> bool {
    a == b || parse_prefix(a).is_some_and(|prefix| Some(prefix) == parse_prefix(b))
}

/// Takes users' routes for some prefixes out; what they replaced is in effect again.
fn take_out(rows: &mut Vec<Value>, prefixes: &[String]) {
    let touches = |row: &Value| {
        texts(row, &["addressPrefix"]).iter().any(|own| prefixes.iter().any(|prefix| same(own, prefix)))
    };
    rows.retain(|row| !(is_users(row) && touches(row)));
    for row in rows.iter_mut().filter(|row| touches(row)) {
        if let Some(map) = row.as_object_mut() {
            set(map, "state", json!("Active"));
        }
    }
}

/// Puts routes in the place of all users' routes.
fn replace_users(rows: &mut Vec<Value>, routes: &[RouteRow]) {
    let users = rows.iter().filter(|row| is_users(row));
    let own: Vec<String> = users.flat_map(|row| texts(row, &["addressPrefix"])).collect();
    take_out(rows, &own);
    routes.iter().for_each(|route| put(rows, route));
}

/// Puts a user's route in; what has the same prefix and is not a user's is in effect no more.
fn put(rows: &mut Vec<Value>, route: &RouteRow) {
    for row in rows.iter_mut() {
        if !is_users(row)
            && texts(row, &["addressPrefix"]).iter().any(|own| same(own, &route.prefix))
            && let Some(map) = row.as_object_mut()
        {
            set(map, "state", json!("Invalid"));
        }
    }
    let hop: Vec<&String> = route.hop.iter().collect();
    rows.push(json!({
        "name": route.name, "addressPrefix": [route.prefix], "nextHopType": route.hop_type,
        "nextHopIpAddress": hop, "source": "User", "state": "Active",
    }));
}
