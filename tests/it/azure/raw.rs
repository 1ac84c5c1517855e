//! HTTP, byte by byte.

use std::sync::Arc;

use ghost_lab::azure::{Request, Verb};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::stage::Stage;

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

/// Connects to a lab.
pub(super) async fn connect(stage: &Stage) -> TcpStream {
    TcpStream::connect(("127.0.0.1", stage.port)).await.unwrap()
}

/// Sends text and reads one answer.
pub(super) async fn say(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), text: &str) -> Said {
    stream.write_all(text.as_bytes()).await.unwrap();
    hear(stream).await
}

/// Reads one answer.
pub(super) async fn hear(stream: &mut (impl AsyncRead + Unpin)) -> Said {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    Said { status, head, body: String::from_utf8(body).unwrap() }
}

/// Asks once over plain HTTP.
pub(super) async fn once(stage: &Stage, text: &str) -> Said {
    say(&mut connect(stage).await, text).await
}

/// Puts TLS over a connection, trusting one authority alone.
pub(super) async fn secured<S>(stream: S, authority: &[u8], name: &str) -> std::io::Result<TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut trusted = RootCertStore::empty();
    trusted.add(CertificateDer::from_pem_slice(authority).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(trusted).with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// Makes a request to the resource manager.
pub(super) fn request(verb: Verb, path: &str, body: Option<&serde_json::Value>) -> Request {
    let mut made = super::call::request(verb, path);
    if let Some(body) = body {
        made.headers.insert("content-type".to_owned(), "application/json".to_owned());
        made.body = body.to_string().into_bytes();
    }
    made
}
