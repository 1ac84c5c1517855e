//! Which service a request is for, by the port it came to and the name it was sent to.

use std::net::Ipv4Addr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Service {
    /// The resource manager, and whoever signs in there.
    Manager,
    /// The identity of a machine, at its own address.
    Identity,
    /// The blob service of an account; of the one that the path names, if there is none here.
    Blob(Option<String>),
    /// The lab itself.
    Lab,
}

/// How a request came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// Directly, over TLS.
    Secure,
    /// Directly, over plain HTTP.
    Plain,
    /// Over TLS, through a tunnel to this host.
    Tunnel(String),
    /// Over plain HTTP, with the whole address: through the proxy.
    Proxied,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A service answers it.
    Ours(Service),
    /// It is for a host that is none of the cloud's.
    Stranger,
    /// It came under a name that this address does not have: a page of somebody else may have sent it.
    Foreign,
}

/// The address at which a machine learns who it is.
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

/// What the account's name stands before.
const BLOBS: &str = ".blob.core.windows.net";

/// First parts of paths that belong to the resource manager or to sign-in. No account has such a name.
const MANAGED: [&str; 8] =
    ["subscriptions", "providers", "metadata", "msi", "tenants", "common", "organizations", "v1.0"];

impl Destination {
    /// Says what becomes of a request that was sent to an authority (`name` or `name:port`) on a server with this port.
    #[must_use]
    pub fn of(via: &Connection, authority: &str, path: &str, port: u16) -> Self {
        let Some((name, asked)) = split(authority) else { return Self::Foreign };
        match via {
            Connection::Secure | Connection::Plain => {
                let known = is_here(&name) && asked.is_none_or(|asked| asked == port);
                // Whoever resolves a name of the cloud to this address has said so in a file of this machine.
                match (known, via) {
                    (true, Connection::Plain) if first(path) == "lab" => Self::Ours(Service::Lab),
                    (true, _) => Self::Ours(by_path(path)),
                    (false, Connection::Secure) => hosted(&name, path).map_or(Self::Foreign, Self::Ours),
                    (false, _) => Self::Foreign,
                }
            }
            Connection::Tunnel(host) => {
                let same = split(host).is_some_and(|(tunnel, _)| tunnel == name);
                let found = if is_here(&name) { Some(by_path(path)) } else { hosted(&name, path) };
                found.filter(|_| same).map_or(Self::Foreign, Self::Ours)
            }
            Connection::Proxied if name == METADATA.to_string() => Self::Ours(Service::Identity),
            Connection::Proxied if is_here(&name) && asked == Some(port) => {
                // A browser sends whole addresses to a proxy alone; nothing for the lab itself comes in that form.
                if first(path) == "lab" { Self::Foreign } else { Self::Ours(by_path(path)) }
            }
            Connection::Proxied => hosted(&name, path).map_or(Self::Stranger, Self::Ours),
        }
    }

    /// Tells whether a tunnel to an authority ends here.
    #[must_use]
    pub fn has_tunnel(authority: &str, port: u16) -> bool {
        split(authority).is_some_and(|(name, asked)| {
            let here = is_here(&name) && asked == Some(port);
            here || (asked == Some(443) && hosted(&name, "/").is_some())
        })
    }
}

/// Returns the service of a public name.
fn hosted(name: &str, path: &str) -> Option<Service> {
    match name {
        "management.azure.com" | "login.microsoftonline.com" => {
            Some(by_path(path)).filter(|found| *found == Service::Manager)
        }
        name => {
            let account = name.strip_suffix(BLOBS)?;
            let plain = !account.is_empty()
                && account.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            plain.then(|| Service::Blob(Some(account.to_owned())))
        }
    }
}

fn by_path(path: &str) -> Service {
    let first = first(path);
    let tenant = path.contains("/oauth2/") || path.contains("/.well-known/");
    if first.is_empty() || tenant || MANAGED.contains(&first.as_str()) {
        Service::Manager
    } else {
        Service::Blob(None)
    }
}

fn first(path: &str) -> String {
    path.split('/').find(|part| !part.is_empty()).unwrap_or_default().to_ascii_lowercase()
}

