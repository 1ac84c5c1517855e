//! Whom we trust to be Slack: the machine's certificates, and those of a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use slack_morphism::prelude::SlackClientHyperHttpsConnector;

/// Whom we trust to be Slack.
#[derive(Debug, Clone)]
pub struct Roots(Arc<ClientConfig>);

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// The file cannot be read, or holds no certificates.
    #[error("{} holds no certificates: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There is nobody to trust.
    #[error("the machine has no root certificates ({what}); install them, or name a file")]
    None {
        /// What was found in their place.
        what: String,
    },
    /// The process has no provider of cryptography, or one that cannot do it.
    #[error("TLS cannot be set up: {what}")]
    Provider {
        /// What is missing.
        what: String,
    },
}

impl Roots {
    /// Reads the machine's certificates, and those of a file beside them: a proxy's, for instance.
    ///
    /// # Errors
    /// Fails where the file has none, or where there is none at all.
    pub fn load(file: Option<&Path>) -> Result<Self, RootsError> {
        let native = rustls_native_certs::load_native_certs();
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(native.certs);
        if let Some(path) = file {
            let wrong = |what: String| RootsError::File { path: path.to_owned(), what };
            let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect)
                .map_err(|error| wrong(error.to_string()))?;
            if certificates.is_empty() {
                return Err(wrong("it has none".to_owned()));
            }
            for certificate in certificates {
                store.add(certificate).map_err(|error| wrong(error.to_string()))?;
            }
        }
        if store.is_empty() {
            let what: Vec<String> = native.errors.iter().map(ToString::to_string).collect();
            return Err(RootsError::None { what: what.join("; ") });
        }
        Self::of(store)
    }

    /// Trusts nobody: enough for a workspace on this machine, which speaks plain HTTP.
    ///
    /// # Errors
    /// Fails where the process has no provider of cryptography.
    pub fn none() -> Result<Self, RootsError> {
        Self::of(RootCertStore::empty())
    }

    fn of(store: RootCertStore) -> Result<Self, RootsError> {
        // The builder without a provider panics; whoever runs us has to install one first.
        let provider = rustls::crypto::CryptoProvider::get_default().ok_or_else(|| RootsError::Provider {
            what: "no provider of cryptography is installed".to_owned(),
        })?;
        let config = ClientConfig::builder_with_provider(Arc::clone(provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| RootsError::Provider { what: error.to_string() })?;
        Ok(Self(Arc::new(config.with_root_certificates(store).with_no_client_auth())))
    }

    /// Returns what a web socket is opened with.
    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

/// Makes the one connection of all calls: HTTPS, or plain HTTP to a workspace on this machine.
pub(crate) fn connector(roots: &Roots, url: &str) -> SlackClientHyperHttpsConnector {
    let https = HttpsConnectorBuilder::new()
        .with_tls_config(ClientConfig::clone(&roots.0))
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .build();
    SlackClientHyperHttpsConnector::from(https).with_slack_api_url(url.trim_end_matches('/'))
}

/// Makes a connection for a call whose headers matter.
pub(crate) fn bare(roots: &Roots) -> HttpsConnector<HttpConnector> {
    let https = HttpsConnectorBuilder::new().with_tls_config(ClientConfig::clone(&roots.0));
    https.https_or_http().enable_http1().build()
}
