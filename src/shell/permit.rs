//! The value without which nothing runs.

use std::fmt;

use crate::base::Digest;
use crate::shell::{Profile, Ruling, Verdict};

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
pub(in crate::shell) enum Form {
    /// These words, the first resolved to an absolute path; no shell.
    Words(Vec<String>),
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
    pub(in crate::shell) fn for_safe(ruling: &Ruling) -> Option<Self> {
        if ruling.verdict == Verdict::Safe { Self::confined(ruling) } else { None }
    }

    /// Makes the permit of a command that only reads.
    fn confined(ruling: &Ruling) -> Option<Self> {
        Some(Self {
            form: Form::Words(ruling.argv.clone()?),
            profile: Some(ruling.profile.clone()),
            approved_by: None,
        })
    }

    /// Permits what a human approved; `None` where the ruling is BLOCKED, whoever approved.
    ///
    /// What only reads stays as confined as if nobody had been asked: consent was to where it sends something.
    pub(in crate::shell) fn approved(reviewer: Reviewer, command: &str, ruling: &Ruling) -> Option<Self> {
        if ruling.asks_for_destination() {
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
    pub(in crate::shell) fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the words that run; `None` where a shell is to read a text.
    #[must_use]
    pub fn words(&self) -> Option<&[String]> {
        match &self.form {
            Form::Words(words) => Some(words),
            Form::Text(_) => None,
        }
    }

    /// Returns the sandbox profile; `None` where a human's consent stands in its place.
    pub(in crate::shell) fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
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
            Form::Text(text) => Digest::of(text),
        }
    }
}
