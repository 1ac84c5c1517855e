//! `kubectl` and `oc`: what would show the inside of a secret.

use super::harm;
use crate::policy::{Given, Refusal};

/// Accepts everything but a secret in a form that could show what is in it.
pub(super) fn check(given: &Given<'_>) -> Result<(), Refusal> {
    if !given.operands.iter().any(|word| names(word, SECRETS) || names(word, TOKENS)) {
        return Ok(());
    }
    let shown = given
        .values(&["-o", "--output"])
        .find(|form| !matches!(form.trim_start_matches('='), "wide" | "name"));
    match shown.or_else(|| given.values(&["--template"]).next()) {
        Some(form) => Err(Refusal::value("--output", form)),
        None if given.operands.first() == Some(&"describe") => Err(Refusal::operand("secret")),
        None => Ok(()),
    }
}

const SECRETS: &[&str] = &["secret", "secrets"];
/// Resources of OpenShift that hold a secret of a client or a token.
const TOKENS: &[&str] = &[
    "oauthclient",
    "oauthclients",
    "oauthaccesstoken",
    "oauthaccesstokens",
    "oauthauthorizetoken",
    "oauthauthorizetokens",
    "useroauthaccesstoken",
    "useroauthaccesstokens",
];
/// What a deletion destroys that nothing brings back.
const WHOLE: &[&str] = &[
    "namespace",
    "namespaces",
    "ns",
    "project",
    "projects",
    "cluster",
    "clusters",
    "volumesnapshot",
    "volumesnapshots",
    "vs",
    "volumesnapshotcontent",
    "volumesnapshotcontents",
    "vsc",
    "node",
    "nodes",
    "no",
    "persistentvolume",
    "persistentvolumes",
    "pv",
    "persistentvolumeclaim",
    "persistentvolumeclaims",
    "pvc",
    "customresourcedefinition",
    "customresourcedefinitions",
    "crd",
    "crds",
    "all",
];

/// Tells whether an operand names one of some resources: `a,b`, `type/name`, `type.version.group`, in any case.
fn names(operand: &str, resources: &[&str]) -> bool {
    operand.split(',').any(|one| {
        let kind = one.split(['/', '.']).next().unwrap_or_default();
        resources.iter().any(|resource| resource.eq_ignore_ascii_case(kind))
    })
}

/// Tells whether the words print what is in a secret.
pub(super) fn shows_secret(arguments: &[&str]) -> bool {
    const FORMS: [&str; 8] = [
        "yaml",
        "json",
        "jsonpath",
        "go-template",
        "template",
        "templatefile",
        "jsonpath-as-json",
        "jsonpath-file",
    ];
    let verbs = harm::leading(arguments, 1);
    let secret = || harm::operands(arguments).any(|word| names(word, SECRETS));
    let formed = || {
        let forms = harm::option_values(arguments, "-o", "--output");
        let shows = |form: &str| {
            let form =
                form.trim_start_matches('=').split('=').next().unwrap_or_default().to_ascii_lowercase();
            FORMS.contains(&form.as_str()) || form.starts_with("go-template")
        };
        forms.into_iter().any(shows) || harm::has_option(arguments, &["--template"])
    };
    (verbs.contains(&"describe") && secret()) || (verbs.contains(&"get") && secret() && formed())
}

/// Tells whether the words delete what nothing brings back, or everything of a kind.
pub(super) fn deletes_whole(arguments: &[&str]) -> bool {
    // `strconv.ParseBool` reads the value.
    const NO: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];
    let all =
        |word: &&str| word.strip_prefix("--all=").map_or(*word == "--all", |value| !NO.contains(&value));
    let everything = arguments.iter().any(all);
    harm::leading(arguments, 1).contains(&"delete")
        && (everything || harm::operands(arguments).any(|word| names(word, WHOLE)))
}
