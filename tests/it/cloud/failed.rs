//! What recorded failures of a real `az` mean.

use std::path::Path;

use ghost_cloud::{FailureClass, failure};
use serde_json::Value;

/// Recordings that fail, and what each means.
const MEANT: &[(&str, FailureClass)] = &[
    ("err-another-operation", FailureClass::Busy),
    ("err-bad-key-blob", FailureClass::Expired),
    ("err-forbidden", FailureClass::Forbidden),
    ("err-forbidden-blob", FailureClass::Forbidden),
    ("err-gateway-html", FailureClass::NotFound),
    ("err-not-found-group", FailureClass::NotFound),
    ("err-not-found-resource", FailureClass::NotFound),
    ("err-not-found-subscription", FailureClass::NotFound),
    ("err-not-json", FailureClass::Unreadable),
    ("err-not-logged-in", FailureClass::SignedOut),
    ("err-not-logged-in-account-show", FailureClass::SignedOut),
    ("err-operation-failed", FailureClass::NotFound),
    ("err-policy", FailureClass::Disallowed),
    ("err-quota", FailureClass::Quota),
    ("err-server-error", FailureClass::Service),
    ("err-throttled-post-without-retry-after", FailureClass::Throttled),
    ("err-throttled-rest", FailureClass::Throttled),
    ("err-throttled-to-the-end", FailureClass::Throttled),
    ("err-token-endpoint-down", FailureClass::Expired),
    ("err-token-expired-at-service", FailureClass::Expired),
    ("err-token-secret-expired", FailureClass::Expired),
    ("err-usage-bad-query", FailureClass::Usage),
    ("err-usage-missing-argument", FailureClass::Usage),
    ("err-usage-missing-required", FailureClass::Usage),
    ("err-usage-unknown-command", FailureClass::Usage),
    ("network-nic-list-effective-nsg-vm-off", FailureClass::Off),
    ("network-nsg-delete-in-use", FailureClass::InUse),
    ("network-nsg-rule-create-conflict", FailureClass::Conflict),
    ("network-nsg-rule-create-no-parent", FailureClass::NotFound),
    ("network-nsg-rule-show-missing", FailureClass::NotFound),
    ("network-route-table-delete-in-use", FailureClass::InUse),
    ("network-route-table-show-missing", FailureClass::NotFound),
    ("network-vnet-subnet-update-nsg-empty", FailureClass::Invalid),
    ("network-vnet-subnet-update-route-table-empty", FailureClass::Invalid),
    ("network-vnet-subnet-update-route-table-missing", FailureClass::Invalid),
    ("network-watcher-packet-capture-create-conflict", FailureClass::Conflict),
    ("network-watcher-packet-capture-create-no-extension", FailureClass::NoExtension),
    ("network-watcher-packet-capture-create-no-vm", FailureClass::NotFound),
    ("network-watcher-packet-capture-create-quota", FailureClass::Quota),
    ("network-watcher-packet-capture-list-wrong-region", FailureClass::NoWatcher),
    ("network-watcher-packet-capture-show-missing", FailureClass::NotFound),
    ("network-watcher-show-next-hop-wrong-source", FailureClass::Other),
    ("network-watcher-test-ip-flow-usage", FailureClass::Usage),
    ("rest-get-missing", FailureClass::NotFound),
    ("storage-account-show-missing", FailureClass::NotFound),
    ("storage-blob-delete-missing", FailureClass::NotFound),
    ("storage-blob-download-missing", FailureClass::NotFound),
    ("storage-blob-firewall", FailureClass::KeptOut),
    ("storage-blob-list-endpoint-login-http", FailureClass::Broken),
    ("storage-blob-upload-exists", FailureClass::Conflict),
    ("vm-run-command-invoke-conflict", FailureClass::Busy),
    ("vm-run-command-invoke-silent-guest", FailureClass::Silent),
    ("vm-run-command-invoke-vm-off", FailureClass::Off),
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
