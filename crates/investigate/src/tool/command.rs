//! What a command's output is worth as evidence.

use crate::event::Source;

/// Returns where the output of a command comes from. What is not recognized is a probe from this host.
#[must_use]
pub fn weigh(command: &str) -> Source {
    let words: Vec<&str> = command.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let program =
        words.iter().find(|word| !matches!(**word, "sudo" | "timeout" | "env")).copied().unwrap_or("");
    match program.rsplit('/').next().unwrap_or(program) {
        "tcpdump" | "tshark" | "capinfos" => Source::Wire,
        "ssh" => Source::GuestProbe,
        "az" if has("run-command") => Source::GuestProbe,
        "az" if words.iter().any(|word| word.contains("effective"))
            || has("test-ip-flow")
            || has("show-next-hop") =>
        {
            Source::Effective
        }
        "az" => Source::Configured,
        _ => Source::LocalProbe,
    }
}
