//! The scripts. Each touches keys of one slot only, all of them named by the caller.

use redis::Script;

/// All scripts, digested once.
pub(super) struct Scripts {
    pub(super) append: Script,
    pub(super) acquire: Script,
    pub(super) renew: Script,
    pub(super) release: Script,
    pub(super) hand_over: Script,
    pub(super) deliver: Script,
    pub(super) change: Script,
    pub(super) erase: Script,
    pub(super) peek: Script,
    pub(super) mark: Script,
    pub(super) note: Script,
    pub(super) claim: Script,
    pub(super) name: Script,
    pub(super) settle: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            append: Script::new(include_str!("script/append.lua")),
            acquire: Script::new(include_str!("script/acquire.lua")),
            renew: Script::new(include_str!("script/renew.lua")),
            release: Script::new(include_str!("script/release.lua")),
            hand_over: Script::new(include_str!("script/hand_over.lua")),
            deliver: Script::new(include_str!("script/deliver.lua")),
            change: Script::new(include_str!("script/change.lua")),
            erase: Script::new(include_str!("script/erase.lua")),
            peek: Script::new(include_str!("script/peek.lua")),
            mark: Script::new(include_str!("script/mark.lua")),
            note: Script::new(include_str!("script/note.lua")),
            claim: Script::new(include_str!("script/claim.lua")),
            name: Script::new(include_str!("script/name.lua")),
            settle: Script::new(include_str!("script/settle.lua")),
        }
    }
}
