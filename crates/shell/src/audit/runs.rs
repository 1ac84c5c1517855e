//! The runs that an audit file holds: what a consent was used for, and how the run ended.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::audit::{Approval, Consent};

/// A run that a human approved, as the audit recorded it before the run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The records of the run.
    pub audit_id: String,
    /// The consent that it used up.
    pub consent: Consent,
    /// Who approved, and when the gate learned of it.
    pub approver: Option<Approval>,
    /// `user_approved` or `user_modified`.
    pub action: String,
    /// `None` if no end is recorded: the run may have had an effect.
    pub end: Option<RunEnd>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RunEnd {
    /// `completed` or `error`.
    #[serde(default)]
    pub status: String,
    /// Absent if a signal ended the process.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The response's error word.
    #[serde(default)]
    pub error: Option<String>,
    /// How long the process ran, in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<u64>,
    /// The digest of the whole output, as it was kept.
    #[serde(default)]
    pub evidence: Option<KeptOutput>,
    /// The hash of this record.
    #[serde(default)]
    pub hash: Option<String>,
}

/// A stored output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptOutput {
    /// The digest of the stored bytes.
    pub sha256: String,
}

#[derive(Deserialize)]
struct Line {
    kind: String,
    audit_id: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    consent: Option<Consent>,
    #[serde(default)]
    approver: Option<Approval>,
}

/// Reads the runs with a named consent from an audit file, in order. A missing file has none; a line that a crash cut short says
/// nothing. This does not verify the chain: [`verify`](crate::audit::verify()) does.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn runs(path: &Path) -> io::Result<Vec<Run>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut runs: Vec<Run> = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        let Ok(found) = serde_json::from_slice::<Line>(&line) else { continue };
        match (found.kind.as_str(), found.consent) {
            ("intent", Some(consent)) => runs.push(Run {
                audit_id: found.audit_id,
                consent,
                approver: found.approver,
                action: found.action,
                end: None,
            }),
            ("done", _) => {
                let run = runs.iter_mut().rev().find(|run| run.audit_id == found.audit_id);
                if let (Some(run), Ok(end)) = (run, serde_json::from_slice(&line)) {
                    run.end = Some(end);
                }
            }
            _ => {}
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Entry, Kind, Log};
    use ghost_base::Timestamp;

    #[test]
    fn a_run_is_known_by_its_consent_from_before_it_begins_and_its_end_from_when_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(folder.path(), "s1".parse().unwrap()).unwrap();
        let path = log.path().to_owned();
        assert_eq!(runs(&folder.path().join("none.jsonl")).unwrap(), []);
        let at = Timestamp::from_millis(0);
        log.append(at, &Entry::new(Kind::Intent, "uname")).unwrap();
        let consent = Consent { question: "q1".to_owned(), digest: "d1".to_owned() };
        let intent = Entry {
            consent: Some(consent.clone()),
            action: Some("user_approved".into()),
            ..Entry::new(Kind::Intent, "touch a")
        };
        let receipt = log.append(at, &intent).unwrap();
        let [begun] = runs(&path).unwrap().try_into().unwrap();
        assert_eq!((&begun.consent, begun.action.as_str(), &begun.end), (&consent, "user_approved", &None));
        let done = Entry {
            audit_id: Some(receipt.audit_id),
            status: Some("completed".into()),
            exit_code: Some(3),
            ..Entry::new(Kind::Done, "touch a")
        };
        log.append(at, &done).unwrap();
        // A line that a crash cut short says nothing.
        std::fs::write(&path, [std::fs::read(&path).unwrap(), b"{\"kind\":\"int".to_vec()].concat()).unwrap();
        let [ended] = runs(&path).unwrap().try_into().unwrap();
        let end = ended.end.unwrap();
        assert_eq!((end.status.as_str(), end.exit_code), ("completed", Some(3)));
    }
}
