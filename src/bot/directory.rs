//! Who people are, asked of Slack when it matters.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::bot::{AccessError, Groups, Person};
use ghost_slack::pace::Priority;
use ghost_slack::web::{Identity, Profile, Web};

/// For so long a profile counts where somebody only speaks. Whoever decides is looked up afresh.
const FRESH: Duration = Duration::from_secs(60);

/// Slack waits three seconds for an acknowledgement; the answer has to be there before.
const PATIENCE: Duration = Duration::from_millis(2_000);

/// How many profiles are remembered.
const REMEMBERED: usize = 10_000;

/// Knows who is who.
pub struct Directory {
    web: Web,
    identity: Identity,
    known: Mutex<HashMap<String, (Instant, Person)>>,
}

impl Directory {
    /// Knows the bot itself, and nobody else yet.
    #[must_use]
    pub fn new(web: &Web, identity: Identity) -> Self {
        Self { web: web.at(Priority::Approval), identity, known: Mutex::default() }
    }

    /// Returns who the bot is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns who somebody is, as of a moment ago.
    ///
    /// # Errors
    /// Says why that is not known.
    pub async fn person(&self, id: &str) -> Result<Person, AccessError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        match known {
            Some((since, person)) if since.elapsed() < FRESH => Ok(person),
            Some(_) | None => self.person_now(id).await,
        }
    }

    /// Returns who somebody is now.
    ///
    /// # Errors
    /// Says why that is not known.
    pub async fn person_now(&self, id: &str) -> Result<Person, AccessError> {
        if id.is_empty() {
            return Err(AccessError::Anonymous);
        }
        let asked = timeout(PATIENCE, self.web.user(id)).await;
        let person = match asked {
            Ok(Ok(profile)) => self.describe(&profile),
            Ok(Err(error)) => return Err(AccessError::Unknown { why: error.to_string() }),
            Err(_) => return Err(AccessError::Timeout),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.retain(|_, (since, _)| since.elapsed() < FRESH);
        }
        known.insert(id.to_owned(), (Instant::now(), person.clone()));
        Ok(person)
    }

    /// Returns who belongs to each of these groups, now.
    pub async fn groups(&self, named: impl IntoIterator<Item = &String>, priority: Priority) -> Groups {
        let web = &self.web.at(priority);
        let ask = named.into_iter().map(|group| async move {
            let members = match timeout(PATIENCE, web.group_members(group)).await {
                Ok(Ok(members)) => Ok(members.into_iter().collect::<BTreeSet<_>>()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("Slack does not answer in time".to_owned()),
            };
            (group.clone(), members)
        });
        futures_util::future::join_all(ask).await.into_iter().collect()
    }

    fn describe(&self, profile: &Profile) -> Person {
        let ours = &self.identity;
        let same_team = profile.team.is_some() && profile.team == ours.team;
        let same_enterprise = profile.enterprise.is_some() && profile.enterprise == ours.enterprise;
        Person {
            id: profile.id.clone(),
            name: profile.name().to_owned(),
            is_bot: profile.is_bot,
            is_deleted: profile.deleted,
            is_guest: profile.is_guest || profile.is_single_channel_guest,
            // Of whom Slack does not say where they belong is a stranger.
            is_stranger: profile.is_stranger || !(same_team || same_enterprise),
        }
    }
}
