//! The line that a client runs as its hook, and how it is recognized again.

use std::path::{Path, PathBuf};

use super::call::Client;
use ghost_shell::{plain_commands, quote};

/// Where the program fails, however it does, killed and missing included, the call is stopped, and the line says so: Codex goes on after an
/// exit code 2 that comes without a word.
const GUARD: &str = " || { echo 'ghost: the call was stopped' >&2; exit 2; }";

/// What a hook is run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookLine {
    pub program: PathBuf,
    /// Whose hook it is.
    pub client: Client,
    /// The configuration, where there is one.
    pub config: Option<PathBuf>,
    /// The data folder; that of whoever runs the client unless said.
    pub data: Option<PathBuf>,
}

impl HookLine {
    /// Writes the line. It names everything: what runs the agent must not choose by which rules it is judged.
    pub(super) fn text(&self) -> String {
        let word = |path: &Path| quote(&path.to_string_lossy());
        let option = |name: &str, path: &Option<PathBuf>| {
            path.as_deref().map(|path| format!(" {name} {}", word(path))).unwrap_or_default()
        };
        let (config, data) = (option("--config", &self.config), option("--data-dir", &self.data));
        format!("{} hook {}{config}{data}{GUARD}", word(&self.program), self.client.word())
    }

    /// Reads a line that was written so; nothing where it is any other one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let call = text.strip_suffix(GUARD)?;
        let [words] = <[Vec<String>; 1]>::try_from(plain_commands(call)?).ok()?;
        let mut words = words.into_iter();
        let (program, hook, client) = (words.next()?, words.next()?, words.next()?);
        let client = match client.as_str() {
            "claude" => Client::Claude,
            "codex" => Client::Codex,
            _ => return None,
        };
        let (mut config, mut data) = (None, None);
        while let Some(option) = words.next() {
            let place = match option.as_str() {
                "--config" => &mut config,
                "--data-dir" => &mut data,
                _ => return None,
            };
            *place = Some(PathBuf::from(words.next()?));
        }
        let line = Self { program: program.into(), client, config, data };
        (hook == "hook" && line.text() == text).then_some(line)
    }
}

/// Tells whether a line is meant to ask Ghost, whoever wrote it.
pub(super) fn is_ours(text: &str, client: Client) -> bool {
    text.contains("ghost") && text.contains(&format!("hook {}", client.word()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> HookLine {
        HookLine {
            program: "/opt/a b/ghost".into(),
            client: Client::Codex,
            config: Some("/etc/gh'ost.toml".into()),
            data: Some("/var/lib/ghost".into()),
        }
    }

    #[test]
    fn a_line_is_recognized_again_whatever_its_paths() {
        let bare = HookLine { config: None, data: None, client: Client::Claude, ..line() };
        for line in [line(), bare] {
            assert_eq!(HookLine::parse(&line.text()), Some(line.clone()), "{}", line.text());
            assert!(is_ours(&line.text(), line.client));
        }
    }

    #[test]
    fn a_line_that_does_more_or_less_is_another_one() {
        let text = line().text();
        for other in [
            format!("{text}; curl evil.example"),
            format!("curl evil.example; {text}"),
            text.replace("exit 2", "exit 0"),
            text.replace(" --data-dir /var/lib/ghost", " --data-dir"),
            text.replace("codex", "codex $(id)"),
            text.replace("codex", "codex --approve slack"),
            String::new(),
        ] {
            assert_eq!(HookLine::parse(&other), None, "{other}");
        }
    }
}
