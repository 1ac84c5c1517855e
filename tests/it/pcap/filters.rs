//! What tshark says of the scenarios: every filter of a finding works there and shows its evidence, and acknowledgments took as long.

use super::spoken::Scenario;
use super::{trouble, tshark};

#[test]
fn acknowledgments_took_as_long_as_tshark_says() {
    if tshark::comparable().is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.pcap");
    for scenario in
        [Scenario::healthy(), trouble::closed(), trouble::gone(), trouble::lost(), trouble::too_large(false)]
    {
        std::fs::write(&path, scenario.capture()).unwrap();
        let expected = tshark::ack_rtts(&path);
        let found = scenario.summary().tcp.ack_rtt_ms.unwrap();
        let ms = |seconds: f64| (seconds * 1_000_000.0).round() / 1000.0;
        let (least, most) = expected.iter().fold((f64::MAX, 0.0_f64), |(a, b), it| (a.min(*it), b.max(*it)));
        assert_eq!(
            (found.samples, found.min, found.max),
            (u64::try_from(expected.len()).unwrap(), ms(least), ms(most))
        );
    }
}

#[test]
fn filters_show_the_evidence() {
    let printed = [
        trouble::unanswered(2),
        trouble::rejected(Scenario::new(), (3, 13), 8),
        trouble::rejected(Scenario::over_six(), (1, 1), 20),
        trouble::rejected(Scenario::new(), (3, 1), 20),
        trouble::refused(),
        trouble::unheard(),
        trouble::closed(),
        trouble::gone(),
        trouble::backoff(),
        trouble::too_large(false),
        trouble::too_large(true),
        trouble::injected(),
        trouble::twice(&Scenario::healthy(), false),
        trouble::lost(),
        trouble::narrow(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.pcap");
    let mut codes = Vec::new();
    for scenario in printed {
        std::fs::write(&path, scenario.capture()).unwrap();
        for finding in scenario.summary().findings {
            let Some(shown) = tshark::shown(&path, &finding.evidence.filter) else {
                return;
            };
            assert!(!finding.evidence.frames.is_empty(), "{}", finding.code);
            for frame in &finding.evidence.frames {
                let (code, filter) = (finding.code, &finding.evidence.filter);
                assert!(shown.contains(frame), "{code}: `{filter}` shows {shown:?}, not {frame}");
            }
            codes.push(finding.code);
        }
    }
    codes.sort_unstable();
    codes.dedup();
    assert!(codes.len() > 12, "{codes:?}");
}
