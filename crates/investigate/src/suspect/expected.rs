//! What a path between two machines should carry, as the platform publishes it, and when a measurement is worse than that.
//!
//! Figures are those of Microsoft's pages about sizes (July 2024). A size that is not here is not guessed: burstable machines of the
//! first series have no published bandwidth.

/// How much latency two machines in one network have at most, in microseconds.
pub const SAME_NETWORK_LATENCY_US: f64 = 2_000.0;
/// Below this a throughput is low, whatever the machines are, in gigabits a second.
pub const LOW_GBPS: f64 = 0.1;
/// What is published is an upper limit; below a quarter of it something slows it.
const SHARE: f64 = 0.25;
/// Below half of what was measured before, it is low.
const BEFORE: f64 = 0.5;

/// Machines of a family: its letter, its series, whether they have processors of AMD, and the bandwidth in Mbps by the number of
/// virtual processors.
type Family = (&'static [char], &'static str, bool, &'static [(u32, u32)]);

const FAMILIES: [Family; 8] = [
    (&['B'], "v2", false, &[(2, 6_250), (4, 6_250), (8, 6_250), (16, 6_250), (32, 6_250)]),
    (
        &['F'],
        "v2",
        false,
        &[
            (2, 5_000),
            (4, 10_000),
            (8, 12_500),
            (16, 12_500),
            (32, 16_000),
            (48, 21_000),
            (64, 28_000),
            (72, 30_000),
        ],
    ),
    (&['E'], "v3", false, &[(20, 10_000)]),
    (
        &['D', 'E'],
        "v3",
        false,
        &[(2, 1_000), (4, 2_000), (8, 4_000), (16, 8_000), (32, 16_000), (48, 24_000), (64, 30_000)],
    ),
    (
        &['D', 'E'],
        "v4",
        false,
        &[(2, 5_000), (4, 10_000), (8, 12_500), (16, 12_500), (32, 16_000), (48, 24_000), (64, 30_000)],
    ),
    (
        &['D', 'E'],
        "v4",
        true,
        &[
            (2, 2_000),
            (4, 4_000),
            (8, 8_000),
            (16, 10_000),
            (32, 16_000),
            (48, 24_000),
            (64, 32_000),
            (96, 40_000),
        ],
    ),
    (
        &['D', 'E'],
        "v5",
        false,
        &[
            (2, 12_500),
            (4, 12_500),
            (8, 12_500),
            (16, 12_500),
            (32, 16_000),
            (48, 24_000),
            (64, 30_000),
            (96, 35_000),
        ],
    ),
    (
        &['D', 'E'],
        "v5",
        true,
        &[
            (2, 12_500),
            (4, 12_500),
            (8, 12_500),
            (16, 12_500),
            (32, 16_000),
            (48, 24_000),
            (64, 32_000),
            (96, 40_000),
        ],
    ),
];

/// Returns the bandwidth that is published for a size, in gigabits a second; `None` where none is known.
#[must_use]
pub fn expected_gbps(size: &str) -> Option<f64> {
    let name = size.strip_prefix("Standard_")?;
    let (machine, series) = name.split_once('_')?;
    let mut letters = machine.chars();
    let letter = letters.next()?;
    let rest = letters.as_str();
    let digits = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    let (count, features) = rest.split_at_checked(digits)?;
    let count: u32 = count.parse().ok()?;
    // Fewer processors than the machine has do not make its network slower: `E4-2s`.
    let features = features.trim_start_matches(|char: char| char == '-' || char.is_ascii_digit());
    if features.chars().any(|char| !matches!(char, 'a' | 'b' | 'd' | 'i' | 'l' | 's' | 't')) {
        return None;
    }
    let amd = features.contains('a');
    FAMILIES
        .iter()
        .filter(|(family, own, maker, _)| family.contains(&letter) && *own == series && *maker == amd)
        .flat_map(|(.., sizes)| *sizes)
        .find(|(own, _)| *own == count)
        .map(|(_, mbps)| f64::from(*mbps) / 1_000.0)
}

/// Says whether a throughput is low: against what is published; else against what was measured before; else against a figure that is
/// low for every machine.
#[must_use]
pub fn is_low(gbps: f64, expected: Option<f64>, before: Option<f64>) -> bool {
    let least = match (expected, before) {
        (Some(expected), _) => expected * SHARE,
        (None, Some(before)) => before * BEFORE,
        (None, None) => LOW_GBPS,
    };
    gbps < least.max(LOW_GBPS)
}

/// Says whether a latency is high; `None` where the machines are in different networks, of which nothing is known.
#[must_use]
pub fn is_slow(latency_us: f64, same_network: bool) -> Option<bool> {
    same_network.then_some(latency_us > SAME_NETWORK_LATENCY_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_the_bandwidth_that_is_published() {
        for (size, gbps) in [
            ("Standard_D2s_v3", 1.0),
            ("Standard_D4s_v4", 10.0),
            ("Standard_D2as_v4", 2.0),
            ("Standard_D2ds_v5", 12.5),
            ("Standard_E20s_v3", 10.0),
            ("Standard_E4-2s_v5", 12.5),
            ("Standard_F72s_v2", 30.0),
            ("Standard_B2s_v2", 6.25),
        ] {
            assert_eq!(expected_gbps(size), Some(gbps), "{size}");
        }
    }

    #[test]
    fn what_is_not_published_is_not_guessed() {
        for size in [
            "Standard_B2s",
            "Standard_D2ps_v5",
            "Standard_DC2s_v3",
            "",
            "Standard_",
            "D2s_v3",
            "Standard_D3s_v3",
        ] {
            assert_eq!(expected_gbps(size), None, "{size}");
        }
    }

    #[test]
    fn low_is_measured_by_the_best_that_is_known() {
        assert!(is_low(2.0, Some(12.5), None) && !is_low(4.0, Some(12.5), None));
        assert!(is_low(0.4, None, Some(1.0)) && !is_low(0.6, None, Some(1.0)));
        assert!(is_low(0.005, None, None) && !is_low(0.9, None, None));
        assert!(is_low(0.05, None, Some(0.06)), "what was broken before is no measure");
    }

    #[test]
    fn two_milliseconds_are_much_within_a_network() {
        assert_eq!(is_slow(2_100.0, true), Some(true));
        assert_eq!(is_slow(300.0, true), Some(false));
        assert_eq!(is_slow(80_000.0, false), None);
    }
}
