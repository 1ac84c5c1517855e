//! What SAFE commands put on the wire: nothing that a server reads as more than the one question.
//!
//! Thousands of command lines are drawn, hostile ones among them; those that are SAFE run against a server that records every byte,
//! against Redis and against nginx with WebDAV. `GHOST_LONG=1` draws thirty times as many, `GHOST_TEST_SEED=N` repeats a run, and
//! `GHOST_TEST_WITHOUT=curl,openssl,dig,host,redis-server,nginx` runs without one of these programs.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod attempt;
mod chance;
mod program;
mod recorder;
mod request;
mod servers;

use ghost_shell::{Policy, Verdict};

use attempt::{Place, attempts, known_attacks};
use chance::{Chance, is_long, seed};
use program::run;
use recorder::Recorder;
use request::requests;
use servers::{Nginx, Redis};

/// Command lines that are drawn in the short run, for each server.
const DRAWN: usize = 300;

/// Returns the words of the commands among these that are SAFE.
fn safe(commands: &[String]) -> Vec<Vec<String>> {
    let policy = Policy::builtin().unwrap();
    let ruled = commands.iter().map(|command| (command, policy.classify(command)));
    ruled
        .filter(|(_, ruling)| ruling.verdict == Verdict::Safe)
        .map(|(command, ruling)| ruling.argv.unwrap_or_else(|| panic!("{command} is SAFE and has no words")))
        .collect()
}

fn drawn(test: &str, place: &Place) -> Vec<String> {
    let mut chance = Chance::new(seed(test));
    let count = if is_long() { DRAWN * 30 } else { DRAWN };
    let mut all = known_attacks(place);
    all.extend((0..count).map(|_| attempts(&mut chance, place)));
    all
}

/// True if a server that reads lines takes this one for a command, whatever stands behind its first word.
fn is_a_command(line: &[u8]) -> bool {
    let word = line.split(|byte| matches!(byte, b' ' | b'\r' | b'\0')).next().unwrap();
    word == b"flush_all" || word == b"\"FLUSHALL\""
}

#[test]
fn a_safe_request_is_one_get_with_known_headers_and_nothing_else_byte_by_byte() {
    let recorder = Recorder::start();
    let commands = drawn("a_safe_request_is_one_get", &Place { port: recorder.port });
    let safe = safe(&commands);
    let (mut asked, mut ran) = (0, 0);
    for argv in &safe {
        if !run(argv) {
            continue;
        }
        ran += 1;
        for sent in recorder.received() {
            match (argv[0].as_str(), sent.as_slice()) {
                // A handshake of TLS, a DNS query: bytes of a protocol, in which no line of the caller's may stand.
                ("curl", [first, ..]) if *first != 0x16 => {
                    let found = requests(&sent).unwrap_or_else(|why| {
                        panic!("{argv:?} sent {:?}: {why}", String::from_utf8_lossy(&sent))
                    });
                    asked += found;
                    let addresses = argv.iter().filter(|word| word.contains("://")).count();
                    assert!(found <= addresses, "{argv:?} sent {found} requests");
                }
                _ => {
                    assert!(
                        !sent.split(|byte| *byte == b'\n').any(is_a_command),
                        "{argv:?} sent {:?}",
                        String::from_utf8_lossy(&sent)
                    );
                }
            }
        }
    }
    println!("{} of {} are SAFE, {ran} ran, {asked} requests arrived", safe.len(), commands.len());
    assert!(asked * 10 > commands.len(), "only {asked} requests of {} commands arrived", commands.len());
}

#[test]
fn no_safe_command_changes_what_a_redis_server_holds() {
    let Some(redis) = Redis::start() else { return };
    let before = redis.content();
    let safe = safe(&drawn("no_safe_command_changes_redis", &Place { port: redis.port }));
    for argv in &safe {
        run(argv);
    }
    assert_eq!(redis.content(), before);
    // The four of the test itself, and what a request's first line is to Redis: GET with too many words.
    assert_eq!(redis.commands(), ["dbsize", "get", "info", "keys", "set"]);
}

#[test]
fn no_safe_command_changes_a_file_of_a_web_server_that_may_be_written() {
    let Some(nginx) = Nginx::start() else { return };
    let before = nginx.files();
    assert_eq!(before, ["index.html", "victim.txt"]);
    let safe = safe(&drawn("no_safe_command_changes_a_file", &Place { port: nginx.port }));
    for argv in &safe {
        run(argv);
    }
    assert_eq!(nginx.files(), before);
    // The server does what it is asked: otherwise nothing was shown.
    nginx.delete("/victim.txt");
    assert_eq!(nginx.files(), ["index.html"]);
}

#[test]
fn what_writes_a_line_of_its_own_is_not_safe_in_a_list_and_in_a_guest_either() {
    let policy = Policy::builtin().unwrap();
    for command in known_attacks(&Place { port: 8080 }) {
        let quoted = command.replace('\'', r"'\''");
        let texts = [
            command.clone(),
            format!("uname; {command}"),
            format!("{command} | head -n 3"),
            format!("timeout 5 {command}"),
            format!("az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts '{quoted}'"),
        ];
        for text in texts {
            assert_ne!(policy.classify(&text).verdict, Verdict::Safe, "{text}");
        }
    }
}
