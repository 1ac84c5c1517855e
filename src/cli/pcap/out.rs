//! Files about a capture: what they are called, and that none of another capture is lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

use super::source::{name, piped, stem};
use ghost_base::{private_dir, write_private, write_private_new};
use ghost_tools::print::harmless;
use ghost_tools::print::{Hinted, note};

/// So many captures with the same name fit into a folder.
const MAX_LISTED: usize = 1000;
/// No account is longer, unless everything was asked for.
const MAX_BYTES: u64 = 64 << 20;

/// The files of one capture in a folder.
pub(super) struct Files {
    folder: PathBuf,
    stem: String,
    written: Vec<String>,
    replaced: bool,
}

impl Files {
    /// Writes the account under the first name that is free or is that of an earlier account of the same capture.
    ///
    /// The name is that of the file without its ending, then with it, then with a number.
    pub(super) fn begin(folder: &Path, file: &Path, account: &str) -> anyhow::Result<Self> {
        private_dir(folder).with_context(|| format!("making {}", folder.display()))?;
        let own: Value = serde_json::from_str(account)?;
        for stem in names(file) {
            let path = folder.join(format!("{stem}_semantic.json"));
            let writing = || format!("writing {}", path.display());
            match write_private_new(&path, account.as_bytes()) {
                Ok(()) => return Ok(Self::of(folder, stem, false)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(writing),
            }
            if is_of(&path, &own) {
                write_private(&path, account.as_bytes()).with_context(writing)?;
                return Ok(Self::of(folder, stem, true));
            }
        }
        let error = anyhow::anyhow!("{} is full of accounts of other captures", folder.display());
        Err(Hinted::new(error, "name another folder").into())
    }

    fn of(folder: &Path, stem: String, replaced: bool) -> Self {
        let written = vec![format!("{stem}_semantic.json")];
        Self { folder: folder.to_owned(), stem, written, replaced }
    }

    /// Writes a file, whole or not at all, that only its owner may read.
    pub(super) fn write(&mut self, ending: &str, content: &[u8]) -> anyhow::Result<()> {
        let name = format!("{}_{ending}", self.stem);
        let path = self.folder.join(&name);
        write_private(&path, content).with_context(|| format!("writing {}", path.display()))?;
        self.written.push(name);
        Ok(())
    }

    /// Removes a file that an earlier run wrote and this one has nothing for.
    #[cfg(feature = "plot")]
    pub(super) fn without(&self, ending: &str) {
        if self.replaced {
            drop(fs::remove_file(self.folder.join(format!("{}_{ending}", self.stem))));
        }
    }

    /// Tells what was written.
    pub(super) fn tell(&self, file: &Path) {
        let folder = self.folder.display();
        let mut text = format!("wrote {} into {folder}", self.written.join(", "));
        if self.replaced {
            text.push_str("; those of an earlier run on the same capture were replaced");
        } else if self.stem != stem(file) {
            text.push_str(&format!("; {}_* is there already, of another capture", stem(file)));
        }
        note(&harmless(&text));
    }
}

fn names(file: &Path) -> impl Iterator<Item = String> {
    let whole = if piped(file) { "stdin".to_owned() } else { name(file) };
    let numbered = whole.clone();
    [stem(file), whole].into_iter().chain((2..MAX_LISTED).map(move |number| format!("{numbered}-{number}")))
}

/// What is read of the account of a capture.
#[derive(Deserialize)]
struct Account {
    file: Identity,
}

/// What a capture is known by in an account of it.
#[derive(Default, PartialEq, Deserialize)]
#[serde(default)]
struct Identity {
    format: String,
    linktypes: Vec<u16>,
    packets: u64,
    bytes: u64,
    first: Option<String>,
    last: Option<String>,
}

/// Says whether a file is an account of the same capture.
fn is_of(path: &Path, own: &Value) -> bool {
    let short = fs::metadata(path).is_ok_and(|known| known.is_file() && known.len() <= MAX_BYTES);
    let known = if short { fs::read(path).ok() } else { None };
    let known = known.and_then(|known| serde_json::from_slice::<Account>(&known).ok());
    known.is_some_and(|known| Account::deserialize(own).is_ok_and(|own| own.file == known.file))
}
