//! What the local Slack holds: many sockets of many apps, and people who write faster than anybody reads.
//!
//! The server is the program itself in a process of its own; this process is every app and every person.
//!
//! ```text
//! cargo bench --bench slack_load -- --sockets 200 --rate 2000 --seconds 3 [--keep]
//! ```
//!
//! `--rate` counts events delivered in a second. `--keep` gives the server a folder to write to. A page that reads nothing
//! looks on all the time. It fails where an event is lost, comes twice, or is sent again.
#![expect(clippy::print_stdout, reason = "a benchmark is there to be read")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "answers that look otherwise should stop it too")]
#![expect(clippy::disallowed_methods, reason = "it starts the server that it measures")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// How many connections an app may have.
const SOCKETS_OF_AN_APP: usize = 10;
/// How many people write side by side.
const WRITERS: usize = 64;
/// A little longer than the server waits for an acknowledgement: a missed one would have been sent again by then.
const PATIENCE: Duration = Duration::from_millis(3500);

struct Plan {
    sockets: usize,
    rate: usize,
    seconds: usize,
    keep: bool,
}

impl Plan {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let number = |name: &str, otherwise: usize| {
            let at = words.iter().position(|word| word == name);
            at.map_or(otherwise, |at| words[at + 1].parse().unwrap())
        };
        Self {
            sockets: number("--sockets", 200),
            rate: number("--rate", 2000),
            seconds: number("--seconds", 3),
            keep: words.iter().any(|word| word == "--keep"),
        }
    }
}

/// The program, as a person starts it.
struct Server {
    child: Child,
    names: HashMap<String, String>,
}

