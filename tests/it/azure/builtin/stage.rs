//! Recordings with places of this run, and who runs their commands.

use std::collections::BTreeMap;
use std::path::Path;

use ghost_base::Timestamp;
use ghost_lab::az::Profile;
use serde_json::Value;

/// What stands in the recordings for what differs from run to run, and what stands for it here.
const PLACES: [(&str, &str); 9] = [
    ("{{ARM}}", "https://localhost:8443"),
    ("{{ARM_HOST}}", "localhost:8443"),
    ("{{IMDS}}", "http://127.0.0.1:8444"),
    ("{{BLOBS}}", "https://localhost:8445"),
    ("{{BLOBS_HOST}}", "localhost:8445"),
    ("{{BLOB}}", "http://127.0.0.1:8446"),
    ("{{BLOB_HOST}}", "127.0.0.1:8446"),
    ("{{KEY}}", "S2V5IG9mIG5vYm9keSBhdCBhbGwsIHVzZWQgaW4gdGVzdHMu"),
    ("{{SECRET}}", "not-a-secret"),
];

pub(super) fn placed(text: &str) -> String {
    PLACES.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

pub(super) fn recorded(path: &Path) -> Value {
    serde_json::from_str(&placed(&String::from_utf8(std::fs::read(path).unwrap()).unwrap())).unwrap()
}

pub(super) fn words(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

pub(super) fn now() -> Timestamp {
    "2025-06-02T09:31:00.000Z".parse().unwrap()
}

/// Who runs the command of a recording.
pub(super) fn profile(name: &str, estate: &Value) -> Profile {
    let mut profile =
        Profile::lab("https://localhost:8443", "http://127.0.0.1:8444/msi/token", &estate["subscription"]);
    let blank =
        name == "cloud-register" || name.starts_with("err-not-logged-in") || name.starts_with("login-");
    let principal = name == "err-token-secret-expired";
    let mut files: BTreeMap<&str, String> = profile.files().into_iter().collect();
    if blank {
        files.remove("azureProfile.json");
    }
    if name == "cloud-register" {
        files.clear();
    }
    if principal {
        let mut reported: Value = serde_json::from_str(&files["azureProfile.json"]).unwrap();
        let app = &estate["principal"]["appId"];
        reported["subscriptions"][0]["user"] = serde_json::json!({"name": app, "type": "servicePrincipal"});
        files.insert("azureProfile.json", reported.to_string());
        let secret = serde_json::json!([{"client_id": app, "client_secret": "s", "tenant": "t"}]);
        files.insert("service_principal_entries.json", secret.to_string());
    }
    let variables = [("IDENTITY_ENDPOINT", "http://127.0.0.1:8444/msi/token"), ("IDENTITY_HEADER", "x")];
    let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    profile = Profile::read(variables, |name| files.get(name).cloned());
    profile
}

/// Returns the bytes of a file of a recording.
pub(super) fn pattern(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect()
}
