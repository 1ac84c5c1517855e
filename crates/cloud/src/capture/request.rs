//! What is to be captured, where to, and how much: checked before anything is asked of anybody.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::filter::{Filter, MAX_FILTERS};
use super::name::Role;
use super::text;
use crate::line::CaptureLimits;
use crate::{Account, Container, Name, ResourceGroup};

/// How many bytes of each packet are kept unless more is asked for: headers and most of DNS, hardly any payload.
pub const SNAPLEN: u32 = 256;
/// The platform ends every capture after so many seconds.
const MAX_SECONDS: u32 = 18_000;
/// The platform keeps no more of a capture.
const MAX_BYTES: u64 = 0xffff_ffff;

/// Where machines are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The subscription, where it is pinned.
    #[serde(with = "text::option")]
    pub subscription: Option<Name>,
    /// The resource group.
    #[serde(with = "text")]
    pub name: Name,
}

impl Group {
    pub(super) fn place(&self) -> ResourceGroup {
        ResourceGroup { subscription: self.subscription.clone(), group: self.name.clone() }
    }
}

/// Where captures are written to. It comes from the configuration, or from a person; never from a model or a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    #[serde(with = "text")]
    pub account: Account,
    #[serde(with = "text")]
    pub container: Container,
    /// The account's group, where it is not that of the machines.
    #[serde(with = "text::option")]
    pub group: Option<Name>,
}

impl Storage {
    /// Returns where the file of a capture is written to.
    pub(super) fn address(&self, name: &str) -> String {
        format!("https://{}.blob.core.windows.net/{}/{name}.cap", self.account, self.container)
    }
}

/// How much a capture may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How many seconds.
    pub seconds: u32,
    /// How many bytes in all.
    pub bytes: u64,
    /// How many bytes of each packet; 0 is all of it.
    pub snaplen: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 60, bytes: 100_000_000, snaplen: SNAPLEN }
    }
}

/// A checked order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureRequest {
    /// Where the machines are.
    pub group: Group,
    /// One machine, or the source and then the destination.
    pub machines: Vec<String>,
    /// Where it is written to.
    pub storage: Storage,
    /// The folder on this machine that files are fetched into.
    pub folder: String,
    /// How much.
    pub limits: Limits,
    /// Which packets, as seen from the first machine; all of them, if there is no filter.
    pub filters: Vec<Filter>,
}

/// Why an order is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptureRequestError {
    /// There are other than one or two machines.
    #[error("a capture has one machine, or a source and a destination: {0} were named")]
    Machines(usize),
    /// The ends are the same.
    #[error("the source and the destination are the same machine, {0}")]
    Same(String),
    /// A machine's name is none.
    #[error(transparent)]
    Name(#[from] crate::NameError),
    /// The task's id would be no id.
    #[error("`{0}` is too long for an id: name a session of up to 60 characters")]
    Id(String),
    /// A limit is beyond what the platform takes.
    #[error("{what} has to lie between {least} and {most}, and is {given}")]
    Limit {
        what: &'static str,
        least: u64,
        most: u64,
        /// What was given.
        given: u64,
    },
    /// There are too many filters.
    #[error("a capture takes up to {MAX_FILTERS} filters: {0} were given")]
    Filters(usize),
    /// The account that captures are written to is what the investigation is about.
    #[error("{0} is what is being investigated: captures of it cannot be written to it")]
    Subject(String),
    /// The account lies in another group, and nobody says in which subscription.
    #[error("the account {0} lies in another group than the machines, and its subscription is not known")]
    Subscription(String),
}

impl CaptureRequestError {
    /// Says what a person can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Machines(_) => {
                Some("name one machine, or two with a comma between them: source,destination")
            }
            Self::Subject(_) => Some("let the configuration name another account: [capture] storage_account"),
            Self::Subscription(_) => Some("pin the subscription with --subscription"),
            Self::Same(_) | Self::Name(_) | Self::Id(_) | Self::Limit { .. } | Self::Filters(_) => None,
        }
    }
}

