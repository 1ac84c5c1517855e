//! Facts about the workspace.

mod chat;
mod interaction;
mod place;
mod stage;
mod view;
