//! Names of the cloud, checked once.

use std::fmt;

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no name of {what}: {wanted}")]
pub struct NameError {
    /// What was given, cut to a readable length.
    pub text: String,
    /// Of what it should be a name.
    pub what: &'static str,
    /// What would do.
    pub wanted: &'static str,
}

/// The name of a resource or of a resource group. It cannot be taken for an option, a path or a second word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// Fails where the platform would not take it.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits = (1..=90).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.()".contains(&byte))
            && !text.starts_with(['-', '.'])
            && !text.ends_with('.');
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(wrong(text, "a resource", "letters, digits and -_.() are, up to 90 of them"))
        }
    }
}

/// The name of a storage account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account(String);

impl Account {
    /// Checks a name.
    ///
    /// # Errors
    /// Fails where the platform would not take it.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits = (3..=24).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(wrong(text, "a storage account", "3 to 24 small letters and digits are"))
        }
    }
}

/// The name of a container of blobs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Container(String);

impl Container {
    /// Checks a name.
    ///
    /// # Errors
    /// Fails where the platform would not take it.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits = (3..=63).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !text.starts_with('-')
            && !text.ends_with('-')
            && !text.contains("--");
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(wrong(text, "a container", "3 to 63 small letters, digits and single - are"))
        }
    }
}

fn wrong(text: &str, what: &'static str, wanted: &'static str) -> NameError {
    NameError { text: text.chars().take(80).collect(), what, wanted }
}

macro_rules! named {
    ($($kind:ident),*) => {$(
        impl $kind {
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl AsRef<str> for $kind {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $kind {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }
    )*};
}

named!(Name, Account, Container);

/// A resource group, and the subscription where it is pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceGroup {
    /// The subscription by its identifier; the one that is signed in to, if there is none.
    pub subscription: Option<Name>,
    pub group: Name,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_and_no_option() {
        for text in ["tf-dest-vm", "RG_1.x", "a(b)", "0"] {
            assert!(Name::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "-g",
            ".",
            "a.",
            "a b",
            "a;b",
            "a\n",
            "vm/../x",
            "$(x)",
            "é",
            &"a".repeat(91),
            "a'b",
            "--x",
            "@f",
        ] {
            assert!(Name::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn accounts_and_containers_have_their_own_rules() {
        assert!(Account::parse("nwlogs080613").is_ok() && Container::parse("captures").is_ok());
        for text in ["ab", "Upper", "has-dash", "has.dot", ""] {
            assert!(Account::parse(text).is_err(), "{text}");
        }
        for text in ["ab", "-ab", "ab-", "a--b", "Upper", "a/b"] {
            assert!(Container::parse(text).is_err(), "{text}");
        }
    }
}
