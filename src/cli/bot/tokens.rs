//! Tokens: from the environment, else from files that are read again whenever a token is needed.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context as _;

use ghost_base::Secret;
use ghost_slack::web::Tokens;
use ghost_tools::config::read_small;
use ghost_tools::print::Hinted;
use ghost_tools::setup::Setup;

pub(in crate::cli) struct Token {
    fixed: Option<Secret>,
    file: Option<PathBuf>,
    /// What was read last, and what the file was then.
    kept: Mutex<(Option<Seen>, Secret)>,
}

/// What tells one state of a file from another: two changes may bear the same time, and a file that takes the place of another
/// may bear an older one.
#[derive(PartialEq, Eq)]
struct Seen {
    at: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Seen {
    fn of(file: &Path) -> Option<Self> {
        let found = std::fs::metadata(file).ok()?;
        Some(Self { at: found.modified().ok(), length: found.len(), inode: found.ino() })
    }
}

impl Token {
    /// Reads a token for the first time: from the environment, else from its file.
    fn new(setup: &Setup, variable: &str, file: Option<&Path>) -> anyhow::Result<Option<Self>> {
        let fixed = setup
            .environment
            .text(variable)
            .filter(|text| !text.trim().is_empty())
            .map(|text| Secret::new(text.trim()));
        let first = match (&fixed, file) {
            (Some(secret), _) => secret.clone(),
            (None, Some(file)) => read(file)
                .map_err(anyhow::Error::msg)
                .with_context(|| format!("reading {}", file.display()))?,
            (None, None) => return Ok(None),
        };
        let file = file.filter(|_| fixed.is_none()).map(Path::to_owned);
        Ok(Some(Self { fixed, file, kept: Mutex::new((None, first)) }))
    }

    /// Reads a token of a file for the first time.
    pub(in crate::cli) fn of_file(file: &Path) -> anyhow::Result<Self> {
        let first = read(file).map_err(anyhow::Error::msg)?;
        Ok(Self { fixed: None, file: Some(file.to_owned()), kept: Mutex::new((None, first)) })
    }

    /// Returns the token of the present moment. A file that cannot be read for a moment leaves the one before.
    pub(in crate::cli) fn now(&self) -> Secret {
        if let Some(fixed) = &self.fixed {
            return fixed.clone();
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &self.file {
            let changed = Seen::of(file);
            if changed.is_none() || changed != kept.0 {
                match read(file) {
                    Ok(secret) => *kept = (changed, secret),
                    Err(error) => tracing::warn!("token file {} not read: {error}", file.display()),
                }
            }
        }
        kept.1.clone()
    }
}

fn read(file: &Path) -> Result<Secret, String> {
    let text = read_small(file).map_err(|error| error.to_string())?;
    let text = text.trim();
    if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(Secret::new(text)) }
}

/// Says what is wrong where a token is plainly of another kind: Slack's bot tokens begin with `xoxb-`, app-level tokens with `xapp-`.
pub(in crate::cli) fn swapped(variable: &str, token: &Secret) -> Option<String> {
    let (own, other, what, wanted) = match variable {
        "SLACK_BOT_TOKEN" => ("xoxb-", "xapp-", "an app-level token", "the bot token"),
        "SLACK_APP_TOKEN" => ("xapp-", "xoxb-", "a bot token", "the app-level token"),
        _ => return None,
    };
    token.expose().starts_with(other).then(|| {
        format!("{variable} holds {what} ({other}…), and {wanted} ({own}…) is wanted: are the two swapped?")
    })
}

/// Returns a token as it is now: from the environment, else from its file.
pub(in crate::cli) fn found(
    setup: &Setup,
    variable: &str,
    file: Option<&Path>,
) -> anyhow::Result<Option<Secret>> {
    Ok(Token::new(setup, variable, file)?.map(|token| token.now()))
}

/// The tokens of the bot.
pub(super) struct Kept {
    bot: Token,
    app: Option<Token>,
    signing: Option<Token>,
}

impl Kept {
    /// Reads the tokens that the transport needs.
    pub(super) fn new(setup: &Setup) -> anyhow::Result<Self> {
        let slack = &setup.config.slack;
        let missing =
            |what: &str, hint: &str| Hinted::new(anyhow::anyhow!("there is no {what}"), hint.to_owned());
        let bot = Token::new(setup, "SLACK_BOT_TOKEN", slack.bot_token_file.as_deref())?
            .ok_or_else(|| missing("bot token", "set SLACK_BOT_TOKEN, or [slack] bot_token_file"))?;
        let app = Token::new(setup, "SLACK_APP_TOKEN", slack.app_token_file.as_deref())?;
        let signing = Token::new(setup, "SLACK_SIGNING_SECRET", slack.signing_secret_file.as_deref())?;
        let named =
            [("bot token", Some(&bot)), ("app token", app.as_ref()), ("signing secret", signing.as_ref())];
        for (what, token) in named {
            // No header of HTTP can carry it: to try again would not help.
            if token.is_some_and(|token| token.now().expose().contains(char::is_control)) {
                return Err(missing(what, "the text that was given as such holds a control character").into());
            }
        }
        let kinds = [("SLACK_BOT_TOKEN", Some(&bot)), ("SLACK_APP_TOKEN", app.as_ref())];
        let wrong: Vec<String> =
            kinds.into_iter().filter_map(|(variable, token)| swapped(variable, &token?.now())).collect();
        if !wrong.is_empty() {
            let error = anyhow::anyhow!("{}", wrong.join("; "));
            return Err(Hinted::new(error, "give each of SLACK_BOT_TOKEN and SLACK_APP_TOKEN its own").into());
        }
        match slack.transport {
            ghost_tools::config::Transport::Socket if app.is_none() => {
                Err(missing("app token", "set SLACK_APP_TOKEN, or [slack] app_token_file").into())
            }
            ghost_tools::config::Transport::Http if signing.is_none() => {
                Err(missing("signing secret", "set SLACK_SIGNING_SECRET, or [slack] signing_secret_file")
                    .into())
            }
            ghost_tools::config::Transport::Socket | ghost_tools::config::Transport::Http => {
                Ok(Self { bot, app, signing })
            }
        }
    }

    /// Returns the signing secret; empty where there is none, which no signature fits.
    pub(super) fn signing(&self) -> Secret {
        self.signing.as_ref().map_or_else(|| Secret::new(""), Token::now)
    }
}

impl Tokens for Kept {
    fn bot(&self) -> Secret {
        self.bot.now()
    }

    fn app(&self) -> Secret {
        self.app.as_ref().map_or_else(|| Secret::new(""), Token::now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_is_read_again_and_one_that_is_gone_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let (first, second) = (Secret::new("xoxb-first"), Secret::new("xoxb-second"));
        std::fs::write(&file, "xoxb-first\n").unwrap();
        let token = Token { fixed: None, file: Some(file.clone()), kept: Mutex::new((None, first.clone())) };
        assert_eq!(token.now(), first);
        // As editors and kubelets do it: another file takes its place.
        std::fs::write(folder.path().join("new"), "xoxb-second").unwrap();
        std::fs::rename(folder.path().join("new"), &file).unwrap();
        assert_eq!(token.now(), second);
        for spoiled in ["", " \n"] {
            std::fs::write(&file, spoiled).unwrap();
            assert_eq!(token.now(), second);
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(token.now(), second);
        std::fs::write(&file, "xoxb-first").unwrap();
        assert_eq!(token.now(), first);
    }
}
