//! Sessions that outlive a process: ledgers, inboxes, leases, approvals and the line of waiting work.
//!
//! Goes in: lines of text that this crate does not read, under a session's name. Comes out: the same lines, in order, and who
//! may write the next. Never: a line half written, a line of a stale owner, an approval decided twice.
//!
//! ```
//! use ghost_store::{Delivered, Dispatch, EmbeddedStore, Inbox, Leases, Ledger, Settings};
//! use std::time::Duration;
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let data = tempfile::tempdir()?;
//! let store = EmbeddedStore::open(&data.path().join("store.redb"), Settings::default())?;
//! assert_eq!(store.deliver(&"s1".parse()?, "event-7", "hello").await?, Delivered::New);
//! let session = store.next_work("worker-a", Duration::ZERO).await?.ok_or("no work")?;
//! let lease = store.acquire(&session, "worker-a", Duration::from_secs(30)).await?.ok_or("taken")?;
//! assert_eq!(store.append(&lease, 0, &["opened".to_owned()], 1).await?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - An append is one step with the expected length, the owner's epoch and the inbox items that it used up. A lease that ended
//!   writes nothing, even if nobody took the session over. An epoch is never given twice.
//! - What was delivered stays in the inbox until an append used it up, and is delivered once however often it is sent.
//! - An approval leaves `Pending` once. The step that moves it also tells the session's inbox.
//! - [`StoreError::Unavailable`] means *nobody knows*: the write may have happened. Every call can be repeated: a delivery is
//!   then [`Delivered::Seen`], an append [`StoreError::LengthMismatch`], a vote [`Outcome::AlreadyDecided`] with `repeated`.
//! - A claim is one step with the value that it replaces: of all who expect the same, one sets it.
//! - A session comes up for work while its inbox holds something, or where its owner went away without releasing it.
//!
//! # Why two places in Redis
//! All keys of a session carry its name as hash tag, so that each script stays in one slot of a cluster. What spans sessions
//! (the line of work, the list of names) lives under a tag of its own and is only ever an index: the truth is the inbox and the
//! lease of the session. The index is marked before and after the session is written, and a worker that finds an entry without
//! work removes it only if nobody marked it meanwhile. A crash between the two leaves an entry too many, never one too few.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod approval;
mod durability;
mod embedded;
mod error;
mod port;
mod redis;
mod settings;

pub use self::redis::{RedisConfig, Store as RedisStore};
pub use approval::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Choice, Consumed, Opened, Outcome, Vote,
};
pub use durability::DurabilityGap;
pub use embedded::Store as EmbeddedStore;
pub use error::{StoreError, WriteRefusal};
pub use port::{
    Approvals, Backlog, Claimed, Claims, Delivered, Dispatch, Inbox, Item, Lease, Leases, Ledger, Notice,
    SharedState, Store,
};
pub use settings::{MAX_LINE_BYTES, Settings};
