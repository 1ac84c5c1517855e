//! Tasks on files of this machine: fetched captures, and what sessions keep for later ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use ghost_base::{SessionId, private_dir, write_private, write_private_new};
use ghost_capture_files::{analyze, verify};
use ghost_cloud::capture::{AnalysisJob, Role};
use ghost_cloud::probe::Packets;
use ghost_investigate::state::State;
use ghost_investigate::tool::FileTask;
use ghost_session::{FileTaskError, FileTasks};
use ghost_shell::redact;
use ghost_tools::host::HOSTS;

/// The largest document that a task reads or keeps.
const MAX_DOCUMENT_BYTES: u64 = 32 << 20;

/// No account of a capture that a tool reads is longer.
const MAX_ACCOUNT_BYTES: u64 = 2 << 20;

#[derive(Debug, Clone)]
pub(in crate::cli) struct Folders {
    /// Where captures are fetched to.
    pub(in crate::cli) captures: PathBuf,
    /// The data folder.
    pub(in crate::cli) data: PathBuf,
}

#[async_trait]
impl FileTasks for Folders {
    async fn run(&self, _state: &State, task: &FileTask) -> Result<String, FileTaskError> {
        let (folders, task) = (self.clone(), task.clone());
        let work = tokio::task::spawn_blocking(move || folders.run_task(&task)).await;
        Ok(work.unwrap_or_else(|_| Err("file task panicked".to_owned()))?)
    }
}

impl Folders {
    fn run_task(&self, task: &FileTask) -> Result<String, String> {
        match task {
            FileTask::Verify { file, bytes } => {
                let (packets, cut_off) =
                    verify(&self.captures.join(plain(file)?), *bytes).map_err(|error| error.to_string())?;
                Ok(json!({ "packets": packets, "cut_off": cut_off }).to_string())
            }
            FileTask::Store { file, text } => {
                self.store(plain(file)?, text)?;
                Ok(json!({ "kept": file }).to_string())
            }
            FileTask::Analyze { work } => self.analyze(work),
            FileTask::Recall { kind, session } => self.recall(&self.place(kind, session)?),
            FileTask::Keep { kind, session, text } => {
                self.keep(&self.place(kind, session)?, text, kind == BASELINE)?;
                Ok(json!({ "kept": session }).to_string())
            }
        }
    }

    /// Puts recorded packets into the captures folder. The same ones may be there already, of an owner that was cut off behind it.
    fn store(&self, file: &str, text: &str) -> Result<(), String> {
        let packets = Packets::bytes_of(text).map_err(|issue| issue.text)?;
        let path = self.captures.join(file);
        let describe = |error: io::Error| format!("{file}: {error}");
        private_dir(&self.captures).map_err(describe)?;
        match write_private_new(&path, &packets) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::read(&path) {
                Ok(kept) if kept == packets => Ok(()),
                Ok(_) | Err(_) => Err(format!("{file}: there is another one of this name")),
            },
            written => written.map_err(describe),
        }
    }

    fn analyze(&self, work: &[(String, String, String)]) -> Result<String, String> {
        let one = |(role, name, pair): &(String, String, String)| {
            let role: Role = serde_json::from_value(json!(role)).map_err(|error| error.to_string())?;
            Ok::<_, String>(AnalysisJob {
                role,
                name: plain(name)?.to_owned(),
                pair: plain(pair)?.to_owned(),
            })
        };
        let work = work.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let analysis = analyze(&self.captures, &work);
        let mut documents = Map::new();
        for AnalysisJob { name, .. } in &work {
            let path = self.captures.join(format!("{name}_semantic.json"));
            let read = small(&path, MAX_ACCOUNT_BYTES).ok();
            // What stood in packets may be a secret, too.
            let account = read.and_then(|text| serde_json::from_str(redact(&text).as_str()).ok());
            documents.insert(name.clone(), account.unwrap_or(Value::Null));
        }
        Ok(json!({ "analysis": analysis, "documents": documents }).to_string())
    }

    /// Returns where something is kept under the name of a session: where the subcommands of the same purpose look for it.
    fn place(&self, kind: &str, session: &str) -> Result<PathBuf, String> {
        if kind == KEPT_HOST {
            return Ok(self.data.join(HOSTS).join(format!("{}.json", plain(session)?)));
        }
        let session: SessionId =
            session.parse().map_err(|_| format!("{session:?} is no name of a session"))?;
        let (folder, name) = match kind {
            "effective" => ("effective", format!("{session}.json")),
            "netfilter" => ("netfilter", format!("{session}_snapshot.json")),
            "meter" => ("meter", format!("{session}_result.json")),
            "meter.preflight" | "meter.raw" | "meter.computed" | "meter.comparison" | BASELINE => {
                ("meter", format!("{session}_{}.json", kind.trim_start_matches("meter.")))
            }
            _ => return Err(format!("nothing of the kind {kind:?} is kept")),
        };
        Ok(self.data.join(folder).join(name))
    }

    fn recall(&self, path: &Path) -> Result<String, String> {
        match small(path, MAX_DOCUMENT_BYTES) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok("null".to_owned()),
            Err(error) => Err(format!("{}: {error}", self.named(path))),
        }
    }

    /// Keeps a text. What is there already stays, unless it is a baseline, of which the last one counts.
    fn keep(&self, path: &Path, text: &str, over: bool) -> Result<(), String> {
        let describe = |error: io::Error| format!("{}: {error}", self.named(path));
        private_dir(path.parent().unwrap_or(&self.data)).map_err(describe)?;
        if over {
            return write_private(path, text.as_bytes()).map_err(describe);
        }
        match write_private_new(path, text.as_bytes()) {
            // An owner before was cut off behind it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match small(path, MAX_DOCUMENT_BYTES).is_ok_and(|kept| kept == text) {
                    true => Ok(()),
                    false => Err("there is something under this name already; choose another one".to_owned()),
                }
            }
            written => written.map_err(describe),
        }
    }

    fn named(&self, path: &Path) -> String {
        path.strip_prefix(&self.data).unwrap_or(path).display().to_string()
    }
}

