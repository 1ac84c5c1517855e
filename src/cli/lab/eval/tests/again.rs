//! Facts about a whole session on a lab in this process: reported, mended, checked again.

use std::sync::Arc;

use crate::cli::lab::eval::consent::Consent;
use crate::cli::lab::eval::run::{attend, open, opened, state};
use crate::cli::lab::eval::world::{engine, setup};
use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_investigate::event::{AlertStatus, Alerted, HumanMessage, Instruction, Now, Opened};
use ghost_investigate::model::Model;
use ghost_investigate::playbook::Playbook;
use ghost_investigate::replay::{ReplayInputs, Wording, replay};
use ghost_investigate::report::{headline, rca};
use ghost_investigate::state::State;
use ghost_lab::case::{embedded, inject, reset};
use ghost_lab::runner::{InProcess, memory_lab};
use ghost_session::alert::{Reading, Sender, read, symptom};
use ghost_session::{Engine, InboxMessage};
use ghost_tools::config::{Config, Environment};
use ghost_tools::setup::Setup;

/// Says what the sender of the alert says.
async fn alerted(engine: &Engine, session: &SessionId, status: AlertStatus) -> State {
    let alerted = Alerted { status, text: "Connect".to_owned(), alerts: 1, at: None };
    let message = serde_json::to_string(&InboxMessage::Alert(alerted)).unwrap();
    engine.store.deliver(session, status.word(), &message).await.unwrap();
    assert_eq!(attend(engine, session, Consent::All).await.unwrap(), None);
    state(engine, session).await.unwrap()
}

async fn again(engine: &Engine, session: &SessionId, key: &str) -> State {
    let said = HumanMessage {
        who: "ana".to_owned(),
        text: "fixed, check again".to_owned(),
        instruction: Instruction::Steer,
    };
    let message = serde_json::to_string(&InboxMessage::Recheck(said)).unwrap();
    engine.store.deliver(session, key, &message).await.unwrap();
    assert_eq!(attend(engine, session, Consent::All).await.unwrap(), None);
    state(engine, session).await.unwrap()
}

/// Five lists, and routes, rules and the state of both machines; then the call itself.
const CHECK: u32 = 12;

#[tokio::test]
async fn case_j_is_still_broken_until_it_is_mended_and_then_verified_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let lab = memory_lab(1).unwrap();
    let text = embedded("j").unwrap();
    inject(&lab, folder.path(), text, None, 1).await.unwrap();
    let runner = Arc::new(InProcess::new(Arc::clone(&lab)));
    let own = Setup::of(Config::default(), folder.path().to_owned(), Environment::from([]), runner);
    let (setup, _) = setup(&lab, folder.path(), &own, (None, false)).unwrap();
    let setup = Arc::new(setup);
    let model: Arc<dyn Model> = Arc::new(Playbook);
    let engine = engine(&lab, folder.path(), &setup, Arc::clone(&model)).unwrap();
    let session: SessionId = "eval-j".parse().unwrap();
    let prompt = "iperf from tf-source-vm (10.0.1.4) to tf-dest-vm (10.0.1.5) on 5001 does not connect. nw-forensics-rg.";
    let incident = opened(prompt, &setup, model.as_ref()).unwrap();
    open(&engine, &session, incident).await.unwrap();
    assert_eq!(attend(&engine, &session, Consent::All).await.unwrap(), None);
    let first = state(&engine, &session).await.unwrap();
    assert_eq!(first.accepted.len(), 2);

    let broken = again(&engine, &session, "k1").await;
    assert_eq!(headline(&broken), "Checked again: still broken");
    let rows = &broken.concluded.as_ref().unwrap().1.recheck;
    assert!(rows.len() == 3 && rows.iter().all(|row| row.now == Now::Broken), "{rows:?}");
    assert!(rows[2].after.contains("gets no answer"), "{rows:?}");
    let commands = broken.spent.commands - first.spent.commands;
    assert_eq!(commands, CHECK, "the flow once more, end to end, a try of it, and nothing else");
    assert_eq!(broken.opened.investigator, model.investigator());

    reset(&lab, folder.path()).await.unwrap();
    // Somebody mended the faults; who listened goes on listening.
    let mended: Vec<&str> = text.split("\n[[").filter(|part| !part.starts_with("fault]]")).collect();
    inject(&lab, folder.path(), &mended.join("\n[["), None, 1).await.unwrap();
    let fixed = again(&engine, &session, "k2").await;
    assert_eq!(headline(&fixed), "Checked again: verified fixed", "{}", rca(&fixed));
    // Where nothing stops the flow any more, the platform is asked for its own events and for flow logs, too.
    assert_eq!(fixed.spent.commands - broken.spent.commands, CHECK + 2);
    let summary = &fixed.concluded.as_ref().unwrap().1.summary;
    assert!(
        summary.contains("Tried again: nc from tf-source-vm to 10.0.1.5 port 5001 is answered."),
        "{summary}"
    );
    // The same click, brought a second time, does nothing.
    let once_more = again(&engine, &session, "k2").await;
    assert_eq!(once_more.seq, fixed.seq);
}

