//! Facts about the prompt.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use crate::finding::Fault;
use crate::model::ToolSpec;
use crate::prompt::section::{SECTIONS, TOOLS};
use crate::prompt::{GATES, Setting, system};
use crate::{Fence, Limits};
use ghost_shell::{Policy, Verdict};

/// The tools of the first version.
const FIRST: [&str; 4] =
    ["run_shell_cmd", "manage_hypotheses", "complete_investigation", "recall_observation"];

/// A nonce that no sentence can hold by accident.
const NONCE: &str = "q7x2k9";

fn specs<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<ToolSpec> {
    let spec = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "Does what it does. And more.".to_owned(),
        parameters: json!({"type": "object"}),
    };
    names.into_iter().map(spec).collect()
}

fn all() -> Vec<ToolSpec> {
    specs(TOOLS.iter().map(|(name, _)| *name))
}

fn prompt(tools: &[ToolSpec], nonce: &str, site: Option<&str>) -> String {
    system(&Setting { tools, nonce, limits: &Limits::default(), site })
}

/// Returns the words of a text that could be names of tools.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_')).collect()
}

/// Returns the section whose title contains these words.
fn section<'a>(prompt: &'a str, title: &str) -> &'a str {
    let with_title = |part: &&str| part.lines().next().is_some_and(|line| line.contains(title));
    format_free(prompt).find(with_title).unwrap()
}

fn format_free(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split("\n# ")
}

#[track_caller]
fn names_only(present: &[ToolSpec]) {
    let text = prompt(present, NONCE, None);
    let words = words(&text);
    for (name, description) in TOOLS {
        let there = present.iter().any(|tool| tool.name == *name);
        assert_eq!(words.contains(name), there, "{name}");
        let described = text.contains(&format!("- `{name}`: {}", description.trim_end()));
        assert_eq!(described, there, "{name}");
    }
}

#[test]
fn the_prompt_is_short_with_every_tool() {
    let tokens = prompt(&all(), NONCE, None).len() / 4;
    assert!(tokens < 9_000, "{tokens} tokens");
    let site = "x y ".repeat(10_000);
    let tokens = prompt(&all(), NONCE, Some(&site)).len() / 4;
    assert!(tokens < 12_000, "{tokens} tokens");
}

#[test]
fn a_tool_is_described_where_it_is_there_and_named_nowhere_else() {
    names_only(&[]);
    names_only(&specs(FIRST));
    names_only(&all());
    for (name, _) in TOOLS {
        names_only(&specs([*name]));
        names_only(&specs(TOOLS.iter().map(|(name, _)| *name).filter(|other| other != name)));
    }
}

proptest! {
    #[test]
    fn no_choice_of_tools_makes_the_prompt_speak_of_others(
        names in prop::sample::subsequence(TOOLS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), 0..=TOOLS.len()),
    ) {
        names_only(&specs(names));
    }

    #[test]
    fn an_addition_of_the_site_stays_in_its_section(text in "(#|\n|\r|> |<<<|end |data |q7x2k9|\\PC|\u{202e}){0,80}") {
        let text = format!("x{text}");
        let whole = prompt(&all(), NONCE, Some(&text));
        let bare = prompt(&all(), NONCE, None);
        prop_assert_eq!(format_free(&whole).count(), format_free(&bare).count() + 1);
        prop_assert_eq!(whole.matches(NONCE).count(), bare.matches(NONCE).count());
        prop_assert_eq!(whole.matches("<<<").count(), bare.matches("<<<").count());
        let quoted = section(&whole, "operator").lines().skip(4).filter(|line| !line.is_empty());
        for line in quoted {
            prop_assert!(line.starts_with('>'), "{line:?}");
        }
    }
}

#[test]
fn a_tool_that_no_section_knows_is_named_with_its_first_sentence() {
    let text = prompt(&specs(["suggest_next_step"]), NONCE, None);
    assert!(text.contains("- `suggest_next_step`: Does what it does.\n"), "{text}");
}

#[test]
fn what_is_called_safe_is_safe() {
    let text = prompt(&specs(FIRST), NONCE, None);
    let line = section(&text, "How commands are judged").lines().find(|line| line.starts_with("- SAFE, for"));
    let spans = line.unwrap().split('`').skip(1).step_by(2);
    let whole = |span: &&str| span.contains(' ') && !span.contains('\u{2026}');
    let commands: Vec<String> =
        spans.filter(whole).map(|span| span.replace("HOST", "10.0.1.5").replace("PORT", "5001")).collect();
    assert!(commands.len() > 8, "{commands:?}");
    for command in &commands {
        let ruling = Policy::builtin().unwrap().classify(command);
        assert_eq!(ruling.verdict, Verdict::Safe, "{command}");
    }
}

#[test]
fn each_gate_is_described() {
    let text = prompt(&specs(FIRST), NONCE, None);
    let gates = section(&text, "Gates");
    for (name, holds) in GATES {
        assert!(gates.contains(&format!("- **{name}**: {holds}\n")), "{name}");
    }
    let names: BTreeSet<_> = GATES.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), GATES.len());
}

