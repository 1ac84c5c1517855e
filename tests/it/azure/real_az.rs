//! The unmodified `az` works on the lab and prints what was recorded; so does the built-in one.
//!
//! `tests/run` installs it; `GHOST_TEST_WITHOUT=az` runs without. All recordings with `GHOST_LONG=1`, else a seeded 20; the built-in one
//! prints all of them always.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ghost_lab::host::HostError;
use serde_json::Value;
use tokio::task::JoinSet;

use super::native::place::Native;
use super::preloaded::Line;
use super::recorded::essential;
use super::recording::{names, read, recordings};
use super::stage::{Parrot, Stage};
use crate::random::{Random, is_long, seed, setting};

/// The release of the recordings.
const RELEASE: &str = "2.91.0";
/// So many recordings are played in the short run.
const SAMPLE: usize = 20;
/// It keeps a core busy each.
const AT_ONCE: usize = 2;

/// Returns the program; nothing where somebody wants to go without.
pub(crate) fn program() -> Option<PathBuf> {
    if setting("GHOST_TEST_WITHOUT").split(',').any(|name| name == "az") {
        return None;
    }
    let cache = setting("XDG_CACHE_HOME");
    let cache = if cache.is_empty() { PathBuf::from(setting("HOME")).join(".cache") } else { cache.into() };
    let program = cache.join(format!("ghost-tests/az-{RELEASE}/bin/az"));
    assert!(
        program.is_file(),
        "{} is not there: tests/az installs it, GHOST_TEST_WITHOUT=az runs without",
        program.display()
    );
    Some(program)
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: Option<i32>,
}

/// Runs a line of the real one on a lab, without warnings.
pub(super) async fn az(stage: &Stage, program: &Path, words: &[String]) -> Ran {
    let exports = stage.exports.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    Line::new(exports, stage.folder.path(), words.iter().cloned()).done(program).await
}

/// Which `az` is asked.
#[derive(Debug, Clone)]
enum Program {
    Real(PathBuf),
    BuiltIn,
    /// The native reader; the built-in one prepares.
    Native,
}

/// A lab, and an `az` that is led there.
struct Play {
    stage: Stage,
    program: Program,
    work: tempfile::TempDir,
    key: String,
}

impl Play {
    async fn az(&self, words: &[String]) -> Ran {
        // Warnings are what a user sees by default.
        let exports = self.stage.exports.iter().filter(|(name, _)| *name != "AZURE_CORE_ONLY_SHOW_ERRORS");
        let exports = exports.map(|(name, value)| ((*name).to_owned(), value.clone()));
        let line = |words: &[String]| Line::new(exports, self.work.path(), words.iter().cloned());
        match &self.program {
            Program::Real(program) => line(words).done(program).await,
            Program::BuiltIn | Program::Native => {
                let record = self.stage.folder.path().join("lab.json").to_str().unwrap().to_owned();
                let before = ["lab", "--lab", &record, "az", "--"].map(str::to_owned);
                line(&[&before, words].concat()).started_by(env!("CARGO_BIN_EXE_ghost").into()).await
            }
        }
    }

    /// Reads natively; nothing where it is left to the real one.
    async fn natively(&self, words: &[String]) -> Option<Ran> {
        let response = Native::over(&self.stage).read(words).await?;
        Some(Ran { out: response.output, err: response.stderr, exit: response.exit_code })
    }

    /// Puts in what a recording leaves out.
    fn filled(&self, text: &str) -> String {
        let (secure, plain) = (
            format!("https://localhost:{}", self.stage.port),
            format!("http://127.0.0.1:{}", self.stage.port),
        );
        let mut text = text.to_owned();
        for (hole, value) in [
            ("{{ARM}}", secure.as_str()),
            ("{{BLOBS}}", &secure),
            ("{{BLOB}}", &plain),
            ("{{IMDS}}", &plain),
            ("{{ARM_HOST}}", secure.trim_start_matches("https://")),
            ("{{BLOBS_HOST}}", secure.trim_start_matches("https://")),
            ("{{BLOB_HOST}}", plain.trim_start_matches("http://")),
            ("{{KEY}}", &self.key),
            ("{{SECRET}}", "a-secret"),
        ] {
            text = text.replace(hole, value);
        }
        text
    }

