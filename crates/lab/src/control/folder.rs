//! What leads `az` to the lab: a configuration folder written by hand, the certificate to trust, and an `az` for machines without one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::{Value, json};

use crate::azure::Description;
use ghost_base::{private_dir, write_private};

/// The release of `az` for which the note about versions is written. Without that note the first command asks a public host for the
/// newest one; another release takes it once.
const RELEASE: &str = "2.91.0";

/// The name of the cloud in `az`'s configuration.
const CLOUD: &str = "Lab";

/// What is written, by name below the folder.
pub(super) fn files(about: &Description, port: u16) -> Vec<(&'static str, String)> {
    let text = |field: &str| about.subscription.get(field).and_then(Value::as_str).unwrap_or_default();
    let (subscription, tenant) = (text("subscriptionId"), text("tenantId"));
    let base = format!("https://localhost:{port}");
    let config =
        format!("[cloud]\nname = {CLOUD}\n[core]\ncollect_telemetry = no\ninstance_discovery = false\n");
    let clouds = format!(
        "[{CLOUD}]\nendpoint_resource_manager = {base}\nendpoint_management = {base}/\nendpoint_active_directory = {base}\n\
         endpoint_active_directory_resource_id = {base}/\nendpoint_microsoft_graph_resource_id = {base}/\n\
         suffix_storage_endpoint = core.windows.net\nsuffix_keyvault_dns = .vault.lab.test\nsubscription = {subscription}\n"
    );
    let entry = |own: &Value| {
        let is_first = own.get("subscriptionId") == about.subscription.get("subscriptionId");
        json!({"id": own.get("subscriptionId"), "name": own.get("displayName"), "state": "Enabled",
        "user": {"name": "systemAssignedIdentity", "type": "servicePrincipal", "assignedIdentityInfo": "MSI"}, "isDefault": is_first,
        "tenantId": tenant, "environmentName": CLOUD, "homeTenantId": tenant, "managedByTenants": []})
    };
    let profile = json!({"subscriptions": about.open_subscriptions().map(entry).collect::<Vec<_>>()});
    let never = "2099-01-01 00:00:00.000000";
    let versions = json!({"versions": {"azure-cli": {"local": RELEASE}, "core": {"local": RELEASE}, "telemetry": {"local": "1.1.0"}},
        "update_time": never, "check_time": never});
    vec![
        ("config", config),
        ("clouds.config", clouds),
        ("azureProfile.json", profile.to_string()),
        ("versionCheck.json", versions.to_string()),
    ]
}

/// Where everything lies.
#[derive(Debug, Clone)]
pub(super) struct LabPaths {
    pub(super) config: PathBuf,
    pub(super) authority: PathBuf,
    pub(super) programs: PathBuf,
}

impl LabPaths {
    pub(super) fn below(folder: &Path) -> Self {
        Self { config: folder.join("az"), authority: folder.join("ca.pem"), programs: folder.join("bin") }
    }

    /// Writes all of it; every folder is for its owner alone.
    pub(super) fn write(
        &self,
        files: &[(&'static str, String)],
        authority: &str,
        script: &str,
    ) -> io::Result<()> {
        private_dir(&self.config)?;
        private_dir(&self.programs)?;
        for (name, text) in files {
            write_private(&self.config.join(name), text.as_bytes())?;
        }
        write_private(&self.authority, authority.as_bytes())?;
        let program = self.programs.join("az");
        write_private(&program, script.as_bytes())?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700))
    }
}

/// Writes the `az` of a lab: a call of this program.
pub(super) fn script(program: &str, record: &str) -> String {
    format!("#!/bin/sh\nexec {program} lab --lab {record} az -- \"$@\"\n")
}

/// Writes a value so that a shell takes it as it is: bare where that is enough, else between single quotes. Nothing for a value with
/// which no line can be written.
#[must_use]
pub fn exported(value: &str) -> Option<String> {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,@%+=".contains(&byte);
    if !value.is_empty() && value.bytes().all(bare) {
        return Some(value.to_owned());
    }
    let odd = |char: char| char == '\'' || char.is_control();
    (!value.contains(odd)).then(|| format!("'{value}'"))
}

#[cfg(test)]
mod export_tests {
    use super::*;

    #[test]
    fn nothing_is_left_for_a_shell_to_expand() {
        assert_eq!(exported("/home/a-b/x.json").as_deref(), Some("/home/a-b/x.json"));
        assert_eq!(exported("/home/a b/$HOME").as_deref(), Some("'/home/a b/$HOME'"));
        assert_eq!(exported("~/x").as_deref(), Some("'~/x'"));
        assert_eq!(exported("").as_deref(), Some("''"));
        assert_eq!(exported("/it's"), None);
        assert_eq!(exported("/a\nb"), None);
    }
}
