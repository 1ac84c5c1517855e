//! Where an account's blobs are, and by what right they are asked for.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;

use super::trouble;
use crate::az::failure::Failure;
use crate::az::flatten::group;
use crate::az::line::Line;
use crate::az::reference::segment;
use crate::az::retry::RetryPolicy;
use crate::az::session::{Session, pairs};
use crate::az::sign_in::split;
use crate::azure::{Answer, Request, Verb, signed};

/// The options by which an account is named.
pub(super) const VERSION: &str = "2026-04-06";

const WARNING: &str = "
There are no credentials provided in your command and environment, we will query for account key for your storage account.
It is recommended to provide --connection-string, --account-key or --sas-token in your command as credentials.

You also can add `--auth-mode login` in your command to use Azure Active Directory (Azure AD) for authorization if your login account is assigned required RBAC roles.
For more information about RBAC roles in storage, visit https://learn.microsoft.com/azure/storage/common/storage-auth-aad-rbac-cli.

In addition, setting the corresponding environment variables can avoid inputting credentials in your command. Please use --help to get more information about environment variable usage.
";

/// By what right blobs are asked for.
#[derive(Debug, Clone)]
enum Right {
    /// A token of whoever is signed in.
    Token(String),
    /// A key of the account.
    Key(String),
    /// A signature that is part of the query.
    Signature(Vec<(String, String)>),
}

/// An account's blobs.
#[derive(Debug, Clone)]
pub(super) struct Access {
    /// Scheme and authority.
    base: String,
    /// What stands before the container: nothing, or the account.
    prefix: String,
    account: String,
    right: Right,
}

/// What a request says beside where it goes.
#[derive(Debug, Default)]
pub(super) struct BlobRequest<'a> {
    /// The query, in its order.
    pub(super) query: Vec<(&'a str, String)>,
    /// Headers of its own.
    pub(super) headers: Vec<(&'a str, String)>,
    /// Bytes.
    pub(super) body: Vec<u8>,
}

impl Access {
    /// Finds out what a line says about the account, and fetches what is needed to ask.
    pub(super) fn find(session: &mut Session<'_>, line: &Line) -> Result<Self, Failure> {
        let option_or_env = |session: &Session<'_>, option: &str, variable: &str| {
            line.one(option)
                .map(str::to_owned)
                .or_else(|| session.profile.variable(variable).map(str::to_owned))
        };
        let account = option_or_env(session, "--account-name", "AZURE_STORAGE_ACCOUNT");
        let key = option_or_env(session, "--account-key", "AZURE_STORAGE_KEY");
        let signature = option_or_env(session, "--sas-token", "AZURE_STORAGE_SAS_TOKEN");
        let mode = option_or_env(session, "--auth-mode", "AZURE_STORAGE_AUTH_MODE");
        let login = mode.is_some_and(|mode| mode.eq_ignore_ascii_case("login"));
        let connection = match (line.one("--connection-string"), login || key.is_some()) {
            (Some(text), _) => Some(text.to_owned()),
            (None, false) => session.profile.variable("AZURE_STORAGE_CONNECTION_STRING").map(str::to_owned),
            (None, true) => None,
        };
        let connection = connection.map(|text| parts(&text)).transpose()?.unwrap_or_default();
        let part = |name: &str| connection.get(name).cloned();
        let account = part("accountname").or(account);
        let endpoint = line.one("--blob-endpoint").map(str::to_owned).or_else(|| part("blobendpoint"));
        let (key, signature) = (part("accountkey").or(key), part("sharedaccesssignature").or(signature));
        let place = match (&endpoint, &account) {
            (Some(endpoint), _) => endpoint.trim_end_matches('/').to_owned(),
            (None, Some(account)) => {
                let scheme = part("defaultendpointsprotocol").unwrap_or_else(|| "https".to_owned());
                let suffix =
                    part("endpointsuffix").or_else(|| session.profile.endpoint("suffix_storage_endpoint"));
                format!("{scheme}://{account}.blob.{}", suffix.unwrap_or_default())
            }
            (None, None) => {
                return Err(Failure::new(1, "Please provide storage account name or connection string."));
            }
        };
        let (base, prefix) = split(&place);
        if !base.contains("://") || base.contains(char::is_whitespace) || base.contains(['@', '?', '#', '\\'])
        {
            return Err(Failure::new(1, format!("Invalid URL: {place}")));
        }
        let prefix = prefix.trim_end_matches('/').to_owned();
        let account = account.unwrap_or_else(|| {
            let host = base.split_once("://").map_or("", |(_, host)| host);
            if prefix.is_empty() {
                host.split('.').next().unwrap_or_default().to_owned()
            } else {
                prefix.trim_start_matches('/').to_owned()
            }
        });
        let right = match (login, key, signature) {
            (true, None, None) => {
                if base.starts_with("http:") {
                    return Err(Failure::unexpected("Token credential is only supported with HTTPS."));
                }
                Right::Token(session.token("https://storage.azure.com/")?)
            }
            (_, _, Some(signature)) => Right::Signature(pairs(signature.trim_start_matches('?'))),
            (_, Some(key), None) => Right::Key(key),
            (false, None, None) => {
                session.warnings.push(WARNING.to_owned());
                Right::Key(self::key(session, &account)?)
            }
        };
        Ok(Self { base, prefix, account, right })
    }

    /// Sends a request for a container or a blob; `path` is escaped and begins with a slash.
    pub(super) fn ask(
        &self,
        session: &mut Session<'_>,
        verb: Verb,
        path: &str,
        asked: BlobRequest<'_>,
    ) -> Result<Answer, Failure> {
        let mut headers: BTreeMap<String, String> =
            asked.headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        headers.insert("x-ms-version".to_owned(), VERSION.to_owned());
        headers.insert("x-ms-date".to_owned(), date(session));
        if !matches!(verb, Verb::Get | Verb::Head) {
            headers.insert("content-length".to_owned(), asked.body.len().to_string());
        }
        let mut query: Vec<(String, String)> =
            asked.query.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if let Right::Signature(signature) = &self.right {
            query.extend(signature.iter().cloned());
        }
        let path = format!("{}{path}", self.prefix);
        let mut request = Request { verb, base: self.base.clone(), path, query, headers, body: asked.body };
        let authorization = match &self.right {
            Right::Token(token) => Some(format!("Bearer {token}")),
            Right::Signature(_) => None,
            Right::Key(key) => {
                let signed = authorization(&self.account, key, &request);
                Some(signed.ok_or_else(|| Failure::new(1, "Incorrect padding"))?)
            }
        };
        request.headers.extend(authorization.map(|header| ("authorization".to_owned(), header)));
        session.send(RetryPolicy::Blob, &request)
    }

    /// Sends a request that has to be done.
    pub(super) fn call(
        &self,
        session: &mut Session<'_>,
        verb: Verb,
        path: &str,
        asked: BlobRequest<'_>,
    ) -> Result<Answer, Failure> {
        let answer = self.ask(session, verb, path, asked)?;
        if answer.status >= 400 { Err(trouble::failure(&answer)) } else { Ok(answer) }
    }
}

