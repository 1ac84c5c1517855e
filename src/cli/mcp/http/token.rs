//! The file of tokens: who a client is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context as _;

use ghost_base::{Digest, SessionId};
use ghost_tools::config::read_small;
use ghost_tools::print::Hinted;

/// A shorter token can be guessed.
const MIN_TOKEN_CHARS: usize = 24;

/// Knows the tokens of a file, which is read again when it changes.
pub(super) struct TokenFile {
    path: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    /// What the file was when it was read.
    seen: Option<Seen>,
    clients: Vec<(Digest, String)>,
}

/// What tells one state of a file from another.
#[derive(PartialEq, Eq)]
struct Seen {
    at: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Seen {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self { at: found.modified().ok(), length: found.len(), inode: found.ino() })
    }
}

impl TokenFile {
    /// Reads it for the first time.
    ///
    /// # Errors
    /// Fails where it cannot be read, others can read it, too, or a line of it is none.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let seen = Seen::of(path);
        let clients = read(path).with_context(|| format!("reading the tokens {}", path.display()))?;
        Ok(Self { path: path.to_owned(), known: Mutex::new(Known { seen, clients }) })
    }

    /// Returns the client whose token this is. A file that cannot be read any more knows nobody.
    pub(super) fn client(&self, token: &str) -> Option<String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Seen::of(&self.path);
        if seen.is_none() || seen != known.seen {
            let clients = read(&self.path).unwrap_or_else(|error| {
                tracing::error!("token file {} not usable: {error:#}", self.path.display());
                Vec::new()
            });
            *known = Known { seen, clients };
        }
        // Digests are compared: how long that takes says nothing of the tokens.
        let given = Digest::of(token);
        known.clients.iter().find(|(digest, _)| *digest == given).map(|(_, client)| client.clone())
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<(Digest, String)>> {
    let mode = fs::metadata(path)?.mode();
    if mode & 0o077 != 0 {
        let error = anyhow::anyhow!("others on this machine can read it");
        return Err(Hinted::new(error, format!("chmod 600 {}", path.display())).into());
    }
    parse(&read_small(path)?)
}

fn parse(text: &str) -> anyhow::Result<Vec<(Digest, String)>> {
    let mut clients: Vec<(Digest, String)> = Vec::new();
    let lines = text.lines().map(str::trim).enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let wrong = |what: &str| {
            let error = anyhow::anyhow!("line {}: {what}", at + 1);
            Hinted::new(
                error,
                "each line holds a client's name, a blank, and its token, as `openssl rand -hex 32` makes one",
            )
        };
        let (name, token) = line.split_once(char::is_whitespace).ok_or_else(|| wrong("it has no token"))?;
        let token = token.trim();
        // Names become folders; those of people in Slack have a form of their own.
        if name.parse::<SessionId>().is_err() || name.starts_with("slack-") {
            return Err(
                wrong("the name is none: letters, digits, `_` and `-`, not beginning with `slack-`").into()
            );
        }
        if token.len() < MIN_TOKEN_CHARS || token.contains(char::is_whitespace) {
            return Err(
                wrong(&format!("the token has fewer than {MIN_TOKEN_CHARS} characters, or blanks")).into()
            );
        }
        let digest = Digest::of(token);
        if clients.iter().any(|(known, client)| *known == digest || client == name) {
            return Err(wrong("its name or its token stands on an earlier line").into());
        }
        clients.push((digest, name.to_owned()));
    }
    if clients.is_empty() {
        anyhow::bail!("it names no client");
    }
    Ok(clients)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn write(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_token_names_its_client_until_its_line_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let (ana, ben) = ("a".repeat(32), "b".repeat(32));
        write(&path, &format!("# who may\nana {ana}\n\nben\t{ben}\n"), 0o600);
        let tokens = TokenFile::open(&path).unwrap();
        assert_eq!(
            (tokens.client(&ana).as_deref(), tokens.client(&ben).as_deref()),
            (Some("ana"), Some("ben"))
        );
        assert!(tokens.client("").is_none() && tokens.client(&ana[1..]).is_none());
        write(&path, &format!("ben {ben}\n"), 0o600);
        assert!(tokens.client(&ana).is_none() && tokens.client(&ben).is_some());
        fs::remove_file(&path).unwrap();
        assert!(tokens.client(&ben).is_none());
    }

    #[test]
    fn a_file_that_others_read_or_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let token = "a".repeat(32);
        write(&path, &format!("ana {token}\n"), 0o644);
        assert!(TokenFile::open(&path).is_err());
        for text in [
            "",
            "# none\n",
            "ana\n",
            "ana short\n",
            &format!("../ana {token}\n"),
            &format!("slack-T1-U1 {token}\n"),
            &format!("ana {token} more\n"),
            &format!("ana {token}\nana {}\n", "b".repeat(32)),
            &format!("ana {token}\nben {token}\n"),
        ] {
            write(&path, text, 0o600);
            assert!(TokenFile::open(&path).is_err(), "{text}");
        }
        assert!(TokenFile::open(&folder.path().join("missing")).is_err());
    }
}
