//! A filter for one address, or one of its ports.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// What lists are narrowed to; counts and findings stay those of the whole capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressFilter {
    address: IpAddr,
    port: Option<u16>,
}

impl AddressFilter {
    /// Tells whether an end is meant.
    #[must_use]
    pub fn meets(self, end: SocketAddr) -> bool {
        self.is(end.ip()) && self.port.is_none_or(|port| port == end.port())
    }

    /// Tells whether an address is meant, whatever the port.
    #[must_use]
    pub fn is(self, address: IpAddr) -> bool {
        self.address == address
    }
}

/// It is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an address is expected, with or without a port: 10.0.0.9, 10.0.0.9:443, [2001:db8::9]:443")]
pub struct AddressFilterError;

impl FromStr for AddressFilter {
    type Err = AddressFilterError;

    fn from_str(text: &str) -> Result<Self, AddressFilterError> {
        if let Ok(address) = text.trim_start_matches('[').trim_end_matches(']').parse() {
            return Ok(Self { address, port: None });
        }
        let end: SocketAddr = text.parse().map_err(|_| AddressFilterError)?;
        Ok(Self { address: end.ip(), port: Some(end.port()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_means_all_its_ports_and_a_port_only_itself() {
        let end = |text: &str| text.parse::<SocketAddr>().unwrap();
        let address: AddressFilter = "10.0.0.9".parse().unwrap();
        assert!(address.meets(end("10.0.0.9:443")) && !address.meets(end("10.0.0.8:443")));
        let port: AddressFilter = "[2001:db8::9]:443".parse().unwrap();
        assert!(port.meets(end("[2001:db8::9]:443")) && !port.meets(end("[2001:db8::9]:80")));
        assert!("[2001:db8::9]".parse::<AddressFilter>().is_ok());
        assert_eq!("web-1:443".parse::<AddressFilter>(), Err(AddressFilterError));
    }
}
