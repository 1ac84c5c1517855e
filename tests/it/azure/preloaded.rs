//! The unmodified `az`, whose modules are loaded once and not for each line: `preloaded.py` says how.
//!
//! With `GHOST_LONG=1` every line starts the program, as a user does. Whatever runs in the sandbox of the safety shell starts it always.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::real_az::Ran;
use crate::random::{is_long, setting};

/// A line for the real one: its whole environment, the folder that it runs in, its words.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) folder: PathBuf,
    pub(crate) words: Vec<String>,
}

impl Line {
    /// Adds what every line gets.
    pub(crate) fn new(
        exports: impl Iterator<Item = (String, String)>,
        home: &Path,
        words: impl Iterator<Item = String>,
    ) -> Self {
        let home = home.to_str().unwrap().to_owned();
        let own = [
            ("PATH", setting("PATH")),
            ("HOME", home.clone()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("NO_COLOR", "1".to_owned()),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        Self { environment: exports.chain(own).collect(), folder: home.into(), words: words.collect() }
    }

    /// Runs it.
    pub(crate) fn run(&self, program: &Path) -> Ran {
        if is_long() { self.started(program) } else { self.forked(program) }
    }

    /// Runs it while others of the runtime go on.
    pub(crate) async fn done(self, program: &Path) -> Ran {
        let program = program.to_owned();
        tokio::task::spawn_blocking(move || self.run(&program)).await.unwrap()
    }

    /// Starts another program with it, the built-in `az` for instance.
    pub(super) async fn started_by(self, program: PathBuf) -> Ran {
        tokio::task::spawn_blocking(move || self.started(&program)).await.unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    fn started(&self, program: &Path) -> Ran {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().cloned()).args(&self.words);
        let done = command.current_dir(&self.folder).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { out: text(&done.stdout), err: text(&done.stderr), exit: done.status.code() }
    }

    fn forked(&self, program: &Path) -> Ran {
        let mut stream = UnixStream::connect(socket(program)).unwrap();
        let environment: serde_json::Map<String, Value> =
            self.environment.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let line = json!({"environment": environment, "folder": self.folder, "words": self.words});
        writeln!(stream, "{line}").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{line}: {answer}"));
        let text = |field: &str| answer[field].as_str().unwrap().to_owned();
        let exit = answer["exit"].as_i64().and_then(|exit| i32::try_from(exit).ok());
        Ran { out: text("out"), err: text("err"), exit }
    }
}

/// Returns where the process with the modules takes lines; it ends with this one, whose end of a pipe it reads.
#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
fn socket(program: &Path) -> &'static Path {
    static SOCKET: OnceLock<PathBuf> = OnceLock::new();
    SOCKET.get_or_init(|| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/azure/preloaded.py");
        let mut command = Command::new(program.with_file_name("python"));
        // As the program itself has it.
        command.arg(script).env_clear().env("AZ_INSTALLER", "PIP").env("LC_ALL", "C.UTF-8");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut path = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut path).unwrap();
        // Nobody waits for it: its end of the pipe stays open as long as this process lives.
        std::mem::forget(child);
        PathBuf::from(path.trim_end())
    })
}
