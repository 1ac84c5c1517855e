//! The embedded files of the policy, as they are written and as they are read.

use serde::de::DeserializeOwned;

use super::PolicyError;

/// One embedded file. `build.rs` makes the JSON, which takes a fraction of the time to read.
pub(super) struct Document {
    /// Its name, with which the rules of a family begin.
    pub(super) name: &'static str,
    /// The file as people write it.
    pub(super) text: &'static str,
    json: &'static str,
    json_without_examples: &'static str,
}

macro_rules! document {
    ($name:literal) => {
        Document {
            name: $name,
            text: include_str!(concat!($name, ".toml")),
            json: include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json")),
            json_without_examples: include_str!(concat!(env!("OUT_DIR"), "/", $name, ".lean.json")),
        }
    };
}

/// The families of the allow list, then the impact of what is approved.
pub(super) static FAMILIES: [Document; 14] = [
    document!("reach"),
    document!("name"),
    document!("page"),
    document!("socket"),
    document!("link"),
    document!("firewall"),
    document!("capture"),
    document!("system"),
    document!("service"),
    document!("cluster"),
    document!("file"),
    document!("filter"),
    document!("wrapper"),
    document!("impact"),
];
pub(super) static CLOUD: Document = document!("cloud");
pub(super) static CORE: Document = document!("core");
pub(super) static BLOCK: Document = document!("block");
pub(super) static CALLER: Document = document!("caller");
pub(super) static DESTINATION: Document = document!("destination");
pub(super) static SCRIPT: Document = document!("script");

/// Which part of the files is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// What judges, without the examples that check it.
    WithoutExamples,
}

impl Document {
    /// Reads the file.
    pub(super) fn read<T: DeserializeOwned>(&self, part: Part) -> Result<T, PolicyError> {
        let json = match part {
            Part::Whole => self.json,
            Part::WithoutExamples => self.json_without_examples,
        };
        serde_json::from_str(json).map_err(|error| {
            // The file that people write has the lines that they look for.
            let written = toml::from_str::<T>(self.text).err().map(|error| error.to_string());
            PolicyError::Syntax { file: self.name, what: written.unwrap_or_else(|| error.to_string()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_is_written() {
        let others = [&CLOUD, &CORE, &BLOCK, &CALLER, &DESTINATION, &SCRIPT];
        for document in FAMILIES.iter().chain(others) {
            let written: serde_json::Value = toml::from_str(document.text).unwrap();
            assert_eq!(
                document.read::<serde_json::Value>(Part::Whole).unwrap(),
                written,
                "{}",
                document.name
            );
        }
    }

    #[test]
    fn a_field_that_the_form_does_not_have_is_named_with_its_line() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Other {}
        let error = CORE.read::<Other>(Part::Whole).unwrap_err().to_string();
        assert!(error.starts_with("core: TOML parse error at line "), "{error}");
    }
}
