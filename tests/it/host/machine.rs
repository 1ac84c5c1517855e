//! `ghost host` on the machine of the test.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Copies a program by another process. One that this process writes is busy, as long as a process that it starts meanwhile has the open file.
#[expect(clippy::disallowed_methods, reason = "the file is not to be open here")]
pub(super) fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").args([from, to]).status().unwrap().success());
}

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(program: &Path, data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.arg("host").args(arguments).env_clear().env("GHOST_DATA_DIR", data).stdin(Stdio::null());
    command
}

fn run(data: &TempDir, arguments: &[&str]) -> Output {
    ghost(Path::new(env!("CARGO_BIN_EXE_ghost")), data.path(), arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[track_caller]
fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

#[test]
fn this_machine_is_read_whole_and_a_snapshot_of_it_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("well.json");
    let kept = kept.to_str().unwrap();
    let output = run(&folder, &["--json", "--as", "here", "--save", kept]);
    let now = document(&output);
    assert_eq!((&now["format"], &now["hosts"][0]["name"]), (&json!(1), &json!("here")), "{now:#}");
    assert_eq!(now["hosts"][0]["warnings"], json!([]), "{now:#}");
    if rustix::process::geteuid().is_root() {
        assert_eq!(
            (&now["hosts"][0]["is_root"], &now["hosts"][0]["closed"]),
            (&json!(true), &json!([])),
            "{now:#}"
        );
    }
    assert_eq!(std::fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
    let again = document(&run(&folder, &["--json", "--from", kept, "--diff", kept]));
    assert_eq!((&again["findings"], &again["changes"]), (&now["findings"], &json!([])), "{again:#}");
    let page = text(&run(&folder, &["--from", kept]));
    assert!(page.contains("here"), "{page}");
    // Every run is on record, and leaves nothing else.
    let audit: Vec<_> = std::fs::read_dir(folder.path().join("audit")).unwrap().collect();
    assert_eq!(audit.len(), 1);
}

#[test]
fn without_rights_it_reads_as_far_as_it_goes_and_says_what_was_closed() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // Nobody may enter the folder of the build.
    let folder = tempfile::tempdir().unwrap();
    let (program, data) = (folder.path().join("ghost"), folder.path().join("data"));
    copy_program(Path::new(env!("CARGO_BIN_EXE_ghost")), &program);
    std::fs::create_dir(&data).unwrap();
    for path in [folder.path(), &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::os::unix::fs::chown(&data, Some(65_534), Some(65_534)).unwrap();
    let output =
        ghost(&program, &data, &["--json"]).uid(65_534).gid(65_534).current_dir(&data).output().unwrap();
    let found = document(&output);
    let host = &found["hosts"][0];
    let closed: Vec<&str> =
        host["closed"].as_array().unwrap().iter().filter_map(|one| one["part"].as_str()).collect();
    assert_eq!(host["is_root"], json!(false));
    assert!(closed.contains(&"filter-nft"), "{found:#}");
    for open in ["links", "routes", "neighbors", "listeners", "settings", "counters-later"] {
        assert!(!closed.contains(&open), "{open}: {found:#}");
    }
}

#[test]
fn what_would_run_is_shown_and_only_what_is_named_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["--plan", "--to", "192.0.2.7:443", "--name", "www.example.com"]);
    let shown = text(&output);
    for part in [
        "SAFE",
        "sh -c <script host-state>",
        "all=192.0.2.7:443",
        "all=www.example.com",
        "nft -j list ruleset",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let odd = ["--to", "a b", "--to=-x", "--json", "--name", "$(id)", "--to", "a:0"];
    for pair in odd.chunks(2) {
        let output = run(&folder, pair);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{}", text(&output));
    }
    assert_eq!(run(&folder, &["--seconds", "99"]).status.code(), Some(2));
}

#[test]
fn a_port_that_nobody_listens_on_is_bad_news_and_a_file_that_is_no_snapshot_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = run(&folder, &["--json", "--exit-code", "--to", &format!("127.0.0.1:{free}")]);
    let found = document(&output);
    assert_eq!(output.status.code(), Some(3), "{found:#}");
    assert_eq!(found["reached"][0]["tcp"]["outcome"], json!("refused"), "{found:#}");
    let object = format!("service/localhost/tcp/{free}");
    let named = |one: &Value| one["fault"] == json!("not_listening") && one["object"] == json!(object);
    assert!(found["findings"].as_array().unwrap().iter().any(named), "{found:#}");

    for content in [
        "",
        "{}",
        "{\"format\":1,\"taken\":\"x\",\"hosts\":{}}",
        "{\"format\":2,\"taken\":\"x\",\"hosts\":{\"a\":{}}}",
        "\u{7f}ELF",
    ] {
        let path = folder.path().join("odd.json");
        std::fs::write(&path, content).unwrap();
        let output = run(&folder, &["--from", path.to_str().unwrap()]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{content:?}");
        assert!(text(&output).contains("hint: `ghost host --save FILE` writes one"), "{}", text(&output));
    }
    // A machine that lies: what it says is not taken for more than text.
    let path = folder.path().join("lies.json");
    let hosts = json!({"web\u{1b}[2J": {"links": {"code": 0, "text": "[[[["}, "routes": {"code": 0, "text": "[{\"dst\":\"x\"}]"}, "about": {"code": 9, "text": "\u{1b}]0;x\u{7}"}}});
    std::fs::write(&path, json!({"format": 1, "taken": "now", "hosts": hosts}).to_string()).unwrap();
    let output = run(&folder, &["--from", path.to_str().unwrap(), "--exit-code"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(!output.stdout.contains(&0x1b), "{}", text(&output));
}

#[test]
fn a_watch_that_is_asked_to_end_while_it_reads_ends_by_itself() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::{BufRead as _, BufReader, Read as _};

    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_ghost"));
    let mut command = ghost(program, folder.path(), &["--watch", "--as", "here"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|note| note.unwrap().contains("read the network")));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut page = String::new();
    child.stdout.take().unwrap().read_to_string(&mut page).unwrap();
    let said: Vec<String> = notes.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{page} {said:?}");
}
