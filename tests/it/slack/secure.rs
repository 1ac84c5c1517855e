//! Facts about TLS: the same workspace behind a proxy that speaks it.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use ghost_slack::socket::{Opener, Settings, Socket};
use ghost_slack::web::{CallError, Roots, Settings as WebSettings, Web};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::slack::stage::{App, Stage, Taken, eager};

/// Makes a certificate for this machine that signs itself; nothing where the tests run without it.
#[expect(clippy::disallowed_methods, reason = "the certificate has to come from somebody else")]
fn certificate(folder: &Path) -> bool {
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    if without.split([',', ' ']).any(|name| name == "openssl") {
        return false;
    }
    let arguments = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
    let output =
        Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap_or_else(
            |error| panic!("openssl: {error} (install it, or set GHOST_TEST_WITHOUT=openssl)"),
        );
    assert!(output.status.success(), "{output:?}");
    true
}

/// Speaks TLS and passes everything on to the workspace, under the name that it knows.
async fn proxy(listener: TcpListener, acceptor: TlsAcceptor, to: u16) {
    let from = listener.local_addr().unwrap().port();
    let (foreign, own) = (format!("localhost:{from}"), format!("localhost:{to}"));
    let mut tasks = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, foreign, own) = (acceptor.clone(), foreign.clone(), own.clone());
        tasks.spawn(async move {
            // Whoever does not trust us goes away here.
            let Ok(secure) = acceptor.accept(stream).await else { return };
            let plain = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            let (mut read, mut write) = split(secure);
            let (mut back, mut forth) = plain.into_split();
            let there = async {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(length @ 1..) = read.read(&mut buffer).await {
                    let text = String::from_utf8_lossy(buffer.get(..length).unwrap());
                    // Only the heads of requests name the host; frames are masked, and go as they are.
                    let sent = match text.contains(&foreign) {
                        true => forth.write_all(text.replace(&foreign, &own).as_bytes()).await,
                        false => forth.write_all(buffer.get(..length).unwrap()).await,
                    };
                    if sent.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = there => {}
                _ = copy(&mut back, &mut write) => {}
            }
        });
    }
}

/// Opens sockets through the proxy.
struct Through {
    web: Web,
    from: String,
    to: String,
}

#[async_trait]
impl Opener for Through {
    async fn open(&self) -> Result<String, CallError> {
        Ok(self.web.connections_open().await?.replace(&self.from, &self.to))
    }
}

#[tokio::test]
async fn calls_and_sockets_trust_a_certificate_that_is_named_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    if !certificate(folder.path()) {
        return;
    }
    let stage = Stage::new().await;
    let pem = folder.path().join("cert.pem");
    let certificates = CertificateDer::pem_file_iter(&pem).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(folder.path().join("key.pem")).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut tasks = JoinSet::new();
    tasks.spawn(proxy(listener, TlsAcceptor::from(Arc::new(config)), stage.port));

    let web = |roots: Roots| {
        let mut settings = WebSettings::new(roots);
        settings.url = Some(format!("https://localhost:{port}/api/"));
        Web::new(settings, Arc::new(stage.tokens()))
    };
    let stranger = web(Roots::none().unwrap()).auth_test().await.unwrap_err();
    assert!(matches!(stranger, CallError::Unreachable { .. }), "{stranger}");

    let web = web(Roots::load(Some(&pem)).unwrap());
    assert_eq!(web.auth_test().await.unwrap().user, "U0LABGHOST");
    let (from, to) = (format!("ws://127.0.0.1:{}", stage.port), format!("wss://localhost:{port}"));
    let roots = web.roots().clone();
    let opener = |web: &Web| Arc::new(Through { web: web.clone(), from: from.clone(), to: to.clone() });
    let taken = Taken::all();
    let app = App::run(Socket::with_opener(opener(&web), roots, taken.clone(), eager()));
    app.watch.until(|counts| counts.connected == 2).await;
    stage.whispers("over TLS").await;
    taken.until(|all| all.len() == 1).await;
    app.watch.until(|counts| counts.acked == 1).await;
    app.end().await;

    let settings = Settings { connections: 1, ..eager() };
    let doubting =
        App::run(Socket::with_opener(opener(&web), Roots::none().unwrap(), Taken::all(), settings));
    let counts = doubting.watch.until(|counts| counts.failures > 0).await;
    assert_eq!(counts.opened, 0);
    doubting.end().await;
    stage.end().await;
}

#[test]
fn a_file_without_certificates_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.pem");
    std::fs::write(&file, "nothing").unwrap();
    let error = Roots::load(Some(&file)).unwrap_err().to_string();
    assert!(error.contains("empty.pem"), "{error}");
}
