//! Who is signed in: the cloud's own description, tokens for a managed identity and for a service principal.

use serde_json::{Value, json};

use super::cloud::Cloud;
use super::refusal::Refusal;
use super::request::{Answer, Request, Verb};
use ghost_base::Timestamp;

/// How long a token is good, in seconds.
const TOKEN_SECONDS: i64 = 80_000;

/// Answers what is asked of the cloud itself, or of whoever signs in; nothing where it is none of that.
pub(super) fn answer(cloud: &Cloud, request: &Request, now: Timestamp) -> Option<Result<Answer, Refusal>> {
    let tenant = cloud.about.subscription.get("tenantId").and_then(Value::as_str).unwrap_or_default();
    let path = request.path.trim_end_matches('/');
    Some(match (request.verb, path) {
        (Verb::Get, "/metadata/endpoints") => Ok(Answer::json(200, endpoints(&request.base))),
        (Verb::Get, "/msi/token" | "/metadata/identity/oauth2/token") => managed(cloud, request, tenant, now),
        (Verb::Get, path) if path.ends_with("/v2.0/.well-known/openid-configuration") => {
            let base = format!("{}/{tenant}", request.base);
            Ok(Answer::json(
                200,
                json!({"token_endpoint": format!("{base}/oauth2/v2.0/token"),
                "authorization_endpoint": format!("{base}/oauth2/v2.0/authorize"), "issuer": format!("{base}/v2.0"),
                "device_authorization_endpoint": format!("{base}/oauth2/v2.0/devicecode")}),
            ))
        }
        (Verb::Post, path) if path.ends_with("/oauth2/v2.0/token") => Ok(Answer::json(
            200,
            json!({
            "token_type": "Bearer", "expires_in": 3600, "ext_expires_in": 3600,
            "access_token": token(tenant, &Principal::of(cloud, field(request, "client_id").as_deref()), field(request, "claims"), now)}),
        )),
        _ => return None,
    })
}

fn endpoints(base: &str) -> Value {
    let mut document = json!({"name": "Lab", "resourceManager": format!("{base}/"),
        "authentication": {"loginEndpoint": base, "audiences": [format!("{base}/")], "tenant": "common", "identityProvider": "AAD"},
        "suffixes": {"storage": "core.windows.net", "keyVaultDns": "vault.lab.test", "sqlServerHostname": "database.lab.test",
            "acrLoginServer": "azurecr.lab.test", "azureDataLakeStoreFileSystem": "azuredatalakestore.lab.test",
            "azureDataLakeAnalyticsCatalogAndJob": "azuredatalakeanalytics.lab.test",
            "azureFrontDoorEndpointSuffix": "azurefd.lab.test"}});
    // Nothing of the cloud is anywhere else.
    const SAME: [&str; 16] = [
        "portal",
        "media",
        "graphAudience",
        "graph",
        "batch",
        "vmImageAliasDoc",
        "activeDirectoryDataLake",
        "sqlManagement",
        "microsoftGraphResourceId",
        "appInsightsResourceId",
        "appInsightsTelemetryChannelResourceId",
        "attestationResourceId",
        "synapseAnalyticsResourceId",
        "logAnalyticsResourceId",
        "ossrDbmsResourceId",
        "gallery",
    ];
    if let Some(map) = document.as_object_mut() {
        for name in SAME {
            map.insert(name.to_owned(), json!(base));
        }
    }
    document
}

fn managed(cloud: &Cloud, request: &Request, tenant: &str, now: Timestamp) -> Result<Answer, Refusal> {
    let Some(resource) = request.parameter("resource") else {
        return Err(Refusal::new(400, "invalid_request", "Required query variable 'resource' is missing"));
    };
    let seconds = now.as_millis() / 1000;
    let principal = Principal::of(cloud, request.parameter("client_id"));
    Ok(Answer::json(
        200,
        json!({"access_token": token(tenant, &principal, None, now), "client_id": principal.app,
        "expires_on": (seconds + TOKEN_SECONDS).to_string(), "expires_in": TOKEN_SECONDS.to_string(), "not_before": seconds.to_string(),
        "resource": resource, "token_type": "Bearer"}),
    ))
}

/// Whom a token is for.
struct Principal {
    app: Value,
    object: Value,
}

