//! The workspace as a server: what it holds, where it listens, what it keeps.

mod inner;
mod journal;
mod keep;
mod route;
mod run;

pub(super) use inner::Inner;
pub use run::{ChannelInfo, Settings, Workspace, WorkspaceError};
