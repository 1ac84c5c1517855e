//! The official Python SDK as the client: it checks every answer against the schema of its tool.
//!
//! `tests/sdk/install` installs it; `GHOST_TEST_WITHOUT=mcp-sdk` runs without it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::tools::Place;

#[expect(clippy::disallowed_methods, reason = "the test reads what it may leave out")]
fn is_left_out() -> bool {
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    without.split(',').any(|name| name == "mcp-sdk")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts the client")]
fn the_official_sdk_calls_every_tool_and_accepts_every_answer() {
    if is_left_out() {
        return;
    }
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("sdk/mcp/bin/python");
    assert!(
        python.exists(),
        "the SDK is not installed: run tests/sdk/install, or set GHOST_TEST_WITHOUT=mcp-sdk"
    );
    let place = Place::new();
    let calls = place.calls();
    let file = place.data.path().join("calls.json");
    fs::write(&file, json!(calls).to_string()).unwrap();
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk/mcp/client.py"))
        .args([file.to_str().unwrap(), env!("CARGO_BIN_EXE_ghost"), "mcp", "--data-dir"])
        .args([place.data.path().to_str().unwrap(), "--config", &place.config()])
        .args(["--brain", "scripted", "--script", &place.script()])
        .current_dir(place.folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = answer["results"].as_object().unwrap();
    assert_eq!((answer["listed"].as_array().unwrap().len(), results.len()), (calls.len(), calls.len()));
    for (name, result) in results {
        assert!(result["error"] != true && result["document"].is_object(), "{name}: {result}");
    }
}
