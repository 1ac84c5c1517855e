//! What is recommended: classified command by command, and nothing that opens what protects.
//!
//! Goes in: the actions of a conclusion, the policy, and what was judged of the flows. Comes out: the same actions, each with the class of
//! its commands, the remedies that were tried on what was read, and a line for what was left out. Never: a command that the gate blocks;
//! advice to delete what only protects.

use ghost_shell::{Policy, Verdict};

use crate::event::{Event, Finding};
use crate::judged::{JudgedFlows, JudgedRemedy, judged};
use crate::state::State;

/// The label of the line that names the class of an action's commands.
const CLASS: &str = "Class: ";
/// The label of the line with the commands.
const COMMAND: &str = "Command: ";

/// The rules that the platform puts into every security group.
const DEFAULTS: [&str; 2] = ["DenyAllInBound", "DenyAllOutBound"];

/// Words that take a rule away or open it.
const OPENING: [&str; 12] = [
    "delete",
    "remove",
    "disable",
    "open",
    "take off",
    "take away",
    "get rid",
    "lift",
    "turn off",
    "allow all",
    "update",
    "flush",
];

/// Programs whose end leaves a machine open.
const GUARDS: [&str; 6] = ["firewalld", "ufw", "nftables", "iptables", "netfilter-persistent", "fail2ban"];

/// Checks what a conclusion recommends. `events` are those of the call that concludes.
#[must_use]
pub fn advised(events: Vec<Event>, state: &State, policy: &Policy) -> Vec<Event> {
    let accepted: Vec<Finding> = accepted(&events, state).into_iter().cloned().collect();
    let flows = judged(state).map(|(_, flows)| flows).unwrap_or_default();
    let is_code = state.turns().last().is_some_and(|turn| turn.investigator.provider == "playbook");
    let advice = Advice { policy, flows: &flows, accepted: &accepted, is_code };
    let look = |mut event: Event| {
        // What a report recommends stays as it was where nothing replaced that report.
        if let Event::Concluded(concluded) = &mut event
            && concluded.stands.is_none()
        {
            concluded.actions = advice.actions(&concluded.actions);
        }
        event
    };
    events.into_iter().map(look).collect()
}

/// Returns the findings that hold once the events of a call are recorded.
#[must_use]
pub fn accepted<'a>(events: &'a [Event], state: &'a State) -> Vec<&'a Finding> {
    let own = events.iter().filter_map(|event| {
        if let Event::FindingAccepted(found) = event { Some(&found.finding) } else { None }
    });
    own.chain(state.accepted.iter().map(|found| &found.finding)).collect()
}

struct Advice<'a> {
    policy: &'a Policy,
    flows: &'a JudgedFlows,
    accepted: &'a [Finding],
    /// Whether the actions are those of the playbook, which are code's own.
    is_code: bool,
}

