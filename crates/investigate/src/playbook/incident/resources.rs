//! The storage accounts and the resource group that people speak of.

use super::read::{MAX_UNNAMED_MACHINES, Machine, is_plain};
use super::word::stands_behind;
use crate::listed::ListedResources;
use crate::playbook::conversation::Conversation;
use crate::symptom_text::{Mention, Symptom, SymptomText};

/// Returns the accounts, those that are called so first.
pub(super) fn accounts(symptom_text: &SymptomText, text: &str, known: &[Machine]) -> Vec<String> {
    if !symptom_text.symptoms.contains(&Symptom::StorageUnreachable)
        && !text.contains("storage")
        && !text.contains("blob")
    {
        return Vec::new();
    }
    let mut found: Vec<(bool, String)> = Vec::new();
    for mention in &symptom_text.mentions {
        let Mention::Word(word) = mention else { continue };
        let word = word.to_lowercase();
        let host = word.split_once('.').filter(|(_, rest)| rest.ends_with("core.windows.net"));
        let (sure, name) = match host {
            Some((name, _)) => (true, name.to_owned()),
            None => (
                stands_behind(
                    text,
                    &word,
                    &["account", "storage", "konto", "cuenta", "compte", "speicherkonto"],
                ),
                word,
            ),
        };
        let fits = (3..=24).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && name.bytes().any(|byte| byte.is_ascii_lowercase());
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        if fits
            && (digits > 1 || (sure && name.len() > 7))
            && !known.iter().any(|machine| machine.name == name)
        {
            found.push((!sure, name));
        }
    }
    // Those that are called an account come first.
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(MAX_UNNAMED_MACHINES).collect()
}

/// Returns the resource group: one that is named, then one that the topology tells of.
pub(super) fn group(
    symptom_text: &SymptomText,
    conversation: &Conversation,
    listed: &ListedResources,
    text: &str,
) -> Option<String> {
    let words = || {
        symptom_text.mentions.iter().filter_map(|mention| match mention {
            Mention::Word(word) => Some(word),
            Mention::Address(_) => None,
        })
    };
    if !conversation.groups.is_empty() {
        let named = words()
            .find_map(|word| conversation.groups.iter().find(|group| group.eq_ignore_ascii_case(word)));
        return named.or_else(|| conversation.groups.first()).cloned();
    }
    let from_topology = listed.group.clone().filter(|group| is_plain(group));
    let behind = |word: &&String| {
        let word = word.to_lowercase();
        text.contains(&format!("resource group {word}")) || text.contains(&format!("resource-group {word}"))
    };
    let ends =
        |word: &&String| word.to_lowercase().ends_with("-rg") || word.to_lowercase().starts_with("rg-");
    words().find(behind).or_else(|| words().find(ends)).cloned().or(from_topology)
}
