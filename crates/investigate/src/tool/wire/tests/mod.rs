//! Facts about the tools that record packets and measure, over made ledgers.

mod captures;
mod cloud;
mod meter;
mod session;
