//! Programs that run other programs.

use serde::Deserialize;

/// How the inner command of a wrapper is found.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is a line of the policy file, not a state")]
pub(crate) struct Wrapper {
    /// The programs.
    pub(crate) names: Vec<String>,
    /// Options that take the next word.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// Options whose value is the folder where the inner command starts, the short and the long form.
    #[serde(default)]
    pub(crate) place: Vec<String>,
    /// Options that may take the next word: both readings are judged.
    #[serde(default)]
    pub(crate) maybe: Vec<String>,
    /// Options whose value is a script.
    #[serde(default)]
    pub(crate) text: Vec<String>,
    /// Options whose value is `Name=command`.
    #[serde(default)]
    pub(crate) text_after_equals: Vec<String>,
    /// How many operands stand before the inner command.
    #[serde(default)]
    pub(crate) skip: usize,
    /// The inner words are joined and read as a script.
    #[serde(default)]
    pub(crate) joined: bool,
    /// The first operand is a script.
    #[serde(default)]
    pub(crate) first_is_text: bool,
    /// The script option is a flag, and the first operand is the script (`sh -e -c -x TEXT`).
    #[serde(default)]
    pub(crate) text_is_operand: bool,
    /// It reads a script from its input.
    #[serde(default)]
    pub(crate) shell: bool,
    /// It reads statements from its input.
    #[serde(default)]
    pub(crate) statements: bool,
    /// A duration may stand before the inner command.
    #[serde(default)]
    pub(crate) duration: bool,
    /// It wraps only behind one of these words.
    #[serde(default)]
    pub(crate) after: Vec<String>,
    /// `find`: the inner command stands behind these and ends at `;` or `+`.
    #[serde(default)]
    pub(crate) exec_options: Vec<String>,
    /// Examples that are blocked.
    #[serde(default)]
    pub(super) blocked: Vec<String>,
    /// Examples that ask.
    #[serde(default)]
    pub(super) asks: Vec<String>,
}
