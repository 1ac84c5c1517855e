//! What went wrong, by what a person can do about it.

use std::time::Duration;

/// Why a post-mortem was not sent, or is not known to have arrived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// It does not fit; nothing was sent.
    #[error("nothing was sent: {0}")]
    TooLong(#[from] ghost_investigate::report::postmortem::TooLong),
    /// The configuration cannot be used; nothing was sent.
    #[error("nothing was sent: {what}")]
    Unusable { what: String },
    /// No connection was made; nothing was sent.
    #[error("{service} cannot be reached, nothing was sent: {why}")]
    Unreachable { service: &'static str, why: String },
    /// It does not take the token.
    #[error("{service} does not accept the token")]
    Unauthorized { service: &'static str },
    /// It takes the token, but not for this.
    #[error("{service} does not allow it with this token: {said}")]
    Forbidden { service: &'static str, said: String },
    /// What should get it is not there, or this token does not see it.
    #[error("{service} knows no {what}, or this token may not see it")]
    NotFound { service: &'static str, what: String },
    /// It takes nothing of this size.
    #[error("{service} says that it is too large")]
    TooLarge { service: &'static str },
    /// It takes nothing more for now.
    #[error("{service} takes nothing more for now{}", after(*.retry_after))]
    Limited { service: &'static str, retry_after: Option<Duration> },
    /// It refuses it.
    #[error("{service} refuses it with status {status}: {said}")]
    Refused { service: &'static str, status: u16, said: String },
    /// It has a fault of its own: whether anything was written is not known.
    #[error("{service} has a fault (status {status}); nobody knows whether it arrived")]
    Faulty { service: &'static str, status: u16 },
    /// The connection ended before there was an answer: whether anything was written is not known.
    #[error("the connection to {service} was cut off; nobody knows whether it arrived: {why}")]
    CutOff { service: &'static str, why: String },
    /// The answer says that it was written, and not where.
    #[error("{service} took it, and its answer cannot be read: {why}")]
    Unreadable { service: &'static str, why: String },
}

fn after(pause: Option<Duration>) -> String {
    pause.map(|pause| format!("; again in {} s", pause.as_secs())).unwrap_or_default()
}

impl SendError {
    /// Says what to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLong(_) => Some("write it with --out, and attach the file"),
            Self::Unusable { .. } | Self::Unreachable { .. } => {
                Some("`ghost config check` shows what is configured")
            }
            Self::Unauthorized { .. } => {
                Some("token_file of the configuration names a file with a token that is valid now")
            }
            Self::Forbidden { .. } => {
                Some("GitHub: the token needs \"Issues: write\"; PagerDuty: a key that is not read-only")
            }
            Self::NotFound { .. } => Some("check the name, and what the token may see"),
            Self::TooLarge { .. } => Some("write it with --out, and attach the file"),
            Self::Limited { .. } => Some("nothing was written; send it again later"),
            Self::Refused { .. } => None,
            Self::Faulty { .. } | Self::CutOff { .. } | Self::Unreadable { .. } => {
                Some("look whether it is there before you send it again")
            }
        }
    }
}
