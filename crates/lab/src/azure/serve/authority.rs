//! The certificate authority of a lab: drawn when it comes up, kept in memory, good for the names of this cloud alone.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, NameConstraints,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use time::OffsetDateTime;

use ghost_base::Timestamp;

/// The names that the server answers to.
const NAMES: [&str; 6] = [
    "localhost",
    "management.azure.com",
    "login.microsoftonline.com",
    "*.blob.core.windows.net",
    "127.0.0.1",
    "::1",
];

/// What the authority may speak for: whoever steals its key can play nobody else.
const NAME_CONSTRAINTS: [&str; 4] =
    ["localhost", "management.azure.com", "login.microsoftonline.com", "blob.core.windows.net"];

const DAY: i64 = 86_400;

/// For so many days a certificate is good: longer than any lab stays up.
const DAYS: i64 = 365;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// None can be made.
    #[error("cannot make a certificate")]
    Made(#[source] rcgen::Error),
    /// The one that was made cannot be served.
    #[error("cannot serve a certificate")]
    Served(#[source] rustls::Error),
}

/// A certificate authority, and a server's certificate by it. The keys are nowhere but in memory.
#[derive(Debug, Clone)]
pub struct Authority {
    /// The authority's certificate, for whoever is to trust it.
    pub pem: String,
    pub(super) config: Arc<ServerConfig>,
}

impl Authority {
    /// Draws one.
    ///
    /// # Errors
    /// Fails where this machine cannot make keys.
    pub fn draw(now: Timestamp) -> Result<Self, CertificateError> {
        let made = CertificateError::Made;
        let key = KeyPair::generate().map_err(made)?;
        let root = root(now).map_err(made)?;
        let pem = root.self_signed(&key).map_err(made)?.pem();
        let own = KeyPair::generate().map_err(made)?;
        let leaf = leaf(now).and_then(|leaf| leaf.signed_by(&own, &Issuer::new(root, key))).map_err(made)?;
        let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.serialize_der()));
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(CertificateError::Served)?;
        let mut config = builder
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], secret)
            .map_err(CertificateError::Served)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { pem, config: Arc::new(config) })
    }
}

fn root(now: Timestamp) -> Result<CertificateParams, rcgen::Error> {
    let mut root = dated(CertificateParams::new(Vec::new())?, now);
    root.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    root.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    root.distinguished_name.push(DnType::CommonName, "a lab of Ghost, on this machine alone");
    let mut within: Vec<_> =
        NAME_CONSTRAINTS.iter().map(|name| GeneralSubtree::DnsName((*name).to_owned())).collect();
    within.push(GeneralSubtree::IpAddress(rcgen::CidrSubnet::from_v4_prefix([127, 0, 0, 0], 8)));
    within.push(GeneralSubtree::IpAddress(rcgen::CidrSubnet::from_v6_prefix(
        std::net::Ipv6Addr::LOCALHOST.octets(),
        128,
    )));
    root.name_constraints =
        Some(NameConstraints { permitted_subtrees: within, excluded_subtrees: Vec::new() });
    Ok(root)
}

fn leaf(now: Timestamp) -> Result<CertificateParams, rcgen::Error> {
    let mut leaf = dated(CertificateParams::new(NAMES.map(str::to_owned))?, now);
    leaf.use_authority_key_identifier_extension = true;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.distinguished_name.push(DnType::CommonName, "localhost");
    Ok(leaf)
}

/// A day of grace before, for clocks that are late.
fn dated(mut parameters: CertificateParams, now: Timestamp) -> CertificateParams {
    let seconds = now.as_millis().div_euclid(1000);
    let moment = |seconds| OffsetDateTime::from_unix_timestamp(seconds).ok();
    if let (Some(from), Some(until)) = (moment(seconds - DAY), moment(seconds + DAYS * DAY)) {
        (parameters.not_before, parameters.not_after) = (from, until);
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_labs_have_two_authorities() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        let (one, other) = (Authority::draw(now).unwrap(), Authority::draw(now).unwrap());
        assert!(one.pem.starts_with("-----BEGIN CERTIFICATE-----"));
        assert_ne!(one.pem, other.pem);
    }
}
