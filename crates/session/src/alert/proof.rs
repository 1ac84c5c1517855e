//! Whether a request comes from its source: a token, or a signature over its body.

use std::time::Duration;

use super::{ProofError, Sender};
use ghost_base::{Digest, Secret, Timestamp, hmac_sha256, same};

/// A shorter secret could be guessed.
pub const MIN_SECRET_CHARS: usize = 16;

/// How old a signature may be that has a time, and how far ahead its clock.
const WINDOW: Duration = Duration::from_secs(300);

/// So many signatures of one request are looked at, and so many secrets of one source.
const MAX_TRIED: usize = 8;

/// What of a request says whose it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Proof<'a> {
    /// The header `Authorization`.
    pub authorization: Option<&'a str>,
    /// The header in which this sender signs, see [`Proof::headers`].
    pub signature: Option<&'a str>,
    /// The header with the time of the signature.
    pub timestamp: Option<&'a str>,
    /// The parameter `token` of the address, which counts for senders that can set no header.
    pub token: Option<&'a str>,
}

impl Proof<'_> {
    /// Returns the headers in which a sender signs, and says when.
    #[must_use]
    pub fn headers(sender: Sender) -> Option<(&'static str, Option<&'static str>)> {
        match sender {
            Sender::Pagerduty => Some(("x-pagerduty-signature", None)),
            Sender::Grafana => Some(("x-grafana-alerting-signature", Some("x-grafana-alerting-timestamp"))),
            Sender::Generic => Some(("x-ghost-signature", Some("x-ghost-timestamp"))),
            Sender::Alertmanager | Sender::AzureMonitor => None,
        }
    }
}

/// Checks a request. The file of a source holds a secret on each line, so that one can be replaced by another; every one is
/// compared, in a time that does not say where they differ.
///
/// # Errors
/// Says why it is not believed.
pub fn prove(
    sender: Sender,
    proof: &Proof<'_>,
    body: &[u8],
    secrets: &Secret,
    now: Timestamp,
) -> Result<(), ProofError> {
    let lines = secrets.expose().lines().map(str::trim);
    let secrets: Vec<&str> =
        lines.filter(|line| line.chars().count() >= MIN_SECRET_CHARS).take(MAX_TRIED).collect();
    let any = |fits: &dyn Fn(&str) -> bool| {
        secrets
            .iter()
            .fold(false, |found, secret| fits(secret) | found)
            .then_some(())
            .ok_or(ProofError::Wrong)
    };
    if let Some(signatures) = proof.signature {
        let message = message(sender, proof.timestamp, body, now)?;
        let prefix = match sender {
            Sender::Pagerduty => "v1=",
            Sender::Generic => "sha256=",
            Sender::Alertmanager | Sender::AzureMonitor | Sender::Grafana => "",
        };
        let given: Vec<&str> =
            signatures.split(',').filter_map(|one| one.trim().strip_prefix(prefix)).take(MAX_TRIED).collect();
        return any(&|secret| {
            let expected = hmac_sha256(secret.as_bytes(), &message).to_string();
            given.iter().fold(false, |found, given| same(&expected, given) | found)
        });
    }
    // PagerDuty always signs: whoever sends its token in the clear is not it.
    let bearer = proof.authorization.and_then(bearer).filter(|_| sender != Sender::Pagerduty);
    let token =
        bearer.or(proof.token.filter(|_| sender == Sender::AzureMonitor)).ok_or(ProofError::Missing)?;
    // Digests have one length, so that the comparison says nothing about that of a secret either.
    let given = Digest::of(token).to_string();
    any(&|secret| same(&given, &Digest::of(secret).to_string()))
}

