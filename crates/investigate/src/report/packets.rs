//! What recorded packets showed, in words, and the files that belong to them.

use serde::Deserialize;

use crate::report::machines;
use crate::state::State;
use crate::tool::FileTask;

/// The tool that records packets.
const TOOL: &str = "capture_traffic";

/// So many findings of packets stand in the answer; the forensic report holds all.
const MAX_FINDINGS: usize = 2;

/// The part of a result that is worded.
#[derive(Deserialize)]
struct CaptureResult {
    #[serde(default)]
    facts: Facts,
    #[serde(default)]
    findings: String,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Facts {
    #[serde(default)]
    ends: Vec<End>,
}

/// A machine whose packets were recorded.
#[derive(Deserialize)]
struct End {
    machine: String,
    #[serde(default)]
    packets: Option<u64>,
    #[serde(default)]
    file: Option<String>,
}

/// A file that was written when packets were analyzed, or the recording itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureFile {
    /// Its name in the folder of captures.
    pub file: String,
    pub title: String,
    /// The same for whoever cannot see it.
    pub alt: String,
    /// Whether it holds the packets themselves.
    pub is_recording: bool,
}

fn results(state: &State) -> impl Iterator<Item = CaptureResult> {
    let returned = state.calls().filter(|call| call.call.tool == TOOL);
    let returned = returned.filter_map(|call| call.returned.as_ref()).filter(|returned| !returned.is_error);
    returned.filter_map(|returned| serde_json::from_str(&returned.content).ok())
}

/// Returns what the packets of the last recording show; `None` where none were recorded.
pub(in crate::report) fn packets(state: &State) -> Option<String> {
    let result = results(state).last()?;
    let recorded: Vec<String> = result
        .facts
        .ends
        .iter()
        .filter_map(|end| Some(format!("{} at {}", end.packets?, end.machine)))
        .collect();
    if recorded.is_empty() {
        return None;
    }
    let lines: Vec<&str> = result.findings.lines().filter(|line| !line.starts_with("<<<")).collect();
    let compared = lines.iter().find_map(|line| line.strip_prefix("between both ends: "));
    let others = lines.iter().filter_map(|line| finding(line));
    let mut worded: Vec<String> = Vec::new();
    for line in compared.into_iter().chain(others).filter(|line| !line.trim().is_empty()) {
        let line = named(state, &result.facts.ends, line.trim());
        if worded.len() < MAX_FINDINGS && !worded.contains(&line) {
            worded.push(line);
        }
    }
    let recorded = format!("{} recorded", recorded.join(" and "));
    Some(if worded.is_empty() {
        format!("{recorded}. They show nothing unusual")
    } else {
        format!("{recorded}. {}", worded.join(". "))
    })
}

/// Takes the end and the severity from the front of a finding; nothing of what is only worth a note.
fn finding(line: &str) -> Option<&str> {
    let line = line.strip_prefix("source: ").or_else(|| line.strip_prefix("destination: ")).unwrap_or(line);
    line.strip_prefix("critical: ").or_else(|| line.strip_prefix("warning: "))
}

/// Says machines by their names in place of their roles and addresses.
fn named(state: &State, ends: &[End], line: &str) -> String {
    let mut text = line.to_owned();
    if let [source, destination] = ends {
        text = text.replace("the source", &source.machine).replace("the destination", &destination.machine);
    }
    for machine in machines(state) {
        for address in machine.addresses.iter().filter(|_| !machine.name.is_empty()) {
            text = replaced(&text, address, &machine.name);
        }
    }
    let mut chars = text.chars();
    let first = chars.next().filter(|char| char.is_ascii_lowercase() && starts_a_word(&text));
    match first {
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), chars.as_str()),
        None => text,
    }
}

/// Tells whether a text begins with a word and not with a name.
fn starts_a_word(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    word.chars().all(|char| char.is_ascii_alphabetic())
}

/// Replaces an address where it stands alone: `10.0.1.4` is no part of `10.0.1.44`.
fn replaced(text: &str, address: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(address) {
        let alone = !before.ends_with(|char: char| char.is_ascii_alphanumeric() || char == '.')
            && !behind.starts_with(|char: char| char.is_ascii_alphanumeric())
            && !behind
                .strip_prefix('.')
                .is_some_and(|behind| behind.starts_with(|char: char| char.is_ascii_digit()));
        out.push_str(before);
        out.push_str(if alone { name } else { address });
        rest = behind;
    }
    out + rest
}

/// Returns the machine whose packets a recording holds, by its name without an ending.
pub(in crate::report) fn machine_of(state: &State, name: &str) -> Option<String> {
    let file = format!("{name}.cap");
    let mut ends = results(state).flat_map(|result| result.facts.ends);
    ends.find(|end| end.file.as_deref() == Some(&file)).map(|end| end.machine)
}

