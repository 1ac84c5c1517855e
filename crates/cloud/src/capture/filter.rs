//! Filters: which packets a capture keeps.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde_json::{Map, Value, json};

/// How many filters a capture takes.
pub(super) const MAX_FILTERS: usize = 10;

/// Packets that fit all that is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    protocol: Option<&'static str>,
    local_ip: Option<String>,
    local_port: Option<String>,
    remote_ip: Option<String>,
    remote_port: Option<String>,
}

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{part}` is no part of a filter: {wanted}")]
pub struct FilterError {
    part: String,
    wanted: &'static str,
}

impl Filter {
    /// Returns what the other end has to keep: what is local here is remote there.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self {
            protocol: self.protocol,
            local_ip: self.remote_ip,
            local_port: self.remote_port,
            remote_ip: self.local_ip,
            remote_port: self.local_port,
        }
    }

    /// Returns the platform's form.
    #[must_use]
    pub fn json(&self) -> Value {
        let parts = [
            ("localIPAddress", &self.local_ip),
            ("localPort", &self.local_port),
            ("remoteIPAddress", &self.remote_ip),
            ("remotePort", &self.remote_port),
        ];
        let mut object = Map::new();
        object.insert("protocol".to_owned(), json!(self.protocol.unwrap_or("Any")));
        for (key, value) in parts {
            if let Some(value) = value {
                object.insert(key.to_owned(), json!(value));
            }
        }
        Value::Object(object)
    }
}

/// Reads `protocol=tcp,local-port=80;443,remote-ip=10.0.0.1-10.0.0.9`: values of the platform, `;` between several.
impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        for part in text.split(',') {
            let wrong = |wanted| FilterError { part: part.chars().take(80).collect(), wanted };
            let keys = "protocol=, local-ip=, local-port=, remote-ip=, remote-port= are, once each";
            let (key, value) = part.split_once('=').ok_or_else(|| wrong(keys))?;
            let slot = match key {
                "protocol" => {
                    let known =
                        ["TCP", "UDP", "Any"].into_iter().find(|known| known.eq_ignore_ascii_case(value));
                    let known = known.ok_or_else(|| wrong("the protocol is tcp, udp or any"))?;
                    if filter.protocol.replace(known).is_some() {
                        return Err(wrong(keys));
                    }
                    continue;
                }
                "local-ip" => &mut filter.local_ip,
                "local-port" => &mut filter.local_port,
                "remote-ip" => &mut filter.remote_ip,
                "remote-port" => &mut filter.remote_port,
                _ => return Err(wrong(keys)),
            };
            let fits = if key.ends_with("ip") { several::<IpAddr>(value) } else { several::<u16>(value) };
            if !fits {
                return Err(wrong("give addresses or ports, ranges as a-b, several with ; between them"));
            }
            if slot.replace(value.to_owned()).is_some() {
                return Err(wrong(keys));
            }
        }
        Ok(filter)
    }
}

/// Prints what is read.
impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "protocol={}", self.protocol.unwrap_or("Any").to_ascii_lowercase())?;
        let parts = [
            ("local-ip", &self.local_ip),
            ("local-port", &self.local_port),
            ("remote-ip", &self.remote_ip),
            ("remote-port", &self.remote_port),
        ];
        parts
            .iter()
            .try_for_each(|(key, value)| value.iter().try_for_each(|value| write!(out, ",{key}={value}")))
    }
}

fn several<T: FromStr + PartialOrd>(value: &str) -> bool {
    value.len() <= 200
        && value.split(';').all(|one| match one.split_once('-') {
            Some((first, last)) => {
                matches!((first.parse::<T>(), last.parse::<T>()), (Ok(first), Ok(last)) if first <= last)
            }
            None => one.parse::<T>().is_ok(),
        })
}

impl serde::Serialize for Filter {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        super::text::serialize(self, out)
    }
}

impl<'de> serde::Deserialize<'de> for Filter {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        super::text::deserialize(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_becomes_the_platforms_form() {
        let filter: Filter = "protocol=tcp,remote-ip=10.0.1.5,remote-port=5001".parse().unwrap();
        let expected = json!({"protocol": "TCP", "remoteIPAddress": "10.0.1.5", "remotePort": "5001"});
        assert_eq!(filter.json(), expected);
        assert_eq!(filter.to_string().parse(), Ok(filter));
    }

    #[test]
    fn the_other_end_keeps_the_same_packets() {
        let filter: Filter =
            "protocol=udp,local-port=53,remote-ip=10.0.0.1-10.0.0.9;10.0.1.1".parse().unwrap();
        assert_eq!(
            filter.clone().mirrored().to_string(),
            "protocol=udp,local-ip=10.0.0.1-10.0.0.9;10.0.1.1,remote-port=53"
        );
        assert_eq!(filter.clone().mirrored().mirrored(), filter);
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for text in [
            "",
            "tcp",
            "protocol=icmp",
            "local-port=70000",
            "local-port=9-1",
            "remote-ip=10.0.0",
            "remote-ip=a'b",
            "local-port=",
            "protocol=tcp,protocol=udp",
            "local-port=1,local-port=2",
            "port=1",
            "remote-ip=10.0.0.9-10.0.0.1",
        ] {
            assert!(text.parse::<Filter>().is_err(), "{text}");
        }
    }
}
