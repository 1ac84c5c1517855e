//! Complaints, with the flows that they are about.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::Protocol;
use crate::symptom_text::Symptom;

/// One thing that somebody complains about or asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// Its words.
    pub text: String,
    /// What kind of answer it wants.
    pub kind: Kind,
    /// What somebody sees.
    pub symptoms: BTreeSet<Symptom>,
    /// Who says it is not sure that anything is wrong.
    pub is_doubtful: bool,
    /// Somebody asks whether the flows pass, and complains of nothing.
    pub is_question: bool,
    /// The flows that fit its words, each once, in order.
    pub flows: Vec<ComplaintFlow>,
    /// The machines that it names or means, callers and called ones among them.
    pub machines: Vec<String>,
    /// The ports that stand in it.
    pub ports: Vec<Service>,
    /// The resource that it is about, where that is an account.
    pub accounts: Vec<String>,
    /// What it names and nobody here has.
    pub unknown: Vec<UnknownEnd>,
    /// Who calls is named, and is not here: what happens there nobody here can say.
    #[serde(default)]
    pub is_from_stranger: bool,
    /// What is said to work: evidence, and no complaint.
    pub control: Vec<Control>,
    /// The port says that the other end serves.
    pub correction: Option<Correction>,
}

/// What kind of answer a complaint wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something does not work, or may not.
    Trouble,
    /// What is open to whom.
    Exposure,
    /// What changed.
    Drift,
    /// What is left over.
    Leftovers,
}

/// A flow that fits the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComplaintFlow {
    /// Who calls.
    pub source: End,
    /// Who is called.
    pub destination: End,
    pub protocol: Protocol,
    /// The port; `None` where the words name none, and for ICMP.
    pub port: Option<u16>,
}

/// An end of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// A machine here, at one of its addresses.
    Machine {
        name: String,
        address: IpAddr,
        /// How it came to be an end.
        basis: Basis,
    },
    /// An address of nobody here.
    Address(IpAddr),
    /// Anybody on the Internet.
    Internet,
}

impl End {
    /// Returns its address, where it has one.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Machine { address, .. } | Self::Address(address) => Some(*address),
            Self::Internet => None,
        }
    }

    /// Returns its machine, where it is one.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        match self {
            Self::Machine { name, .. } => Some(name),
            Self::Address(_) | Self::Internet => None,
        }
    }

    /// Tells whether the words name exactly this end. Where they do not, it is one of several that fit.
    #[must_use]
    pub fn is_named(&self) -> bool {
        match self {
            Self::Machine { basis, .. } => *basis == Basis::Named,
            Self::Address(_) => true,
            Self::Internet => false,
        }
    }
}

/// How a machine came to be an end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The words name it, or its address.
    Named,
    /// It stands behind a name that the words name.
    Backend,
    /// The words name its role.
    Role,
    /// The words leave it out; the port, the rules or the tiers say who it is.
    Inferred,
}

/// A port with its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Service {
    pub protocol: Protocol,
    /// The port; `None` for ICMP.
    pub port: Option<u16>,
}

/// What is named, and is not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownEnd {
    /// A name that nothing here has.
    Name {
        name: String,
        /// The names here that are like it, the likest first.
        nearest: Vec<String>,
        /// It is a name of the Internet: it is looked for there.
        #[serde(default)]
        is_public: bool,
    },
    /// An address inside that nobody has.
    Address(IpAddr),
}

/// What is said to work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// The words.
    pub text: String,
    /// The ports that work, where they are named.
    pub ports: Vec<Service>,
    /// The machines that it speaks of, where they are named.
    pub machines: Vec<String>,
}

/// The words have a flow the wrong direction; `Complaint::flows` holds the one that the port says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The flows as they are written.
    pub written: Vec<ComplaintFlow>,
    /// Why the other direction is meant.
    pub why: String,
}
