//! Who owns which address on a link: ARP, and neighbor discovery of `IPv6`.

mod said;
mod tally;
#[cfg(test)]
mod tests;

pub(super) use said::{At, Said};
pub(super) use tally::{Address, Tally};
