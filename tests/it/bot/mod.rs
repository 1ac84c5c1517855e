//! The bot, from the outside.

#[cfg(feature = "lab")]
mod approve;
#[cfg(feature = "lab")]
mod freeze;
mod hostile;
mod ledger;
#[cfg(feature = "lab")]
mod measure;
#[cfg(feature = "lab")]
mod people;
mod show;
#[cfg(feature = "lab")]
mod stage;
#[cfg(feature = "lab")]
mod talk;
#[cfg(feature = "lab")]
mod trouble;
mod view;
