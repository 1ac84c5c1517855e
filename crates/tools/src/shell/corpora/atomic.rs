//! Atomic Red Team: tests of what attackers do.

use super::yaml::{documents, entries, list, shown, text};

/// The platforms whose shells the policy speaks of.
const PLATFORMS: [&str; 2] = ["linux", "macos"];

/// The shells that the policy speaks of.
const SHELLS: [&str; 2] = ["sh", "bash"];

/// So often a default may name another argument.
const MAX_DEPTH: usize = 4;

/// Tells whether a file has the form of a list of such tests.
pub(super) fn is_list(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("atomic_tests:"))
}

/// Returns the script of each test for a POSIX shell, with the defaults of its arguments. `None` where the file cannot be
/// read.
pub(super) fn read(page: &str) -> Option<Vec<String>> {
    let mut commands = Vec::new();
    for test in documents(page)?.iter().flat_map(|document| list(document, "atomic_tests")) {
        let here = list(test, "supported_platforms")
            .iter()
            .filter_map(|platform| platform.as_str())
            .any(|platform| PLATFORMS.contains(&platform));
        let Some(executor) = test.as_mapping_get("executor") else { continue };
        let shell = text(executor, "name").is_some_and(|name| SHELLS.contains(&name));
        let Some(script) = text(executor, "command").filter(|_| here && shell) else { continue };
        let defaults: Vec<(String, String)> = entries(test, "input_arguments")
            .filter_map(|(name, about)| {
                Some((format!("#{{{}}}", name.as_str()?), shown(about.as_mapping_get("default")?)?))
            })
            .collect();
        commands.push(filled(script, &defaults));
    }
    Some(commands)
}

fn filled(script: &str, defaults: &[(String, String)]) -> String {
    let mut script = script.trim().to_owned();
    for _ in 0..MAX_DEPTH {
        for (place, default) in defaults {
            script = script.replace(place, default);
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "attack_technique: T0000
atomic_tests:
- name: one
  supported_platforms:
  - macos
  - linux
  input_arguments:
    port:
      type: integer
      default: 4444
    target:
      default: 192.0.2.7:#{port}
  executor:
    name: sh
    command: |
      probe #{target}
      probe -q #{port}
- name: two
  supported_platforms: [windows]
  executor: {name: bash, command: ver}
- name: three
  supported_platforms: [linux]
  executor: {name: powershell, command: Get-Date}
- name: four
  supported_platforms: [linux]
  executor: {name: manual, steps: look}
- name: five
  supported_platforms: [linux]
  executor: {name: bash, command: probe}
";

    #[test]
    fn scripts_of_posix_shells_are_filled_with_their_defaults() {
        assert!(is_list(PAGE));
        assert_eq!(read(PAGE).unwrap(), ["probe 192.0.2.7:4444\nprobe -q 4444", "probe"]);
    }

    #[test]
    fn defaults_that_name_each_other_end() {
        let page = PAGE.replace("4444", "'#{target}'");
        assert_eq!(read(&page).unwrap().len(), 2);
    }
}
