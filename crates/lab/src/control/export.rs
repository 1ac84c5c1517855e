//! Values as a shell takes them.

/// Writes a value so that a shell takes it as it is: bare where that is enough, else between single quotes. Nothing for a value with
/// which no line can be written.
#[must_use]
pub fn exported(value: &str) -> Option<String> {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,@%+=".contains(&byte);
    if !value.is_empty() && value.bytes().all(bare) {
        return Some(value.to_owned());
    }
    let odd = |char: char| char == '\'' || char.is_control();
    (!value.contains(odd)).then(|| format!("'{value}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_for_a_shell_to_expand() {
        assert_eq!(exported("/home/a-b/x.json").as_deref(), Some("/home/a-b/x.json"));
        assert_eq!(exported("/home/a b/$HOME").as_deref(), Some("'/home/a b/$HOME'"));
        assert_eq!(exported("~/x").as_deref(), Some("'~/x'"));
        assert_eq!(exported("").as_deref(), Some("''"));
        assert_eq!(exported("/it's"), None);
        assert_eq!(exported("/a\nb"), None);
    }
}
