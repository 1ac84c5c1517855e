//! Facts about the tools as they are listed.

use std::collections::BTreeSet;

use rmcp::model::Tool;
use serde_json::Value;

use super::hint::Runs;
use super::tool::ALL;
use ghost_shell::{Impact, Policy, Ruling, Verdict};

fn listed() -> Vec<Tool> {
    let policy = Policy::builtin().unwrap();
    ALL.iter().map(|tool| tool.described(policy).unwrap()).collect()
}

/// What a tool says of itself is what the policy says of the commands that it starts.
#[test]
fn annotations_follow_from_the_policy() {
    let policy = Policy::builtin().unwrap();
    for tool in ALL {
        let said = tool.described(policy).unwrap().annotations.unwrap();
        let rulings: Vec<Ruling> = match tool.runs {
            Runs::Nothing => Vec::new(),
            Runs::Those(commands) => commands(policy).unwrap(),
            Runs::Anything => {
                policy.examples().iter().map(|example| policy.classify(&example.command)).collect()
            }
        };
        let risky = rulings.iter().filter(|ruling| ruling.verdict == Verdict::Risky).count();
        let harmful =
            |ruling: &&Ruling| ruling.verdict == Verdict::Risky && ruling.impact != Some(Impact::Measurement);
        assert_eq!(said.read_only_hint, Some(risky == 0), "{}", tool.name);
        assert_eq!(said.destructive_hint, Some(rulings.iter().filter(harmful).count() > 0), "{}", tool.name);
        assert_eq!(said.open_world_hint, Some(!rulings.is_empty()), "{}", tool.name);
        // A tool that says which commands it starts starts none that is blocked.
        let blocked = |ruling: &Ruling| ruling.verdict == Verdict::Blocked;
        assert!(
            !matches!(tool.runs, Runs::Those(_)) || !rulings.iter().any(blocked),
            "{}: {rulings:?}",
            tool.name
        );
    }
}

/// Where a site's policy makes reading ask, a tool that reads no longer says that it only reads.
#[test]
fn a_tightened_policy_changes_what_tools_say() {
    let site = r#"tighten = [{ words = ["az", "network", "nic"], verdict = "RISKY", reason = "ask the network team" }]"#;
    let policy = Policy::with_site(site).unwrap();
    for tool in ALL {
        let reads = tool.described(&policy).unwrap().annotations.unwrap().read_only_hint;
        assert_eq!(reads, Some(matches!(tool.runs, Runs::Nothing)), "{}", tool.name);
    }
}

/// A measurement installs what lacks, which changes a machine; a capture leaves nothing behind that it did not make.
#[test]
fn what_a_tool_would_run_is_what_it_says_of_harm() {
    let policy = Policy::builtin().unwrap();
    for tool in ALL {
        let Runs::Those(commands) = tool.runs else { continue };
        let impacts: BTreeSet<&str> = commands(policy)
            .unwrap()
            .into_iter()
            .filter(|ruling| ruling.verdict == Verdict::Risky)
            .map(|ruling| ruling.impact.map_or("unknown", Impact::as_str))
            .collect();
        let harms = tool.described(policy).unwrap().annotations.unwrap().destructive_hint;
        assert_eq!(
            harms,
            Some(impacts.iter().any(|impact| *impact != "measurement")),
            "{} {impacts:?}",
            tool.name
        );
    }
}

#[test]
fn only_what_goes_through_the_gate_may_change_anything() {
    let changing: Vec<String> = listed()
        .into_iter()
        .filter(|tool| tool.annotations.as_ref().unwrap().read_only_hint == Some(false))
        .map(|tool| tool.name.into_owned())
        .collect();
    assert_eq!(changing, ["run_command", "capture_start", "meter_run", "investigate"]);
}

#[test]
fn every_tool_has_a_name_of_its_own_schemas_and_a_description() {
    let tools = listed();
    let names: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names.len(), tools.len());
    for tool in &tools {
        assert!(tool.description.as_ref().unwrap().ends_with('.'), "{}", tool.name);
        let input = Value::Object(tool.input_schema.as_ref().clone());
        assert_eq!(
            (&input["type"], &input["additionalProperties"]),
            (&"object".into(), &false.into()),
            "{}",
            tool.name
        );
        assert!(!input.to_string().contains("$ref"), "{}: {input}", tool.name);
        for (name, field) in input["properties"].as_object().unwrap() {
            let described = field.to_string().contains("\"description\"");
            assert!(described, "{} {name}: {field}", tool.name);
        }
        let output = tool.output_schema.as_ref().unwrap();
        assert_eq!(output["type"], "object", "{}", tool.name);
    }
}
