//! Calls of the Web API.
//!
//! Goes in: what is to be said, shown or asked. Comes out: the names of what stands, or a typed error. Never: a call without a
//! time limit; a token in an error or a log; a call that is given up because Slack said 429.

mod agent;
mod call;
mod error;
mod file;
mod granted;
mod message;
mod people;
mod read;
mod refusal;
mod stream;
mod tls;
mod view;

pub use agent::{Prompt, SessionState};
pub use call::{CallObserver, Settings, Web};
pub use error::CallError;
pub use file::{Shared, Upload};
pub use granted::{FileError, FixedTokens, Granted, Tokens};
pub use message::{Address, Message, Posted, Response, UpdateOutcome};
pub use people::{Group, Identity, Profile};
pub use read::{Conversation, Page};
pub use refusal::{PLANS, Plan, plan};
pub use stream::{Streamed, StreamedTask};
pub use tls::{Roots, RootsError};
pub use view::Shape;
