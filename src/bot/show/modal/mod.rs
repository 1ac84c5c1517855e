//! Dialogs, and what people filled into them.

mod deny;
mod form;
mod investigate;
mod meta;
mod modify;
mod notice;
mod whole;

pub use deny::{Denied, deny_modal, read_deny};
pub use form::FormError;
pub use investigate::{Wanted, investigate_modal, read_investigate};
pub use meta::Meta;
pub use modify::{Modified, Preview, modify_errors, modify_modal, read_modify, typed_command};
pub use notice::notice_modal;
pub use whole::whole_modal;
