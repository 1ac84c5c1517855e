//! Tokens for the resource manager, as whoever the configuration says. They stay in memory, and no text holds one.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use ghost_base::{Clock as _, Secret, SystemClock};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::Value;
use tokio::time::sleep;

use super::assertion;
use super::failure::Failure;
use super::place::{Place, small};
use super::renew::{Claims, Fetched, Refused, Renewal, Token};
use crate::sign_in::{Credential, SignInMethod};

/// Where a machine asks who it is.
const METADATA: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// How long a token is taken for good where its answer does not say.
const USUAL_SECONDS: u64 = 600;

/// How often a token is asked for.
const TRIES: u32 = 4;

const TIMEOUT: Duration = Duration::from_secs(15);

/// The largest answer of an authority.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// So much of what an authority says is shown.
const MAX_SAID_CHARS: usize = 400;

/// Gives tokens of one identity for one audience.
#[derive(Debug)]
pub(super) struct Tokens {
    method: Arc<SignInMethod>,
    renewal: Renewal,
}

impl Tokens {
    /// Gives tokens of somebody who can get them without `az`; nothing for a person who is signed in in a folder.
    pub(super) fn of(method: &SignInMethod) -> Option<Self> {
        match method {
            SignInMethod::Managed { .. } | SignInMethod::Principal { .. } => {
                Some(Self { method: Arc::new(method.clone()), renewal: Renewal::default() })
            }
            SignInMethod::Folder(_) => None,
        }
    }

    /// Returns a token that is good for a while. One that was refused is replaced, once for all who hold it.
    pub(super) async fn token(&self, place: &Place, refused: Option<&Refused>) -> Result<Token, Failure> {
        let request = |claims: Option<Claims>| {
            let (method, place) = (Arc::clone(&self.method), place.clone());
            async move { fetch(&method, &place, claims.as_deref()).await }.boxed()
        };
        self.renewal.token(refused, request).await
    }
}

/// Asks for a token, more than once where that helps.
async fn fetch(method: &SignInMethod, place: &Place, claims: Option<&str>) -> Fetched {
    let mut tried = 0;
    loop {
        let (asked, shown) = match method {
            // The machine's identity is asked for nothing but a token; whether a new one holds what was demanded shows at the next try.
            SignInMethod::Managed { client } => (managed(place, client.as_deref()), Secret::new("")),
            SignInMethod::Principal { client, tenant, proof } => {
                principal(place, (client, tenant), proof, claims)?
            }
            SignInMethod::Folder(_) => return Err(Failure::token("its sign-in belongs to az")),
        };
        tried += 1;
        match answer(asked).await {
            Ok((status, body)) if status.is_success() => return read(&body),
            Ok((status, _)) if tried < TRIES && passes(status) => {}
            Ok((status, body)) => return Err(refused(status, &body, &shown)),
            Err(_) if tried < TRIES => {}
            Err(error) => return Err(Failure::unreachable("of the sign-in", &innermost(&error))),
        }
        sleep(Duration::from_millis(500 << tried)).await;
    }
}

/// Tells whether the next try may go well. A machine's identity may not be there yet: then it is not found, or gone.
fn passes(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 404 | 408 | 410 | 429)
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn managed(place: &Place, client: Option<&str>) -> RequestBuilder {
    let client = client.map(|client| format!("&client_id={}", escaped(client))).unwrap_or_default();
    let resource = escaped(&place.audience);
    match &place.identity {
        Some((address, header)) => place
            .machine
            .get(format!("{address}?api-version=2019-08-01&resource={resource}{client}"))
            .header("x-identity-header", header.expose())
            .header("metadata", "true"),
        None => place
            .machine
            .get(format!("{METADATA}?api-version=2018-02-01&resource={resource}{client}"))
            .header("metadata", "true"),
    }
}

/// Asks the authority for a token; returns what proves it beside the request.
fn principal(
    place: &Place,
    (client, tenant): (&str, &str),
    proof: &Credential,
    claims: Option<&str>,
) -> Result<(RequestBuilder, Secret), Failure> {
    let address = format!(
        "{}{}/oauth2/v2.0/token",
        place.authority,
        escaped(tenant).replace("%2E", ".").replace("%2D", "-")
    );
    let file = |path: &std::path::Path| {
        small(path).map_err(|error| Failure::token(format!("{} cannot be read: {error}", path.display())))
    };
    let (name, value) = match proof {
        Credential::Secret(secret) => ("client_secret", secret.clone()),
        Credential::SecretFile(path) => ("client_secret", Secret::new(&file(path)?)),
        // It rotates: each use reads it anew.
        Credential::Token(path) => ("client_assertion", Secret::new(&file(path)?)),
        Credential::Certificate(path) => {
            let now = SystemClock.now().as_millis() / 1_000;
            let signed = assertion::sign(&file(path)?, client, &address, now, &nonce());
            let wrong = |why| Failure::token(format!("{} cannot be used: {why}", path.display()));
            ("client_assertion", signed.map_err(wrong)?)
        }
    };
    let kind = match name {
        "client_assertion" => {
            "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
        }
        _ => "",
    };
    let claims = claims.map(|claims| format!("&claims={}", escaped(claims))).unwrap_or_default();
    let body = format!(
        "grant_type=client_credentials&client_id={}&scope={}{claims}{kind}&{name}={}",
        escaped(client),
        escaped(&format!("{}.default", place.audience)),
        escaped(value.expose())
    );
    let request = place.http.post(address).header("content-type", "application/x-www-form-urlencoded");
    Ok((request.body(body), value))
}

