//! Where the operands of a command begin.

use super::allow::{self, Time};
use crate::policy::Policy;

impl Policy {
    /// Returns where `--` can stand before the operands of a SAFE command without changing what it means: it has none yet, no
    /// option stands behind an operand, and its options are read as getopt reads them.
    pub(crate) fn first_operand(&self, argv: &[String]) -> Option<usize> {
        // The pipes of `<( … )` are operands like others.
        let words: Vec<&str> = argv
            .iter()
            .map(|word| if word.starts_with("<(") { crate::text::OUTPUT_FILE } else { word.as_str() })
            .collect();
        let peeled = allow::peel(self, &words).ok()?;
        let (program, arguments) = peeled.words.split_first()?;
        let name = allow::trusted(program)?;
        let time = Time { bound: Some(0), guest: false };
        let fits = |entry: &&crate::policy::Entry| allow::fits(self, entry, name, arguments, time).is_ok();
        let entry = self.entries(name).iter().find(fits)?;
        let at = entry.grammar.first_operand(arguments, &self.files)?;
        (words.len() - arguments.len()).checked_add(at)
    }
}
