//! NAT gateways, and how often calls to the internet found no free port, as `az` prints them.

use std::net::IpAddr;

use serde_json::Value;

use super::balancer::{PublicAddresses, listed_public};
use super::topology::{Decoded, has, inner, rows};
use crate::net::{DocumentError, Fields, document};

/// A NAT gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gateway {
    pub(super) name: String,
    /// Whether it has a public address, or a range of them.
    pub(super) has_address: bool,
    /// The addresses by which it is seen outside; none where not all of them are known.
    pub(super) addresses: Vec<IpAddr>,
}

/// How many calls found no free port at a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    /// Its kind in small letters, such as `natgateways`, and its name.
    pub(super) resource: (String, String),
    pub(super) calls: u64,
}

/// Reads what `az network nat gateway list` prints.
pub(super) fn gateways(text: &str, publics: &PublicAddresses) -> Result<Decoded<Gateway>, DocumentError> {
    let is_row = |map: &serde_json::Map<String, Value>| {
        has(map, "idleTimeoutInMinutes") || has(map, "publicIpAddresses") || has(map, "sku")
    };
    rows(text, "NAT gateways", is_row, |row, _| {
        let body = inner(row);
        let some = |name: &str| body.field(name).and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        let named = body.field("publicIpAddresses").and_then(Value::as_array).into_iter().flatten();
        let known = named.map(|one| {
            let written = inner(one).text("ipAddress").and_then(|text| text.parse::<IpAddr>().ok());
            written.or_else(|| listed_public(Some(one), publics)?.address)
        });
        let known: Option<Vec<IpAddr>> = known.collect();
        Some(Gateway {
            name: row.text("name")?.to_owned(),
            has_address: some("publicIpAddresses") || some("publicIpPrefixes"),
            addresses: known.filter(|_| !some("publicIpPrefixes")).unwrap_or_default(),
        })
    })
}

/// Reads what `az monitor metrics list` prints about failed connections, of several resources.
pub(super) fn failed(text: &str) -> Result<Vec<Failed>, DocumentError> {
    let whole = document(text)?;
    let answers: Vec<&Value> = match &whole {
        Value::Array(all) => all.iter().collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            vec![other]
        }
    };
    let list = |of: &'_ Value, name: &str| -> Vec<Value> {
        of.field(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut found = Vec::new();
    for metric in answers.into_iter().flat_map(|answer| list(answer, "value")) {
        let Some(resource) = metric.text("id").and_then(resource) else { continue };
        let series = list(&metric, "timeseries");
        let totals = series.iter().flat_map(|series| list(series, "data"));
        let calls: f64 = totals.filter_map(|point| point.field("total").and_then(Value::as_f64)).sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts are small, and none is negative"
        )]
        let calls = calls.max(0.0) as u64;
        found.push(Failed { resource, calls });
    }
    Ok(found)
}

/// Returns kind and name of the resource that a metric is of.
fn resource(id: &str) -> Option<(String, String)> {
    let (own, _) = id
        .split_once("/providers/Microsoft.Insights/")
        .or_else(|| id.split_once("/providers/microsoft.insights/"))?;
    let mut parts = own.rsplit('/');
    let name = parts.next()?.to_owned();
    Some((parts.next()?.to_ascii_lowercase(), name))
}
