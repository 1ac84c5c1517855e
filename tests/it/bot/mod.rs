//! The bot, from the outside.

#[cfg(feature = "lab")]
mod approve;
#[cfg(feature = "lab")]
mod closing;
#[cfg(feature = "lab")]
mod forged;
#[cfg(feature = "lab")]
mod freeze;
#[cfg(feature = "lab")]
mod full;
mod hostile;
#[cfg(feature = "lab")]
mod join;
#[cfg(feature = "lab")]
mod late;
mod ledger;
#[cfg(feature = "lab")]
mod long;
#[cfg(feature = "lab")]
mod measure;
#[cfg(feature = "lab")]
mod people;
#[cfg(feature = "lab")]
mod place;
#[cfg(all(feature = "lab", feature = "cli"))]
mod replicas;
#[cfg(feature = "lab")]
mod see;
mod show;
#[cfg(feature = "lab")]
mod stage;
#[cfg(feature = "lab")]
mod strict;
#[cfg(feature = "lab")]
mod talk;
#[cfg(feature = "lab")]
mod trouble;
mod view;
#[cfg(feature = "lab")]
mod ways;
