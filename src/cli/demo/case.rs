//! The cases that can be picked: those that come with the program, a later phase as a line of its own.

use ghost_lab::case::{CASES, Case, Pair, Problems, SERVICE_CASES, embedded, names};

/// A case, or a later phase of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DemoCase {
    /// By what it is picked: `j`, or `t/2`.
    pub(super) name: String,
    pub(super) title: String,
    /// What the person says.
    pub(super) prompt: String,
    /// The phase, from 1.
    pub(super) phase: usize,
    /// What is to be found.
    pub(super) expected: Vec<Pair>,
    /// What may be found beside it.
    pub(super) may: Vec<Pair>,
    /// The text of its file.
    pub(super) text: &'static str,
}

impl DemoCase {
    /// Returns what can be picked, in order.
    ///
    /// # Errors
    /// Fails where a case that comes with the program is broken, which no test lets pass.
    pub(super) fn all() -> Result<Vec<Self>, Problems> {
        let all: Result<Vec<Vec<Self>>, Problems> =
            CASES.iter().chain(&SERVICE_CASES).map(|(name, text)| Self::phases(name, text)).collect();
        Ok(all?.into_iter().flatten().collect())
    }

    fn phases(name: &str, text: &'static str) -> Result<Vec<Self>, Problems> {
        let case = Case::read(text)?;
        let entry = |(at, phase): (usize, &ghost_lab::case::Phase)| Self {
            name: if at == 0 { name.to_owned() } else { format!("{name}/{}", at + 1) },
            title: if at == 0 { case.title.clone() } else { format!("{}, part {}", case.title, at + 1) },
            prompt: phase.prompt.clone(),
            phase: at + 1,
            expected: phase.expected.clone(),
            may: phase.may.clone(),
            text,
        };
        Ok(case.phases.iter().enumerate().map(entry).collect())
    }
}

/// Reads the name of a case from the command line.
pub(in crate::cli) fn case_name(text: &str) -> Result<String, String> {
    match embedded(text) {
        Some(_) => Ok(text.to_ascii_lowercase()),
        None => {
            let names: Vec<&str> = names().collect();
            Err(format!("there is no such case; there is {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_and_every_later_phase_is_a_line() {
        let all = DemoCase::all().unwrap();
        assert_eq!(all.len(), 28);
        let later = all.iter().find(|case| case.name == "t/2").unwrap();
        assert_eq!((later.phase, later.title.as_str()), (2, "The Phantom Firewall, part 2"));
        assert!(all.iter().all(|case| !case.prompt.is_empty()));
    }

    #[test]
    fn a_name_is_read_in_either_case_and_an_unknown_one_lists_what_there_is() {
        assert_eq!(case_name("J").unwrap(), "j");
        assert!(case_name("zz").unwrap_err().contains("a, b, c"));
    }
}