    fn words(&self, argv: &Value) -> Vec<String> {
        let words = argv.as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        // Before a recording its first word is left out.
        words
            .enumerate()
            .filter(|(at, word)| *at > 0 || *word != "az")
            .map(|(_, word)| self.filled(word))
            .collect()
    }

    fn config(&self) -> PathBuf {
        PathBuf::from(self.stage.export("AZURE_CONFIG_DIR"))
    }

    fn forget(&self, names: &[&str]) {
        for name in names {
            drop(std::fs::remove_file(self.config().join(name)));
        }
    }

    /// Does what stands before a recording.
    async fn prepare(&self, recorded: &Value) {
        let name = recorded["name"].as_str().unwrap();
        match name {
            "cloud-register" => {
                self.forget(&["clouds.config", "azureProfile.json", "config"]);
            }
            name if name.starts_with("err-not-logged-in") || name.starts_with("login-") => {
                self.forget(&["azureProfile.json"]);
            }
            _ => {}
        }
        for step in recorded["setup"].as_array().into_iter().flatten() {
            if let Some(argv) = step.get("az") {
                let words = self.words(argv);
                let ran = self.az(&words).await;
                assert_eq!(ran.exit, Some(0), "{name}: {words:?}: {}", ran.err);
            } else if let Some(file) = step["file"].as_str() {
                let bytes: Vec<u8> =
                    (0..step["bytes"].as_u64().unwrap()).map(|at| u8::try_from(at % 251).unwrap()).collect();
                std::fs::write(self.work.path().join(file), bytes).unwrap();
            } else if step["note"].as_str().is_some_and(|note| note.starts_with("service-principal sign-in"))
            {
                let sign = "login --service-principal -u 33333333-3333-3333-3333-333333333333 -p x --tenant 11111111-1111-1111-1111-111111111111";
                let ran = self.az(&sign.split(' ').map(str::to_owned).collect::<Vec<_>>()).await;
                assert_eq!(ran.exit, Some(0), "{name}: {}", ran.err);
                self.forget(&["msal_token_cache.json", "msal_token_cache.bin", "msal_http_cache.bin"]);
            } else if step["note"].is_null() {
                let step: Value = serde_json::from_str(&self.filled(&step.to_string())).unwrap();
                self.stage.remote().order("set", &step).await.unwrap();
            }
        }
    }
}

/// Plays a recording; returns what differs.
async fn play(program: Program, recorded: Value) -> Vec<String> {
    let stage = Stage::up(guests(&recorded)).await;
    let key = key(&stage).await;
    let play = Play { stage, program, work: tempfile::tempdir().unwrap(), key };
    play.prepare(&recorded).await;
    let name = recorded["name"].as_str().unwrap();
    let words = play.words(&recorded["argv"]);
    let ran = match play.program {
        Program::Native => {
            let answered = play.natively(&words).await;
            ANSWERED.fetch_add(usize::from(answered.is_some()), Ordering::SeqCst);
            answered
        }
        Program::Real(_) | Program::BuiltIn => Some(play.az(&words).await),
    };
    // What is left to the real one is not asked here.
    let Some(ran) = ran else {
        play.stage.down().await;
        return Vec::new();
    };
    let mut wrong = Vec::new();
    if ran.exit.map(i64::from) != recorded["exit"].as_i64() {
        wrong.push(format!("{name}: exit {:?} instead of {}\n{}", ran.exit, recorded["exit"], ran.err));
    }
    let kind = recorded["stdout_kind"].as_str().unwrap();
    let stdout = &recorded["stdout"];
    let printed =
        if kind == "json" { stdout.to_string() } else { stdout.as_str().unwrap_or_default().to_owned() };
    let reported = (steady(&play.filled(&printed)), steady(&ran.out));
    match kind {
        // What happened before is nothing that happened here.
        _ if name == "monitor-activity-log-list" => {}
        "json" => {
            let theirs = timeless(&serde_json::from_str(&reported.0).unwrap());
            let ours = timeless(&serde_json::from_str(&reported.1).unwrap_or_default());
            if essential(&theirs) != essential(&ours) {
                wrong.push(format!(
                    "{name}:\n  ours   {}\n  theirs {}",
                    essential(&ours),
                    essential(&theirs)
                ));
            }
        }
        "text" if reported.0.trim_end() != reported.1.trim_end() => {
            wrong.push(format!("{name}:\n  ours   {:?}\n  theirs {:?}", reported.1, reported.0));
        }
        "none" if !reported.1.is_empty() => wrong.push(format!("{name}: printed {:?}", reported.1)),
        _ => {}
    }
    let theirs = play.filled(recorded["stderr"].as_str().unwrap());
    let (ours, theirs) = (errors(&steady(&ran.err)), errors(&steady(&theirs)));
    if ours != theirs {
        wrong.push(format!("{name}:\n  ours   {ours:?}\n  theirs {theirs:?}"));
    }
    play.stage.down().await;
    wrong
}

