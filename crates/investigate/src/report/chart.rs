//! Which pictures of captures belong to a session.

use serde_json::Value;

use crate::state::State;

/// The pictures that a capture may have.
const KINDS: [(&str, &str); 3] =
    [("packets", "packets over time"), ("rtt", "round trips over time"), ("flow", "the worst connection")];

/// A picture that was written when a capture was analyzed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The name of its file in the folder of captures.
    pub file: String,
    /// What it shows.
    pub title: String,
}

/// Returns the pictures that the analyses of a session may have written, in order; whether they are there is for whoever looks.
#[must_use]
pub fn charts(state: &State) -> Vec<Chart> {
    let mut all: Vec<Chart> = Vec::new();
    let chores = state.observations.iter().filter(|known| known.observed.step.is_none());
    for known in chores {
        let read: Value = serde_json::from_str(&known.observed.what).unwrap_or_default();
        if read.get("chore").and_then(Value::as_str) != Some("analyze") {
            continue;
        }
        let work = read.get("work").and_then(Value::as_array).into_iter().flatten();
        for name in work.filter_map(|work| work.get(1)?.as_str()).filter(|name| is_plain(name)) {
            let of = |(kind, shows): &(&str, &str)| Chart {
                file: format!("{name}_{kind}.png"),
                title: format!("{name}: {shows}"),
            };
            all.extend(KINDS.iter().map(of).filter(|chart| !all.contains(chart)).collect::<Vec<_>>());
        }
    }
    all
}

/// No name leads out of a folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::charts;
    use crate::report::tests::Ledger;

    #[test]
    fn each_analyzed_capture_has_its_pictures_once() {
        let mut ledger = Ledger::open("x");
        ledger.turn(0, &["c1"], None);
        for id in 1..3 {
            let what =
                json!({"chore": "analyze", "work": [["source", "cap-1", "p"], ["source", "../../etc", "p"]]});
            ledger.observe(id, "c1", None, &what.to_string());
        }
        ledger.observe(3, "c1", None, "{\"chore\":\"verify\",\"file\":\"cap-1.cap\",\"bytes\":1}");
        let names: Vec<String> = charts(&ledger.state()).into_iter().map(|chart| chart.file).collect();
        assert_eq!(names, ["cap-1_packets.png", "cap-1_rtt.png", "cap-1_flow.png"]);
    }
}
