//! An alert opens a session, joins the one of its group, or has what failed looked at again. The store decides whose group it is.

use std::time::Duration;

use crate::bot::SLACK;
use crate::bot::core::Core;
use crate::bot::journal::{Entry, JournalAction, note};
use ghost_base::{Digest, SessionId, Timestamp};
use ghost_investigate::event::{Alert, AlertStatus, Alerted, Opened, Origin};
use ghost_session::InboxMessage;
use ghost_session::alert::{Notification, Sender, Window, symptom};
use ghost_store::{Claimed, Delivered, StoreError};

/// For so long a group of alerts is remembered after it was last mentioned.
pub(super) const GROUP_KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// What fires again within this time after it was resolved goes on in the same thread.
pub(super) const FLAPPING: Duration = Duration::from_secs(30 * 60);

/// So often it is looked again whose a group is, because others were faster.
pub(super) const MAX_CLAIMS: usize = 20;

/// How much of a sender's key is shown.
const MAX_GROUP_CHARS: usize = 200;

/// How much of what a sender says later is kept.
pub(super) const MAX_NEWS_CHARS: usize = 300;

/// A program whose alerts are taken.
#[derive(Debug, Clone)]
pub struct AlertSource {
    /// Its name in the configuration.
    pub name: String,
    pub sender: Sender,
    /// Where its threads are opened.
    pub channel: String,
    /// When its alerts open nothing.
    pub maintenance: Vec<Window>,
}

/// What became of an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertTaken {
    /// It opened this session.
    Opened(SessionId),
    /// Its group has this session already.
    Joined(SessionId),
    /// What failed in this session is looked at again.
    Resolved(SessionId),
    /// Nothing was known of it, and it is over.
    Nothing,
    /// It came in a maintenance window, and was written down.
    Maintenance,
    /// It is about a part of the cloud that its channel may not look at.
    OutOfScope,
}

impl AlertTaken {
    /// Returns the session, where there is one.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Opened(session) | Self::Joined(session) | Self::Resolved(session) => Some(session),
            Self::Nothing | Self::Maintenance | Self::OutOfScope => None,
        }
    }
}

/// What the store knows of a group: who has it, and where it stands.
pub(super) struct Held {
    pub(super) session: SessionId,
    pub(super) status: AlertStatus,
    /// When it began or ended, by the sender's clock where it has one.
    pub(super) at: Timestamp,
    /// What its last message said.
    pub(super) content: String,
}

impl Held {
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let session = parts.next()?.parse().ok()?;
        let status = match parts.next()? {
            "firing" => AlertStatus::Firing,
            "resolved" => AlertStatus::Resolved,
            _ => return None,
        };
        let at = Timestamp::from_millis(parts.next()?.parse().ok()?);
        Some(Self { session, status, at, content: parts.next()?.to_owned() })
    }

    pub(super) fn text(&self) -> String {
        format!("{} {} {} {}", self.session, self.status.word(), self.at.as_millis(), self.content)
    }
}

impl Core {
    /// Takes what a sender says of a group of alerts. To say it again changes nothing.
    ///
    /// # Errors
    /// Fails where the store cannot be reached; then the sender has to say it again.
    pub async fn alert(&self, source: &AlertSource, alert: &Notification) -> Result<AlertTaken, StoreError> {
        let now = self.clock.now();
        if alert.status == AlertStatus::Firing {
            if source.maintenance.iter().any(|window| window.holds(now)) {
                return self.note_maintenance(source, alert).await;
            }
            let rules = self.settings.rules(&source.channel);
            if rules.is_none_or(|rules| rules.outside(&symptom(alert)).is_some()) {
                tracing::info!(alert.source = %source.name, "alert outside of the scope ignored");
                return Ok(AlertTaken::OutOfScope);
            }
        }
        let group = Digest::of_fields([source.name.as_str(), &alert.group]);
        let name = format!("alert {group}");
        let mut text = self.store.claimed(&name).await?;
        for _ in 0..MAX_CLAIMS {
            let held = text.as_deref().and_then(Held::of);
            let (next, taken) = match self.answer(source, alert, held, now).await? {
                Answer::Done(taken) => return Ok(taken),
                Answer::Move(next, taken) => (next, taken),
            };
            match self.store.claim(&name, text.as_deref(), &next.text(), GROUP_KEPT).await? {
                Claimed::Held(other) => text = other,
                Claimed::Set => {
                    return match taken {
                        AlertTaken::Opened(session) => self.open_alert(source, alert, session).await,
                        taken @ (AlertTaken::Joined(_)
                        | AlertTaken::Resolved(_)
                        | AlertTaken::Nothing
                        | AlertTaken::Maintenance
                        | AlertTaken::OutOfScope) => Ok(taken),
                    };
                }
            }
        }
        Err(StoreError::Corrupt { what: "a group of alerts changes all the time".to_owned() })
    }

