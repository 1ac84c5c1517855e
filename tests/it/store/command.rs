//! The store as the command line names it: `[store]` and `ghost config check`.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::process;
use super::server::{Server, is_without};

/// Checks a configuration; returns the store's finding, and everything that was printed.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn check(folder: &Path, config: &str, environment: &[(&str, &str)]) -> (Value, String) {
    let file = folder.join("ghost.toml");
    std::fs::write(&file, config).unwrap();
    let output: Output = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["config", "check", "--json", "--config"])
        .arg(&file)
        .arg("--data-dir")
        .arg(folder.join("data"))
        .env_clear()
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let stderr = String::from_utf8([output.stdout.clone(), output.stderr].concat()).unwrap();
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let findings = answer.pointer("/findings").unwrap().as_array().unwrap().clone();
    let mut stores = findings.into_iter().filter(|finding| finding["what"] == "store");
    let finding = stores.next().unwrap();
    assert_eq!(stores.next(), None);
    (finding, stderr)
}

#[track_caller]
fn says(finding: &Value, state: &str, part: &str) {
    assert_eq!(finding["state"], state, "{finding}");
    assert!(finding["detail"].as_str().unwrap().contains(part), "{finding}");
}

#[test]
fn without_a_word_sessions_lie_in_a_file_that_a_check_does_not_make() {
    let folder = tempfile::tempdir().unwrap();
    let (finding, _) = check(folder.path(), "", &[]);
    says(&finding, "ok", "data/store.redb: made when it is needed");
    assert!(!folder.path().join("data").exists());
}

#[test]
fn a_file_that_another_process_holds_is_no_mistake_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let mut other = process::start(&data.join("store.redb"));
    // The other process lives as long as somebody listens to it.
    let mut acknowledged = process::acknowledged(&mut other);
    assert_eq!(acknowledged.next(), Some(0));
    let (finding, _) = check(folder.path(), "", &[]);
    drop(acknowledged);
    says(&finding, "warning", "another process holds");
    other.kill().unwrap();
    other.wait().unwrap();
    let (finding, _) = check(folder.path(), "", &[]);
    says(&finding, "ok", "answers");
}

#[test]
fn a_file_that_is_no_store_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("store.redb"), "something else".repeat(999)).unwrap();
    let (finding, _) = check(folder.path(), "", &[]);
    says(&finding, "problem", "store.redb");
}

#[test]
fn a_server_is_tried_with_the_password_from_any_of_its_places() {
    let Some(server) = Server::start() else { return };
    assert!(server.say("CONFIG SET requirepass hunter2").starts_with("+OK"));
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("password");
    std::fs::write(&secret, "hunter2\n").unwrap();
    let plain = format!("[store]\nurl = 'redis://127.0.0.1:{}'\n", server.port);
    let within = plain.replace("//", "//:hunter2@");
    let apart = format!("{plain}password_file = {secret:?}\n");
    let environment = [("GHOST_REDIS_PASSWORD", "hunter2")];
    for (config, environment) in [(&within, &[][..]), (&apart, &[]), (&plain, &environment)] {
        let (finding, stderr) = check(folder.path(), config, environment);
        says(&finding, "ok", &format!("redis://127.0.0.1:{}, prefix ghost: answers", server.port));
        assert!(!stderr.contains("hunter2"), "{stderr}");
    }
    let (finding, _) = check(folder.path(), &plain, &[]);
    says(&finding, "problem", "NOAUTH");
    let wrong = plain.replace("//", "//:hunter3@");
    let (finding, stderr) = check(folder.path(), &wrong, &[]);
    says(&finding, "problem", "does not accept the password");
    assert!(!stderr.contains("hunter3"), "{stderr}");
}

#[test]
fn a_server_that_is_not_there_and_a_password_that_is_not_there_are_problems() {
    let Some(mut server) = Server::start() else { return };
    server.kill();
    let folder = tempfile::tempdir().unwrap();
    let config = format!("[store]\nurl = 'redis://:hunter2@127.0.0.1:{}'\n", server.port);
    let (finding, stderr) = check(folder.path(), &config, &[]);
    says(&finding, "problem", "cannot be reached");
    assert!(!stderr.contains("hunter2"), "{stderr}");
    let (finding, _) =
        check(folder.path(), "[store]\nurl = 'redis://h'\npassword_file = '/nonexistent'\n", &[]);
    says(&finding, "problem", "password_file /nonexistent");
    let (finding, stderr) = check(folder.path(), "[store]\nurl = 'rediss://:hunter2@h#insecure'\n", &[]);
    says(&finding, "problem", "cannot be there");
    assert!(!stderr.contains("hunter2"), "{stderr}");
}

/// Makes an authority and a certificate of it for this host.
#[expect(clippy::disallowed_methods, reason = "certificates are made by the program that everybody has")]
fn certificates(folder: &Path) {
    let make = |arguments: &str| {
        let output = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
            .args(arguments.split_whitespace())
            .current_dir(folder)
            .output()
            .unwrap_or_else(|error| {
                panic!("openssl: {error} (install it, or set GHOST_TEST_WITHOUT=openssl)")
            });
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    make("-days 2 -subj /CN=authority -keyout ca.key -out ca.pem");
    make(
        "-days 2 -subj /CN=server -CA ca.pem -CAkey ca.key -keyout server.key -out server.pem \
         -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE",
    );
}

#[test]
fn tls_is_spoken_with_a_server_whose_certificate_is_trusted_and_with_no_other() {
    if is_without("openssl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let arguments = [
        ["--tls-port", &port],
        ["--tls-cert-file", &path("server.pem")],
        ["--tls-key-file", &path("server.key")],
        ["--tls-ca-cert-file", &path("ca.pem")],
        ["--tls-auth-clients", "no"],
    ];
    let Some(_server) = Server::with(arguments.as_flattened()) else { return };
    let config = format!("[store]\nurl = 'rediss://127.0.0.1:{port}'\n");
    let (finding, _) = check(folder.path(), &config, &[("SSL_CERT_FILE", &path("ca.pem"))]);
    says(&finding, "ok", "answers");
    let (finding, _) = check(folder.path(), &config, &[]);
    says(&finding, "problem", "certificate");
    let named = config.replace("127.0.0.1", "localhost");
    let (finding, _) = check(folder.path(), &named, &[("SSL_CERT_FILE", &path("ca.pem"))]);
    says(&finding, "problem", "certificate");
}
