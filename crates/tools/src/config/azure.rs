//! As whom the cloud is read, and as whom something is done there.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// `[azure]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Azure {
    /// The resource groups whose permissions `ghost config check` asks for; those of the scopes unless said.
    pub resource_groups: Vec<String>,
    /// The resource group of the network watchers; `NetworkWatcherRG` unless said.
    pub watcher_group: String,
    /// Who reads; whoever `az` is signed in as unless said.
    pub reader: Option<Identity>,
    /// Who runs what a human approved; the same as the reader unless said.
    pub actor: Option<Identity>,
}

impl Default for Azure {
    fn default() -> Self {
        Self {
            resource_groups: Vec::new(),
            watcher_group: "NetworkWatcherRG".to_owned(),
            reader: None,
            actor: None,
        }
    }
}

/// `[azure.reader]` and `[azure.actor]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// How it signs in.
    pub sign_in: SignIn,
    /// Its client id; of a managed identity only where the machine has several.
    pub client_id: Option<String>,
    /// The tenant of a service principal, by id or name.
    pub tenant: Option<String>,
    /// A service principal's certificate with its key, a PEM file.
    pub certificate: Option<PathBuf>,
    /// A file with a token of another issuer that stands for a service principal.
    pub federated_token_file: Option<PathBuf>,
    /// A file with a service principal's secret, unless it stands in `$GHOST_AZURE_READER_SECRET` or `$GHOST_AZURE_ACTOR_SECRET`.
    pub secret_file: Option<PathBuf>,
    /// The configuration folder of `az` in which somebody is signed in.
    pub folder: Option<PathBuf>,
    /// The id of the subscription to which it keeps.
    pub subscription: Option<String>,
    /// The ids of other subscriptions that whoever reads may read beside it.
    #[serde(default)]
    pub subscriptions: Vec<String>,
}

/// How an identity signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignIn {
    /// As the machine.
    Managed,
    ServicePrincipal,
    /// As whoever is signed in in a folder.
    Folder,
}

impl Azure {
    /// Returns the subscriptions that alone are read; none, where any may be.
    #[must_use]
    pub fn kept_to(&self) -> Vec<String> {
        let own = self.reader.iter().filter_map(|reader| Some((reader.subscription.as_ref()?, reader)));
        own.flat_map(|(own, reader)| std::iter::once(own).chain(&reader.subscriptions)).cloned().collect()
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let group = |name: &String| {
            let plain = |char: char| char.is_alphanumeric() || "-_.()".contains(char);
            name.is_empty() || name.len() > 90 || !name.chars().all(plain)
        };
        let mut problems: Vec<String> = self
            .resource_groups
            .iter()
            .chain([&self.watcher_group])
            .filter(|name| group(name))
            .map(|name| format!("[azure] `{name}` is no name of a resource group"))
            .collect();
        if self.actor.is_some() && self.reader.is_none() {
            problems.push("[azure.actor] needs [azure.reader]: who reads has to be said, too".to_owned());
        }
        for (name, identity) in [("reader", &self.reader), ("actor", &self.actor)] {
            problems.extend(identity.iter().flat_map(|identity| identity.problems(name)));
        }
        problems
    }
}

