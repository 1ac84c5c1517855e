//! Secrets that only their names give away: an answer that shows them keeps the names, so that redaction finds them.

use super::line::{Given, Line, is_below};
use crate::policy::{Cloud, Refusal, shorten};

/// Refuses a read that would show a secret without its name.
pub(super) fn check(line: &Line<'_, '_>, options: &[Given<'_>], table: &Cloud) -> Result<(), Refusal> {
    let of = |names: &[&str]| {
        let given = options.iter().filter(|given| names.contains(&given.name));
        given.flat_map(Given::values).collect::<Vec<&str>>()
    };
    let queries = of(&["--query"]);
    let refuse = |what: String| Err(Refusal::new("secret", what));
    for query in &queries {
        if let Some(member) = words(query).find(|word| is_secret(word, table)) {
            return refuse(format!("`--query` picks `{}`, a secret, without its name", shorten(member)));
        }
    }
    if !table.secret.holders.iter().any(|command| is_below(&line.path, command)) {
        return Ok(());
    }
    // Quoted names may be spelled with escapes, and whatever stands behind `*` has no name.
    if let Some(query) =
        queries.iter().find(|query| query.contains('\\') || query.replace("[*]", "").contains('*'))
    {
        return refuse(format!("`--query {}` may pick a secret without its name", shorten(query)));
    }
    let bare = of(&["-o", "--output"]).contains(&"tsv");
    let whole = queries.is_empty() || queries.iter().any(|query| !ends_in_values(query, table));
    if bare && whole {
        return refuse(
            "`-o tsv` would print a secret without its name; a query that ends in a member does not"
                .to_owned(),
        );
    }
    Ok(())
}

fn is_secret(word: &str, table: &Cloud) -> bool {
    table.secret.members.iter().any(|member| member.eq_ignore_ascii_case(word))
}

fn words(query: &str) -> impl Iterator<Item = &str> {
    query.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_')).filter(|word| !word.is_empty())
}

/// Tells whether what a query comes to are values that were named in it, and no whole object.
fn ends_in_values(query: &str, table: &Cloud) -> bool {
    let query = query.trim_end();
    if query.ends_with('}') {
        return true;
    }
    if let Some(before) = query.strip_suffix(']') {
        // `[name, id]`, but no index, slice or filter.
        let inside = before.rsplit('[').next().unwrap_or_default();
        return inside.starts_with(|first: char| first.is_ascii_alphabetic());
    }
    let last = words(query).last().filter(|word| query.ends_with(word));
    last.is_some_and(|word| !table.secret.containers.iter().any(|container| container == word))
}

#[cfg(test)]
mod tests {
    use crate::{Policy, Verdict};

    #[track_caller]
    fn check(expected: Verdict, lines: &[&str]) {
        for line in lines {
            let ruling = Policy::builtin().unwrap().classify(line);
            assert_eq!(ruling.verdict, expected, "{line}: {}", ruling.reason);
        }
    }

    #[test]
    fn a_query_that_picks_a_secret_asks() {
        check(
            Verdict::Risky,
            &[
                "az network express-route show -g g -n e --query serviceKey",
                "az network express-route show -g g -n e --query '{k: SERVICEKEY}' -o json",
                "az network vpn-connection list -g g --query='[].sharedKey' -o tsv",
                "az redis show -g g -n r --query 'accessKeys.primaryKey'",
                "az network express-route show -g g -n e --query '\"service\\u004bey\"'",
                "az network express-route show -g g -n e --query 'authorizations[].*'",
            ],
        );
    }

    #[test]
    fn an_answer_without_names_asks_where_it_may_hold_a_secret() {
        check(
            Verdict::Risky,
            &[
                "az network express-route show -g g -n e -o tsv",
                "az network express-route list -g g --query '[0]' -otsv",
                "az network express-route show -g g -n e --query authorizations --output=tsv",
                "az network vpn-connection list -g g --query \"[?name=='x']\" -o tsv",
                "az network vnet-gateway show -g g -n v --query @ -o tsv",
                "az network vnet-gateway list -g g --query 'sort_by(@, &name)' -o tsv",
            ],
        );
    }

    #[test]
    fn what_keeps_its_names_or_picks_a_plain_member_does_not() {
        check(
            Verdict::Safe,
            &[
                "az network express-route show -g g -n e",
                "az network express-route list -g g -o table",
                "az network vpn-connection show -g g -n c --query connectionStatus -o tsv",
                "az network vpn-connection list -g g --query '[*].{n:name,s:connectionStatus}' -o tsv",
                "az network vpn-connection list -g g --query '[].[name, connectionStatus]' -o tsv",
                "az network express-route show -g g -n e --query 'peerings[0].state' -o tsv",
                "az vm list -o tsv",
                "az keyvault key list --vault-name v --query '[].{key:name}' -o tsv",
                "az storage account show -g g -n a --query allowSharedKeyAccess -o tsv",
            ],
        );
    }
}
