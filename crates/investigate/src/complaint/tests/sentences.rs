//! Sentences as an engineer on call writes them, in a file beside this one.

use super::flows;

/// Reads the file: the text of each line, and the flows that it means.
fn sentences() -> Vec<(&'static str, &'static str)> {
    include_str!("sentences.txt").lines().filter_map(|line| line.rsplit_once(" => ")).collect()
}

#[test]
fn each_sentence_means_its_flows() {
    let all = sentences();
    assert!(all.len() > 90, "{}", all.len());
    let wrong: Vec<String> = all
        .iter()
        .map(|(text, expected)| (text, *expected, flows(text)))
        .filter(|(_, expected, read)| read != expected)
        .map(|(text, expected, read)| format!("{text}\n    is read as {read}\n    and means   {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
