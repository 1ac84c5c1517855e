//! What the bot holds, beside the least that a bot on Slack's SDK for Python can be, in the same run and at the same pace.
//!
//! Each of them meets a local Slack of its own and answers every mention in its thread: the one opens a session on Redis, shows
//! its board, thinks, asks for an approval and waits for it; the other says a sentence (`slack_bolt_echo.py`). Then people talk
//! with each other, which every bot has to acknowledge and leave alone.
//!
//! ```text
//! tests/sdk/install && cargo bench --bench bot_load -- --sessions 500 --rate 20 --talk 5000 [--only ghost|bolt]
//! ```
//!
//! `--burst 40` measures something else, at Slack's own limits: so many mentions within ten seconds, spread over ten channels and then all in
//! one. How long until each is visibly seen (its reaction), and until its card asks.
//!
//! Slack's limits are left out on both sides otherwise (`slack.pace`), or they would be all that is measured. It fails where a mention stays
//! without an answer.
#![expect(clippy::print_stdout, reason = "a benchmark is there to be read")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "answers that look otherwise should stop it too")]
#![expect(clippy::disallowed_methods, reason = "it starts the programs that it measures")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

/// How many channels there are.
const ROOMS: usize = 50;
/// How many people talk at the same time.
const PEOPLE: usize = 32;
/// Mentions before the first one that counts.
const WARM: usize = 20;
/// Nobody is waited for longer.
const PATIENCE: Duration = Duration::from_secs(120);

struct Plan {
    sessions: usize,
    rate: usize,
    talk: usize,
    only: Option<String>,
    burst: usize,
}

impl Plan {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let word = |name: &str| words.iter().position(|word| word == name).map(|at| words[at + 1].clone());
        let number = |name: &str, otherwise| word(name).map_or(otherwise, |word| word.parse().unwrap());
        Self {
            sessions: number("--sessions", 500),
            rate: number("--rate", 20),
            talk: number("--talk", 5_000),
            only: word("--only"),
            burst: number("--burst", 0),
        }
    }
}

