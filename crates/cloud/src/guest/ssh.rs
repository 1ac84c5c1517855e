//! The words of the openssh client, all of them fixed but for names, ports and files.

use std::fmt;
use std::path::{Path, PathBuf};

use ghost_shell::quote;

/// What proves who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// A file with a private key; no agent is asked.
    Key(PathBuf),
    /// The socket of an agent; no file is read.
    Agent(PathBuf),
}

/// Why something cannot stand in a line of ssh.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {what} for ssh: {wanted}")]
pub struct HopError {
    /// What was given, cut to a readable length.
    pub text: String,
    /// What it should be.
    pub what: &'static str,
    /// What would do.
    pub wanted: &'static str,
}

/// A host that takes ssh, and as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    user: String,
    host: String,
    port: u16,
    identity: Identity,
}

impl Hop {
    /// Checks and takes user, host (a name or an address), port and identity.
    ///
    /// # Errors
    /// Fails where one of them could be read as anything else by ssh or by the shell that it starts for a bastion.
    pub fn new(user: &str, host: &str, port: u16, identity: Identity) -> Result<Self, HopError> {
        let plain = |text: &str, more: &[u8]| {
            (1..=253).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
        };
        if !(plain(user, b"_.-") && user.len() <= 64 && !user.starts_with(['-', '.'])) {
            return Err(wrong(user, "user", "letters, digits and _.- are, up to 64 of them"));
        }
        let address = host.parse::<std::net::IpAddr>().is_ok();
        if !(address || (plain(host, b".-") && !host.starts_with(['-', '.']))) {
            return Err(wrong(host, "host", "a name or an address is"));
        }
        if port == 0 {
            return Err(wrong("0", "port", "1 to 65535 are"));
        }
        match &identity {
            Identity::Key(path) | Identity::Agent(path) => file(path)?,
        };
        Ok(Self { user: user.to_owned(), host: host.to_owned(), port, identity })
    }

    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Reads a host from the words before it.
    fn of_words(words: &[String], host: &str) -> Option<Self> {
        let behind = |flag: &str| {
            let at = words.iter().position(|word| word == flag)?;
            words.get(at + 1)
        };
        let identity = match behind("-i") {
            Some(key) => Identity::Key(PathBuf::from(key)),
            None => Identity::Agent(PathBuf::from(value(words, "IdentityAgent=")?)),
        };
        Self::new(behind("-l")?, host, behind("-p")?.parse().ok()?, identity).ok()
    }

    /// Tells whether it is reached as root.
    pub(super) fn is_root(&self) -> bool {
        self.user == "root"
    }
}

impl fmt::Display for Hop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.user, self.host)?;
        if self.port == 22 { Ok(()) } else { write!(out, " port {}", self.port) }
    }
}

/// A guest behind ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    target: Hop,
    bastion: Option<Hop>,
    known_hosts: PathBuf,
}

/// How long a connection may take to come about, in seconds.
const CONNECT_TIMEOUT_SECONDS: u16 = 15;

impl Ssh {
    /// Takes the guest, the host before it where there is one, and the file of known host keys, which counts for both.
    ///
    /// # Errors
    /// Fails where the file's path could mean anything else to ssh.
    pub fn new(target: Hop, bastion: Option<Hop>, known_hosts: &Path) -> Result<Self, HopError> {
        file(known_hosts)?;
        Ok(Self { target, bastion, known_hosts: known_hosts.to_owned() })
    }

    /// Reads a connection from the words that [`Ssh::words`] made of it; nothing where any word is not exactly so.
    pub(super) fn of_words(words: &[String]) -> Option<Self> {
        let host = words.last()?;
        let known_hosts = Path::new(value(words, "UserKnownHostsFile=")?);
        let before = value(words, "ProxyCommand=").map(|text| -> Option<Hop> {
            // No word of ours holds a blank, and quotes are around whole words.
            let words: Vec<String> = text.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
            Hop::of_words(&words, words.last()?)
        });
        let before = match before {
            Some(before) => Some(before?),
            None => None,
        };
        let found = Self::new(Hop::of_words(words, host)?, before, known_hosts).ok()?;
        (found.words() == words).then_some(found)
    }

