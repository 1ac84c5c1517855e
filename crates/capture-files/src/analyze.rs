//! What the files of a task say.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ghost_base::write_private;
use ghost_cloud::capture::{Analysis, AnalysisJob, FileProblem, Issue, Role};
use ghost_pcap::{Analyzer, Error, Scope, Severity, Summary, compare, comparison_markdown, frames, markdown};

/// How many findings are kept with the task; the reports hold all.
const MAX_FINDINGS: usize = 12;

/// Why a fetched file is no capture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureFileError {
    /// The file cannot be opened, or its mode not set.
    #[error("{0}")]
    File(io::Error),
    /// It is not whole.
    #[error("{has} of {wanted} bytes are here")]
    Size {
        /// How many bytes it has.
        has: u64,
        /// How many the platform says.
        wanted: u64,
    },
    /// It cannot be read as a capture.
    #[error(transparent)]
    Capture(#[from] Error),
    /// Reading it broke off.
    #[error("reading it failed")]
    Aborted,
}

impl From<CaptureFileError> for FileProblem {
    fn from(error: CaptureFileError) -> Self {
        Self(error.to_string())
    }
}

/// Reads a fetched file: is it whole, is it a capture? Returns its packets, and whether it ends within one.
///
/// # Errors
/// Says why it is no capture.
pub fn verify(path: &Path, bytes: u64) -> Result<(u64, bool), CaptureFileError> {
    let file = File::open(path).map_err(CaptureFileError::File)?;
    let size = file.metadata().map_err(CaptureFileError::File)?.len();
    if size != bytes {
        return Err(CaptureFileError::Size { has: size, wanted: bytes });
    }
    // The program that fetched it made it as the machine's defaults have it.
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(CaptureFileError::File)?;
    let mut packets = 0;
    let ending = frames(file, |_| packets += 1)?;
    Ok((packets, ending.cut_off))
}

/// Analyzes files in the captures folder, and compares two, the source first whoever came first.
#[must_use]
pub fn analyze(folder: &Path, work: &[AnalysisJob]) -> Analysis {
    let mut done = Analysis { files: Vec::new(), findings: Vec::new(), critical: 0, trouble: None };
    for one in work {
        if let Err(why) = single(folder, one, work.len() > 1, &mut done) {
            done.trouble.get_or_insert(Issue::new(format!("analyzing {}.cap: {why}", one.name)));
        }
    }
    let end = |role| work.iter().find(|one| one.role == role);
    match (end(Role::Source), end(Role::Destination)) {
        (Some(source), Some(destination)) => {
            if let Err(why) = both(folder, source, destination, &mut done) {
                done.trouble.get_or_insert(Issue::new(format!("comparing both ends: {why}")));
            }
        }
        (Some(one), None) | (None, Some(one)) => {
            done.findings.push(format!(
                "only the {} was captured: what happened on the path is unknown",
                one.role.word()
            ));
        }
        (None, None) => {}
    }
    done.findings.truncate(MAX_FINDINGS);
    done
}

fn single(folder: &Path, work: &AnalysisJob, named: bool, done: &mut Analysis) -> Result<(), String> {
    let file = format!("{}.cap", work.name);
    let source = File::open(folder.join(&file)).map_err(|error| error.to_string())?;
    let mut analyzer = Analyzer::new(Scope { pictures: cfg!(feature = "plot"), ..Scope::default() });
    let ending = frames(source, |frame| {
        analyzer.feed(frame);
    });
    let summary = analyzer.finish(&ending.map_err(|error| error.to_string())?);
    let account = serde_json::to_string(&summary).map_err(|error| error.to_string())?;
    let mut keep = |ending: &str, content: &[u8]| {
        let name = format!("{}_{ending}", work.name);
        write_private(&folder.join(&name), content).map_err(|error| format!("writing {name}: {error}"))?;
        done.files.push(name);
        Ok::<(), String>(())
    };
    keep("semantic.json", account.as_bytes())?;
    keep("forensic_report.md", markdown(&summary, &file).as_bytes())?;
    pictures(&summary, &file, &mut keep)?;
    for finding in &summary.findings {
        done.critical += u64::from(finding.severity == Severity::Critical);
        let place = if named { format!("{}: ", work.role.word()) } else { String::new() };
        done.findings.push(format!("{place}{}: {}", finding.severity.name(), finding.title));
    }
    Ok(())
}

