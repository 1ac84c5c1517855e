//! A server for ssh on each machine, with keys that live as long as the network; none of it can be reached from another computer.
//!
//! Who connects to a port of the loopback of this computer meets a sshd inside of one machine, started for this connection as inetd does.
//! So it works whatever is wrong with the machine's own network, and nothing listens on the machine that would not be there otherwise.

use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use super::daemon::wrong;
use crate::host::exec::{ProcessRequest, Running};
use crate::host::netns::{Program, failed, must};
use crate::host::port::HostError;
use ghost_base::private_dir;

/// What sshd insists on; a machine on which its service never ran has none.
const PRIVILEGES: &str = "/run/sshd";

/// The servers of a network. Dropped, they end, and their keys are gone.
#[derive(Debug)]
pub struct SshAccess {
    folder: PathBuf,
    servers: Vec<Server>,
    made_privileges: bool,
}

#[derive(Debug)]
struct Server {
    at: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SshAccess {
    /// Begins to serve machines, each by its name and its namespace; `folder` is for keys and for what clients need.
    ///
    /// # Errors
    /// Fails where OpenSSH is not installed, and where nothing can be written.
    pub fn open(machines: &[(String, String)], folder: &Path) -> Result<Self, HostError> {
        let sshd = Program::named("sshd").and_then(Program::path);
        let sshd = sshd.ok_or_else(|| HostError::Lacking("install the package openssh-server".to_owned()))?;
        let folder = folder.join("ssh");
        drop(fs::remove_dir_all(&folder));
        private_dir(&folder).map_err(|error| failed("a folder for keys", error))?;
        let mut access = Self { made_privileges: made_privileges()?, folder, servers: Vec::new() };
        let user = access.key("user")?;
        let (mut hosts, mut known) = (String::new(), String::new());
        for (name, space) in machines {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            let listener = listener.map_err(|error| failed("listening on the loopback", error))?;
            let at = listener.local_addr().map_err(|error| failed("listening on the loopback", error))?;
            let public = access.key(&format!("{name}-host"))?;
            let config = access.config(name, &user)?;
            let words = ["netns", "exec", space, &sshd.display().to_string(), "-i", "-e", "-f", &config];
            access.servers.push(Server::start(at, listener, words.map(str::to_owned).to_vec())?);
            let (key, hosts_file) = (access.folder.join("user"), access.known());
            let _ = write!(
                hosts,
                "Host {name}\n  HostName {}\n  Port {}\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}\n",
                at.ip(),
                at.port(),
                key.display(),
                hosts_file.display()
            );
            let _ = writeln!(known, "[{}]:{} {}", at.ip(), at.port(), public.trim());
        }
        for (path, text) in [(access.inventory(), hosts), (access.known(), known)] {
            fs::write(path, text).map_err(|error| failed("a file for ssh", error))?;
        }
        Ok(access)
    }

    /// Returns the configuration for clients, which is an inventory as well.
    #[must_use]
    pub fn inventory(&self) -> PathBuf {
        self.folder.join("ssh_config")
    }

    /// Returns the keys of the machines.
    #[must_use]
    pub fn known(&self) -> PathBuf {
        self.folder.join("known_hosts")
    }

    /// Makes a key, and returns its public half.
    fn key(&self, name: &str) -> Result<String, HostError> {
        let path = self.folder.join(name).display().to_string();
        must(
            "a key",
            ProcessRequest::own("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", &path])?,
        )?;
        fs::read_to_string(format!("{path}.pub")).map_err(|error| failed("reading a key", error))
    }

    /// Writes the configuration of a machine's server.
    fn config(&self, name: &str, user: &str) -> Result<String, HostError> {
        let (path, allowed) = (self.folder.join(format!("{name}.conf")), self.folder.join("authorized_keys"));
        let text = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nLogLevel ERROR\nPrintMotd no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nAllowUsers root\n\
             AllowTcpForwarding no\nAllowAgentForwarding no\nX11Forwarding no\nPermitTunnel no\n",
            self.folder.join(format!("{name}-host")).display(),
            allowed.display()
        );
        for (path, text) in [(&path, text.as_str()), (&allowed, user)] {
            fs::write(path, text).map_err(|error| failed("a file for sshd", error))?;
        }
        Ok(path.display().to_string())
    }
}

/// Makes the folder that sshd insists on; returns whether it was not there.
fn made_privileges() -> Result<bool, HostError> {
    if Path::new(PRIVILEGES).exists() {
        return Ok(false);
    }
    fs::create_dir(PRIVILEGES).map_err(|error| failed("a folder for sshd", error))?;
    Ok(true)
}

impl Server {
    fn start(at: SocketAddr, listener: TcpListener, words: Vec<String>) -> Result<Self, HostError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let serve = move || {
            let mut running: Vec<Running> = Vec::new();
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                running.retain_mut(|one| !one.is_over());
                // Whoever connects sees that the connection ends; the next one is tried anew.
                running.extend(stream.ok().and_then(|stream| answer(&words, stream).ok()));
            }
        };
        let thread = Builder::new().name("lab-net-ssh".to_owned()).spawn(serve);
        let thread = thread.map_err(|error| failed("a thread for ssh", error))?;
        Ok(Self { at, is_over, thread: Some(thread) })
    }
}

fn answer(words: &[String], stream: TcpStream) -> Result<Running, HostError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let order = ProcessRequest::own("ip", &words)?.speaking(OwnedFd::from(stream));
    order.start(None).map_err(|error| wrong(&error.to_string()))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // It waits for a connection, and this is one.
        if let Ok(stream) = TcpStream::connect(self.at) {
            drop(stream.shutdown(Shutdown::Both));
            if let Some(thread) = self.thread.take() {
                drop(thread.join());
            }
        }
    }
}

impl Drop for SshAccess {
    fn drop(&mut self) {
        self.servers.clear();
        drop(fs::remove_dir_all(&self.folder));
        if self.made_privileges {
            // Somebody else's server may use it by now; then it is not empty, or made again.
            drop(fs::remove_dir(PRIVILEGES));
        }
    }
}
