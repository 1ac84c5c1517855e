//! The sign-in: the files it needs, its commands, what is removed afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use ghost_base::{Digest, private_dir, write_private};
use ghost_shell::{Identity, IdentityCommand, SignIn, SignInError, SignInStep};

use super::account::{Account, Credential, SignInMethod};
use crate::{FailureClass, failure};

/// The folder of an identity below the data folder. Its name is one that no reading command may be given.
const FOLDER: &str = ".azure";

/// What somebody else's sign-in would leave behind in a folder.
const LEFT: [&str; 6] = [
    "azureProfile.json",
    "msal_token_cache.json",
    "msal_token_cache.bin",
    "service_principal_entries.json",
    "service_principal_entries.bin",
    "accessTokens.json",
];

/// Where `az` remembers for a minute what a sign-in was refused with.
const REFUSALS: &str = "msal_http_cache.bin";

/// What says of an installation rather than of a person which cloud there is.
const SHARED: [&str; 2] = ["clouds.config", "versionCheck.json"];

/// The largest of these files.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Makes an identity. What it needs lies in `data`; which cloud it signs in to is read in `like`, the folder that `az` would use.
#[must_use]
pub fn identity(role: &str, account: &Account, data: &Path, like: Option<&Path>) -> Identity {
    let identity = Identity::new(format!("{role} ({})", account.describe()));
    let place = role.split(' ').next().unwrap_or(role);
    let home = data.join("identity").join(place);
    let folder = match &account.method {
        SignInMethod::Folder(folder) => folder.clone(),
        SignInMethod::Managed { .. } | SignInMethod::Principal { .. } => home.join(FOLDER),
    };
    let sign_in = AccountSignIn {
        account: account.clone(),
        home,
        folder: folder.clone(),
        like: like.map(Path::to_owned).filter(|like| *like != folder),
    };
    identity.within(folder).by(Arc::new(sign_in))
}

/// The sign-in of one identity.
#[derive(Debug)]
struct AccountSignIn {
    account: Account,
    home: PathBuf,
    folder: PathBuf,
    like: Option<PathBuf>,
}

impl AccountSignIn {
    fn secret(&self) -> PathBuf {
        self.home.join("secret")
    }

    fn stamp(&self) -> PathBuf {
        self.home.join("signed-in")
    }

    /// Returns what tells this sign-in from another one. It says nothing about a secret.
    fn mark(&self) -> String {
        let Account { method, subscription } = &self.account;
        let tenant = match method {
            SignInMethod::Principal { tenant, .. } => tenant.as_str(),
            SignInMethod::Managed { .. } | SignInMethod::Folder(_) => "",
        };
        let cloud =
            self.like.as_ref().and_then(|like| small(&like.join("clouds.config"))).unwrap_or_default();
        let subscription = subscription.as_deref().unwrap_or_default();
        Digest::of_fields([self.account.describe().as_str(), tenant, subscription, cloud.as_str()])
            .to_string()
    }

    /// Makes the folder, with the cloud of this machine and nobody's sign-in.
    fn lay_out(&self) -> io::Result<()> {
        private_dir(&self.home)?;
        private_dir(&self.folder)?;
        if !self.is_signed_in() {
            for name in LEFT {
                gone(&self.folder.join(name))?;
            }
        }
        gone(&self.folder.join(REFUSALS))?;
        let Some(like) = &self.like else { return Ok(()) };
        for name in SHARED {
            if let Some(text) = small(&like.join(name)) {
                write_private(&self.folder.join(name), text.as_bytes())?;
            }
        }
        let known = small(&like.join("config")).unwrap_or_default();
        write_private(&self.folder.join("config"), settings(&known).as_bytes())
    }

    fn words(&self) -> Result<Vec<Vec<String>>, SignInError> {
        let line = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = Vec::new();
        match &self.account.method {
            SignInMethod::Managed { client } => {
                let mut login = line("az login --identity --output none");
                if let Some(client) = client {
                    login.extend(["--client-id".to_owned(), client.clone()]);
                }
                lines.push(login);
            }
            SignInMethod::Principal { client, tenant, proof } => {
                let mut login = line("az login --service-principal --output none --username");
                login.extend([client.clone(), "--tenant".to_owned(), tenant.clone()]);
                let path = |path: &Path| path.to_str().map(str::to_owned).ok_or(SignInError::Path);
                let (option, value) = match proof {
                    Credential::Certificate(file) => ("--certificate", path(there(file)?)?),
                    Credential::Token(file) => ("--federated-token", format!("@{}", path(there(file)?)?)),
                    Credential::SecretFile(file) => ("--password", format!("@{}", path(there(file)?)?)),
                    Credential::Secret(secret) => {
                        let file = self.secret();
                        write_private(&file, secret.expose().as_bytes()).map_err(SignInError::Secret)?;
                        ("--password", format!("@{}", path(&file)?))
                    }
                };
                login.extend([option.to_owned(), value]);
                lines.push(login);
            }
            SignInMethod::Folder(_) => return Ok(lines),
        }
        if let Some(subscription) = &self.account.subscription {
            lines.push(line(&format!("az account set --subscription {subscription}")));
        }
        Ok(lines)
    }
}