impl Server {
    fn start(folder: Option<&Path>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
        command.args(["lab", "slack"]).stdout(Stdio::piped());
        if let Some(folder) = folder {
            command.arg("--data-dir").arg(folder);
        }
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let names = lines.take_while(|line| line != "# ready").filter_map(|line| {
            let (name, value) = line.strip_prefix("export ")?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let names = names.collect();
        Self { child, names }
    }

    /// Seconds of processor time that the server took so far, and this process.
    fn worked(&self) -> [f64; 2] {
        [self.child.id(), std::process::id()].map(|process| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
            let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
            // In user and in system mode, in hundredths.
            (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
        })
    }

    /// Megabytes that the server holds now, and at most so far.
    fn memory(&self) -> [f64; 2] {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        ["VmRSS:", "VmHWM:"].map(|name| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Calls over HTTP.
#[derive(Clone)]
struct Web {
    client: reqwest::Client,
    base: String,
}

impl Web {
    async fn post(&self, path: &str, token: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}{path}", self.base)).bearer_auth(token).json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn person(&self, act: &str, body: Value) -> Value {
        let answer = self.post(&format!("lab/{act}"), "", body).await;
        assert!(answer["ok"] != false, "{act}: {answer}");
        answer
    }
}

/// What the apps saw of one run.
#[derive(Default)]
struct Tally {
    /// How often each message reached each app.
    seen: HashMap<(usize, usize), usize>,
    late: Vec<Duration>,
    retries: usize,
    /// Events that came behind a later one of the same conversation on the same connection.
    disorder: usize,
    last: Option<Instant>,
}

/// One run: who is told, and how many messages a second that takes.
struct Run {
    name: &'static str,
    audience: usize,
    messages: usize,
    period: Duration,
    start: Instant,
}

/// The run that is on; the sockets outlive it.
type Stage = Arc<Mutex<Option<(Arc<Run>, Tally)>>>;

/// One connection of an app: acknowledges everything at once, and notes what it was.
async fn listen(url: String, app: usize, stage: Stage) {
    let (mut socket, _) = connect_async(url).await.unwrap();
    let mut before: HashMap<String, String> = HashMap::new();
    while let Some(Ok(frame)) = socket.next().await {
        let Message::Text(text) = frame else { continue };
        let envelope: Value = serde_json::from_str(&text).unwrap();
        let Some(id) = envelope["envelope_id"].as_str() else { continue };
        let acknowledged = socket.send(Message::text(json!({"envelope_id": id}).to_string())).await;
        acknowledged.unwrap();
        let event = &envelope["payload"]["event"];
        let text = event["text"].as_str().unwrap_or_default();
        let Some(number) = text.strip_prefix("load ").and_then(|number| number.parse::<usize>().ok()) else {
            continue;
        };
        let mut stage = stage.lock().unwrap();
        let Some((run, tally)) = stage.as_mut() else { continue };
        let (now, due) = (Instant::now(), run.start + run.period.mul_f64(number as f64));
        *tally.seen.entry((app, number)).or_default() += 1;
        tally.late.push(now.saturating_duration_since(due));
        tally.retries += usize::from(envelope["retry_attempt"] != 0);
        tally.last = Some(now);
        let (place, ts) = (event["channel"].as_str().unwrap(), event["ts"].as_str().unwrap());
        if before.insert(place.to_owned(), ts.to_owned()).is_some_and(|earlier| *earlier > *ts) {
            tally.disorder += 1;
        }
    }
}

/// Writes what falls to one of the writers, each message when it is due.
async fn write(web: Web, run: Arc<Run>, bots: Arc<Vec<String>>, writer: usize) {
    let user = ["alice", "bob", "chloe", "dan"][writer % 4];
    for number in (writer..run.messages).step_by(WRITERS) {
        sleep_until(run.start + run.period.mul_f64(number as f64)).await;
        let place = if run.audience > 1 { "general" } else { &bots[number % bots.len()] };
        web.person("message", json!({"user": user, "channel": place, "text": format!("load {number}")}))
            .await;
    }
}

async fn measure(
    plan: &Plan,
    run: Run,
    web: &Web,
    server: &Server,
    bots: &Arc<Vec<String>>,
    stage: &Stage,
) -> bool {
    let run = Arc::new(run);
    *stage.lock().unwrap() = Some((Arc::clone(&run), Tally::default()));
    let before = server.worked();
    sleep_until(run.start).await;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(web.clone(), Arc::clone(&run), Arc::clone(bots), writer));
    }
    writers.join_all().await;
    let (after, [memory, peak]) = (server.worked(), server.memory());
    let wrote = run.start.elapsed();
    let [server, clients] = [0, 1].map(|at| (after[at] - before[at]) / wrote.as_secs_f64() * 100.0);
    sleep(PATIENCE).await;
    let (_, mut tally) = stage.lock().unwrap().take().unwrap();
    let expected = run.messages * run.audience;
    let arrived = tally.seen.len();
    let twice = tally.seen.values().filter(|times| **times > 1).count();
    let took = tally.last.map_or(wrote, |last| last - run.start).as_secs_f64();
    tally.late.sort();
    let share = |part: f64| {
        let at = (tally.late.len() as f64 * part) as usize;
        tally.late.get(at.min(tally.late.len().saturating_sub(1))).copied().unwrap_or_default().as_secs_f64()
            * 1000.0
    };
    println!("{}, {} messages a second for {} s:", run.name, run.messages / plan.seconds, plan.seconds);
    println!("  {:.0} events/s delivered and acknowledged, {arrived} of {expected}", arrived as f64 / took);
    println!(
        "  lost {}, twice {twice}, sent again {}, out of order {}",
        expected - arrived,
        tally.retries,
        tally.disorder
    );
    println!(
        "  write to frame: p50 {:.1} ms, p99 {:.1} ms, most {:.1} ms",
        share(0.5),
        share(0.99),
        share(1.0)
    );
    println!(
        "  server: {server:.0} % of a core, {memory:.0} MB (peak {peak:.0} MB); everybody else: {clients:.0} %"
    );
    arrived == expected && twice == 0 && tally.retries == 0 && tally.disorder == 0
}

async fn load(plan: &Plan, server: &Server) -> bool {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let web = Web { client, base: server.names["SLACK_WORKSPACE_URL"].clone() };
    // The app that is there from the start has no socket here, and events for it would wait for one.
    web.person("app", json!({"events": []})).await;
    let stage: Stage = Arc::default();
    let (mut sockets, mut bots) = (JoinSet::new(), Vec::new());
    let apps = plan.sockets.div_ceil(SOCKETS_OF_AN_APP);
    for app in 0..apps {
        let installed =
            web.person("install", json!({"name": format!("load {app}"), "channels": ["general"]})).await;
        bots.push(installed["bot_user_id"].as_str().unwrap().to_owned());
        for _ in 0..SOCKETS_OF_AN_APP.min(plan.sockets - app * SOCKETS_OF_AN_APP) {
            let open = web
                .post("api/apps.connections.open", installed["app_token"].as_str().unwrap(), json!({}))
                .await;
            sockets.spawn(listen(open["url"].as_str().unwrap().to_owned(), app, Arc::clone(&stage)));
        }
    }
    let bots = Arc::new(bots);
    // A page that is open and reads nothing.
    let watcher = web.client.get(format!("{}lab/events?user=alice", web.base)).send().await.unwrap();
    // Every connection says hello before the first message.
    sleep(Duration::from_millis(500)).await;
    println!("{} sockets of {apps} apps, {} events a second", plan.sockets, plan.rate);
    let mut well = true;
    for (name, audience) in [("one channel with every app", apps), ("a direct message to one app each", 1)] {
        let rate = plan.rate / audience;
        let run = Run {
            name,
            audience,
            messages: rate * plan.seconds,
            period: Duration::from_secs_f64(1.0 / rate as f64),
            start: Instant::now() + Duration::from_millis(200),
        };
        well &= measure(plan, run, &web, server, &bots, &stage).await;
    }
    assert_eq!(watcher.status(), 200);
    well
}

fn main() -> ExitCode {
    drop(rustls::crypto::ring::default_provider().install_default());
    let plan = Plan::read();
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(plan.keep.then(|| folder.path()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if runtime.block_on(load(&plan, &server)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
