//! The world outside over HTTP: a lab that runs, the clock, files.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::environment::{Environment, Unreachable};
use crate::azure::{Answer, Body, Request};
use ghost_base::{Clock, Timestamp};

/// How long an answer is waited for.
const READ_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a connection is waited for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A larger answer is refused.
const MAX_ANSWER_BYTES: usize = 1 << 30;

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The certificate of the lab's authority cannot be read.
    #[error("the certificate of the lab's authority cannot be read")]
    Authority,
    /// The client cannot be built.
    #[error("building a client")]
    Build(#[from] reqwest::Error),
    /// Cryptography is not available.
    #[error("preparing TLS")]
    Tls(#[from] rustls::Error),
    /// There is no runtime.
    #[error("starting the runtime")]
    Runtime(#[from] io::Error),
}

/// Speaks with a lab, and with nobody else: what is not on this machine goes through the lab's proxy, which answers for the cloud's
/// hosts and refuses all others; no certificate counts but the lab's.
pub struct Client {
    http: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client for the lab at `url`, whose authority has this certificate.
    ///
    /// # Errors
    /// Fails where the certificate or the address cannot be used.
    pub fn new(url: &str, authority: &[u8], clock: Arc<dyn Clock>) -> Result<Self, ClientError> {
        let mut roots = rustls::RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authority) {
            roots.add(certificate.map_err(|_| ClientError::Authority)?)?;
        }
        if roots.is_empty() {
            return Err(ClientError::Authority);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let here = reqwest::NoProxy::from_string("localhost,127.0.0.1,::1");
        let proxy = reqwest::Proxy::all(url)?.no_proxy(here);
        let http = reqwest::Client::builder()
            .no_proxy()
            .proxy(proxy)
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .build()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { http, runtime, clock })
    }

    async fn sent(&self, request: Request) -> Result<Answer, reqwest::Error> {
        let method =
            reqwest::Method::from_bytes(request.verb.name().as_bytes()).unwrap_or(reqwest::Method::GET);
        let headers = request.headers.iter().filter(|(name, _)| *name != "content-length" && *name != "host");
        let pair = |(name, value): (&String, &String)| {
            Some((
                HeaderName::from_bytes(name.as_bytes()).ok()?,
                HeaderValue::from_bytes(value.as_bytes()).ok()?,
            ))
        };
        let headers: HeaderMap = headers.filter_map(pair).collect();
        let asked = self.http.request(method, address(&request)).headers(headers).body(request.body);
        let mut answer = asked.send().await?;
        let status = answer.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers =
            answer.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER_BYTES {
                break;
            }
        }
        let body = if body.is_empty() { Body::Empty } else { Body::Bytes(body) };
        Ok(Answer { status, headers, body })
    }
}

/// Writes the address of a request.
fn address(request: &Request) -> String {
    let escaped = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let query: Vec<String> =
        request.query.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{}{}{mark}{}", request.base, request.path, query.join("&"))
}

impl Environment for Client {
    fn ask(&mut self, request: Request) -> Result<Answer, Unreachable> {
        let base = request.base.clone();
        let result = self.runtime.block_on(self.sent(request));
        result.map_err(|error| {
            let mut why = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                why = inner.to_string();
                cause = inner.source();
            }
            let (scheme, host) = base.split_once("://").unwrap_or(("", &base));
            let (host, port) =
                host.rsplit_once(':').unwrap_or((host, if scheme == "http" { "80" } else { "443" }));
            let kind = if scheme == "http" { "HTTPConnection" } else { "HTTPSConnection" };
            Unreachable(format!(
                "{kind}(host='{host}', port={port}): Failed to establish a new connection: {why}"
            ))
        })
    }

    fn pause(&mut self, time: Duration) {
        // A sleep can only be made where the runtime is.
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    fn now(&mut self) -> Timestamp {
        self.clock.now()
    }

    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        std::fs::write(path, bytes)
    }
}