#[tokio::test]
async fn an_alert_finds_the_fault_of_the_flow_in_its_labels_and_its_end_has_it_looked_at_again() {
    let folder = tempfile::tempdir().unwrap();
    let lab = memory_lab(1).unwrap();
    let text = embedded("j").unwrap();
    inject(&lab, folder.path(), text, None, 1).await.unwrap();
    let runner = Arc::new(InProcess::new(Arc::clone(&lab)));
    let own = Setup::of(Config::default(), folder.path().to_owned(), Environment::from([]), runner);
    let (setup, _) = setup(&lab, folder.path(), &own, (None, false)).unwrap();
    let setup = Arc::new(setup);
    let model: Arc<dyn Model> = Arc::new(Playbook);
    let engine = engine(&lab, folder.path(), &setup, Arc::clone(&model)).unwrap();
    let session: SessionId = "eval-alert".parse().unwrap();
    let body = serde_json::json!({
        "groupKey": "{}:{}", "status": "firing",
        "alerts": [{"status": "firing", "startsAt": "2026-11-24T09:00:00Z",
            "labels": {"alertname": "ConnectFails", "source": "tf-source-vm", "destination": "10.0.1.5", "port": "5001",
                "protocol": "tcp", "resource_group": "nw-forensics-rg"}}]
    });
    let read = read(Sender::Alertmanager, body.to_string().as_bytes(), SystemClock.now());
    let Ok(Reading::Alerts(alert)) = read else { panic!("{read:?}") };
    let incident = opened(&symptom(&alert), &setup, model.as_ref()).unwrap();
    let requester = "bot alertmanager".to_owned();
    open(&engine, &session, Opened { by_program: true, requester, ..incident }).await.unwrap();
    assert_eq!(attend(&engine, &session, Consent::All).await.unwrap(), None);
    let first = state(&engine, &session).await.unwrap();
    assert_eq!(first.accepted.len(), 2, "{}", rca(&first));

    // What fires still is no end.
    let same = alerted(&engine, &session, AlertStatus::Firing).await;
    assert_eq!((same.earlier.len(), same.alerts.len()), (0, 1));
    reset(&lab, folder.path()).await.unwrap();
    let mended: Vec<&str> = text.split("\n[[").filter(|part| !part.starts_with("fault]]")).collect();
    inject(&lab, folder.path(), &mended.join("\n[["), None, 1).await.unwrap();
    let fixed = alerted(&engine, &session, AlertStatus::Resolved).await;
    assert_eq!(headline(&fixed), "Checked again: verified fixed", "{}", rca(&fixed));
    assert!(!fixed.is_check_due && fixed.is_reported());
    let once_more = alerted(&engine, &session, AlertStatus::Resolved).await;
    assert_eq!(once_more.seq, fixed.seq);
    // It is back, and so is the fault.
    reset(&lab, folder.path()).await.unwrap();
    inject(&lab, folder.path(), text, None, 1).await.unwrap();
    let back = Alerted { status: AlertStatus::Firing, text: "Connect".to_owned(), alerts: 1, at: None };
    let message = serde_json::to_string(&InboxMessage::Alert(back)).unwrap();
    engine.store.deliver(&session, "back", &message).await.unwrap();
    assert_eq!(attend(&engine, &session, Consent::All).await.unwrap(), None);
    let back = state(&engine, &session).await.unwrap();
    assert_eq!(headline(&back), "Checked again: still broken", "{}", rca(&back));
    // All of it follows from the record alone.
    let lines = engine.store.read(&session, 0).await.unwrap();
    let recorded = ghost_investigate::event::read(&session, lines.iter().map(String::as_str)).unwrap();
    let inputs = ReplayInputs {
        policy: &engine.policy,
        tools: &engine.tools,
        evidence: engine.evidence.as_ref(),
        site: engine.site_prompt.as_deref(),
        wording: Wording::Same,
    };
    replay(&session, &recorded, &inputs).unwrap_or_else(|found| panic!("{found}"));
}