/// Returns what is signed.
fn message(
    sender: Sender,
    timestamp: Option<&str>,
    body: &[u8],
    now: Timestamp,
) -> Result<Vec<u8>, ProofError> {
    let between = match sender {
        Sender::Generic => ".",
        Sender::Grafana => ":",
        Sender::Alertmanager | Sender::AzureMonitor | Sender::Pagerduty => return Ok(body.to_vec()),
    };
    let Some(time) = timestamp else {
        // Grafana says when only where it is set up to.
        return if sender == Sender::Grafana { Ok(body.to_vec()) } else { Err(ProofError::Missing) };
    };
    let seconds: i64 = time.trim().parse().map_err(|_| ProofError::Stale)?;
    let sent = Timestamp::from_millis(seconds.saturating_mul(1000));
    if now.since(sent) > WINDOW || sent.since(now) > WINDOW {
        return Err(ProofError::Stale);
    }
    let mut message = format!("{time}{between}").into_bytes();
    message.extend_from_slice(body);
    Ok(message)
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a-secret-of-enough-letters";
    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn proven(sender: Sender, proof: &Proof<'_>) -> Result<(), ProofError> {
        let secrets = Secret::new(&format!("short\n{SECRET}\nanother-secret-of-enough"));
        prove(sender, proof, b"{}", &secrets, NOW)
    }

    fn sign(message: &str) -> String {
        hmac_sha256(SECRET.as_bytes(), message.as_bytes()).to_string()
    }

    #[test]
    fn a_token_counts_for_whoever_cannot_sign() {
        let bearer = format!("Bearer {SECRET}");
        let proof = Proof { authorization: Some(&bearer), ..Proof::default() };
        for sender in [Sender::Alertmanager, Sender::AzureMonitor, Sender::Grafana, Sender::Generic] {
            assert_eq!(proven(sender, &proof), Ok(()), "{sender:?}");
        }
        assert_eq!(proven(Sender::Pagerduty, &proof), Err(ProofError::Missing));
        for (header, why) in [
            ("Bearer short", ProofError::Wrong),
            ("Bearer ", ProofError::Missing),
            ("Basic eDp5", ProofError::Missing),
            ("Bearer", ProofError::Missing),
        ] {
            let proof = Proof { authorization: Some(header), ..Proof::default() };
            assert_eq!(proven(Sender::Generic, &proof), Err(why), "{header}");
        }
        let in_address = Proof { token: Some(SECRET), ..Proof::default() };
        assert_eq!(proven(Sender::AzureMonitor, &in_address), Ok(()));
        assert_eq!(proven(Sender::Alertmanager, &in_address), Err(ProofError::Missing));
        assert_eq!(proven(Sender::Alertmanager, &Proof::default()), Err(ProofError::Missing));
    }

    #[test]
    fn one_right_signature_of_several_is_enough() {
        let right = format!("v1={}, v1={}", "0".repeat(64), sign("{}"));
        let signed = |signature: &str| {
            proven(Sender::Pagerduty, &Proof { signature: Some(signature), ..Proof::default() })
        };
        assert_eq!(signed(&right), Ok(()));
        for wrong in ["", "v1=", &sign("{}"), &format!("v0={}", sign("{}")), &format!("v1={}", sign("{ }"))] {
            assert_eq!(signed(wrong), Err(ProofError::Wrong), "{wrong}");
        }
    }

    #[test]
    fn a_signature_with_a_time_counts_for_five_minutes() {
        let signed = |sender, between: &str, seconds: i64| {
            let time = seconds.to_string();
            let hash = sign(&format!("{time}{between}{{}}"));
            let signature = if sender == Sender::Generic { format!("sha256={hash}") } else { hash };
            proven(sender, &Proof { signature: Some(&signature), timestamp: Some(&time), ..Proof::default() })
        };
        for (sender, between) in [(Sender::Generic, "."), (Sender::Grafana, ":")] {
            for (off, wanted) in [
                (0, Ok(())),
                (-300, Ok(())),
                (300, Ok(())),
                (-301, Err(ProofError::Stale)),
                (301, Err(ProofError::Stale)),
            ] {
                assert_eq!(signed(sender, between, 1_700_000_000 + off), wanted, "{sender:?} {off}");
            }
            assert_eq!(signed(sender, "", 1_700_000_000), Err(ProofError::Wrong));
        }
        let hash = sign("{}");
        let bare = Proof { signature: Some(&hash), ..Proof::default() };
        assert_eq!(proven(Sender::Grafana, &bare), Ok(()));
        assert_eq!(proven(Sender::Generic, &bare), Err(ProofError::Missing));
        let odd = Proof { signature: Some(&hash), timestamp: Some("soon"), ..Proof::default() };
        assert_eq!(proven(Sender::Generic, &odd), Err(ProofError::Stale));
    }

    #[test]
    fn a_source_without_a_usable_secret_believes_nobody() {
        let bearer = Proof { authorization: Some("Bearer short"), ..Proof::default() };
        for secrets in ["", "short", "\n\n"] {
            let proven = prove(Sender::Generic, &bearer, b"", &Secret::new(secrets), NOW);
            assert_eq!(proven, Err(ProofError::Wrong));
        }
    }
}
