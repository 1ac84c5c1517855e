//! A file of lines: one command a line.

/// Returns the commands, without empty lines and comments.
pub(super) fn read(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_no_commands() {
        assert_eq!(read("# reads\n\n  ss -s\nip a # all\n"), ["ss -s", "ip a # all"]);
    }
}
