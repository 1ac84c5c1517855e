//! Arguments that several inspectors share, and how a guest is reached.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;

use super::inspector::Unfinished;
use crate::event::{Refusal, SessionHost};
use crate::state::State;
use crate::tool::call_replay::CallReplay;
use crate::tool::{CallResult, Site};
use ghost_base::SessionId;
use ghost_cloud::guest::{GuestAccess, HostAccess, Ssh};
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::{GuestProbe, ProbeSpec};
use ghost_cloud::{Name, ResourceGroup};

/// Why arguments are refused.
pub(super) type Refused = Box<CallResult>;

/// The direction of a packet, seen from the machine.
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
    pub(super) const fn as_str(self) -> &'static str {
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
    pub(super) const fn as_str(self) -> &'static str {
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
    Box::new(CallResult::refuse(Refusal::Malformed, reason))
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

/// Returns the resource group, in the subscription that is named. One that the configuration pins is the only one.
pub(super) fn resource_group_within(
    site: &Site,
    group: Option<&str>,
    subscription: Option<&str>,
) -> Result<ResourceGroup, Refused> {
    let found = resource_group(site, group)?;
    let named = some_name("subscription_id", subscription)?;
    match (&found.subscription, named) {
        (Some(pinned), Some(named)) if !pinned.as_str().eq_ignore_ascii_case(named.as_str()) => {
            Err(refuse(format!("subscription_id: only {pinned} may be looked at here; leave it out")))
        }
        (None, Some(named)) => Ok(ResourceGroup { subscription: Some(named), ..found }),
        (Some(_), Some(_)) | (_, None) => Ok(found),
    }
}

/// Returns the resource group: the named one, or the only one of the session.
pub(super) fn resource_group(site: &Site, group: Option<&str>) -> Result<ResourceGroup, Refused> {
    let group = match group {
        Some(text) => name("resource_group", text)?,
        None => site.group.clone().ok_or_else(|| {
            refuse("resource_group is missing, and the configuration names no group; give it")
        })?,
    };
    Ok(ResourceGroup { subscription: site.subscription.clone(), group })
}

/// A guest, and how it may be reached.
#[derive(Debug, Clone)]
pub(super) struct Guest {
    pub(super) machine: Name,
    pub(super) resource_group: Option<ResourceGroup>,
    pub(super) provider: Option<Provider>,
}

fn ssh<'a>(site: &'a Site, machine: &Name) -> Option<&'a Ssh> {
    let known = site.ssh.iter().find(|(name, _)| name.eq_ignore_ascii_case(machine.as_str()));
    known.map(|(_, ssh)| ssh)
}

/// Returns how a session reaches a machine that it names by itself; nothing where it names no such machine, or means this one.
pub(super) fn own_access(state: &State, machine: &Name) -> Option<GuestAccess> {
    let is = |host: &&SessionHost| host.name.eq_ignore_ascii_case(machine.as_str());
    match HostAccess::of_carrier(&state.opened.hosts.iter().find(is)?.carrier)? {
        HostAccess::Ssh(ssh) => Some(GuestAccess::Ssh(ssh)),
        HostAccess::Here => None,
    }
}

impl Guest {
    /// Gathers on the guest: as the session reaches it by itself, else through the platform, else by ssh as the configuration has it.
    pub(super) fn gather_by_any<T: Clone + Send + 'static>(
        &self,
        wanted: &'static ProbeSpec<T>,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<T, Unfinished> {
        let own = own_access(replay.context().state, &self.machine);
        let place = self.resource_group.clone();
        let platform = place.map(|place| GuestAccess::Platform { place, machine: self.machine.clone() });
        let configured = ssh(site, &self.machine).cloned().map(|ssh| GuestAccess::Ssh(Box::new(ssh)));
        let mut failed: Option<Issue> = None;
        for reach in [own, platform, configured].into_iter().flatten() {
            match replay.run(&mut GuestProbe::new(reach, wanted))? {
                Ok(found) => return Ok(found),
                Err(issue) => {
                    failed = Some(match failed {
                        Some(first) => Issue { text: format!("{}; {}", first.text, issue.text), ..first },
                        None => issue,
                    });
                }
            }
        }
        let unknown = || Issue::new(format!("nothing tells how {} is reached", self.machine));
        Err(failed.unwrap_or_else(unknown).into())
    }

    fn reach(&self, state: &State, site: &Site) -> Result<GuestAccess, Issue> {
        let by_ssh = ssh(site, &self.machine).cloned().map(|ssh| GuestAccess::Ssh(Box::new(ssh)));
        let by_platform = || {
            let resource_group = self.resource_group.clone();
            resource_group.map(|place| GuestAccess::Platform { place, machine: self.machine.clone() })
        };
        let found = match self.provider {
            Some(Provider::Ssh) => by_ssh,
            Some(Provider::Azure) => by_platform(),
            None => own_access(state, &self.machine).or_else(by_platform).or(by_ssh),
        };
        found.ok_or_else(|| {
            let (machine, hint) = (&self.machine, "name its resource_group, or use the other provider");
            Issue::hinted(format!("nothing tells how {machine} is reached"), hint)
        })
    }

    /// Gathers on the guest.
    pub(super) fn gather<T: Clone + Send + 'static>(
        &self,
        wanted: &'static ProbeSpec<T>,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<T, Unfinished> {
        self.gather_for(wanted, Vec::new(), site, replay)
    }

    /// The same, with values for what the script is asked.
    pub(super) fn gather_for<T: Clone + Send + 'static>(
        &self,
        wanted: &'static ProbeSpec<T>,
        asked: Vec<(&'static str, String)>,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<T, Unfinished> {
        let reach = self.reach(replay.context().state, site)?;
        let by_platform = matches!(reach, GuestAccess::Platform { .. });
        let gathered = replay.run(&mut GuestProbe::asking(reach, wanted, asked))?;
        gathered.map_err(|mut trouble| {
            // A guest that cuts its own agent off can still be reached from beside.
            if by_platform && ssh(site, &self.machine).is_some() {
                let hint = "call it again with \"provider\":\"ssh\": ssh reaches this machine where the platform's agent does not";
                trouble.hint = Some(trouble.hint.map_or_else(|| hint.to_owned(), |old| format!("{old}; {hint}")));
            }
            Unfinished::Issue(trouble)
        })
    }
}
