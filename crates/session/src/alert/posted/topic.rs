//! Whether a posted alert is about a network at all.

use super::form::FORMS;
use super::pattern::holds;
use ghost_investigate::complaint::outline;

/// Says in a few words what an alert is about that is not about a network; nothing if it may be about one.
#[must_use]
pub fn not_of_network(text: &str) -> Option<&'static str> {
    let small = text.to_lowercase();
    if FORMS.network.words.iter().any(|words| holds(&small, words)) {
        return None;
    }
    let other = FORMS.other.iter().find(|other| other.words.iter().any(|words| holds(&small, words)));
    if let Some(other) = other {
        return Some(&other.about);
    }
    let read = outline(text);
    let may_be = read.is_trouble || read.is_whole() || small.contains('→') || small.contains("->");
    (!may_be).then_some("something else")
}
