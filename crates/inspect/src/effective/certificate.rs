//! A certificate: two digests, two times, and that nothing changed between them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::Options;
use super::comparison::{Comparison, Remark, Status};
use super::objection::{Window, doubts};
use super::side::Side;
use super::snapshot::{Scope, opened};
use super::{Error, Which, seal};
use ghost_base::{Digest, Timestamp};

const KIND: &str = "ghost.effective.certificate";
const VERSION: u64 = 1;

/// A statement that nothing changed, sealed with its own digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    kind: String,
    version: u64,
    /// The program and its version.
    pub tool: String,
    /// What is certified: `no drift`.
    pub statement: String,
    /// When it was issued.
    pub issued_at: String,
    /// By whom, as far as the machine says.
    pub issued_by: Option<String>,
    /// The earlier side.
    pub baseline: Certified,
    /// The later side.
    pub current: Certified,
    /// The network interfaces, all of which were read on both sides.
    pub nics: Vec<String>,
    /// Whether both sides were snapshots, so that their own digests were checked.
    pub verified: bool,
    /// Whether service tags that stand for other prefixes were left out.
    pub ignored_tag_churn: bool,
    /// The change window that was stated.
    pub change_window: Option<String>,
    /// The objections over which the comparison was forced.
    pub forced: Vec<String>,
    /// What a reader should know about when the two sides were read.
    pub doubts: Vec<String>,
    /// What was worth a word and no change.
    pub remarks: Vec<String>,
}

/// One certified side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certified {
    /// The digest of the file.
    pub sha256: String,
    /// The name of the snapshot; a bundle has none.
    pub session: Option<String>,
    /// When it was taken.
    pub taken_at: Option<String>,
    /// By whom.
    pub taken_by: Option<String>,
    /// What it is about.
    pub scope: Scope,
}

impl Certified {
    fn of(side: &Side) -> Self {
        let taken = side.taken.as_ref();
        Self {
            sha256: side.digest.to_string(),
            session: taken.map(|taken| taken.session.to_string()),
            taken_at: taken.map(|taken| taken.at.to_string()),
            taken_by: taken.and_then(|taken| taken.by.clone()),
            scope: taken.map(|taken| taken.scope.clone()).unwrap_or_default(),
        }
    }
}

/// What of a certificate was checked against the files that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// Whether the baseline was at hand, and is the certified one.
    pub baseline: bool,
    /// Whether the current state was at hand, and is the certified one.
    pub current: bool,
    /// Whether the comparison was done once more, and is clean.
    pub repeated: bool,
}

/// What the caller knows about a certificate that is to be issued.
#[derive(Debug, Clone)]
pub struct Issue {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Option<String>,
    /// The program and its version.
    pub tool: String,
    /// The change window that was stated.
    pub window: Option<Window>,
    /// The objections over which the comparison was forced.
    pub forced: Vec<String>,
    /// What counted.
    pub options: Options,
}

impl Certificate {
    /// Makes the text of a certificate of what two sides came to, where nothing changed.
    ///
    /// # Errors
    /// Fails where the comparison is not clean, or one of other sides.
    pub fn issue(
        found: &Comparison,
        baseline: &Side,
        current: &Side,
        issue: Issue,
    ) -> Result<(String, Self, Digest), Error> {
        if found.status != Status::Clean {
            return Err(Error::NotClean { status: found.status.as_str() });
        }
        for (which, side, certified) in [
            (Which::Baseline, baseline, &found.baseline_sha256),
            (Which::Current, current, &found.current_sha256),
        ] {
            let found = side.digest.to_string();
            if found != *certified {
                return Err(Error::NotCovered { which: which.as_str(), found, certified: certified.clone() });
            }
        }
        let remark = |remark: &Remark| format!("{}: {}: {}", remark.nic, remark.key, remark.what);
        let certificate = Self {
            kind: KIND.to_owned(),
            version: VERSION,
            tool: issue.tool,
            statement: "no drift".to_owned(),
            issued_at: issue.at.to_string(),
            issued_by: issue.by,
            baseline: Certified::of(baseline),
            current: Certified::of(current),
            nics: found.nics.clone(),
            verified: found.verified,
            ignored_tag_churn: issue.options.ignore_tag_churn,
            change_window: issue.window.map(|window| window.to_string()),
            forced: issue.forced,
            doubts: doubts(baseline, current, issue.window),
            remarks: found.remarks.iter().map(remark).collect(),
        };
        let (text, digest) = seal::seal(&certificate)?;
        Ok((text, certificate, digest))
    }

    /// Reads a certificate and checks its digest.
    ///
    /// # Errors
    /// Fails where the text is no certificate, or one that was changed.
    pub fn parse(text: &str) -> Result<(Self, Digest), Error> {
        let value: Value = crate::net::document(text)?;
        if !seal::was_sealed(&value, text) {
            return Err(Error::WrongKind { expected: "certificate" });
        }
        let digest = opened(&value, text, KIND, "certificate", VERSION)?;
        Ok((serde_json::from_value(value).map_err(Error::Field)?, digest))
    }

    /// Checks the files that it is about, as far as they are at hand: their digests, and with both of them that nothing changed.
    ///
    /// # Errors
    /// Fails where a file is not the certified one, or the comparison comes out otherwise.
    pub fn covers(&self, baseline: Option<&Side>, current: Option<&Side>) -> Result<Covered, Error> {
        for (which, side, certified) in
            [(Which::Baseline, baseline, &self.baseline), (Which::Current, current, &self.current)]
        {
            let found = side.map(|side| side.digest.to_string());
            if let Some(found) = found.filter(|found| *found != certified.sha256) {
                let certified = certified.sha256.clone();
                return Err(Error::NotCovered { which: which.as_str(), found, certified });
            }
        }
        if let Some((baseline, current)) = baseline.zip(current) {
            let status =
                baseline.compare(current, Options { ignore_tag_churn: self.ignored_tag_churn }).status;
            if status != Status::Clean {
                return Err(Error::NotRepeated { status: status.as_str() });
            }
        }
        let (has_baseline, has_current) = (baseline.is_some(), current.is_some());
        Ok(Covered { baseline: has_baseline, current: has_current, repeated: has_baseline && has_current })
    }
}
