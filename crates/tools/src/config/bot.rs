//! `[slack]`, `[bot]`, `[channel.…]` and `[http]`: where the bot speaks, with whom, and about what.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

/// How what happens in Slack reaches the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Over sockets that the bot opens.
    #[default]
    Socket,
    /// As signed requests to `[http] listen`, path `/slack/events`.
    Http,
}

/// `[slack]`. Tokens come from the environment, or from files that are read again when Slack refuses a token.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slack {
    /// `socket` or `http`.
    pub transport: Transport,
    /// How many sockets are open at a time, 1 to 10; 2 unless said.
    pub connections: usize,
    /// The absolute path of a file with the bot's token; `$SLACK_BOT_TOKEN` wins over it.
    pub bot_token_file: Option<PathBuf>,
    /// The absolute path of a file with the app's token, for sockets; `$SLACK_APP_TOKEN` wins over it.
    pub app_token_file: Option<PathBuf>,
    /// The absolute path of a file with the signing secret, for requests; `$SLACK_SIGNING_SECRET` wins over it.
    pub signing_secret_file: Option<PathBuf>,
    /// How many times as often as Slack publishes it may be called; 1 unless said. What it refuses is obeyed in any case.
    pub pace: u32,
    /// Where the Web API is; `$SLACK_API_URL` wins over it, and Slack itself is meant unless said.
    pub api_url: Option<String>,
}

impl Default for Slack {
    fn default() -> Self {
        Self {
            transport: Transport::Socket,
            connections: 2,
            bot_token_file: None,
            app_token_file: None,
            signing_secret_file: None,
            pace: 1,
            api_url: None,
        }
    }
}

/// People, by their ids in Slack.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct People {
    /// Ids of people, `U…` or `W…`.
    pub users: BTreeSet<String>,
    /// Ids of user groups, `S…`.
    pub groups: BTreeSet<String>,
}

/// More of a channel than this is no context of one mention.
const MAX_CHANNEL_CONTEXT: u16 = 50;

/// `[bot]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bot {
    /// How many sessions are worked on at the same time; 64 unless said.
    pub sessions: usize,
    /// Whether it works in the channels alone that have a section `[channel.ID]`.
    pub only_named_channels: bool,
    /// Ids of bots or apps whose alerts open sessions.
    pub alert_bots: BTreeSet<String>,
    /// Which part of the cloud may be looked at where no `[channel.ID]` says so, in direct messages for instance; everything
    /// unless said.
    pub scope: Option<Scope>,
    /// Whether a summary of the report goes to the channel as well.
    pub broadcast: bool,
    /// Whether the recorded packets themselves are attached to reports; the reports about them always are.
    pub attach_captures: bool,
    /// How many messages of a channel are read before a mention that says nothing by itself, as "look at that"; 0 reads none.
    pub channel_context: u16,
    /// Whether what people write in its own threads behind a report is meant for it without a mention.
    pub follow_ups: bool,
    /// Whether it shows how an investigation stands as an emoji on the message that asked.
    pub status_reactions: bool,
    /// The emoji that has a message investigated when somebody puts it there; none unless named.
    pub start_emoji: String,
    /// Names of public channels that it joins when they are created, with `*` for anything.
    pub join_channels: Vec<String>,
    /// Who may hold every command back with `/ghost freeze`, and let it go on.
    pub freezers: People,
}

impl Default for Bot {
    fn default() -> Self {
        Self {
            sessions: 64,
            only_named_channels: false,
            alert_bots: BTreeSet::new(),
            scope: None,
            broadcast: false,
            attach_captures: false,
            channel_context: 0,
            follow_ups: false,
            status_reactions: false,
            start_emoji: String::new(),
            join_channels: Vec::new(),
            freezers: People::default(),
        }
    }
}