    /// Returns the files without which it cannot be used: keys or sockets of agents, and known host keys.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let hops = [Some(&self.target), self.bastion.as_ref()].into_iter().flatten();
        let own = hops.map(|hop| match &hop.identity {
            Identity::Key(path) | Identity::Agent(path) => path.as_path(),
        });
        own.chain([self.known_hosts.as_path()])
    }

    /// Returns the guest.
    #[must_use]
    pub fn target(&self) -> &Hop {
        &self.target
    }

    /// Returns the host before it, where there is one.
    #[must_use]
    pub fn bastion(&self) -> Option<&Hop> {
        self.bastion.as_ref()
    }

    /// Returns all words before what the guest runs.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.hop(&self.target);
        if let Some(bastion) = &self.bastion {
            let target = &self.target;
            let host =
                if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
            // Not `-J`: the first hop would not have the same options.
            let mut before = self.hop(bastion);
            before.extend(["-W".to_owned(), format!("{host}:{}", target.port), bastion.host.clone()]);
            let before = before.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            words.extend(["-o".to_owned(), format!("ProxyCommand={before}")]);
        }
        words.push(self.target.host.clone());
        words
    }

    fn hop(&self, hop: &Hop) -> Vec<String> {
        let mut words = vec!["ssh".to_owned(), "-F".to_owned(), "none".to_owned(), "-T".to_owned()];
        let mut set = |name: &str, value: &str| words.extend(["-o".to_owned(), format!("{name}={value}")]);
        set("BatchMode", "yes");
        set("StrictHostKeyChecking", "yes");
        set("UserKnownHostsFile", &self.known_hosts.display().to_string());
        set("GlobalKnownHostsFile", "none");
        set("UpdateHostKeys", "no");
        set("ConnectTimeout", &CONNECT_TIMEOUT_SECONDS.to_string());
        // A guest that falls silent while it is asked is not waited for.
        set("ServerAliveInterval", "15");
        set("ServerAliveCountMax", "4");
        set("ForwardAgent", "no");
        set("ForwardX11", "no");
        set("PermitLocalCommand", "no");
        set("ControlPath", "none");
        set("LogLevel", "ERROR");
        match &hop.identity {
            Identity::Key(path) => {
                set("IdentityAgent", "none");
                set("IdentitiesOnly", "yes");
                words.extend(["-i".to_owned(), path.display().to_string()]);
            }
            Identity::Agent(socket) => {
                set("IdentityAgent", &socket.display().to_string());
                set("IdentityFile", "none");
            }
        }
        words.extend(["-l".to_owned(), hop.user.clone(), "-p".to_owned(), hop.port.to_string()]);
        words
    }
}

/// Returns what stands behind the name of an option of ssh.
fn value<'a>(words: &'a [String], name: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(name))
}

/// Accepts a path that ssh takes as it stands: it parts some at blanks, and puts other things in place of `%` and `$`.
fn file(path: &Path) -> Result<(), HopError> {
    let text = path.to_str().unwrap_or_default();
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@,=".contains(&byte));
    if path.is_absolute() && plain {
        return Ok(());
    }
    let wanted = "an absolute path of letters, digits and /._-+@,= is";
    Err(wrong(&path.display().to_string(), "file", wanted))
}

fn wrong(text: &str, what: &'static str, wanted: &'static str) -> HopError {
    HopError { text: text.chars().take(80).collect(), what, wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(user: &str, host: &str) -> Result<Hop, HopError> {
        Hop::new(user, host, 22, Identity::Key("/k/id".into()))
    }

    #[test]
    fn nothing_but_names_gets_into_the_line() {
        for (user, host) in [("azureuser", "10.0.0.4"), ("a_b.c-d", "vm-1.example"), ("root", "2001:db8::4")]
        {
            assert!(hop(user, host).is_ok(), "{user} {host}");
        }
        for (user, host) in [
            ("", "h"),
            ("u", ""),
            ("-oProxyCommand=x", "h"),
            ("u", "-oProxyCommand=x"),
            ("u", "a b"),
            ("u;x", "h"),
            ("u", "h%p"),
            ("u@h", "h"),
            ("u", "ssh://h"),
            ("u", "h\n"),
        ] {
            assert!(hop(user, host).is_err(), "{user} {host}");
        }
        assert!(Hop::new("u", "h", 0, Identity::Key("/k".into())).is_err());
        for path in ["id", "/a b", "/%h", "/$x", "/a\"b", "~/k"] {
            assert!(Hop::new("u", "h", 22, Identity::Key(path.into())).is_err(), "{path}");
        }
    }

    #[test]
    fn only_exactly_our_words_are_read_back() {
        let known = Path::new("/k/known");
        let agent = || Hop::new("jump", "192.0.2.1", 2222, Identity::Agent("/run/agent".into())).unwrap();
        for ssh in [
            Ssh::new(hop("u", "web-1").unwrap(), None, known).unwrap(),
            Ssh::new(hop("root", "2001:db8::4").unwrap(), Some(agent()), known).unwrap(),
            Ssh::new(agent(), Some(hop("u", "gate").unwrap()), known).unwrap(),
        ] {
            let words = ssh.words();
            assert_eq!(Ssh::of_words(&words), Some(ssh));
            for at in 0..words.len() {
                let mut odd = words.clone();
                odd[at] = "StrictHostKeyChecking=no".to_owned();
                assert!(Ssh::of_words(&odd).is_none(), "{odd:?}");
                odd.remove(at);
                assert!(Ssh::of_words(&odd).is_none(), "{odd:?}");
            }
        }
        assert_eq!(Ssh::of_words(&[]), None);
    }

    #[test]
    fn every_hop_is_as_strict_as_the_last() {
        let before = Hop::new("jump", "192.0.2.1", 2222, Identity::Agent("/run/agent".into())).unwrap();
        let ssh = Ssh::new(hop("u", "2001:db8::4").unwrap(), Some(before), Path::new("/k/known")).unwrap();
        let words = ssh.words();
        let proxy = words.iter().find(|word| word.starts_with("ProxyCommand=")).unwrap();
        for text in ["StrictHostKeyChecking=yes", "BatchMode=yes", "UserKnownHostsFile=/k/known", "-F none"] {
            assert!(proxy.contains(text) && words.join(" ").contains(text), "{text}: {proxy}");
        }
        assert!(proxy.ends_with("-l jump -p 2222 -W '[2001:db8::4]:22' 192.0.2.1"), "{proxy}");
    }
}
