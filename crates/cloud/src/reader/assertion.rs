//! What proves a service principal by its certificate: a statement for one audience, good for minutes, signed with its key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ghost_base::{Digest, Secret};
use rustls::SignatureScheme;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;

/// How long a statement is good, in seconds, and how much clocks may differ.
const GOOD_SECONDS: i64 = 300;
const SKEW_SECONDS: i64 = 60;

/// Signs a statement of `client` for `audience`. The error names no key.
pub(super) fn sign(
    pem: &str,
    client: &str,
    audience: &str,
    now: i64,
    id: &str,
) -> Result<Secret, &'static str> {
    let certificate =
        CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| "it holds no certificate")?;
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| "it holds no key")?;
    let key = rustls::crypto::ring::sign::any_supported_type(&key).map_err(|_| "its key cannot be used")?;
    let signer = key.choose_scheme(&[SignatureScheme::RSA_PSS_SHA256]).ok_or("its key is no RSA key")?;
    let thumbprint = URL_SAFE_NO_PAD.encode(Digest::of(&certificate).as_bytes());
    let head = json!({"alg": "PS256", "typ": "JWT", "x5t#S256": thumbprint});
    let claims = json!({"aud": audience, "iss": client, "sub": client, "jti": id,
        "nbf": now - SKEW_SECONDS, "iat": now, "exp": now + GOOD_SECONDS});
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(head), part(claims));
    let signature = signer.sign(text.as_bytes()).map_err(|_| "signing with its key failed")?;
    Ok(Secret::new(&format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A certificate that nobody trusts, with its key, and the public key alone.
    const PEM: &str = include_str!("fixtures/principal.pem");
    const PUBLIC: &[u8] = include_bytes!("fixtures/principal.der");

    #[test]
    fn a_statement_names_whom_it_is_for_and_is_signed_with_the_key_of_the_certificate() {
        let signed = sign(PEM, "client", "https://login/t/oauth2/v2.0/token", 1_000, "id").unwrap();
        let parts: Vec<&str> = signed.expose().split('.').collect();
        let [head, claims, signature] = parts[..] else { panic!("{} parts", parts.len()) };
        let read =
            |part: &str| -> Value { serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap() };
        assert_eq!(
            read(head),
            json!({"alg": "PS256", "typ": "JWT", "x5t#S256": "c5wPqcJKuTYm3Z-mR2IBvQCfxjhz6WFAbeidlz4IBks"})
        );
        assert_eq!(
            read(claims),
            json!({"aud": "https://login/t/oauth2/v2.0/token", "iss": "client", "sub": "client", "jti": "id",
                "nbf": 940, "iat": 1_000, "exp": 1_300})
        );
        let known = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        let good = |text: &str| {
            let text = text.as_bytes();
            let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
            let id = rustls::pki_types::alg_id::RSA_PSS_SHA256;
            let mut fitting = known.all.iter().filter(|one| one.signature_alg_id() == id);
            fitting.any(|one| one.verify_signature(PUBLIC, text, &signature).is_ok())
        };
        assert!(good(&format!("{head}.{claims}")));
        assert!(!good(&format!("{head}.{claims}x")));
    }

    #[test]
    fn a_file_that_is_no_certificate_with_a_key_is_said_to_be_none() {
        let key = PEM.split_inclusive("-----END PRIVATE KEY-----").next().unwrap();
        let certificate = PEM.trim_start_matches(key);
        for text in ["", "nonsense", key, certificate] {
            let error = sign(text, "client", "x", 0, "id").unwrap_err();
            assert!(error.contains("holds no"), "{error}");
        }
    }
}
