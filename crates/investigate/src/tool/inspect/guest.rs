//! How an inspector reaches a guest.

use super::argument::Provider;
use super::seen::Halt;
use crate::tool::Site;
use crate::tool::errand::Trail;
use ghost_cloud::errand::Trouble;
use ghost_cloud::guest::{Reach, Ssh};
use ghost_cloud::probe::{Gathering, Wanted};
use ghost_cloud::{Name, Place};

/// A guest, and how it may be reached.
#[derive(Debug, Clone)]
pub(super) struct Guest {
    pub(super) machine: Name,
    pub(super) place: Option<Place>,
    pub(super) provider: Option<Provider>,
}

fn ssh<'a>(site: &'a Site, machine: &Name) -> Option<&'a Ssh> {
    let known = site.ssh.iter().find(|(name, _)| name.eq_ignore_ascii_case(machine.as_str()));
    known.map(|(_, ssh)| ssh)
}

impl Guest {
    fn reach(&self, site: &Site) -> Result<Reach, Trouble> {
        let by_ssh = ssh(site, &self.machine).cloned().map(|ssh| Reach::Ssh(Box::new(ssh)));
        let by_platform = || {
            let place = self.place.clone();
            place.map(|place| Reach::Platform { place, machine: self.machine.clone() })
        };
        let found = match self.provider {
            Some(Provider::Ssh) => by_ssh,
            Some(Provider::Azure) => by_platform(),
            None => by_platform().or(by_ssh),
        };
        found.ok_or_else(|| {
            let (machine, hint) = (&self.machine, "name its resource_group, or use the other provider");
            Trouble::hinted(format!("nothing tells how {machine} is reached that way"), hint)
        })
    }

    /// Gathers on the guest.
    pub(super) fn gather<T: Clone + Send + 'static>(
        &self,
        wanted: &'static Wanted<T>,
        site: &Site,
        trail: &mut Trail<'_, '_>,
    ) -> Result<T, Halt> {
        let reach = self.reach(site)?;
        let by_platform = matches!(reach, Reach::Platform { .. });
        let gathered = trail.carry(&mut Gathering::new(reach, wanted))?;
        gathered.map_err(|mut trouble| {
            // A guest that cuts its own agent off can still be reached from beside.
            if by_platform && ssh(site, &self.machine).is_some() {
                let hint = "call it again with \"provider\":\"ssh\": ssh reaches this machine where the platform's agent does not";
                trouble.hint = Some(trouble.hint.map_or_else(|| hint.to_owned(), |old| format!("{old}; {hint}")));
            }
            Halt::Trouble(trouble)
        })
    }
}
