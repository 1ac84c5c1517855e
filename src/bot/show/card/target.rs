//! What a command is aimed at, where that can be told from its words.

/// Options whose value is a target; earlier ones are told first.
const OPTIONS: [&str; 12] = [
    "--vm",
    "--vm-name",
    "--nic",
    "--nic-name",
    "--nsg-name",
    "--route-table-name",
    "--vnet-name",
    "--account-name",
    "--target",
    "--target-vm-ip",
    "--name",
    "-n",
];

const GROUPS: [&str; 2] = ["--resource-group", "-g"];

/// Returns what a command is aimed at. It is a hint for the eye: the command itself stands above it.
pub(super) fn target(command: &str) -> Option<String> {
    let words = command.split_whitespace().take(400).collect::<Vec<_>>();
    if words.first().copied() == Some("az") {
        let found = OPTIONS.iter().find_map(|option| value(&words, option))?;
        return Some(match GROUPS.iter().find_map(|option| value(&words, option)) {
            Some(group) => format!("{found} in {group}"),
            None => found,
        });
    }
    let device = words.iter().position(|word| *word == "dev").and_then(|at| words.get(at + 1).copied());
    name(device?).map(|device| format!("device {device} of this machine"))
}

fn value(words: &[&str], option: &str) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| {
        let value = match word.strip_prefix(option)? {
            "" => words.get(at + 1).copied()?,
            rest => rest.strip_prefix('=')?,
        };
        name(value)
    })
}

/// Only what looks like a name is told: a text that needs quotes could be read as something else.
fn name(word: &str) -> Option<String> {
    let word =
        ['"', '\''].iter().find_map(|mark| word.strip_prefix(*mark)?.strip_suffix(*mark)).unwrap_or(word);
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | ':' | '/');
    let fits = !word.is_empty() && word.len() <= 100 && !word.starts_with('-') && word.chars().all(plain);
    fits.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_told_where_it_can_be() {
        for (command, found) in [
            ("az network watcher packet-capture create -g rg-1 --vm web-1 --name cap", Some("web-1 in rg-1")),
            ("az network nsg rule create --nsg-name='web' -g rg", Some("web in rg")),
            ("az vm list", None),
            ("tc qdisc del dev eth0 root", Some("device eth0 of this machine")),
            ("az vm show --name --vm", None),
            ("az vm show --name '<!channel>'", None),
            ("rm -n web-1", None),
            ("", None),
        ] {
            assert_eq!(target(command).as_deref(), found, "{command}");
        }
    }
}