impl Principal {
    /// Returns the one that a client id names: that of the estate where none is named, or it is that one's. Any other one is there as
    /// well; the lab's directory gives it an object id that is the same.
    fn of(cloud: &Cloud, client: Option<&str>) -> Self {
        let own = |field: &str| cloud.about.principal.get(field).cloned().unwrap_or_default();
        let app = own("appId");
        match client.filter(|client| !app.as_str().is_some_and(|app| app.eq_ignore_ascii_case(client))) {
            Some(other) => Self { app: json!(other), object: json!(other) },
            None => Self { object: own("objectId"), app },
        }
    }
}

/// Reads a field of a form.
fn field(request: &Request, name: &str) -> Option<String> {
    let form = std::str::from_utf8(&request.body).ok()?;
    let value = form.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name)?.1;
    Some(percent_encoding::percent_decode_str(value).decode_utf8().ok()?.into_owned())
}

/// Writes a token that says who it is for and until when it is good. Nobody signs it: it opens nothing but this cloud.
fn token(tenant: &str, principal: &Principal, claims: Option<String>, now: Timestamp) -> String {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let part = |value: Value| engine.encode(value.to_string());
    let until = now.as_millis() / 1000 + TOKEN_SECONDS;
    let head = part(json!({"alg": "none", "typ": "JWT"}));
    let mut body = json!({"tid": tenant, "oid": principal.object, "appid": principal.app, "exp": until});
    if let (Some(claims), Some(map)) = (claims, body.as_object_mut()) {
        map.insert("lab_claims".to_owned(), json!(claims));
    }
    let body = part(body);
    format!("{head}.{body}.{}", engine.encode("lab"))
}

/// Who a token says somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    /// The identifier of the person or program.
    pub(super) object: String,
    /// What the token was asked for with.
    claims: Option<String>,
}

/// What is wrong with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadToken {
    /// Its time is over.
    Expired,
    /// It is none, or another tenant's.
    Unreadable,
}

/// Reads a token.
pub(super) fn who(cloud: &Cloud, token: &str, now: Timestamp) -> Result<Caller, BadToken> {
    use base64::Engine as _;
    let mut parts = token.split('.');
    let claims = parts.nth(1).filter(|_| parts.next().is_some() && parts.next().is_none());
    let bytes = claims.and_then(|part| {
        base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok()
    });
    let claims: Value =
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or(BadToken::Unreadable)?;
    let tenant = cloud.about.subscription.get("tenantId");
    if claims.get("tid") != tenant {
        return Err(BadToken::Unreadable);
    }
    let until = claims.get("exp").and_then(Value::as_i64).ok_or(BadToken::Unreadable)?;
    if until.saturating_mul(1000) <= now.as_millis() {
        return Err(BadToken::Expired);
    }
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(Caller { object: text("oid").unwrap_or_default(), claims: text("lab_claims") })
}

/// Refuses a request to the resource manager whose token is not good; one without a token, where tokens are demanded.
pub(super) fn signed_in(cloud: &Cloud, request: &Request, now: Timestamp) -> Result<Option<Caller>, Refusal> {
    let Some(sent) = request.header("authorization") else {
        let message = "Authentication failed. The 'Authorization' header is missing.";
        let demanded = || Refusal::new(401, "AuthenticationFailed", message);
        return if cloud.demands_tokens { Err(demanded()) } else { Ok(None) };
    };
    let (scheme, token) = sent.trim().split_once(' ').unwrap_or((sent, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        let message = "Authentication failed. The 'Authorization' header is provided in an invalid format.";
        return Err(Refusal::new(401, "AuthenticationFailedInvalidHeader", message));
    }
    let caller = who(cloud, token.trim(), now).map_err(|bad| match bad {
        BadToken::Expired => {
            let message = "The access token expiry UTC time is earlier than current UTC time.";
            Refusal::new(401, "ExpiredAuthenticationToken", message)
        }
        BadToken::Unreadable => {
            Refusal::new(401, "InvalidAuthenticationToken", "The access token is invalid.")
        }
    })?;
    match &cloud.demanded_claims {
        Some(demanded) if caller.claims.as_ref() != Some(demanded) => Err(insufficient(demanded)),
        Some(_) | None => Ok(Some(caller)),
    }
}

/// Refuses a token that was not asked for with what is demanded, and says what that is.
fn insufficient(demanded: &str) -> Refusal {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(demanded);
    let challenge = format!(
        "Bearer realm=\"\", error=\"insufficient_claims\", error_description=\"More is demanded.\", claims=\"{text}\""
    );
    let message = "The access token does not hold what is demanded.";
    Refusal::new(401, "InvalidAuthenticationToken", message).challenging(challenge)
}
