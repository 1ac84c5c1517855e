//! `az storage …`: accounts with their rules, containers and blobs.

mod access;
pub(super) mod account;
pub(super) mod blob;
mod container;
mod shape;
mod transfer;
mod trouble;
mod xml;
