//! The identities, and how each gets in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use super::IdentityCommand;
use crate::Verdict;

/// Variables by which somebody would be signed in as somebody else.
const OTHERS: [&str; 8] = [
    "AZURE_CLIENT_CERTIFICATE_PATH",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_CONFIG_DIR",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_PASSWORD",
    "AZURE_TENANT_ID",
    "AZURE_USERNAME",
];

/// Keys and tokens of accounts, which open them whoever is signed in.
const KEYS: &str = "AZURE_STORAGE_";

/// One command of a sign-in, and what it has to print.
#[derive(Debug, Clone)]
pub struct SignInStep {
    /// The line.
    pub command: IdentityCommand,
    /// What has to be printed, letter case aside; anything where nothing is said.
    pub expects: Option<String>,
}

/// Why a sign-in cannot begin. No text holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// A file that it needs cannot be used.
    #[error("{}: {error}", .file.display())]
    File {
        /// The certificate, token or secret that was named.
        file: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file that it needs holds nothing, or is something else.
    #[error("{} is empty, or no file", .0.display())]
    NoFile(PathBuf),
    /// The folder of a person's own sign-in is missing.
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// The folder of the identity cannot be made.
    #[error("its folder {} cannot be made: {error}", .folder.display())]
    Folder {
        /// Where the identity keeps its sign-in.
        folder: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The secret cannot be written to its file.
    #[error("the secret cannot be handed over: {0}")]
    Secret(io::Error),
    /// The path of a file is not UTF-8.
    #[error("a path is no text")]
    Path,
    /// It is none of the commands that run without asking.
    #[error("its sign-in cannot be written as a line of az")]
    Command,
}

/// How an identity is signed in.
pub trait SignIn: Send + Sync {
    /// Tells whether it is, since an earlier run.
    fn is_signed_in(&self) -> bool;
    /// Lays out what it takes, and says what is to run.
    ///
    /// # Errors
    /// Fails where a file or folder that it needs cannot be used.
    fn begin(&self) -> Result<Vec<SignInStep>, SignInError>;
    /// Clears away what was laid out, and remembers how it went.
    fn end(&self, well: bool);
    /// Tells whether a command failed because nobody is signed in.
    fn is_signed_out(&self, exit: Option<i32>, stderr: &str) -> bool;
}

/// As whom a command runs.
pub struct Identity {
    name: String,
    folder: Option<PathBuf>,
    sign_in: Option<Arc<dyn SignIn>>,
    /// How often it was signed in by this process.
    sign_ins: Mutex<u64>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Identity").field("name", &self.name).field("folder", &self.folder).finish()
    }
}

impl Identity {
    /// Names whoever the environment is signed in as.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), folder: None, sign_in: None, sign_ins: Mutex::default() }
    }

    /// Keeps its sign-in in a folder of its own, whatever the environment says.
    #[must_use]
    pub fn within(self, folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..self }
    }

    /// Says how it gets in.
    #[must_use]
    pub fn by(self, sign_in: Arc<dyn SignIn>) -> Self {
        Self { sign_in: Some(sign_in), ..self }
    }

    /// Returns the name, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the folder of its own sign-in, where it has one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    pub(crate) fn sign_in(&self) -> Option<&Arc<dyn SignIn>> {
        self.sign_in.as_ref()
    }

    pub(crate) fn sign_ins(&self) -> &Mutex<u64> {
        &self.sign_ins
    }

    /// Returns the variables that a command of this identity may see, out of those that are known.
    pub(crate) fn variables(&self, known: &BTreeMap<String, OsString>) -> BTreeMap<String, OsString> {
        let Some(folder) = &self.folder else { return known.clone() };
        let mut seen = known.clone();
        seen.retain(|name, _| !OTHERS.contains(&name.as_str()) && !name.starts_with(KEYS));
        seen.insert("AZURE_CONFIG_DIR".to_owned(), folder.clone().into());
        seen
    }
}

/// Who reads and who acts.
#[derive(Debug, Clone)]
pub struct Identities {
    reader: Arc<Identity>,
    actor: Arc<Identity>,
}

impl Identities {
    /// Lets one identity do both.
    #[must_use]
    pub fn one(identity: Identity) -> Self {
        let both = Arc::new(identity);
        Self { reader: Arc::clone(&both), actor: both }
    }

    /// Lets one identity read and the other act.
    #[must_use]
    pub fn two(reader: Identity, actor: Identity) -> Self {
        Self { reader: Arc::new(reader), actor: Arc::new(actor) }
    }

    /// Returns who reads.
    #[must_use]
    pub fn reader(&self) -> &Arc<Identity> {
        &self.reader
    }

    /// Returns who acts.
    #[must_use]
    pub fn actor(&self) -> &Arc<Identity> {
        &self.actor
    }

    /// Tells whether one identity does both.
    #[must_use]
    pub fn is_one(&self) -> bool {
        Arc::ptr_eq(&self.reader, &self.actor)
    }

    /// Returns as whom a command of that verdict runs; nobody runs what is BLOCKED.
    #[must_use]
    pub fn of(&self, verdict: Verdict) -> Option<&Arc<Identity>> {
        match verdict {
            Verdict::Safe => Some(&self.reader),
            Verdict::Risky => Some(&self.actor),
            Verdict::Blocked => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_of_its_own_sees_no_sign_in_of_anybody_else() {
        let known =
            ["AZURE_CONFIG_DIR", "AZURE_STORAGE_KEY", "AZURE_CLIENT_SECRET", "AZURE_CORE_OUTPUT", "HOME"]
                .map(|name| (name.to_owned(), OsString::from("x")))
                .into();
        let own = Identity::new("reader").within("/d/reader".into());
        let seen = own.variables(&known);
        assert_eq!(seen.keys().collect::<Vec<_>>(), ["AZURE_CONFIG_DIR", "AZURE_CORE_OUTPUT", "HOME"]);
        assert_eq!(seen["AZURE_CONFIG_DIR"], "/d/reader");
        assert_eq!(Identity::new("all").variables(&known), known);
    }

    #[test]
    fn what_is_blocked_runs_as_nobody() {
        let two = Identities::two(Identity::new("r"), Identity::new("a"));
        let name = |verdict| two.of(verdict).map(|identity| identity.name().to_owned());
        assert_eq!(name(Verdict::Safe).as_deref(), Some("r"));
        assert_eq!(name(Verdict::Risky).as_deref(), Some("a"));
        assert_eq!(name(Verdict::Blocked), None);
        assert!(!two.is_one() && Identities::one(Identity::new("b")).is_one());
    }
}