/// `[channel.ID]`: what holds in one channel in place of what holds anywhere.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Channel {
    /// Which part of the cloud may be looked at; that of `[bot]` unless said.
    pub scope: Option<Scope>,
    /// Who approves captures and measurements there; the ones of `[approval]` unless said.
    pub measurement: Option<People>,
    /// Who approves outages there; the ones of `[approval]` unless said.
    pub outage: Option<People>,
    /// Who approves changes there; the ones of `[approval]` unless said.
    pub change: Option<People>,
    /// What its sessions may use in a day; that of `[usage]` unless said.
    pub usage: Option<super::Usage>,
}

/// A part of the cloud. An empty list is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Subscriptions, by id or by name.
    pub subscriptions: Vec<String>,
    pub resource_groups: Vec<String>,
    /// Machines of `[hosts]`, by name.
    pub hosts: Vec<String>,
    /// Clusters of `[clusters]`, by name.
    pub clusters: Vec<String>,
}

/// `[http]`: `/live`, `/ready` and `/metrics`, and Slack's requests where they come over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// The address for Slack's requests, alerts, `/mcp` and agents elsewhere (default: nothing listens). Without `probes` also for
    /// `/live`, `/ready` and `/metrics`.
    pub listen: Option<SocketAddr>,
    /// An address for `/live`, `/ready` and `/metrics` alone, which clients of `listen` cannot keep busy.
    pub probes: Option<SocketAddr>,
}

/// Returns everything that is wrong with the sections together.
pub(super) fn problems(
    slack: &Slack,
    bot: &Bot,
    channels: &BTreeMap<String, Channel>,
    http: Http,
) -> Vec<String> {
    let mut problems = Vec::new();
    if !(1..=10).contains(&slack.connections) {
        problems.push(format!("[slack] connections = {}: it has to lie between 1 and 10", slack.connections));
    }
    if !(1..=1_000).contains(&slack.pace) {
        problems.push(format!("[slack] pace = {}: it has to lie between 1 and 1000", slack.pace));
    }
    for (name, path) in [
        ("bot_token_file", &slack.bot_token_file),
        ("app_token_file", &slack.app_token_file),
        ("signing_secret_file", &slack.signing_secret_file),
    ] {
        if let Some(path) = path.as_ref().filter(|path| !path.is_absolute()) {
            problems.push(format!("[slack] {name} = {path:?}: the path has to be absolute"));
        }
    }
    if let Some(url) = slack.api_url.as_deref().filter(|url| !is_api(url)) {
        problems.push(format!(
            "[slack] api_url = {url:?}: it begins with https://, or with http:// on this machine"
        ));
    }
    if http.probes.is_some()
        && http.probes == http.listen
        && http.listen.is_some_and(|address| address.port() != 0)
    {
        problems.push(
            "[http] probes: it must differ from [http] listen; leave it out to serve both at one address"
                .to_owned(),
        );
    }
    if slack.transport == Transport::Http && http.listen.is_none() {
        problems.push("[slack] transport = \"http\": [http] listen has to say where".to_owned());
    }
    if !(1..=10_000).contains(&bot.sessions) {
        problems.push(format!("[bot] sessions = {}: it has to lie between 1 and 10000", bot.sessions));
    }
    if bot.only_named_channels && channels.is_empty() {
        problems.push("[bot] only_named_channels: no [channel.ID] names one".to_owned());
    }
    if bot.channel_context > MAX_CHANNEL_CONTEXT {
        problems.push(format!(
            "[bot] channel_context = {}: at most {MAX_CHANNEL_CONTEXT} messages of a channel are read",
            bot.channel_context
        ));
    }
    let is_emoji = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-+".contains(&byte))
    };
    if !is_emoji(&bot.start_emoji) {
        problems.push(format!(
            "[bot] start_emoji = {:?}: write the name of an emoji without colons",
            bot.start_emoji
        ));
    }
    let odd = |name: &&String| name.is_empty() || name.chars().all(|char| char == '*');
    if let Some(name) = bot.join_channels.iter().find(odd) {
        problems
            .push(format!("[bot] join_channels: {name:?} would be every channel; name a part of the names"));
    }
    let ids = channels.keys().filter(|id| !is_id(id, &['C', 'D', 'G']));
    problems.extend(ids.map(|id| format!("[channel.{id}]: an id of a channel begins with C, D or G")));
    problems.extend(bot.freezers.problems("[bot] freezers"));
    for (id, channel) in channels {
        let usage = channel.usage.iter().flat_map(|usage| usage.problems(&format!("[channel.{id}.usage]")));
        problems.extend(usage);
        let named =
            [("measurement", &channel.measurement), ("outage", &channel.outage), ("change", &channel.change)];
        for (what, people) in named {
            problems
                .extend(people.iter().flat_map(|people| people.problems(&format!("[channel.{id}] {what}"))));
        }
    }
    problems
}

