//! The local Slack's page: its readers of text under Node, and the page itself in a real Chromium.
//!
//! `GHOST_TEST_WITHOUT=node` or `chromium` runs without one of them; `GHOST_TEST_SCREENSHOTS=FOLDER` keeps pictures, and
//! `GHOST_TEST_PICTURES=demo/pictures` makes those of the README anew.

use std::path::Path;
use std::process::Command;

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts what runs the page's own tests")]
fn the_page_does_what_its_own_tests_say() {
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    if without.split(',').any(|name| name == "node") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new("node")
        .args(["--test", "tests/page/"])
        .env("GHOST_TEST_BINARY", env!("CARGO_BIN_EXE_ghost"))
        .current_dir(root)
        .output()
        .unwrap_or_else(|error| panic!("node: {error} (install it, or set GHOST_TEST_WITHOUT=node)"));
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}\n{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.lines().any(|line| line.starts_with("# pass ") && line != "# pass 0"), "{said}");
}
