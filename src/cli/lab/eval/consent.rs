//! Who answers where a human is asked.

use std::str::FromStr;

use ghost_base::Digest;
use ghost_investigate::event::Reply;

/// How questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Consent {
    /// Always yes.
    All,
    /// Always no.
    None,
    /// As a seed has it.
    Random(u64),
}

impl FromStr for Consent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "write all, none or random:SEED".to_owned();
        match text.split_once(':') {
            None if text == "all" => Ok(Self::All),
            None if text == "none" => Ok(Self::None),
            None if text == "random" => Ok(Self::Random(0)),
            Some(("random", seed)) => seed.parse().map(Self::Random).map_err(|_| wanted()),
            _ => Err(wanted()),
        }
    }
}

impl Consent {
    /// Answers a question about a command; the same one gets the same answer.
    pub(super) fn answer(self, command: &str) -> Reply {
        let yes = match self {
            Self::All => true,
            Self::None => false,
            Self::Random(seed) => {
                let digest = Digest::of_fields([seed.to_string().as_str(), command]).to_string();
                digest.bytes().next_back().is_some_and(|last| last % 2 == 0)
            }
        };
        if yes { Reply::Approve } else { Reply::Deny { reason: "not now".to_owned() } }
    }

    pub(super) fn word(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::None => "none".to_owned(),
            Self::Random(seed) => format!("random:{seed}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_follows_from_the_seed_and_the_command() {
        let random: Consent = "random:7".parse().unwrap();
        let answers: Vec<bool> =
            (0..64).map(|at| random.answer(&format!("az {at}")) == Reply::Approve).collect();
        assert_eq!(random.answer("az 1"), random.answer("az 1"));
        assert!(answers.contains(&true) && answers.contains(&false));
        for text in ["", "some", "random:", "random:x", "all:1"] {
            assert!(text.parse::<Consent>().is_err(), "{text}");
        }
        assert_eq!(random.word(), "random:7");
    }
}
