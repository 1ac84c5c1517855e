//! A report that is brought to a folder which does not take all of it.

use std::sync::Arc;

use super::stage::{Scene, investigate};
use crate::cli::investigate::Reports;
use crate::cli::lab::eval::consent::Consent;
use ghost_investigate::playbook::Playbook;
use ghost_session::ReportDelivery as _;

#[tokio::test]
async fn a_report_is_written_also_where_its_picture_cannot_be() {
    let ended = investigate(Scene::of("e", Consent::All), Arc::new(Playbook)).await;
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("reports").join(ended.state.session.as_str());
    let picture = folder.join("path.png");
    std::fs::create_dir_all(&picture).unwrap();
    let reports = Reports::new(data.path());
    let file = reports.deliver(&ended.state, "what broke").await.unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "what broke");
    assert!(folder.join("audit.md").is_file() && picture.is_dir());
    std::fs::remove_dir(&picture).unwrap();
    reports.deliver(&ended.state, "what broke").await.unwrap();
    assert!(picture.is_file(), "there is a picture that could not be written before");
}
