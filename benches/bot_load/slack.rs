//! The local Slack, the people in it, and the processes beside it.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::{PATIENCE, PEOPLE};

/// A process that ends with its owner.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// Seconds of processor time so far.
    pub(crate) fn worked(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        // In user and in system mode, in hundredths.
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }

    /// Kilobytes held now.
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A local Slack, and what is asked of it.
pub(crate) struct Slack {
    _process: Process,
    pub(crate) names: HashMap<String, String>,
    pub(crate) client: reqwest::Client,
    pub(crate) channels: Vec<String>,
}

impl Slack {
    pub(crate) async fn start(rooms: usize) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
        let mut process = Process::start(command.args(["lab", "slack"]).stdout(Stdio::piped()));
        let lines = BufReader::new(process.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let names = lines.take_while(|line| line != "# ready").filter_map(|line| {
            let (name, value) = line.strip_prefix("export ")?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let names = names.collect();
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let mut slack = Self { _process: process, names, client, channels: Vec::new() };
        slack.person("app", json!({"events": ["app_mention", "message.channels"]})).await;
        for room in 0..rooms {
            let made = slack.api("conversations.create", json!({"name": format!("load-{room}")})).await;
            let id = made["channel"]["id"].as_str().unwrap().to_owned();
            slack.api("conversations.invite", json!({"channel": id, "users": "U0LABALICE"})).await;
            slack.channels.push(id);
        }
        slack
    }

    pub(crate) async fn api(&self, method: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}{method}", self.names["SLACK_API_URL"])).json(&body);
        request.bearer_auth(&self.names["SLACK_BOT_TOKEN"]).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn person(&self, act: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}lab/{act}", self.names["SLACK_WORKSPACE_URL"]));
        request.json(&body).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn look(&self, what: &str) -> Value {
        let url = format!("{}lab/{what}", self.names["SLACK_WORKSPACE_URL"]);
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn says(&self, number: usize, text: &str) -> (String, String) {
        let channel = &self.channels[number % self.channels.len()];
        let said = self.person("message", json!({"user": "alice", "channel": channel, "text": text})).await;
        (channel.clone(), said["ts"].as_str().unwrap().to_owned())
    }

    /// Mentions the bot, each time when it is due; returns the roots of the threads.
    pub(crate) async fn mention(
        self: &std::sync::Arc<Self>,
        many: usize,
        rate: usize,
    ) -> Vec<(String, String)> {
        let (start, mut people) = (Instant::now(), JoinSet::new());
        for number in 0..many {
            let (slack, due) = (self.clone(), start + Duration::from_secs_f64(number as f64 / rate as f64));
            people.spawn(async move {
                sleep_until(due).await;
                slack.says(number, &format!("@Ghost link {number} is down")).await
            });
        }
        people.join_all().await
    }

    /// Talks with other people, as fast as that goes.
    pub(crate) async fn talk(self: &std::sync::Arc<Self>, many: usize) {
        let mut people = JoinSet::new();
        for person in 0..PEOPLE {
            let slack = self.clone();
            people.spawn(async move {
                for number in (person..many).step_by(PEOPLE) {
                    slack.says(number, "is anybody having lunch?").await;
                }
            });
        }
        people.join_all().await;
    }

    /// Waits until the bot said so much in a thread; returns how long its first words took, in milliseconds.
    pub(crate) async fn first_reply(&self, (channel, root): &(String, String), least: usize) -> f64 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let thread = self.look(&format!("thread?user=alice&channel={channel}&ts={root}")).await;
            let messages = thread["messages"].as_array().unwrap();
            if messages.len() > least {
                let moment = |ts: &str| ts.parse::<f64>().unwrap() * 1000.0;
                return moment(messages[1]["ts"].as_str().unwrap()) - moment(root);
            }
            assert!(Instant::now() < deadline, "a mention stays without an answer");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns how long acknowledgements of a kind took, in milliseconds, behind the first so many of all kinds.
    pub(crate) async fn acknowledged(&self, kind: &str, behind: usize) -> Vec<f64> {
        let told = self.look("acknowledged").await;
        let all = told["acknowledged"].as_array().unwrap().iter().skip(behind);
        all.filter(|one| one["kind"] == kind).map(|one| one["micros"].as_f64().unwrap() / 1000.0).collect()
    }

    pub(crate) async fn count(&self) -> usize {
        self.look("acknowledged").await["acknowledged"].as_array().unwrap().len()
    }

    /// Waits until so many events are acknowledged.
    pub(crate) async fn quiet(&self, many: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.count().await < many {
            assert!(Instant::now() < deadline, "{} of {many} events are acknowledged", self.count().await);
            sleep(Duration::from_millis(50)).await;
        }
    }
}
