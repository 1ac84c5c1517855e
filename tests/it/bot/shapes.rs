//! Messages in the shapes that Slack sends, from `tests/fixtures/slack/cases.jsonl`, put to the bot's own entry point.
//!
//! Each case posts messages in a workspace as other clients and integrations do, delivers the events that Slack sends for them, and
//! says what has to come of it. Nothing is driven: what a session would work on is in its inbox.

#![expect(clippy::indexing_slicing, reason = "a case that lacks a field is a mistake in the file of cases")]

use std::sync::Arc;

use ghost_agent::bot::{Bot, ChannelRules, EventSource, Settings, Thread};
use ghost_investigate::event::SessionHost;
use ghost_slack::arrive::event;
use ghost_slack::socket::Handler as _;
use ghost_store::Item;
use serde::Deserialize;
use serde_json::{Value, json};

use super::stage::{World, is_private, settings};
use crate::lab::stage::NETWORK;

const SHARED: &str = "C0LAB3SHAR";
const TEAM: &str = "T0LABTEAM1";
const BOT: &str = "U0LABGHOST";

/// A line of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    class: String,
    name: String,
    /// What stands there before: the first is the root of the thread, the others answer it.
    #[serde(default)]
    before: Vec<Value>,
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    channel: Place,
    event: Value,
    #[serde(default)]
    then: Vec<Then>,
    expect: Expect,
}

/// How the message arrives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// As a mention, in the thread of what stands there before.
    #[default]
    Mention,
    /// As a mention at top level.
    Top,
    /// As a message of a program at top level.
    Post,
    Direct,
    /// As a mention whose envelope names the workspace of its author.
    Partner,
    /// As an event that is no message.
    Other,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    #[default]
    Network,
    Shared,
}

/// What happens afterwards.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Then {
    /// The message is edited: Slack tells of it, and fires the mention again.
    Edit(Value),
    /// Somebody answers.
    Reply(Value),
    /// A program posts at top level.
    Post(Value),
    /// A program changes its message.
    EditPost(Value),
    /// Slack unfolds a link.
    Unfurl(Value),
    Delete(bool),
}

/// What has to come of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Expect {
    opens: bool,
    symptom: Vec<String>,
    no: Vec<String>,
    once: Vec<String>,
    from: Option<Vec<String>>,
    unread: Vec<String>,
    says: Vec<String>,
    /// Whether the answer has to be one that Slack shows.
    seen: bool,
    public: bool,
    silent: bool,
    lines: Option<usize>,
    reworded: Option<Vec<String>>,
    alerts: Option<Vec<String>>,
    sessions: Option<usize>,
    stopped: bool,
}

fn cases() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/slack/cases.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// A case that is being played.
struct Play<'a> {
    world: &'a World,
    bot: Bot,
    channel: String,
    /// The names of what stands there before.
    names: Vec<String>,
    events: u32,
}

