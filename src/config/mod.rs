//! The one configuration file, and the only reader of the environment.
//!
//! Goes in: a TOML file that the user names, and a few environment variables. Comes out: one struct a concern, checked.
//! Never: a value that another room reads from the environment by itself, or a configuration that is used although a
//! part of it is wrong.

#[cfg(feature = "session")]
mod approval;
#[cfg(feature = "cloud")]
mod azure;
#[cfg(feature = "bot")]
mod bot;
mod environment;
mod file;
mod log;
#[cfg(feature = "measure")]
mod meter;
#[cfg(feature = "session")]
mod model;
mod place;
#[cfg(feature = "session")]
mod retention;
#[cfg(feature = "shell")]
mod ssh;
#[cfg(feature = "store")]
mod store;

#[cfg(feature = "bot")]
pub use approval::Voters;
#[cfg(feature = "session")]
pub use approval::{Approval, RequesterMay};
#[cfg(feature = "cloud")]
pub use azure::{Azure, Identity as AzureIdentity, SignIn};
#[cfg(feature = "bot")]
pub use bot::{Bot, Channel, Http, People, Scope, Slack, Transport};
pub use environment::Environment;
#[cfg(feature = "shell")]
pub use file::{Anchoring, Sandbox};
pub use file::{Config, ConfigError, read_small};
pub use log::{Format as LogFormat, Level as LogLevel, Log, WordError};
#[cfg(feature = "measure")]
pub use meter::Meter;
#[cfg(feature = "session")]
pub use model::{Dialect, Limits, Model, Named, OpenAi, Price, Provider, Sign};
pub use place::{PlaceError, data_dir};
#[cfg(feature = "session")]
pub use retention::Retention;
#[cfg(feature = "shell")]
pub use ssh::{Bastion, Ssh};
#[cfg(feature = "store")]
pub use store::Store;
