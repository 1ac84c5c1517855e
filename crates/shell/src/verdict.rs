//! What the gate answers, always with its reason.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use crate::{List, Profile};

/// How a command may run. Ordered: the strictest part of a command wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Default)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Runs at once, inside the sandbox.
    Safe,
    /// Runs only after a human approved the exact text.
    #[default]
    Risky,
    /// Never runs, and no human is asked.
    Blocked,
}

impl Verdict {
    /// Returns the word that the command line prints.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "SAFE",
            Self::Risky => "RISKY",
            Self::Blocked => "BLOCKED",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.pad(self.as_str())
    }
}

/// Which part of the policy decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tier {
    /// The list of what never runs.
    Blocked,
    /// The entry of a program.
    Program,
    /// The table of `az` commands.
    Cloud,
    /// A pattern in the text, such as an operator or an invisible character.
    Text,
    /// Nothing: the program is not known.
    #[default]
    Unknown,
}

impl Tier {
    /// Returns the number under which the contracts know the tier.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Blocked => 0,
            Self::Program => 1,
            Self::Cloud => 2,
            Self::Text => 3,
            Self::Unknown => 4,
        }
    }
}

/// What an approved command does to the world, in the order of the policy: of several parts the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// It captures or measures and leaves the network as it is.
    Measurement,
    /// It stops or restarts something that others use.
    Outage,
    /// It may change anything.
    Change,
}

impl Impact {
    /// Returns the word that the command line prints.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Measurement => "measurement",
            Self::Outage => "outage",
            Self::Change => "change",
        }
    }

    /// Returns what the word means, for whoever has to consent.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Measurement => "captures or measures, leaves the network as it is",
            Self::Outage => "stops or restarts something that others use",
            Self::Change => "may change something",
        }
    }
}

/// The verdict on one command line, with everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ruling {
    /// How the command may run.
    pub verdict: Verdict,
    /// Which part of the policy decided.
    pub tier: Tier,
    /// Stable name of the deciding rule.
    pub rule: Cow<'static, str>,
    /// Why, in words for a human.
    pub reason: Cow<'static, str>,
    /// The words of the command, `None` where only a shell could run the text.
    pub argv: Option<Vec<String>>,
    /// What the command needs from the sandbox; meaningful where the verdict is SAFE and there are words.
    pub profile: Profile,
    /// What it does to the world; `None` where the verdict is not RISKY.
    pub impact: Option<Impact>,
    /// The words of each stage where nothing but `|` joins plain commands; `None` for anything else.
    pub pipeline: Option<Vec<Vec<String>>>,
    /// The commands that the gate starts and connects by itself, where the text is a SAFE list.
    pub list: Option<List>,
    /// What a SAFE command would send something to, in the order of the text, once: addresses, names that are looked up,
    /// resolvers, proxies.
    pub destinations: Vec<String>,
}

impl Ruling {
    /// The rule by which a SAFE command asks that would send something to a place that is not known.
    pub const UNKNOWN_DESTINATION: &'static str = "destination.unknown";

    /// The rule by which a SAFE command asks that is given a file as a capture which is none.
    pub const NO_CAPTURE: &'static str = "file.capture";

    /// The rule by which a SAFE command asks whose file is another one than its name says.
    pub const FOREIGN_LINK: &'static str = "file.link";

    /// The rule by which a SAFE command asks that would read other files than its words name: too many match a pattern, or
    /// one of them is a folder.
    pub const OTHER_FILES: &'static str = "file.other";
    /// The rule by which a SAFE command asks that would register a table of the packet filter in the kernel to read it.
    pub const UNLOADED_TABLE: &'static str = "firewall.table";

    /// The rule by which a SAFE command asks that would go where a server sends it.
    pub const REDIRECTED: &'static str = "redirect.followed";

    /// The rule by which a SAFE command asks whose name leads to a metadata service, or is one that only the program can look up.
    pub const NAME_LOOKUP: &'static str = "destination.lookup";

    /// The rule by which a SAFE command asks on a machine that cannot confine it.
    pub const SANDBOX_MISSING: &'static str = "sandbox.missing";

    /// The rule by which a SAFE command asks that the shell of a caller could read otherwise.
    pub const EXPANDED: &'static str = "hook.expansion";

    /// The rule by which a SAFE command asks that the shell of a caller runs itself, and not as the program of that name.
    pub const BUILT_IN: &'static str = "hook.builtin";
    /// Returns what each command needs from the sandbox.
    #[must_use]
    pub fn profiles(&self) -> Vec<&Profile> {
        let stages = self.list.iter().flat_map(List::stages).map(|stage| &stage.profile);
        std::iter::once(&self.profile).chain(stages).collect()
    }

    /// Tells whether the command only reads, and asks because of what the words alone do not say: where it would send something,
    /// what lies there, or that nothing would confine it.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        let without = self.verdict == Verdict::Risky && self.rule == Self::SANDBOX_MISSING;
        self.asks_for_destination() || self.asks_for_machine() || without
    }

    /// Tells whether the command only reads, and asks because of what was found where it would run.
    #[must_use]
    pub fn asks_for_machine(&self) -> bool {
        let rules =
            [Self::NO_CAPTURE, Self::FOREIGN_LINK, Self::OTHER_FILES, Self::REDIRECTED, Self::NAME_LOOKUP];
        self.verdict == Verdict::Risky && rules.contains(&self.rule.as_ref())
    }

    /// Tells whether the command only reads, and asks because of what the gate found on its machine: files, servers that send on, a
    /// missing sandbox. No judgement of the words alone comes to that.
    #[must_use]
    pub fn asks_for_surroundings(&self) -> bool {
        self.only_reads() && !self.asks_for_destination()
    }

    /// Tells whether the command only reads, and asks because of where it would send something.
    #[must_use]
    pub fn asks_for_destination(&self) -> bool {
        self.verdict == Verdict::Risky && self.rule == Self::UNKNOWN_DESTINATION
    }
}
