//! Log lines on standard error: how many, and in which form.

use std::io;

use anyhow::Context as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::registry;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::global::Global;
use crate::config::{Config, Environment, Log, LogFormat, LogLevel};

/// Begins to tell. Standard output belongs to the answer.
///
/// A configuration that cannot be used is not this one's to complain about: whoever needs it does.
///
/// The lines of a service begin with their time; those of a command that a person waits for do not.
pub fn begin(global: &Global, is_service: bool) -> anyhow::Result<()> {
    let environment = Environment::read();
    let file = global.config.clone().or_else(|| environment.path("GHOST_CONFIG"));
    let config = file.and_then(|file| Config::load(&file).ok());
    let log = settled(config.map(|config| config.log).unwrap_or_default(), &environment)?;
    let level = match log.level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    // Libraries below tell whole requests where they tell much: they are never asked for more than warnings.
    let filter = Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("ghost", level);
    let plain = fmt::layer().with_writer(io::stderr);
    let layer = match log.format {
        LogFormat::Text if is_service => plain.with_target(false).boxed(),
        LogFormat::Text => plain.without_time().with_target(false).boxed(),
        LogFormat::Json => plain.json().flatten_event(true).with_span_list(false).boxed(),
    };
    registry().with(layer.with_filter(filter)).init();
    Ok(())
}

fn settled(mut log: Log, environment: &Environment) -> anyhow::Result<Log> {
    let said = |name: &str| environment.text(name).filter(|text| !text.is_empty());
    if let Some(word) = said("GHOST_LOG_FORMAT") {
        log.format = word.parse().context("reading $GHOST_LOG_FORMAT")?;
    }
    if let Some(word) = said("GHOST_LOG_LEVEL") {
        log.level = word.parse().context("reading $GHOST_LOG_LEVEL")?;
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_the_file() {
        let file = Log { format: LogFormat::Json, level: LogLevel::Debug };
        assert_eq!(settled(file, &Environment::default()).unwrap(), file);
        let said = [("GHOST_LOG_FORMAT", "text"), ("GHOST_LOG_LEVEL", "")];
        let log = settled(file, &Environment::from(said)).unwrap();
        assert_eq!(log, Log { format: LogFormat::Text, level: LogLevel::Debug });
    }

    #[test]
    fn a_word_that_is_none_is_refused() {
        let said = [("GHOST_LOG_LEVEL", "loud")];
        let error = settled(Log::default(), &Environment::from(said)).unwrap_err();
        assert!(format!("{error:#}").contains("error, warn, info, debug"), "{error:#}");
    }
}
