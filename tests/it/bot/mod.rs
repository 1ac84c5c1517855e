//! The bot, from the outside.

#[cfg(feature = "lab")]
mod approve;
#[cfg(feature = "lab")]
mod full;
mod hostile;
mod ledger;
#[cfg(feature = "lab")]
mod people;
#[cfg(all(feature = "lab", feature = "cli"))]
mod replicas;
mod show;
#[cfg(feature = "lab")]
mod stage;
#[cfg(feature = "lab")]
mod talk;
#[cfg(feature = "lab")]
mod trouble;
mod view;
