//! What reads the cloud.

use serde::Deserialize;

use super::azure::{Azure, SignIn};

/// `[cloud]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cloud {
    /// What carries out the lines of `az` that only read; `az` unless said.
    pub reader: Reader,
}

/// What carries out lines of `az` that only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// The program `az`.
    #[default]
    Az,
    /// This process, for what it has a request of its own; `az` for the rest.
    Native,
}

impl Cloud {
    pub(super) fn problems(self, azure: &Azure) -> Vec<String> {
        let wanted =
            "[cloud] reader = \"native\" needs [azure.reader] with sign_in `managed` or `service_principal`";
        match (self.reader, azure.reader.as_ref().map(|reader| reader.sign_in)) {
            (Reader::Az, _) | (Reader::Native, Some(SignIn::Managed | SignIn::ServicePrincipal)) => {
                Vec::new()
            }
            (Reader::Native, None) => vec![format!("{wanted}: the sign-in of az is not used")],
            (Reader::Native, Some(SignIn::Folder)) => {
                vec![format!("{wanted}: the sign-in of a folder belongs to az")]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(cloud: &str, azure: &str) -> usize {
        let cloud: Cloud = toml::from_str(cloud).unwrap();
        cloud.problems(&toml::from_str(azure).unwrap()).len()
    }

    #[test]
    fn the_native_reader_needs_an_identity_of_its_own() {
        assert_eq!(problems("", ""), 0);
        assert_eq!(problems("reader = 'az'", "[reader]\nsign_in = 'folder'\nfolder = '/x'"), 0);
        assert_eq!(problems("reader = 'native'", "[reader]\nsign_in = 'managed'"), 0);
        assert_eq!(problems("reader = 'native'", ""), 1);
        assert_eq!(problems("reader = 'native'", "[reader]\nsign_in = 'folder'\nfolder = '/x'"), 1);
        assert!(toml::from_str::<Cloud>("reader = 'curl'").is_err());
    }
}
