//! The list of core commands is what the real `az` has without an extension.
//!
//! It takes a quarter of a minute: the real one loads every module that it has.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::real_az::program;

/// Prints every command that the real one knows, with nothing installed and nobody signed in.
const LOAD: &str = "
from azure.cli.core import get_default_cli
cli = get_default_cli()
invocation = cli.invocation_cls(cli_ctx=cli, parser_cls=cli.parser_cls, commands_loader_cls=cli.commands_loader_cls, help_cls=cli.help_cls)
cli.invocation = invocation
print('\\n'.join(invocation.commands_loader.load_command_table(None)))
";

/// Returns the commands of a list with a group and its verbs in a line.
fn listed(text: &str) -> BTreeSet<String> {
    let commands = text.lines().flat_map(|line| {
        let (group, verbs) = line.split_once(':').unwrap();
        verbs.split_whitespace().map(move |verb| format!("{group} {verb}").trim().to_owned())
    });
    commands.collect()
}

/// Writes commands as a list with a group and its verbs in a line.
fn list(commands: &BTreeSet<String>) -> String {
    let mut groups: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
    for command in commands {
        let (group, verb) = command.rsplit_once(' ').unwrap_or(("", command));
        groups.entry(group).or_default().push(verb);
    }
    groups.into_iter().map(|(group, verbs)| format!("{group}: {}\n", verbs.join(" "))).collect()
}

#[expect(clippy::disallowed_methods, reason = "the real program is asked")]
fn known(program: &Path) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(program.with_file_name("python"))
        .args(["-c", LOAD])
        .env_clear()
        .env("HOME", folder.path())
        .env("AZURE_CONFIG_DIR", folder.path())
        .env("AZURE_EXTENSION_DIR", folder.path().join("extensions"))
        .env("AZURE_CORE_COLLECT_TELEMETRY", "no")
        // Nothing of it needs anybody.
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn the_list_of_core_commands_is_what_the_real_az_has() {
    let Some(program) = program() else { return };
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shell/az-core.txt");
    let text = std::fs::read_to_string(&fixture).unwrap();
    let (listed, known) = (listed(&text), known(&program));
    let (gone, new): (Vec<_>, Vec<_>) =
        (listed.difference(&known).collect(), known.difference(&listed).collect());
    if gone.is_empty() && new.is_empty() && text == list(&known) {
        return;
    }
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("az-core.txt");
    std::fs::write(&fresh, list(&known)).unwrap();
    panic!(
        "the list holds what the real az lacks: {gone:?}; it lacks what the real az has: {new:?}\n\
         hint: {} is what it has; put it in the place of {} and bring src/shell/policy/core.toml into line (`cargo test --lib cloud` says how)",
        fresh.display(),
        fixture.display()
    );
}
