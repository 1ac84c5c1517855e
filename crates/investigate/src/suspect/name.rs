//! Names of the outside, as parts of an object.

/// Longer names are cut.
const LONGEST: usize = 90;

/// Returns a name as a part of an object: what could break out of it, or be read as words, becomes `_`.
pub(crate) fn plain(name: &str) -> String {
    let fits = |char: char| char.is_ascii_alphanumeric() || "._-:()".contains(char);
    let kept: String = name.chars().take(LONGEST).map(|char| if fits(char) { char } else { '_' }).collect();
    if kept.is_empty() { "_".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_name_stays_one_part_of_an_object() {
        assert_eq!(plain("f2b-sshd"), "f2b-sshd");
        assert_eq!(plain("a/b c\n<x>"), "a_b_c__x_");
        assert_eq!(plain(""), "_");
    }
}
