//! What is still open of what this machine asked: a process that asks the same again goes on with it, and does not ask twice.
//!
//! A name of a file says it all: the digest of the request, and its session. What is lost here is asked once more.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ghost_base::{Digest, SessionId, private_dir};
use ghost_investigate::event::OutsideRequest;

/// The folder below the data folder.
const FOLDER: &str = "outside";

/// What is older has long run out at the other end.
const MAX_AGE: Duration = Duration::from_secs(48 * 3600);

/// How much of the digest stands in a name.
const DIGEST_CHARS: usize = 32;

/// The requests of this machine that may still get an answer.
#[derive(Debug, Clone)]
pub struct Kept(PathBuf);

impl Kept {
    /// Keeps them below a data folder.
    #[must_use]
    pub fn below(data: &Path) -> Self {
        Self(data.join(FOLDER))
    }

    /// Returns the sessions in which exactly this was asked, the oldest first.
    #[must_use]
    pub fn open(&self, request: &OutsideRequest) -> Vec<SessionId> {
        let begins = format!("{}-", digest_of(request));
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let since = entry.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            if since.elapsed().is_ok_and(|age| age > MAX_AGE) {
                drop(fs::remove_file(entry.path()));
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let session = name.strip_prefix(&begins).and_then(|name| name.parse::<SessionId>().ok());
            found.extend(session.map(|session| (since, session)));
        }
        found.sort();
        found.into_iter().map(|(_, session)| session).collect()
    }

    /// Remembers where something was asked.
    ///
    /// # Errors
    /// Fails where no file can be made.
    pub fn remember(&self, request: &OutsideRequest, session: &SessionId) -> io::Result<()> {
        private_dir(&self.0)?;
        fs::write(self.path(request, session), "")
    }

    /// Forgets it: there is nothing more to come.
    pub fn forget(&self, request: &OutsideRequest, session: &SessionId) {
        drop(fs::remove_file(self.path(request, session)));
    }

    fn path(&self, request: &OutsideRequest, session: &SessionId) -> PathBuf {
        self.0.join(format!("{}-{session}", digest_of(request)))
    }
}

/// Returns what makes two requests the same: who, where, and the exact text; not the reason, which is worded anew each time.
fn digest_of(request: &OutsideRequest) -> String {
    let kind = match request.kind {
        ghost_investigate::event::OutsideKind::Command => "command",
        ghost_investigate::event::OutsideKind::Call => "call",
    };
    let digest = Digest::of_fields([&request.agent, &request.machine, &request.folder, kind, &request.text])
        .to_string();
    digest.chars().take(DIGEST_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::client::tests::request;

    #[test]
    fn only_exactly_the_same_is_found_again() {
        let data = tempfile::tempdir().unwrap();
        let kept = Kept::below(data.path());
        let (asked, session) = (request("touch a"), "ghost-abcdefghjkmn".parse::<SessionId>().unwrap());
        assert_eq!(kept.open(&asked), []);
        kept.remember(&asked, &session).unwrap();
        let again = OutsideRequest { reasoning: "once more".to_owned(), ..asked.clone() };
        assert_eq!(kept.open(&again), std::slice::from_ref(&session));
        for other in [
            request("touch  a"),
            OutsideRequest { folder: "/other".to_owned(), ..asked.clone() },
            OutsideRequest { machine: "m2".to_owned(), ..asked.clone() },
            OutsideRequest { agent: "Codex".to_owned(), ..asked.clone() },
        ] {
            assert_eq!(kept.open(&other), [], "{other:?}");
        }
        kept.forget(&asked, &session);
        assert_eq!(kept.open(&asked), []);
    }
}
