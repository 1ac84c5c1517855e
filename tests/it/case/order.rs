//! Cases in a lab that listens, and in the program.

use std::path::Path;
use std::sync::Arc;

use ghost_base::SystemClock;
use ghost_capture_files::account;
use ghost_lab::LabClock;
use ghost_lab::case::{CASES, Cases, active_case, embedded, names};
use ghost_lab::control::{Lab, OrderHandler};
use serde_json::{Value, json};

use super::stage::{Remembering, usual};

struct Open {
    lab: Arc<Lab>,
    cases: Cases,
    guests: Arc<Remembering>,
    data: tempfile::TempDir,
}

fn open() -> Open {
    let data = tempfile::tempdir().unwrap();
    let guests = Arc::new(Remembering::default());
    let cloud = usual();
    let lab = Lab::new(cloud, guests.clone(), LabClock::new(Arc::new(SystemClock)), Vec::new()).unwrap();
    let cases = Cases::new(data.path().to_owned(), account);
    Open { lab, cases, guests, data }
}

impl Open {
    async fn order(&self, name: &str, body: Value) -> Result<Value, String> {
        let done = self.cases.call(&self.lab, name, &body).await.unwrap();
        done.map_err(|refused| format!("{} ({})", refused.what, refused.hint.unwrap_or_default()))
    }

    fn estate(&self) -> String {
        serde_json::to_string(&self.lab.cloud().documents()).unwrap()
    }
}

#[tokio::test]
async fn a_lab_takes_orders_about_cases() {
    let open = open();
    let before = open.estate();
    assert!(open.order("check", Value::Null).await.unwrap_err().contains("ghost lab inject"));
    assert_eq!(open.order("case", Value::Null).await.unwrap()["case"], Value::Null);
    let reported = open.order("inject", json!({"case": embedded("a").unwrap()})).await.unwrap();
    assert_eq!((reported["id"].as_str(), reported["phase"].as_u64()), (Some("a"), Some(1)));
    assert!(
        reported["prompt"].as_str().unwrap().contains("8080")
            && open.estate().contains("ghost-demo-block-8080")
    );
    assert_eq!(open.order("case", Value::Null).await.unwrap()["case"], "a");
    let checked = open.order("check", Value::Null).await.unwrap();
    assert_eq!(checked["seen"][0]["seen"], true, "{checked}");
    assert_eq!(open.order("reset", Value::Null).await.unwrap()["case"], "a: The Invisible Wall");
    assert_eq!(open.order("reset", Value::Null).await.unwrap()["case"], Value::Null);
    assert_eq!(open.estate(), before);
    assert!(open.cases.call(&open.lab, "state", &Value::Null).await.is_none());
    assert!(open.order("inject", json!({"case": 1})).await.is_err());
    assert!(open.order("inject", json!({"case": "id = 1"})).await.unwrap_err().contains("line 1"));
}

#[tokio::test]
async fn whoever_ordered_it_may_go_away_and_it_is_whole_all_the_same() {
    let open = open();
    let before = open.estate();
    // The order is begun, and dropped at the first wait.
    let begun = tokio::time::timeout(
        std::time::Duration::ZERO,
        open.order("inject", json!({"case": embedded("o").unwrap()})),
    )
    .await;
    assert!(begun.is_err());
    // The next order waits its turn.
    assert!(
        open.order("reset", Value::Null).await.unwrap()["case"]
            .as_str()
            .is_none_or(|case| case.starts_with("o:"))
    );
    if active_case(open.data.path()).unwrap().is_some() {
        open.order("reset", Value::Null).await.unwrap();
    }
    assert_eq!(open.estate(), before);
    assert_eq!(open.guests.now.lock().unwrap().ran.len(), 0);
}

#[tokio::test]
async fn what_the_platform_shows_of_every_case_is_seen_and_gone() {
    let open = open();
    for (name, text) in CASES {
        open.order("inject", json!({"case": text})).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let there = open.order("check", Value::Null).await.unwrap();
        let platform = |seen: &&Value| {
            let command = seen["command"].as_str().unwrap();
            command.starts_with("az ") && !command.contains("packet-capture")
        };
        for seen in there["seen"].as_array().unwrap().iter().filter(platform) {
            assert_eq!(seen["seen"], seen["expected"], "{name}: {seen}");
        }
        open.order("reset", Value::Null).await.unwrap();
    }
}

fn ghost(arguments: &[&str]) -> (i32, String, String) {
    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_ghost")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ran.status.code().unwrap(), text(ran.stdout), text(ran.stderr))
}

#[test]
fn the_program_lists_and_shows_cases_without_a_lab() {
    let (code, listed, _) = ghost(&["lab", "cases"]);
    assert_eq!((code, listed.lines().count()), (0, names().count() + 1));
    assert!(listed.lines().next().unwrap().split_whitespace().eq(["CASE", "WHAT", "HAPPENS"]), "{listed}");
    let (_, drawn, _) = ghost(&["lab", "cases", "-o", "markdown"]);
    assert!(drawn.starts_with("| CASE | WHAT HAPPENS |\n| --- | --- |\n"), "{drawn}");
    let (_, text, _) = ghost(&["lab", "cases", "J", "--text"]);
    assert_eq!(text.trim_end(), embedded("j").unwrap().trim_end());
    let (_, shown, _) = ghost(&["lab", "cases", "t"]);
    assert!(
        shown.contains("Prompt 2:")
            && shown.contains("route_dead_nva route/ghost-demo-t-rt/all-egress-to-nva")
    );
    let (_, reported, _) = ghost(&["lab", "cases", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&reported).unwrap().as_array().unwrap().len(), names().count());
}

#[test]
fn the_program_says_what_to_do_where_it_cannot_inject() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    let (code, out, error) = ghost(&["lab", "inject", "j", "--data-dir", folder]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("hint: `ghost lab up` starts one"), "{error}");
    let (code, _, error) = ghost(&["lab", "inject", "zz", "--data-dir", folder]);
    assert!(
        code == 1 && error.contains("there is no case `zz`") && error.contains("hint: there is a, b, c"),
        "{error}"
    );
    let file = data.path().join("x.toml");
    std::fs::write(&file, "id = \"x\"\ntitle = \"x\"\nprompt = \"x\"\noutcome = [\"LIKELY\"]\n[[fault]]\nkind = \"netem\"\nvm = \"a\"\nloss = 200\n").unwrap();
    let (code, _, error) = ghost(&["lab", "inject", file.to_str().unwrap(), "--data-dir", folder]);
    assert!(
        code == 1 && error.contains("line 8: `loss` is `200`") && error.contains("hint: a share"),
        "{error}"
    );
    assert!(Path::new(&file).exists());
}