impl Play<'_> {
    /// Puts ids and names of this workspace in their places.
    fn filled(&self, message: &Value) -> Value {
        let mut text = message.to_string();
        for (mark, id) in [
            ("{bot}", BOT),
            ("{team}", TEAM),
            ("{alice}", "U0LABALICE"),
            ("{bob}", "U0LABBOB01"),
            ("{chloe}", "U0LABCHLOE"),
            ("{gus}", "U0LABGUEST"),
            ("{paula}", "U0LABPAULA"),
        ] {
            text = text.replace(mark, id);
        }
        for (at, ts) in self.names.iter().enumerate() {
            let link =
                format!("https://ghost-lab.slack.com/archives/{}/p{}", self.channel, ts.replace('.', ""));
            text = text.replace(&format!("{{link:{at}}}"), &link).replace(&format!("{{ts:{at}}}"), ts);
        }
        serde_json::from_str(&text).unwrap()
    }

    /// Posts a message as it is; returns it with its name.
    async fn post(&self, message: &Value, root: Option<&str>) -> Value {
        let mut message = self.filled(message);
        if let Some(root) = root {
            message["thread_ts"] = json!(root);
        }
        let answer =
            self.world.slack.person("raw", json!({"channel": self.channel, "message": message})).await;
        let ts = answer["ts"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        message["ts"] = json!(ts);
        message["event_ts"] = json!(ts);
        message["channel"] = json!(self.channel);
        message
    }

    /// Delivers an event, and waits until the bot has done with it.
    async fn deliver(&mut self, inner: &Value, partner: bool) {
        self.events += 1;
        let body = json!({
            "token": "verification", "team_id": if partner { "T0LABTEAM2" } else { TEAM }, "context_team_id": TEAM,
            "context_enterprise_id": null, "api_app_id": "A0LABGHOST", "event": inner, "type": "event_callback",
            "event_id": format!("Ev0SHAPE{}", self.events), "event_time": 1_700_000_000,
            "authorizations": [{"enterprise_id": null, "team_id": TEAM, "user_id": BOT, "is_bot": true, "is_enterprise_install": false}],
            "is_ext_shared_channel": partner, "event_context": "4-shape",
        });
        drop(self.bot.take(event(&body)).await);
        self.bot.core.finish().await;
    }

    async fn changed(&mut self, now: &Value, before: &Value) {
        let (mut now, mut before) = (now.clone(), before.clone());
        for message in [&mut now, &mut before] {
            message["type"] = json!("message");
        }
        let event = json!({"type": "message", "subtype": "message_changed", "hidden": true, "channel": self.channel,
            "ts": "1800000000.000100", "event_ts": "1800000000.000100", "channel_type": "channel", "message": now,
            "previous_message": before});
        self.deliver(&event, false).await;
    }

    async fn then(&mut self, then: &Then, said: &mut Value, root: &str) {
        match then {
            Then::Edit(message) | Then::EditPost(message) => {
                let mut now = self.filled(message);
                for name in ["ts", "thread_ts", "channel", "event_ts"] {
                    now[name] = said[name].clone();
                }
                let raw = json!({"channel": self.channel, "ts": said["ts"], "message": now});
                self.world.slack.person("raw", raw).await;
                self.changed(&now, said).await;
                if matches!(then, Then::Edit(_)) {
                    self.deliver(&now, false).await;
                }
                *said = now;
            }
            Then::Reply(message) => {
                let reply = self.post(message, Some(root)).await;
                self.deliver(&reply, false).await;
            }
            Then::Post(message) => {
                let post = self.post(message, None).await;
                self.deliver(&post, false).await;
            }
            Then::Unfurl(attachments) => {
                let mut now = said.clone();
                now["attachments"] = attachments.clone();
                self.changed(&now, said).await;
            }
            Then::Delete(gone) => {
                assert!(gone, "a case deletes its message or does not say so");
                let mut before = said.clone();
                before["type"] = json!("message");
                let event = json!({"type": "message", "subtype": "message_deleted", "hidden": true, "channel": self.channel,
                    "ts": "1800000001.000100", "event_ts": "1800000001.000100", "deleted_ts": said["ts"],
                    "channel_type": "channel", "previous_message": before});
                self.deliver(&event, false).await;
            }
        }
    }
}

async fn play(case: &Case) -> Result<(), String> {
    let machine =
        |name: &str| SessionHost { name: name.to_owned(), carrier: vec!["ssh".to_owned(), name.to_owned()] };
    let mut world = World::new(&[]).await;
    world.settings = Settings {
        anywhere: ChannelRules { hosts: vec![machine("edge-1")], ..settings().anywhere },
        alert_bots: ["B0ALERTS01".to_owned()].into(),
        ..settings()
    };
    // The events are delivered here.
    world.slack.person("app", json!({"events": []})).await;
    let application = world.application(EventSource::Requests).await;
    let bot = Bot { core: Arc::clone(&application.core), measures: application.vitals.measures.clone() };
    let mut channel = match case.channel {
        Place::Network => NETWORK.to_owned(),
        Place::Shared => SHARED.to_owned(),
    };
    if case.kind == Kind::Direct {
        let opened = world.slack.person("open", json!({"user": "alice", "with": "ghost"})).await;
        channel = opened["channel"].as_str().unwrap().to_owned();
    }
    let mut played = Play { world: &world, bot, channel, names: Vec::new(), events: 0 };
    for message in &case.before {
        let root = played.names.first().cloned();
        let posted = played.post(message, root.as_deref()).await;
        played.names.push(posted["ts"].as_str().unwrap().to_owned());
    }
    if case.kind == Kind::Other {
        let inner = played.filled(&case.event);
        played.deliver(&inner, false).await;
        drop(played);
        drop(application);
        world.abandon().await;
        return Ok(());
    }
    let above = played.names.first().cloned().filter(|_| case.kind == Kind::Mention);
    let mut said = played.post(&case.event, above.as_deref()).await;
    let root = above.unwrap_or_else(|| said["ts"].as_str().unwrap().to_owned());
    played.deliver(&said, case.kind == Kind::Partner).await;
    for then in &case.then {
        played.then(then, &mut said, &root).await;
    }
    let reader =
        said["user"].as_str().filter(|user| user.starts_with("U0LAB")).unwrap_or("U0LABALICE").to_owned();
    let result = judged(&world, case, &played.channel, &root, &reader).await;
    drop(played);
    drop(application);
    world.abandon().await;
    result
}

