//! The versions of Rust that documents, image and manifest name agree.
#![expect(clippy::indexing_slicing, reason = "a manifest without the field stops the test")]

use crate::project::{none, root};
use crate::yaml::text;

/// Reads `1.91` or `1.91.0`; what comes behind the second number is left out.
fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
}

/// Returns the oldest Rust that the manifest promises.
fn promised() -> String {
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    let own = manifest["package"].get("rust-version").and_then(toml::Value::as_str);
    let shared = || manifest["workspace"]["package"]["rust-version"].as_str();
    own.or_else(shared).unwrap().to_owned()
}

#[test]
fn documents_name_the_rust_that_the_manifest_promises() {
    let promised = format!("Rust {}", promised());
    for page in ["CONTRIBUTING.md", "docs/guide/start.md"] {
        assert!(text(page).contains(&promised), "{page} does not say {promised}");
    }
}

#[test]
fn the_image_is_built_with_a_rust_that_is_new_enough() {
    let image = text("deploy/Dockerfile");
    let tag = image.lines().find_map(|line| line.strip_prefix("FROM rust:")).unwrap();
    let used = tag.split('-').next().unwrap();
    assert!(version(used) >= version(&promised()), "{used}");
}

#[test]
fn no_file_chooses_a_toolchain() {
    for name in ["rust-toolchain", "rust-toolchain.toml"] {
        assert!(!root().join(name).exists(), "{name}: whoever builds this chooses the toolchain");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "cargo itself tells what dependencies need")]
fn no_dependency_needs_a_newer_rust_than_is_promised() {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline", "--all-features"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = answer["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    let newer = packages.iter().filter_map(|package| {
        let needs = package["rust_version"].as_str()?;
        let name = package["name"].as_str()?;
        (version(needs) > version(&promised())).then(|| format!("{name} needs Rust {needs}"))
    });
    none(newer.collect());
}
