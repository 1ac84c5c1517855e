//! Every filter of a finding works in tshark, and shows the frames that are its evidence.

use super::story::Story;
use super::{stories, tshark};

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
