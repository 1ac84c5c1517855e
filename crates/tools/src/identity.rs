//! As whom the cloud is read, and as whom something is done there, from the configuration.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;

use super::print::Hinted;
use super::setup::Setup;
use crate::config::{AzureIdentity, SignIn};
use ghost_base::Secret;
use ghost_cloud::sign_in::{Account, Credential, SignInMethod, identity};
use ghost_shell::{Identities, Identity};

/// What stands where nobody said as whom.
const WHOEVER: &str = "whoever az is signed in as";

impl Setup {
    /// Returns the identities. They are made once: what one gate signed in, no other one signs in again.
    pub fn identities(&self) -> anyhow::Result<Arc<Identities>> {
        if let Some(known) = self.known_identities.get() {
            return Ok(Arc::clone(known));
        }
        let azure = &self.config.azure;
        let identities = match (&azure.reader, &azure.actor) {
            (None, _) => Identities::one(Identity::new(WHOEVER)),
            (Some(reader), actor) => {
                let reader = self.account("reader", reader)?;
                let actor = actor.as_ref().map(|actor| self.account("actor", actor)).transpose()?;
                // A relative folder would be another one for a command that runs elsewhere.
                let data = std::path::absolute(self.data()?).context("finding the data folder")?;
                let like = self.like();
                let make = |role: &str, account: &Account| identity(role, account, &data, like.as_deref());
                match actor.filter(|actor| !actor.is_same(&reader)) {
                    Some(actor) => Identities::two(make("reader", &reader), make("actor", &actor)),
                    None => Identities::one(make("reader and actor", &reader)),
                }
            }
        };
        Ok(Arc::clone(self.known_identities.get_or_init(|| Arc::new(identities))))
    }

    /// Says what an operator should know about them: that one does both.
    pub fn one_for_both(&self) -> anyhow::Result<Option<String>> {
        let identities = self.identities()?;
        let both = identities.is_one();
        Ok(both.then(|| {
            format!(
                "One identity reads and acts: {}. What it may do, every command that only reads could do, too.",
                identities.reader().name()
            )
        }))
    }

    /// Returns the folder that `az` itself would use: it says which cloud there is.
    pub fn like(&self) -> Option<PathBuf> {
        let named = self.environment.path("AZURE_CONFIG_DIR");
        named
            .or_else(|| Some(self.environment.path("HOME")?.join(".azure")))
            .filter(|path| path.is_absolute())
    }

    pub fn account(&self, role: &str, identity: &AzureIdentity) -> anyhow::Result<Account> {
        let hint = || format!("see [azure.{role}] of the configuration");
        let missing = |what: &str| Hinted::new(anyhow::anyhow!("[azure.{role}] has no {what}"), hint());
        let method = match identity.sign_in {
            SignIn::Managed => SignInMethod::Managed { client: identity.client_id.clone() },
            SignIn::Folder => SignInMethod::Folder(identity.folder.clone().ok_or_else(|| missing("folder"))?),
            SignIn::ServicePrincipal => SignInMethod::Principal {
                client: identity.client_id.clone().ok_or_else(|| missing("client_id"))?,
                tenant: identity.tenant.clone().ok_or_else(|| missing("tenant"))?,
                proof: self.proof(role, identity)?,
            },
        };
        Ok(Account { method, subscription: identity.subscription.clone() })
    }

    fn proof(&self, role: &str, identity: &AzureIdentity) -> anyhow::Result<Credential> {
        let variable = format!("GHOST_AZURE_{}_SECRET", role.to_uppercase());
        let secret = self.environment.text(&variable).map(Secret::new).filter(|secret| !secret.is_empty());
        if let Some(file) = &identity.certificate {
            return Ok(Credential::Certificate(file.clone()));
        }
        if let Some(file) = &identity.federated_token_file {
            return Ok(Credential::Token(file.clone()));
        }
        if let Some(secret) = secret {
            return Ok(Credential::Secret(secret));
        }
        if let Some(file) = &identity.secret_file {
            return Ok(Credential::SecretFile(file.clone()));
        }
        let hint = format!("name a certificate, a federated_token_file or a secret_file, or set ${variable}");
        Err(Hinted::new(anyhow::anyhow!("nothing proves who [azure.{role}] is"), hint).into())
    }
}
