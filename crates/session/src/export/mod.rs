//! One session as a text that stands by itself, and back.
//!
//! Goes in: a session of a store, its evidence and its audit; or such a text. Comes out: the text; or the session in another
//! store. Never: anything else of the machine; a session half there; a file under a name that is no digest.
//!
//! # The text
//! JSON lines. The first is the header, `{"export":1,"session":…,"version":…,"events":N,"head":…,"evidence":N,"audit":N}`:
//! how many lines of each kind follow, and the hash of the last event. Then the lines of the ledger byte for byte, then the
//! texts that its observations name, `{"evidence":DIGEST,"text":…}`, then the audit file, `{"audit":LINE}`. A long text
//! is several lines: those of one digest belong together, and a part of the audit with `"more":true` has no line end
//! behind it. Bytes of the audit that are no text stand as `{"audit_hex":…}`.

mod gather;
mod import;
mod read;
mod verify;
mod write;

pub use gather::{ExportError, export};
pub use import::{AuditFate, ImportError, Imported, import};
pub use read::{ReadError, read};
pub use verify::Unsound;
pub use write::{Export, Header};
