//! The document as a note: plain text for places that keep a few lines beside an incident.

use super::document::Postmortem;
use crate::report::plain;

/// So many causes and so many action items stand in a note.
const MAX_LINES: usize = 8;

impl Postmortem {
    /// Writes what whoever is paged next needs: the answer, the causes, what was decided and verified, what is left, and where the rest
    /// is. A note of at most so many characters; what is cut says so.
    #[must_use]
    pub fn note(&self, most: usize) -> String {
        let mut lines = vec![
            format!("Post-mortem {}: {}", self.session, self.title),
            self.summary.clone(),
            format!("Symptom: {}", super::build::shortened(&self.symptom)),
        ];
        let times = &self.times;
        lines.push(format!(
            "First symptom {} ({}); reported {} by {}.",
            times.first_symptom, times.first_symptom_from, times.reported, self.asked_by
        ));
        list(
            &mut lines,
            "Causes:",
            self.causes.iter().map(|cause| {
                let since =
                    cause.since.as_deref().map(|since| format!("; since when: {since}")).unwrap_or_default();
                format!("{} [{}]{since}", cause.title, cause.evidence.join(", "))
            }),
        );
        list(
            &mut lines,
            "Decisions:",
            self.decisions.iter().map(|one| {
                let by = one.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
                format!("{}: {}{by} [{}]", one.what, one.answer, one.evidence.join(", "))
            }),
        );
        lines.push(match &times.verified {
            Some(at) => format!("Verified fixed at {at}."),
            None if self.causes.is_empty() => "Nothing to verify: no cause was found.".to_owned(),
            None => "Not verified: nobody saw yet that it is fixed.".to_owned(),
        });
        list(&mut lines, "Action items:", self.actions.iter().map(|item| item.text.clone()));
        let end = format!("The whole post-mortem: ghost export postmortem {}", self.session);
        let text = lines.iter().map(|line| plain(line)).collect::<Vec<_>>().join("\n");
        let room = most.saturating_sub(end.chars().count() + 1);
        if text.chars().count() <= room {
            return format!("{text}\n{end}");
        }
        let kept: String = text.chars().take(room.saturating_sub(2)).collect();
        format!("{}…\n{end}", kept.trim_end())
    }
}

fn list(lines: &mut Vec<String>, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return;
    }
    lines.push(title.to_owned());
    lines.extend(items.iter().take(MAX_LINES).map(|item| format!("- {item}")));
    let more = items.len().saturating_sub(MAX_LINES);
    lines.extend((more > 0).then(|| format!("- and {more} more")));
}
