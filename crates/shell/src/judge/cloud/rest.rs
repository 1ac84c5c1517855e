//! `az rest`: a request as somebody wrote it. The few that the tables name, word by word, only read.

use super::line::{Given, Line};
use super::read::check_values;
use crate::identity::is_guid;
use crate::judge::allow::Allowed;
use crate::policy::{Cloud, Refusal};

/// The word that `az` replaces by the id of the subscription in use.
const IN_USE: &str = "{subscriptionId}";

/// Judges a request: it has to be a GET of an address of the table, without a body or a header of its own.
pub(super) fn judge(table: &Cloud, line: &Line<'_, '_>) -> Result<Allowed, Refusal> {
    let mut options = Given::all(line.front);
    options.extend(Given::all(line.rest));
    let (mut methods, mut addresses) = (0, 0);
    for given in &options {
        check_values(given)?;
        let mut values = given.values();
        let (value, more) = (values.next(), values.next());
        match (given.name, value, more) {
            ("--method", Some("get"), None) => methods += 1,
            ("--url", Some(url), None) if table.rest_reads.iter().any(|known| is_of(known, url)) => {
                addresses += 1;
            }
            ("--output" | "-o" | "--query" | "--subscription", Some(_), None)
            | ("--only-show-errors", None, None) => {}
            ("--method" | "--url", Some(value), _) => return Err(Refusal::value(given.name, value)),
            _ => return Err(Refusal::option(given.word)),
        }
    }
    match (methods, addresses) {
        (1, 1) => Ok(Allowed::cloud("cloud.rest", "reads the state of the cloud")),
        _ => {
            let what = "`az rest` only reads where it is one GET of an address that is known";
            Err(Refusal::new("verb", what))
        }
    }
}

/// Tells whether an address is one of this form.
fn is_of(known: &str, url: &str) -> bool {
    let (known, url): (Vec<&str>, Vec<&str>) = (known.split('/').collect(), url.split('/').collect());
    known.len() == url.len()
        && known.iter().zip(&url).all(|(known, found)| match *known {
            "{subscription}" => *found == IN_USE || is_guid(found),
            "{name}" => is_name(found),
            fixed => fixed == *found,
        })
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.()".contains(&byte);
    (1..=90).contains(&text.len()) && !text.contains("..") && text != "." && text.bytes().all(plain)
}
