//! The list of core commands is what the real `az` has without an extension, and so is the list of those that ask a host of their own.
//!
//! It takes a quarter of a minute: the real one loads every module that it has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use ghost_shell::{Policy, Verdict};

use super::real_az::program;

/// Prints every command that the real one knows and the module that carries it out, with nothing installed and without an account.
const LOAD: &str = "
from azure.cli.core import get_default_cli
cli = get_default_cli()
invocation = cli.invocation_cls(cli_ctx=cli, parser_cls=cli.parser_cls, commands_loader_cls=cli.commands_loader_cls, help_cls=cli.help_cls)
cli.invocation = invocation
def module(command):
    if getattr(command, '_aaz_info', None):
        return 'aaz'
    own = command.command_kwargs.get('command_type')
    carried = command.command_kwargs.get('operations_tmpl') or (own.settings if own else {}).get('operations_tmpl') or ''
    return carried.split('#')[0].replace('azure.cli.command_modules.', '')
print('\\n'.join(name + '|' + module(command) for name, command in invocation.commands_loader.load_command_table(None).items()))
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
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for command in commands {
        let (group, verb) = command.rsplit_once(' ').unwrap_or(("", command));
        groups.entry(group).or_default().push(verb);
    }
    groups.into_iter().map(|(group, verbs)| format!("{group}: {}\n", verbs.join(" "))).collect()
}

/// Returns every command of the real one with its module.
fn known(program: &Path) -> &'static BTreeMap<String, String> {
    static KNOWN: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    KNOWN.get_or_init(|| ask(program))
}

#[expect(clippy::disallowed_methods, reason = "the real program is asked")]
fn ask(program: &Path) -> BTreeMap<String, String> {
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
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| line.split_once('|').unwrap());
    rows.map(|(command, module)| (command.to_owned(), module.to_owned())).collect()
}

#[test]
fn the_list_of_core_commands_is_what_the_real_az_has() {
    let Some(program) = program() else { return };
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shell/az-core.txt");
    let text = std::fs::read_to_string(&fixture).unwrap();
    let (listed, known): (_, BTreeSet<String>) = (listed(&text), known(&program).keys().cloned().collect());
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

/// Returns the lines of a fixture that are no comments.
fn fixture(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shell").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn every_safe_read_that_asks_a_host_of_its_own_is_in_the_list_of_hosts_and_of_the_others_it_is_said_where_they_go()
 {
    let Some(program) = program() else { return };
    let policy = Policy::builtin().unwrap();
    let modules: Vec<(String, String)> = fixture("az-modules.txt")
        .iter()
        .map(|line| {
            let mut parts = line.splitn(3, ": ").map(str::to_owned);
            (parts.next().unwrap(), parts.next().unwrap())
        })
        .collect();
    let hosts: BTreeSet<String> =
        fixture("az-hosts.txt").iter().map(|line| line.split_once(':').unwrap().0.to_owned()).collect();
    let mut wrong = Vec::new();
    let mut safe = 0;
    for (command, module) in known(&program) {
        if policy.classify(&format!("az {command}")).verdict != Verdict::Safe {
            continue;
        }
        safe += 1;
        let fits = |pattern: &str| {
            pattern.strip_suffix('*').map_or(pattern == module, |front| module.starts_with(front))
        };
        let goes = modules.iter().find(|(pattern, _)| fits(pattern)).map(|(_, goes)| goes.as_str());
        let is_right = match goes {
            Some("host") => hosts.contains(command),
            Some("cloud") => !hosts.contains(command),
            Some("some") => true,
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{command} ({module}): {goes:?}"));
        }
    }
    assert!(safe > 1_000, "only {safe} commands of az are SAFE");
    assert!(
        wrong.is_empty(),
        "{wrong:#?}\nhint: az-modules.txt says where a module goes, az-hosts.txt which words form a host"
    );
}
