//! Another process that drives sessions: this test binary, started again to run one test alone.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ghost_store::{EmbeddedStore, RedisConfig, RedisStore, Settings, Store};

use super::{crash, many, owners, worker};
use crate::random::setting;

const TASK: &str = "GHOST_TEST_SESSION_TASK";
const FOLDER: &str = "GHOST_TEST_SESSION_FOLDER";
const PLACE: &str = "GHOST_TEST_SESSION_PLACE";
const DETAIL: &str = "GHOST_TEST_SESSION_DETAIL";

/// What another process is started for.
pub(super) struct Job {
    /// The folder of the session's files.
    pub(super) folder: PathBuf,
    /// Where the store is; see [`open`].
    pub(super) place: String,
    /// What exactly it has to do.
    pub(super) detail: String,
}

/// Starts another process. Its standard output can be read.
#[expect(clippy::disallowed_methods, reason = "only a process of its own can be killed")]
pub(super) fn start(task: &str, folder: &Path, place: &str, detail: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "session::child::the_other_process", "--nocapture", "--test-threads=1"])
        .envs([(TASK, task), (PLACE, place), (DETAIL, detail)])
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Opens a store: the path of a file, or the address of a server, a space and a prefix.
pub(super) async fn open(place: &str) -> Arc<dyn Store> {
    let settings = Settings { poll: Duration::from_millis(20), ..Settings::default() };
    match place.split_once(' ') {
        Some((url, prefix)) => {
            let place = RedisConfig {
                answer: Duration::from_millis(500),
                connect: Duration::from_millis(500),
                ..RedisConfig::new(url, prefix)
            };
            Arc::new(RedisStore::connect(&place, settings).await.unwrap())
        }
        None => Arc::new(EmbeddedStore::open(Path::new(place), settings).unwrap()),
    }
}

/// Does what the other tests start this binary for; on its own it does nothing.
#[tokio::test]
async fn the_other_process() {
    let job = Job { folder: setting(FOLDER).into(), place: setting(PLACE), detail: setting(DETAIL) };
    match setting(TASK).as_str() {
        "crash" => crash::child(&job).await,
        "many" => many::child(&job).await,
        "own" => owners::child(&job).await,
        "work" => worker::child(&job).await,
        _ => {}
    }
}