/// Takes out what a clock, a counter or a measurement says.
fn steady(text: &str) -> String {
    let drawn = [
        (r"RequestId:[0-9a-f-]+", "RequestId:"),
        (r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)", "{{TIME}}"),
        (r"/\d{4}/\d\d/\d\d/packetcapture_[0-9_]+", "/packetcapture"),
        (r"0x8DD[0-9A-F]+", "0x"),
        (r#""(max|min|avg)LatencyInMs": ?\d+"#, r#""${1}LatencyInMs": 1"#),
        (r#""request_id": ?("[^"]*"|null)"#, r#""request_id": null"#),
    ];
    drawn.iter().fold(text.to_owned(), |text, (pattern, plain)| {
        regex::Regex::new(pattern).unwrap().replace_all(&text, *plain).into_owned()
    })
}

/// Takes out what the clock, or the server's own numbering, puts in; what is there has to be there all the same.
fn timeless(reported: &Value) -> Value {
    const DRAWN: [&str; 3] = ["lastModified", "date", "request_id"];
    match reported {
        Value::Object(map) => {
            let one = |(name, value): (&String, &Value)| {
                let drawn = DRAWN.contains(&name.as_str()) && value.is_string();
                (name.clone(), if drawn { Value::from("drawn") } else { timeless(value) })
            };
            Value::Object(map.iter().map(one).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(timeless).collect()),
        Value::String(text) if text.starts_with("\"0x8D") => Value::from("a tag"),
        other => other.clone(),
    }
}

/// Returns the error without what warned before it, what advises after it, and what the server numbers; a traceback as what it ends in.
fn errors(text: &str) -> Vec<String> {
    let reported = text.lines().skip_while(|line| !line.starts_with("ERROR:") && !line.contains("error: "));
    let reported =
        reported.take_while(|line| !line.starts_with("Examples from") && !line.starts_with("To learn more"));
    // The reference writes its JSON with blanks.
    let own = |line: &str| {
        let advice = line.starts_with("https://aka.ms/") || line.starts_with("Read more about");
        advice || line.starts_with("RequestId:") || line.starts_with("Time:") || line.is_empty()
    };
    let reported: Vec<String> = reported
        .map(|line| line.trim_end().replace("\": ", "\":").replace(", \"", ",\""))
        .filter(|line| !own(line))
        .collect();
    if reported.iter().any(|line| line.contains("Traceback") || line.contains("traceback")) {
        // The recordings shorten it: the reason stands behind the name of a class, or behind the word, or behind both.
        let reason =
            reported.iter().filter_map(|line| line.split_once("Error: ").or(line.split_once("ERROR: ")));
        let reason =
            reason.map(|(_, reason)| reason.to_owned()).filter(|reason| !reason.contains("traceback"));
        let mut reason: Vec<String> = reason.collect();
        reason.dedup();
        return reason;
    }
    reported
}

/// The guests say what those of the recording said.
fn guests(recorded: &Value) -> Parrot {
    let bodies =
        recorded["exchanges"].as_array().unwrap().iter().map(|exchange| &exchange["response"]["body"]);
    let message = bodies.filter_map(|body| body["value"][0]["message"].as_str()).next_back();
    Parrot(match message {
        Some(message) => {
            let (out, err) = message.rsplit_once("\n[stderr]\n").unwrap();
            Ok((out.split_once("[stdout]\n").unwrap().1.to_owned(), err.to_owned()))
        }
        None => Err(HostError::Lacking("nothing is recorded".to_owned())),
    })
}

/// Asks for the key of the account.
async fn key(stage: &Stage) -> String {
    let request = super::call::post(
        "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Storage/storageAccounts/nwlogs080613/listKeys",
    );
    let answer = stage.remote().send(None, &request).await.unwrap();
    super::call::document(&answer)["keys"][0]["value"].as_str().unwrap_or("none").to_owned()
}

/// Returns the names of all recordings, or of those that somebody wants.
fn wanted(place: &Path) -> Vec<String> {
    let only = setting("GHOST_TEST_RECORDING");
    names(place).into_iter().filter(|name| name.contains(&only)).collect()
}

/// Plays recordings, and fails where one is not printed as it was.
async fn printed(place: &Path, program: Program, names: Vec<String>) {
    let (mut running, mut wrong) = (JoinSet::new(), Vec::new());
    let asked = names.len();
    // One that stops halfway is no reason to stop the others.
    let reported = |done: Result<Vec<String>, tokio::task::JoinError>| {
        done.unwrap_or_else(|error| vec![error.to_string()])
    };
    for name in names {
        if running.len() == AT_ONCE {
            wrong.extend(reported(running.join_next().await.unwrap()));
        }
        running.spawn(play(program.clone(), read(&place.join(name))));
    }
    while let Some(done) = running.join_next().await {
        wrong.extend(reported(done));
    }
    let cut = |text: &String| text.chars().take(1500).collect::<String>();
    assert!(
        wrong.is_empty() && asked > 0,
        "{} of {asked}\n{}",
        wrong.len(),
        wrong.iter().map(cut).collect::<Vec<_>>().join("\n")
    );
}

#[tokio::test]
async fn az_prints_what_was_recorded() {
    let (Some(place), Some(program)) = (recordings(), program()) else { return };
    let mut names = wanted(&place);
    if !is_long() && setting("GHOST_TEST_RECORDING").is_empty() {
        let mut random = Random::new(seed("az_prints_what_was_recorded"));
        while names.len() > SAMPLE {
            names.swap_remove(random.below(names.len()));
        }
    }
    printed(&place, Program::Real(program), names).await;
}

#[tokio::test]
async fn the_built_in_az_prints_what_was_recorded_too() {
    let Some(place) = recordings() else { return };
    printed(&place, Program::BuiltIn, wanted(&place)).await;
}

/// How many recordings were read natively.
static ANSWERED: AtomicUsize = AtomicUsize::new(0);

/// Where the native reader does otherwise: it signs in by itself, asks a throttled question again, and says in words of its own what no
/// document is.
const OTHERWISE: [&str; 7] = [
    "err-not-json",
    "err-not-logged-in",
    "err-not-logged-in-account-list",
    "err-not-logged-in-account-show",
    "err-throttled-post-without-retry-after",
    "err-token-endpoint-down",
    "err-token-secret-expired",
];

#[tokio::test]
async fn the_native_reader_prints_what_was_recorded_too() {
    let Some(place) = recordings() else { return };
    let mut names = wanted(&place);
    names.retain(|name| !OTHERWISE.contains(&name.trim_end_matches(".json")));
    printed(&place, Program::Native, names).await;
    let answered = ANSWERED.load(Ordering::SeqCst);
    assert!(answered >= 50 || !setting("GHOST_TEST_RECORDING").is_empty(), "{answered} were read natively");
}
