//! The protocol's own tools as clients: the inspector calls every tool, the conformance suite asks what every server has to answer.
//!
//! `tests/sdk/install` installs both; `GHOST_TEST_WITHOUT=mcp-tools` runs without them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::tools::Place;
use super::web::Listening;
use crate::random::{Random, is_long, seed};

/// What the conformance suite asks of any server; its other scenarios call tools that a server for its tests has.
const SCENARIOS: [&str; 5] =
    ["server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"];

#[expect(clippy::disallowed_methods, reason = "the test reads what it may leave out")]
fn tools() -> Option<PathBuf> {
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    if without.split(',').any(|name| name == "mcp-tools") {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("sdk/mcp-tools");
    assert!(
        folder.join("done").exists(),
        "the tools are not installed: run tests/sdk/install, or set GHOST_TEST_WITHOUT=mcp-tools"
    );
    Some(folder)
}

#[expect(clippy::disallowed_methods, reason = "the test starts the client")]
fn node(tools: &Path, script: &str, arguments: &[String], folder: &Path) -> Output {
    Command::new(tools.join("node"))
        .arg(tools.join("node_modules/@modelcontextprotocol").join(script))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn the_inspector_lists_and_calls_every_tool() {
    let Some(folder) = tools() else { return };
    let place = Place::new();
    let (config, script) = (place.config(), place.script());
    let data = place.data.path().to_str().unwrap();
    let ghost = [env!("CARGO_BIN_EXE_ghost"), "mcp", "--data-dir", data, "--config", &config];
    let investigator = ["--brain", "scripted", "--script", &script];
    let run = |arguments: Vec<String>| {
        let server = ghost.iter().chain(&investigator).map(|text| (*text).to_owned());
        let output = node(
            &folder,
            "inspector-cli/build/index.js",
            &server.chain(arguments).collect::<Vec<_>>(),
            place.folder.path(),
        );
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    };
    let method = |name: &str| vec!["--method".to_owned(), name.to_owned()];
    let listed = run(method("tools/list"));
    let calls = place.calls();
    assert_eq!(listed["tools"].as_array().unwrap().len(), calls.len());
    let all: Vec<&str> = calls.keys().copied().collect();
    let mut random = Random::new(seed("inspector"));
    let called = if is_long() { all } else { (0..3).map(|_| *random.pick(&all)).collect() };
    for name in called {
        let mut arguments = method("tools/call");
        arguments.extend(["--tool-name".to_owned(), name.to_owned()]);
        for (key, value) in calls[name].as_object().unwrap() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            arguments.extend(["--tool-arg".to_owned(), format!("{key}={text}")]);
        }
        let result = run(arguments);
        assert!(result["isError"] != true && result["structuredContent"].is_object(), "{name}: {result}");
    }
    assert!(run(method("resources/list"))["resources"].is_array());
    assert!(run(method("prompts/list"))["prompts"].is_array());
}

#[test]
fn the_conformance_suite_passes_what_it_asks_of_any_server() {
    let Some(folder) = tools() else { return };
    let (work, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Listening::start(work.path(), data.path(), &[]);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    for scenario in SCENARIOS {
        let arguments = ["server", "--url", &url, "--scenario", scenario].map(str::to_owned);
        let output = node(&folder, "conformance/dist/index.js", &arguments, work.path());
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{scenario}: {said}");
    }
}