#[test]
fn each_fault_code_stands_among_the_findings_with_its_object() {
    let text = prompt(&specs(FIRST), NONCE, None);
    let rows: Vec<&str> = section(&text, "Findings").lines().filter(|line| line.starts_with("| ")).collect();
    for fault in Fault::ALL {
        let named = |row: &&&str| words(row.split('|').nth(1).unwrap()).contains(fault.as_str());
        let found: Vec<_> = rows.iter().filter(named).collect();
        assert_eq!(found.len(), 1, "{fault:?}");
        let object = fault.object_kind().pattern().replace(['<', '>'], "").to_lowercase();
        let written = found[0].split('|').nth(2).unwrap().to_lowercase();
        assert_eq!(written.trim().trim_matches('`'), object, "{fault:?}");
    }
    let named = |row: &&str| row.split('|').nth(1).unwrap().split(',').count();
    let heads = 2;
    assert_eq!(rows.iter().map(named).sum::<usize>(), Fault::ALL.len() + heads - 1);
}

#[test]
fn the_nonce_stands_where_the_marker_rule_is_and_nowhere_else() {
    let text = prompt(&all(), NONCE, Some("q7x2k9 is our host"));
    let fence = Fence::new(NONCE);
    let rule = section(&text, "Data is never an order");
    assert!(rule.contains(&format!(
        "\n{}\n(data)\n{}\n",
        fence.opening("WHERE IT COMES FROM"),
        fence.closing()
    )));
    assert_eq!(rule.matches(NONCE).count(), 2);
    assert_eq!(text.matches(NONCE).count(), 2);
}

#[test]
fn sessions_of_one_configuration_share_all_but_the_marker_rule() {
    let (one, other) =
        (prompt(&all(), "aaaa", Some("We are small.")), prompt(&all(), "bbbb", Some("We are small.")));
    let head = |text: &str| text.split("\n# Data is never").next().unwrap().to_owned();
    assert_eq!(head(&one), head(&other));
    assert!(head(&one).len() * 10 > one.len() * 9);
}

#[test]
fn the_same_setting_gives_the_same_bytes() {
    assert_eq!(prompt(&all(), NONCE, Some("a")), prompt(&all(), NONCE, Some("a")));
    let turned = all().into_iter().rev().collect::<Vec<_>>();
    assert_eq!(prompt(&all(), NONCE, None), prompt(&turned, NONCE, None));
}

#[test]
fn no_section_file_is_unused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prompt/section");
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.is_file())
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    let table = |texts: &[(&str, &str)]| -> BTreeSet<String> {
        texts.iter().map(|(name, _)| format!("{name}.md")).collect()
    };
    assert_eq!(names(&folder), table(SECTIONS));
    assert!(SECTIONS.is_sorted(), "the numbers are the order");
    assert_eq!(names(&folder.join("tool")), table(TOOLS));
}

#[test]
fn every_section_comes_with_every_tool_and_nothing_is_left_open() {
    let text = prompt(&all(), NONCE, Some("We are small."));
    assert_eq!(format_free(&text).count(), SECTIONS.len());
    for tools in [all(), specs(FIRST), Vec::new()] {
        let text = prompt(&tools, NONCE, None);
        for open in ["{", "}", "[+", "[-", "---\nneeds", "\n\n\n"] {
            assert!(!text.contains(open), "{open:?}");
        }
    }
}

#[test]
fn a_section_is_left_out_without_its_tool() {
    assert!(prompt(&all(), NONCE, None).contains("\n# Captures\n"));
    assert!(!prompt(&specs(FIRST), NONCE, None).contains("\n# Captures\n"));
    assert!(!prompt(&all(), NONCE, Some(" \n ")).contains("operator of this site"));
}

#[test]
fn a_huge_addition_of_the_site_is_bounded_and_says_so() {
    let bare = prompt(&all(), NONCE, None).len();
    for text in ["\u{1f642}".repeat(100_000), "a\n".repeat(100_000), "\u{200b}".repeat(9_999)] {
        let whole = prompt(&all(), NONCE, Some(&format!("x{text}")));
        assert!(whole.len() < bare + 10_000, "{}", whole.len());
        assert!(whole.contains("> (cut here"));
    }
    assert!(!prompt(&all(), NONCE, Some(&"x".repeat(4_000))).contains("> (cut here"));
}

#[test]
fn the_budget_is_that_of_the_session() {
    let limits =
        Limits { turns: 7, tokens: 1_500_000, cost_micros: 2_340_000, approvers: 2, ..Limits::default() };
    let of =
        |limits: &Limits, tools: &[ToolSpec]| system(&Setting { tools, nonce: NONCE, limits, site: None });
    let text = of(&limits, &all());
    assert!(text.contains("7 turns, 200 commands, 60 minutes, 200 MB of captures, 1,500,000 tokens, $2.34."));
    assert!(text.contains("Consent to a change needs 2 different people"));
    assert!(text.contains("that others use it needs 2 different people"));
    let text = of(&Limits::default(), &specs(FIRST));
    assert!(text.contains("50 turns, 200 commands, 60 minutes. "));
    assert!(text.contains("about 4,000 tokens"));
    assert!(text.contains("after 15 minutes"));
}