#[cfg(feature = "plot")]
fn pictures(
    summary: &Summary,
    name: &str,
    keep: &mut impl FnMut(&str, &[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let pictures = ghost_pcap::pictures(summary, name).map_err(|error| error.to_string())?;
    pictures.iter().try_for_each(|picture| keep(&format!("{}.png", picture.kind), &picture.png))
}

#[cfg(not(feature = "plot"))]
fn pictures(
    _summary: &Summary,
    _name: &str,
    _keep: &mut impl FnMut(&str, &[u8]) -> Result<(), String>,
) -> Result<(), String> {
    Ok(())
}

fn both(
    folder: &Path,
    source: &AnalysisJob,
    destination: &AnalysisJob,
    done: &mut Analysis,
) -> Result<(), String> {
    let names = [format!("{}.cap", source.name), format!("{}.cap", destination.name)];
    let [first, second] = &names;
    let open = |place: usize| {
        let name = if place == 0 { first } else { second };
        File::open(folder.join(name)).map_err(Error::Read)
    };
    let pair = compare(open, false).map_err(|(_, error)| error.to_string())?;
    let text = comparison_markdown(&pair, (first, second), true);
    let name = format!("{}_comparison.md", source.pair);
    write_private(&folder.join(&name), text.as_bytes())
        .map_err(|error| format!("writing {name}: {error}"))?;
    done.files.push(name);
    done.findings.insert(0, format!("between both ends: {}", in_words(&pair.path.sentence)));
    Ok(())
}

/// Says what a comparison came to with the roles of the machines in place of A and B.
fn in_words(sentence: &str) -> String {
    let bare = sentence.split_once(": ").map_or(sentence, |(_, words)| words);
    let bare = bare.split_once(" (confidence ").map_or(bare, |(words, _)| words);
    let word = |word: &str| match word.trim_end_matches([',', ';', '.']) {
        "A" => word.replacen('A', "the source", 1),
        "B" => word.replacen('B', "the destination", 1),
        _ => word.to_owned(),
    };
    bare.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A classic header and no packet.
    const EMPTY: [u8; 24] =
        [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];

    fn job(role: Role, name: &str) -> AnalysisJob {
        AnalysisJob { role, name: name.to_owned(), pair: "pair".to_owned() }
    }

    #[test]
    fn what_is_missing_cut_off_or_no_capture_is_said_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.cap");
        assert!(matches!(verify(&path, 24), Err(CaptureFileError::File(_))));
        fs::write(&path, EMPTY).unwrap();
        assert_eq!(verify(&path, 24).unwrap(), (0, false));
        assert!(matches!(verify(&path, 25), Err(CaptureFileError::Size { has: 24, wanted: 25 })));
        fs::write(&path, "<html>no such blob</html>").unwrap();
        assert!(matches!(verify(&path, 25), Err(CaptureFileError::Capture(_))));
        let done = analyze(folder.path(), &[job(Role::Source, "source"), job(Role::Destination, "gone")]);
        assert!(done.files.is_empty() && done.trouble.is_some(), "{done:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the file itself is there");
        assert!(crate::account(b"<html>").is_err());
    }

    #[test]
    fn one_that_is_no_capture_keeps_no_other_from_being_analyzed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("source.cap"), "nothing").unwrap();
        fs::write(folder.path().join("destination.cap"), EMPTY).unwrap();
        let done =
            analyze(folder.path(), &[job(Role::Source, "source"), job(Role::Destination, "destination")]);
        assert!(done.files.contains(&"destination_semantic.json".to_owned()), "{done:?}");
        assert!(done.trouble.is_some(), "{done:?}");
        // Twice is as once.
        let again =
            analyze(folder.path(), &[job(Role::Source, "source"), job(Role::Destination, "destination")]);
        assert_eq!(again.files, done.files);
    }
}
