//! What the program may ask of `az` for itself: signing in, and what an identity is granted. Nothing else has this form.

use crate::policy::quote;
use crate::{Profile, Ruling, Socket, Tier, Verdict};

/// A line that is one of the program's own, word by word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityCommand {
    words: Vec<String>,
    rule: &'static str,
    why: &'static str,
}

/// A value's form.
type Form = fn(&str) -> bool;

/// The command that shows to which subscription a sign-in is pinned.
const PINNED: [&str; 7] = ["az", "account", "show", "--query", "id", "--output", "tsv"];

/// The options of a sign-in that stand alone.
const FLAGS: [&str; 4] =
    ["--identity", "--service-principal", "--allow-no-subscriptions", "--only-show-errors"];

/// The options of a sign-in that have a value. A secret is named by its file: what stands among the words of a process, everybody
/// on the machine can read.
const VALUES: [(&str, Form); 7] = [
    ("--client-id", is_guid),
    ("--username", is_guid),
    ("--tenant", is_tenant),
    ("--certificate", is_path),
    ("--password", is_file),
    ("--federated-token", is_file),
    ("--output", |value| value == "none"),
];

impl IdentityCommand {
    /// Reads words; nothing where they are none of the program's own lines.
    #[must_use]
    pub fn parse(words: &[String]) -> Option<Self> {
        let all: Vec<&str> = words.iter().map(String::as_str).collect();
        let (rule, why) = match all.as_slice() {
            ["az", "login", options @ ..] if is_login(options) => ("own.sign_in", "signs an identity in"),
            ["az", "account", "set", "--subscription", id] if is_guid(id) => {
                ("own.pin", "pins an identity to its subscription")
            }
            ["az", "rest", "--method", "get", "--url", url, "--output", "json"] if is_granted(url) => {
                ("own.granted", "asks what an identity is granted")
            }
            all if all == PINNED => ("own.pinned", "asks which subscription an identity is pinned to"),
            _ => return None,
        };
        Some(Self { words: words.to_vec(), rule, why })
    }

    /// Returns the line as a shell reads it.
    #[must_use]
    pub fn text(&self) -> String {
        self.words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the ruling under which it runs: it is confined as a reading `az` is, and asks nobody.
    pub(crate) fn ruling(&self) -> Ruling {
        const SOCKETS: &[Socket] = &[Socket::Stream, Socket::Datagram, Socket::Netlink];
        Ruling {
            verdict: Verdict::Safe,
            tier: Tier::Cloud,
            rule: self.rule.into(),
            reason: self.why.into(),
            argv: Some(self.words.clone()),
            profile: Profile {
                sockets: SOCKETS.into(),
                programs: vec!["az".to_owned()],
                cloud: true,
                ..Profile::default()
            },
            ..Ruling::default()
        }
    }
}

/// Tells whether these are the options of a sign-in as a machine's identity, or as a service principal.
fn is_login(options: &[&str]) -> bool {
    let mut rest = options;
    loop {
        rest = match rest {
            [] => break,
            [flag, rest @ ..] if FLAGS.contains(flag) => rest,
            [name, value, rest @ ..] if VALUES.iter().any(|(known, is)| known == name && is(value)) => rest,
            _ => return false,
        };
    }
    let has = |name: &str| options.contains(&name);
    has("--identity") != has("--service-principal")
}

/// Tells whether it is the address that lists what the caller is granted in a resource group.
fn is_granted(url: &str) -> bool {
    let path = url.strip_prefix("/subscriptions/").and_then(|rest| {
        rest.strip_suffix("/providers/Microsoft.Authorization/permissions?api-version=2022-04-01")
    });
    let parts = path.and_then(|path| path.split_once("/resourceGroups/"));
    let group = |name: &str| {
        (1..=90).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.()".contains(&byte))
    };
    parts.is_some_and(|(subscription, name)| is_guid(subscription) && group(name))
}

/// Tells whether a text is the id of a subscription, a tenant or an application.
pub(crate) fn is_guid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_tenant(text: &str) -> bool {
    let host = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    (1..=253).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(host)
}

/// An absolute path without `=`, behind which `az` would look for a file again.
fn is_path(text: &str) -> bool {
    text.starts_with('/') && !text.contains('=') && !text.chars().any(char::is_control)
}

fn is_file(text: &str) -> bool {
    text.strip_prefix('@').is_some_and(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "33333333-3333-3333-3333-333333333333";

    fn parse(line: &str) -> Option<IdentityCommand> {
        IdentityCommand::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_the_program_does_for_itself_is_understood() {
        for line in [
            "az login --identity --output none".to_owned(),
            format!("az login --identity --client-id {ID} --output none"),
            format!("az login --service-principal --username {ID} --certificate /etc/c.pem --tenant {ID}"),
            format!("az login --service-principal --username {ID} --password @/d/s --tenant contoso.com"),
            format!("az account set --subscription {ID}"),
            "az account show --query id --output tsv".to_owned(),
            format!(
                "az rest --method get --url /subscriptions/{ID}/resourceGroups/rg-1/providers/Microsoft.Authorization/permissions?api-version=2022-04-01 --output json"
            ),
        ] {
            let command = parse(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(command.ruling().verdict, Verdict::Safe);
            assert!(command.ruling().profile.cloud, "{line}");
        }
    }

    #[test]
    fn anything_else_is_nothing_of_ours() {
        let base = "/providers/Microsoft.Authorization/permissions?api-version=2022-04-01";
        for line in [
            "az login".to_owned(),
            "az login --use-device-code".to_owned(),
            format!("az login --identity --service-principal --username {ID}"),
            format!("az login --service-principal --username {ID} --password hunter2 --tenant {ID}"),
            format!("az login --service-principal --username {ID} --password @/a=b --tenant {ID}"),
            "az login --identity --output json".to_owned(),
            "az login --identity --debug".to_owned(),
            "az account set --subscription prod".to_owned(),
            "az account get-access-token".to_owned(),
            "az account show".to_owned(),
            "/tmp/az login --identity".to_owned(),
            "az vm delete -n x".to_owned(),
            format!(
                "az rest --method delete --url /subscriptions/{ID}/resourceGroups/rg{base} --output json"
            ),
            format!(
                "az rest --method get --url https://evil.example/subscriptions/{ID}/resourceGroups/rg{base} --output json"
            ),
            format!(
                "az rest --method get --url /subscriptions/{ID}/resourceGroups/a/providers/b{base} --output json"
            ),
        ] {
            assert_eq!(parse(&line), None, "{line}");
        }
    }
}
