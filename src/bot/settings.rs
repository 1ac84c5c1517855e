//! How the bot behaves where: what the configuration says, checked.

use std::collections::{BTreeMap, BTreeSet};

use crate::bot::authority::{Approvers, People};
use ghost_investigate::Limits;
use ghost_investigate::event::{SessionCluster, SessionHost};
use ghost_investigate::symptom_text::names;
use ghost_investigate::usage::DayBudget;
use ghost_shell::{Scope, Surroundings};

/// How the bot behaves.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What holds in a channel that is not named.
    pub anywhere: ChannelRules,
    /// What holds in the channels that are named.
    pub channels: BTreeMap<String, ChannelRules>,
    /// Whether it works in the named channels alone.
    pub only_named: bool,
    /// Programs whose alerts open sessions: ids of bots or apps.
    pub alert_bots: BTreeSet<String>,
    /// Who may hold everything back, and let it go on.
    pub freezers: People,
    /// Whether a summary of the report goes to the channel as well.
    pub broadcast: bool,
    /// What a session may spend.
    pub limits: Limits,
    /// To which places commands may send something unasked.
    pub surroundings: Surroundings,
    /// As whom what is approved runs.
    pub acts_as: Option<String>,
    /// How many messages of the channel before a mention such as "look at that" are read; none unless configured.
    pub channel_context: usize,
    /// Whether words in its own threads behind a report are meant for it without a mention.
    pub follow_ups: bool,
    /// The emoji that has a message investigated.
    pub start_emoji: Option<String>,
    /// Names of public channels that it joins when they are created; `*` stands for anything.
    pub join_channels: Vec<String>,
}

/// What holds in a channel.
#[derive(Debug, Clone, Default)]
pub struct ChannelRules {
    /// Who decides.
    pub approvers: Approvers,
    /// Which part of the cloud may be looked at.
    pub scope: Option<Scope>,
    /// The machines that may be read themselves.
    pub hosts: Vec<SessionHost>,
    /// Names of machines that are known and may not be read here.
    pub closed_hosts: BTreeSet<String>,
    /// The clusters whose inside may be read.
    pub clusters: Vec<SessionCluster>,
    /// Names of clusters that are known and may not be read here.
    pub closed_clusters: BTreeSet<String>,
    /// Whether there is no cloud: then every question is about these machines or clusters.
    pub without_cloud: bool,
    /// What its sessions may use in a day.
    pub day: DayBudget,
}

impl ChannelRules {
    /// Says what of a question lies outside of what may be looked at here.
    pub(super) fn outside(&self, words: &str) -> Option<String> {
        let mut closed = self.closed_hosts.iter().chain(&self.closed_clusters);
        let closed = closed.find(|name| names(words, name));
        closed.cloned().or_else(|| self.scope.as_ref()?.outside_words(words))
    }

    /// Returns the machines that a question is about; none where it is about the cloud.
    pub(super) fn hosts_of(&self, words: &str) -> Vec<SessionHost> {
        let named: Vec<SessionHost> =
            self.hosts.iter().filter(|host| names(words, &host.name)).cloned().collect();
        let is_of_all = named.is_empty() && self.without_cloud && self.clusters.is_empty();
        if is_of_all { self.hosts.clone() } else { named }
    }

    /// Tells whether a question about these machines, or about clusters, may be about the cloud, too.
    pub(super) fn is_cloud_too(&self, hosts: &[SessionHost]) -> bool {
        let may_be =
            if hosts.is_empty() { !self.clusters.is_empty() } else { SessionHost::may_be_of_cloud(hosts) };
        !self.without_cloud && may_be
    }
}

/// Tells whether a name fits a pattern, in which `*` stands for anything.
fn fits(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

impl Settings {
    /// Tells whether it joins a channel of this name by itself.
    #[must_use]
    pub fn joins(&self, name: &str) -> bool {
        self.join_channels.iter().any(|pattern| fits(name, pattern))
    }

    /// Returns what holds in a channel; nothing where the bot does not work.
    #[must_use]
    pub fn rules(&self, channel: &str) -> Option<&ChannelRules> {
        match self.channels.get(channel) {
            Some(rules) => Some(rules),
            None if self.only_named => None,
            None => Some(&self.anywhere),
        }
    }

    /// Returns every group that somebody has to be looked up in.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let all_rules = self.channels.values().chain([&self.anywhere]);
        let people = all_rules.flat_map(|ChannelRules { approvers, .. }| {
            [&approvers.measurement, &approvers.outage, &approvers.change]
        });
        people.chain([&self.freezers]).flat_map(|people| people.groups.iter().map(String::as_str))
    }

    /// Tells whether a message of a program may open a session.
    #[must_use]
    pub fn is_alert(&self, bot: Option<&str>, app: Option<&str>) -> bool {
        [bot, app].into_iter().flatten().any(|id| self.alert_bots.contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_channel_has_rules_of_its_own() {
        let scope = Some(Scope { resource_groups: vec!["rg-web".to_owned()], ..Scope::default() });
        let own = ChannelRules { scope: scope.clone(), ..ChannelRules::default() };
        let mut settings =
            Settings { channels: BTreeMap::from([("C1".to_owned(), own)]), ..Settings::default() };
        assert_eq!(settings.rules("C1").unwrap().scope, scope);
        assert_eq!(settings.rules("C2").unwrap().scope, None);
        settings.only_named = true;
        assert!(settings.rules("C2").is_none());
    }

    #[test]
    fn a_question_is_about_the_machines_that_it_names() {
        let host = |name: &str| SessionHost { name: name.to_owned(), carrier: Vec::new() };
        let mut rules = ChannelRules {
            hosts: vec![host("web-1"), host("db-1")],
            closed_hosts: BTreeSet::from(["pay-1".to_owned()]),
            ..ChannelRules::default()
        };
        assert_eq!(rules.hosts_of("names fail on DB-1."), [host("db-1")]);
        assert_eq!(rules.hosts_of("names fail on db-10"), []);
        assert_eq!(rules.outside("pay-1 is slow"), Some("pay-1".to_owned()));
        assert_eq!(rules.outside("web-1 is slow"), None);
        rules.without_cloud = true;
        assert_eq!(rules.hosts_of("names fail").len(), 2);
    }

    #[test]
    fn a_channel_is_joined_by_a_pattern_of_its_name() {
        let settings = Settings {
            join_channels: vec!["inc-*".to_owned(), "*-outage".to_owned(), "war-room".to_owned()],
            ..Settings::default()
        };
        for name in ["inc-4711", "db-outage", "war-room"] {
            assert!(settings.joins(name), "{name}");
        }
        for name in ["incidents", "outage-db", "war-rooms", ""] {
            assert!(!settings.joins(name), "{name}");
        }
        assert!(fits("a-b-c", "a*b*c") && !fits("a-c", "a*b*c") && !Settings::default().joins("inc-1"));
    }

    #[test]
    fn only_a_listed_program_opens_sessions() {
        let settings = Settings {
            alert_bots: BTreeSet::from(["B1".to_owned(), "A2".to_owned()]),
            ..Settings::default()
        };
        assert!(settings.is_alert(Some("B1"), None) && settings.is_alert(Some("B9"), Some("A2")));
        assert!(!settings.is_alert(Some("B2"), None) && !settings.is_alert(None, None));
    }
}
