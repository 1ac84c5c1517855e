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
//! `--waiting 10000` opens so many sessions on three replicas, and says what each of them holds and does once all of them wait (`waiting.rs`).
//! `--alerts 1000` sends so many alerts within a minute to three of each kind (`storm.rs`).
//!
//! `GHOST_BENCH_PROGRAM` names another program for the bot than that of this build, `GHOST_TEST_REDIS_SERVER` another server than `redis-server`.
//!
//! Slack's limits are left out on both sides otherwise (`slack.pace`), or they would be all that is measured. It fails where a mention stays
//! without an answer.
#![expect(clippy::print_stdout, reason = "a benchmark is there to be read")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "answers that look otherwise should stop it too")]
#![expect(clippy::disallowed_methods, reason = "it starts the programs that it measures")]

mod slack;
mod start;
mod storm;
mod waiting;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use slack::{Process, Slack};
use start::{Replica, bolt_process, bot, redis};

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
    waiting: usize,
    alerts: usize,
    groups: usize,
    seconds: usize,
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
            waiting: number("--waiting", 0),
            alerts: number("--alerts", 0),
            groups: number("--groups", 100),
            seconds: number("--seconds", 60),
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

async fn ghost(plan: &Plan) -> Figures {
    let folder = tempfile::tempdir().unwrap();
    let (_redis, url) = redis(folder.path());
    let slack = std::sync::Arc::new(Slack::start(ROOMS).await);
    let bot = bot(folder.path(), &slack, &Replica::new(1000, &url));
    // A board and a card.
    measure(plan, &slack, &bot, 2).await
}

/// How long after its mention each was visibly seen, and asked with its card, in milliseconds.
async fn burst(mentions: usize, rooms: usize) -> [[f64; 3]; 2] {
    let folder = tempfile::tempdir().unwrap();
    let (_redis, url) = redis(folder.path());
    let slack = std::sync::Arc::new(Slack::start(rooms).await);
    let _bot = bot(folder.path(), &slack, &Replica::new(1, &url));
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
    let bot = bolt_process(&slack, &[]);
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
    if plan.waiting > 0 || plan.alerts > 0 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        if plan.waiting > 0 {
            runtime.block_on(waiting::measure(plan.waiting, plan.rate));
        }
        if plan.alerts > 0 {
            runtime.block_on(storm::measure(&plan));
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
