//! The names that a request is sent to: looked up before it runs, judged, and not looked up again.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use tokio::time::Instant;

use super::record::Case;
use super::run::Shell;
use crate::judge::{Lookup, RequestTarget};
use crate::{Impact, Policy, Profile, Ruling, Setting, Socket, Verdict};

/// How long a command may wait for name servers: as long as two questions to one that is dead, and one to the next.
const NAME_LOOKUP_TIMEOUT: Duration = Duration::from_secs(15);

/// Tells whether a proxy resolves names for web requests.
pub(super) fn is_proxied(setting: &Setting) -> bool {
    const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];
    PROXIES.iter().any(|name| setting.environment.contains_key(*name))
}

/// Why a SAFE command does not run unasked.
enum LookupObjection {
    /// It asks, for this reason.
    Asks(String),
    /// The same request, with the address said, never runs.
    Never(Box<Ruling>),
}

/// Says how long the look-up took, to whoever measures where the time of a request goes.
pub(super) fn about_times(case: &Case, took: Duration) -> Option<String> {
    let held = case.ruling.profiles().iter().any(|profile| !profile.pins.is_empty());
    (held && case.command.contains("time_")).then(|| {
        format!(
            "names were looked up before it ran, in {} ms; its own times do not hold that",
            took.as_millis()
        )
    })
}

impl Shell {
    /// Resolves, once for all readers, the names that the requests of a SAFE command would look up: a name that leads to a metadata service is
    /// judged as its address would be, and any other one is held to what was found.
    pub(super) async fn resolve_names(&self, mut ruling: Ruling) -> Ruling {
        // What was recorded asks nobody.
        if ruling.verdict != Verdict::Safe || !self.runner.starts_processes() {
            return ruling;
        }
        let end = Instant::now() + NAME_LOOKUP_TIMEOUT.min(self.setting.limits.timeout);
        let mut objection = None;
        match (&mut ruling.list, &ruling.argv) {
            (Some(list), _) => {
                for (argv, profile) in list.profiles_mut() {
                    let held = self.hold_to_found(argv, profile, end).await;
                    objection = objection.or(held.err());
                }
            }
            (None, Some(argv)) => objection = self.hold_to_found(argv, &mut ruling.profile, end).await.err(),
            (None, None) => {}
        }
        match objection {
            None => ruling,
            Some(LookupObjection::Never(never)) => *never,
            Some(LookupObjection::Asks(why)) => Ruling {
                verdict: Verdict::Risky,
                rule: Ruling::NAME_LOOKUP.into(),
                reason: why.into(),
                impact: Some(Impact::Change),
                ..ruling
            },
        }
    }

    async fn hold_to_found(
        &self,
        argv: &[String],
        profile: &mut Profile,
        end: Instant,
    ) -> Result<(), LookupObjection> {
        let Some(requests) = self.policy.requests(argv) else { return Ok(()) };
        let requests = requests.map_err(LookupObjection::Asks)?;
        for asked in &requests.asked {
            match self.policy.found(asked, &requests, &addresses(asked, end).await) {
                Lookup::At(pin) => profile.pins.push(pin),
                Lookup::Nowhere if is_proxied(&self.setting) => {}
                // It says so itself, and asks nobody who could know better a moment later.
                Lookup::Nowhere => {
                    let others = profile.sockets.iter().copied().filter(|kind| *kind != Socket::Datagram);
                    profile.sockets = others.collect::<Vec<_>>().into();
                }
                Lookup::Metadata { pin, why } => {
                    let pinned = self.policy.classify(&Policy::pinned_argv(argv, &pin));
                    let never = pinned.verdict == Verdict::Blocked;
                    return Err(if never {
                        LookupObjection::Never(Box::new(pinned))
                    } else {
                        LookupObjection::Asks(why)
                    });
                }
            }
        }
        Ok(())
    }
}

/// Resolves a name; one that takes too long does not exist.
async fn addresses(asked: &RequestTarget, end: Instant) -> Vec<SocketAddr> {
    let (host, port) = (asked.host.clone(), asked.port);
    let found = tokio::task::spawn_blocking(move || {
        (host.as_str(), port).to_socket_addrs().map(Iterator::collect).unwrap_or_default()
    });
    tokio::time::timeout_at(end, found).await.ok().and_then(Result::ok).unwrap_or_default()
}
