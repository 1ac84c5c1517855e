//! Facts about the workspace, without a server.

mod body;
mod chat;
mod install;
mod interaction;
mod keep;
mod later;
mod manage;
mod menu;
mod odd;
mod place;
mod stage;
mod table;
mod view;
mod writing;