async fn judged(world: &World, case: &Case, channel: &str, root: &str, reader: &str) -> Result<(), String> {
    let session = Thread { team: String::new(), channel: channel.to_owned(), ts: root.to_owned() }.session();
    let inbox: Vec<Value> = world
        .store
        .inbox(&session)
        .await
        .unwrap()
        .into_iter()
        .filter_map(|item| match item {
            Item::Delivered(text) => serde_json::from_str(&text).ok(),
            Item::Closed(_) => None,
        })
        .collect();
    let of = |kind: &str| inbox.iter().filter(|item| item["is"] == kind).cloned().collect::<Vec<_>>();
    let said: Vec<Value> = world
        .thread_in(reader, channel, root)
        .await
        .into_iter()
        .filter(|message| message["user"] == BOT)
        .collect();
    let shown = said.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let expect = &case.expect;
    let check = |holds: bool, what: String| {
        if holds { Ok(()) } else { Err(format!("{what}; said {shown}; inbox {inbox:?}")) }
    };
    let opened = of("open");
    check(opened.is_empty() != expect.opens, format!("opens: {}", opened.len()))?;
    let symptom = opened.first().and_then(|opened| opened["symptom"].as_str()).unwrap_or_default();
    for part in &expect.symptom {
        check(symptom.contains(part.as_str()), format!("the symptom lacks {part}: {symptom}"))?;
    }
    for part in expect.no.iter() {
        check(!symptom.contains(part.as_str()), format!("the symptom has {part}: {symptom}"))?;
    }
    for part in &expect.once {
        check(symptom.matches(part.as_str()).count() == 1, format!("{part} not once: {symptom}"))?;
    }
    let gathered = opened.first().map(|opened| opened["gathered"].clone()).unwrap_or_default();
    if let Some(from) = &expect.from {
        let places: Vec<&str> = gathered["passages"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["place"].as_str())
            .collect();
        check(places == *from, format!("places {places:?}"))?;
    }
    for part in &expect.unread {
        check(
            gathered["unread"].to_string().contains(part.as_str()),
            format!("unread lacks {part}: {gathered}"),
        )?;
    }
    for part in &expect.says {
        check(shown.contains(part.as_str()), format!("does not say {part}"))?;
    }
    check(!expect.seen || !said.is_empty(), "nobody sees the answer".to_owned())?;
    check(
        !expect.public || said.iter().all(|message| !is_private(message)),
        "the answer is private".to_owned(),
    )?;
    check(!expect.silent || said.is_empty(), "it is not silent".to_owned())?;
    check(expect.lines.is_none_or(|lines| said.len() == lines), format!("{} lines", said.len()))?;
    if let Some(wanted) = &expect.reworded {
        let reworded = of("reword");
        let fits = reworded.len() == wanted.len()
            && reworded
                .iter()
                .zip(wanted)
                .all(|(one, part)| one["symptom"].to_string().contains(part.as_str()));
        check(fits, format!("reworded {reworded:?}"))?;
    }
    if let Some(wanted) = &expect.alerts {
        let alerts: Vec<Value> = of("alert").into_iter().map(|one| one["status"].clone()).collect();
        check(alerts == *wanted, format!("alerts {alerts:?}"))?;
    }
    if let Some(sessions) = expect.sessions {
        check(opened.len() == sessions, format!("{} sessions", opened.len()))?;
    }
    let stops = of("said").iter().any(|said| said["wish"] == "stop");
    check(!expect.stopped || stops, "it does not stop".to_owned())
}

#[tokio::test]
async fn every_shape_of_a_message_comes_to_what_it_says() {
    let cases = cases();
    assert!(cases.len() >= 150, "{}", cases.len());
    let (mut wrong, mut right) = (Vec::new(), 0);
    for case in &cases {
        match play(case).await {
            Ok(()) => right += 1,
            Err(why) => wrong.push(format!("{} {}: {why}", case.class, case.name)),
        }
    }
    assert!(wrong.is_empty(), "{right} of {} right\n{}", cases.len(), wrong.join("\n\n"));
}
