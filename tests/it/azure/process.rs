//! `ghost lab`, as a process: it comes up, is found, and leaves nothing.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Makes a call of the program with a data folder, which stands first: behind `--` it would be somebody else's.
pub(crate) fn ghost(data: &Path, words: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    command.arg("--data-dir").arg(data).args(words).env_clear().stdin(Stdio::null());
    command
}

pub(crate) fn run(data: &Path, words: &[&str]) -> Output {
    ghost(data, words).output().unwrap()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A lab that runs.
pub(crate) struct Up {
    pub(crate) child: Child,
    pub(crate) lines: Vec<String>,
}

impl Up {
    pub(crate) fn new(data: &Path, words: &[&str]) -> Self {
        let mut child =
            ghost(data, &[&["lab", "up"], words].concat()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        for line in out.lines() {
            lines.push(line.unwrap());
            if lines.last().is_some_and(|line| line == "# ready") {
                break;
            }
        }
        assert_eq!(lines.last().map(String::as_str), Some("# ready"));
        Self { child, lines }
    }

    pub(crate) fn export(&self, name: &str) -> &str {
        let start = format!("export {name}=");
        self.lines.iter().find_map(|line| line.strip_prefix(&start)).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn data() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    (folder, data)
}

fn left(data: &Path) -> Vec<String> {
    std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_lab_prints_what_leads_to_it_and_nothing_for_a_shell_to_expand() {
    let (_folder, data) = data();
    let up = Up::new(&data, &[]);
    for line in up.lines.iter().filter(|line| !line.starts_with("# ")) {
        let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
        assert!(
            name != "PATH" && !value.contains(['$', '`', '\\', '~', '*', ';', '&', '|', '<', '>', '"']),
            "{line}"
        );
    }
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(up.export("AZURE_CONFIG_DIR"))), 0o700);
    assert_eq!(mode(&data.join("lab.json")), 0o600);
    let note =
        up.lines.iter().find_map(|line| line.strip_prefix("# no az here? this folder has one: ")).unwrap();
    let script = std::fs::read_to_string(Path::new(note).join("az")).unwrap();
    assert!(script.contains("lab.json az -- \"$@\""), "{script}");
    let record: Value = serde_json::from_slice(&std::fs::read(data.join("lab.json")).unwrap()).unwrap();
    assert_eq!(record["pid"], up.child.id());
    assert_eq!(format!("{}/msi/token", record["url"].as_str().unwrap()), up.export("IDENTITY_ENDPOINT"));
}

#[test]
fn whatever_ends_a_lab_it_leaves_nothing() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (_folder, data) = data();
        let mut up = Up::new(&data, &[]);
        up.signal(signal);
        assert!(up.child.wait().unwrap().success());
        assert_eq!(left(&data), Vec::<String>::new(), "{signal:?}");
    }
    let (_folder, data) = data();
    let mut up = Up::new(&data, &[]);
    assert!(run(&data, &["lab", "down"]).status.success());
    // The order is answered when there is nothing left.
    assert_eq!(left(&data), Vec::<String>::new());
    assert!(up.child.wait().unwrap().success());
}

#[test]
fn a_killed_lab_is_cleaned_up_by_the_next_command() {
    for words in [
        &["lab", "state"][..],
        &["lab", "reset", "--json"],
        &["lab", "az", "--", "vm", "list"],
        &["lab", "down"],
    ] {
        let (_folder, data) = data();
        let mut up = Up::new(&data, &[]);
        up.child.kill().unwrap();
        up.child.wait().unwrap();
        assert!(left(&data).contains(&"lab.json".to_owned()));
        let next = run(&data, words);
        assert_eq!((next.status.code(), next.stdout.len()), (Some(1), 0));
        assert!(err(&next).contains("what a dead one had left"), "{}", err(&next));
        assert_eq!(left(&data), Vec::<String>::new());
    }
    let (_folder, data) = data();
    Up::new(&data, &[]).child.kill().unwrap();
    drop(Up::new(&data, &[]));
}

