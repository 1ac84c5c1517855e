//! Machines that are asked about again: a session that was paused, what changed since a state that was kept, the doctor over an inventory.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::asked::{Ended, Place, ghost, investigate};
use super::sshd::{Keys, Sshd, program, skipped, within};

#[test]
fn a_session_that_was_paused_finds_its_machines_in_its_record() {
    if skipped() {
        return;
    }
    let (keys, home) = (Keys::new(), tempfile::tempdir().unwrap());
    let server = Sshd::up(&keys, None, "127.0.0.1", None);
    let known = keys.known(&[("127.0.0.1", server.port)]);
    let port = server.port.to_string();
    let (key, known) = (keys.at("user"), known.display().to_string());
    let words =
        ["names fail on this box", "--host", "root@127.0.0.1", "--ssh-port", &port, "--known-hosts", &known];
    let words: Vec<&str> = words.into_iter().chain(["--ssh-key", key.to_str().unwrap()]).collect();
    let mut command = investigate(ghost(), None, home.path(), &words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut session = String::new();
    // Paused in the middle of the reading.
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        session = event["session"].as_str().unwrap().to_owned();
        if event["kind"] == "executing" {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        }
    }
    child.wait().unwrap();
    // Nothing says any more how the machine is reached, but the record.
    let ended = Ended::read(investigate(ghost(), None, home.path(), &["--resume", &session]));
    assert_eq!((ended.of("approval_requested").len(), ended.of("observed").len()), (0, 1));
    assert!(!ended.concluded()["summary"].as_str().unwrap().contains("could not be read"));
}

/// Somebody else signs in at the machine, and is not done yet: that is the one sign-in that it takes.
fn somebody_else(server: &Sshd) -> TcpStream {
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
    // Its first words come once it was counted.
    let mut first = [0];
    connection.read_exact(&mut first).unwrap();
    connection
}

#[test]
fn a_machine_that_takes_no_more_sign_ins_is_asked_again_by_a_session_and_by_the_command_line() {
    if skipped() {
        return;
    }
    let (keys, home) = (Keys::new(), tempfile::tempdir().unwrap());
    let server = Sshd::of_one_sign_in(&keys);
    let known = keys.known(&[("127.0.0.1", server.port)]).display().to_string();
    let (port, key) = (server.port.to_string(), keys.at("user").display().to_string());
    let access =
        ["--host", "root@127.0.0.1", "--ssh-port", &port, "--known-hosts", &known, "--ssh-key", &key];

    let mut other = Some(somebody_else(&server));
    let words: Vec<&str> = ["names fail on this box"].into_iter().chain(access).collect();
    let mut command = investigate(ghost(), None, home.path(), &words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut exits = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["kind"] == "done" {
            exits.push(event["body"]["exit_code"].as_i64());
            other.take();
        }
        if event["kind"] == "concluded" {
            assert!(!event["body"]["summary"].as_str().unwrap().contains("could not be read"), "{event:#}");
        }
    }
    assert!(child.wait().unwrap().success());
    assert!(exits.starts_with(&[Some(255)]) && exits.ends_with(&[Some(0)]), "{exits:?}");

    let mut other = Some(somebody_else(&server));
    let mut command = program(env!("CARGO_BIN_EXE_ghost"));
    command.args(["host", "--json"]).args(access).env_clear().env("GHOST_DATA_DIR", home.path());
    let document = home.path().join("read.json");
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&document).unwrap()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = Vec::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        said.push(line.unwrap());
        if said.last().unwrap().contains("once more in") {
            other.take();
        }
    }
    assert!(child.wait().unwrap().success(), "{said:?}");
    let read: Value = serde_json::from_str(&std::fs::read_to_string(&document).unwrap()).unwrap();
    assert!(other.is_none() && read["hosts"][0]["name"] == "127.0.0.1", "{said:?}");
}

#[test]
fn a_session_whose_key_is_gone_says_what_to_give() {
    if skipped() {
        return;
    }
    let (keys, home) = (Keys::new(), tempfile::tempdir().unwrap());
    let server = Sshd::up(&keys, None, "127.0.0.1", Some("tail -f /dev/null"));
    let known = keys.known(&[("127.0.0.1", server.port)]).display().to_string();
    let (port, key) = (server.port.to_string(), home.path().join("key"));
    std::fs::copy(keys.at("user"), &key).unwrap();
    let words =
        ["names fail on this box", "--host", "root@127.0.0.1", "--ssh-port", &port, "--known-hosts", &known];
    let words: Vec<&str> = words.into_iter().chain(["--ssh-key", key.to_str().unwrap()]).collect();
    let mut command = investigate(ghost(), None, home.path(), &words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut session = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        session = event["session"].as_str().unwrap().to_owned();
        if event["kind"] == "executing" {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        }
    }
    child.wait().unwrap();
    std::fs::remove_file(&key).unwrap();
    let output = investigate(ghost(), None, home.path(), &["--resume", &session]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains(key.to_str().unwrap()) && said.contains("--host 127.0.0.1"), "{said}");
}

#[test]
fn the_doctor_reads_an_inventory_and_what_it_keeps_says_later_what_changed() {
    if skipped() || crate::netns::skipped() {
        return;
    }
    let place = Place::up();
    let doctor = |more: &[&str]| {
        let mut command = within(Some(&place.space("c")), ghost().to_str().unwrap());
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", place.home.path());
        command
            .arg("host")
            .args(place.inventory())
            .args(more)
            .arg("--data-dir")
            .arg(place.home.path().join("data"));
        command.stdin(Stdio::null()).output().unwrap()
    };
    let nothing = place.ask("what changed on box-a since yesterday?");
    let concluded = nothing.concluded();
    assert_eq!(concluded["outcome"], "INCONCLUSIVE", "{concluded:#}");
    assert!(concluded["summary"].as_str().unwrap().contains("ghost host --keep"), "{concluded:#}");

    let output = doctor(&["--json", "--keep"]);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let names: Vec<&str> =
        report["hosts"].as_array().unwrap().iter().map(|host| host["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["box-a", "box-b"]);

    let same = place.ask("what changed on box-a since yesterday?");
    let concluded = same.concluded();
    assert_eq!(concluded["outcome"], "NO_FAULT_FOUND", "{concluded:#}");
    let mut route = within(Some(&place.space("a")), "ip");
    route.args(["route", "add", "blackhole", "192.0.2.0/24"]);
    assert!(route.status().unwrap().success());
    let changed = place.ask("what changed on box-a since yesterday?");
    let concluded = changed.concluded();
    let said = concluded["summary"].as_str().unwrap();
    assert!(said.contains("box-a") && said.contains("blackhole 192.0.2.0/24"), "{concluded:#}");
}
