//! Opening a session.

use std::sync::Arc;

use crate::bot::core::Core;
use crate::bot::{ChannelRules, Thread};
use ghost_investigate::Limits;
use ghost_investigate::event::{Gathered, Opened, Quote};
use ghost_session::InboxMessage;
use ghost_store::{Delivered, StoreError};

/// What somebody wants to be looked into.
pub(super) struct Incident<'a> {
    /// Where it is talked about.
    pub(super) thread: &'a Thread,
    /// Names what opened it: the same again opens nothing.
    pub(super) key: &'a str,
    /// Who asks.
    pub(super) who: &'a str,
    /// What is wrong.
    pub(super) symptom: &'a str,
    /// What holds there.
    pub(super) rules: &'a ChannelRules,
    /// What the symptom was put together from.
    pub(super) gathered: Gathered,
    /// What was said before.
    pub(super) quotes: Vec<Quote>,
}

impl Core {
    /// Opens a session for a person, and tells them where the same is looked at already.
    /// `seen` is where a private message about it is seen.
    pub(super) async fn open_for(
        self: &Arc<Self>,
        seen: &Thread,
        incident: Incident<'_>,
    ) -> Result<(), StoreError> {
        let (thread, who, symptom) = (incident.thread, incident.who, incident.symptom);
        if self.refused_for_today(thread, incident.rules.day).await? {
            return Ok(());
        }
        if self.open(incident, false).await? == Delivered::New {
            self.offer_to_join(thread, seen, who, symptom);
        }
        Ok(())
    }

    /// Opens a session, for a person or for a program; tells whether that is news.
    pub(super) async fn open(
        &self,
        incident: Incident<'_>,
        by_program: bool,
    ) -> Result<Delivered, StoreError> {
        let (session, key) = (incident.thread.session(), incident.key);
        let limits = if by_program {
            self.limits_today(&incident.thread.channel, incident.rules.day).await?
        } else {
            self.settings.limits
        };
        let opened = self.opened(incident, by_program, limits);
        // Under the event's own key: the same event again opens nothing, and of two at once the later one becomes words.
        self.write(&session, key, &InboxMessage::Open(Box::new(opened))).await
    }

    /// Describes the session that an incident opens.
    pub(super) fn opened(&self, incident: Incident<'_>, by_program: bool, limits: Limits) -> Opened {
        let Incident { thread, key: _, who, symptom, rules, gathered, quotes } = incident;
        let hosts = rules.hosts_of(symptom);
        let cloud_too = rules.is_cloud_too(&hosts);
        Opened {
            symptom: symptom.to_owned(),
            requester: who.to_owned(),
            origin: thread.origin(),
            quotes,
            nonce: (self.nonce)(),
            investigator: self.investigator.clone(),
            limits,
            scope: rules.scope.clone().filter(|scope| !scope.is_open()),
            hosts,
            cloud_too,
            clusters: rules.clusters.clone(),
            surroundings: Some(self.settings.surroundings.clone()),
            gathered: Box::new(gathered),
            by_program,
            outside: None,
            alert: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
