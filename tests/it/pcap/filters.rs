//! What tshark says of the stories: every filter of a finding works there and shows its evidence, and acknowledgments took as long.

use super::story::Story;
use super::{stories, tshark};

#[test]
fn acknowledgments_took_as_long_as_tshark_says() {
    if tshark::comparable().is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("story.pcap");
    for story in
        [Story::healthy(), stories::closed(), stories::gone(), stories::lost(), stories::too_large(false)]
    {
        std::fs::write(&path, story.capture()).unwrap();
        let expected = tshark::ack_rtts(&path);
        let found = story.summary().tcp.ack_rtt_ms.unwrap();
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
    if tshark::comparable().is_empty() {
        return;
    }
    let told = [
        stories::unanswered(2),
        stories::barred(Story::new(), (3, 13), 8),
        stories::barred(Story::over_six(), (1, 1), 20),
        stories::barred(Story::new(), (3, 1), 20),
        stories::refused(),
        stories::unheard(),
        stories::closed(),
        stories::gone(),
        stories::backoff(),
        stories::too_large(false),
        stories::too_large(true),
        stories::injected(),
        stories::twice(&Story::healthy(), false),
        stories::lost(),
        stories::narrow(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("story.pcap");
    let mut codes = Vec::new();
    for story in told {
        std::fs::write(&path, story.capture()).unwrap();
        for finding in story.summary().findings {
            let shown = tshark::shown(&path, &finding.evidence.filter);
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
