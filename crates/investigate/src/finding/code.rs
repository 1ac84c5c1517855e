//! Codes of faults, as records and documents hold them.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::fault::Fault;

/// The code of a fault, as records and documents hold it. One of a later version is kept as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FaultCode {
    Known(Fault),
    Unknown(String),
}

impl FaultCode {
    /// Returns the fault, unless a later version named it.
    #[must_use]
    pub const fn fault(&self) -> Option<Fault> {
        match self {
            Self::Known(fault) => Some(*fault),
            Self::Unknown(_) => None,
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(fault) => fault.as_str(),
            Self::Unknown(code) => code,
        }
    }
}

impl From<Fault> for FaultCode {
    fn from(fault: Fault) -> Self {
        Self::Known(fault)
    }
}

impl From<String> for FaultCode {
    fn from(code: String) -> Self {
        code.parse().map_or(Self::Unknown(code), Self::Known)
    }
}

impl From<&str> for FaultCode {
    fn from(code: &str) -> Self {
        code.to_owned().into()
    }
}

impl From<FaultCode> for String {
    fn from(code: FaultCode) -> Self {
        match code {
            FaultCode::Known(fault) => fault.as_str().to_owned(),
            FaultCode::Unknown(code) => code,
        }
    }
}

impl Deref for FaultCode {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for FaultCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl PartialEq<str> for FaultCode {
    fn eq(&self, code: &str) -> bool {
        self.as_str() == code
    }
}

impl PartialEq<&str> for FaultCode {
    fn eq(&self, code: &&str) -> bool {
        self.as_str() == *code
    }
}

impl PartialEq<Fault> for FaultCode {
    fn eq(&self, fault: &Fault) -> bool {
        self.fault() == Some(*fault)
    }
}

/// Faults stand in the order of their codes.
impl Ord for FaultCode {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for FaultCode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