/// A process that ends with its owner.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// Seconds of processor time so far.
    fn worked(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        // In user and in system mode, in hundredths.
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }

    /// Kilobytes held now.
    fn memory(&self) -> f64 {
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
struct Slack {
    _process: Process,
    names: HashMap<String, String>,
    client: reqwest::Client,
    channels: Vec<String>,
}

impl Slack {
    async fn start(rooms: usize) -> Self {
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

    async fn api(&self, method: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}{method}", self.names["SLACK_API_URL"])).json(&body);
        request.bearer_auth(&self.names["SLACK_BOT_TOKEN"]).send().await.unwrap().json().await.unwrap()
    }

    async fn person(&self, act: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}lab/{act}", self.names["SLACK_WORKSPACE_URL"]));
        request.json(&body).send().await.unwrap().json().await.unwrap()
    }

    async fn look(&self, what: &str) -> Value {
        let url = format!("{}lab/{what}", self.names["SLACK_WORKSPACE_URL"]);
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }

    async fn says(&self, number: usize, text: &str) -> (String, String) {
        let channel = &self.channels[number % self.channels.len()];
        let said = self.person("message", json!({"user": "alice", "channel": channel, "text": text})).await;
        (channel.clone(), said["ts"].as_str().unwrap().to_owned())
    }

    /// Mentions the bot, each time when it is due; returns the roots of the threads.
    async fn mention(self: &std::sync::Arc<Self>, many: usize, rate: usize) -> Vec<(String, String)> {
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
    async fn talk(self: &std::sync::Arc<Self>, many: usize) {
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
    async fn first_reply(&self, (channel, root): &(String, String), least: usize) -> f64 {
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
    async fn acknowledged(&self, kind: &str, behind: usize) -> Vec<f64> {
        let told = self.look("acknowledged").await;
        let all = told["acknowledged"].as_array().unwrap().iter().skip(behind);
        all.filter(|one| one["kind"] == kind).map(|one| one["micros"].as_f64().unwrap() / 1000.0).collect()
    }

    async fn count(&self) -> usize {
        self.look("acknowledged").await["acknowledged"].as_array().unwrap().len()
    }

    /// Waits until so many events are acknowledged.
    async fn quiet(&self, many: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.count().await < many {
            assert!(Instant::now() < deadline, "{} of {many} events are acknowledged", self.count().await);
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// What one of them came to.
#[derive(Debug, Default, Clone, Copy)]
struct Figures {
    ack: [f64; 2],
    reply: [f64; 2],
    mentions_a_second: f64,
    talk_a_second: f64,
    /// Kilobytes: at the start, and more for each session.
    memory: [f64; 2],
}

fn parts(mut all: Vec<f64>) -> [f64; 2] {
    all.sort_by(f64::total_cmp);
    [0.5, 0.99].map(|part| all[((all.len() as f64 * part) as usize).min(all.len() - 1)])
}

/// How many messages the bot says in a thread.
async fn measure(plan: &Plan, slack: &std::sync::Arc<Slack>, bot: &Process, says: usize) -> Figures {
    let deadline = Instant::now() + PATIENCE;
    while slack.look("state").await["apps"][0]["connected"] != true {
        assert!(Instant::now() < deadline, "the bot does not connect");
        sleep(Duration::from_millis(50)).await;
    }
    for root in slack.mention(WARM, plan.rate).await {
        slack.first_reply(&root, says).await;
    }
    // Each mention is an event as such, and one as a message.
    slack.quiet(WARM * 2).await;
    let (worked, memory) = (bot.worked(), bot.memory());
    let roots = slack.mention(plan.sessions, plan.rate).await;
    let mut replies = Vec::new();
    for root in &roots {
        replies.push(slack.first_reply(root, says).await);
    }
    let so_far = (WARM + plan.sessions) * 2;
    slack.quiet(so_far).await;
    let mentions = bot.worked() - worked;
    let more = bot.memory() - memory;
    let ack = slack.acknowledged("app_mention", WARM * 2).await;
    let worked = bot.worked();
    slack.talk(plan.talk).await;
    slack.quiet(so_far + plan.talk).await;
    let talk = bot.worked() - worked;
    Figures {
        ack: parts(ack),
        reply: parts(replies),
        mentions_a_second: plan.sessions as f64 / mentions,
        talk_a_second: plan.talk as f64 / talk,
        memory: [memory, more / plan.sessions as f64],
    }
}

/// A Redis of its own, which keeps what it acknowledged.
fn redis(folder: &Path) -> (Process, String) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("redis-server");
    command.args(["--save", "", "--appendonly", "yes", "--appendfsync", "always", "--bind", "127.0.0.1"]);
    command.arg("--port").arg(port.to_string()).arg("--dir").arg(folder).stdout(Stdio::null());
    let process = Process::start(&mut command);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    (process, format!("redis://127.0.0.1:{port}/"))
}

/// Starts the bot, which asks for an approval in each session.
fn bot(folder: &Path, slack: &Slack, pace: usize, url: &str) -> Process {
    let config = folder.join("ghost.toml");
    std::fs::write(&config, format!("slack.pace = {pace}\nbot.sessions = 500\nstore.url = '{url}'\n"))
        .unwrap();
    let turn =
        |tool: &str, arguments: Value| json!({"calls": [{"tool": tool, "arguments": arguments}]}).to_string();
    let suppose = json!({"add": [{"id": "H1", "description": "the link is down"}]});
    let ask = json!({"command": "ip link set eth0 up", "reasoning": "to try it", "hypothesis_id": "H1"});
    let script = folder.join("script.jsonl");
    let turns = [turn("manage_hypotheses", suppose), turn("run_shell_cmd", ask)];
    std::fs::write(&script, turns.join("\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    command.arg("--config").arg(&config).arg("--data-dir").arg(folder.join("data"));
    command.arg("bot").arg("--script").arg(&script).envs(&slack.names).stderr(Stdio::null());
    Process::start(&mut command)
}

async fn ghost(plan: &Plan) -> Figures {
    let folder = tempfile::tempdir().unwrap();
    let (_redis, url) = redis(folder.path());
    let slack = std::sync::Arc::new(Slack::start(ROOMS).await);
    let bot = bot(folder.path(), &slack, 1000, &url);
    // A board and a card.
    measure(plan, &slack, &bot, 2).await
}

/// How long after its mention each was visibly seen, and asked with its card, in milliseconds.
async fn burst(mentions: usize, rooms: usize) -> [[f64; 3]; 2] {
    let folder = tempfile::tempdir().unwrap();
    let (_redis, url) = redis(folder.path());
    let slack = std::sync::Arc::new(Slack::start(rooms).await);
    let _bot = bot(folder.path(), &slack, 1, &url);
    let deadline = Instant::now() + PATIENCE;
    while slack.look("state").await["apps"][0]["connected"] != true {
        assert!(Instant::now() < deadline, "the bot does not connect");
        sleep(Duration::from_millis(50)).await;
    }
    slack.person("fault", json!({"kind": "tiers", "on": true})).await;
    let asking = tokio::spawn({
        let slack = slack.clone();
        async move { slack.mention(mentions, (mentions / 10).max(1)).await }
    });
    let now = || {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        since.as_secs_f64() * 1000.0
    };
    let (mut seen, mut asked) = (HashMap::new(), HashMap::new());
    let moment = |ts: &str| ts.parse::<f64>().unwrap() * 1000.0;
    while seen.len() < mentions || asked.len() < mentions {
        assert!(Instant::now() < deadline, "{} seen, {} asked of {mentions}", seen.len(), asked.len());
        for channel in &slack.channels {
            let shown = slack.look(&format!("channel?user=alice&channel={channel}")).await;
            let roots = shown["messages"].as_array().unwrap().iter();
            for root in
                roots.filter(|message| message["text"].as_str().is_some_and(|text| text.contains("link")))
            {
                let ts = root["ts"].as_str().unwrap();
                let key = format!("{channel} {ts}");
                if !root["reactions"].is_null() {
                    seen.entry(key.clone()).or_insert_with(|| now() - moment(ts));
                }
                if asked.contains_key(&key) || root["reply_count"].as_u64().unwrap_or(0) < 2 {
                    continue;
                }
                let thread = slack.look(&format!("thread?user=alice&channel={channel}&ts={ts}")).await;
                let card = thread["messages"].as_array().unwrap().iter().find(|message| {
                    message["text"].as_str().is_some_and(|text| text.starts_with("Approval needed"))
                });
                if let Some(card) = card {
                    asked.insert(key, moment(card["ts"].as_str().unwrap()) - moment(ts));
                }
            }
        }
        sleep(Duration::from_millis(25)).await;
    }
    asking.await.unwrap();
    [seen, asked].map(|all| {
        let mut all: Vec<f64> = all.into_values().collect();
        all.sort_by(f64::total_cmp);
        [0.5, 0.99, 1.0].map(|part| all[((all.len() as f64 * part) as usize).min(all.len() - 1)])
    })
}

async fn bolt(plan: &Plan) -> Figures {
    let slack = std::sync::Arc::new(Slack::start(ROOMS).await);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
    let python =
        std::env::var_os("GHOST_BENCH_PYTHON").map_or(target.join("sdk/python/bin/python"), PathBuf::from);
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/slack_bolt_echo.py"));
    let bot = Process::start(command.env_clear().envs(&slack.names).stderr(Stdio::null()));
    measure(plan, &slack, &bot, 1).await
}

fn print(name: &str, figures: &Figures) {
    let Figures { ack, reply, mentions_a_second, talk_a_second, memory } = figures;
    println!("{name}:");
    println!("  event to acknowledgement: p50 {:.1} ms, p99 {:.1} ms", ack[0], ack[1]);
    println!("  mention to first reply: p50 {:.1} ms, p99 {:.1} ms", reply[0], reply[1]);
    println!("  on one core: {mentions_a_second:.0} mentions a second, {talk_a_second:.0} other messages");
    println!("  memory: {:.1} MB, and {:.1} kB more a session", memory[0] / 1024.0, memory[1]);
}

fn main() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let plan = Plan::read();
    if plan.burst > 0 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for rooms in [10, 1] {
            let [seen, asked] = runtime.block_on(burst(plan.burst, rooms));
            println!("{} mentions in 10 s over {rooms} channels, at Slack's own limits:", plan.burst);
            println!("  visibly seen: p50 {:.0} ms, p99 {:.0} ms, last {:.0} ms", seen[0], seen[1], seen[2]);
            println!("  card asks: p50 {:.0} ms, p99 {:.0} ms, last {:.0} ms", asked[0], asked[1], asked[2]);
        }
        return;
    }
    println!("{} mentions, {} a second; {} messages between people", plan.sessions, plan.rate, plan.talk);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let wanted = |name: &str| plan.only.as_deref().is_none_or(|only| only == name);
    let ghost = wanted("ghost").then(|| runtime.block_on(ghost(&plan)));
    ghost.iter().for_each(|figures| print("ghost bot", figures));
    let bolt = wanted("bolt").then(|| runtime.block_on(bolt(&plan)));
    bolt.iter().for_each(|figures| print("slack_bolt", figures));
    if let (Some(ghost), Some(bolt)) = (ghost, bolt) {
        println!("ghost bot, measured in slack_bolts:");
        println!(
            "  p99 to acknowledgement {:.2}, to first reply {:.2}",
            ghost.ack[1] / bolt.ack[1],
            ghost.reply[1] / bolt.reply[1]
        );
        println!(
            "  mentions on one core {:.2}, other messages {:.2}, memory at the start {:.2}",
            ghost.mentions_a_second / bolt.mentions_a_second,
            ghost.talk_a_second / bolt.talk_a_second,
            ghost.memory[0] / bolt.memory[0],
        );
    }
}