fn is_here(name: &str) -> bool {
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// Takes an authority apart; nothing where it is none.
fn split(authority: &str) -> Option<(String, Option<u16>)> {
    let end = authority.rfind(']').map_or(0, |at| at + 1);
    let (name, port) = match authority.get(end..)?.find(':') {
        Some(at) => (authority.get(..end + at)?, Some(authority.get(end + at + 1..)?.parse().ok()?)),
        None => (authority, None),
    };
    let odd = |char: char| !(char.is_ascii_alphanumeric() || "-._:[]".contains(char));
    (!name.is_empty() && !name.contains(odd)).then(|| (name.trim_end_matches('.').to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(via: &Connection, authority: &str, path: &str, expected: &Destination) {
        assert_eq!(&Destination::of(via, authority, path, 8443), expected, "{via:?} {authority} {path}");
    }

    fn blob(account: Option<&str>) -> Destination {
        Destination::Ours(Service::Blob(account.map(str::to_owned)))
    }

    const MANAGER: Destination = Destination::Ours(Service::Manager);

    #[test]
    fn names_of_this_machine_are_the_resource_manager_blobs_in_path_style_or_the_lab() {
        for via in [Connection::Secure, Connection::Plain] {
            check(&via, "localhost:8443", "/subscriptions", &MANAGER);
            check(&via, "127.0.0.1:8443", "/a-tenant/oauth2/v2.0/token", &MANAGER);
            check(&via, "[::1]:8443", "//Subscriptions/x", &MANAGER);
            check(&via, "LOCALHOST", "/msi/token", &MANAGER);
            check(&via, "localhost:8443", "/account/container/blob", &blob(None));
            check(&via, "localhost:9", "/subscriptions", &Destination::Foreign);
            check(&via, "evil.example:8443", "/subscriptions", &Destination::Foreign);
            check(&via, "", "/subscriptions", &Destination::Foreign);
            check(&via, "localhost:notaport", "/", &Destination::Foreign);
        }
        check(&Connection::Plain, "localhost:8443", "/lab/set", &Destination::Ours(Service::Lab));
        check(&Connection::Secure, "localhost:8443", "/lab/set", &blob(None));
    }

    #[test]
    fn a_tunnel_ends_at_the_host_it_was_dug_to() {
        let tunnel = Connection::Tunnel("acct.blob.core.windows.net:443".to_owned());
        check(&tunnel, "acct.blob.core.windows.net", "/c?restype=container", &blob(Some("acct")));
        check(&tunnel, "other.blob.core.windows.net", "/c", &Destination::Foreign);
        let tunnel = Connection::Tunnel("management.azure.com:443".to_owned());
        check(&tunnel, "management.azure.com", "/subscriptions", &MANAGER);
        check(&tunnel, "management.azure.com", "/lab/set", &Destination::Foreign);
        for (authority, expected) in [
            ("management.azure.com:443", true),
            ("LOGIN.microsoftonline.com:443", true),
            ("nobody.blob.core.windows.net:443", true),
            ("localhost:8443", true),
            ("localhost:22", false),
            ("management.azure.com:80", false),
            ("management.azure.com", false),
            ("management.azure.com.evil.example:443", false),
            ("a.b.blob.core.windows.net:443", false),
            (".blob.core.windows.net:443", false),
            ("aka.ms:443", false),
            ("10.0.0.1:443", false),
        ] {
            assert_eq!(Destination::has_tunnel(authority, 8443), expected, "{authority}");
        }
    }

    #[test]
    fn the_proxy_knows_the_clouds_hosts_and_nobody_else() {
        check(
            &Connection::Proxied,
            "169.254.169.254",
            "/metadata/identity/oauth2/token",
            &Destination::Ours(Service::Identity),
        );
        check(&Connection::Proxied, "acct.blob.core.windows.net", "/c/b", &blob(Some("acct")));
        check(&Connection::Proxied, "localhost:8443", "/lab/set", &Destination::Foreign);
        for host in ["aka.ms", "10.0.0.1", "169.254.169.253", "localhost:80"] {
            check(&Connection::Proxied, host, "/", &Destination::Stranger);
        }
    }
}
