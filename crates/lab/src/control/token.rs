//! Words that nobody can guess.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::azure::Description;
use ghost_base::Timestamp;

pub(super) fn draw() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    let drawn = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if drawn < bytes.len() {
        return Err(io::Error::other("too few random bytes"));
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes the header of somebody who is signed in until then.
pub(super) fn header(about: &Description, until: Timestamp) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(&json!({"alg": "none", "typ": "JWT"}));
    let body =
        part(&json!({"tid": about.subscription.get("tenantId"), "oid": about.principal.get("objectId"),
        "appid": about.principal.get("appId"), "exp": until.as_millis().div_euclid(1000)}));
    format!("Bearer {head}.{body}.{}", URL_SAFE_NO_PAD.encode("lab"))
}
