//! The bot, from the outside.

mod hostile;
mod ledger;
mod show;
mod view;