impl People {
    /// Returns everything that is wrong: a name in place of an id would match nobody, silently.
    pub(super) fn problems(&self, place: &str) -> Vec<String> {
        let users = self.users.iter().filter(|id| !is_id(id, &['U', 'W']));
        let users =
            users.map(|id| format!("{place} users: {id:?} is no id of a person, which begins with U or W"));
        let groups = self.groups.iter().filter(|id| !is_id(id, &['S']));
        users
            .chain(
                groups.map(|id| {
                    format!("{place} groups: {id:?} is no id of a user group, which begins with S")
                }),
            )
            .collect()
    }
}

fn is_id(text: &str, begins: &[char]) -> bool {
    text.len() > 1
        && text.starts_with(begins)
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// Tokens travel in the clear only where they do not leave this machine.
fn is_api(url: &str) -> bool {
    let host = url.strip_prefix("http://").map(|rest| rest.split(['/', ':']).next().unwrap_or_default());
    url.starts_with("https://") || matches!(host, Some("127.0.0.1" | "localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[derive(Default)]
    struct Sections {
        slack: Slack,
        bot: Bot,
        channel: BTreeMap<String, Channel>,
        http: Http,
    }

    fn problems_found(text: &str) -> Vec<String> {
        let read: Sections = toml::from_str(text).unwrap();
        problems(&read.slack, &read.bot, &read.channel, read.http)
    }

    #[test]
    fn what_can_be_used_has_no_problem() {
        for text in [
            "",
            "slack.transport = 'http'\nhttp.listen = '127.0.0.1:8080'",
            "slack.api_url = 'http://127.0.0.1:7777/api/'",
            "bot.only_named_channels = true\n[channel.C0INCIDENT]\nscope.resource_groups = ['rg-web']\nchange.users = ['U1']",
            "bot.freezers.groups = ['S1']",
        ] {
            assert_eq!(problems_found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_problem_is_reported() {
        for (text, part) in [
            ("slack.connections = 11", "between 1 and 10"),
            ("slack.pace = 0", "between 1 and 1000"),
            ("slack.bot_token_file = 'token'", "absolute"),
            ("slack.api_url = 'http://slack.example/api'", "https"),
            ("slack.api_url = 'http://127.0.0.1.evil.example/api'", "https"),
            ("slack.transport = 'http'", "[http] listen"),
            ("bot.sessions = 0", "between"),
            ("bot.only_named_channels = true", "no [channel.ID]"),
            ("channel.general = {}", "begins with C"),
            ("bot.freezers.users = ['ana']", "no id of a person"),
            ("channel.C1.change.groups = ['oncall']", "no id of a user group"),
            ("channel.C1.outage.users = ['ana']", "no id of a person"),
        ] {
            let problems_found = problems_found(text);
            assert!(
                problems_found.len() == 1
                    && problems_found.iter().all(|problems_found| problems_found.contains(part)),
                "{text}: {problems_found:?}"
            );
        }
    }

    #[test]
    fn a_misspelled_key_is_an_error() {
        for text in ["slack.token = 'x'", "channel.C1.scopes = {}", "bot.freezers.user = []"] {
            assert!(toml::from_str::<Sections>(text).is_err(), "{text}");
        }
    }
}
