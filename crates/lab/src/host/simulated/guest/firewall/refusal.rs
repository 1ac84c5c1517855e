//! Why a change was refused, in the words of the tool.

/// A refusal: what it says, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host::simulated) struct Refusal {
    /// What stands behind the name of the tool.
    pub(in crate::host::simulated) what: String,
    /// The exit code.
    pub(in crate::host::simulated) code: u8,
    /// Whether the tool tells its version and its help, as it does about its own arguments.
    pub(in crate::host::simulated) usage: bool,
}

impl Refusal {
    /// Makes one about the arguments.
    pub(super) fn usage(what: impl Into<String>) -> Self {
        Self { what: what.into(), code: 2, usage: true }
    }

    /// Makes one about the rules that are there.
    pub(super) fn kernel(what: &str) -> Self {
        Self { what: what.to_owned(), code: 1, usage: false }
    }

    pub(super) fn no_rule() -> Self {
        Self::kernel("Bad rule (does a matching rule exist in that chain?).")
    }

    pub(super) fn no_chain() -> Self {
        Self::kernel("No chain/target/match by that name.")
    }

    /// Writes it as a tool does.
    pub(in crate::host::simulated) fn text(&self, tool: &str, version: &str) -> String {
        if self.usage {
            let help = if self.code == 2 {
                format!("Try `{tool} -h' or '{tool} --help' for more information.\n")
            } else {
                String::new()
            };
            format!("{tool} {version}: {}\n{help}", self.what)
        } else {
            format!("{tool}: {}\n", self.what)
        }
    }
}
