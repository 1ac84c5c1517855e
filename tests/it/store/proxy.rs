//! A wire between a store and its server that a test can cut, or whose answers it can swallow.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Wire {
    open: Mutex<Vec<TcpStream>>,
    is_mute: AtomicBool,
    is_over: AtomicBool,
}

pub(super) struct Proxy {
    pub(super) port: u16,
    wire: Arc<Wire>,
}

impl Proxy {
    pub(super) fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let wire = Arc::new(Wire::default());
        let shared = Arc::clone(&wire);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                forward(&shared, client.try_clone().unwrap(), server.try_clone().unwrap(), false);
                forward(&shared, server.try_clone().unwrap(), client.try_clone().unwrap(), true);
                shared.open.lock().unwrap().extend([client, server]);
            }
        });
        Self { port, wire }
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Ends all connections; new ones work.
    pub(super) fn cut(&self) {
        for stream in self.wire.open.lock().unwrap().drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Swallows what the server answers, or stops doing so.
    pub(super) fn mute(&self, is_mute: bool) {
        self.wire.is_mute.store(is_mute, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.wire.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        self.cut();
    }
}

fn forward(wire: &Arc<Wire>, mut from: TcpStream, mut to: TcpStream, is_answer: bool) {
    let wire = Arc::clone(wire);
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if is_answer && wire.is_mute.load(Ordering::SeqCst) {
                continue;
            }
            if to.write_all(buffer.get(..length).unwrap()).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
    });
}
