//! The one configuration file, and the only reader of the environment.
//!
//! Goes in: a TOML file that the user names, and a few environment variables. Comes out: one struct a concern, checked.
//! Never: a value that another module reads from the environment by itself, or a configuration that is used although a
//! part of it is wrong.

mod alerts;
mod approval;
mod azure;
mod bot;
mod cloud;
mod clusters;
mod environment;
mod export;
mod file;
mod hook;
mod hosts;
mod log;
mod mcp;
mod meter;
mod mistakes;
mod model;
mod outside;
mod retention;
mod site;
mod ssh;
mod store;
mod telemetry;
mod url;
mod usage;

pub use alerts::AlertSource;
pub use approval::Voters;
pub use approval::{Approval, RequesterMay};
pub use azure::{Azure, Identity as AzureIdentity, SignIn};
pub use bot::{Bot, Channel, Http, People, Scope, Slack, Transport};
pub use cloud::{Cloud, Reader};
pub use clusters::{ClusterEntry, is_context};
pub use environment::{Environment, PlaceError, data_dir};
pub use export::{Export, GitHub, PagerDuty, is_repository};
pub use file::{Anchoring, Sandbox};
pub use file::{Config, ConfigError, ReadError, read_small};
pub use hook::{AskWhom, Hook, ToolRule};
pub use hosts::HostEntry;
pub use log::{Format as LogFormat, Level as LogLevel, Log, WordError};
pub use mcp::{Mcp, McpApprove};
pub use meter::Meter;
pub use model::{Dialect, Limits, Model, Named, OpenAi, Price, Provider, Sign};
pub use outside::{Outside, OutsideCaller};
pub use retention::Retention;
pub use site::Site;
pub use ssh::{Bastion, Ssh};
pub use store::Store;
pub use telemetry::Telemetry;
pub use usage::Usage;
