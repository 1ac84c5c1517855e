//! Names that nobody else has.

use anyhow::Context as _;

use ghost_base::SessionId;

/// Makes up a session id that nobody else has.
pub fn new_session(prefix: &str) -> anyhow::Result<SessionId> {
    Ok(format!("{prefix}-{}", random::<5>()?).parse::<SessionId>()?)
}

/// Returns random bytes of the system, in hexadecimal.
pub fn random<const BYTES: usize>() -> anyhow::Result<String> {
    let mut bytes = [0_u8; BYTES];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .context("asking the system for random bytes")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