/// Returns the files that the recordings of a session came to, in order; the caller checks whether they exist.
#[must_use]
pub fn capture_files(state: &State) -> Vec<CaptureFile> {
    let mut all: Vec<CaptureFile> = Vec::new();
    let mut add = |file: CaptureFile| {
        if is_file_name(&file.file) && !all.iter().any(|known| known.file == file.file) {
            all.push(file);
        }
    };
    for result in results(state) {
        let of = |name: &str| {
            let end =
                result.facts.ends.iter().find(|end| {
                    end.file.as_deref().is_some_and(|file| file.trim_end_matches(".cap") == name)
                });
            end.map_or_else(|| "this recording".to_owned(), |end| end.machine.clone())
        };
        for file in result.files.iter().filter(|file| file.ends_with("_comparison.md")) {
            add(CaptureFile {
                file: file.clone(),
                title: "Both recordings compared".to_owned(),
                alt: "Report: what was sent and what arrived, connection by connection".to_owned(),
                is_recording: false,
            });
        }
        for file in &result.files {
            if let Some(name) = file.strip_suffix("_forensic_report.md") {
                let machine = of(name);
                add(CaptureFile {
                    file: file.clone(),
                    title: format!("Packets at {machine}"),
                    alt: format!("Report: what the packets at {machine} show, with the frames that show it"),
                    is_recording: false,
                });
            }
        }
        for end in &result.facts.ends {
            if let Some(file) = &end.file {
                add(CaptureFile {
                    file: file.clone(),
                    title: format!("Recording of {}", end.machine),
                    alt: format!("The packets recorded at {}, as a capture file", end.machine),
                    is_recording: true,
                });
            }
        }
    }
    all
}

/// Returns the names of the recordings that were analyzed, each once.
pub(in crate::report) fn analyzed(state: &State) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for known in state.observations.iter().filter(|known| known.observed.step.is_none()) {
        let Ok(FileTask::Analyze { work }) = serde_json::from_str(&known.observed.what) else { continue };
        for (_, name, _) in work {
            if is_file_name(&name) && !all.contains(&name) {
                all.push(name);
            }
        }
    }
    all
}

/// No name leads out of a folder.
fn is_file_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::tests::Ledger;

    fn recorded(findings: &str) -> State {
        let mut ledger = Ledger::open("x");
        ledger.calls(0, "c1", TOOL);
        let ends = json!([
            {"machine": "web-1", "state": "kept", "file": "g-1-src.cap", "packets": 20},
            {"machine": "db-1", "state": "kept", "file": "g-1-dst.cap", "packets": 8}
        ]);
        let files = json!([
            "g-1-src_semantic.json",
            "g-1-src_forensic_report.md",
            "g-1-src_flow.png",
            "g-1_comparison.md",
            "../x_comparison.md"
        ]);
        let content =
            json!({"status": "completed", "facts": {"ends": ends}, "files": files, "findings": findings});
        ledger.json("returned", json!({"call": "c1", "tool": TOOL, "content": content.to_string()}));
        ledger.state()
    }

    #[test]
    fn what_packets_show_is_put_in_words_with_the_names_of_machines() {
        let findings = "<<<data n findings>>>\nbetween both ends: 12 of 20 packets from the source never reach the destination\n\
            source: note: slow start\nsource: warning: nobody answers\n<<<end n>>>";
        assert_eq!(
            packets(&recorded(findings)).unwrap(),
            "20 at web-1 and 8 at db-1 recorded. 12 of 20 packets from web-1 never reach db-1. Nobody answers"
        );
        assert!(packets(&recorded("")).unwrap().ends_with("They show nothing unusual"));
        assert_eq!(packets(&Ledger::open("x").state()), None);
    }

    #[test]
    fn files_are_named_by_what_they_hold_and_none_leads_out_of_its_folder() {
        let files = capture_files(&recorded(""));
        let titles: Vec<(&str, bool)> =
            files.iter().map(|file| (file.title.as_str(), file.is_recording)).collect();
        assert_eq!(
            titles,
            [
                ("Both recordings compared", false),
                ("Packets at web-1", false),
                ("Recording of web-1", true),
                ("Recording of db-1", true)
            ]
        );
        assert_eq!(machine_of(&recorded(""), "g-1-dst").as_deref(), Some("db-1"));
    }

    #[test]
    fn an_address_within_another_one_stays() {
        assert_eq!(
            replaced("10.0.1.4 to 10.0.1.44 and 110.0.1.4:80 and 10.0.1.4:80.", "10.0.1.4", "web-1"),
            "web-1 to 10.0.1.44 and 110.0.1.4:80 and web-1:80."
        );
    }
}
