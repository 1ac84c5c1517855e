//! `curl`: where the request goes.

use super::address::{Url, is_literal, is_metadata};
use crate::shell::policy::{Given, Policy, Refusal, is_host};

/// What a query in an address makes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// It could act, or carry data out.
    Asks,
    /// It is not what is asked about.
    Allowed,
}

/// Accepts requests to ordinary web servers, each by one plain address.
pub(super) fn check(policy: &Policy, given: &Given<'_>, query: Query) -> Result<(), Refusal> {
    let follows = given.has("-L") || given.has("--location");
    if follows && !given.has("--max-redirs") {
        return Err(Refusal::missing("`--max-redirs`"));
    }
    let named = given.options.iter().filter(|(name, _)| name == "--url").filter_map(|(_, value)| *value);
    let addresses: Vec<&str> = given.operands.iter().copied().chain(named).collect();
    if addresses.is_empty() {
        return Err(Refusal::missing("an address"));
    }
    let globbing = !given.has("-g") && !given.has("--globoff");
    addresses.iter().try_for_each(|address| check_address(policy, address, globbing, query))?;
    let routes =
        given.options.iter().filter(|(name, _)| matches!(name.as_str(), "--resolve" | "--connect-to"));
    for (name, value) in routes {
        let value = value.unwrap_or_default();
        if value.split([':', ',', '[', ']']).any(|part| is_metadata(part, &policy.block))
            || is_metadata_v6(policy, value)
        {
            return Err(Refusal::value(name, value));
        }
    }
    Ok(())
}

fn check_address(policy: &Policy, address: &str, globbing: bool, query: Query) -> Result<(), Refusal> {
    let refuse = |what: &str| Err(Refusal::new("address", format!("{what} in an address")));
    let url = Url::parse(address);
    // Without a scheme curl guesses one from the first letters of the host.
    const GUESSED: [&str; 6] = ["ftp.", "dict.", "ldap.", "imap.", "smtp.", "pop3."];
    let web = matches!(url.scheme.as_str(), "http" | "https")
        || (url.scheme.is_empty()
            && !GUESSED.iter().any(|guess| url.host.starts_with(guess))
            && !address.starts_with('-'));
    if !web {
        return refuse("something other than http");
    }
    if !address.to_ascii_lowercase().starts_with(&format!("{}://", url.scheme)) && !url.scheme.is_empty() {
        return refuse("an unusual number of slashes");
    }
    if address.contains(|char: char| char == '\\' || char.is_whitespace()) {
        return refuse("a backslash or a blank");
    }
    if url.authority.contains('@') {
        return refuse("a user or password");
    }
    let literal = url.authority.starts_with('[');
    let lists = address.matches(['[', ']', '{', '}']).count();
    if globbing && lists > if literal { 2 } else { 0 } {
        return refuse("a list");
    }
    if literal && !is_literal(url.host.split('%').next().unwrap_or_default()) {
        return refuse("a list");
    }
    if is_metadata(&url.host, &policy.block) {
        return refuse("a metadata service");
    }
    if query == Query::Asks && address.split('#').next().is_some_and(|sent| sent.contains('?')) {
        return refuse("a query");
    }
    if !is_host(&url.host) {
        return refuse("no ordinary host");
    }
    Ok(())
}

/// Finds an IPv6 address in a value whose parts are themselves parted by colons.
fn is_metadata_v6(policy: &Policy, value: &str) -> bool {
    let starts =
        value.char_indices().filter(|(_, char)| matches!(char, ':' | ',' | '+')).map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts.take(8)).any(|start| {
        let rest = value.get(start..).unwrap_or_default().trim_start_matches('[');
        is_metadata(rest.split([']', ',']).next().unwrap_or_default(), &policy.block)
    })
}
