//! What web servers of the lab answer.

use crate::host::simulated::wire::path::{
    Location, METADATA, PLATFORM, app_is_expired, app_page_status, location,
};
use crate::host::simulated::world::World;
use crate::host::stage::reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) to: std::net::IpAddr,
    pub(super) port: u16,
    pub(super) headers: &'a [String],
}

/// An answer; none, where whoever listens speaks no HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) reason: &'static str,
    pub(super) kind: &'static str,
    pub(super) body: String,
    /// How long it takes to make it; milliseconds.
    pub(super) think: u64,
}

/// Answers a request.
pub(super) fn page(world: &mut World, machine: &str, request: &Request<'_>) -> Option<Page> {
    let plain =
        |body: &str| Page { status: 200, reason: "OK", kind: "text/plain", body: body.to_owned(), think: 1 };
    match location(world, request.to) {
        Location::Machine { name, .. } => {
            let status = world.page_status(&name, request.port, request.path)?;
            let think = think(world, &name, request.port);
            Some(Page { status, reason: reason(status), think, ..plain("ok\n") })
        }
        Location::Platform if request.to == METADATA => Some(metadata(machine, request)),
        Location::Platform if request.to == PLATFORM => {
            let body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><Versions><Supported><Version>2015-04-05</Version></Supported></Versions>";
            Some(Page { kind: "application/xml", ..plain(body) })
        }
        Location::ExternalHost(outside) => match outside.account {
            Some(account) => Some(storage(world, machine, &account, request)),
            None => Some(Page { kind: "text/html", think: 3, ..plain("<!doctype html><title>ok</title>\n") }),
        },
        Location::AppGateway(at) => {
            let status = app_page_status(world, at, request.to, request.port, request.path)?;
            let body = match status {
                502 => {
                    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>Microsoft-Azure-Application-Gateway/v2</center>\r\n</body>\r\n</html>\r\n"
                }
                _ => "ok\n",
            };
            Some(Page { status, reason: reason(status), kind: "text/html", ..plain(body) })
        }
        Location::Endpoint(at) => {
            // Whoever comes by a private link is let in whatever the rules for others are.
            let own = world.fabric.endpoints.get(at)?;
            Some(Page { kind: "application/xml", think: 4, ..plain("ok\n") }).filter(|_| own.approved)
        }
        Location::Platform | Location::Bastion | Location::Nobody => None,
    }
}

/// Tells whether the certificate that is shown at an address has expired.
pub(super) fn is_expired(world: &World, to: std::net::IpAddr, port: u16) -> bool {
    match location(world, to) {
        Location::AppGateway(at) => app_is_expired(world, at, to, port),
        Location::Machine { .. }
        | Location::Platform
        | Location::Endpoint(_)
        | Location::ExternalHost(_)
        | Location::Bastion
        | Location::Nobody => false,
    }
}

/// How long whoever listens thinks, as the stage's own traffic has it.
fn think(world: &World, machine: &str, port: u16) -> u64 {
    let own = |address: std::net::IpAddr| matches!(location(world, address), Location::Machine { name, .. } if name == machine);
    let traffic = world.stage.flows.iter().find(|traffic| traffic.port == port && own(traffic.to));
    traffic.map_or(1, |traffic| traffic.think_ms)
}

fn metadata(machine: &str, request: &Request<'_>) -> Page {
    let asked = request.headers.iter().any(|header| {
        let header = header.to_ascii_lowercase();
        header
            .split_once(':')
            .is_some_and(|(name, value)| name.trim() == "metadata" && value.trim() == "true")
    });
    if !asked {
        let body = "{ \"error\": \"Bad request. Required metadata header not specified\" }";
        return Page {
            status: 400,
            reason: "Bad Request",
            kind: "application/json",
            body: body.to_owned(),
            think: 1,
        };
    }
    let body = format!("{{\"compute\":{{\"name\":\"{machine}\",\"osType\":\"Linux\"}}}}");
    Page { status: 200, reason: "OK", kind: "application/json", body, think: 2 }
}

/// A storage account answers everybody; whom its network rules keep out gets a no.
fn storage(world: &World, machine: &str, account: &str, request: &Request<'_>) -> Page {
    let account = world.fabric.accounts.iter().find(|known| known.name == account);
    let inside = account.is_some_and(|account| account.lets_in.iter().any(|name| name == machine));
    let signed = request.path.contains("sig=");
    let error = |status, reason, code: &str, message: &str| Page {
        status,
        reason,
        kind: "application/xml",
        body: format!(
            "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
        ),
        think: 4,
    };
    match (inside, signed, request.method) {
        (false, _, _) => error(
            403,
            "This request is not authorized to perform this operation.",
            "AuthorizationFailure",
            "This request is not authorized to perform this operation.",
        ),
        (true, true, "PUT") => {
            Page { status: 201, reason: "Created", kind: "text/plain", body: String::new(), think: 9 }
        }
        (true, _, "PUT") => error(
            401,
            "Server failed to authenticate the request.",
            "NoAuthenticationInformation",
            "Server failed to authenticate the request.",
        ),
        (true, _, _) => error(
            409,
            "Public access is not permitted on this storage account.",
            "PublicAccessNotPermitted",
            "Public access is not permitted on this storage account.",
        ),
    }
}
