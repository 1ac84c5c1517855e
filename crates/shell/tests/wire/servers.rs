//! Real servers that can be changed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::program::{command, is_left_out};

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Waits until a server takes connections.
fn wait_for(port: u16, child: &mut Child) {
    let end = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(child.try_wait().unwrap().is_none(), "the server ended");
        assert!(Instant::now() < end, "the server does not listen");
        thread::sleep(Duration::from_millis(5));
    }
}

fn spawn(program: &str, arguments: &[&str]) -> Child {
    let started = command(program).args(arguments).stdout(Stdio::null()).spawn();
    started
        .unwrap_or_else(|error| panic!("{program}: {error}: install it, or set GHOST_TEST_WITHOUT={program}"))
}

/// Sends bytes and returns what comes until the end.
fn ask(port: u16, text: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) struct Redis {
    pub(crate) port: u16,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Redis {
    /// Starts a server that holds two keys.
    pub(crate) fn start() -> Option<Self> {
        if is_left_out("redis-server") {
            return None;
        }
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let dir = folder.path().to_str().unwrap();
        let number = port.to_string();
        let arguments =
            ["--port", &number, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no"];
        let mut child = spawn("redis-server", &arguments);
        wait_for(port, &mut child);
        let redis = Self { port, child, _folder: folder };
        redis.ask("SET ghost haunts\r\nSET k 1\r\n");
        Some(redis)
    }

    fn ask(&self, commands: &str) -> String {
        ask(self.port, &format!("{commands}QUIT\r\n"))
    }

    pub(crate) fn content(&self) -> String {
        self.ask("DBSIZE\r\nKEYS *\r\nGET ghost\r\nGET k\r\n")
            .lines()
            .filter(|line| !line.starts_with(['$', '*']))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Lists what ran, without what was refused for its number of words.
    pub(crate) fn commands(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .ask("INFO commandstats\r\n")
            .lines()
            .filter(|line| !line.contains(":calls=0,"))
            .filter_map(|line| Some(line.strip_prefix("cmdstat_")?.split(':').next()?.to_owned()))
            .chain(["info".to_owned()])
            .filter(|name| name != "quit")
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) struct Nginx {
    pub(crate) port: u16,
    child: Child,
    folder: tempfile::TempDir,
}

impl Nginx {
    /// Starts a server whose files may be written and deleted.
    pub(crate) fn start() -> Option<Self> {
        if is_left_out("nginx") {
            return None;
        }
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let root = folder.path().join("files");
        fs::create_dir(&root).unwrap();
        for name in ["victim.txt", "index.html"] {
            fs::write(root.join(name), "here").unwrap();
        }
        let at = folder.path().display();
        let setting = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log;\n\
             events {{ }}\n\
             http {{ access_log off; client_body_temp_path {at}/body; proxy_temp_path {at}/proxy; fastcgi_temp_path {at}/fastcgi;\n\
             uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi;\n\
             server {{ listen 127.0.0.1:{port}; root {at}/files; dav_methods PUT DELETE MKCOL COPY MOVE; create_full_put_path on; }} }}\n"
        );
        let config = folder.path().join("nginx.conf");
        fs::write(&config, setting).unwrap();
        let mut child =
            spawn("nginx", &["-c", config.to_str().unwrap(), "-p", folder.path().to_str().unwrap()]);
        wait_for(port, &mut child);
        Some(Self { port, child, folder })
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join("files")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Deletes a file as a client of WebDAV does.
    pub(crate) fn delete(&self, path: &str) {
        let answer =
            ask(self.port, &format!("DELETE {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
