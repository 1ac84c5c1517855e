//! The value without which nothing runs.

use std::fmt;

use crate::{Fill, List, Profile, Ruling, Stderr, Stdout, Verdict, When};
use ghost_base::Digest;

/// Who approved, as the approver names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewer(String);

impl Reviewer {
    /// Names a human. Only an `Approver` calls this: a tidy test holds the list of files.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reviewer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What exactly may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// These words, the first resolved to an absolute path; no shell.
    Words(Vec<String>),
    /// These commands, connected by the gate; no shell. Each brings its own profile.
    List(List),
    /// This text, through `sh -c`.
    Text(String),
}

/// Proof that one exact command may run once: it can be neither copied nor made outside this file.
#[derive(Debug)]
pub struct Permit {
    form: Form,
    profile: Option<Profile>,
    approved_by: Option<Reviewer>,
}

impl Permit {
    /// Permits what the ruling calls SAFE, confined to what its profile declares.
    pub(crate) fn for_safe(ruling: &Ruling) -> Option<Self> {
        // Where a server would send it nobody has judged: the gate follows, one judged request after the other.
        let redirected = ruling.profiles().iter().any(|profile| profile.redirected);
        if ruling.verdict == Verdict::Safe && !redirected { Self::confined(ruling) } else { None }
    }

    /// Makes the permit of what only reads.
    fn confined(ruling: &Ruling) -> Option<Self> {
        let form = match &ruling.list {
            Some(list) => Form::List(list.clone()),
            None => Form::Words(ruling.argv.clone()?),
        };
        Some(Self { form, profile: Some(ruling.profile.clone()), approved_by: None })
    }

    /// Permits what a human approved; `None` where the ruling is BLOCKED, whoever approved.
    ///
    /// What only reads stays as confined as if nobody had been asked: consent was to where it sends something, to which file it reads,
    /// or to what there is to confine it.
    pub(crate) fn approved(reviewer: Reviewer, command: &str, ruling: &Ruling) -> Option<Self> {
        if ruling.only_reads() {
            return Self::confined(ruling).map(|permit| Self { approved_by: Some(reviewer), ..permit });
        }
        let form = match &ruling.argv {
            Some(words) => Form::Words(words.clone()),
            None => Form::Text(command.to_owned()),
        };
        (ruling.verdict != Verdict::Blocked).then_some(Self {
            form,
            profile: None,
            approved_by: Some(reviewer),
        })
    }

    /// Returns what runs.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the words that run; `None` where a shell is to read a text, or several commands are to be connected.
    #[must_use]
    pub fn words(&self) -> Option<&[String]> {
        match &self.form {
            Form::Words(words) => Some(words),
            Form::List(_) | Form::Text(_) => None,
        }
    }

    /// Returns the sandbox profile of plain words; `None` where a human's consent stands in its place.
    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// Tells whether what runs is confined: it only reads.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        self.profile.is_some()
    }

    /// Returns who approved, where somebody had to.
    #[must_use]
    pub fn approved_by(&self) -> Option<&Reviewer> {
        self.approved_by.as_ref()
    }

    /// Digests what runs, so that the audit can name it without holding a secret.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match &self.form {
            Form::Words(words) => Digest::of_fields(words.iter().map(String::as_str)),
            Form::List(list) => {
                let fields = list_fields(list);
                Digest::of_fields(fields.iter().map(String::as_str))
            }
            Form::Text(text) => Digest::of(text),
        }
    }
}