/// Returns the path of a container, or of a blob in it. The slashes of a blob's name stay.
pub(super) fn path(container: &str, blob: Option<&str>) -> String {
    let blob: String =
        blob.into_iter().flat_map(|blob| blob.split('/')).map(|part| format!("/{}", segment(part))).collect();
    format!("/{}{blob}", segment(container))
}

fn date(session: &mut Session<'_>) -> String {
    let seconds = session.environment.now().as_millis().div_euclid(1000);
    let form = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    let moment = time::OffsetDateTime::from_unix_timestamp(seconds).ok();
    moment.and_then(|moment| moment.format(form).ok()).unwrap_or_default()
}

/// Takes a connection string apart; names in lower case.
fn parts(text: &str) -> Result<BTreeMap<String, String>, Failure> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let parts: Option<BTreeMap<String, String>> = parts
        .map(|part| part.split_once('=').map(|(name, value)| (name.to_lowercase(), value.to_owned())))
        .collect();
    parts
        .filter(|parts| !parts.is_empty())
        .ok_or_else(|| Failure::new(1, "Connection string is either blank or malformed."))
}

/// Finds an account among all, by its name.
pub(super) fn locate(session: &mut Session<'_>, name: &str) -> Result<Value, Failure> {
    let path = session.place("/providers/Microsoft.Storage/storageAccounts")?;
    let all = session.list(&path, &[("api-version", super::account::VERSION)], None)?;
    let is = |account: &Value| {
        account.get("name").and_then(Value::as_str).is_some_and(|known| known.eq_ignore_ascii_case(name))
    };
    let found = all.into_iter().find(is);
    found.ok_or_else(|| Failure::new(2, format!("Storage account '{name}' not found.")))
}

/// Fetches a key of an account.
fn key(session: &mut Session<'_>, name: &str) -> Result<String, Failure> {
    let account = locate(session, name)?;
    let id = account.get("id").and_then(Value::as_str).unwrap_or_default();
    let rest = format!("Microsoft.Storage/storageAccounts/{}/listKeys", segment(name));
    let path = session.inside(group(id).unwrap_or_default(), &rest)?;
    let query = [("api-version", super::account::VERSION), ("$expand", "kerb")];
    let answer = crate::az::session::checked(&session.ask(Verb::Post, &path, &query, None)?)?;
    let key = answer.pointer("/keys/0/value").and_then(Value::as_str).map(str::to_owned);
    key.ok_or_else(|| Failure::new(1, format!("Storage account '{name}' has no key.")))
}

/// Returns the `Authorization` for a request; nothing where the key is none.
pub(super) fn authorization(account: &str, key: &str, request: &Request) -> Option<String> {
    let key = STANDARD.decode(key.trim()).ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(signed(account, request).as_bytes());
    Some(format!("SharedKey {account}:{}", STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod sign_tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::azure::Verb;

    #[test]
    fn what_is_signed_has_its_order() {
        let headers = [
            ("x-ms-version", "1"),
            ("x-ms-date", "now"),
            ("content-length", "0"),
            ("range", "bytes=0-1"),
            ("date", "x"),
        ];
        let request = Request {
            verb: Verb::Put,
            base: "https://a.blob.core.windows.net".to_owned(),
            path: "/c/b%20d".to_owned(),
            query: vec![
                ("restype".to_owned(), "container".to_owned()),
                ("comp".to_owned(), "list".to_owned()),
            ],
            headers: headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect::<BTreeMap<_, _>>(),
            body: Vec::new(),
        };
        let expected = "PUT\n\n\n\n\n\n\n\n\n\n\nbytes=0-1\nx-ms-date:now\nx-ms-version:1\n/a/c/b%20d\ncomp:list\nrestype:container";
        assert_eq!(signed("a", &request), expected);
        assert!(
            authorization("a", "AAAA", &request).is_some_and(|header| header.starts_with("SharedKey a:"))
        );
        assert_eq!(authorization("a", "!!", &request), None);
    }
}