impl Advice<'_> {
    fn actions(&self, claimed: &[String]) -> Vec<String> {
        let (mut kept, mut blocked, mut opening) = (Vec::new(), 0, 0);
        for action in claimed {
            if self.is_blocked(action) {
                blocked += 1;
            } else if !self.is_code && self.opens(action) {
                opening += 1;
            } else {
                kept.push(self.classified(action));
            }
        }
        let is_accepted = |remedy: &&JudgedRemedy| {
            self.accepted
                .iter()
                .any(|found| found.code == remedy.fault.as_str() && found.object == remedy.object)
        };
        let is_named = |remedy: &&JudgedRemedy| {
            let holds =
                |action: &String| remedy.commands.iter().all(|command| action.contains(command.as_str()));
            !remedy.commands.is_empty() && kept.iter().any(holds)
        };
        let missing = self.flows.remedies.iter().filter(|remedy| is_accepted(remedy) && !is_named(remedy));
        let tried: Vec<String> = missing.map(text).filter(|text| !self.is_blocked(text)).collect();
        let mut all: Vec<String> = tried.iter().map(|text| self.classified(text)).collect();
        all.append(&mut kept);
        all.extend((blocked > 0).then(|| left_out(blocked, "the gate blocks its command")));
        all.extend(
            (opening > 0).then(|| left_out(opening, "it would open what protects, and is not at fault")),
        );
        all
    }

    /// Tells whether a command of an action, or a line of it, is one that the gate blocks.
    fn is_blocked(&self, action: &str) -> bool {
        let lines = action.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut all = spans(action).into_iter().chain(lines);
        all.any(|text| self.policy.classify(text).verdict == Verdict::Blocked)
    }

    /// Adds the class of each command, unless it stands there.
    fn classified(&self, action: &str) -> String {
        if action.lines().any(|line| line.starts_with(CLASS)) {
            return action.to_owned();
        }
        let line = action.lines().find(|line| line.starts_with(COMMAND));
        let mut classes: Vec<String> = Vec::new();
        for command in spans(line.unwrap_or(action)) {
            let ruling = self.policy.classify(command);
            let impact = ruling.impact.map(|impact| format!(" ({})", impact.as_str())).unwrap_or_default();
            let class = format!("{}{impact}", ruling.verdict.as_str());
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        if classes.is_empty() {
            return action.to_owned();
        }
        let class = format!("{CLASS}{}", classes.join(", "));
        match line {
            Some(line) => action.replacen(line, &format!("{line}\n{class}"), 1),
            None => format!("{action}\n{class}"),
        }
    }

    /// Tells whether an action takes away what only protects.
    fn opens(&self, action: &str) -> bool {
        let lower = action.to_lowercase();
        let takes_away = OPENING.iter().any(|word| lower.contains(word));
        let is_named = |name: &str| names(&lower, &name.to_lowercase());
        let mut protected = DEFAULTS.into_iter().chain(self.protected());
        let lines = action.lines().map(str::trim);
        takes_away && protected.any(is_named) || spans(action).into_iter().chain(lines).any(opens_all)
    }

    /// Returns the names of what closes everything, and of what was only noticed.
    fn protected(&self) -> impl Iterator<Item = &str> {
        let causes = self.flows.flows.iter().flat_map(|flow| flow.causes.iter().chain(&flow.behind));
        let closing = causes.filter(|cause| cause.catches_all).map(|cause| cause.object.as_str());
        let noticed = self.flows.noticed.iter().map(|one| one.object.as_str());
        let is_of_cloud = |object: &&str| object.starts_with("nsg/") || object.starts_with("route/");
        closing.chain(noticed).filter(is_of_cloud).filter_map(|object| object.rsplit('/').next())
    }
}

/// Writes a remedy as an action.
fn text(remedy: &JudgedRemedy) -> String {
    let commands: Vec<String> = remedy.commands.iter().map(|command| format!("`{command}`")).collect();
    let JudgedRemedy { what, look, effect, risk, .. } = remedy;
    let command = match commands.as_slice() {
        [] => String::new(),
        some => format!("\n{COMMAND}{}", some.join(", then ")),
    };
    let checked = if effect.is_empty() { String::new() } else { format!("\nChecked: {effect}") };
    format!(
        "{what}\nLook first: {look}{command}{checked}\nVerify: try the call that failed, then check again.\nRisk: {risk}"
    )
}

fn left_out(count: usize, why: &str) -> String {
    match count {
        1 => format!("One recommendation was left out: {why}."),
        some => format!("{some} recommendations were left out, each because {why}."),
    }
}

/// Returns what stands between backticks and may be a command: it has several words.
fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).filter(|span| span.trim().contains(' ')).collect()
}

/// Tells whether a text holds a name as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let mut after = text.get(at + name.len()..).unwrap_or_default().chars();
            // A full stop ends a sentence.
            let is_longer = match (after.next(), after.next()) {
                (Some('.'), next) => next.is_some_and(is_part),
                (next, _) => next.is_some_and(is_part),
            };
            !before.is_some_and(is_part) && !is_longer
        })
}

