//! Who is signed in and where: what the configuration folder of `az` and the environment say.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Sections of a file of settings, each with its lines.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

const SUBSCRIPTIONS: &str = "azureProfile.json";
const CLOUDS: &str = "clouds.config";
const SETTINGS: &str = "config";
const SECRETS: &str = "service_principal_entries.json";

/// A profile: settings, clouds, and the subscriptions of whoever is signed in. The files are those of the real one.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// What else the file of subscriptions holds.
    pub(super) about: Map<String, Value>,
    /// Subscriptions, as the real one keeps them.
    pub(super) subscriptions: Vec<Value>,
    /// Clouds that were registered.
    pub(super) clouds: Sections,
    pub(super) settings: Sections,
    /// Service principals that signed in, with their secrets.
    pub(super) secrets: Vec<Value>,
    /// The environment.
    pub(super) variables: BTreeMap<String, String>,
    /// A token for whoever does not know where tokens come from.
    pub(super) token: Option<String>,
}

impl Profile {
    /// Reads the files of a folder: `file` returns the text of one. What cannot be read counts as missing, as for the real one.
    pub fn read(variables: BTreeMap<String, String>, mut file: impl FnMut(&str) -> Option<String>) -> Self {
        let mut document = |name: &str| -> Value {
            let text = file(name).unwrap_or_default();
            serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
        };
        let entries = |given: &Value| given.as_array().cloned().unwrap_or_default();
        let mut about = document(SUBSCRIPTIONS).as_object().cloned().unwrap_or_default();
        let subscriptions = entries(&about.remove("subscriptions").unwrap_or_default());
        let secrets = entries(&document(SECRETS));
        let clouds = sections(&file(CLOUDS).unwrap_or_default());
        let settings = sections(&file(SETTINGS).unwrap_or_default());
        Self { about, subscriptions, clouds, settings, secrets, variables, token: None }
    }

    /// Returns the files of the folder as they are now.
    #[must_use]
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let mut about = self.about.clone();
        about.insert("subscriptions".to_owned(), Value::from(self.subscriptions.clone()));
        vec![
            (SUBSCRIPTIONS, Value::Object(about).to_string()),
            (CLOUDS, written(&self.clouds)),
            (SETTINGS, written(&self.settings)),
            (SECRETS, Value::from(self.secrets.clone()).to_string()),
        ]
    }

    /// Makes the profile of somebody who is signed in to a cloud at `base` with the identity that `identity` gives tokens for.
    #[must_use]
    pub fn lab(base: &str, identity: &str, subscription: &Value) -> Self {
        let mut profile = Self::default();
        profile.register("Lab", base, "core.windows.net");
        profile.choose("Lab");
        profile.variables.insert("IDENTITY_ENDPOINT".to_owned(), identity.to_owned());
        profile.variables.insert("IDENTITY_HEADER".to_owned(), "x".to_owned());
        let user = json!({"name": "systemAssignedIdentity", "type": "servicePrincipal", "assignedIdentityInfo": "MSI"});
        profile.subscriptions = vec![entry("Lab", subscription, &user, true)];
        profile
    }

    /// Adds other subscriptions, as a sign-in finds them.
    pub fn beside<'a>(&mut self, subscriptions: impl Iterator<Item = &'a Value>) {
        let user = json!({"name": "systemAssignedIdentity", "type": "servicePrincipal", "assignedIdentityInfo": "MSI"});
        self.subscriptions.extend(subscriptions.map(|own| entry("Lab", own, &user, false)));
    }

    /// Uses a token where the environment does not say where the machine's tokens are.
    pub fn hold(&mut self, token: &str) {
        self.token = Some(token.to_owned());
    }

    /// Returns the name of the cloud in use.
    pub(super) fn cloud(&self) -> String {
        self.setting("cloud", "name").unwrap_or_else(|| "AzureCloud".to_owned())
    }

    /// Returns an endpoint of the cloud in use, without a slash at its end.
    pub(super) fn endpoint(&self, name: &str) -> Option<String> {
        let given = self.clouds.get(&self.cloud()).and_then(|cloud| cloud.get(name));
        let usual = match name {
            "endpoint_resource_manager" => "https://management.azure.com",
            "endpoint_active_directory" => "https://login.microsoftonline.com",
            "endpoint_active_directory_resource_id" => "https://management.core.windows.net",
            "suffix_storage_endpoint" => "core.windows.net",
            _ => "",
        };
        match given {
            Some(given) => Some(given.trim_end_matches('/').to_owned()),
            None => (self.cloud() == "AzureCloud" && !usual.is_empty()).then(|| usual.to_owned()),
        }
    }

    /// Adds a cloud.
    pub(super) fn register(&mut self, name: &str, base: &str, storage: &str) {
        let base = base.trim_end_matches('/');
        let cloud = self.clouds.entry(name.to_owned()).or_default();
        for (field, value) in [
            ("endpoint_resource_manager", base.to_owned()),
            ("endpoint_management", format!("{base}/")),
            ("endpoint_active_directory", base.to_owned()),
            ("endpoint_active_directory_resource_id", format!("{base}/")),
            ("suffix_storage_endpoint", storage.to_owned()),
        ] {
            cloud.insert(field.to_owned(), value);
        }
    }

    /// Uses a cloud from now on.
    pub(super) fn choose(&mut self, name: &str) {
        self.settings.entry("cloud".to_owned()).or_default().insert("name".to_owned(), name.to_owned());
    }

    /// Returns a variable of the environment that is not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns a setting: from the environment, else from the file.
    pub(super) fn setting(&self, section: &str, name: &str) -> Option<String> {
        let variable = format!("AZURE_{}_{}", section.to_uppercase(), name.to_uppercase());
        let given = self.variable(&variable).map(str::to_owned);
        given.or_else(|| self.settings.get(section)?.get(name).cloned()).filter(|value| !value.is_empty())
    }

    /// Returns the subscriptions of the cloud in use.
    pub(super) fn here(&self) -> Vec<&Value> {
        let cloud = self.cloud();
        let is = |entry: &&Value| {
            let given = entry.get("environmentName").and_then(Value::as_str);
            given.is_some_and(|given| given.eq_ignore_ascii_case(&cloud))
        };
        self.subscriptions.iter().filter(is).collect()
    }
}