impl SignIn for AccountSignIn {
    fn is_signed_in(&self) -> bool {
        let signed = small(&self.stamp()).is_some_and(|mark| mark == self.mark());
        signed && self.folder.join("azureProfile.json").exists()
    }

    fn begin(&self) -> Result<Vec<SignInStep>, SignInError> {
        let step = |words: &[String], expects: Option<String>| {
            let command = IdentityCommand::parse(words).ok_or(SignInError::Command)?;
            Ok(SignInStep { command, expects })
        };
        if let SignInMethod::Folder(folder) = &self.account.method {
            // What belongs to a person is examined, never changed.
            if !folder.is_dir() {
                return Err(SignInError::NoFolder(folder.clone()));
            }
            let look =
                "az account show --query id --output tsv".split(' ').map(str::to_owned).collect::<Vec<_>>();
            let pinned = self.account.subscription.clone();
            return pinned.map(|id| step(&look, Some(id))).into_iter().collect();
        }
        self.lay_out().map_err(|error| SignInError::Folder { folder: self.folder.clone(), error })?;
        self.words()?.iter().map(|words| step(words, None)).collect()
    }

    fn end(&self, well: bool) {
        if matches!(self.account.method, SignInMethod::Folder(_)) {
            return;
        }
        // What could not be removed now is written over and removed the next time.
        drop(fs::remove_file(self.secret()));
        if !well || write_private(&self.stamp(), self.mark().as_bytes()).is_err() {
            drop(fs::remove_file(self.stamp()));
        }
    }

    fn is_signed_out(&self, exit: Option<i32>, stderr: &str) -> bool {
        matches!(failure(exit, stderr).class, FailureClass::SignedOut | FailureClass::Expired)
    }
}

/// Returns a file that is there; `az` would take the name of a missing one for the secret itself.
fn there(file: &Path) -> Result<&Path, SignInError> {
    match fs::metadata(file) {
        Ok(found) if found.is_file() && found.len() > 0 => Ok(file),
        Ok(_) => Err(SignInError::NoFile(file.to_owned())),
        Err(error) => Err(SignInError::File { file: file.to_owned(), error }),
    }
}

