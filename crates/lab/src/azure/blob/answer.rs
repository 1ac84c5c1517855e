//! Which account, who asks, what for.

use std::net::{IpAddr, Ipv4Addr};

use super::access::{self, From};
use super::account::{self, Access, Right, Role};
use super::container;
use super::path::{BlobPath, is_container};
use super::trouble::{BAD_NAME, BAD_QUERY, BlobError, FIREWALL, NO_ACCOUNT, NO_VERB};
use super::{block, list, read, write};
use crate::azure::cloud::Cloud;
use crate::azure::request::{Answer, Request, Verb};
use ghost_base::Timestamp;

/// Where whoever works with the lab is on its Internet.
pub(in crate::azure) const OPERATOR: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));

impl Cloud {
    /// Answers a request to blob storage: the account stands in the host name, or else is the first segment of the path.
    ///
    /// Who asks is on the Internet, at [`Cloud::operator`]'s address.
    pub fn blob(&mut self, account: Option<&str>, request: &Request, now: Timestamp) -> Answer {
        let from = From::Outside(self.operator);
        self.blob_from(&from, account, request, now)
    }

    /// Answers a request to blob storage that comes from somewhere: network rules let it in or not.
    pub fn blob_from(
        &mut self,
        from: &From,
        account: Option<&str>,
        request: &Request,
        now: Timestamp,
    ) -> Answer {
        if let Some(spoiled) = self.faults.hit(request) {
            return spoiled;
        }
        let mut answer = answered(self, from, account, request, now).unwrap_or_else(|trouble| {
            self.store.refusals += 1;
            trouble.answer(request, self.store.refusals, now)
        });
        if let Some(version) = request.header("x-ms-version").filter(|version| version.len() < 40) {
            answer = answer.with("x-ms-version", version);
        }
        answer
    }

    /// Whoever works with the lab is at this address of the Internet from now on; 198.51.100.7 unless said.
    pub fn operator(&mut self, address: IpAddr) {
        self.operator = address;
    }

    /// Whoever is signed in may do so much with blobs from now on.
    pub fn blob_role(&mut self, role: Role) {
        self.blob_role = role;
    }
}

fn answered(
    cloud: &mut Cloud,
    from: &From,
    account: Option<&str>,
    request: &Request,
    now: Timestamp,
) -> Result<Answer, BlobError> {
    let place = BlobPath::parse(account, &request.path).ok_or(NO_ACCOUNT)?;
    let found = access::account(cloud, &place.account).ok_or(NO_ACCOUNT)?;
    let access = account::who(cloud, found, request, now)?;
    if !access::lets_in(cloud, found, from) {
        return Err(FIREWALL.into());
    }
    let whole = request.parameter("restype").is_some_and(|kind| kind.eq_ignore_ascii_case("container"));
    let of_account = request
        .parameter("restype")
        .is_some_and(|kind| kind.eq_ignore_ascii_case("account") || kind.eq_ignore_ascii_case("service"));
    match (&place.container, &place.blob) {
        (None, _) => list::service(cloud, &place.account, request, &access),
        (Some(_), _) if of_account => list::service(cloud, &place.account, request, &access),
        (Some(name), None) if whole => {
            if !is_container(name) {
                return Err(BAD_NAME.into());
            }
            let at = (place.account.as_str(), name.as_str());
            container::answer(cloud, at, request, &access, now)
        }
        // A name alone is a blob of the root.
        (Some(name), None) => blob(cloud, (&place.account, "$root", name), request, &access, now),
        (Some(container), Some(name)) => {
            blob(cloud, (&place.account, container, name), request, &access, now)
        }
    }
}

/// An account, a container, a blob.
pub(super) type Name<'a> = (&'a str, &'a str, &'a str);

fn blob(
    cloud: &mut Cloud,
    name: Name<'_>,
    request: &Request,
    access: &Access,
    now: Timestamp,
) -> Result<Answer, BlobError> {
    if !is_container(name.1) || name.2.len() > 1_024 {
        return Err(BAD_NAME.into());
    }
    let what = request.parameter("comp").unwrap_or_default().to_ascii_lowercase();
    access.demand(match request.verb {
        Verb::Get | Verb::Head => Right::Read,
        Verb::Put | Verb::Post | Verb::Patch => Right::Write,
        Verb::Delete => Right::Delete,
    })?;
    match (request.verb, what.as_str()) {
        (Verb::Get | Verb::Head, "" | "metadata") => read::read(cloud, name, request),
        (Verb::Get, "blocklist") => block::listed(cloud, name, request),
        (Verb::Put, "") => write::put(cloud, name, request, now),
        (Verb::Put, "block") => block::stage(cloud, name, request),
        (Verb::Put, "blocklist") => block::commit(cloud, name, request, now),
        (Verb::Put, "metadata" | "properties" | "tier") => write::change(cloud, name, &what, request, now),
        (Verb::Delete, "") => write::delete(cloud, name, request),
        (Verb::Post | Verb::Patch, _) => Err(NO_VERB.into()),
        (Verb::Get | Verb::Head | Verb::Put | Verb::Delete, _) => Err(BAD_QUERY.into()),
    }
}