/// Returns an entry for a subscription, as the real one keeps it.
pub(super) fn entry(cloud: &str, given: &Value, user: &Value, first: bool) -> Value {
    let text = |field: &str| given.get(field).cloned().unwrap_or_default();
    let managed = given.get("managedByTenants").cloned().unwrap_or_else(|| json!([]));
    json!({"environmentName": cloud, "homeTenantId": text("tenantId"), "id": text("subscriptionId"), "isDefault": first,
        "managedByTenants": managed, "name": text("displayName"), "state": text("state"), "tenantId": text("tenantId"), "user": user})
}

fn sections(text: &str) -> Sections {
    let mut sections = Sections::new();
    let mut open = String::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            open = name.trim().to_owned();
            sections.entry(open.clone()).or_default();
        } else if let Some((name, value)) =
            line.split_once(['=', ':']).filter(|_| !line.starts_with(['#', ';']))
        {
            let section = sections.entry(open.clone()).or_default();
            section.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    sections
}

fn written(sections: &Sections) -> String {
    let section = |(name, lines): (&String, &BTreeMap<String, String>)| {
        let lines: String = lines.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
        format!("[{name}]\n{lines}\n")
    };
    sections.iter().map(section).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let given = json!({"subscriptionId": "s", "tenantId": "t", "displayName": "lab", "state": "Enabled"});
        let profile = Profile::lab("https://localhost:1/", "http://127.0.0.1:2/msi/token", &given);
        let files: BTreeMap<&str, String> = profile.files().into_iter().collect();
        let again = Profile::read(BTreeMap::new(), |name| files.get(name).cloned());
        assert_eq!(again.endpoint("endpoint_resource_manager").as_deref(), Some("https://localhost:1"));
        assert_eq!(again.here(), profile.here());
        assert_eq!(again.cloud(), "Lab");
    }

    #[test]
    fn broken_files_count_as_missing() {
        for text in ["", "{", "[]", "\u{feff}{\"subscriptions\": 7}", "[a\n=\n[]\nx", "\0"] {
            let profile = Profile::read(BTreeMap::new(), |_| Some(text.to_owned()));
            assert!(profile.here().is_empty(), "{text:?}");
            assert_eq!(
                profile.endpoint("endpoint_active_directory").as_deref(),
                Some("https://login.microsoftonline.com")
            );
        }
    }

    #[test]
    fn the_environment_comes_first() {
        let variables = BTreeMap::from([("AZURE_DEFAULTS_GROUP".to_owned(), "mine".to_owned())]);
        let profile =
            Profile::read(variables, |_| Some("[defaults]\ngroup = theirs\nlocation = eastus\n".to_owned()));
        assert_eq!(profile.setting("defaults", "group").as_deref(), Some("mine"));
        assert_eq!(profile.setting("defaults", "location").as_deref(), Some("eastus"));
        assert_eq!(profile.setting("defaults", "vm"), None);
    }
}