fn gone(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn small(file: &Path) -> Option<String> {
    let length = fs::metadata(file).ok().filter(fs::Metadata::is_file)?.len();
    (length <= MAX_FILE_BYTES).then(|| fs::read_to_string(file).ok()).flatten()
}

/// Writes the settings of a folder: the cloud that is known, and nothing by which somebody would be signed in.
fn settings(known: &str) -> String {
    let mut section = "";
    let (mut cloud, mut discovery) = (None, None);
    for line in known.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
        } else if let Some((name, value)) = line.split_once('=') {
            match (section, name.trim()) {
                ("cloud", "name") => cloud = Some(value.trim()),
                ("core", "instance_discovery") => discovery = Some(value.trim()),
                _ => {}
            }
        }
    }
    let mut text = String::from("[core]\ncollect_telemetry = no\n");
    if let Some(discovery) = discovery {
        text.push_str(&format!("instance_discovery = {discovery}\n"));
    }
    if let Some(cloud) = cloud {
        text.push_str(&format!("[cloud]\nname = {cloud}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use ghost_base::Secret;

    const ID: &str = "33333333-3333-3333-3333-333333333333";

    fn sign_in(method: SignInMethod, data: &Path) -> AccountSignIn {
        let home = data.join("identity/reader");
        let folder =
            if let SignInMethod::Folder(folder) = &method { folder.clone() } else { home.join(FOLDER) };
        let account = Account { method, subscription: Some(ID.to_owned()) };
        AccountSignIn { account, home, folder, like: Some(data.join("theirs")) }
    }

    fn principal(proof: Credential) -> SignInMethod {
        SignInMethod::Principal { client: ID.to_owned(), tenant: "contoso.example".to_owned(), proof }
    }

    fn lines(sign_in: &AccountSignIn) -> Vec<String> {
        sign_in.begin().unwrap().iter().map(|step| step.command.text()).collect()
    }

    #[test]
    fn a_secret_is_handed_over_in_a_file_that_is_gone_afterwards() {
        let data = tempfile::tempdir().unwrap();
        let sign_in = sign_in(principal(Credential::Secret(Secret::new("hunter2"))), data.path());
        let lines = lines(&sign_in);
        let file = data.path().join("identity/reader/secret");
        assert!(lines[0].contains(&format!("--password @{}", file.display())), "{lines:?}");
        assert!(!lines.concat().contains("hunter2"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "hunter2");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&sign_in.folder).unwrap().permissions().mode() & 0o777, 0o700);
        sign_in.end(true);
        assert!(!file.exists());
    }

    #[test]
    fn a_file_that_is_missing_is_never_taken_for_the_secret() {
        let data = tempfile::tempdir().unwrap();
        let missing = data.path().join("missing");
        for proof in [
            Credential::Token(missing.clone()),
            Credential::SecretFile(missing.clone()),
            Credential::Certificate(missing),
        ] {
            let error = sign_in(principal(proof), data.path()).begin().unwrap_err();
            assert!(error.to_string().contains("missing"), "{error}");
        }
    }

    #[test]
    fn the_folder_knows_the_cloud_of_this_machine_and_nobodys_keys() {
        let data = tempfile::tempdir().unwrap();
        let theirs = data.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        let config = "[cloud]\nname = Lab\n[storage]\nconnection_string = AccountKey=x\n[core]\ninstance_discovery = false\noutput = table\n";
        fs::write(theirs.join("config"), config).unwrap();
        fs::write(theirs.join("clouds.config"), "[Lab]\nendpoint_resource_manager = https://localhost:1\n")
            .unwrap();
        let sign_in = sign_in(SignInMethod::Managed { client: None }, data.path());
        let lines = lines(&sign_in);
        assert_eq!(
            lines,
            ["az login --identity --output none".to_owned(), format!("az account set --subscription {ID}")]
        );
        assert_eq!(
            fs::read_to_string(sign_in.folder.join("config")).unwrap(),
            "[core]\ncollect_telemetry = no\ninstance_discovery = false\n[cloud]\nname = Lab\n"
        );
        assert!(sign_in.folder.join("clouds.config").exists());
    }

    #[test]
    fn somebody_else_finds_no_sign_in_of_whoever_was_there_before() {
        let data = tempfile::tempdir().unwrap();
        let first = sign_in(SignInMethod::Managed { client: None }, data.path());
        drop(lines(&first));
        fs::write(first.folder.join("azureProfile.json"), "{}").unwrap();
        first.end(true);
        assert!(first.is_signed_in());
        let other = sign_in(SignInMethod::Managed { client: Some(ID.to_owned()) }, data.path());
        assert!(!other.is_signed_in());
        drop(lines(&other));
        assert!(!other.folder.join("azureProfile.json").exists());
        first.end(false);
        assert!(!first.is_signed_in());
    }

    #[test]
    fn a_folder_of_a_person_is_looked_at_and_not_changed() {
        let data = tempfile::tempdir().unwrap();
        let theirs = data.path().join("own");
        fs::create_dir(&theirs).unwrap();
        let sign_in = sign_in(SignInMethod::Folder(theirs.clone()), data.path());
        let steps = sign_in.begin().unwrap();
        assert_eq!(steps[0].command.text(), "az account show --query id --output tsv");
        assert_eq!(steps[0].expects.as_deref(), Some(ID));
        sign_in.end(true);
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
        assert!(!data.path().join("identity").exists());
        let gone = AccountSignIn {
            account: Account { method: SignInMethod::Folder("/nonexistent".into()), subscription: None },
            ..sign_in
        };
        assert!(gone.begin().unwrap_err().to_string().contains("/nonexistent"));
    }

    #[test]
    fn only_a_lost_sign_in_is_one() {
        let data = tempfile::tempdir().unwrap();
        let sign_in = sign_in(SignInMethod::Managed { client: None }, data.path());
        assert!(sign_in.is_signed_out(Some(1), "ERROR: Please run 'az login' to setup account.\n"));
        assert!(
            sign_in.is_signed_out(Some(1), "ERROR: (ExpiredAuthenticationToken) The access token expiry\n")
        );
        assert!(
            !sign_in.is_signed_out(Some(1), "ERROR: (AuthorizationFailed) The client 'x' does not have\n")
        );
        assert!(!sign_in.is_signed_out(Some(3), "ERROR: (ResourceNotFound) x\n"));
    }
}
