//! What a person does, as plain HTTP below `/lab/`: for the page, for tests, for anybody's script.

mod act;
mod demo;
mod events;
mod talk;
mod trouble;

pub(super) use act::{act, documentation, fidelity, file, look, upload};
pub(super) use demo::{demo, demo_state};
pub(super) use events::events;
pub(super) use talk::{close, command, options, press, shortcut, submit};
pub(super) use trouble::{app, fault};
