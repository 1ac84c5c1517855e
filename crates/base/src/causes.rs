//! An error in one line.

use std::error::Error;

/// Writes an error with all its causes, the innermost last.
#[must_use]
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::io;

    use super::*;

    #[derive(Debug)]
    struct Outer(io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("the answer broke off")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_is_followed_by_what_caused_it() {
        let inner = io::Error::other("reset");
        assert_eq!(causes(&inner), "reset");
        assert_eq!(causes(&Outer(inner)), "the answer broke off: reset");
    }
}
