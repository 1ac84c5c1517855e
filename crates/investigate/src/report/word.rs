//! The words of a command, for whoever says what it does. The gate reads commands with rules of its own.

/// A longer command is read as far as this.
const MAX_COMMAND_BYTES: usize = 20_000;

/// Returns the words of a command as a shell splits them, without its expansions: what stands in quotes is one word, and quotes that
/// are not closed reach to the end.
#[must_use]
pub fn command_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = command.chars().take(MAX_COMMAND_BYTES).peekable();
    while let Some(char) = chars.next() {
        let add = match (char, quote) {
            ('\'' | '"', None) => {
                quote = Some(char);
                None
            }
            (_, Some(mark)) if char == mark => {
                quote = None;
                None
            }
            ('\\', None) => chars.next(),
            ('\\', Some('"')) => chars.next_if(|next| "\"\\$`".contains(*next)).or(Some('\\')),
            (_, None) if char.is_whitespace() => {
                words.extend(word.take());
                continue;
            }
            _ => Some(char),
        };
        word.get_or_insert_default().extend(add);
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (command, words) in [
            ("ip  route get 10.0.0.4", vec!["ip", "route", "get", "10.0.0.4"]),
            (r"sh -c 'echo '\''a b'\'''", vec!["sh", "-c", "echo 'a b'"]),
            (r#"a "b \"c\" \n" '' d\ e"#, vec!["a", r#"b "c" \n"#, "", "d e"]),
            ("a 'b", vec!["a", "b"]),
            ("", vec![]),
            ("\\", vec![""]),
        ] {
            assert_eq!(command_words(command), words, "{command}");
        }
    }
}
