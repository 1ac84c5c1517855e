//! The documents that a judgement stands on, and how dear each of them is to read.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page::PageQuestion;
use super::place::Place;

/// What was read of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Reading {
    /// Its text; nothing is a text too.
    Text(String),
    /// Why it could not be read.
    Failed {
        /// The words of whoever tried.
        error: String,
    },
}

impl<'de> Deserialize<'de> for Reading {
    /// Takes a text, an object with `error` alone, or any other JSON value as the text that it was printed as.
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(from)? {
            Value::String(text) => Self::Text(text),
            Value::Null => Self::Failed { error: "nothing was gathered".to_owned() },
            Value::Object(map) if map.len() == 1 && map.get("error").is_some_and(Value::is_string) => {
                let error = map.get("error").and_then(Value::as_str).unwrap_or_default().to_owned();
                Self::Failed { error }
            }
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Self::Text(other.to_string())
            }
        })
    }
}

/// Something that was read, or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Known<T> {
    /// It was read.
    Read(T),
    /// Nobody tried.
    #[default]
    Absent,
    /// It could not be read, and why.
    Failed(String),
}

impl<T> Known<T> {
    /// Returns what was read.
    #[must_use]
    pub const fn read(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Absent | Self::Failed(_) => None,
        }
    }

    /// Says why it is not known.
    #[must_use]
    pub fn why_not(&self) -> String {
        match self {
            Self::Read(_) => "it was read".to_owned(),
            Self::Absent => "it was not read".to_owned(),
            Self::Failed(why) => format!("it could not be read: {why}"),
        }
    }

    /// Reads a text, where there is one.
    pub(super) fn of(reading: Option<&Reading>, parse: impl FnOnce(&str) -> Result<T, String>) -> Self {
        match reading {
            None => Self::Absent,
            Some(Reading::Failed { error }) => Self::Failed(error.clone()),
            Some(Reading::Text(text)) => parse(text).map_or_else(Self::Failed, Self::Read),
        }
    }
}

/// A document of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuestDocument {
    /// Its listening sockets.
    Sockets,
    /// Its packet filter.
    Filters,
    /// Its routes.
    Routes,
    /// Its addresses.
    Addresses,
    /// Its kernel settings.
    Settings,
    /// The shaping of its devices.
    Shaping,
    /// What its name servers answer.
    Answers,
}

/// Something that can be read, the cheapest and least intrusive first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Document {
    /// The network interfaces of the estate.
    Interfaces,
    /// Its networks, with subnets and peerings.
    Networks,
    /// Its machines.
    Machines,
    /// The route tables and security groups as they are configured.
    Configuration,
    /// Another resource group, with networks, interfaces, machines, groups and tables.
    Place(Place),
    /// Its load balancers and managed appliances.
    Frontends,
    /// Its bastion hosts.
    Bastions,
    /// Its Kubernetes clusters.
    Clusters,
    /// The firewalls of the platform, with policies and rules.
    Firewalls,
    /// Private endpoints, and private zones of names.
    Names,
    /// NAT gateways, and how often calls to the internet found no free port.
    Outbound,
    /// Gateways to other sites, with connections and what they learned.
    Gateways,
    /// The service tags.
    Tags,
    /// The effective routes of a network interface.
    Routes {
        /// The network interface.
        nic: String,
    },
    /// The effective rules of a network interface.
    Rules {
        /// The network interface.
        nic: String,
    },
    /// Something of a guest.
    Guest {
        /// The machine.
        machine: String,
        /// What.
        document: GuestDocument,
    },
    /// What a machine answers where the probe of a load balancer asks for a page.
    Page {
        /// The machine.
        machine: String,
        /// The question.
        question: PageQuestion,
    },
    /// What an application gateway says of the servers behind it.
    Health {
        /// The gateway.
        gateway: String,
    },
    /// Whether a machine runs.
    Power {
        /// The machine.
        machine: String,
    },
    /// How the platform sees a machine.
    Availability {
        /// The machine.
        machine: String,
    },
    /// The events of the platform.
    Events,
    /// The flow logs of networks.
    FlowLogs,
    /// Whether somebody outside answers.
    Probe {
        /// Who, and where.
        what: String,
    },
    /// The packets themselves.
    Packets {
        /// Where they pass.
        machine: String,
    },
}

impl fmt::Display for Document {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interfaces => out.write_str("the network interfaces"),
            Self::Networks => out.write_str("the networks and their peerings"),
            Self::Machines => out.write_str("the machines"),
            Self::Configuration => out.write_str("the configured route tables and security groups"),
            Self::Place(place) => write!(out, "{place}"),
            Self::Frontends => out.write_str("the load balancers and managed appliances"),
            Self::Bastions => out.write_str("the bastion hosts"),
            Self::Clusters => out.write_str("the clusters"),
            Self::Firewalls => out.write_str("the firewalls with their rules"),
            Self::Names => out.write_str("the private endpoints and the private zones of names"),
            Self::Outbound => out.write_str("the NAT gateways and their failed connections"),
            Self::Gateways => out.write_str("the gateways with their connections"),
            Self::Tags => out.write_str("the service tags"),
            Self::Routes { nic } => write!(out, "the effective routes of {nic}"),
            Self::Rules { nic } => write!(out, "the effective security rules of {nic}"),
            Self::Guest { machine, document } => {
                let what = match document {
                    GuestDocument::Sockets => "listening sockets",
                    GuestDocument::Filters => "packet filter",
                    GuestDocument::Routes => "routes",
                    GuestDocument::Addresses => "addresses",
                    GuestDocument::Settings => "kernel settings",
                    GuestDocument::Shaping => "traffic shaping",
                    GuestDocument::Answers => "answers that name servers give",
                };
                write!(out, "the {what} of {machine}")
            }
            Self::Page { machine, question } => write!(out, "what {machine} answers to {question}"),
            Self::Health { gateway } => write!(out, "what {gateway} says of its servers"),
            Self::Power { machine } => write!(out, "whether {machine} runs"),
            Self::Availability { machine } => write!(out, "what the platform says of {machine}"),
            Self::Events => out.write_str("the events of the platform"),
            Self::FlowLogs => out.write_str("the flow logs"),
            Self::Probe { what } => write!(out, "whether {what} answers"),
            Self::Packets { machine } => write!(out, "the packets at {machine}"),
        }
    }
}

impl Serialize for Document {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Something that would have to be known, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    /// What to read.
    pub what: Document,
    /// What it would decide, and why it is not known.
    pub why: String,
}
