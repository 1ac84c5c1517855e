//! A text of a guest, in windows.
//!
//! The platform keeps the last 4,096 bytes of what a script prints, and says nothing about the rest. So a script packs what it
//! gathered (gzip, then base64), and prints one window of that with a header: the digest of the packed text, its length, where the
//! window begins. Windows are asked for one after another; each run gathers anew, so that nothing is left on the guest.
//!
//! Goes in: what a script printed. Comes out: the next window to ask for, or the whole text. Never: windows of two texts in one, a
//! text whose digest is not the reported one, more memory than the limit.

mod assembly;
mod section;
mod window;

pub use assembly::{MAX_PACKED_BYTES, MAX_PAYLOAD_BYTES, PayloadError, WindowResult, WindowedPayload, whole};
pub use section::{Section, SectionError, sections};
pub use window::{PayloadWindow, WINDOW, WindowError};
