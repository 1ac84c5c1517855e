//! `ghost effective verify`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::given::{MAX_INPUT_BYTES, harmless_error, refused};
use super::place::SnapshotFolder;
use super::text::flat;
use crate::global::Global;
use crate::input;
use crate::print::line;
use ghost_base::{Digest, SessionId};
use ghost_inspect::effective::{Certificate, Certified, Error, Side, Snapshot};

/// What was asked to be verified does not hold.
const DOES_NOT_HOLD: u8 = 3;

/// The answer is not all that was asked for.
const INCONCLUSIVE: u8 = 4;

/// The arguments of `ghost effective verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost effective verify no-drift.json\n  ghost effective verify no-drift.json --baseline before.json --current after.json --json\n  ghost effective verify before.json --sha256 5f2c…\n\nA certificate's own digest is checked, then the snapshots that it names: those that are given, else those of the data folder; with both at hand they are compared once more. Exit codes: 0 it holds, 3 it does not (a file was changed, or is not the one that was certified), 1 it cannot be read."
)]
pub(super) struct Arguments {
    /// The certificate or the snapshot; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The certified baseline; else the snapshot of that name in the data folder.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// The certified present state; else the snapshot of that name in the data folder.
    #[arg(long, value_name = "FILE")]
    current: Option<PathBuf>,
    /// The digest that the file has to have, from where it was noted.
    #[arg(long, value_name = "SHA256")]
    sha256: Option<Digest>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 4 where a certificate was not compared once more, because not both of its snapshots are at hand.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let text = input::text(&arguments.file, MAX_INPUT_BYTES)?;
    match held(arguments, &text, &SnapshotFolder::find(global)) {
        Ok(code) => Ok(code),
        Err(Refused::Unreadable(error)) => Err(error),
        Err(Refused::DoesNotHold(reason)) => does_not_hold(arguments, &reason),
    }
}

/// Why a file is not confirmed.
enum Refused {
    /// It does not hold: it was changed, or is not what was certified. That is an answer.
    DoesNotHold(String),
    /// It cannot be read, or is something else.
    Unreadable(anyhow::Error),
}

impl Refused {
    fn new(error: Error, path: &Path) -> Self {
        match error {
            Error::Unsealed
            | Error::Changed { .. }
            | Error::Contradiction { .. }
            | Error::NotCovered { .. }
            | Error::NotRepeated { .. } => Self::DoesNotHold(harmless_error(error, path).to_string()),
            Error::Document(_)
            | Error::WrongKind { .. }
            | Error::Version { .. }
            | Error::Field(_)
            | Error::TooMany { .. }
            | Error::NothingRead
            | Error::NotClean { .. } => Self::Unreadable(refused(error, path)),
        }
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Self::Unreadable(error)
    }
}

fn does_not_hold(arguments: &Arguments, reason: &str) -> anyhow::Result<u8> {
    let output = match arguments.json {
        true => json!({ "ok": false, "reason": reason }).to_string(),
        false => flat(&format!("NOT verified: {reason}")),
    };
    line(&output)?;
    Ok(DOES_NOT_HOLD)
}

fn held(arguments: &Arguments, text: &str, place: &SnapshotFolder) -> Result<u8, Refused> {
    match Certificate::parse(text) {
        Ok((certificate, digest)) => {
            noted(arguments, digest)?;
            certified(arguments, &certificate, digest, place)
        }
        Err(Error::WrongKind { .. }) => {
            let snapshot = Snapshot::parse(text).map_err(|error| Refused::new(error, &arguments.file))?;
            noted(arguments, snapshot.digest)?;
            Ok(whole(arguments, &snapshot)?)
        }
        Err(error) => Err(Refused::new(error, &arguments.file)),
    }
}

