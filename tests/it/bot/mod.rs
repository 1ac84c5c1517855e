//! The bot, from the outside.

mod agents;
mod alerts;
mod approve;
mod closing;
mod entry_points;
mod forged;
mod freeze;
mod full;
mod hostile;
mod join;
mod late;
mod ledger;
mod long;
mod measure;
mod outside;
mod people;
mod place;
mod preview;
mod replicas;
mod see;
mod show;
mod stage;
mod strict;
mod talk;
mod trouble;
mod view;