impl Identity {
    fn problems(&self, name: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let mut say = |what: String| problems.push(format!("[azure.{name}] {what}"));
        let principal = self.sign_in == SignIn::ServicePrincipal;
        for (key, given, wanted) in [
            ("client_id", self.client_id.is_some(), self.sign_in != SignIn::Folder),
            ("tenant", self.tenant.is_some(), principal),
            ("certificate", self.certificate.is_some(), principal),
            ("federated_token_file", self.federated_token_file.is_some(), principal),
            ("secret_file", self.secret_file.is_some(), principal),
            ("folder", self.folder.is_some(), self.sign_in == SignIn::Folder),
        ] {
            if given && !wanted {
                say(format!("{key} means nothing where sign_in is `{}`", self.sign_in.word()));
            }
        }
        if principal && (self.client_id.is_none() || self.tenant.is_none()) {
            say("a service principal has a client_id and a tenant".to_owned());
        }
        if self.sign_in == SignIn::Folder && self.folder.is_none() {
            say("folder is missing".to_owned());
        }
        let proofs = [&self.certificate, &self.federated_token_file, &self.secret_file];
        if proofs.iter().filter(|proof| proof.is_some()).count() > 1 {
            say("name one of certificate, federated_token_file and secret_file".to_owned());
        }
        for path in proofs.into_iter().chain([&self.folder]).flatten() {
            if !is_plain(path) {
                say(format!("{path:?}: the path has to be absolute text without `=`"));
            }
        }
        let others = self.subscriptions.iter().map(|id| ("subscriptions", id));
        let one = [("client_id", &self.client_id), ("subscription", &self.subscription)];
        let all = one.into_iter().filter_map(|(key, id)| Some((key, id.as_ref()?)));
        for (key, id) in all.chain(others).filter(|(_, id)| !is_id(id)) {
            say(format!("{key} = {id:?}: it is an id like 00000000-0000-0000-0000-000000000000"));
        }
        if !self.subscriptions.is_empty() && (name == "actor" || self.subscription.is_none()) {
            say("subscriptions are those that the reader may read beside its `subscription`".to_owned());
        }
        let host = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        let tenant = self.tenant.as_deref();
        if tenant.is_some_and(|text| text.is_empty() || text.starts_with('-') || !text.bytes().all(host)) {
            say("tenant: it is an id or a domain".to_owned());
        }
        problems
    }
}

impl SignIn {
    fn word(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::ServicePrincipal => "service_principal",
            Self::Folder => "folder",
        }
    }
}

/// `az` takes what stands behind a `=` for another value.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path.to_str().is_some_and(|text| !text.contains('=') && !text.contains(char::is_control))
}

fn is_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "33333333-3333-3333-3333-333333333333";

    fn problems(text: &str) -> Vec<String> {
        toml::from_str::<Azure>(&text.replace("ID", ID)).unwrap().problems()
    }

    #[test]
    fn each_sign_in_method_has_its_keys() {
        for text in [
            "",
            "[reader]\nsign_in = 'managed'\n[actor]\nsign_in = 'managed'\nclient_id = 'ID'\nsubscription = 'ID'",
            "[reader]\nsign_in = 'service_principal'\nclient_id = 'ID'\ntenant = 'contoso.example'\ncertificate = '/etc/c.pem'",
            "[reader]\nsign_in = 'service_principal'\nclient_id = 'ID'\ntenant = 'ID'",
            "[reader]\nsign_in = 'folder'\nfolder = '/home/a/.azure'",
            "[reader]\nsign_in = 'managed'\nsubscription = 'ID'\nsubscriptions = ['ID']",
        ] {
            assert_eq!(problems(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn conflicting_keys_are_reported_at_once() {
        let wrong = "watcher_group = 'a/b'\n[actor]\nsign_in = 'folder'\ntenant = '-x'\nsubscription = 'prod'\ncertificate = 'c.pem'\nsecret_file = '/a=b'";
        let problems_found = problems(wrong);
        for part in [
            "a/b",
            "needs [azure.reader]",
            "tenant means nothing",
            "folder is missing",
            "name one of",
            "c.pem",
            "prod",
            "id or a domain",
        ] {
            assert!(
                problems_found.iter().any(|problem| problem.contains(part)),
                "{part}: {problems_found:#?}"
            );
        }
        assert_eq!(problems("[reader]\nsign_in = 'service_principal'").len(), 1);
        assert_eq!(problems("[reader]\nsign_in = 'managed'\nsubscriptions = ['ID']").len(), 1);
        assert_eq!(
            problems("[reader]\nsign_in = 'managed'\nsubscription = 'ID'\nsubscriptions = ['hub']").len(),
            1
        );
    }

    #[test]
    fn an_unknown_sign_in_method_is_refused() {
        assert!(toml::from_str::<Azure>("[reader]\nsign_in = 'password'").is_err());
        assert!(toml::from_str::<Azure>("[reader]\nsign_in = 'managed'\nsecret = 'x'").is_err());
    }
}