    /// Says what an alert comes to where its group stands so, and does what may be done twice.
    async fn answer(
        &self,
        source: &AlertSource,
        alert: &Notification,
        held: Option<Held>,
        now: Timestamp,
    ) -> Result<Answer, StoreError> {
        let content = alert.content.to_string();
        let Some(held) = held else {
            return Ok(match alert.status {
                AlertStatus::Firing => self.first(source, alert, None, now),
                AlertStatus::Resolved => Answer::Done(AlertTaken::Nothing),
            });
        };
        let session = held.session.clone();
        match (held.status, alert.status) {
            // What began before the group was over is a repetition that comes late.
            (AlertStatus::Resolved, AlertStatus::Firing)
                if alert.began().is_some_and(|began| began <= held.at) =>
            {
                Ok(Answer::Done(AlertTaken::Joined(session)))
            }
            // What comes back so soon was not over.
            (AlertStatus::Resolved, AlertStatus::Firing)
                if alert.began().unwrap_or(now).since(held.at) < FLAPPING
                    && self.is_known(&session).await? =>
            {
                self.tell_session(&session, alert, held.at).await?;
                let at = alert.began().unwrap_or(now);
                let next = Held { status: AlertStatus::Firing, at, content, ..held };
                Ok(Answer::Move(next, AlertTaken::Joined(session)))
            }
            (AlertStatus::Resolved, AlertStatus::Firing) => Ok(self.first(source, alert, Some(&held), now)),
            (AlertStatus::Resolved, AlertStatus::Resolved) => Ok(Answer::Done(AlertTaken::Resolved(session))),
            (AlertStatus::Firing, AlertStatus::Firing) => {
                // Whoever claimed the group may be about to open the session, or have died before; or it was erased.
                if !self.is_known(&session).await?
                    && let opened @ AlertTaken::Opened(_) =
                        self.open_alert(source, alert, session.clone()).await?
                {
                    return Ok(Answer::Done(opened));
                }
                if held.content == content {
                    return Ok(Answer::Done(AlertTaken::Joined(session)));
                }
                self.tell_session(&session, alert, held.at).await?;
                Ok(Answer::Move(Held { content, ..held }, AlertTaken::Joined(session)))
            }
            (AlertStatus::Firing, AlertStatus::Resolved) => {
                let at = alert.ended().unwrap_or(now);
                let next = Held { status: AlertStatus::Resolved, at, content, ..held };
                if !self.is_known(&session).await? {
                    return Ok(Answer::Move(next, AlertTaken::Nothing));
                }
                self.tell_session(&session, alert, held.at).await?;
                Ok(Answer::Move(next, AlertTaken::Resolved(session)))
            }
        }
    }

