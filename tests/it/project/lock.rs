//! What the test app on Slack's SDK for JavaScript pulls in. `deny.toml` says the same about crates.

use serde_json::Value;

use crate::project::none;
use crate::yaml::text;

/// Licenses of packages that are installed for tests alone.
const LICENSES: [&str; 4] = ["Apache-2.0", "BSD-3-Clause", "ISC", "MIT"];

#[test]
fn every_locked_package_has_a_known_license_and_a_digest_and_names_no_registry() {
    let lock: Value = serde_json::from_str(&text("tests/sdk/javascript/package-lock.json")).unwrap();
    let packages = lock["packages"].as_object().unwrap();
    let mut problems = Vec::new();
    for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
        let license = package["license"].as_str().unwrap_or("none");
        if !LICENSES.contains(&license) {
            problems.push(format!("{name}: license {license}"));
        }
        if package.get("integrity").is_none() {
            problems.push(format!("{name}: no digest"));
        }
        if package.get("resolved").is_some() {
            problems.push(format!("{name}: names a registry"));
        }
    }
    assert!(packages.len() > 1);
    none(problems);
}
