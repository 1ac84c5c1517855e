//! Who approves what, in a line each.

use super::finding::{Finding, State};
use ghost_shell::Impact;
use ghost_tools::config::RequesterMay;
use ghost_tools::setup::Setup;

const WHAT: &str = "approval";

const IMPACTS: [Impact; 3] = [Impact::Measurement, Impact::Outage, Impact::Change];

/// Says who approves measurements, outages and changes, and who a command that somebody changed.
pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let mut found: Vec<Finding> = IMPACTS.iter().map(|impact| about(setup, *impact)).collect();
    found.extend(slack::channels(setup));
    let modifier = setup.config.approval.modifier;
    let (terminal, slack) = (modifier.unwrap_or(true), modifier.unwrap_or(false));
    let who = |may: bool| if may { "whoever changed it may" } else { "somebody else has to" };
    let text = match terminal == slack {
        true => format!("a changed command: {} approve it", who(slack)),
        false => format!("a changed command: {} approve it; at a terminal {}", who(slack), who(terminal)),
    };
    found.push(Finding::new(State::Ok, WHAT, text));
    found
}

fn about(setup: &Setup, impact: Impact) -> Finding {
    let terminal = match at_terminal(setup.config.approval.requester, impact) {
        true => "at a terminal whoever sits there",
        false => "at a terminal nobody who asked for it",
    };
    let (state, slack) = slack::about(setup, impact);
    let slack = slack.map(|slack| format!("{slack}; ")).unwrap_or_default();
    Finding::new(state, WHAT, format!("{}: {slack}{terminal}", impact.as_str()))
}

fn at_terminal(requester: Option<RequesterMay>, impact: Impact) -> bool {
    match requester {
        None | Some(RequesterMay::Everything) => true,
        Some(RequesterMay::Measure) => impact == Impact::Measurement,
        Some(RequesterMay::Nothing) => false,
    }
}

mod slack {
    use super::{Finding, IMPACTS, Impact, Setup, State, WHAT};
    use crate::cli::bot::settings;
    use ghost_agent::bot::{ChannelRules, People};

    /// Says who approves in Slack where no channel has people of its own.
    pub(super) fn about(setup: &Setup, impact: Impact) -> (State, Option<String>) {
        let settings = settings(setup);
        let needed = settings.limits.votes_needed(impact);
        let (state, text) = people(&settings.anywhere, impact, needed);
        (state, Some(format!("in Slack {text}")))
    }

    /// Says who approves in the channels that have people of their own.
    pub(super) fn channels(setup: &Setup) -> Vec<Finding> {
        let settings = settings(setup);
        let mut found = Vec::new();
        for (id, rules) in &settings.channels {
            for impact in IMPACTS {
                if rules.approvers.about(impact) == settings.anywhere.approvers.about(impact) {
                    continue;
                }
                let (state, text) = people(rules, impact, settings.limits.votes_needed(impact));
                found.push(Finding::new(state, WHAT, format!("{} in {id}: {text}", impact.as_str())));
            }
        }
        found
    }

    /// Names who may approve, and how many of them it takes.
    fn people(rules: &ChannelRules, impact: Impact, needed: u32) -> (State, String) {
        let People { users, groups } = rules.approvers.about(impact);
        if users.is_empty() && groups.is_empty() {
            return (State::Ok, "nobody, so that it can only be denied".to_owned());
        }
        let named: Vec<&str> = users.iter().chain(groups).map(String::as_str).collect();
        let own = match ghost_investigate::may_approve(rules.approvers.own.requester, "x", "x", impact) {
            Ok(()) => "",
            Err(_) => ", not whoever asked",
        };
        let text = format!("{needed} of {}{own}", named.join(", "));
        let few = groups.is_empty() && u32::try_from(users.len()).is_ok_and(|named| named < needed);
        match few {
            true => (State::Warning, format!("{text}: fewer are named than have to approve")),
            false => (State::Ok, text),
        }
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeSet;

        use super::*;
        use ghost_agent::bot::Approvers;

        fn rules(users: &[&str]) -> ChannelRules {
            let users: BTreeSet<String> = users.iter().map(|user| (*user).to_owned()).collect();
            let named = People { users, ..People::default() };
            ChannelRules {
                approvers: Approvers { outage: named, ..Approvers::default() },
                ..ChannelRules::default()
            }
        }

        #[test]
        fn it_names_who_approves_and_says_where_too_few_are_named() {
            let text = |users: &[&str]| people(&rules(users), Impact::Outage, 2);
            assert_eq!(text(&["U1", "U2"]), (State::Ok, "2 of U1, U2, not whoever asked".to_owned()));
            let (state, few) = text(&["U1"]);
            assert!(state == State::Warning && few.contains("fewer are named"), "{few}");
            assert!(text(&[]).1.contains("only be denied"));
        }
    }
}
