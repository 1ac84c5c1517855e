//! The policy for people: one line a rule.

use super::Policy;
use crate::Verdict;

/// One rule in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSummary {
    /// The rule's stable name.
    pub id: String,
    /// The mildest verdict that the rule can give.
    pub verdict: Verdict,
    /// The programs that it speaks of.
    pub programs: Vec<String>,
    /// What these programs do, or what the rule is about.
    pub what: String,
    /// The manual page, with its version, in which the options were looked up; `None` for a rule without options of its own.
    pub manual: Option<String>,
}

impl Policy {
    /// Lists every rule: first what never runs, then what may, then what is judged by what it runs.
    pub fn rules(&self) -> impl Iterator<Item = RuleSummary> {
        let rule = |id: &str, verdict, programs: &[String], what: &str| RuleSummary {
            id: id.to_owned(),
            verdict,
            programs: programs.to_vec(),
            what: what.to_owned(),
            manual: None,
        };
        let az = ["az".to_owned()];
        let mut all: Vec<RuleSummary> = self
            .block
            .rules
            .iter()
            .map(|entry| {
                let mut programs: Vec<String> = entry.programs().cloned().collect();
                programs.sort();
                programs.dedup();
                rule(&format!("block.{}", entry.id), Verdict::Blocked, &programs, &entry.why)
            })
            .collect();
        all.push(rule(
            "block.credential",
            Verdict::Blocked,
            &[],
            "names a file that holds a credential, in any command",
        ));
        all.push(rule(
            "block.metadata",
            Verdict::Blocked,
            &[],
            "asks a cloud metadata service for a credential, in any command",
        ));
        all.push(rule("block.secret.cloud", Verdict::Blocked, &az, "prints a secret"));
        all.push(rule("block.destroy.cloud", Verdict::Blocked, &az, "deletes or cancels whole resources"));
        all.push(rule("block.fork-bomb", Verdict::Blocked, &[], "a function that starts itself without end"));
        all.extend(self.tightened().iter().map(|site| {
            let verdict = if site.is_blocked() { Verdict::Blocked } else { Verdict::Risky };
            rule(
                "site",
                verdict,
                site.words.get(..1).unwrap_or_default(),
                &format!("{}: {}", site.words.join(" "), site.reason),
            )
        }));
        all.extend(self.scripts.iter().map(|script| script.summary()));
        let of_curl = ["curl".to_owned()];
        all.extend(
            self.pages()
                .iter()
                .map(|page| rule("page", Verdict::Risky, &of_curl, &format!("a page that {}", page.why))),
        );
        all.push(rule("cloud", Verdict::Safe, &az, "reads the state of the cloud or of a guest"));
        all.extend(self.all_entries().into_iter().map(|entry| RuleSummary {
            manual: Some(entry.manual.clone()).filter(|manual| !manual.is_empty()),
            ..rule(&entry.id, Verdict::Safe, &entry.names, &entry.why)
        }));
        let wrappers = self
            .wrappers()
            .iter()
            .filter(|wrapper| !wrapper.names.iter().any(|name| self.transparent(name, &[]).is_some()));
        all.extend(wrappers.map(|wrapper| {
            let id = format!("wrapper.{}", wrapper.names.first().map_or("", String::as_str));
            rule(&id, Verdict::Risky, &wrapper.names, "runs another command, and is blocked where that is")
        }));
        all.into_iter()
    }
}