impl CaptureRequest {
    /// Checks it against what the platform takes, and against the storage accounts that are being investigated.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(self, subjects: &[String]) -> Result<Self, CaptureRequestError> {
        match self.machines.as_slice() {
            [one] => drop(Name::parse(one)?),
            [source, destination] => {
                drop((Name::parse(source)?, Name::parse(destination)?));
                if source.eq_ignore_ascii_case(destination) {
                    return Err(CaptureRequestError::Same(source.clone()));
                }
            }
            other => return Err(CaptureRequestError::Machines(other.len())),
        }
        let within = |what, given: u64, least: u64, most: u64| {
            let fits = (least..=most).contains(&given);
            if fits { Ok(()) } else { Err(CaptureRequestError::Limit { what, least, most, given }) }
        };
        within("the duration in seconds", self.limits.seconds.into(), 1, MAX_SECONDS.into())?;
        within("the size in bytes", self.limits.bytes, 1_000, MAX_BYTES)?;
        within("the length kept of a packet", self.limits.snaplen.into(), 0, 65_535)?;
        if self.filters.len() > MAX_FILTERS {
            return Err(CaptureRequestError::Filters(self.filters.len()));
        }
        let account = self.storage.account.as_str();
        let mut subjects = subjects.iter().chain(&self.machines);
        if subjects.any(|subject| subject.eq_ignore_ascii_case(account)) {
            return Err(CaptureRequestError::Subject(account.to_owned()));
        }
        if self.is_elsewhere() && self.group.subscription.is_none() {
            return Err(CaptureRequestError::Subscription(account.to_owned()));
        }
        Ok(self)
    }

    /// Returns the roles of the machines, in order.
    pub(super) fn roles(&self) -> &'static [Role] {
        if self.machines.len() == 2 { &[Role::Source, Role::Destination] } else { &[Role::Only] }
    }

    /// Returns where the account is.
    pub(super) fn storage_place(&self) -> ResourceGroup {
        let place = self.group.place();
        ResourceGroup { group: self.storage.group.clone().unwrap_or(place.group), ..place }
    }

    /// Whether the account lies in another group than the machines.
    fn is_elsewhere(&self) -> bool {
        let group = &self.storage.group;
        group.as_ref().is_some_and(|group| !group.as_str().eq_ignore_ascii_case(self.group.name.as_str()))
    }

    /// Returns the account's whole identifier, where its name alone would be looked for in the wrong group.
    pub(super) fn account_id(&self) -> Option<String> {
        let (group, subscription) = (self.storage.group.as_ref()?, self.group.subscription.as_ref()?);
        let account = &self.storage.account;
        let id = format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{account}"
        );
        self.is_elsewhere().then_some(id)
    }

    /// Returns the limits as the platform takes them.
    pub(super) fn cloud_limits(&self) -> CaptureLimits {
        let Limits { seconds, bytes, snaplen } = self.limits;
        CaptureLimits { seconds, bytes, snaplen }
    }

    /// Returns the filters of an end in the platform's form.
    pub(super) fn filters_of(&self, role: Role) -> Option<String> {
        let turned = |filter: &Filter| match role {
            Role::Only | Role::Source => filter.json(),
            Role::Destination => filter.clone().mirrored().json(),
        };
        let all: Vec<Value> = self.filters.iter().map(turned).collect();
        (!all.is_empty()).then(|| Value::Array(all).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(machines: &[&str]) -> CaptureRequest {
        CaptureRequest {
            group: Group { subscription: None, name: Name::parse("rg").unwrap() },
            machines: machines.iter().map(|&name| name.to_owned()).collect(),
            storage: Storage {
                account: Account::parse("nwlogs080613").unwrap(),
                container: Container::parse("captures").unwrap(),
                group: None,
            },
            folder: "/tmp/captures".to_owned(),
            limits: Limits::default(),
            filters: vec!["protocol=tcp,remote-port=5001".parse().unwrap()],
        }
    }

    #[test]
    fn one_machine_or_a_source_and_a_destination() {
        assert!(order(&["a"]).check(&[]).is_ok() && order(&["a", "b"]).check(&[]).is_ok());
        assert_eq!(order(&["a", "A"]).check(&[]), Err(CaptureRequestError::Same("a".to_owned())));
        assert_eq!(order(&[]).check(&[]), Err(CaptureRequestError::Machines(0)));
        assert_eq!(order(&["a", "b", "c"]).check(&[]), Err(CaptureRequestError::Machines(3)));
        assert!(matches!(order(&["a; rm -rf /"]).check(&[]), Err(CaptureRequestError::Name(_))));
    }

    #[test]
    fn what_is_investigated_never_takes_its_own_captures() {
        let error = order(&["a"]).check(&["NWLOGS080613".to_owned()]).unwrap_err();
        assert_eq!(error, CaptureRequestError::Subject("nwlogs080613".to_owned()));
        assert_eq!(order(&["nwlogs080613"]).check(&[]), Err(error));
    }

    #[test]
    fn limits_are_those_of_the_platform() {
        for limits in [
            Limits { seconds: 0, ..Limits::default() },
            Limits { seconds: 18_001, ..Limits::default() },
            Limits { bytes: 0, ..Limits::default() },
            Limits { bytes: 1 << 32, ..Limits::default() },
            Limits { snaplen: 70_000, ..Limits::default() },
        ] {
            assert!(CaptureRequest { limits, ..order(&["a"]) }.check(&[]).is_err(), "{limits:?}");
        }
    }

    #[test]
    fn the_destination_keeps_the_packets_that_the_source_sends() {
        let order = order(&["a", "b"]);
        assert_eq!(order.filters_of(Role::Source).unwrap(), r#"[{"protocol":"TCP","remotePort":"5001"}]"#);
        assert_eq!(
            order.filters_of(Role::Destination).unwrap(),
            r#"[{"localPort":"5001","protocol":"TCP"}]"#
        );
    }

    #[test]
    fn an_account_of_another_group_is_named_in_full() {
        let mut order = order(&["a"]);
        order.storage.group = Some(Name::parse("logs-rg").unwrap());
        assert!(matches!(order.clone().check(&[]), Err(CaptureRequestError::Subscription(_))));
        order.group.subscription = Some(Name::parse("s1").unwrap());
        assert!(order.clone().check(&[]).unwrap().account_id().unwrap().contains("/resourceGroups/logs-rg/"));
        order.storage.group = Some(Name::parse("RG").unwrap());
        assert_eq!(order.check(&[]).unwrap().account_id(), None);
    }
}
