//! `curl`: where the request goes, and what it says there.

use super::address::{Url, is_literal, is_metadata};
use super::page;
use crate::policy::{Given, Kind, Policy, Refusal, is_host};

/// What a query in an address makes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// It could act, or carry data out.
    Asks,
    /// It is not what is asked about.
    Allowed,
}

/// Tells whether curl would go where a server sends it.
pub(super) fn is_redirected(given: &Given<'_>) -> bool {
    given.has("-L") || given.has("--location")
}

/// Accepts requests to ordinary web servers, each by one plain address.
pub(super) fn check(policy: &Policy, given: &Given<'_>, query: Query) -> Result<(), Refusal> {
    if is_redirected(given) && !given.has("--max-redirs") {
        return Err(Refusal::missing("`--max-redirs`"));
    }
    let named = given.options.iter().filter(|(name, _)| name == "--url").filter_map(|(_, value)| *value);
    let addresses: Vec<&str> = given.operands.iter().copied().chain(named).collect();
    if addresses.is_empty() {
        return Err(Refusal::missing("an address"));
    }
    let globbing = !given.has("-g") && !given.has("--globoff");
    addresses.iter().try_for_each(|address| check_address(policy, address, globbing, query))?;
    check_version(given, &addresses)?;
    check_headers(policy, given)?;
    let routes =
        given.options.iter().filter(|(name, _)| matches!(name.as_str(), "--resolve" | "--connect-to"));
    for (name, value) in routes {
        let value = value.unwrap_or_default();
        if leads_to_metadata(policy, value) {
            return Err(Refusal::value(name, value));
        }
    }
    Ok(())
}

/// Refuses HTTP/2 in plain text: `--http2` asks the server to switch to another protocol, and with prior knowledge the bytes of frames
/// reach a server that may read them as lines. Behind TLS the server agrees first.
fn check_version(given: &Given<'_>, addresses: &[&str]) -> Result<(), Refusal> {
    let in_plain_text = || addresses.iter().any(|address| Url::parse(address).scheme != "https");
    let asked = ["--http2", "--http2-prior-knowledge"].into_iter().find(|name| given.has(name));
    match asked.filter(|_| in_plain_text()) {
        Some(option) => Err(Refusal::new("option", format!("`{option}` needs an address with `https://`"))),
        None => Ok(()),
    }
}

/// Refuses a header that is given twice, and one that leads the request to another place than an ordinary host.
fn check_headers(policy: &Policy, given: &Given<'_>) -> Result<(), Refusal> {
    let agent = given.has("-A") || given.has("--user-agent");
    let range = given.has("-r") || given.has("--range");
    let mut sent: Vec<String> = [(agent, "user-agent"), (range, "range")]
        .iter()
        .filter(|(given, _)| *given)
        .map(|(_, name)| (*name).to_owned())
        .collect();
    for header in given.values(&["-H", "--header"]) {
        let (name, value) = header.split_once(':').unwrap_or((header, ""));
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        let is_odd_host = name == "host"
            && !Kind::Host.accepts(value, &policy.files)
            && !Kind::Endpoint.accepts(value, &policy.files);
        let is_metadata = value.split([' ', ',', ';']).any(|part| leads_to_metadata(policy, part));
        if is_odd_host || is_metadata {
            return Err(Refusal::value("-H", header));
        }
        if sent.contains(&name) {
            return Err(Refusal::new("value", format!("the header `{name}` is given twice")));
        }
        sent.push(name);
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
    page::check(policy, &url.written_path).map_err(|what| Refusal::new("address", what))?;
    if query == Query::Asks && address.split('#').next().is_some_and(|sent| sent.contains('?')) {
        return refuse("a query");
    }
    if !is_host(&url.host) {
        return refuse("no ordinary host");
    }
    Ok(())
}

/// Tells whether `--resolve NAME:PORT:ADDRESS` or `--connect-to` leads a harmless name to a metadata service.
pub(super) fn leads_to_metadata(policy: &Policy, value: &str) -> bool {
    value.split([':', ',', '=', '[', ']']).any(|part| is_metadata(part, &policy.block))
        || is_metadata_v6(policy, value)
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

#[cfg(test)]
mod tests {
    use crate::{Policy, Verdict};

    #[test]
    fn a_detour_to_a_metadata_service_is_blocked_where_its_answer_is_a_credential() {
        let policy = Policy::builtin().unwrap();
        for detour in [
            "--connect-to ::169.254.169.254:80",
            "--connect-to ::[fd00:ec2::254]:80",
            "--resolve a:80:[64:ff9b::a9fe:a9fe]",
            "--resolve=a:80:169.254.169.254",
            "--connect-to a:80:169.254.169.254.nip.io:80",
        ] {
            let verdict = |path: &str| policy.classify(&format!("curl {detour} http://a/{path}")).verdict;
            assert_eq!(verdict("latest/meta-data/"), Verdict::Risky, "{detour}");
            assert_eq!(verdict("meta-data/iam/security-credentials/x"), Verdict::Blocked, "{detour}");
        }
    }
}
