//! A question about one flow.

use std::net::{IpAddr, SocketAddr};

use super::engine::Engine;
use super::error::AskError;
use super::object::{Name, PortRef, Protocol};

/// A question about one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Who calls.
    pub caller: Caller,
    /// Who is called.
    pub callee: Callee,
    /// The port: its number, or the name that the service has for it.
    pub(super) port: PortRef,
    /// The protocol.
    pub protocol: Protocol,
    /// What enforces policies; read from the pods of the system where it is not said.
    pub engine: Option<Engine>,
    /// The ends as they were written.
    pub(super) written: (String, String),
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// A pod.
    Pod(Name),
    /// An address, as the called pod sees it.
    Address(IpAddr),
}

/// Who is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// A service, or else a pod, of that name.
    Either(Name),
    /// A service.
    Service(Name),
    /// A pod.
    Pod(Name),
    /// An address.
    Address(IpAddr),
}

const CALLER: &str = "NAMESPACE/POD or an address";
const CALLEE: &str =
    "NAMESPACE/NAME:PORT, NAMESPACE/service/NAME:PORT, NAMESPACE/pod/NAME:PORT or ADDRESS:PORT";

impl Question {
    /// Reads the ends of a flow.
    ///
    /// # Errors
    /// Fails where one is written in another form.
    pub fn parse(from: &str, to: &str, protocol: Protocol) -> Result<Self, AskError> {
        let form = |text: &str, expected| AskError::Form { text: text.to_owned(), expected };
        let caller = match from.parse::<IpAddr>() {
            Ok(address) => Caller::Address(address),
            Err(_) => match from.split('/').collect::<Vec<_>>().as_slice() {
                [namespace, "pod", name] | [namespace, name] => {
                    Caller::Pod(named(namespace, name).ok_or_else(|| form(from, CALLER))?)
                }
                _ => return Err(form(from, CALLER)),
            },
        };
        let (callee, port) = match to.parse::<SocketAddr>() {
            Ok(end) if end.port() > 0 => (Callee::Address(end.ip()), PortRef::Number(end.port())),
            Ok(_) => return Err(form(to, CALLEE)),
            Err(_) => callee(to).ok_or_else(|| form(to, CALLEE))?,
        };
        Ok(Self { caller, callee, port, protocol, engine: None, written: (from.to_owned(), to.to_owned()) })
    }

    /// Says what enforces policies.
    #[must_use]
    pub fn enforced_by(self, engine: Option<Engine>) -> Self {
        Self { engine, ..self }
    }
}

fn callee(text: &str) -> Option<(Callee, PortRef)> {
    let (end, port) = text.rsplit_once(':')?;
    let port = match port.parse::<u16>() {
        Ok(0) => return None,
        Ok(number) => PortRef::Number(number),
        Err(_) if port.is_empty() || port.bytes().all(|byte| byte.is_ascii_digit()) => return None,
        Err(_) => PortRef::Name(port.to_owned()),
    };
    let callee = match end.split('/').collect::<Vec<_>>().as_slice() {
        [namespace, "service" | "svc", name] => Callee::Service(named(namespace, name)?),
        [namespace, "pod", name] => Callee::Pod(named(namespace, name)?),
        [namespace, name] => Callee::Either(named(namespace, name)?),
        _ => return None,
    };
    Some((callee, port))
}

fn named(namespace: &str, name: &str) -> Option<Name> {
    let is_name = |text: &str| {
        let is_letter =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || "-.".contains(char);
        !text.is_empty() && text.len() <= 253 && text.chars().all(is_letter)
    };
    (is_name(namespace) && is_name(name))
        .then(|| Name { namespace: namespace.to_owned(), name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_names_or_addresses() {
        let name = || Name { namespace: "shop".to_owned(), name: "db".to_owned() };
        let to =
            |text: &str| Question::parse("shop/web", text, Protocol::Tcp).map(|own| (own.callee, own.port));
        assert_eq!(to("shop/db:5432"), Ok((Callee::Either(name()), PortRef::Number(5432))));
        assert_eq!(to("shop/svc/db:sql"), Ok((Callee::Service(name()), PortRef::Name("sql".to_owned()))));
        assert_eq!(to("shop/pod/db:1"), Ok((Callee::Pod(name()), PortRef::Number(1))));
        assert_eq!(
            to("[fd00::1]:53"),
            Ok((Callee::Address("fd00::1".parse().unwrap()), PortRef::Number(53)))
        );
        for odd in [
            "db:5432",
            "shop/db",
            "shop/db:",
            "shop/db:0",
            "shop/db:70000",
            "10.0.0.1",
            "10.0.0.1:0",
            "a/b/c/d:1",
            "/db:1",
            "shop/d b:1",
        ] {
            assert!(to(odd).is_err(), "{odd}");
        }
        assert!(Question::parse("10.0.0.1", "shop/db:1", Protocol::Udp).is_ok());
        assert!(Question::parse("web", "shop/db:1", Protocol::Udp).is_err());
    }
}