    /// Claims a group for a session of its own, behind the one that it had before.
    fn first(
        &self,
        source: &AlertSource,
        alert: &Notification,
        before: Option<&Held>,
        now: Timestamp,
    ) -> Answer {
        let before = before.map(|held| held.session.as_str()).unwrap_or_default();
        let fields = ["alert", &source.name, &alert.group, before, &(self.nonce)()];
        let session = SessionId::drawn(&Digest::of_fields(fields));
        let next = Held {
            session: session.clone(),
            status: AlertStatus::Firing,
            at: alert.began().unwrap_or(now),
            content: alert.content.to_string(),
        };
        Answer::Move(next, AlertTaken::Opened(session))
    }

    async fn open_alert(
        &self,
        source: &AlertSource,
        alert: &Notification,
        session: SessionId,
    ) -> Result<AlertTaken, StoreError> {
        let rules = self.settings.rules(&source.channel).cloned().unwrap_or_default();
        let shown = shown(source, alert);
        let hosts = rules.hosts_of(&symptom(alert));
        let cloud_too = rules.is_cloud_too(&hosts);
        let opened = Opened {
            symptom: symptom(alert),
            requester: shown.requester(),
            origin: Origin {
                place: SLACK.to_owned(),
                team: self.directory.identity().team.clone(),
                channel: Some(source.channel.clone()),
                thread: None,
            },
            quotes: Vec::new(),
            nonce: (self.nonce)(),
            investigator: self.investigator.clone(),
            limits: self.limits_today(&source.channel, rules.day).await?,
            hosts,
            cloud_too,
            clusters: rules.clusters.clone(),
            scope: rules.scope.filter(|scope| !scope.is_open()),
            surroundings: Some(self.settings.surroundings.clone()),
            gathered: Box::default(),
            by_program: true,
            outside: None,
            alert: Some(Box::new(shown)),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        // Of all who open it, one does.
        Ok(match self.write(&session, "open", &InboxMessage::Open(Box::new(opened))).await? {
            Delivered::New => AlertTaken::Opened(session),
            Delivered::Seen => AlertTaken::Joined(session),
        })
    }

    /// Has a session know what its sender says where its group stands so since a moment.
    async fn tell_session(
        &self,
        session: &SessionId,
        alert: &Notification,
        since: Timestamp,
    ) -> Result<(), StoreError> {
        let text: String = alert.title.chars().take(MAX_NEWS_CHARS).collect();
        let at = match alert.status {
            AlertStatus::Firing => alert.started_at.clone(),
            AlertStatus::Resolved => alert.ended_at.clone(),
        };
        let alerted = Alerted { status: alert.status, text, alerts: alert.alerts, at };
        let key = format!("alert {} {}", since.as_millis(), alert.content);
        self.write(session, &key, &InboxMessage::Alert(alerted)).await.map(drop)
    }

    async fn note_maintenance(
        &self,
        source: &AlertSource,
        alert: &Notification,
    ) -> Result<AlertTaken, StoreError> {
        let who = format!("{}{}", Alert::NOBODY, source.name);
        let (what, place) = (JournalAction::Maintenance, source.channel.as_str());
        note(
            &self.store,
            self.clock.as_ref(),
            Entry { what, who: &who, place, why: &alert.title, session: "" },
        )
        .await?;
        tracing::info!(alert.source = %source.name, "alert in a maintenance window noted");
        Ok(AlertTaken::Maintenance)
    }
}

/// What an alert comes to.
enum Answer {
    /// That.
    Done(AlertTaken),
    /// That, once the group stands so.
    Move(Held, AlertTaken),
}

fn shown(source: &AlertSource, alert: &Notification) -> Alert {
    let labels = alert.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    let lines = [alert.text.clone(), labels.join("\n")];
    Alert {
        source: source.name.clone(),
        sender: source.sender.word().to_owned(),
        group: alert.group.chars().take(MAX_GROUP_CHARS).collect(),
        title: alert.title.clone(),
        text: lines.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        severity: alert.severity.clone(),
        labels: alert.labels.clone(),
        started_at: alert.started_at.clone(),
        links: alert.links.clone(),
        alerts: alert.alerts,
        traceparent: alert.traceparent.clone(),
    }
}
