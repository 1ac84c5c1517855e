//! A page of GTFOBins: what a program does for somebody who should not have it.

use super::yaml::{documents, entries, text};

/// Tells whether a file has the form of such a page.
pub(super) fn is_page(page: &str) -> bool {
    page.lines().any(|line| line == "functions:" || line.starts_with("alias: "))
}

/// Returns the commands: those of each function, and those that differ in one of its contexts. A page that is but another
/// name of a program has none. `None` where the page cannot be read.
pub(super) fn read(page: &str) -> Option<Vec<String>> {
    let documents = documents(page)?;
    let mut commands = Vec::new();
    for document in &documents {
        for (_, uses) in entries(document, "functions") {
            for one in uses.as_sequence()? {
                commands.extend(text(one, "code"));
                commands.extend(entries(one, "contexts").filter_map(|(_, context)| text(context, "code")));
            }
        }
    }
    Some(commands.into_iter().map(|code| code.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_counts_with_that_of_its_contexts() {
        let page = "---\nfunctions:\n  shell:\n  - code: |-\n      spin -x sh\n    contexts:\n      sudo:\n      suid:\n        code: |-\n          spin -p\n          spin -q\n  file-read:\n  - code: spin -r F\n...\n";
        assert!(is_page(page));
        assert_eq!(read(page).unwrap(), ["spin -x sh", "spin -p\nspin -q", "spin -r F"]);
    }

    #[test]
    fn another_name_of_a_program_has_no_commands() {
        let page = "---\nalias: spin\n...\n";
        assert!(is_page(page));
        assert!(read(page).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_yaml_is_no_page() {
        assert!(read("functions:\n  - [").is_none());
    }
}
