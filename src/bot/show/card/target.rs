//! The target of a command, where its words name one.

use ghost_investigate::report::command_words;

/// Options whose value is a target; earlier ones come first.
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

/// Options of `ssh` that have a value.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// Returns what a command is aimed at. It is a hint for the eye: the command itself stands above it.
pub(super) fn target(command: &str) -> Option<String> {
    let words = command_words(command);
    let words = words.iter().map(String::as_str).collect::<Vec<_>>();
    if words.first().copied() == Some("ssh") {
        return name(words.get(host_at(&words)?)?);
    }
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

/// Returns what a command runs inside a machine, without what carries it there and the quotes that this needs.
pub(super) fn script(command: &str) -> Option<String> {
    let words = command_words(command);
    let inner = match words.first().map(String::as_str)? {
        "ssh" => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let at = host_at(&words)? + 1;
            let line = words.get(at..).unwrap_or_default().join(" ");
            // The shell of the machine splits once more.
            let remote = command_words(&line);
            behind(&remote, &["sh", "-c"]).unwrap_or(line)
        }
        _ => behind(&words, &["--scripts"]).or_else(|| behind(&words, &["sh", "-c"]))?,
    };
    let inner = inner.trim();
    (!inner.is_empty()).then(|| inner.to_owned())
}

/// Returns the word behind a row of words.
fn behind(words: &[String], row: &[&str]) -> Option<String> {
    let at = words.windows(row.len()).position(|window| window == row)?;
    words.get(at + row.len()).cloned()
}

/// Finds the host of an `ssh`: the first word that is neither an option nor the value of one.
fn host_at(words: &[&str]) -> Option<usize> {
    let mut rest = words.iter().enumerate().skip(1);
    while let Some((at, word)) = rest.next() {
        let Some(options) = word.strip_prefix('-') else { return Some(at) };
        // The value of an option may be glued to it.
        if options.chars().position(|option| SSH_VALUES.contains(option))
            == Some(options.len().saturating_sub(1))
        {
            rest.next();
        }
    }
    None
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

/// Only a plain name is shown: a text that needs quotes could be read as something else.
fn name(word: &str) -> Option<String> {
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | ':' | '/');
    let fits = !word.is_empty() && word.len() <= 100 && !word.starts_with('-') && word.chars().all(plain);
    fits.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_shown_where_the_command_names_it() {
        for (command, found) in [
            ("az network watcher packet-capture create -g rg-1 --vm web-1 --name cap", Some("web-1 in rg-1")),
            ("az network nsg rule create --nsg-name='web' -g rg", Some("web in rg")),
            ("az vm list", None),
            ("tc qdisc del dev eth0 root", Some("device eth0 of this machine")),
            ("az vm show --name --vm", None),
            ("az vm show --name '<!channel>'", None),
            ("az vm run-command invoke -g rg -n web-1 --scripts 'echo --vm other'", Some("web-1 in rg")),
            ("ssh -F none -i /k -l ops -p22 10.0.0.4 sudo -n sh -c 'ip a'", Some("10.0.0.4")),
            ("ssh -4 web-1", Some("web-1")),
            ("rm -n web-1", None),
            ("", None),
        ] {
            assert_eq!(target(command).as_deref(), found, "{command}");
        }
    }

    #[test]
    fn a_script_is_shown_as_it_runs() {
        let inside = "ss -tln | grep '\"5001\"'";
        let carried = ghost_shell::quote(&ghost_shell::quote(inside));
        let ssh = format!("ssh -F none -p 22 10.0.0.4 sudo -n sh -c {carried}");
        for (command, found) in [
            (ssh.as_str(), Some(inside)),
            ("ssh web-1 ip a", Some("ip a")),
            ("az vm run-command invoke -n web-1 --scripts 'ip a; ip r'", Some("ip a; ip r")),
            ("sh -c 'ip a'", Some("ip a")),
            ("az vm list", None),
            ("ssh", None),
            ("", None),
        ] {
            assert_eq!(script(command).as_deref(), found, "{command}");
        }
    }
}
