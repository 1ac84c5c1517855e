//! What a SAFE command needs from the sandbox, as its policy entry declares it.

use std::borrow::Cow;

use serde::Deserialize;

/// A kind of socket that a program may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Socket {
    /// Connections to addresses (curl, whois, az).
    Stream,
    /// Datagrams to addresses, and the handles that old tools need for their `ioctl`s (dig, ifconfig, ethtool).
    Datagram,
    /// Raw packets (ping, traceroute, iptables).
    Raw,
    /// The kernel's own configuration interface (ip, ss, nft).
    Netlink,
    /// Sockets of this machine with a path, behind which its daemons listen (systemctl, docker).
    Local,
    /// Whole frames (tcpdump's and ip's link layer queries).
    Packet,
}

/// The needs of one command. The empty profile is the strictest sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// Kinds of sockets. Pairs of connected local ones, which reach nobody, are always allowed.
    pub sockets: Cow<'static, [Socket]>,
    /// Programs beside the command's own that it starts itself, by name (`mtr` starts `mtr-packet`).
    pub helpers: Cow<'static, [String]>,
    /// The programs of the command itself: `timeout 5 ping …` has two.
    pub programs: Vec<String>,
    /// It enters a network namespace (`ip -n`), which Landlock forbids: seccomp keeps it from writing instead.
    pub namespace: bool,
    /// It examines other processes (`lsof`), which Landlock hides: for root, seccomp keeps it from writing
    /// instead.
    pub processes: bool,
    /// It says who holds a socket (`ss -p`): the gate lists that for it, so that it need not examine processes.
    pub socket_owners: bool,
    /// It writes a file of its own in the home or the folder for temporary files, which only the sandbox makes its scratch folder.
    pub scratch: bool,
    /// It reads the kernel's log (`dmesg`).
    pub log: bool,
    /// Reading takes the power over the network (packet filters); for root, nothing else keeps it.
    pub net_admin: bool,
    /// It needs its own interpreter and configuration folder (`az`).
    pub cloud: bool,
    /// It finds clusters, and how to sign in there, in a file of the user's (`kubectl`).
    pub kubeconfig: bool,
    /// It may write into the captures folder (`az storage blob download`).
    pub captures: bool,
    /// The capture files that it is given, by name.
    pub captured: Vec<String>,
    /// The program and the table of a packet filter that it reads (`iptables-legacy -t nat -L`).
    pub table: Option<(String, String)>,
    /// The files that it is given because they are meant to be read.
    pub read: Vec<String>,
    /// None of those files may be a folder, in which it would read what was not judged (`diff`).
    pub no_folders: bool,
    /// It is a declared script, which is confined whatever it starts: a `ping` that needs the privilege of its file fails in it.
    pub script: bool,
    /// It goes where a server sends it (`curl -L`).
    pub redirected: bool,
    /// The addresses of names that were looked up for it, as curl takes them (`NAME:PORT:ADDRESS`).
    pub pins: Vec<String>,
}

impl Profile {
    /// Tells whether the program can reach another machine by itself.
    pub(crate) fn opens_connections(&self) -> bool {
        self.sockets.iter().any(|socket| matches!(socket, Socket::Stream | Socket::Raw))
    }
}