/// Draws an id that no other statement has.
fn nonce() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let draw = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", draw(), draw())
}

async fn answer(request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), reqwest::Error> {
    let mut response = request.timeout(TIMEOUT).send().await?;
    let (status, mut body) = (response.status(), Vec::new());
    while let Some(part) = response.chunk().await? {
        body.extend_from_slice(&part);
        if body.len() > MAX_ANSWER_BYTES {
            break;
        }
    }
    Ok((status, body))
}

/// Reads a token and how many seconds it is good.
fn read(body: &[u8]) -> Result<(Secret, u64), Failure> {
    let document: Value = serde_json::from_slice(body).unwrap_or_default();
    let number = |name: &str| {
        let value = document.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    };
    let token = document.get("access_token").and_then(Value::as_str).map(Secret::new);
    // What is no token could break a header, and a header with it is shown nowhere.
    let plain =
        |token: &Secret| !token.is_empty() && token.expose().bytes().all(|byte| byte.is_ascii_graphic());
    let token = token.filter(plain).ok_or_else(|| Failure::token("the answer holds none"))?;
    let now = u64::try_from(SystemClock.now().as_millis() / 1_000).unwrap_or_default();
    let seconds =
        number("expires_in").or_else(|| number("expires_on").map(|until| until.saturating_sub(now)));
    Ok((token, seconds.unwrap_or(USUAL_SECONDS)))
}

/// Says why there is no token, in the words of the authority, without what was shown to it.
fn refused(status: StatusCode, body: &[u8], shown: &Secret) -> Failure {
    let document: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = ["error_description", "error"].iter().find_map(|name| document.get(name)?.as_str());
    let line = said.and_then(|said| said.lines().next()).unwrap_or("it does not say why");
    let line = if shown.is_empty() { line.to_owned() } else { line.replace(shown.expose(), "[secret]") };
    let line: String = line.chars().take(MAX_SAID_CHARS).collect();
    Failure::token(format!("{} ({})", ghost_shell::redact(&line).into_string(), status.as_u16()))
}

/// Returns the innermost cause of an error: the outer ones name the address, and do not say why.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    let mut cause = std::error::Error::source(error);
    let mut text = String::new();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    if text.is_empty() { "the connection broke".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::*;

    fn place(environment: &[(&str, &str)]) -> Place {
        let environment: BTreeMap<String, OsString> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        Place::read(None, &environment).unwrap()
    }

    #[test]
    fn a_machine_asks_where_its_identity_is_and_shows_what_is_demanded() {
        let usual = managed(&place(&[]), Some("a b")).build().unwrap();
        assert_eq!(
            usual.url().as_str(),
            "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement%2Eazure%2Ecom%2F&client_id=a%20b"
        );
        assert_eq!(usual.headers()["metadata"], "true");
        let own = place(&[("IDENTITY_ENDPOINT", "http://127.0.0.1:9/token"), ("IDENTITY_HEADER", "word")]);
        let own = managed(&own, None).build().unwrap();
        assert!(own.url().as_str().starts_with("http://127.0.0.1:9/token?api-version=2019-08-01&resource="));
        assert_eq!(own.headers()["x-identity-header"], "word");
    }

    #[test]
    fn a_principal_proves_itself_to_the_authority_of_the_cloud() {
        let body = |proof: Credential| {
            let request = principal(&place(&[]), ("client", "contoso-1.example"), &proof, None)
                .unwrap()
                .0
                .build()
                .unwrap();
            assert_eq!(
                request.url().as_str(),
                "https://login.microsoftonline.com/contoso-1.example/oauth2/v2.0/token"
            );
            String::from_utf8(request.body().unwrap().as_bytes().unwrap().to_vec()).unwrap()
        };
        let scope = "grant_type=client_credentials&client_id=client&scope=https%3A%2F%2Fmanagement%2Eazure%2Ecom%2F%2Edefault";
        assert_eq!(
            body(Credential::Secret(Secret::new("a&b=c"))),
            format!("{scope}&client_secret=a%26b%3Dc")
        );
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/reader/fixtures/principal.pem");
        let signed = body(Credential::Certificate(file.into()));
        assert!(signed.contains("jwt-bearer&client_assertion=eyJ"), "{signed}");
    }

    #[test]
    fn what_was_demanded_stands_in_the_request() {
        let proof = Credential::Secret(Secret::new("word"));
        let asked = principal(&place(&[]), ("client", "tenant"), &proof, Some(r#"{"a":"b c"}"#)).unwrap().0;
        let body = asked.build().unwrap().body().unwrap().as_bytes().unwrap().to_vec();
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains("&claims=%7B%22a%22%3A%22b%20c%22%7D&client_secret=word"), "{body}");
    }

    #[test]
    fn how_long_a_token_is_good_stands_in_its_answer() {
        let good = |text: &str| read(text.as_bytes()).map(|(_, seconds)| seconds);
        assert_eq!(good(r#"{"access_token":"a.b.c","expires_in":3600}"#), Ok(3_600));
        assert_eq!(good(r#"{"access_token":"a.b.c","expires_in":"86399"}"#), Ok(86_399));
        assert_eq!(good(r#"{"access_token":"a.b.c","expires_on":"7"}"#), Ok(0));
        assert_eq!(good(r#"{"access_token":"a.b.c"}"#), Ok(USUAL_SECONDS));
        for text in ["", "[]", r#"{"access_token":""}"#, r#"{"access_token":"a\nb"}"#] {
            assert!(good(text).is_err(), "{text}");
        }
    }
}
