//! What recorded failures of a real `az` mean.

use std::path::Path;

use ghost_cloud::{Class, failure};
use serde_json::Value;

/// Recordings that fail, and what each means.
const MEANT: &[(&str, Class)] = &[
    ("err-another-operation", Class::Busy),
    ("err-bad-key-blob", Class::Expired),
    ("err-forbidden", Class::Forbidden),
    ("err-forbidden-blob", Class::Forbidden),
    ("err-gateway-html", Class::NotFound),
    ("err-not-found-group", Class::NotFound),
    ("err-not-found-resource", Class::NotFound),
    ("err-not-found-subscription", Class::NotFound),
    ("err-not-json", Class::Unreadable),
    ("err-not-logged-in", Class::SignedOut),
    ("err-not-logged-in-account-show", Class::SignedOut),
    ("err-operation-failed", Class::NotFound),
    ("err-policy", Class::Disallowed),
    ("err-quota", Class::Quota),
    ("err-server-error", Class::Service),
    ("err-throttled-post-without-retry-after", Class::Throttled),
    ("err-throttled-rest", Class::Throttled),
    ("err-throttled-to-the-end", Class::Throttled),
    ("err-token-endpoint-down", Class::Expired),
    ("err-token-expired-at-service", Class::Expired),
    ("err-token-secret-expired", Class::Expired),
    ("err-usage-bad-query", Class::Usage),
    ("err-usage-missing-argument", Class::Usage),
    ("err-usage-missing-required", Class::Usage),
    ("err-usage-unknown-command", Class::Usage),
    ("network-nic-list-effective-nsg-vm-off", Class::Off),
    ("network-nsg-delete-in-use", Class::InUse),
    ("network-nsg-rule-create-conflict", Class::Conflict),
    ("network-nsg-rule-create-no-parent", Class::NotFound),
    ("network-nsg-rule-show-missing", Class::NotFound),
    ("network-route-table-delete-in-use", Class::InUse),
    ("network-route-table-show-missing", Class::NotFound),
    ("network-vnet-subnet-update-nsg-empty", Class::Invalid),
    ("network-vnet-subnet-update-route-table-empty", Class::Invalid),
    ("network-vnet-subnet-update-route-table-missing", Class::Invalid),
    ("network-watcher-packet-capture-create-conflict", Class::Conflict),
    ("network-watcher-packet-capture-create-no-extension", Class::NoExtension),
    ("network-watcher-packet-capture-create-no-vm", Class::NotFound),
    ("network-watcher-packet-capture-create-quota", Class::Quota),
    ("network-watcher-packet-capture-list-wrong-region", Class::NoWatcher),
    ("network-watcher-packet-capture-show-missing", Class::NotFound),
    ("network-watcher-show-next-hop-wrong-source", Class::Other),
    ("network-watcher-test-ip-flow-usage", Class::Usage),
    ("rest-get-missing", Class::NotFound),
    ("storage-account-show-missing", Class::NotFound),
    ("storage-blob-delete-missing", Class::NotFound),
    ("storage-blob-download-missing", Class::NotFound),
    ("storage-blob-firewall", Class::KeptOut),
    ("storage-blob-list-endpoint-login-http", Class::Broken),
    ("storage-blob-upload-exists", Class::Conflict),
    ("vm-run-command-invoke-conflict", Class::Busy),
    ("vm-run-command-invoke-silent-guest", Class::Silent),
    ("vm-run-command-invoke-vm-off", Class::Off),
];

#[test]
fn every_recorded_failure_has_its_class() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/az");
    let Ok(folder) = std::fs::read_dir(&place) else { return };
    let mut failed = Vec::new();
    for entry in folder {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name.starts_with('_') || path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let recorded: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let exit = recorded["exit"].as_i64().unwrap();
        if exit == 0 {
            continue;
        }
        let class = failure(i32::try_from(exit).ok(), recorded["stderr"].as_str().unwrap()).class;
        let meant = MEANT.iter().find(|(known, _)| *known == name).map(|(_, class)| *class);
        if meant != Some(class) {
            failed.push(format!("{name}: {class:?} instead of {meant:?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
