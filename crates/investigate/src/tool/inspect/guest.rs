//! How an inspector reaches a guest.

use super::argument::Provider;
use super::seen::Halt;
use crate::tool::Site;
use crate::tool::errand::Trail;
use ghost_cloud::guest::{GuestAccess, Ssh};
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::{GuestProbe, ProbeSpec};
use ghost_cloud::{Name, ResourceGroup};

/// A guest, and how it may be reached.
#[derive(Debug, Clone)]
pub(super) struct Guest {
    pub(super) machine: Name,
    pub(super) place: Option<ResourceGroup>,
    pub(super) provider: Option<Provider>,
}

fn ssh<'a>(site: &'a Site, machine: &Name) -> Option<&'a Ssh> {
    let known = site.ssh.iter().find(|(name, _)| name.eq_ignore_ascii_case(machine.as_str()));
    known.map(|(_, ssh)| ssh)
}

impl Guest {
    /// Tells whether ssh reaches it.
    pub(super) fn has_ssh(&self, site: &Site) -> bool {
        ssh(site, &self.machine).is_some()
    }

    fn reach(&self, site: &Site) -> Result<GuestAccess, Issue> {
        let by_ssh = ssh(site, &self.machine).cloned().map(|ssh| GuestAccess::Ssh(Box::new(ssh)));
        let by_platform = || {
            let place = self.place.clone();
            place.map(|place| GuestAccess::Platform { place, machine: self.machine.clone() })
        };
        let found = match self.provider {
            Some(Provider::Ssh) => by_ssh,
            Some(Provider::Azure) => by_platform(),
            None => by_platform().or(by_ssh),
        };
        found.ok_or_else(|| {
            let (machine, hint) = (&self.machine, "name its resource_group, or use the other provider");
            Issue::hinted(format!("nothing tells how {machine} is reached that way"), hint)
        })
    }

    /// Gathers on the guest.
    pub(super) fn gather<T: Clone + Send + 'static>(
        &self,
        wanted: &'static ProbeSpec<T>,
        site: &Site,
        trail: &mut Trail<'_, '_>,
    ) -> Result<T, Halt> {
        let reach = self.reach(site)?;
        let by_platform = matches!(reach, GuestAccess::Platform { .. });
        let gathered = trail.carry(&mut GuestProbe::new(reach, wanted))?;
        gathered.map_err(|mut trouble| {
            // A guest that cuts its own agent off can still be reached from beside.
            if by_platform && ssh(site, &self.machine).is_some() {
                let hint = "call it again with \"provider\":\"ssh\": ssh reaches this machine where the platform's agent does not";
                trouble.hint = Some(trouble.hint.map_or_else(|| hint.to_owned(), |old| format!("{old}; {hint}")));
            }
            Halt::Issue(trouble)
        })
    }
}
