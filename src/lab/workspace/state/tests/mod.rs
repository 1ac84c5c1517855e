//! Facts about the workspace.

mod chat;
mod install;
mod interaction;
mod place;
mod stage;
mod view;
