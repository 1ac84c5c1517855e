//! Who somebody is to the cloud.

use std::path::PathBuf;

use ghost_base::Secret;

/// What proves that it is a service principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A certificate with its key, in a PEM file: the one that leaves no secret anywhere else.
    Certificate(PathBuf),
    /// A file with a token of another issuer, as Kubernetes keeps it.
    Token(PathBuf),
    SecretFile(PathBuf),
    Secret(Secret),
}

/// How somebody signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInMethod {
    /// As the machine, or as one of the identities that it has.
    Managed {
        /// Which one, by its client id.
        client: Option<String>,
    },
    /// As a service principal.
    Principal {
        /// Its client id.
        client: String,
        /// Its tenant, by id or name.
        tenant: String,
        /// What proves it.
        proof: Credential,
    },
    /// As whoever is signed in there.
    Folder(PathBuf),
}

/// Somebody, and the subscription to which they keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// How they sign in.
    pub method: SignInMethod,
    /// The subscription's id; whichever is the first unless said.
    pub subscription: Option<String>,
}

impl Account {
    /// Says who it is, without a secret.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.method {
            SignInMethod::Managed { client: None } => "managed identity of this machine".to_owned(),
            SignInMethod::Managed { client: Some(client) } => format!("managed identity {client}"),
            SignInMethod::Principal { client, .. } => format!("service principal {client}"),
            SignInMethod::Folder(folder) => format!("whoever is signed in in {}", folder.display()),
        }
    }

    /// Tells whether somebody else is the same to the cloud, however they prove it.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.method, &other.method) {
            (SignInMethod::Managed { client: one }, SignInMethod::Managed { client: two }) => one == two,
            (SignInMethod::Principal { client: one, .. }, SignInMethod::Principal { client: two, .. }) => {
                one.eq_ignore_ascii_case(two)
            }
            (SignInMethod::Folder(one), SignInMethod::Folder(two)) => one == two,
            (SignInMethod::Managed { .. } | SignInMethod::Principal { .. } | SignInMethod::Folder(_), _) => {
                false
            }
        }
    }
}
