//! Where the cloud is: its resource manager, its authority, and through what they are reached.
//!
//! The folder of `az` says which cloud there is, as it does for `az`; nothing in an answer does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The largest file of settings or certificates.
const MAX_FILE_BYTES: u64 = 4 << 20;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an answer may stand still.
const READ_TIMEOUT: Duration = Duration::from_secs(100);

/// The clouds that need no registration: name, resource manager, authority.
const CLOUDS: [(&str, &str, &str); 3] = [
    ("AzureCloud", "https://management.azure.com", "https://login.microsoftonline.com"),
    ("AzureUSGovernment", "https://management.usgovcloudapi.net", "https://login.microsoftonline.us"),
    ("AzureChinaCloud", "https://management.chinacloudapi.cn", "https://login.chinacloudapi.cn"),
];

/// Why the cloud cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A cloud of that name is not registered.
    #[error("the cloud {0} is not registered in the folder of az")]
    Cloud(String),
    /// It is asked over HTTPS alone.
    #[error("{0} is no HTTPS address")]
    Address(String),
    /// A file that the environment names cannot be used.
    #[error("{} holds no certificates", .path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Option<io::Error>,
    },
    /// A proxy that the environment names cannot be used.
    #[error("a proxy of the environment cannot be used")]
    Proxy(#[source] reqwest::Error),
    /// No client can be made.
    #[error("making a client")]
    Client(#[source] reqwest::Error),
    /// Cryptography is not available.
    #[error("preparing TLS")]
    Tls(#[from] rustls::Error),
}

/// Where the cloud is.
#[derive(Debug, Clone)]
pub struct Place {
    /// What the cloud is called.
    pub(super) name: String,
    /// The resource manager: scheme, host and port.
    pub(super) manager: Url,
    /// Whom a service principal asks for a token.
    pub(super) authority: Url,
    /// What tokens are for.
    pub(super) audience: String,
    /// Asks the cloud, through the proxy of the environment where it names one.
    pub(super) http: reqwest::Client,
    /// Asks the machine for its identity: no proxy.
    pub(super) machine: reqwest::Client,
    /// Where the machine's identity is asked for, and what has to be shown there.
    pub(super) identity: Option<(String, ghost_base::Secret)>,
}

impl Place {
    /// Reads where the cloud is: in the folder of `az` which one, in the environment through what it is reached.
    ///
    /// # Errors
    /// Fails where it says nothing that can be used.
    pub fn read(folder: Option<&Path>, environment: &BTreeMap<String, OsString>) -> Result<Self, PlaceError> {
        // Whoever was first has it; there is one provider.
        drop(rustls::crypto::ring::default_provider().install_default());
        let file = |name: &str| folder.and_then(|folder| small(&folder.join(name)).ok()).unwrap_or_default();
        let text = |name: &str| {
            environment.get(name).and_then(|value| value.to_str()).filter(|text| !text.is_empty())
        };
        let settings = file("config");
        let name =
            text("AZURE_CLOUD_NAME").or_else(|| setting(&settings, "cloud", "name")).unwrap_or("AzureCloud");
        let clouds = file("clouds.config");
        let named =
            |key: &str| setting(&clouds, name, key).map(|value| value.trim_end_matches('/').to_owned());
        let known = CLOUDS.iter().find(|(known, ..)| *known == name);
        let manager = named("endpoint_resource_manager").or_else(|| known.map(|known| known.1.to_owned()));
        let authority = named("endpoint_active_directory").or_else(|| known.map(|known| known.2.to_owned()));
        let (Some(manager), Some(authority)) = (manager, authority) else {
            return Err(PlaceError::Cloud(name.to_owned()));
        };
        let audience = match known {
            Some(_) => manager.clone(),
            None => named("endpoint_active_directory_resource_id").unwrap_or_else(|| manager.clone()),
        };
        let identity = text("IDENTITY_ENDPOINT").zip(text("IDENTITY_HEADER"));
        let bundle = text("REQUESTS_CA_BUNDLE").map(Path::new);
        Ok(Self {
            name: name.to_owned(),
            manager: address(&manager)?,
            authority: address(&authority)?,
            audience: format!("{audience}/"),
            http: client(bundle, &text)?,
            machine: builder().build().map_err(PlaceError::Client)?,
            identity: identity.map(|(place, header)| (place.to_owned(), ghost_base::Secret::new(header))),
        })
    }

    /// Names the host of the resource manager.
    #[must_use]
    pub fn host(&self) -> &str {
        self.manager.host_str().unwrap_or_default()
    }
}

fn address(text: &str) -> Result<Url, PlaceError> {
    let wrong = || PlaceError::Address(text.to_owned());
    let url = Url::parse(text).map_err(|_| wrong())?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if url.scheme() == "https" && url.host_str().is_some() && url.path() == "/" && plain {
        Ok(url)
    } else {
        Err(wrong())
    }
}

/// Makes a client that goes where it is sent, and nowhere else.
fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("ghost-agent/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .referer(false)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
}

fn client<'a>(
    bundle: Option<&Path>,
    text: &impl Fn(&str) -> Option<&'a str>,
) -> Result<reqwest::Client, PlaceError> {
    let mut builder = builder().https_only(true);
    if let Some(proxy) = text("https_proxy").or_else(|| text("HTTPS_PROXY")) {
        let past = text("no_proxy").or_else(|| text("NO_PROXY")).and_then(reqwest::NoProxy::from_string);
        builder = builder.proxy(reqwest::Proxy::https(proxy).map_err(PlaceError::Proxy)?.no_proxy(past));
    }
    if let Some(path) = bundle {
        builder = builder.tls_backend_preconfigured(trust(path)?);
    }
    builder.build().map_err(PlaceError::Client)
}

/// Trusts the certificates of a file and nobody else, as `az` does where it is named.
fn trust(path: &Path) -> Result<rustls::ClientConfig, PlaceError> {
    let wrong = |source: Option<io::Error>| PlaceError::Certificates { path: path.to_owned(), source };
    let text = small(path).map_err(|error| wrong(Some(error)))?;
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        roots.add(certificate.map_err(|_| wrong(None))?)?;
    }
    if roots.is_empty() {
        return Err(wrong(None));
    }
    Ok(rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

/// Reads a small file.
pub(super) fn small(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    if !found.is_file() || found.len() > MAX_FILE_BYTES {
        return Err(io::Error::other("it is no small file"));
    }
    fs::read_to_string(path)
}

/// Returns a setting of a section.
fn setting<'a>(text: &'a str, section: &str, name: &str) -> Option<&'a str> {
    let mut within = false;
    for line in text.lines().map(str::trim) {
        if let Some(found) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            within = found.trim() == section;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| within)
            && key.trim() == name
        {
            return Some(value.trim()).filter(|value| !value.is_empty());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(config: &str, clouds: &str) -> Result<Place, PlaceError> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config"), config).unwrap();
        fs::write(folder.path().join("clouds.config"), clouds).unwrap();
        Place::read(Some(folder.path()), &BTreeMap::new())
    }

    #[test]
    fn the_folder_of_az_says_which_cloud_there_is() {
        let public = read("", "").unwrap();
        assert_eq!(
            (public.host(), public.audience.as_str()),
            ("management.azure.com", "https://management.azure.com/")
        );
        let other = read("[cloud]\nname = AzureUSGovernment\n", "").unwrap();
        assert_eq!(other.authority.as_str(), "https://login.microsoftonline.us/");
        let clouds = "[Lab]\nendpoint_resource_manager = https://localhost:8443\nendpoint_active_directory = https://localhost:8443/\n";
        let lab = read("[cloud]\nname = Lab\n", clouds).unwrap();
        assert_eq!(lab.manager.as_str(), "https://localhost:8443/");
    }

    #[test]
    fn a_cloud_that_is_unknown_or_not_over_https_is_none() {
        assert!(matches!(read("[cloud]\nname = Lab\n", ""), Err(PlaceError::Cloud(_))));
        for url in ["http://localhost:1", "https://a/b", "https://u@a", "nonsense"] {
            let clouds =
                format!("[Lab]\nendpoint_resource_manager = {url}\nendpoint_active_directory = https://a\n");
            assert!(matches!(read("[cloud]\nname = Lab\n", &clouds), Err(PlaceError::Address(_))), "{url}");
        }
    }
}
