//! `[log]`: log lines on standard error.

use std::str::FromStr;

use serde::Deserialize;

/// `[log]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `text` or `json`; `$GHOST_LOG_FORMAT` wins over it.
    pub format: Format,
    /// `error`, `warn`, `info` or `debug`; `warn` unless said. `$GHOST_LOG_LEVEL` wins over it.
    pub level: Level,
}

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The least level that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What somebody has to do something about.
    Error,
    /// And what may become that.
    #[default]
    Warn,
    /// And a line for each arrival.
    Info,
    /// And what helps to find a mistake of ours.
    Debug,
}

/// The word is none of those that there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is none of {known}")]
pub struct WordError {
    word: String,
    known: &'static str,
}

impl FromStr for Format {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(WordError { word: text.to_owned(), known: "text, json" }),
        }
    }
}

impl FromStr for Level {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        match text {
            "error" => Ok(Self::Error),
            "warn" => Ok(Self::Warn),
            "info" => Ok(Self::Info),
            "debug" => Ok(Self::Debug),
            _ => Err(WordError { word: text.to_owned(), known: "error, warn, info, debug" }),
        }
    }
}
