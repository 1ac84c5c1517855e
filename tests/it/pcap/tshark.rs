//! What tshark says of the frames of a capture.

use std::path::Path;
use std::process::Command;

use ghost_pcap::Label;

use crate::random::setting;

/// The analysis labels, with the name of the field behind `tcp.analysis.`.
pub(super) const LABELS: [Label; 15] = [
    Label::Retransmission,
    Label::FastRetransmission,
    Label::SpuriousRetransmission,
    Label::OutOfOrder,
    Label::DuplicateAck,
    Label::LostSegment,
    Label::AckLostSegment,
    Label::ZeroWindow,
    Label::WindowFull,
    Label::ZeroWindowProbe,
    Label::ZeroWindowProbeAck,
    Label::KeepAlive,
    Label::KeepAliveAck,
    Label::WindowUpdate,
    Label::ReusedPorts,
];

/// Labels that no release since 4.0 changed.
const UNCHANGED: [Label; 4] =
    [Label::ZeroWindow, Label::ZeroWindowProbe, Label::LostSegment, Label::WindowFull];

/// Returns the labels that can be compared with the installed program, none where the test run goes without it.
#[expect(clippy::print_stdout, reason = "what was compared has to be known")]
pub(super) fn comparable() -> Vec<Label> {
    if setting("GHOST_TEST_WITHOUT").split(',').any(|name| name == "tshark") {
        println!("GHOST_TEST_WITHOUT names tshark: nothing is compared");
        return Vec::new();
    }
    let version = run(&["--version"]);
    if version.lines().next().is_some_and(|line| line.contains(" 4.0.")) {
        return LABELS.to_vec();
    }
    println!("the counts are those of tshark 4.0; with another one only what did not change is compared");
    UNCHANGED.to_vec()
}

/// Returns, frame for frame, the labels that tshark gives.
pub(super) fn labels(capture: &Path, wanted: &[Label]) -> Vec<Vec<Label>> {
    let fields: Vec<String> = wanted.iter().map(|label| format!("tcp.analysis.{}", label.name())).collect();
    let mut arguments =
        vec!["-n", "-r", capture.to_str().unwrap(), "-T", "fields", "-E", "separator=;", "-e"];
    arguments.push("frame.number");
    for field in &fields {
        arguments.extend(["-e", field]);
    }
    let row = |line: &str| {
        let given = line.split(';').skip(1).zip(wanted);
        given.filter(|(value, _)| !value.is_empty()).map(|(_, label)| *label).collect()
    };
    run(&arguments).lines().map(row).collect()
}

/// Returns how long acknowledgments took, in seconds.
pub(super) fn ack_rtts(capture: &Path) -> Vec<f64> {
    let field = "tcp.analysis.ack_rtt";
    let rows = run(&["-n", "-r", capture.to_str().unwrap(), "-Y", field, "-T", "fields", "-e", field]);
    rows.lines().map(|line| line.parse().unwrap()).collect()
}

/// Returns the frames that a display filter shows, nothing where the test run goes without tshark.
pub(super) fn shown(capture: &Path, filter: &str) -> Option<Vec<u64>> {
    if setting("GHOST_TEST_WITHOUT").split(',').any(|name| name == "tshark") {
        return None;
    }
    let capture = capture.to_str().unwrap();
    let text = run(&["-n", "-r", capture, "-Y", filter, "-T", "fields", "-e", "frame.number"]);
    Some(text.lines().map(|line| line.parse().unwrap()).collect())
}

/// Says whether the installed program is to be asked.
pub(super) fn asked() -> bool {
    !comparable().is_empty()
}

/// Returns fields of the frames that a filter shows, a row a frame.
pub(super) fn fields(capture: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut arguments = vec!["-n", "-r", capture.to_str().unwrap(), "-Y", filter, "-T", "fields"];
    for field in fields {
        arguments.extend(["-e", field]);
    }
    run(&arguments).lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[expect(clippy::disallowed_methods, reason = "the test asks another program")]
fn run(arguments: &[&str]) -> String {
    let output = Command::new("tshark").args(arguments).output();
    let Ok(output) = output else {
        panic!("tshark is not installed; GHOST_TEST_WITHOUT=tshark runs the tests without");
    };
    String::from_utf8(output.stdout).unwrap()
}
