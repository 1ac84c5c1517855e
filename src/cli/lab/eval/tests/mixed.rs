//! Facts about a session in which the cloud and the session itself know the same machine.

use std::sync::Arc;

use crate::cli::investigate::session_host;
use crate::cli::lab::eval::consent::Consent;
use crate::cli::lab::eval::run::{attend, open, opened, state};
use crate::cli::lab::eval::world::{engine, setup};
use ghost_base::SessionId;
use ghost_cloud::guest::HostAccess;
use ghost_investigate::event::Opened;
use ghost_investigate::model::Model;
use ghost_investigate::playbook::Playbook;
use ghost_investigate::report::rca;
use ghost_investigate::state::State;
use ghost_lab::case::{embedded, inject};
use ghost_lab::runner::{InProcess, memory_lab};
use ghost_tools::config::{Config, Environment};
use ghost_tools::guest::{SshOptions, ssh};
use ghost_tools::setup::Setup;

/// Investigates a case with the destination reached by ssh under a name.
async fn investigated(name: &str) -> State {
    let folder = tempfile::tempdir().unwrap();
    let lab = memory_lab(1).unwrap();
    inject(&lab, folder.path(), embedded("j").unwrap(), None, 1).await.unwrap();
    let runner = Arc::new(InProcess::new(Arc::clone(&lab)));
    let own = Setup::of(Config::default(), folder.path().to_owned(), Environment::from([]), runner);
    let (setup, _) = setup(&lab, folder.path(), &own, (None, false)).unwrap();
    let setup = Arc::new(setup);
    let model: Arc<dyn Model> = Arc::new(Playbook);
    let engine = engine(&lab, folder.path(), &setup, Arc::clone(&model)).unwrap();
    let session: SessionId = "eval-mixed".parse().unwrap();
    let prompt = "iperf from tf-source-vm (10.0.1.4) to tf-dest-vm (10.0.1.5) on 5001 does not connect. nw-forensics-rg.";
    let incident = opened(prompt, &setup, model.as_ref()).unwrap();
    let access = HostAccess::Ssh(Box::new(ssh(&setup, "10.0.1.5", &SshOptions::default()).unwrap()));
    let hosts = vec![session_host(name.to_owned(), &access)];
    open(&engine, &session, Opened { hosts, cloud_too: true, ..incident }).await.unwrap();
    assert_eq!(attend(&engine, &session, Consent::All).await.unwrap(), None);
    state(&engine, &session).await.unwrap()
}

/// Returns what carried scripts, each once.
fn carriers(state: &State) -> Vec<&str> {
    let scripts = state.steps.iter().filter_map(|step| step.script.as_ref());
    let mut all: Vec<&str> = scripts.map(|script| script.carrier[0].as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[tokio::test]
async fn the_cloud_is_read_as_the_cloud_and_the_machine_by_ssh_and_the_report_says_so() {
    let state = investigated("tf-dest-vm").await;
    assert_eq!(state.accepted.len(), 2, "{}", rca(&state));
    // The other machine is the cloud's alone.
    assert_eq!(carriers(&state), ["az", "ssh"]);
    let report = rca(&state);
    assert!(report.contains("tf-dest-vm: inside of it by ssh, as "), "{report}");
    assert!(report.contains("tf-source-vm: inside of it through the platform"), "{report}");
}

#[tokio::test]
async fn a_machine_that_the_cloud_does_not_know_is_read_itself() {
    let state = investigated("edge-1").await;
    let tools: Vec<&str> = state.calls().map(|call| call.call.tool.as_str()).collect();
    assert!(tools.contains(&"topology") && tools.contains(&"inspect_hosts"), "{tools:?}");
    assert_eq!(state.accepted, []);
}
