//! What replicas hold and do while many sessions wait for a human.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::slack::{Process, Slack};
use crate::start::{Replica, bot, redis};
use crate::{PATIENCE, ROOMS, WARM};

/// How many replicas share the work.
const REPLICAS: usize = 3;
/// A board and a card.
const SAYS: usize = 2;
/// How many are begun before the first of them is looked at.
const AT_ONCE: usize = 1000;
/// How long they are looked at when nothing happens.
const IDLE: Duration = Duration::from_secs(60);
/// Less than this share of a core for five seconds is rest.
const REST: f64 = 0.02;

/// Opens the sessions, waits until each asks, and prints what that costs.
pub(crate) async fn measure(sessions: usize, rate: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (redis, url) = redis(folder.path());
    let slack = Arc::new(Slack::start(ROOMS).await);
    let bots: Vec<Process> = (0..REPLICAS)
        .map(|number| bot(folder.path(), &slack, &Replica { number, ..Replica::new(1000, &url) }))
        .collect();
    let deadline = Instant::now() + PATIENCE;
    while slack.look("state").await["apps"][0]["connected"] != true {
        assert!(Instant::now() < deadline, "no bot connects");
        sleep(Duration::from_millis(50)).await;
    }
    for root in slack.mention(REPLICAS * WARM, rate).await {
        slack.first_reply(&root, SAYS).await;
    }
    rest(&bots).await;
    let before: Vec<f64> = bots.iter().map(Process::memory).collect();
    let (redis_before, began) = (redis.memory(), Instant::now());
    let worked: Vec<f64> = bots.iter().map(Process::worked).collect();
    // The local Slack keeps so many messages and no more: each thread is looked at while it is there.
    for begun in (0..sessions).step_by(AT_ONCE) {
        for root in slack.mention(AT_ONCE.min(sessions - begun), rate).await {
            slack.first_reply(&root, SAYS).await;
        }
    }
    let took = began.elapsed().as_secs_f64();
    let work: f64 = bots.iter().zip(&worked).map(|(bot, before)| bot.worked() - before).sum();
    rest(&bots).await;
    let share = sessions as f64 / REPLICAS as f64;
    println!(
        "{sessions} sessions wait on {REPLICAS} replicas, opened within {took:.0} s, {:.1} ms of a core each:",
        work * 1000.0 / sessions as f64
    );
    let idle: Vec<f64> = bots.iter().map(Process::worked).collect();
    sleep(IDLE).await;
    let mut grown = 0.0;
    for (at, bot) in bots.iter().enumerate() {
        let more = bot.memory() - before[at];
        grown += more;
        println!(
            "  replica {at}: {:.1} MB, {:.1} before; {:.1} kB more for each session of its third; idle {:.2} % of a core",
            bot.memory() / 1024.0,
            before[at] / 1024.0,
            more / share,
            (bot.worked() - idle[at]) / IDLE.as_secs_f64() * 100.0
        );
    }
    println!(
        "  all replicas: {:.1} kB a session; Redis: {:.1} kB a session",
        grown / sessions as f64,
        (redis.memory() - redis_before) / sessions as f64
    );
}

/// Waits until nobody does anything any more.
async fn rest(bots: &[Process]) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let before: f64 = bots.iter().map(Process::worked).sum();
        sleep(Duration::from_secs(5)).await;
        let now: f64 = bots.iter().map(Process::worked).sum();
        if (now - before) / 5.0 < REST * bots.len() as f64 {
            return;
        }
        assert!(Instant::now() < deadline, "the replicas do not come to rest");
    }
}