/// The kind of a machine's state, under the machine's name.
const KEPT_HOST: &str = "host";

/// The kind of which the last one counts.
const BASELINE: &str = "meter.baseline";

/// Makes sure that a name names a file of the folder and no other one.
fn plain(name: &str) -> Result<&str, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let good = !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.bytes().all(fits);
    if good { Ok(name) } else { Err(format!("{name:?} is no name of a file")) }
}

fn small(path: &Path, most: u64) -> io::Result<String> {
    if fs::metadata(path)?.len() > most {
        return Err(io::Error::other("it is too long"));
    }
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(data: &Path) -> Folders {
        Folders { captures: data.join("captures"), data: data.to_owned() }
    }

    fn keep(session: &str, text: &str) -> FileTask {
        FileTask::Keep { kind: "effective".to_owned(), session: session.to_owned(), text: text.to_owned() }
    }

    fn recall(session: &str) -> FileTask {
        FileTask::Recall { kind: "effective".to_owned(), session: session.to_owned() }
    }

    #[test]
    fn what_was_kept_is_recalled_and_never_replaced() {
        let data = tempfile::tempdir().unwrap();
        let folders = folders(data.path());
        assert_eq!(folders.run_task(&recall("before")).unwrap(), "null");
        folders.run_task(&keep("before", "{}")).unwrap();
        folders.run_task(&keep("before", "{}")).unwrap();
        assert!(folders.run_task(&keep("before", "[]")).is_err());
        assert_eq!(folders.run_task(&recall("before")).unwrap(), "{}");
        assert!(data.path().join("effective/before.json").exists());
    }

    #[test]
    fn no_name_leads_out_of_the_folders() {
        let data = tempfile::tempdir().unwrap();
        let folders = folders(data.path());
        for name in ["../x", "a/b", ".", "..", "", "a b"] {
            assert!(folders.run_task(&recall(name)).is_err(), "{name}");
            assert!(folders.run_task(&keep(name, "x")).is_err(), "{name}");
            let verify = FileTask::Verify { file: name.to_owned(), bytes: 1 };
            assert!(folders.run_task(&verify).unwrap_err().contains("no name"), "{name}");
        }
        let other = FileTask::Recall { kind: "../effective".to_owned(), session: "x".to_owned() };
        assert!(folders.run_task(&other).is_err());
    }
}
