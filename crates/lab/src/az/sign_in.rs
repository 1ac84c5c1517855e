//! Tokens: from a managed identity, or for a service principal and its secret.

use std::collections::BTreeMap;

use serde_json::Value;

use super::failure::Failure;
use super::retry::RetryPolicy;
use super::session::Session;
use crate::azure::{Answer, Body, Request, Verb};

/// Where a machine asks for the tokens of its identity.
const METADATA: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// Who wants a token.
#[derive(Debug, Clone)]
pub(super) enum SignIn {
    /// The identity of the machine.
    Machine,
    /// A service principal.
    Principal {
        /// Its identifier.
        client: String,
        secret: String,
        tenant: String,
    },
}

impl Session<'_> {
    /// Returns a token for a resource, for whoever is signed in.
    pub(super) fn token(&mut self, resource: &str) -> Result<String, Failure> {
        if let Some(known) = self.tokens.get(resource) {
            return Ok(known.clone());
        }
        let account = self.account()?;
        let text = |path: &str| account.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let who = if !text("/user/assignedIdentityInfo").is_empty() {
            SignIn::Machine
        } else {
            let (client, tenant) = (text("/user/name"), text("/tenantId"));
            let is = |entry: &&Value| entry.get("client_id").and_then(Value::as_str) == Some(client.as_str());
            let secret =
                self.profile.secrets.iter().find(is).and_then(|entry| entry.get("client_secret")?.as_str());
            let Some(secret) = secret.map(str::to_owned) else { return Err(Failure::stranger()) };
            SignIn::Principal { client, secret, tenant }
        };
        let token = self.fetch_token(&who, resource)?;
        self.tokens.insert(resource.to_owned(), token.clone());
        Ok(token)
    }

    pub(super) fn fetch_token(&mut self, who: &SignIn, resource: &str) -> Result<String, Failure> {
        let token_answer = self.profile.variable("IDENTITY_ENDPOINT").is_some();
        if let Some(token) =
            self.profile.token.clone().filter(|_| !token_answer && matches!(who, SignIn::Machine))
        {
            return Ok(token);
        }
        let answer = match who {
            SignIn::Machine => self.machine(resource)?,
            SignIn::Principal { client, secret, tenant } => {
                self.principal((client, secret, tenant), resource)?
            }
        };
        let token_answer = document(&answer);
        if let Some(token) =
            token_answer.get("access_token").and_then(Value::as_str).filter(|_| answer.status < 400)
        {
            return Ok(token.to_owned());
        }
        let why = token_answer
            .get("error_description")
            .and_then(Value::as_str)
            .filter(|_| matches!(who, SignIn::Principal { .. }));
        Err(Failure::token(why.unwrap_or("None, None")))
    }

    fn machine(&mut self, resource: &str) -> Result<Answer, Failure> {
        let (place, secret) =
            (self.profile.variable("IDENTITY_ENDPOINT"), self.profile.variable("IDENTITY_HEADER"));
        let (place, version, secret) = match (place, secret) {
            (Some(place), Some(secret)) => (place.to_owned(), "2019-08-01", Some(secret.to_owned())),
            _ => (METADATA.to_owned(), "2018-02-01", None),
        };
        let (base, path) = split(&place);
        let mut headers = BTreeMap::from([("metadata".to_owned(), "true".to_owned())]);
        headers.extend(secret.map(|secret| ("x-identity-header".to_owned(), secret)));
        let query = vec![
            ("api-version".to_owned(), version.to_owned()),
            ("resource".to_owned(), resource.to_owned()),
        ];
        self.send(
            RetryPolicy::Never,
            &Request { verb: Verb::Get, base, path, query, headers, body: Vec::new() },
        )
    }

    fn principal(
        &mut self,
        (client, secret, tenant): (&str, &str, &str),
        resource: &str,
    ) -> Result<Answer, Failure> {
        let login = self.profile.endpoint("endpoint_active_directory").unwrap_or_default();
        let path = format!("/{}/v2.0/.well-known/openid-configuration", super::reference::segment(tenant));
        let about = Request {
            verb: Verb::Get,
            base: login.clone(),
            path,
            query: Vec::new(),
            headers: BTreeMap::new(),
            body: Vec::new(),
        };
        let about = document(&self.send(RetryPolicy::Never, &about)?);
        let Some(place) = about.get("token_endpoint").and_then(Value::as_str) else {
            return Err(Failure::new(
                1,
                format!("Unable to get authority configuration for {login}/{tenant}."),
            ));
        };
        // The secret goes to the authority that was asked for, and to nobody else.
        let (base, path) = split(place);
        if base != login {
            return Err(Failure::new(1, format!("The authority {login} points to another one: {base}")));
        }
        let field = super::reference::segment;
        let body = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&scope={}",
            field(client),
            field(secret),
            field(&format!("{resource}/.default"))
        );
        let headers =
            BTreeMap::from([("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned())]);
        let body = body.into_bytes();
        self.send(
            RetryPolicy::Never,
            &Request { verb: Verb::Post, base, path, query: Vec::new(), headers, body },
        )
    }
}

/// Splits an address into scheme and authority, and path.
pub(super) fn split(place: &str) -> (String, String) {
    let from = place.find("://").map_or(0, |at| at + 3);
    let slash = place.get(from..).and_then(|rest| rest.find('/')).map_or(place.len(), |at| from + at);
    let (base, path) = place.split_at_checked(slash).unwrap_or((place, ""));
    (base.to_owned(), if path.is_empty() { "/".to_owned() } else { path.to_owned() })
}

fn document(answer: &Answer) -> Value {
    match &answer.body {
        Body::Json(document) => document.clone(),
        Body::Text(_, text) => serde_json::from_str(text).unwrap_or_default(),
        Body::Bytes(bytes) => serde_json::from_slice(bytes).unwrap_or_default(),
        Body::Empty => Value::Null,
    }
}