#[test]
fn two_labs_do_not_share_a_place_and_another_file_finds_another_lab() {
    let (_folder, data) = data();
    let (_other, elsewhere) = self::data();
    let up = Up::new(&data, &[]);
    let second = run(&data, &["lab", "up"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(
        err(&second).contains("a lab runs already") && err(&second).contains("hint: `ghost lab down`"),
        "{}",
        err(&second)
    );
    let port = up.export("HTTP_PROXY").rsplit(':').next().unwrap().to_owned();
    let taken = run(&elsewhere, &["lab", "up", "--port", &port]);
    assert!(err(&taken).contains(&format!("cannot listen on port {port}")), "{}", err(&taken));
    let file = data.join("lab.json");
    let state = run(&elsewhere, &["lab", "--lab", file.to_str().unwrap(), "state", "--json"]);
    let reported: Value = serde_json::from_slice(&state.stdout).unwrap();
    assert_eq!(reported["pid"], up.child.id());
    assert!(err(&run(&elsewhere, &["lab", "state"])).contains("no lab runs"));
}

#[test]
fn what_cannot_be_set_or_read_is_reported_with_a_hint() {
    let (folder, data) = data();
    let up = Up::new(&data, &[]);
    for (words, expected) in [
        (&["lab", "set", "colour=1"][..], "`colour` cannot be set"),
        (&["lab", "set", "polls"], "not of the form KEY=VALUE"),
        (&["lab", "set", "power=nobody:running"], "there is no machine `nobody`"),
        (&["lab", "set", "fault=(", "status=500"], "no regular expression"),
    ] {
        let refused = run(&data, words);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0));
        assert!(err(&refused).contains(expected) && err(&refused).contains("error: "), "{}", err(&refused));
    }
    let set = run(&data, &["lab", "set", "lro_polls=2", "power=tf-dest-vm:stopped"]);
    assert!(set.status.success(), "{}", err(&set));
    let reported: Value = serde_json::from_slice(&run(&data, &["lab", "state", "--json"]).stdout).unwrap();
    assert_eq!(reported["knobs"]["lro_polls"], 2);
    drop(up);
    let estate = folder.path().join("estate.json");
    for text in ["", "{", "[]", "{\"subscription\": {}}"] {
        std::fs::write(&estate, text).unwrap();
        let refused = run(&data, &["lab", "up", "--estate", estate.to_str().unwrap()]);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0), "{text}");
        assert!(
            err(&refused).contains("reading the estate") && err(&refused).contains("hint: "),
            "{}",
            err(&refused)
        );
    }
    assert_eq!(run(&data, &["lab", "set"]).status.code(), Some(2));
    assert_eq!(run(&data, &["lab", "up", "--hosts", "real"]).status.code(), Some(2));
}

#[test]
fn the_built_in_az_needs_the_file_of_the_lab_and_nothing_else() {
    let (_folder, data) = data();
    let words = ["lab", "az", "--", "group", "exists", "-n", "nw-forensics-rg", "-o", "tsv"];
    let call = |words: &[&str]| ghost(&data, words);
    assert_eq!(call(&words).output().unwrap().status.code(), Some(1));
    let _up = Up::new(&data, &[]);
    let reported = call(&words).output().unwrap();
    assert_eq!((String::from_utf8_lossy(&reported.stdout).as_ref(), err(&reported).as_str()), ("true\n", ""));
    // What stands behind `--` is the command's alone, and what stands before it is this program's.
    let place = data.to_str().unwrap();
    let before =
        ["lab", "az", "--data-dir", place, "--", "group", "exists", "-n", "nw-forensics-rg", "-o", "tsv"];
    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    let mut bare = Command::new(env!("CARGO_BIN_EXE_ghost"));
    let reported = bare.args(before).env_clear().stdin(Stdio::null()).output().unwrap();
    assert_eq!((String::from_utf8_lossy(&reported.stdout).as_ref(), err(&reported).as_str()), ("true\n", ""));
    let reported = run(&data, &[&words[..], &["--data-dir", "/x"]].concat());
    assert_eq!((reported.status.code(), reported.stdout.len()), (Some(2), 0));
    assert!(err(&reported).contains("unrecognized arguments: --data-dir /x"), "{}", err(&reported));
    // A reader that goes away is no failure worth a word.
    let mut child = call(&["lab", "az", "--", "vm", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(err(&child.wait_with_output().unwrap()), "");
}