fn noted(arguments: &Arguments, digest: Digest) -> Result<(), Refused> {
    match arguments.sha256.filter(|noted| *noted != digest) {
        None => Ok(()),
        Some(noted) => {
            let file = arguments.file.display();
            Err(Refused::DoesNotHold(flat(&format!(
                "{file} has the digest {digest}, not {noted}: somebody replaced the file, or another one was noted"
            ))))
        }
    }
}

fn certified(
    arguments: &Arguments,
    certificate: &Certificate,
    digest: Digest,
    place: &SnapshotFolder,
) -> Result<u8, Refused> {
    let baseline = at_hand(arguments.baseline.as_deref(), &certificate.baseline, place)?;
    let current = at_hand(arguments.current.as_deref(), &certificate.current, place)?;
    let covered = certificate
        .covers(baseline.as_ref(), current.as_ref())
        .map_err(|error| Refused::new(error, &arguments.file))?;
    let code = if arguments.exit_code && !covered.repeated { INCONCLUSIVE } else { 0 };
    if arguments.json {
        let output = json!({
            "ok": true, "kind": "certificate", "sha256": digest.to_string(), "statement": certificate.statement,
            "checked": covered, "certificate": certificate,
        });
        line(&output.to_string())?;
        return Ok(code);
    }
    let mut lines = vec![format!("verified: {}, certificate {digest}", certificate.statement)];
    for (name, side, checked) in [
        ("baseline", &certificate.baseline, covered.baseline),
        ("current", &certificate.current, covered.current),
    ] {
        let (session, at) = (side.session.as_deref().unwrap_or("a bundle"), side.taken_at.as_deref());
        let checked = if checked { "checked" } else { "not at hand" };
        lines.push(format!(
            "  {name:<8}  {session}, {}: {}, {checked}",
            at.unwrap_or("without a date"),
            side.sha256
        ));
    }
    lines.push(format!("  network interfaces: {}", certificate.nics.join(", ")));
    lines.push(format!(
        "  issued at {}, by {}",
        certificate.issued_at,
        certificate.issued_by.as_deref().unwrap_or("nobody named")
    ));
    lines.extend(certificate.change_window.iter().map(|window| format!("  change window {window}")));
    lines.extend(certificate.forced.iter().map(|what| format!("  ! forced, although {what}")));
    lines.extend(certificate.doubts.iter().map(|what| format!("  ! {what}")));
    lines.push(match covered.repeated {
        true => "  compared once more: CLEAN".to_owned(),
        false => "  not compared once more: that takes both snapshots".to_owned(),
    });
    line(&lines.iter().map(|line| flat(line)).collect::<Vec<_>>().join("\n"))?;
    Ok(code)
}

/// Returns a certified side, where it is given or kept.
fn at_hand(
    given: Option<&Path>,
    certified: &Certified,
    place: &SnapshotFolder,
) -> Result<Option<Side>, Refused> {
    let session = certified.session.as_deref().and_then(|session| session.parse::<SessionId>().ok());
    let kept = || session.and_then(|session| place.file(&session).ok()).filter(|path| path.exists());
    let Some(path) = given.map(Path::to_owned).or_else(kept) else { return Ok(None) };
    let text = input::text(&path, MAX_INPUT_BYTES)?;
    Side::parse(&text).map(Some).map_err(|error| Refused::new(error, &path))
}

fn whole(arguments: &Arguments, snapshot: &Snapshot) -> anyhow::Result<u8> {
    let taken = &snapshot.taken;
    if arguments.json {
        let output = json!({
            "ok": true, "kind": "snapshot", "sha256": snapshot.digest.to_string(), "session": taken.session.as_str(),
            "taken_at": taken.at.to_string(), "taken_by": taken.by, "scope": taken.scope, "is_baseline": taken.baseline,
        });
        line(&output.to_string())?;
    } else {
        let by = taken.by.as_deref().unwrap_or("nobody named");
        line(&flat(&format!("verified: snapshot {}, {}", taken.session, snapshot.digest)))?;
        line(&flat(&format!("  taken at {}, by {by}, of {}", taken.at, taken.scope)))?;
    }
    Ok(0)
}
