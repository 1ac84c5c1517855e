//! The target of a command, where its words name one.

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

/// A longer command is looked at as far as this.
const MAX_COMMAND_BYTES: usize = 20_000;

const GROUPS: [&str; 2] = ["--resource-group", "-g"];

/// Options of `ssh` that have a value.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// Returns what a command is aimed at. It is a hint for the eye: the command itself stands above it.
pub(super) fn target(command: &str) -> Option<String> {
    let words = words(command);
    let words = words.iter().map(String::as_str).collect::<Vec<_>>();
    if words.first().copied() == Some("ssh") {
        return name(host(&words)?);
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

/// Returns what a command runs inside a machine, without the options of whatever carries it there.
pub(super) fn script(command: &str) -> Option<String> {
    let at = ["sh -c ", "--scripts "].iter().filter_map(|mark| {
        let (_, script) = command.split_once(mark)?;
        Some(script)
    });
    let script = at.min_by_key(|script| script.len())?;
    let bare = script.trim_matches(|char: char| matches!(char, '\'' | '"' | '\\') || char.is_whitespace());
    (!bare.is_empty()).then(|| bare.to_owned())
}

/// Returns the words of a command; what stands in quotes is one, so that no script can name another target.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for char in command.chars().take(MAX_COMMAND_BYTES) {
        match (char, quote) {
            ('"' | '\'', None) => quote = Some(char),
            (_, Some(mark)) if char == mark => quote = None,
            (_, None) if char.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(char),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Returns the host of an `ssh`: the first word that is neither an option nor the value of one.
fn host<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let Some(options) = word.strip_prefix('-') else { return Some(word) };
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
}
