//! How long to wait before the next attempt.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use crate::socket::settings::Settings;

/// Returns the pause before an attempt after so many failures. `chance`, from 0 to 1, takes up to half of it away, so that
/// many who failed at the same moment do not come back at the same moment.
pub(crate) fn pause(settings: &Settings, failures: u32, chance: f64) -> Duration {
    let Some(doublings) = failures.checked_sub(1) else { return Duration::ZERO };
    let factor = 2_u32.saturating_pow(doublings.min(20));
    let whole = settings.first_pause.saturating_mul(factor).min(settings.longest_pause);
    whole.mul_f64(1.0 - chance.clamp(0.0, 1.0) / 2.0)
}

/// Draws a number from 0 to 1. Nothing secret depends on it.
pub(crate) fn chance() -> f64 {
    let drawn = RandomState::new().hash_one(0_u8) >> 32;
    f64::from(u32::try_from(drawn).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_lose_at_most_half() {
        let settings = Settings::default();
        let pauses =
            |chance| [0, 1, 2, 3, 9, u32::MAX].map(|failures| pause(&settings, failures, chance).as_millis());
        assert_eq!(pauses(0.0), [0, 200, 400, 800, 30_000, 30_000]);
        assert_eq!(pauses(1.0), [0, 100, 200, 400, 15_000, 15_000]);
    }

    #[test]
    fn chance_lies_between_nothing_and_all() {
        assert!((0..1000).all(|_| (0.0..=1.0).contains(&chance())));
    }
}