/// Writes a list down so that no two lists, and no list and no words, have the same fields: words hold no NUL.
fn list_fields(list: &List) -> Vec<String> {
    let mut fields = vec!["\0list".to_owned()];
    for pipeline in &list.pipelines {
        let when = match pipeline.when {
            When::Always => ";",
            When::Succeeded => "&&",
            When::Failed => "||",
        };
        fields.extend([when.to_owned(), pipeline.stages.len().to_string()]);
        for stage in &pipeline.stages {
            let stdout = match stage.stdout {
                Stdout::Next => "next",
                Stdout::Null => "null",
            };
            let stderr = match stage.stderr {
                Stderr::Errors => "errors",
                Stderr::Next => "next",
                Stderr::Null => "null",
            };
            fields.extend([stdout.to_owned(), stderr.to_owned(), stage.argv.len().to_string()]);
            fields.extend(stage.argv.iter().cloned());
            for (at, fill) in &stage.fills {
                // A word that the gate replaces is another one than the same word as it stands.
                fields.push(format!("\0fill {at}"));
                if let Fill::Output(list) = fill {
                    fields.extend(list_fields(list));
                    fields.push("\0end".to_owned());
                }
            }
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Pipeline, Stage};

    fn stage(words: &[&str]) -> Stage {
        Stage {
            argv: words.iter().map(|&word| word.to_owned()).collect(),
            profile: Profile::default(),
            stdout: Stdout::Next,
            stderr: Stderr::Errors,
            fills: BTreeMap::new(),
        }
    }

    fn filled(fill: Fill) -> Stage {
        Stage { fills: BTreeMap::from([(0, fill)]), ..stage(&["a"]) }
    }

    fn permit(pipelines: Vec<(When, Vec<Stage>)>) -> Permit {
        let pipelines = pipelines.into_iter().map(|(when, stages)| Pipeline { when, stages }).collect();
        let list = Some(List { pipelines });
        Permit::for_safe(&Ruling { verdict: Verdict::Safe, list, ..Ruling::default() }).unwrap()
    }

    #[test]
    fn no_two_lists_have_the_same_digest() {
        let (always, then, or) = (When::Always, When::Succeeded, When::Failed);
        let (a, b) = (|| stage(&["a"]), || stage(&["b"]));
        let one_stage = |stage| List { pipelines: vec![Pipeline { when: always, stages: vec![stage] }] };
        let all = [
            permit(vec![(always, vec![stage(&["a", "b"])])]),
            permit(vec![(always, vec![stage(&["ab"])])]),
            permit(vec![(always, vec![a(), b()])]),
            permit(vec![(always, vec![a()]), (always, vec![b()])]),
            permit(vec![(always, vec![a()]), (then, vec![b()])]),
            permit(vec![(always, vec![a()]), (or, vec![b()])]),
            permit(vec![(always, vec![Stage { stdout: Stdout::Null, ..a() }, b()])]),
            permit(vec![(always, vec![Stage { stderr: Stderr::Null, ..a() }, b()])]),
            permit(vec![(always, vec![Stage { stderr: Stderr::Next, ..a() }, b()])]),
            permit(vec![(always, vec![stage(&["a", ";", "1", "next", "errors", "1", "b"])])]),
            permit(vec![(always, vec![filled(Fill::Pattern)])]),
            permit(vec![(always, vec![filled(Fill::Output(List::default()))])]),
            permit(vec![(always, vec![filled(Fill::Output(one_stage(a())))])]),
            permit(vec![(always, vec![filled(Fill::Output(one_stage(b())))])]),
        ];
        let digests: std::collections::BTreeSet<String> =
            all.iter().map(|permit| permit.digest().to_string()).collect();
        assert_eq!(digests.len(), all.len());
        let fields = list_fields(&List { pipelines: vec![Pipeline { when: always, stages: vec![a()] }] });
        let words = Ruling { verdict: Verdict::Safe, argv: Some(fields[1..].to_vec()), ..Ruling::default() };
        assert!(!digests.contains(&Permit::for_safe(&words).unwrap().digest().to_string()));
    }

    #[test]
    fn what_was_approved_runs_as_its_text_even_where_it_is_a_list() {
        let list =
            Some(List { pipelines: vec![Pipeline { when: When::Always, stages: vec![stage(&["a"])] }] });
        let ruling = Ruling { verdict: Verdict::Risky, list, ..Ruling::default() };
        assert!(Permit::for_safe(&ruling).is_none());
        let permit = Permit::approved(Reviewer::new("U1"), "a 2>&1", &ruling).unwrap();
        assert_eq!(permit.form(), &Form::Text("a 2>&1".to_owned()));
    }
}
