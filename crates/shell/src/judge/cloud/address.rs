//! Where a command sends something: names that become hosts, and URLs.

use super::line::{Given, Line, is_below};
use crate::policy::{Cloud, Refusal};

/// Returns the hosts that the values of a command's own options are or form, in the order of the text.
pub(in crate::judge) fn destinations(words: &[&str], table: &Cloud) -> Vec<String> {
    let path = Line::read(words, table).path;
    let mut found: Vec<String> = Vec::new();
    for given in Given::all(words) {
        for row in table.hosts.iter().filter(|row| row.is_about(given.name, &path)) {
            for host in given.values().filter_map(|value| row.host(value)) {
                if !found.contains(&host) {
                    found.push(host);
                }
            }
        }
    }
    found
}

/// Refuses a value that would send a token to a host of the caller's choice.
pub(super) fn check(line: &Line<'_, '_>, options: &[Given<'_>], table: &Cloud) -> Result<(), Refusal> {
    let login = options.iter().any(|given| {
        given.name == "--auth-mode" && given.values().any(|value| value.eq_ignore_ascii_case("login"))
    });
    let talks = login || table.url_groups.iter().any(|group| is_below(&line.path, group));
    for given in options {
        let by_name = table.url_options.iter().any(|option| option == given.name);
        for value in given.values() {
            if (by_name || (talks && given.name != "--query")) && is_url(value) {
                return Err(Refusal::value(given.name, value));
            }
            let mut rows = table.hosts.iter().filter(|row| row.is_about(given.name, &line.path));
            if !rows.all(|row| row.accepts(value)) {
                return Err(Refusal::value(given.name, value));
            }
        }
    }
    Ok(())
}

/// Refuses a query that would itself fetch from a place that it names.
pub(super) fn check_query(line: &Line<'_, '_>, options: &[Given<'_>], table: &Cloud) -> Result<(), Refusal> {
    if !table.queries.commands.iter().any(|command| is_below(&line.path, command)) {
        return Ok(());
    }
    for given in options {
        let found =
            given.values().find_map(|query| called(query).find(|name| table.queries.reach.contains(name)));
        if let Some(name) = found {
            return Err(Refusal::new(
                "value",
                format!("`{name}` in a query reaches a place that the query names"),
            ));
        }
    }
    Ok(())
}

/// Lists the functions that a query calls: every name before a parenthesis, in lower case.
fn called(query: &str) -> impl Iterator<Item = String> {
    let of_a_name = |char: char| char.is_alphanumeric() || char == '_';
    query.match_indices('(').filter_map(move |(at, _)| {
        let name = query.get(..at)?.trim_end().rsplit(|char| !of_a_name(char)).next()?;
        Some(name.to_ascii_lowercase())
    })
}

fn is_url(value: &str) -> bool {
    value.contains("://") || value.trim_start().starts_with("//")
}
