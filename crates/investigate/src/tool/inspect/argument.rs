//! Arguments that several inspectors share.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::event::Refusal;
use crate::tool::{Outcome, Site};
use ghost_base::SessionId;
use ghost_cloud::{Name, ResourceGroup};

/// Why arguments are refused.
pub(super) type Refused = Box<Outcome>;

/// Which way a packet goes, seen from the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    /// To the machine.
    #[serde(alias = "Inbound")]
    Inbound,
    /// From the machine.
    #[serde(alias = "Outbound")]
    Outbound,
}

impl Direction {
    /// Returns its word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Inbound => "inbound",
            Self::Outbound => "outbound",
        }
    }
}

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    /// TCP.
    #[serde(alias = "TCP", alias = "Tcp")]
    Tcp,
    /// UDP.
    #[serde(alias = "UDP", alias = "Udp")]
    Udp,
    /// ICMP.
    #[serde(alias = "ICMP", alias = "Icmp")]
    Icmp,
}

impl Protocol {
    /// Returns its word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
        }
    }
}

/// How a guest is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Provider {
    /// By the platform's run-command.
    Azure,
    /// By ssh, as the configuration has it.
    Ssh,
}

/// Refuses arguments.
pub(super) fn refuse(reason: impl Into<String>) -> Refused {
    Box::new(Outcome::refuse(Refusal::Malformed, reason))
}

/// Reads the name of a resource.
pub(super) fn name(argument: &str, text: &str) -> Result<Name, Refused> {
    Name::parse(text).map_err(|error| refuse(format!("{argument}: {error}")))
}

/// Reads an optional name.
pub(super) fn some_name(argument: &str, text: Option<&str>) -> Result<Option<Name>, Refused> {
    text.map(|text| name(argument, text)).transpose()
}

/// Reads an optional address.
pub(super) fn address(argument: &str, text: Option<&str>) -> Result<Option<IpAddr>, Refused> {
    let read = |text: &str| {
        text.parse::<IpAddr>().map_err(|_| {
            refuse(format!(
                "{argument}: {:?} is no address; give one such as 10.0.1.4, without a prefix length",
                cut(text)
            ))
        })
    };
    text.map(read).transpose()
}

/// Reads an optional name of a session.
pub(super) fn session(argument: &str, text: Option<&str>) -> Result<Option<SessionId>, Refused> {
    let read =
        |text: &str| text.parse().map_err(|error| refuse(format!("{argument}: {:?}: {error}", cut(text))));
    text.map(read).transpose()
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Returns where to look, in the subscription that is named. One that the configuration pins is the only one.
pub(super) fn place_within(
    site: &Site,
    group: Option<&str>,
    subscription: Option<&str>,
) -> Result<ResourceGroup, Refused> {
    let found = place(site, group)?;
    let named = some_name("subscription_id", subscription)?;
    match (&found.subscription, named) {
        (Some(pinned), Some(named)) if !pinned.as_str().eq_ignore_ascii_case(named.as_str()) => {
            Err(refuse(format!("subscription_id: only {pinned} may be looked at here; leave it out")))
        }
        (None, Some(named)) => Ok(ResourceGroup { subscription: Some(named), ..found }),
        (Some(_), Some(_)) | (_, None) => Ok(found),
    }
}

/// Returns where to look: the named group, or the only one of the session.
pub(super) fn place(site: &Site, group: Option<&str>) -> Result<ResourceGroup, Refused> {
    let group = match group {
        Some(text) => name("resource_group", text)?,
        None => site.group.clone().ok_or_else(|| {
            refuse("resource_group is missing, and the configuration names no group; give it")
        })?,
    };
    Ok(ResourceGroup { subscription: site.subscription.clone(), group })
}