/// Tells whether a command opens a machine or a group to everybody.
fn opens_all(command: &str) -> bool {
    let words: Vec<&str> =
        command.split_whitespace().map(|word| word.trim_matches(['`', '\'', '"'])).collect();
    let has = |word: &str| words.contains(&word);
    let program = |name: &str| words.iter().take(4).any(|word| word.rsplit('/').next() == Some(name));
    let tables = program("iptables") || program("ip6tables");
    let policy = words.iter().position(|word| matches!(*word, "-P" | "--policy"));
    let accepts = policy.is_some_and(|at| words.iter().skip(at).take(3).any(|word| *word == "ACCEPT"));
    let everybody = ["*", "0.0.0.0/0", "::/0", "Internet", "Any"].iter().any(|word| has(word));
    tables && (has("-F") || has("--flush") || has("-X") || accepts)
        || program("nft") && (has("flush") || has("delete") && (has("table") || has("chain")))
        || program("ufw") && (has("disable") || has("reset"))
        || program("systemctl")
            && (has("stop") || has("disable") || has("mask"))
            && words.iter().any(|word| GUARDS.contains(&word.trim_end_matches(".service")))
        || program("fail2ban-client") && (has("stop") || has("--all") || has("unban") && has("all"))
        || program("setenforce")
        || program("az") && has("nsg") && !has("rule") && has("delete")
        || program("az") && has("nsg") && has("Allow") && everybody
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::NoticedObject;

    fn advise(flows: &JudgedFlows, accepted: &[Finding], claimed: &[&str]) -> Vec<String> {
        let policy = Policy::builtin().unwrap();
        let claimed: Vec<String> = claimed.iter().map(|text| (*text).to_owned()).collect();
        Advice { policy, flows, accepted, is_code: false }.actions(&claimed)
    }

    fn noticing(object: &str) -> JudgedFlows {
        let (object, what, why_not) = (object.to_owned(), String::new(), String::new());
        JudgedFlows { noticed: vec![NoticedObject { object, what, why_not }], ..JudgedFlows::default() }
    }

    #[test]
    fn each_command_has_its_class() {
        let plain = JudgedFlows::default();
        let command =
            "Take it away.\nCommand: `az network nsg rule delete -g rg --nsg-name n -n r`\nRisk: none";
        let expected = "Take it away.\nCommand: `az network nsg rule delete -g rg --nsg-name n -n r`\nClass: RISKY (change)\nRisk: none";
        assert_eq!(advise(&plain, &[], &[command]), [expected]);
        let outage = advise(&plain, &[], &["Restart it: `sudo systemctl restart docker`"]);
        assert!(outage[0].ends_with("\nClass: RISKY (outage)"), "{outage:?}");
        assert_eq!(advise(&plain, &[], &["Ask its owner."]), ["Ask its owner."]);
        // What stands there already is not written twice.
        assert_eq!(advise(&plain, &[], &[expected]), [expected]);
    }

    #[test]
    fn what_the_gate_blocks_is_no_advice() {
        for text in
            ["Run `sudo rm -rf /` on db-1.", "sudo rm -rf /", "First this.\nsudo rm -rf /\nThen that."]
        {
            let all = advise(&JudgedFlows::default(), &[], &[text]);
            assert_eq!(all, ["One recommendation was left out: the gate blocks its command."], "{text}");
        }
    }

    #[test]
    fn what_protects_is_not_opened() {
        let flows = noticing("nsg/db-nsg/zt-deny-all");
        for text in [
            "Delete the rule zt-deny-all from db-nsg.",
            "`az network nsg rule delete -g rg --nsg-name db-nsg -n zt-deny-all`",
            "Remove DenyAllInBound.",
            "`sudo iptables -F` on db-1",
            "`sudo iptables -P INPUT ACCEPT`",
            "sudo ufw disable",
            "`sudo systemctl stop firewalld`",
            "`az network nsg rule create -g rg --nsg-name n -n x --priority 100 --access Allow --source-address-prefixes '*'`",
        ] {
            let all = advise(&flows, &[], &[text]);
            assert_eq!(
                all,
                ["One recommendation was left out: it would open what protects, and is not at fault."],
                "{text}"
            );
        }
        for text in ["Add an Allow before zt-deny-all, which stays.", "Remove the rule zt-deny-all-2."] {
            assert_eq!(advise(&flows, &[], &[text]), [text]);
        }
    }

    #[test]
    fn what_was_tried_stands_first() {
        let remedy = JudgedRemedy {
            fault: "nsg_deny".to_owned(),
            object: "nsg/n/r".to_owned(),
            what: "Take it away.".to_owned(),
            look: "at it".to_owned(),
            commands: vec!["az network nsg rule delete -g rg --nsg-name n -n r".to_owned()],
            effect: "With it the flow passes.".to_owned(),
            risk: "none".to_owned(),
        };
        let flows = JudgedFlows { remedies: vec![remedy], ..JudgedFlows::default() };
        let (code, object) = ("nsg_deny".to_owned(), "nsg/n/r".to_owned());
        let found = Finding { code: code.into(), object, statement: String::new(), evidence: Vec::new() };
        let all = advise(&flows, &[found], &["Ask its owner."]);
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(
            all[0].contains("Checked: With it the flow passes.") && all[0].contains("Class: RISKY (change)")
        );
        // What was not found is not mended.
        assert_eq!(advise(&flows, &[], &["Ask its owner."]), ["Ask its owner."]);
    }
}
