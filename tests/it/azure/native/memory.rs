//! A process that holds a token and ends badly leaves no copy of its memory behind.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use serde_json::json;
use tokio::process::{Child, Command};

use super::secret::TOKEN;
use crate::azure::stage::Stage;
use crate::random::setting;

const NATIVE: &str = "[cloud]\nreader = \"native\"\n[azure.reader]\nsign_in = \"managed\"\n";

/// Starts a program without a limit for cores, in a folder of its own.
fn started(folder: &Path, stage: &Stage, words: &[&str]) -> Child {
    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -c unlimited 2>/dev/null; exec \"$@\"", "sh"]).args(words);
    command.env_clear().envs(stage.exports.iter().cloned()).env("PATH", setting("PATH")).env("HOME", folder);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true).spawn().unwrap()
}

/// Ends it as a defect would; returns how it ended and what it printed.
async fn aborted(child: Child) -> (ExitStatus, String) {
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::ABORT).unwrap();
    let output = child.wait_with_output().await.unwrap();
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status, printed.concat())
}

fn cores(folder: &Path) -> Vec<String> {
    let all =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    all.filter(|name| name.contains("core")).collect()
}

#[tokio::test]
async fn a_process_that_holds_a_token_leaves_no_core_file() {
    let stage = Stage::quiet().await;
    stage.remote().order("set", &json!({"lro_polls": 1_000_000})).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ghost.toml"), NATIVE).unwrap();
    let data = folder.path().join("data");
    let words = [
        env!("CARGO_BIN_EXE_ghost"),
        "--data-dir",
        data.to_str().unwrap(),
        "--config",
        "ghost.toml",
        "path",
        "collect",
        "-g",
        "nw-forensics-rg",
        "--out",
        "bundle",
    ];
    let child = started(folder.path(), &stage, &words);
    // The lists were read with the token; what is in effect at an interface never comes.
    let read = |text: &str| {
        text.matches("\"kind\":\"done\"").count() >= 5 && text.contains("show-effective-route-table")
    };
    let audit = async {
        loop {
            let files = std::fs::read_dir(data.join("audit")).into_iter().flatten();
            let text: String =
                files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
            if read(&text) {
                return text;
            }
            tokio::task::yield_now().await;
        }
    };
    let audit = audit.await;
    let id = child.id().unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    let (status, printed) = aborted(child).await;
    assert_eq!((status.signal(), status.core_dumped()), (Some(6), false));
    assert_eq!(cores(folder.path()), Vec::<String>::new());
    for text in [&audit, &printed] {
        assert!(!text.contains(TOKEN), "{text}");
    }
    // Where this machine writes cores at all, a program without a token leaves one in the same place.
    let other =
        started(folder.path(), &stage, &["/bin/sh", "-c", "kill -ABRT $$"]).wait_with_output().await.unwrap();
    println!("a program without a token left a core: {}", other.status.core_dumped());
    stage.down().await;
}
