//! What an approved command does to the world, as data.

use serde::Deserialize;

use super::grammar::{Grammar, Lines, Style};
use super::{Entry, Example};
use crate::Impact;

/// What of a command a row speaks of, where that is not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// Nothing but the query in an address makes it ask.
    Query,
    /// What it does is what the script in its `--scripts` does.
    Script,
    /// It counts in a plan that deletes the capture whose file this is.
    OfPlan,
}

/// A row as it stands in the policy file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawImpact {
    id: String,
    impact: Impact,
    names: Vec<String>,
    like: Option<String>,
    part: Option<Part>,
    #[serde(default)]
    style: Style,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    operands: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    measurement: Vec<String>,
    #[serde(default)]
    outage: Vec<String>,
    #[serde(default)]
    change: Vec<String>,
}

/// A row that can judge.
#[derive(Debug, Clone)]
pub(crate) struct ImpactRow {
    /// What the commands of this row do.
    pub(crate) impact: Impact,
    /// The programs.
    pub(crate) names: Vec<String>,
    /// What of a command the row speaks of.
    pub(crate) part: Option<Part>,
    /// The options and operands; any other makes a command a change.
    pub(crate) grammar: Grammar,
    /// One of these options has to be given.
    pub(crate) needs: Vec<String>,
    /// All of these options have to be given.
    pub(crate) all: Vec<String>,
}

impl RawImpact {
    /// Compiles the row; `like` finds the entry of the allow list whose options it shares.
    pub(super) fn compile<'e>(&self, like: impl Fn(&str) -> Option<&'e Entry>) -> Result<ImpactRow, String> {
        let lines =
            Lines { style: self.style, options: &self.options, operands: &self.operands, ..Lines::default() };
        let mut grammar = Grammar::compile(&lines).map_err(|what| format!("impact `{}`: {what}", self.id))?;
        if let Some(id) = &self.like {
            let entry = like(id).ok_or_else(|| format!("impact `{}`: no entry `{id}`", self.id))?;
            grammar.inherit(&entry.grammar);
        }
        Ok(ImpactRow {
            impact: self.impact,
            names: self.names.clone(),
            part: self.part,
            grammar,
            needs: self.needs.clone(),
            all: self.all.clone(),
        })
    }

    /// Lists what the row promises.
    pub(super) fn examples(&self) -> impl Iterator<Item = Example> {
        let id = format!("impact.{}", self.id);
        let of = |impact, commands: &[String]| Example::of_impact(&id, impact, commands).collect::<Vec<_>>();
        [
            of(Impact::Measurement, &self.measurement),
            of(Impact::Outage, &self.outage),
            of(Impact::Change, &self.change),
        ]
        .into_iter()
        .flatten()
    }
}
